#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels for GPUs on machines without one: how they are built, what their variants say, what they compute, what they cost.
load helpers

# variables GOALS...: what make would do in a folder of its own.
dry_make() {
	run env -u MAKEFLAGS make -C "$ASSAY_SOURCE" -n --no-print-directory ASSAY_NO_INSTALL=1 BUILD="$PWD/b" "$@"
}

@test "make compiles kernels with the nvcc it finds, and says what it found" {
	dry_make NVCC= "$PWD/b/features" "$PWD/b/plugins/assay_cuda.so"
	[ "$status" = 0 ]
	[[ $output == *"CUDA no nvcc: kernels for GPUs are not compiled;"* && $output == *"-DASSAY_CUDA=0 "* && $output != *.cu* ]]
	dry_make NVCC=/opt/nvcc "$PWD/b/features" "$PWD/b/plugins/assay_cuda.so"
	[ "$status" = 0 ]
	[[ $output == *"CUDA /opt/nvcc;"* && $output == *"-DASSAY_CUDA=1 "* && $output == *" -c -o "*"stream_cuda.cu.o kernels/stream/cuda/stream_cuda.cu "* ]]
	for arch in 80 86 89 90; do
		[[ $output == *"-gencode arch=compute_$arch,code=sm_$arch "* ]]
	done
	[[ $output == *"-gencode arch=compute_90,code=compute_90 "* ]]
}

@test "headers and libraries are where nvcc says, not beside the script that starts it" {
	mkdir -p bin
	cat >bin/nvcc <<-'END'
		#!/bin/sh
		printf '#$ %s\n' 'TOP=/opt/kit' 'INCLUDES="-I/opt/kit/include"  ' 'LIBRARIES=  "-L/opt/kit/stubs" "-L/opt/kit/lib"' >&2
	END
	chmod +x bin/nvcc
	dry_make NVCC="$PWD/bin/nvcc" "$PWD/b/plugins/assay_cuda.so"
	[ "$status" = 0 ]
	[[ $output == *" -isystem /opt/kit/include "*"cuda_device.c"* && $output == *" -L/opt/kit/stubs -L/opt/kit/lib -lcudart_static "* ]]
}

@test "CUDA=1 without nvcc is an error; CUDA=0, or WITH_CUDA=0, builds no plugin" {
	for name in CUDA WITH_CUDA; do
		dry_make NVCC= $name=1 plugins
		[ "$status" = 2 ]
		[[ $output == *"CUDA=1, but there is no nvcc in PATH or /usr/local/cuda/bin"* ]]
		dry_make $name=0 plugins "$PWD/b/features"
		[ "$status" = 0 ]
		[[ $output == *"CUDA no (CUDA=0);"* && $output != *assay_cuda.so* ]]
	done
}

@test "a plugin that was built without nvcc loads, and says so of every variant" {
	env -u MAKEFLAGS make -s -C "$ASSAY_SOURCE" ASSAY_NO_INSTALL=1 NVCC= BUILD="$PWD/b" "$PWD/b/plugins/assay_cuda.so"
	"$ASSAY" list variants --no-default-plugins --plugin b/plugins/assay_cuda.so --plugin "$ASSAY_BUILD/plugins/ops.so" >variants
	[ "$(grep -c '/cu[a-z0-9_]*  *not here: no cuda device: built without nvcc$' variants)" = "$(grep -c '/cu' variants)" ]
	grep -q ^matmul.ternary/cuda variants
}

# device_code FOLDER: the digests of what nvcc makes of the copy there, for one kind of GPU. The second file has tables with names.
device_code() {
	local file
	for file in stream/cuda/stream_cuda cuda/cuda_make; do
		env -u MAKEFLAGS make -s -C "$1" ASSAY_NO_INSTALL=1 CUDA_ARCHS=90 BUILD=b "b/obj/kernels/$file.cu.o"
		objcopy -O binary --only-section=.nv_fatbin "$1/b/obj/kernels/$file.cu.o" "$1/code"
		sha256sum <"$1/code"
	done
}

@test "kernels are the same code from two folders, remarks or not, and changed ones are not" {
	[ -e "$ASSAY_BUILD/plugins/assay_cuda.kernels.json" ] || skip "built without nvcc"
	local copy
	for copy in one two; do
		mkdir $copy
		cp -r "$ASSAY_SOURCE"/{Makefile,ci,harness,kernels} $copy/
	done
	device_code one >one.code
	echo '// a remark' >>two/kernels/stream/cuda/stream_cuda.cu
	device_code two >two.code
	cmp one.code two.code
	sed -i 's/__fadd_rn/__fadd_rz/' two/kernels/stream/cuda/stream_cuda.cu
	device_code two >two.code
	run ! cmp one.code two.code
}

# Where there is a GPU, `make test-gpu` tests it.
without_gpu() {
	[ -e "$ASSAY_BUILD/plugins/assay_cuda.so" ] || skip "built with CUDA=0"
	why=$("$ASSAY" list variants | sed -n 's/^stream.copy\/cuda  *not here: no cuda device: //p')
	[ -n "$why" ] || skip "there is a GPU"
}

@test "the plugin loads everywhere, and its variants say what is missing" {
	without_gpu
	[[ $why == "no CUDA driver (libcuda.so.1)" || $why == "built without nvcc" || $why == "no device, or "* || $why == "driver too old: "* ]]
	"$ASSAY" run --suite kernels --only 'stream.copy/cuda/level=dram,*' --only 'quantize.q8_0/cuda/*' --json >run.json || true
	jq -e --arg why "$why" '(.cases | length) > 1 and ([.cases[] | .status == "skipped" and .reason == "no cuda device: " + $why] | all)' run.json
	# nothing falls back to the CPU, and no composite op takes what its driver cannot feed
	run ! grep '^generate.[a-z]*/cublas' <("$ASSAY" list variants)
	[ "$(grep -c '^generate.[a-z]*/cuda' <("$ASSAY" list variants))" = 3 ]
}

# emulated VAR=VALUE...: statuses and reasons of a suite on the emulated device, a line a case.
emulated() {
	[ -e "$ASSAY_BUILD/tests/cuda/assay_cuda.so" ] || skip "no emulated plugin: make found no C++ compiler"
	mkdir -p suites
	cat >emulated.bench <<-'END'
		bench "step" { op = "generate.decode" shapes = {"model=nano,pp=3,tg=2"} sweep = {"sampler=greedy,topp"} budget = "1ms" threads = {"1"} variants = {"cuda", "avx2"} timeout = "120s" }
		bench "codes" { op = "quantize.q8_0" shapes = {"n=4352"} budget = "1ms" threads = {"1"} variants = {"cuda", "avx2"} timeout = "120s" }
	END
	echo 'suite "quick" { use "step" { } use "codes" { } }' >suites/quick.suite
	run --separate-stderr env "$@" "$ASSAY" run --no-default-plugins --plugin "$ASSAY_BUILD/tests/cuda/assay_cuda.so" --plugin "$ASSAY_BUILD/tests/cuda/ops.so" \
		--plugin "$ASSAY_BUILD/tests/cuda/matmul.so" --plugin "$ASSAY_BUILD/tests/cuda/quantize.so" --bench-dir . --suite quick --json
	echo "$*: $stderr"
	jq -r '.cases[] | "\(.op)/\(.variant) \(.status) \(.reason)"' <<<"$output" >lines
	cat lines
}

@test "on an emulated runtime GPU cases are measured like any other, with the CPU's results" {
	emulated ASSAY_SEED=5
	jq -e '[.cases[] | select(.variant == "cuda")] | length == 3 and all(.status == "ok" and .axes.device == "cuda:0")' <<<"$output"
	jq -e '[.cases[] | select(.status == "ok")] | group_by(.op + (.axes.sampler // "")) | all([.[].digest] | unique | length == 1)' <<<"$output"
	jq -e '[.cases[] | select(.variant == "cuda").metrics] | all(.device_leaked_bytes.value == 0 and .device_in_bytes.value > 0 and has("device_launch_s") and has("device_end_to_end_s"))' <<<"$output"
	# weights and embedding are made there: the check of inputs holds them against the host's
	jq -e '[.cases[] | select(.op == "generate.decode" and .variant == "cuda") | .metrics.device_made_bytes.value] == [40960, 40960]' <<<"$output"
	jq -e '.cases[] | select(.op == "generate.decode" and .variant == "cuda") | .metrics.tokens_per_s.value > 0 and .metrics.tpot_p99_s.value > 0 and .counters.tokens.value == 2 and .counters.fallbacks.value == 0' <<<"$output"
}

@test "what fails on a GPU is the reason of its case, and the run goes on" {
	for what in 'DRIVER=0:skipped no cuda device: no CUDA driver (libcuda.so.1)' 'DRIVER=12000:skipped no cuda device: driver too old: it is of CUDA 12.0, the plugin of 13.0' \
		'START=803:skipped no cuda device: the driver does not start: emulated error 803' \
		'DEVICES=0:skipped no cuda device: no device, or CUDA_VISIBLE_DEVICES hides it' 'FAULT=700:failed a kernel faulted on device' \
		"FAULT=46:failed device 'cuda:0' was lost while running" 'FAULT=209:failed running of' \
		"CAPABILITY=75:failed device 'cuda:0' failed while opening it: the device is sm_75, the plugin has code for sm_80 and later"; do
		emulated EMULATED_FAULT_AT=120 EMULATED_"${what%%:*}"
		grep -qF "${what#*:}" lines
		[ "$(grep -c '/cuda ' lines)" = 3 ]
		[ "$(grep -c '/avx2 ok' lines)" -ge 1 ] || ! grep -q avx2 /proc/cpuinfo
	done
	# a device that is not there is no case but a mistake
	run -2 --separate-stderr "$ASSAY" run --no-default-plugins --plugin "$ASSAY_BUILD/tests/cuda/assay_cuda.so" --plugin "$ASSAY_BUILD/tests/cuda/ops.so" \
		--bench-dir . --suite quick --device cuda:1
	[[ $stderr == *"the device (--device, ASSAY_DEVICE) is 'cuda:1', expected one of the devices of this machine: cuda:0" ]]
	# the buffers fit, what the variant wants besides does not
	emulated EMULATED_MEMORY=93000
	grep '^generate.decode/cuda failed' lines
	grep -q "out of memory on device 'cuda:0' while preparing: the tensors of model=nano,pp=3,tg=2,sampler=greedy take .*, free: .*: cannot allocate a step's buffers" lines
}

@test "kernels of GPUs pass the unit tests of the CPU's, on an emulated grid" {
	[ -e "$ASSAY_BUILD/tests/cuda/assay_cuda.so" ] || skip "no emulated plugin: make found no C++ compiler"
	for test in quantize quantize_agree; do
		run env ASSAY_TEST_EMULATED=1 ASSAY_TEST_PLUGINS="$ASSAY_BUILD/tests/cuda" "$ASSAY_BUILD/tests/test_kernels" "$test"
		echo "$output"
		[ "$status" = 0 ]
	done
}

# test_gpu [VAR=VALUE...]: ci/test_gpu.sh on the emulated runtime; the cases of a suite would take it minutes.
test_gpu() {
	[ -e "$ASSAY_BUILD/tests/cuda/assay_cuda.so" ] || skip "no emulated plugin: make found no C++ compiler"
	mkdir -p gpu
	ln -sfn "$ASSAY_BUILD/tests/cuda" gpu/plugins
	cp -r "$ASSAY_BUILD/bin" gpu/
	ln -sfn "$ASSAY_BUILD/share" gpu/share
	# the script with two of its ops; unit tests give all shapes to the emulated kernels
	mkdir -p few/ci few/tests/cuda
	cp "$ASSAY_SOURCE/ci/test_gpu.sh" few/ci/
	cp -r "$ASSAY_SOURCE/tests/cuda/shapes" few/tests/cuda/
	sed -i '/^\tuse/{/i8_token\|ternary/!d;}' few/tests/cuda/shapes/suites/edges.suite
	run env -u GPU "$@" few/ci/test_gpu.sh gpu ""
	echo "$output"
}

@test "make test-gpu checks odd sizes against oracles and the CPU, and says where it cannot" {
	"$ASSAY" list --bench-dir "$ASSAY_SOURCE/tests/cuda/shapes" --suite edges >shapes
	[ "$(cut -d/ -f1 shapes | sort -u | wc -l)" = 12 ]
	test_gpu EMULATED_DEVICES=0
	[ "$status" = 0 ]
	[ "$output" = "test-gpu: skipped, exit 0: no cuda device: no device, or CUDA_VISIBLE_DEVICES hides it" ]
	test_gpu EMULATED_DEVICES=0 GPU=1
	[ "$status" = 4 ]
	[ "$output" = "test-gpu: failed, exit 4: GPU=1, but no cuda device: no device, or CUDA_VISIBLE_DEVICES hides it" ]
	test_gpu EMULATED_DRIVER=12000
	[ "$status" = 0 ]
	[[ $output == "test-gpu: skipped, exit 0: no cuda device: driver too old: "* ]]
	# a tool that is there is run, and what it finds is told
	mkdir tools
	printf '#!/bin/sh\necho "$2 $6" >>%s/called\n[ "$2" != "$FINDS" ] || exit 9\n' "$PWD" >tools/compute-sanitizer
	chmod +x tools/compute-sanitizer
	test_gpu PATH="$PWD/tools:$PATH"
	[ "$status" = 0 ]
	[[ ${lines[-1]} == "test-gpu: passed, also under compute-sanitizer" ]]
	[ "$(cut -d' ' -f1 called | xargs)" = "memcheck racecheck synccheck" ]
	test_gpu PATH="$PWD/tools:$PATH" FINDS=racecheck
	[ "$status" = 9 ]
	test_gpu EMULATED_FAULT=700 EMULATED_FAULT_AT=1
	[ "$status" = 4 ]
}

# installation JQ: a program beside kernels that cost what JQ makes of the recorded costs; the record is record.kernels.json.
installation() {
	mkdir -p home/plugins
	cp -r "$ASSAY_BUILD/bin" home/
	ln -sf "$ASSAY_BUILD/share" "$ASSAY_BUILD/lib" home/
	ln -sf "$ASSAY_BUILD"/plugins/*.so home/plugins/
	cat >record.kernels.json <<-END
		{"schema": 1, "compiler": "nvcc 13.0.88",
		 "columns": ["registers", "spill_stores", "spill_loads", "stack", "shared", "occupancy_percent"],
		 "kernels": {"ternary_gemv/sm_90": [40, 0, 0, 0, 0, 75], "stream_copy/sm_90": [32, 0, 0, 0, 0, 100]}}
	END
	jq "$1" record.kernels.json >home/plugins/assay_cuda.kernels.json
}

# gate STATUS: of counts against record.json and the record beside it.
gate() {
	run -"$1" --separate-stderr home/bin/assay gate --evidence exact --exact-file record.json --policy /dev/null --json
	is_row() {
		jq -e ".cases | map(select(.key == \"$1\")) | length == 1 and (.[0] | .verdict == \"$2\" and .evidence == \"exact\" and (.reason | contains(\"$3\")))" <<<"$output"
	}
}

@test "a kernel that takes more registers than recorded fails the gate, without a GPU" {
	needs_counts
	"$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/tests/fixtures/exact" --only '*' --json >/dev/null
	"$ASSAY" baseline update --exact --exact-file record.json
	installation .
	gate 0
	is_row kernels PASS "2 kernels cost what record.kernels.json says"
	installation '.kernels["ternary_gemv/sm_90"] = [72, 0, 0, 0, 0, 37]'
	gate 1
	is_row ternary_gemv/sm_90 REGRESSED "40 → 72 registers, 75 → 37 % occupancy"
	# recorded, that is what others are held against
	home/bin/assay baseline update --exact --exact-file record.json
	jq -e '.kernels["ternary_gemv/sm_90"][0] == 72' record.kernels.json
	gate 0
	# not compiled here
	rm home/plugins/assay_cuda.kernels.json
	gate 0
	jq -e '[.cases[] | select(.key == "kernels")] == []' <<<"$output"
	echo '{"schema": 1}' >home/plugins/assay_cuda.kernels.json
	run -2 --separate-stderr home/bin/assay gate --evidence exact --exact-file record.json --policy /dev/null
	[[ $stderr == *"assay_cuda.kernels.json: not the static costs that this assay knows: record them again" ]]
}
