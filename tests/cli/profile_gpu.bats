#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile gpu: libraries that stand in the places of NVML and CUPTI tell what is known, and a program what CUDA's driver does.
load compare_helpers
load browser

CASE=quantize.q8_0/ref/n=1048576/t=1/warm

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir lib
	ln -s "$PLUGINS/nvml_standin.so" lib/libnvidia-ml.so.1
	ln -s "$PLUGINS/cupti_standin.so" lib/libcupti.so.13
	cc -O1 -o prog "$ASSAY_SOURCE/tests/fixtures/profile/cuda_program.c"
}

teardown() {
	browser_stop
}

# gpu OPTION...: with the stand-ins
gpu() {
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$ASSAY" profile gpu "$@"
}

@test "without a GPU, a driver or a tool one line says so" {
	rm lib/*
	# a machine with a real driver has a GPU
	ldconfig -p | grep -q libnvidia-ml || fails 2 "no GPU can be profiled: there is no 'libnvidia-ml.so.1', which comes with NVIDIA's driver" profile gpu -- ./prog
	ln -s "$PLUGINS/nvml_standin.so" lib/libnvidia-ml.so.1
	export LD_LIBRARY_PATH=$PWD/lib
	NVML_STANDIN=none fails 2 "no GPU can be profiled: this machine has no GPU" profile gpu -- ./prog
	NVML_STANDIN=broken fails 2 "no GPU can be profiled: NVML cannot start: Driver Not Loaded" profile gpu "$CASE"
	fails 2 "--rate is for profiles of the kind cpu, not gpu" profile gpu --rate 10 -- ./prog
	fails 2 "--sample is for profiles of the kind heap, not gpu" profile gpu --sample 1KiB -- ./prog
	fails 2 "a file that ends in .dhat is for profiles of the kind heap, not gpu" profile gpu -o a.dhat -- ./prog
	fails 2 "--with is 'perf', expected nsys or ncu" profile gpu --with perf -- ./prog
	fails 2 "--with is for profiles of the kind gpu, not cpu" profile cpu --with ncu -- ./prog
	fails 2 "nsys writes a report of its own: name it with -o FILE.nsys-rep" profile gpu --with nsys -- ./prog
	fails 2 "the name of ncu's report must end in .ncu-rep" profile gpu --with ncu -o a.svg -- ./prog
	fails 2 "--name stores what assay sees" profile gpu --with ncu -o a.ncu-rep --name x -- ./prog
	fails 2 "./none" profile gpu -- ./none
	PATH=$PATH command -v nsys || fails 2 "there is no 'nsys' in PATH: it comes with NVIDIA Nsight Systems" profile gpu --with nsys -o a.nsys-rep -- ./prog
}

@test "kernels, copies and devices of a program are what the libraries tell" {
	gpu --json -o p.folded -- ./prog
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile | .kind == "gpu" and .unit == "ns" and .source == "NVML, CUPTI 130000" and .lost == 1 and .command == "./prog"'
	[[ $stderr == *"1 kernel or copy was lost"* ]]
	# two configurations of a kernel are one; the one that took most time says how
	is '.gpu.work[] | select(.name == "gemv<float>") | .calls == 101 and .ns == 66000 and .least_ns == 600 and .most_ns == 1000 and .kernel
		and .registers == 40 and .block_threads == 256 and .blocks == 4096 and .occupancy_frac == 0.75 and .stream == "stream 7" and .gpu == "GPU 0: Standin <GPU>"'
	is '.gpu.work[] | select(.name == "copy host to device") | .calls == 2 and .bytes == 2097152 and .ns == 80000 and (.kernel | not)'
	is '[.gpu.work[].name] == ["copy host to device", "gemv<float>", "softmax", "copy device to host", "set memory"]'
	is '.gpu.why == null and ([.gpu.work[].ns] | add) == 170250 and .profile.samples == 170250'
	is '.gpu.devices | length == 2 and (.[0] | .name == "Standin" and .busy_frac == 0.75 and .memory_busy_frac == 0.2 and .mean_watts == 350.5
		and .most_watts == 350.5 and .memory_bytes == 85899345920 and .most_memory_bytes == 1073741824 and .most_celsius == 61)'
	# the driver counts 2 J from one look to the next
	is '.gpu.devices[0] | .samples >= 2 and .joules == (.samples - 1) * 2'
	is '.gpu.devices[1] | .name == "Standin Lite" and .busy_frac == null and .joules == null and .memory_bytes == null'
	grep -q '^GPU 0: Standin <GPU>;stream 9;softmax 24000$' p.folded
	gpu -- ./prog 3
	[ "$status" = 0 ]
	[[ $stderr == *"warning: the program exited with status 3"* && $output == *"75.0 %"*"1.00 GiB"*"350 W"*"gemv<float>"*"40 registers, 4096 "*" 256 threads"* ]]
	[[ $output == *"copy host to device"*"2.00 MiB at 26.2 GB/s"* ]]
	# what is not flushed is lost, and told
	gpu --json -- ./prog killed
	[ "$status" = 0 ]
	[[ $stderr == *"killed by signal 6"*"no kernel was seen: the GPU did nothing"* ]]
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay-gpu-*' -newer p.folded)" ]
}

@test "where CUPTI is missing, old or forbids it, GPUs are shown and a line says why no kernel is" {
	CUPTI_STANDIN=old gpu --json -- ./prog
	is '.gpu.devices[0].busy_frac == 0.75 and .gpu.work == [] and .gpu.why == "CUPTI 9 is older than CUDA 10'"'"'s, which is the first known"'
	CUPTI_STANDIN=forbidden gpu --json -- ./prog
	is '.gpu.why == "CUPTI cannot watch kernels: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"'
	[[ $stderr == *"warning: no kernel was seen: CUPTI cannot watch kernels"* ]]
	gpu -- sleep 0.1
	[ "$status" = 0 ]
	[[ $stderr == *"no kernel was seen: nothing started CUDA"* ]]
}

@test "a trace has the kernels and copies of GPUs on tracks of their own, and their memory" {
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$ASSAY" profile trace --name gpus --json -o t.json -- ./prog
	[ "$status" = 0 ] || [[ $stderr != *libdw* ]] || skip "$stderr"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	jq -e '.traceEvents as $e | ([$e[] | select(.name == "process_name" and (.args.name | startswith("GPU 0")))] | length) == 1
		and ([$e[] | select(.name == "thread_name") | .args.name] | contains(["stream 7", "stream 9"]))
		and ([$e[] | select(.ph == "X" and .name == "softmax")] | length == 1 and .[0].dur == 24)
		and ([$e[] | select(.ph == "X" and .name == "gemv<float>")] | length == 101)
		and ([$e[] | select(.ph == "C" and .name == "GPU memory in use")] | length > 1 and all(.args.bytes == 1073741824))' t.json ||
		{ cat t.json; false; }
	# by the clock of the process: they began 1 ms before CUDA was loaded, and the program ran for 0.1 s after it
	jq -e '[.traceEvents[] | select(.ph == "X")] | ([.[] | select(.name == "softmax")][0].ts) as $s
		| ([.[] | select(.name == "running")][0]) as $r | $s > $r.ts - 1000 and $s < $r.ts + $r.dur - 90000' t.json || { cat t.json; false; }
	is '(.threads | length) == 1 and ([.spans[] | select(.name == "softmax")][0] | .total_ns == 24000 and .times == 1 and .path_ns == 0)'
	# without a GPU there are none
	NVML_STANDIN=none run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$ASSAY" profile trace -o n.json -- ./prog
	! grep -q 'GPU' n.json
}

@test "a case is run for a while, and its GPUs watched" {
	gpu --json --for 300ms "$CASE"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.case == "'"$CASE"'" and .profile.iteration_ns > 0 and .gpu.devices[0].samples >= 2 and .gpu.why == "nothing started CUDA"'
	[ ! -e assay.db ]
}

@test "a profile of GPUs is stored, shown, compared and drawn, whatever names are in it" {
	gpu --name before --json -- ./prog
	taken=$output
	run --separate-stderr "$ASSAY" show before --json
	[ "$status" = 0 ]
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	CUPTI_STANDIN=forbidden gpu --name none --json -- ./prog
	taken=$output
	run --separate-stderr "$ASSAY" show none --json
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	gpu --name after -- ./prog
	run --separate-stderr "$ASSAY" diff before after --json
	is '.unit == "ns" and .kind == "gpu" and ([.functions[].change] | all(. == 0)) and ([.functions[].name] | index("copy host to device"))'
	run --separate-stderr "$ASSAY" show before -o p.svg
	grep -q 'data-n="gemv&lt;float&gt;"' p.svg && ! grep -q '<float>' p.svg
	run --separate-stderr "$ASSAY" show before -o p.html
	! grep -q '<float>' p.html
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/p.html"
	page_is '[...document.querySelectorAll("td")].some(c => c.textContent === "gemv<float>") && document.querySelectorAll("svg.flame .f").length === 9'
	[ -z "$(browser_complaints)" ]
}

@test "--sanitize leaves no path, user or host name of GPUs in any format" {
	local kind format host user
	host=$(hostname)
	user=$(id -un)
	mkdir secret_folder
	cp prog secret_folder/prog
	# what a driver or a compiler may put into names
	export NVML_STANDIN_NAME="Standin on $host /home/$user/gpus/zero" CUPTI_STANDIN_KERNEL="softmax in $PWD/secret_folder/softmax.cu"
	export LD_LIBRARY_PATH=$PWD/lib
	for kind in gpu trace; do
		run --separate-stderr "$ASSAY" profile $kind --sanitize --name plain --json -o $kind.a.html -- "$PWD/secret_folder/prog"
		[ "$status" = 0 ] || [[ $stderr == *libdw* ]] || { echo "$kind: $stderr"; false; }
		[ "$status" = 0 ] || continue
		printf '%s' "$output" >$kind.a.json
		[ $kind != trace ] || "$ASSAY" profile trace --sanitize -o trace.c.trace -- "$PWD/secret_folder/prog" >trace.c.out
		for format in svg html folded json text; do
			run --separate-stderr "$ASSAY" show plain --kind $kind --sanitize -o $kind.b.$format
			[ "$status" = 0 ] && [ -s $kind.b.$format ] || { echo "$kind $format: $stderr"; false; }
			printf '%s' "$output" >$kind.b.$format.out
		done
		"$ASSAY" profile $kind --name other -- "$PWD/secret_folder/prog" >/dev/null
		for format in svg html json; do
			run --separate-stderr "$ASSAY" diff plain other --kind $kind --sanitize -o $kind.d.$format
			printf '%s' "$output" >$kind.d.$format.out
		done
		! grep -l -e secret_folder -e "$PWD" -e "/home/$user" -e gpus/ $kind.?.* || { echo "$kind has a path"; false; }
		[ ${#host} -le 2 ] || ! grep -lw -- "$host" $kind.?.* || { echo "$kind has the host"; false; }
	done
	# names stay, without it as they are
	for format in gpu.a.json gpu.b.svg gpu.b.folded; do
		grep -q 'softmax in softmax.cu' $format
	done
	jq -e '.gpu.devices[0].name | startswith("Standin on ") and endswith(" zero")' gpu.a.json
	run --separate-stderr "$ASSAY" show plain --kind gpu --json
	is '(.profile.command | contains("/secret_folder/prog")) and (.gpu.devices[0].name | contains("/home/")) and ([.gpu.work[].name] | any(contains("/secret_folder/")))'
	# nor do reasons name what lies on the machine
	NVML_STANDIN_NAME=x CUPTI_STANDIN=forbidden run --separate-stderr "$ASSAY" profile gpu --sanitize --json -- "$PWD/secret_folder/prog"
	[ "$status" = 0 ] && [[ $output != *secret_folder* ]]
	is '.gpu.why | startswith("CUPTI cannot watch kernels")'
}

@test "nsys and ncu are run where they are installed, on programs and on cases" {
	mkdir bin
	# each writes down how it was called, and runs what it shall
	for tool in nsys ncu; do
		printf '#!/bin/sh\necho "%s $*" >>%s/called\nwhile [ "$1" != -o ]; do shift; done\necho report >"$2.%s-rep"\nshift 2\nexec "$@"\n' \
			$tool "$PWD" $tool >bin/$tool
		chmod +x bin/$tool
	done
	export PATH=$PWD/bin:$PATH
	run --separate-stderr "$ASSAY" profile gpu --with nsys -o a.nsys-rep -- sh -c 'echo ran'
	[ "$status" = 0 ] && [[ $output == *ran*"the report of nsys is in a.nsys-rep"* ]]
	[ -s a.nsys-rep ]
	grep -q '^nsys profile --force-overwrite=true -o a sh -c echo ran$' called
	run --separate-stderr "$ASSAY" profile gpu --with ncu -o b.ncu-rep -- sh -c 'exit 3'
	[ "$status" = 4 ] && [[ $stderr == *"ncu exited with status 3: what it printed says why"* ]]
	run --separate-stderr "$ASSAY" profile gpu --with ncu -o c.ncu-rep "$CASE"
	[ "$status" = 0 ] || { echo "$output $stderr"; false; }
	grep -q "^ncu --target-processes all --force-overwrite -o c .*/assay run --suite quick --only $CASE --db .*$" called
	[ ! -e assay.db ]
}

@test "records of CUPTI lie as its headers say" {
	for folder in "$(dirname "$(command -v nvcc || echo /none/nvcc)")/../include" /usr/local/cuda/include; do
		[ ! -e "$folder/cupti.h" ] || found=$folder
	done
	[ -n "${found:-}" ] || skip "no CUPTI headers: they come with the CUDA toolkit"
	grep -q CUpti_ActivityKernel10 "$found/cupti_activity.h" || skip "CUPTI's headers are older than 13.0"
	cc -w -fsyntax-only -I"$found" -I"$ASSAY_SOURCE/harness" "$ASSAY_SOURCE/tests/fixtures/profile/cupti_layout.c"
	[ -e "$found/cupti_range_profiler.h" ] && command -v c++ || skip "no C++ compiler, which headers of ranges need"
	c++ -w -fsyntax-only -I"$found" -I"$ASSAY_SOURCE/harness" "$ASSAY_SOURCE/tests/fixtures/profile/cupti_ranges_layout.cpp"
}
