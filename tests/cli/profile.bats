#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile: what bad input gets, programs and cases whose split is known, and what a comparison makes of them.
load profile_helpers

@test "profile says in one line what it cannot do" {
	fails 2 "'/bin/sh' is a file and no case: a program stands behind '--', assay profile cpu -- /bin/sh" profile cpu /bin/sh
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
	fails 2 "--cost measures a case and makes no profile: combine it with --rate and --for only" profile cpu --cost -- true
	fails 2 "--cost measures a case and makes no profile: combine it with --rate and --for only" profile cpu x --cost --name n
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
		is '.profile.samples > 100 and .profile.truncated <= 0.01 * .profile.samples and .profile.unresolved <= 0.02 * .profile.samples'
		# five sigma each: one in a million runs fails by chance
		is '.profile.samples as $n | .functions as $f | [["seventy", 0.7], ["twenty", 0.2], ["ten", 0.1]] | all(. as [$name, $p] |
			([$f[] | select(.name == $name) | .total_frac][0] - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.01)'
		is '[.functions[] | select(.name == "chain" and .inlined and .file == "split.c" and .line > 0 and .self > 0)] | length == 1'
		grep -q '^thread [0-9]*;.*;work;seventy;chain_\[i\] [0-9]*$' split.folded
		[ "$(awk '{ n += $NF } END { print n }' split.folded)" = "$(jq .profile.samples <<<"$output")" ]
	done
}

@test "a known split lies within five sigma, and leaves are those that perf sees in the same process" {
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
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- ./leaves
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	own=$(jq '[.functions[] | select(.name | test("^(seventy|twenty|ten)$"))] | (map({ (.name): .self }) | add) + { n: map(.self) | add }' <<<"$output")
	# one in a million samplings lies outside of five sigma by chance; calls take 0.2 %
	jq -e '.n as $n | [[.seventy, 0.7], [.twenty, 0.2], [.ten, 0.1]] | all(. as [$k, $p] |
		($k / $n - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.002)' <<<"$own" >/dev/null || { echo "$own"; false; }
	is '.profile.samples > 100'
	command -v perf >/dev/null && perf record -e cpu-clock:u -o probe.data true 2>/dev/null >&2 || skip "no perf"
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- perf record -q -e cpu-clock:u -F 4999 -o perf.data ./leaves
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	own=$(jq '[.functions[] | select(.object == "leaves")] | (map({ (.name): .self }) | add) + { n: map(.self) | add }' <<<"$output")
	theirs=$(perf script -i perf.data --comm leaves -F ip,sym,dso 2>/dev/null | awk '/leaves/ { n[$2]++; all++ }
		END { printf "{\"n\":%d,\"seventy\":%d,\"twenty\":%d,\"ten\":%d}", all, n["seventy"], n["twenty"], n["ten"] }')
	# five sigma of the difference of two shares
	jq -n -e --argjson a "$own" --argjson b "$theirs" '$b.n > 100 and $a.n > 100 and (["seventy", "twenty", "ten"] | all(. as $f |
		($a[$f] / $a.n) as $p | ($p - $b[$f] / $b.n | fabs) < 5 * ($p * (1 - $p) * (1 / $a.n + 1 / $b.n) | sqrt) + 0.002))' ||
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
		static void *work(void *how) { for (;;) if (!how) tile(); else if (*(char *)how == 'm') mid_tile(); else far_tile(); return NULL; }
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
		run --separate-stderr "$ASSAY" profile cpu --rate 997 --for 2500ms --json -o deep.folded -- ./deep $how
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		# a stack that is cut off begins at the tile
		cut=$(awk -F';' '{ n = $NF; sub(/.* /, "", n); if ($2 ~ /^((mid|far)_)?tile$/) cut += n } END { print cut + 0 }' deep.folded)
		jq -e --argjson cut "$cut" '.profile.truncated >= $cut' <<<"$output" ||
			{ echo "$cut $output"; false; }
		# the first are copied less deep, and many are where the sampler stood still for a while
		[ "$how" = far ] || is '.profile | .samples > 10 and .truncated < .samples'
	done
	is '.profile | .truncated > 0.9 * .samples'
	[[ $stderr == *"% of the stacks end early: they are deeper than 63 KiB or 1024 frames, or their code has no unwind tables (.eh_frame)"* ]]
}

@test "stacks of a case reach its worker's first frame, on each thread" {
	needs_samples
	# the last have tiles on their stack, of shapes that fill them in part and as a whole, on vectors where there are some
	fastest() { "$ASSAY" list cases --suite full --only "$1" | grep -v skipped | tail -n 1; }
	quantize=$(fastest 'quantize.tq2_0/*/n=1048576/t=1/warm')
	threads=$(($(nproc) > 1 ? 2 : 1))
	prefill=$(fastest "generate.prefill/*/model=tiny,pp=128,*/t=$threads/warm")
	matmul=$(fastest 'matmul.ternary/*/m=2560,k=640,n=128/t=1/warm')
	for key in stream.read/ref/level=l1/t=$threads/warm quantize.q8_0/ref/n=1048576/t=1/warm "$quantize" "$prefill" ${matmul:+"$matmul"}; do
		run --separate-stderr "$ASSAY" profile cpu "$key" --suite full --rate 4999 --for 1s --json -o case.folded
		[ "$status" = 0 ] || { echo "$key: $stderr"; false; }
		# beside a load they get little of a second
		is '.profile.timed_samples > 0'
		# the C library, which loads plugins, and which generate calls, has functions without names
		[[ $key = generate.* ]] || awk '/;phase: sample;/ { n += $NF; u += /;(\[unknown\]|[^;]*\.so[.0-9]*) [0-9]+$/ ? $NF : 0 }
			END { if (u > 0.1 * n + 5) { print u, "of", n, "samples have no function"; exit 1 } }' case.folded
		reach_the_start
	done
	is '(.threads | length) >= 1 and (.threads | map(.self) | add) == .profile.samples'
}

@test "what sampling costs is told beside a control" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu quantize.i8_token/ref/tokens=1,dim=2560/t=1/warm --cost --rate 499 --for 40ms
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	[ "${#lines[@]}" = 2 ]
	local number='[+-][0-9.]+'
	[[ ${lines[0]} =~ ^"sampled   499 Hz: "$number" % ("$number" to "$number" %) of a plain worker's processor time, 5 pairs"$ ]]
	[[ ${lines[1]} =~ ^"control 20000 Hz: "$number" % ("$number" to "$number" %) of a plain worker's processor time, 5 pairs"$ ]]
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
	# a sample may lie where the kernel starts the program, of which no file is known yet
	[[ $output == *" % "*" bare "*" bare"* ]] && ! grep -q '^ *[1-9][0-9.]* % .*\[unknown\]' <<<"$output"
	run --separate-stderr "$ASSAY" profile cpu -- sh -c './split 4000; exit 3'
	[ "$status" = 0 ]
	[[ $stderr == *"warning: the program exited with status 3"* ]]
	# it would run for long
	run --separate-stderr "$ASSAY" profile cpu --for 200ms --json -- ./split 100000000
	[ "$status" = 0 ]
	is '.profile.seconds < 20'
	fails 2 "none/p.svg" profile cpu -o none/p.svg -- ./split 4000
}

@test "names are those of the source, of C++, too, and come from separate files of debug information" {
	needs_samples
	cat >names.cc <<-'END'
		namespace ns {
		static volatile unsigned long sink;
		template <class T> struct Table {
			__attribute__((noinline)) T count(const T *v, long n) const { T s = 0; for (long i = 0; i < n; i++) { s += v[i & 7]; sink = s; } return s; }
		};
		}
		int main() { long v[8] = { 1, 2 }, s = 0; ns::Table<long> t; for (int i = 0; i < 300; i++) s += t.count(v, 1000000); return s & 1; }
	END
	# without the library of C++ nobody can say what its names mean
	if c++ -O1 -g -o names names.cc; then
		run --separate-stderr "$ASSAY" profile cpu --json -o names.folded -- ./names
		is '[.functions[] | select(.name == "ns::Table<long>::count" and .file == "names.cc" and .self_frac > 0.9)] | length == 1'
		grep -q ';main;ns::Table<long>::count [0-9]*$' names.folded
	fi
	cc -O2 -g -pthread -Wl,--build-id -o whole "$ASSAY_SOURCE/tests/fixtures/profile/split.c"
	id=$(readelf -n whole | awk '/Build ID/ { print $3 }')
	named() { # HOW: the stripped program has all of its names
		run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- ./bare 8000
		[ "$status" = 0 ] || { echo "$1: $stderr"; false; }
		is '[.functions[] | select(.name == "seventy" and .total_frac > 0.5)] | length == 1' || { echo "$1"; false; }
	}
	nameless() {
		run --separate-stderr env "$@" "$ASSAY" profile cpu --rate 4999 --json -- ./bare 8000
		is '[.functions[] | select(.name == "bare" and .object == "bare")] | length == 1'
		is '[.functions[] | select(.name == "seventy")] | length == 0'
	}
	objcopy --only-keep-debug whole bare.debug
	strip -o bare whole
	mv bare.debug aside
	nameless A=B
	# beside the program, by its link
	mkdir .debug
	cp aside .debug/bare.debug
	(cd .debug && objcopy --add-gnu-debuglink=bare.debug ../bare)
	named link
	rm -r .debug
	nameless A=B
	# from a server, which here is a folder, where the environment names it, and never otherwise
	mkdir -p "served/buildid/$id"
	cp aside "served/buildid/$id/debuginfo"
	[ -e /usr/lib/x86_64-linux-gnu/libdebuginfod.so.1 ] || return 0
	nameless DEBUGINFOD_URLS=
	export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_URLS="file://$PWD/served"
	named server
}

@test "a case has its op, phase and thread above its frames, and the time of an iteration by function" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu quantize.q8_0/ref/n=1048576/t=1/warm --for 300ms --json --lines -o case.folded
	[ "$status" = 0 ]
	is '.profile.case == "quantize.q8_0/ref/n=1048576/t=1/warm" and .profile.command == null and .profile.timed_samples > 0'
	is '(.lines | length > 0) and (.instructions | length > 0) and (.threads | length > 0)'
	# own times of all functions are the iteration's, but for samples that have no function at all
	is '.profile.iteration_ns == null or (([.functions[].ns_per_iteration] | add) / .profile.iteration_ns | . > 0.98 and . < 1.001)'
	is '[.functions[] | select(.ns_per_iteration > 0) | .ci[0] <= .ns_per_iteration and .ns_per_iteration <= .ci[1]] | all'
	# sanitized code is not always unwound to its first frame
	grep -q '^quantize.q8_0/ref;phase: sample;thread 1;'"$(grep -q sanitizers "$ASSAY_BUILD/features" || echo '_start;')" case.folded
	[ ! -e assay.db ]
}

# ---- because ----

@test "a regression is explained by the function that grew, after the verdict" {
	needs_samples
	KEEP_DB=1 fails 2 "--profile is 'yes', expected auto, no or all" compare x y --profile yes
	# of 15 hundreds of rounds part_three has 11, in the base 1 of 5: on any machine the one that grew
	compare five five_triple --profile auto --json
	[ "$status" = 1 ] || { echo "$stderr"; false; }
	is '.cases[0] | .verdict == "REGRESSED" and (has("because_unknown") | not) and (.because | length == 1)
		and (.because[0] | (.function | startswith("part_three")) and .file == "compare_five.c" and .lines[0] > 0 and .lines[0] <= .lines[1]
		and .delta_ns > 0 and .ci[0] > 0 and .ci[0] <= .delta_ns and .delta_ns <= .ci[1] and .whole_ns > 0 and .samples > 50)'
	# parts, and the rest where samples leave one, sum to the change that was measured within its interval
	is '.cases[0] | (.because[0].whole_ns / (.ratio - 1)) as $base
		| (([.because[].delta_ns] | add) + (.because_rest_ns // 0)) as $sum
		| $sum > $base * (.ci[0] - 1) and $sum < $base * (.ci[1] - 1)
			and (.because_rest_ns // 0 | fabs) < .because[0].delta_ns'
	is '.cases[0].because[0].text | startswith("because part_three (compare_five.c:")'
	is '.cases[0].because[0].evidence == "code" or .cases[0].because[0].evidence == "sampled"'
	# what explains it is stored with the comparison, and said again; the profiled processes are none of those that were judged
	because=$(jq -S '.cases[0].because' <<<"$output")
	run --separate-stderr "$ASSAY" compare --replay last --json
	is '.verdict == "REGRESSED"'
	[ "$(jq -S '.cases[0].because' <<<"$output")" = "$because" ]
	for only in '' '*'; do # a row a case, and a row a pair
		run --separate-stderr "$ASSAY" show last ${only:+"$only"}
		[[ $(tr -s ' \n' ' ' <<<"$output") == *"because part_three (compare_five.c:"*" takes "* ]] || { echo "$output"; false; }
	done
	run --separate-stderr "$ASSAY" show last --json
	[ "$(jq -S '[.cases[] | select(.control == null or .control == "none")][0].because' <<<"$output")" = "$because" ] || { echo "$output"; false; }
	rm -f other.db
	run --separate-stderr "$ASSAY" db merge assay.db --db other.db
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	run --separate-stderr "$ASSAY" compare --replay last --json --db other.db
	[ "$(jq -S '.cases[0].because' <<<"$output")" = "$because" ]
}

@test "beside a load of 4 the functions of a call sum to its time, each with its share" {
	local loops=()
	needs_samples
	for _ in {1..4}; do # ended below, or by themselves where the test fails
		timeout 120 sh -c 'while :; do :; done' 3>&- &
		loops+=($!)
	done
	# of 15 hundreds of rounds, part_three has 11
	command_of profile cpu lenient.triple/work/n=1024/t=1/warm --plugin "$PLUGINS/compare_five_triple.so" --for 2s --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.iteration_ns == null or (([.functions[].ns_per_iteration] | add) / .profile.iteration_ns | . > 0.98 and . < 1.001)'
	# a load leaves few samples: five sigma of as many as there are
	is '.profile.iteration_ns as $all | .profile.timed_samples as $n
		| [.functions[] | select(.name | startswith("part_")) | [.ns_per_iteration / $all, (if .name | startswith("part_three") then 11 else 1 end) / 15]]
		| length == 5 and all(. as [$is, $of] | ($is - $of | fabs) < 5 * ($of * (1 - $of) / $n | sqrt) + 0.02)'
	kill "${loops[@]}"
}

@test "what a profiled program prints stays out of the tables and of the numbers for scripts" {
	needs_samples
	for kind in cpu heap threads trace all; do
		run --separate-stderr "$ASSAY" profile $kind --json -- sh -c 'echo shown; exec ./split 4000'
		[ "$status" = 0 ] || [ $kind != cpu ] || { echo "$stderr"; false; }
		[ "$status" = 0 ] || continue
		is '.schema == 1'
		[[ $stderr == *shown* ]]
	done
	# nor has a terminal, which shows both, a line that begins with it: the last line of this one has no end
	for kind in cpu heap threads trace all; do
		run --separate-stderr "$ASSAY" profile $kind -- sh -c './split 4000; printf sh%s own'
		[ "$status" = 0 ] || [ $kind != cpu ] || { echo "$stderr"; false; }
		[[ $output != *shown* && $stderr == *shown* ]]
		[ "$status" = 0 ] || continue
		"$ASSAY" profile $kind -- sh -c './split 4000; printf sh%s own' >both 2>&1
		grep -qx shown both
		[ $kind != all ] || [ "$(grep -n -m 2 -e '^shown$' -e ' profile of ' both | cut -d: -f2- | cut -c1-5)" = "$(printf 'shown\nCPU p')" ]
	done
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
		run --separate-stderr "$ASSAY" show every --kind "$kind" --json
		is ".profile.kind == \"$kind\""
	done
}

@test "symbols of a program are shown as text" {
	printf '%s\n' '#include <stdint.h>' 'static volatile uint64_t s;' \
		'__attribute__((noinline, used)) void a(void) __asm__("\"x\033[31m\tend\342\200\256\"");' \
		'void a(void) { for (int i = 0; i < 100000000; i++) s += i; }' 'int main(void) { a(); }' >s.c
	${CC:-gcc} -O1 -g -o s s.c 2>/dev/null
	run --separate-stderr "$ASSAY" profile cpu --name odd -- ./s
	[ "$status" = 0 ]
	[[ $output == *'x?[31m end?'* && $output != *$'\e'* ]]
	run --separate-stderr "$ASSAY" show odd
	[ "$status" = 0 ]
	[[ $output == *'x?[31m end?'* && $output != *$'\e'* ]]
	# neither do files and errors
	"$ASSAY" profile cpu -o s.folded -- ./s >/dev/null
	grep -qF 'x?[31m end?' s.folded
	run "$ASSAY" show $'\e[31m\xc2\x9b\xe2\x80\xae'
	[ "$status" = 2 ]
	[[ $output == *"?[31m??'"* && $output != *$'\e'* ]]
}
