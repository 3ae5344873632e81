#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile heap: totals, peaks and leaks as valgrind counts them, by call site, whichever way a program ends.
load compare_helpers

setup_file() {
	export MIX="$BATS_FILE_TMPDIR/mix"
	cc -O0 -g -pthread -o "$MIX" "$ASSAY_SOURCE/tests/fixtures/profile/heap_mix.c"
}

# Nothing stands before malloc in a sanitized build, and nothing is named without libdw.
needs_heap() {
	run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" 1
	[ "$status" = 0 ] || [[ $stderr != *sanitizer* && $stderr != *libdw* ]] || skip "$stderr"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
}

@test "profile heap says in one line what it cannot do" {
	needs_heap
	fails 2 "--rate and --lines are for CPU profiles: heap takes --sample" profile heap --rate 10 -- true
	fails 2 "--name stores CPU profiles: keep one of the heap with -o FILE" profile heap --name x -- true
	fails 2 "--sample is for heap profiles: cpu takes --rate" profile cpu --sample 1KiB -- true
	fails 2 "--sample" profile heap --sample 0 -- true
	fails 2 "--sample" profile heap --sample many -- true
	fails 2 "cannot write 'a.dhat': .dhat is for heap profiles" profile cpu -o a.dhat -- true
	fails 2 "no case or command given: 'assay profile heap CASE'" profile heap
	fails 2 "./none" profile heap -- ./none
	fails 2 "none/p.svg" profile heap -o none/p.svg -- true
	if cc -O1 -static -o static -x c - <<<'int main(void) { return 0; }' 2>/dev/null; then
		fails 2 "nothing can stand before malloc in './static', which is linked statically" profile heap -- ./static
	fi
}

@test "allocations, bytes, peak and leaks of ten programs are memcheck's and dhat's" {
	needs_heap
	command -v valgrind >/dev/null || skip "no valgrind"
	for number in 0 1 2 3 4 5 6 7 8 9; do
		run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" $number
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		# the C library keeps what it has for threads; this object's own thread-local data makes that larger
		mine=$(jq -r --argjson threads "$((number == 6))" '.heap | [.blocks, (if $threads > 0 then 0 else .bytes end),
			([.sites[] | select(.stack[0].object == "mix") | .live_bytes] | add)] | map(floor | tostring) | join(" ")' <<<"$output")
		peak=$(jq '.heap.most_bytes' <<<"$output")
		# "total heap usage: 1,001 allocs, 1,001 frees, 500,500 bytes allocated"; blocks lost in part are lost
		theirs=$(valgrind --leak-check=full "$MIX" $number 2>&1 | tr -d , | awk -v threads=$((number == 6)) '
			/total heap usage/ { allocs = $5; bytes = $9 }
			/(definitely|indirectly) lost:/ { lost += $4 }
			END { printf "%d %d %d\n", allocs, threads ? 0 : bytes, lost }')
		[ "$mine" = "$theirs" ] || { echo "program $number: '$mine', memcheck has '$theirs'"; false; }
		[ "$number" = 3 ] || [ "$number" = 6 ] && continue # dhat counts a resized block as one that grew, and threads peak as they run
		valgrind --tool=dhat --dhat-out-file=d.out "$MIX" $number 2>/dev/null
		[ "$peak" = "$(jq '[.pps[].gb] | add // 0' d.out)" ] || { echo "program $number: peak $peak"; false; }
	done
}

@test "each call site has its stack, its peak and what it never gave back" {
	needs_heap
	run --separate-stderr "$ASSAY" profile heap --json -o p.dhat -- "$MIX" 5
	is '[.heap.sites[] | select(.live_bytes == 11 and .stack[0].function == "get" and .stack[1].function == "lose")] | length == 4'
	is '[.heap.sites[] | [.stack[] | select(.function == "deep")] | length] | sort == [1, 11, 21, 31]'
	is '.heap.sites[0].stack[0].file == "heap_mix.c" and .profile.unit == "bytes" and .profile.kind == "heap"'
	is '[.heap.sites[].bytes] | add == 44'
	jq -e '.dhatFileVersion == 2 and .mode == "heap" and ([.pps[].eb] | add) == 44
		and (.ftbl as $f | all(.pps[]; $f[.fs[0]] | test("get \\(heap_mix.c:[0-9]+\\)")))' p.dhat
	# at the second peak nothing of the first is left
	run --separate-stderr "$ASSAY" profile heap --json -o p.folded -- "$MIX" 9
	is '.heap.most_bytes == 400 and ([.heap.sites[].peak_bytes] | sort == [0, 0, 100, 300])'
	[ "$(awk '{ n += $NF } END { print n }' p.folded)" = 701 ]
	run --separate-stderr "$ASSAY" profile heap -o p.svg -- "$MIX" 1
	[[ $output == *"2 allocations of 137 B"*"37 B in 1 blocks never given back"*"get (heap_mix.c:"*") < lose (heap_mix.c:"* ]]
	grep -q 'data-n="one_lost"' p.svg
}

@test "children, other programs, threads and crashes are counted" {
	needs_heap
	run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" 1 fork
	is '.heap.processes == 2 and .heap.bytes == 1371 and .heap.live_bytes == 1271'
	run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" 0 exec
	is '.heap.processes == 2 and .heap.blocks == 1002 and .heap.live_bytes == 37'
	run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" 1 killed
	[ "$status" = 0 ]
	[[ $stderr == *"warning: the program killed by signal 6"* ]]
	is '.heap.processes == 1 and .heap.live_bytes == 37'
	# no allocation at all
	run --separate-stderr "$ASSAY" profile heap --json -- "$MIX"
	is '.heap.blocks == 0 and .heap.sites == []'
	# names of programs are shown, not run
	cp "$MIX" '<b>&"x'
	run --separate-stderr "$ASSAY" profile heap -o p.svg -- './<b>&"x' 1 fork
	[ "$status" = 0 ]
	grep -q 'process: &lt;b&gt;&amp;' p.svg
	! grep -q '<b>' p.svg
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay-heap-*' -newer p.svg)" ]
}

@test "sampled numbers are unbiased estimates" {
	needs_heap
	sum=0
	for _ in 1 2 3 4 5 6 7 8; do
		run --separate-stderr "$ASSAY" profile heap --sample 256 --json -- "$MIX" 8
		is '.heap.sample_bytes == 256 and .heap.samples < 600 and .heap.samples > 30'
		sum=$(jq --argjson s "$sum" '$s + .heap.bytes' <<<"$output")
	done
	# eight runs of 51 kB, of which one takes 196 ± 13.6 samples: a mean beyond five sigma is no chance
	jq -ne --argjson s "$sum" '($s / 8 / 51000 - 1) | fabs < 0.13'
	# a sample at each byte is every allocation
	run --separate-stderr "$ASSAY" profile heap --sample 1 --json -- "$MIX" 8
	is '.heap.blocks >= 2999 and .heap.blocks < 3001'
}

@test "a case shows what its variant allocates, not what the harness does" {
	needs_heap
	run --separate-stderr "$ASSAY" profile heap --json quantize.q8_0/ref/n=1048576/t=1/warm
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.case == "quantize.q8_0/ref/n=1048576/t=1/warm" and .heap.blocks == 0 and .heap.processes == 1'
}
