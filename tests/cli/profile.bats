#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile: what bad input gets, programs and cases whose split is known, and the flame graph in a browser.
load compare_helpers
load browser

teardown() {
	browser_stop
}

# A program of this system may be sampled, or the test says why not.
needs_samples() {
	cc -O2 -g -pthread -o split "$ASSAY_SOURCE/tests/fixtures/profile/split.c"
	run --separate-stderr "$ASSAY" profile cpu --json -- ./split 4000
	[ "$status" = 0 ] || [[ $stderr != *"cannot sample"* && $stderr != *"forbids"* && $stderr != *libdw* ]] || skip "$stderr"
}

@test "profile says in one line what it cannot do" {
	fails 2 "nothing to profile: expected 'profile cpu CASE' or 'profile cpu -- COMMAND...'" profile
	fails 2 "no kind of profile is called 'disk', expected cpu, heap, gpu, threads, trace or all" profile disk x
	fails 2 "no case or command given: 'assay profile cpu CASE' or 'assay profile cpu -- COMMAND...'" profile cpu
	fails 2 "no case or command given" profile cpu --
	fails 2 "a case and a command exclude each other" profile cpu x -- true
	fails 2 "unexpected argument 'y': profile takes one case" profile cpu x y
	fails 2 "bad case ''" profile cpu ''
	fails 2 "--rate is '0', expected a whole number from 1 to 10000" profile cpu x --rate 0
	fails 2 "--rate is '10001', expected" profile cpu x --rate 10001
	fails 2 "--for" profile cpu x --for never
	fails 2 "unknown suite 'none'" profile cpu x --suite none
	fails 2 "--cost is of a case, and makes no profile: give it --rate and --for alone" profile cpu --cost -- true
	fails 2 "--cost is of a case, and makes no profile: give it --rate and --for alone" profile cpu x --cost --name n
	fails 2 "--cost is for profiles of the kind cpu, not heap" profile heap x --cost
	fails 2 "no case of suite 'quick' matches 'matmul.ternray', did you mean 'matmul.ternary'?" profile cpu matmul.ternray
	fails 2 "'dequantize' selects " profile cpu dequantize
	fails 2 "cannot write 'a.txt': its name must end in .text, .json, .trace, .folded, .svg, .html or .dhat" profile cpu x -o a.txt
	run "$ASSAY" profile cpu -- ./none
	[[ $status = 2 && ($output == *./none* || $output == *"built without libdw"*) && ${#lines[@]} = 1 ]]
}

@test "a program of a known split gets it: own time, callers, a thread, a child, another program" {
	needs_samples
	for how in '' thread fork exec; do
		# shellcheck disable=SC2086
		run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -o split.folded -- ./split 20000 $how
		[ "$status" = 0 ] || { echo "$how: $stderr"; false; }
		is '.schema == 1 and .profile.kind == "cpu" and .profile.case == null and (.profile.command | startswith("./split 20000"))'
		is '.profile.samples > 300 and .profile.truncated <= 0.01 * .profile.samples and .profile.unresolved <= 0.02 * .profile.samples'
		# five sigma each: one in a million runs fails by chance
		is '.profile.samples as $n | .functions as $f | [["seventy", 0.7], ["twenty", 0.2], ["ten", 0.1]] | all(. as [$name, $p] |
			([$f[] | select(.name == $name) | .total_frac][0] - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.01)'
		is '[.functions[] | select(.name == "chain" and .inlined and .file == "split.c" and .line > 0 and .self > 0)] | length == 1'
		grep -q '^thread [0-9]*;.*;work;seventy;chain_\[i\] [0-9]*$' split.folded
		[ "$(awk '{ n += $NF } END { print n }' split.folded)" = "$(jq .profile.samples <<<"$output")" ]
	done
}

@test "a known split lies within three sigma, and leaves are those that perf sees in the same process" {
	needs_samples
	cat >leaves.c <<-'END'
		static volatile unsigned long end;
		/* a chain of multiplications has the same latency wherever its loop lies */
		#define LEAF(name) static __attribute__((noinline)) void name(long n) { unsigned long x = end; \
			while (n--) { x = x * 6364136223846793005ul * (x | 1) * (x | 3) + 7; __asm__ volatile("" : "+r"(x)); } end = x; }
		LEAF(seventy) LEAF(twenty) LEAF(ten)
		int main(void) { for (int i = 0; i < 20000; i++) { seventy(7000); twenty(2000); ten(1000); } return 0; }
	END
	cc -O1 -g -o leaves leaves.c
	within() { # COUNT-SHARES of seventy, twenty, ten out of N: 3 sigma, and a 0.2 % that calls take
		jq -e '.n as $n | [[.seventy, 0.7], [.twenty, 0.2], [.ten, 0.1]] | all(. as [$k, $p] |
			($k / $n - $p | fabs) < 3 * ($p * (1 - $p) / $n | sqrt) + 0.002)' <<<"$1" >/dev/null
	}
	# one in a hundred samplings of this kind lies outside by chance, one in ten thousand twice
	for _ in 1 2; do
		run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- ./leaves
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		own=$(jq '[.functions[] | select(.name | test("^(seventy|twenty|ten)$"))] | (map({ (.name): .self }) | add) + { n: map(.self) | add }' <<<"$output")
		! within "$own" || break
	done
	within "$own" || { echo "$own"; false; }
	is '.profile.samples > 2000'
	command -v perf >/dev/null && perf record -e cpu-clock:u -o probe.data true 2>/dev/null >&2 || skip "no perf"
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- perf record -q -e cpu-clock:u -F 4999 -o perf.data ./leaves
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	own=$(jq '[.functions[] | select(.object == "leaves")] | (map({ (.name): .self }) | add) + { n: map(.self) | add }' <<<"$output")
	theirs=$(perf script -i perf.data --comm leaves -F ip,sym,dso 2>/dev/null | awk '/leaves/ { n[$2]++; all++ }
		END { printf "{\"n\":%d,\"seventy\":%d,\"twenty\":%d,\"ten\":%d}", all, n["seventy"], n["twenty"], n["ten"] }')
	# the band of 99 % of the difference of two shares, over three of them
	jq -n -e --argjson a "$own" --argjson b "$theirs" '$b.n > 1000 and $a.n > 1000 and (["seventy", "twenty", "ten"] | all(. as $f |
		($a[$f] / $a.n) as $p | ($p - $b[$f] / $b.n | fabs) < 2.94 * ($p * (1 - $p) * (1 / $a.n + 1 / $b.n) | sqrt) + 0.002))' >/dev/null ||
		{ echo "$own $theirs"; false; }
}

@test "deep stacks are copied deeper, and those that end early are counted" {
	needs_samples
	cat >deep.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		static volatile unsigned long sink;
		static __attribute__((noinline)) void leaf(void) { for (long i = 0; i < 2000000; i++) sink += i; }
		/* a caller that is 20,000 bytes away, 50,000, or farther than any copy reaches */
		#define TILE(name, bytes) static __attribute__((noinline)) void name(void) { volatile char tile[bytes]; \
			for (long i = 0; i < bytes; i++) tile[i] = 1; leaf(); sink += tile[0]; }
		TILE(tile, 20000) TILE(mid_tile, 50000) TILE(far_tile, 100000)
		static void *work(void *how) { for (int i = 0; i < 400; i++) if (!how) tile(); else if (*(char *)how == 'm') mid_tile(); else far_tile(); return NULL; }
		int main(int argc, char **argv)
		{
			pthread_t t[2];
			for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, argc > 1 ? argv[1] : NULL);
			for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
			return 0;
		}
	END
	cc -O1 -g -pthread -o deep deep.c
	for how in '' mid far; do
		# shellcheck disable=SC2086
		run --separate-stderr "$ASSAY" profile cpu --rate 997 --json -o deep.folded -- ./deep $how
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		# a stack that is cut off begins at the tile
		cut=$(awk -F';' '{ n = $NF; sub(/.* /, "", n); if ($2 ~ /^((mid|far)_)?tile$/) cut += n } END { print cut + 0 }' deep.folded)
		jq -e --argjson cut "$cut" '.profile.truncated >= $cut' <<<"$output" ||
			{ echo "$cut $output"; false; }
		[ "$how" = far ] || is '.profile | .samples > 100 and .truncated < 100'
	done
	is '.profile | .truncated > 0.9 * .samples'
	[[ $stderr == *"% of the stacks end early: they are deeper than 63 KiB, or their code has no unwind tables (.eh_frame)"* ]]
}

# reach_the_start FRACTION: so many of the timed stacks in case.folded go on from op, phase and thread with the frame that the kernel or
# the C library starts a thread with. What the worker prepares may lie deeper than the first samples copy.
reach_the_start() {
	awk -F';' -v least="$1" '{ n = $NF; sub(/.* /, "", n); if ($2 != "phase: sample") next; all += n
		if ($3 ~ /^thread / && $4 ~ /^(_start|\[unknown\]|.*clone.*)/) whole += n } END { exit !(whole >= least * all) }' case.folded ||
		{ head -5 case.folded; return 1; }
}

@test "ninety-nine in a hundred stacks of a case reach its worker's first frame, on each thread" {
	needs_samples
	! grep -q sanitizers "$ASSAY_BUILD/features" || skip "sanitized code is not always unwound"
	# the last have tiles on their stack, of shapes that fill them in part and as a whole, on vectors where there are some
	fastest() { "$ASSAY" list cases --suite full --only "$1" | grep -v skipped | tail -n 1; }
	quantize=$(fastest 'quantize.tq2_0/*/n=1048576/t=1/warm')
	prefill=$(fastest 'generate.prefill/*/model=tiny,pp=128,*/t=2/warm')
	matmul=$(fastest 'matmul.ternary/*/m=2560,k=640,n=128/t=1/warm')
	for key in stream.read/ref/level=l1/t=2/warm quantize.q8_0/ref/n=1048576/t=1/warm "$quantize" "$prefill" ${matmul:+"$matmul"}; do
		run --separate-stderr "$ASSAY" profile cpu "$key" --suite full --rate 4999 --for 1s --json -o case.folded
		[ "$status" = 0 ] || { echo "$key: $stderr"; false; }
		# two threads that spin beside a load get little of a second
		is '.profile.timed_samples > 30'
		# the C library that generate calls has functions without names
		[[ $key = generate.* ]] || is '.profile.unresolved <= 0.05 * .profile.samples + 5'
		reach_the_start 0.99
	done
	is '(.threads | length) >= 1 and (.threads | map(.self) | add) == .profile.samples'
}

@test "what sampling costs is told beside a control" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu quantize.i8_token/ref/tokens=1,dim=2560/t=1/warm --cost --rate 499 --for 400ms
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	[ "${#lines[@]}" = 2 ]
	local number='[+-][0-9.]+'
	[[ ${lines[0]} =~ ^"sampled   499 Hz: "$number" % ("$number" to "$number" %) of a plain worker's processor time, 20 pairs"$ ]]
	[[ ${lines[1]} =~ ^"control 20000 Hz: "$number" % ("$number" to "$number" %) of a plain worker's processor time, 20 pairs"$ ]]
	[ ! -e assay.db ]
}

@test "bad input of profiles: a full disk, a deleted plugin, names with markup" {
	needs_samples
	[ ! -e /dev/full ] || {
		run --separate-stderr "$ASSAY" profile cpu --json -- ./split 4000 >/dev/full
		ln -s /dev/full full.svg
		run --separate-stderr "$ASSAY" profile cpu -o full.svg -- ./split 4000
		[ "$status" = 2 ] && [[ $output == *seventy* ]]
		[ "$stderr" = "assay: cannot write 'full.svg': No space left on device, free some space or name a file on another disk" ]
		rm full.svg
	}
	cp "$ASSAY_BUILD/tests/plugins/compare_five.so" '<script>x.so'
	cp "$ASSAY_BUILD/tests/plugins/compare_op.so" op.so
	key=lenient.triple/work/n=1024/t=1/warm
	run --separate-stderr "$ASSAY" profile cpu $key --no-default-plugins --plugin op.so --plugin './<script>x.so' \
		--bench-dir "$ASSAY_SOURCE/tests/fixtures/compare" --suite quick --for 300ms -o p.svg --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '[.functions[] | select(.object == "<script>x.so")] | length >= 5'
	! grep -q '<script>x' p.svg
	rm './<script>x.so'
	fails 2 "<script>x.so" profile cpu $key --no-default-plugins --plugin op.so --plugin './<script>x.so' --bench-dir "$ASSAY_SOURCE/tests/fixtures/compare"
}

@test "what is too short, stripped or fails is told" {
	needs_samples
	# a program that ends at once is told of, whether or not a sample hit it
	run --separate-stderr "$ASSAY" profile cpu --rate 1 -- true
	[ "$status" = 2 ] && [ "$stderr" = "assay: 'true' ended before it was sampled: profile something that runs longer" ]
	strip -o bare split
	run --separate-stderr "$ASSAY" profile cpu -- ./bare 20000
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	[[ $stderr == *"% of the samples lie in code without names: build it with -g and do not strip it"* ]]
	[[ $output == *"[unknown]"*"bare"* ]]
	run --separate-stderr "$ASSAY" profile cpu -- sh -c './split 4000; exit 3'
	[ "$status" = 0 ]
	[[ $stderr == *"warning: the program exited with status 3"* ]]
	# it would run for long
	run --separate-stderr "$ASSAY" profile cpu --for 200ms --json -- ./split 100000000
	[ "$status" = 0 ]
	is '.profile.seconds < 20'
	fails 2 "none/p.svg" profile cpu -o none/p.svg -- ./split 4000
}

# refuse COMMAND: where perf_event_open is forbidden, as it is in containers.
needs_timers() {
	cc -O2 -o refuse "$ASSAY_SOURCE/tests/fixtures/profile/refuse.c"
	./refuse true || skip "no seccomp here"
	[ -e "$ASSAY_BUILD/lib/assay/assay-timers.so" ] || skip "sanitizers must come first"
	needs_samples
}

# moved/bin/assay: all but what timers need.
move_without_timers() {
	mkdir -p moved/bin
	cp "$ASSAY" moved/bin/assay
	for part in "$ASSAY_BUILD"/*; do
		[ -e "moved/$(basename "$part")" ] || [ "$(basename "$part")" = lib ] || ln -s "$part" moved/
	done
}

@test "where perf_event_open is forbidden timers sample programs, their threads, children and what they exec" {
	needs_timers
	for how in '' thread fork exec; do
		# shellcheck disable=SC2086
		run --separate-stderr ./refuse "$ASSAY" profile cpu --rate 4999 --json -o split.folded -- ./split 40000 $how
		[ "$status" = 0 ] || { echo "$how: $stderr"; false; }
		is '.profile.source == "a timer of each thread'"'"'s CPU time; perf_event_open is forbidden"'
		# timers of CPU time are bound to the tick: the rate is what came of it
		is '.profile.rate_hz > 20 and .profile.rate_hz <= 4999 and .profile.samples > 50 and .profile.lost == 0'
		is '.profile.truncated <= 0.01 * .profile.samples + 1 and .profile.unresolved <= 0.02 * .profile.samples + 1'
		is '.profile.samples as $n | .functions as $f | [["seventy", 0.7], ["twenty", 0.2], ["ten", 0.1]] | all(. as [$name, $p] |
			([$f[] | select(.name == $name) | .total_frac][0] - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.01)'
		grep -q '^thread [0-9]*;.*;work;seventy;chain_\[i\] [0-9]*$' split.folded
	done
}

@test "where perf_event_open is forbidden timers sample cases, as root and as an ordinary user" {
	needs_timers
	run --separate-stderr ./refuse "$ASSAY" profile cpu quantize.q8_0/ref/n=1048576/t=1/warm --for 500ms --json -o case.folded
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.source == "a timer for each thread; perf_event_open is forbidden" and .profile.rate_hz == 997'
	is '.profile.timed_samples > 20'
	reach_the_start 0.98
	grep -q '^quantize.q8_0/ref;phase: sample;thread 1;_start;' case.folded
	run --separate-stderr ./refuse "$ASSAY" profile cpu stream.read/ref/level=l1/t=2/warm --for 500ms --json
	is '(.threads | length) == 2 and (.threads | all(.self > 10))'
	[ "$(id -u)" = 0 ] || return 0
	command -v setpriv >/dev/null || skip "no setpriv"
	for program in "-- ./split 40000" "quantize.q8_0/ref/n=1048576/t=1/warm --for 300ms"; do
		# shellcheck disable=SC2086
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ./refuse "$ASSAY" profile cpu --json $program
		[ "$status" = 0 ] || { echo "$status $stderr"; false; }
		is '(.profile.source | startswith("a timer ")) and .profile.samples > 20'
		# and where it is not forbidden
		# shellcheck disable=SC2086
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$ASSAY" profile cpu --json $program
		[ "$status" = 0 ] || { echo "$status $stderr"; false; }
		is '.profile.samples > 20'
	done
}

@test "where perf_event_open is forbidden, what timers cost is told beside a control" {
	needs_timers
	run --separate-stderr ./refuse "$ASSAY" profile cpu quantize.i8_token/ref/tokens=1,dim=2560/t=1/warm --cost --rate 499 --for 400ms
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} =~ ^"sampled   499 Hz: "[+-][0-9.]+" % (" && ${lines[1]} =~ ^"control 20000 Hz: "[+-][0-9.]+" % (" ]]
}

@test "what timers cannot sample is told, and the program has run" {
	needs_timers
	cc -O2 -g -static -pthread -o still "$ASSAY_SOURCE/tests/fixtures/profile/split.c" || skip "no static libc"
	run --separate-stderr ./refuse "$ASSAY" profile cpu -o p.svg -- ./still 4000
	[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] && [ ! -e p.svg ]
	[[ $stderr == "assay: './still' cannot be sampled: no timer could be preloaded into it, as it is linked statically, or changes its user" ]]
	# the kernel's own samples need nothing preloaded
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- ./still 20000
	[ "$status" = 0 ]
	is '.profile.samples > 50 and ([.functions[].name] | contains(["seventy", "twenty", "ten"]))'
}

@test "where neither the kernel nor timers sample, a line says what permits it" {
	needs_timers
	move_without_timers
	for what in '-- sleep 100' quantize.q8_0/ref/n=1048576/t=1/warm; do
		# shellcheck disable=SC2086
		run --separate-stderr ./refuse moved/bin/assay profile cpu -o p.svg $what
		[ "$status" = 2 ] && [ -z "$output" ] && [ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "assay: the kernel forbids to sample programs: 'sysctl kernel.perf_event_paranoid=2', or a container that allows perf_event_open(2), permits it; nor do timers work: there is no "*"assay-timers.so': make builds it" ]]
	done
	[ ! -e p.svg ]
}

@test "a case has its op, phase and thread above its frames, and the time of an iteration by function" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu quantize.q8_0/ref/n=1048576/t=1/warm --for 300ms --json --lines -o case.folded
	[ "$status" = 0 ]
	is '.profile.case == "quantize.q8_0/ref/n=1048576/t=1/warm" and .profile.command == null and .profile.timed_samples > 0'
	is '(.lines | length > 0) and (.instructions | length > 0) and (.threads | length > 0)'
	# own times of all functions are the iteration's, but for samples that have no function at all
	is '([.functions[].ns_per_iteration] | add) / .profile.iteration_ns | . > 0.98 and . < 1.001'
	is '[.functions[] | select(.ns_per_iteration > 0) | .ci[0] <= .ns_per_iteration and .ns_per_iteration <= .ci[1]] | all'
	# sanitized code is not always unwound to its first frame
	grep -q '^quantize.q8_0/ref;phase: sample;thread 1;'"$(grep -q sanitizers "$ASSAY_BUILD/features" || echo '_start;')" case.folded
	[ ! -e assay.db ]
}

@test "a profile is stored by its name, shown, carried elsewhere and pruned" {
	needs_samples
	fails 2 "bad --name 'last': 'last' and numbers are taken" profile cpu --name last -- ./split 4000
	fails 2 "bad --name ''" profile cpu --name '' -- ./split 4000
	fails 2 "--lines, --output, --kind and --sanitize are of 'assay show profile'" show --lines
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --name before --json -- ./split 4000
	[ "$status" = 0 ]
	is '.profile.id == 1 and .profile.name == "before"'
	taken=$output
	run --separate-stderr "$ASSAY" show profile before --json -o before.svg
	[ "$status" = 0 ] && [ -s before.svg ]
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	KEEP_DB=1 fails 2 "no profile 'befor', did you mean 'before'?" show profile befor
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 4000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 4000 >/dev/null
	run --separate-stderr "$ASSAY" show profile last --json
	is '.profile.id == 3 and .profile.name == "after"'
	run --separate-stderr "$ASSAY" db export all.jsonl
	[ "$status" = 0 ]
	run --separate-stderr "$ASSAY" db import all.jsonl --db other.db --json
	is '.profiles_added == 3'
	run --separate-stderr "$ASSAY" db merge other.db --json
	is '.profiles_added == 0 and .known == 3'
	run --separate-stderr "$ASSAY" db prune --keep-runs 1 --json
	is '.profiles_removed == 1'
	run --separate-stderr "$ASSAY" db check --json
	is '.profiles == 2 and .faults == 0'
	run --separate-stderr "$ASSAY" show profile 1
	[ "$status" = 2 ]
}

@test "profiles are taken again and again, and the newest of them stay" {
	needs_samples
	fails 2 "--every, --keep and --keep-days store profiles: give them a --name" profile cpu --every 1s -- ./split 4000
	run --separate-stderr timeout -s INT 8 "$ASSAY" profile cpu --rate 4999 --every 200ms --keep 2 --name hourly --json -- ./split 2000
	[ "$status" = 130 ] || [ "$status" = 124 ]
	[ "$(jq -s 'map(.profile.id) | . == [range(1; length + 1)] and length > 3' <<<"$output")" = true ]
	last=$(jq -s 'last | .profile.id' <<<"$output")
	run --separate-stderr "$ASSAY" db check --json
	is '.profiles == 2 and .faults == 0'
	run --separate-stderr "$ASSAY" show profile hourly --json
	is ".profile.id >= $last"
}

@test "two stored profiles are told apart by function, and as a flame graph" {
	needs_samples
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 10000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 30000 thread >/dev/null
	KEEP_DB=1 fails 2 "no profile 'afte', did you mean 'after'?" diff before afte
	KEEP_DB=1 fails 2 "both sides are profile 1: name two" diff before before
	KEEP_DB=1 fails 2 "--csv is of runs: 'before' and 'after' are profiles" diff before after --csv
	KEEP_DB=1 fails 2 "its name must end in .text, .json, .html or .svg" diff before after -o d.csv
	run --separate-stderr "$ASSAY" diff before after --json -o d.svg
	[ "$status" = 0 ]
	is '.unit == "ns" and .base.name == "before" and .head.name == "after"'
	is '.functions[0] | .name == "chain" and .change > 0 and .ci[0] > 0 and .ci[0] < .change and .change < .ci[1]'
	run --separate-stderr "$ASSAY" diff --profiles 1 2
	[ "$status" = 0 ] && [[ $output == *"processor time: "*chain*split.c* ]]
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/d.svg"
	page_value 'globalThis.frame = (n, below) => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n && (!below || document.querySelectorAll(".f")[g.dataset.p].dataset.n === below));
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	# work below main is gone, and shows only in the view of the base
	page_is 'frame("work", "main").classList.contains("off") '
	page_is '[...document.querySelectorAll(".f:not(.off)")].some(g => g.dataset.n === "work")'
	page_is '/vanished/.test(frame("work", "main").textContent)'
	page_value 'press("v"); true' >/dev/null
	page_is '!frame("work", "main").classList.contains("off") && document.querySelector("[data-a=view]").textContent === "view: base (v)"'
	page_value 'press("v"); true' >/dev/null
	page_is 'frame("work", "main").classList.contains("off")'
	[ -z "$(browser_complaints)" ]
}

@test "a file that cannot be written is told before anything runs" {
	mkdir folder.svg p.heap.svg readonly
	chmod a-w readonly
	for kind in cpu heap threads trace gpu all; do
		fails 2 "No such file or directory" profile $kind -o none/p.json -- touch ran
		fails 2 "cannot write 'ran" profile $kind -o ran -- touch ran
		[ ! -e ran ] || { echo "$kind ran it"; false; }
	done
	fails 2 "cannot write 'folder.svg': it is a folder" profile cpu -o folder.svg -- touch ran
	fails 2 "cannot write 'p.heap.svg': it is a folder" profile all -o p.svg -- touch ran
	# root may write everywhere
	[ "$(id -u)" = 0 ] || fails 2 "cannot write 'readonly/p.svg': Permission denied" profile cpu -o readonly/p.svg -- touch ran
	[ ! -e ran ] && [ -z "$(find . -name '*.tmp')" ]
}

# ---- because ----

@test "a regression is explained by the function that grew, after the verdict" {
	needs_samples
	! grep -q sanitizers "$ASSAY_BUILD/features" || skip "sanitized code beside load takes longer to be REGRESSED than a test may"
	KEEP_DB=1 fails 2 "--profile is 'yes', expected auto, no or all" compare x y --profile yes
	printf 'margin "*" { paired = "2%%" }\n' >narrow.conf
	for _ in 1 2 3; do
		compare five five_slower --policy narrow.conf --budget 4s --json
		[ "$status" = 1 ] || [ "$status" = 0 ] || { echo "$stderr"; false; }
		# what another program disturbs is told, and the right one named at last
		is '.cases | all(if .because then .because[0].function == "part_three" else .because_unknown != "" end)'
		[ "$(jq -r '.cases[0].because[0].function' <<<"$output")" != part_three ] || break
	done
	is '.cases[0] | .verdict == "REGRESSED" and (has("because_unknown") | not) and (.because | length == 1)
		and (.because[0] | .function == "part_three" and .file == "five_parts.h" and .lines[0] > 0 and .lines[0] <= .lines[1]
		and .delta_ns > 0 and .ci[0] > 0 and .ci[0] <= .delta_ns and .delta_ns <= .ci[1] and .whole_ns > 0 and .samples > 500)'
	is '.cases[0].because[0].text | startswith("because part_three (five_parts.h:")'
	is '.cases[0].because[0].evidence == "code" or .cases[0].because[0].evidence == "sampled"'
	# what explains it is stored with the comparison, and said again; the profiled processes are none of those that were judged
	because=$(jq -S '.cases[0].because' <<<"$output")
	run --separate-stderr "$ASSAY" judge --json
	is '.verdict == "REGRESSED"'
	[ "$(jq -S '.cases[0].because' <<<"$output")" = "$because" ]
	for only in '' '*'; do # a row a case, and a row a pair
		run --separate-stderr "$ASSAY" show comparisons last ${only:+"$only"}
		[[ $(tr -s ' \n' ' ' <<<"$output") == *"because part_three (five_parts.h:"*" takes "* ]] || { echo "$output"; false; }
	done
	run --separate-stderr "$ASSAY" show comparisons last --json
	[ "$(jq -S '[.cases[] | select(.control == null or .control == "none")][0].because' <<<"$output")" = "$because" ] || { echo "$output"; false; }
	rm -f other.db
	run --separate-stderr "$ASSAY" db merge assay.db --db other.db
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	run --separate-stderr "$ASSAY" judge --json --db other.db
	[ "$(jq -S '.cases[0].because' <<<"$output")" = "$because" ]
	run --separate-stderr "$ASSAY" db check --db other.db
	[ "$status" = 0 ]
	sqlite3 other.db 'UPDATE because_function SET line = line + 1, last_line = last_line + 1' || python3 -c 'import sqlite3; c = sqlite3.connect("other.db"); c.execute("UPDATE because_function SET line = line + 1, last_line = last_line + 1"); c.commit()'
	run --separate-stderr "$ASSAY" judge --db other.db
	[[ $stderr == *"what explains case "*" of a comparison"* ]]
	compare five five_slower --policy narrow.conf --budget 30s --profile no
	[[ $output == *REGRESSED* && $output != *"because part"* && $output != *"because of"* ]]
}

@test "where nothing can be sampled a comparison has its verdict all the same" {
	needs_timers
	move_without_timers
	# shellcheck disable=SC2086
	run --separate-stderr ./refuse moved/bin/assay compare $SELECT "$PLUGINS/compare_base.so" "$PLUGINS/compare_double.so" --policy wide.conf --budget 30s
	[ "$status" = 1 ] || { echo "$status $output $stderr"; false; }
	[[ $output == *"because of what is not known: "*"forbids to sample programs"* ]]
	run --separate-stderr "$ASSAY" judge
	[[ $output == *"because of what is not known: "*"forbids to sample programs"* ]]
}

@test "the flame graph zooms, searches, filters and takes keys" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu -o split.svg -- ./split 20000
	[ "$status" = 0 ]
	xmllint --noout split.svg 2>/dev/null || ! command -v xmllint
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/split.svg"
	page_value 'globalThis.shown = () => [...document.querySelectorAll(".f:not(.off)")].map(g => g.dataset.n);
		globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		globalThis.width = n => +frame(n).querySelector("rect").getAttribute("width");
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	page_is 'width("seventy") > 2 * width("twenty") && width("twenty") > width("ten") && Math.abs(width("all") - 1180) < 0.1'
	# a click zooms: callers keep the whole width, siblings go
	page_value 'frame("twenty").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'width("twenty") === 1180 && !shown().includes("seventy") && shown().includes("main") && frame("main").classList.contains("above")'
	page_value 'press("Escape"); true' >/dev/null
	page_is 'shown().includes("seventy") && width("seventy") < 900'
	# search marks and counts, whatever is typed
	page_value 'press("/", "t", "e", "n", "$", "Enter"); true' >/dev/null
	page_is 'frame("ten").classList.contains("found") && !frame("seventy").classList.contains("found")'
	page_is '/^search .ten\$.: \d+\.\d %$/.test(document.querySelector("[data-a=found]").textContent)'
	page_value 'press("/", "(", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.found").length === 0'
	# a filter leaves what matches and its callers
	page_value 'press("r", "f", "t", "w", "e", "n", "t", "y", "Enter"); true' >/dev/null
	page_is 'width("twenty") > 1179 && !shown().includes("seventy") && shown().includes("main")'
	page_value 'press("r"); true' >/dev/null
	page_is 'shown().includes("seventy")'
	# the keyboard walks up from the root, and zooms
	page_value 'press("ArrowUp", "ArrowUp", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.here").length === 1 && document.querySelectorAll(".f.above").length === 2'
	page_value 'press("Backspace", "Backspace"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.above").length === 0'
	# colours, least width and theme
	page_is '(() => { const before = frame("ten").querySelector("rect").style.fill; press("c"); return before !== frame("ten").querySelector("rect").style.fill })()'
	page_is '(() => { const before = shown().length; press("m", "m", "m", "m", "m"); return shown().length <= before && document.querySelector("[data-a=least]").textContent !== "least 0.3 px (m)" })()'
	page_is '(() => { const paper = () => getComputedStyle(document.querySelector(".paper")).fill, before = paper(); press("t"); return before !== paper() })()'
	browser_screen 1240 dark
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "the flame graph stands in the page of a profile, of a difference, and of a case in a report" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" run --only "$key" --budget 500ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" profile cpu "$key" --for 500ms --name before -o p.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" profile cpu "$key" --for 500ms --name after >/dev/null
	run --separate-stderr "$ASSAY" diff before after -o d.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" report -o r.html
	browser_start
	browser_screen 1240 dark
	for page in p d; do
		browser_open "$PWD/$page.html"
		page_is 'document.querySelectorAll("svg.flame").length === 1 && [...document.querySelectorAll("td")].some(c => c.textContent.startsWith("quantize_q8_0"))'
		# the picture is as high as what is shown
		page_is '(() => { const svg = document.querySelector("svg.flame"), high = () => +svg.getAttribute("viewBox").split(" ")[3], before = high();
			document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" })); for (let i = 0; i < 4; i++) document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" }));
			return high() <= before && getComputedStyle(svg.querySelector(".paper")).fill === "rgb(22, 24, 28)" })()'
		page_is 'checkWidth(checkTexts()).length === 0'
	done
	page_is '[...document.querySelectorAll("th")].some(c => c.textContent === "95 % interval")'
	# the table of cases has none; the page of the case has it, and only there keys are taken
	browser_open "$PWD/r.html"
	page_is '[...document.querySelectorAll("figure.profile")].every(f => f.hidden)'
	page_value 'location.hash = "#case='"$key"'"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is 'document.querySelectorAll("#case figure.profile:not([hidden]) svg.flame").length === 1'
	page_value 'globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		frame("phase: sample").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'frame("phase: sample").querySelector("rect").getAttribute("width") === "1180.00" && frame("all").classList.contains("above")'
	page_value 'location.hash = "#list"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is '(() => { const e = new KeyboardEvent("keydown", { key: "/", cancelable: true, bubbles: true }); document.dispatchEvent(e); return !e.defaultPrevented })()'
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "a profile says what bounds its case, by the newest run of the same build" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" profile cpu "$key" --for 300ms --name before >/dev/null
	KEEP_DB=1 fails 2 "nothing is known of what bounds '$key': 'assay run' has to measure it first" show profile before --bottlenecks
	"$ASSAY" run --only "$key" --only 'stream.read' --only 'peak.f32*' --budget 300ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" show profile before --bottlenecks --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.bottleneck_run == 1 and .bottleneck.key == "'"$key"'" and (.bottleneck.bound | IN("unknown", "memory", "compute", "latency")) and .bottleneck.roof_frac > 0'
	is '.bottleneck.advice | length > 0 and all(.priority >= 1 and .priority <= 3) and ([.[].priority] | . == sort)'
	# the profile is the evidence of allocation
	is '.bottleneck.missing | test("allocations") | not'
	run --separate-stderr "$ASSAY" show profile before --bottlenecks
	[[ $output == *"bound by "*", by run 1: "* ]] && grep -Eq '^  [1-3]\. [a-z_]+: .+ \(.+\)$' <<<"$output"
	"$ASSAY" profile cpu --name prog -- ./split 4000 >/dev/null
	KEEP_DB=1 fails 2 "--bottlenecks is of profiles of cases: this one is of a program" show profile prog --bottlenecks
}

@test "a full disk, a folder that is not ours and an ordinary user leave nothing half-written" {
	needs_samples
	# no file may be longer than 4 KiB: a page or a picture is, and the one that was there stays
	printf old >p.html
	run --separate-stderr bash -c 'ulimit -f 4; exec "$0" profile cpu -o p.html -- ./split 4000' "$ASSAY"
	[ "$status" = 2 ] || { echo "$status $stderr"; false; }
	[ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == "assay: "*p.html* ]]
	[ "$(cat p.html)" = old ]
	# what was measured is shown all the same
	[[ $output == "CPU profile of ./split 4000"*seventy* ]]
	run --separate-stderr bash -c 'ulimit -f 60; exec "$0" profile cpu --rate 4999 --name x --db full.db -- ./split 4000' "$ASSAY"
	[ "$status" = 2 ] && [[ $stderr == "assay: "*full.db* ]] || { echo "$status $stderr"; false; }
	[ "$(find . -name '*.tmp*' -o -name '.*.html*' | wc -l)" = 0 ]
	# a name that would be markup is text
	cp split '<script>alert(1)'
	run --separate-stderr "$ASSAY" profile cpu --name '<script>alert(2)</script>' -o s.html -- './<script>alert(1)' 4000
	[ "$status" = 0 ]
	run --separate-stderr "$ASSAY" show profile '<script>alert(2)</script>' -o s.svg
	[ "$status" = 0 ]
	! grep -F '<script>alert' s.html s.svg
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0 # it is the ordinary user already
	# the folder of a test is root's alone
	theirs=$(mktemp -d)
	chmod 755 "$theirs"
	mkdir "$theirs/mine"
	cp split "$theirs"
	chown 65534 "$theirs/mine"
	cd "$theirs" || return 1
	user=(setpriv --reuid 65534 --clear-groups env "HOME=$theirs/mine" "TMPDIR=$theirs/mine" "$ASSAY")
	if "${user[@]}" --version >/dev/null 2>&1; then
		run --separate-stderr "${user[@]}" profile cpu --db mine/a.db --name own -o mine/o.html -- ./split 8000
		[ "$status" = 0 ] && [ -s mine/o.html ] || [[ $stderr == *"forbids to sample"* ]] || { echo "$stderr"; rm -rf "$theirs"; false; }
		run --separate-stderr "${user[@]}" profile cpu -o theirs.html -- ./split 8000
		[ "$status" = 2 ] && [[ $stderr == *theirs.html* || $stderr == *"forbids to sample"* ]] && [ ! -e theirs.html ] || { echo "$stderr"; rm -rf "$theirs"; false; }
		run --separate-stderr "${user[@]}" profile heap --db mine/a.db --name heap -- ./split 4000
		[ "$status" = 0 ] || [[ $stderr == *sanitizer* ]] || { echo "$stderr"; rm -rf "$theirs"; false; }
	fi
	cd "$BATS_TEST_TMPDIR" && rm -rf "$theirs"
}

@test "--sanitize leaves no path, user or host name in any kind and format" {
	needs_samples
	local kind format host user
	host=$(hostname)
	user=$(id -un)
	mkdir secret_folder
	cp split secret_folder/split
	for kind in cpu heap threads trace; do
		run --separate-stderr "$ASSAY" profile $kind --sanitize --name plain --json -o $kind.a.html -- "$PWD/secret_folder/split" 8000 thread "$host" "/home/$user/x"
		[ "$status" = 0 ] || [[ $stderr == *sanitizer* ]] || { echo "$kind: $stderr"; false; }
		[ "$status" = 0 ] || continue
		printf '%s' "$output" >$kind.a.json
		for format in svg html folded json text; do
			run --separate-stderr "$ASSAY" show profile plain --kind $kind --sanitize -o $kind.b.$format
			[ "$status" = 0 ] && [ -e $kind.b.$format ] || { echo "$kind $format: $stderr"; false; }
			printf '%s' "$output" >$kind.b.out
		done
		# the file for viewers of traces is not stored
		[ $kind != trace ] || "$ASSAY" profile trace --sanitize -o trace.c.trace -- "$PWD/secret_folder/split" 8000 thread "$host" >trace.c.out
		"$ASSAY" profile $kind --name other -- "$PWD/secret_folder/split" 8000 >/dev/null
		for format in svg html json; do
			run --separate-stderr "$ASSAY" diff plain other --kind $kind --sanitize -o $kind.d.$format
			[ "$status" = 0 ] || [ $format != svg ] || { echo "$kind $format: $stderr"; false; }
			printf '%s' "$output" >$kind.d.out
		done
		grep -q 'split 8000 thread' $kind.b.out
		! grep -l -e secret_folder -e "$PWD" -e "$HOME/" -e "/home/$user" $kind.?.* || { echo "$kind has a path"; false; }
		[ ${#host} -le 2 ] || ! grep -lw -- "$host" $kind.?.* || { echo "$kind has the host"; false; }
		# without it they are there
		run --separate-stderr "$ASSAY" show profile plain --kind $kind
		[[ $output == *secret_folder* ]]
	done
	[ -e cpu.b.svg ]
}

@test "what a profiled program prints stays out of the numbers for scripts" {
	needs_samples
	for kind in cpu heap threads trace all; do
		run --separate-stderr "$ASSAY" profile $kind --json -- sh -c 'echo shown; exec ./split 4000'
		[ "$status" = 0 ] || [ $kind != cpu ] || { echo "$stderr"; false; }
		[ "$status" = 0 ] || continue
		is '.schema == 1'
		[[ $stderr == *shown* ]]
	done
	run --separate-stderr "$ASSAY" profile cpu -- sh -c 'echo shown; exec ./split 4000'
	[[ $output == *shown* && $stderr != *shown* ]]
}

@test "profile all takes one of each kind that the machine has" {
	needs_samples
	fails 2 "--with is for profiles of the kind gpu, not all" profile all --with nsys -- true
	fails 2 "a file that ends in .dhat is for profiles of the kind heap, not all" profile all -o a.dhat -- true
	fails 2 "no case or command given: 'assay profile all CASE'" profile all
	run --separate-stderr "$ASSAY" profile all --json --rate 4999 --lines --name every -o p.folded -- ./split 4000
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.schema == 1 and (.profiles[0] | .profile.kind == "cpu" and .profile.rate_hz == 4999 and (.lines | length > 0))'
	kinds=$(jq -r '[.profiles[].profile.kind] | join(" ")' <<<"$output")
	[ -s p.cpu.folded ]
	[ ! -e p.folded ]
	grep -q sanitizers "$ASSAY_BUILD/features" || [[ $kinds == "cpu heap "*"threads trace"* ]]
	# what the program cannot be asked is told, and the others are taken
	if cc -O2 -static -pthread -o still "$ASSAY_SOURCE/tests/fixtures/profile/split.c"; then
		run --separate-stderr "$ASSAY" profile all --json -- ./still 4000
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		is '.profiles | map(.profile.kind) | index("cpu") == 0 and index("heap") == null'
		[[ $stderr == *"no profile of the kind heap: "*"no profile of the kind threads: "* ]]
	fi
	run --separate-stderr "$ASSAY" profile all --rate 1 --json -- true
	[ "$status" = 2 ] || [[ $stderr == *"no profile of the kind cpu: 'true' ended before it was sampled"* ]]
	[ "$status" != 2 ] || [[ $stderr == *sanitizer* ]]
	# each is stored by its kind
	for kind in $kinds; do
		run --separate-stderr "$ASSAY" show profile every --kind "$kind" --json
		is ".profile.kind == \"$kind\""
	done
}
