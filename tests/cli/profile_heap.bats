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
	fails 2 "--rate is for profiles of the kind cpu, not heap" profile heap --rate 10 -- true
	fails 2 "--lines is for profiles of the kind cpu, not heap" profile heap --lines -- true
	fails 2 "--sample is for profiles of the kind heap, not cpu" profile cpu --sample 1KiB -- true
	fails 2 "--sample" profile heap --sample 0 -- true
	fails 2 "--sample" profile heap --sample many -- true
	fails 2 "a file that ends in .dhat is for profiles of the kind heap, not cpu" profile cpu -o a.dhat -- true
	fails 2 "no case or command given: 'assay profile heap CASE'" profile heap
	fails 2 "./none" profile heap -- ./none
	fails 2 "none/p.svg" profile heap -o none/p.svg -- true
	if cc -O1 -static -o static -x c - <<<'int main(void) { return 0; }' 2>/dev/null; then
		fails 2 "malloc cannot be intercepted in './static', which is linked statically" profile heap -- ./static
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
		peak=$(jq ".heap.most_bytes | floor" <<<"$output") # jq 1.7 prints 1000.0 as it was written
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
	[[ $stderr == *"warning: the program was killed by signal 6"* ]]
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

@test "profiles of the heap are stored by name, beside those of the CPU, and compared by bytes" {
	needs_heap
	run --separate-stderr "$ASSAY" profile heap --name before --json -- "$MIX" 5
	taken=$output
	is '.profile.id == 1'
	run --separate-stderr "$ASSAY" show before --json -o p.dhat
	[ "$status" = 0 ]
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	[ "$(jq '[.pps[].eb] | add' p.dhat)" = 44 ]
	"$ASSAY" profile heap --name after -- "$MIX" 9 >/dev/null
	run --separate-stderr "$ASSAY" diff before after --json -o d.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.kind == "heap" and .unit == "bytes" and .base.whole == 44 and .head.whole == 701 and .base.live_bytes == 44 and .head.live_bytes == 1 and .head.peak_bytes == 400'
	is '.functions | length == 1 and (.[0] | .name == "get" and .own == [44, 701] and .change == 657 and .ci == null)'
	run --separate-stderr "$ASSAY" diff before after
	[[ $output == *"allocated: 701 B, base 44 B: +657 B"*"at the peak: 400 B, base 44 B: +356 B"*"never given back: 1 B, base 44 B: -43 B"* ]]
	# a block of no bytes is a site, too
	cat >nothing.c <<-'END'
		#include <stdlib.h>
		int main(void) { free(malloc(0)); return 0; }
	END
	cc -O0 -g -o nothing nothing.c
	run --separate-stderr "$ASSAY" profile heap --name nothing --json -- ./nothing
	is '.heap.blocks == 1 and .heap.bytes == 0'
	taken=$output
	run --separate-stderr "$ASSAY" show nothing --json
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	# of one name and two kinds, each is found
	run --separate-stderr "$ASSAY" profile cpu --name after -- "$MIX" 8
	[ "$status" = 0 ] || [[ $stderr == *"ended before it was sampled"* || $stderr == *forbids* ]]
	run --separate-stderr "$ASSAY" show after --kind heap --json
	is '.profile.kind == "heap" and .profile.id == 2'
	KEEP_DB=1 fails 2 "'before' has no profile of the kind 'cpu'" show before --kind cpu
	KEEP_DB=1 fails 2 "no kind of profile is called 'disk'" show before --kind disk
	run --separate-stderr "$ASSAY" diff before after --json
	is '.kind == "heap" and .head.id == 2'
}

# heaptrack's counts of the program with a number: calls, bytes lost, bytes at the peak.
heaptrack_of() {
	rm -f track.*
	heaptrack -o track "$MIX" "$@" >/dev/null 2>&1
	heaptrack_print -f track.* 2>/dev/null | awk '
		function bytes(text) { return text * (text ~ /K$/ ? 1000 : text ~ /M$/ ? 1000000 : 1) }
		/^calls to allocation functions:/ { calls = $5 }
		/^total memory leaked:/ { lost = bytes($4) }
		/^peak heap memory consumption:/ { peak = bytes($5) }
		END { printf "[%d, %d, %d]", calls, lost, peak }'
}

@test "calls, leaks and peaks are heaptrack's" {
	needs_heap
	command -v heaptrack >/dev/null || skip "no heaptrack"
	# it counts what its own library allocates at the start
	idle=$(heaptrack_of)
	for number in 0 1 2 3 5 7 8 9; do # of program 4 it does not see memalign()
		run --separate-stderr "$ASSAY" profile heap --json -- "$MIX" $number
		theirs=$(heaptrack_of $number)
		# it writes three digits or four
		jq -e --argjson idle "$idle" --argjson theirs "$theirs" '.heap | .blocks == $theirs[0] - $idle[0]
			and (.live_bytes - ($theirs[1] - $idle[1]) | fabs) <= 0.005 * $theirs[1]
			and (.most_bytes - ($theirs[2] - $idle[2]) | fabs) <= 20 + 0.005 * .most_bytes' <<<"$output" ||
			{ echo "program $number: heaptrack has $theirs, of nothing $idle; $(jq -c '.heap | [.blocks, .live_bytes, .most_bytes]' <<<"$output")"; false; }
	done
}
