#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The footprint of the program itself: memory of the process that plans, stores and judges, and what `assay list` has to start and open.
load helpers

# controller ARGUMENT...: assay --json with these arguments, its output in out.json, and $peak_kib, the most memory that it ever had.
# It is asked for when the first byte of the output is there, and the rest, more than a pipe holds, waits.
controller() {
	local pid

	mkfifo pipe
	"$ASSAY" "$@" --json >pipe 2>err &
	pid=$!
	exec 5<pipe
	IFS= read -r -N 1 -u 5 first
	peak_kib=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status")
	{
		printf %s "$first"
		cat <&5
	} >out.json
	exec 5<&-
	rm pipe
	wait "$pid"
}

unsanitized() {
	! grep -q sanitizers "$ASSAY_BUILD/features" || skip "sanitizers take memory of their own"
}

# shapes N: a bench folder of N cases that want more threads than there are anywhere, and a few that are measured.
shapes() {
	mkdir -p many/suites
	seq -f '"n=%.0f"' -s ', ' 32 32 "$((32 * $1))" >list
	printf 'bench "many" {\n op = "quantize.q8_0"\n variants = {"ref"}\n threads = {"4096"}\n shapes = {%s}\n}\n' "$(cat list)" >many/many.bench
	printf 'bench "few" {\n op = "quantize.q8_0"\n variants = {"ref"}\n shapes = {"n=64", "n=128", "n=256"}\n}\n' >>many/many.bench
	echo 'suite "quick" { use "*" { } }' >many/suites/quick.suite
}

@test "the controller stays under 64 MiB, whatever the suite" {
	unsanitized
	dir=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || pwd)")
	shapes 6000
	ASSAY_DETERMINISTIC=1 controller run --bench-dir many --db "$dir/a.db"
	rm -r "$dir"
	[ "$(jq -c '[.cases[].status] | [(map(select(. == "skipped")) | length), (map(select(. == "ok")) | length)]' out.json)" = '[6000,3]' ]
	[ "$peak_kib" -lt 65536 ]
}

@test "list starts one process beside itself and loads nothing that only a measurement needs" {
	for args in "list" "list cases" "list --manifest"; do
		rm -rf ld
		mkdir ld
		# a file for each process
		LD_DEBUG=files LD_DEBUG_OUTPUT=ld/of "$ASSAY" $args >/dev/null
		[ "$(find ld -type f | wc -l)" = 2 ]
		grep -hq 'plugins/ops.so' ld/of.*
		# the driver of GPUs is looked for: it tells which there are
		run grep -hE 'lib(papi|pfm|sde|openblas|cublas)' ld/of.*
		[ "$status" = 1 ]
	done
}
