#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Benches that run a program: what it prints, what becomes of it, and what a comparison says, never how long this host takes.
load helpers

# A repository with a program that prints what lies in the files 'speed' and 'size'.
setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null
	mkdir -p repo/bench/suites repo/baselines && cd repo || return 1
	git init -q -b main
	git config user.email a@b && git config user.name a
	cat >tool.sh <<-'END'
		#!/bin/sh
		# progress that a terminal overwrites, as lz4 -b does
		printf '1 MB/s \r2 MB/s \r'
		echo "level $1: $(cat speed) MB/s"
		echo "size $(cat size) bytes" >&2
	END
	chmod +x tool.sh
	echo 700.5 >speed
	echo 1234 >size
	cat >bench/tool.bench <<-'END'
		bench "tool" {
		    command = "./tool.sh {level}"
		    sweep   = {"level=1,9"}
		    threads = "1"
		    metric "compress" { pattern = "level [0-9]+: ([0-9.]+) MB/s" unit = "MB/s" better = "higher" }
		    metric "size" { pattern = "size ([0-9]+)" unit = "B" better = "lower" }
		}
	END
	suite '"tool" { }'
	echo 'margin "*" { paired = "1%" }' >baselines/policy.conf
	printf 'build = "true"\nbench = "bench"\nbaselines = "baselines"\n' >assay.conf
	echo 'assay.db*' >.gitignore
	git add . && git commit -q -m first
}

# suite USE...: the suite that is run by default.
suite() {
	{
		echo 'suite "quick" {'
		printf '\tuse %s\n' "$@"
		echo '}'
	} >bench/suites/quick.suite
}

# bench NAME TEXT: one more bench, alone in the suite.
bench() {
	echo "bench \"$1\" { threads = \"1\" budget = \"1ms\" $2 }" >"bench/$1.bench"
	suite "\"$1\" { }"
}

script() {
	{
		echo '#!/bin/sh'
		cat
	} >"$1"
	chmod +x "$1"
}

# measured FILTER: what a run of one round says of its cases.
measured() {
	run --separate-stderr "$ASSAY" run --rounds 1 --json
	jq -e "[.cases[]] | $1" <<<"$output" >/dev/null && return
	printf 'not so: %s\n%s\n' "$1" "$stderr"
	jq -c '.cases[] | [.key, .status, .reason, .metrics, .log]' <<<"$output"
	return 1
}

# compared STATUS FILTER ARGUMENT...: what a comparison says.
compared() {
	local want=$1 filter=$2
	shift 2
	run --separate-stderr "$ASSAY" compare --budget 2s --profile no "$@" --json
	[ "$status" = "$want" ] || { printf '%s instead of %s\n' "$status" "$want" "$output" "$stderr"; return 1; }
	jq -e "$filter" <<<"$output" >/dev/null && return
	printf 'not so: %s\n' "$filter"
	jq -c '.controls, (.cases[] | [.key, .metric, .verdict, .ratio, .reason, .because_unknown, .because])' <<<"$output"
	return 1
}

@test "a program is a case like any other, and what it prints are its metrics" {
	measured '[.[].key] == ["tool/tool.sh/level=1/t=1/-", "tool/tool.sh/level=9/t=1/-"]'
	[ "$status" = 0 ]
	measured '.[1] | .op == "tool" and .variant == "tool.sh" and .axes == {"level": 9} and .status == "ok" and .samples >= 2
		and .metrics.compress.value == 700.5e6 and .metrics.compress.unit == "B/s" and .metrics.compress.better == "higher"
		and .metrics.size.value == 1234 and .metrics.time_s.value > 0 and .metrics.user_s.value >= 0 and (.cpus | length) == 1'
	# each process gives one value of each of them
	measured '.[1] | (.raw_metrics | length) == .samples and (.raw_metrics | unique) == [{compress: 700.5e6, size: 1234}]'
	"$ASSAY" run --rounds 2 --json | jq -e '[.cases[] | (.raw_metrics | length) == .samples] == [true, true]'
	run "$ASSAY" show last tool/tool.sh/level=9 --samples
	[[ $output == *$'disturbed by  metrics\n'*"compress 700 MB/s, size 1.21 KiB"* ]]
	"$ASSAY" list cases >list
	[ "$(cut -d ' ' -f 1 list)" = $'tool/tool.sh/level=1/t=1/-\ntool/tool.sh/level=9/t=1/-' ]
	# its output is kept with it
	run "$ASSAY" show last tool/tool.sh/level=9
	[[ $output == *"level 9: 700.5 MB/s"*"size 1234 bytes"* ]]
	[[ $output != *"1 MB/s"* ]]
	"$ASSAY" history tool/tool.sh/level=1/t=1/- --json | jq -e '(.points | length) == 4'
	"$ASSAY" report -o page.html && grep -q compress page.html
	"$ASSAY" verify
}

@test "events are counted in processes that count, of both sides of a pair apart" {
	echo 'echo run >>runs; for i in 1 2 3 4; do sleep 0.01; done' | script naps.sh
	bench naps 'command = "./naps.sh"'
	run --separate-stderr "$ASSAY" run --rounds 1 --counters os --events PAPI_TOT_INS,syscalls --json
	jq -e '.cases[0] | .counters.voluntary_switches.value >= 4 and .counters.minor_faults.value > 0 and .counters.task_clock_ns.value > 0
		and .unavailable.syscalls.reason == "no run of a program is traced"
		and (.counters.PAPI_TOT_INS.value > 0 or (.unavailable.PAPI_TOT_INS.reason | length) > 0)' <<<"$output"
	measured '.[0].counters | has("voluntary_switches") | not'
	echo 'margin "*" { paired = "20%" }' >baselines/policy.conf
	git add . && git commit -q -m naps
	echo 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done' | script naps.sh
	# what is counted does not wait for a verdict about time
	run --separate-stderr "$ASSAY" compare --budget 500ms --profile no main --events voluntary_switches,task_clock_ns --json
	[ "$status" = 0 ] || [ "$status" = 1 ]
	"$ASSAY" show c1 naps --json >shown
	jq -e '[.cases[].counters | [.base, .head] | map(.voluntary_switches.value) | .[0] >= 4 and .[1] >= 8 and .[0] + 4 <= .[1]] | any' shown
}

@test "manifest, limits and gate" {
	"$ASSAY" list --manifest >baselines/quick.manifest
	echo 'limit "tool/*" { require = {"compress >= 700 MB/s", "size <= 2 KiB"} }' >>baselines/policy.conf
	"$ASSAY" run --rounds 1
	run --separate-stderr "$ASSAY" gate --json
	jq -e '[.cases[] | select(.metric == "compress" or .metric == "size") | .verdict] | length == 4 and unique == ["PASS"]' <<<"$output"
	echo 600 >speed
	"$ASSAY" run --rounds 1
	run --separate-stderr "$ASSAY" gate --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric == "compress") | .verdict, .value] == ["REGRESSED", 6e8, "REGRESSED", 6e8]' <<<"$output"
	# a case that is gone
	sed -i 's/level=1,9/level=1/' bench/tool.bench
	"$ASSAY" run --rounds 1
	run --separate-stderr "$ASSAY" gate --json
	[ "$status" = 4 ]
	# a limit on what it does not print
	echo 'limit "tool/*" { require = {"compres >= 1 MB/s"} }' >>baselines/policy.conf
	run --separate-stderr "$ASSAY" compare main
	[ "$status" = 2 ] && [[ $stderr == *"has a metric 'compres', did you mean 'compress'?" ]]
}

@test "folder, environment, empty input, no terminal, nothing that stays" {
	script where.sh <<-'END'
		echo "in $(basename "$PWD") with $WORD; $(wc -c) bytes"
		(: >/dev/tty) 2>/dev/null && echo tty
		setsid sleep 300 &
		echo "$!" >>pids
		echo '5 s'
	END
	bench where 'command = "./where.sh" metric "m" { pattern = "^([0-9]+) s" unit = "s" better = "lower" }'
	mkdir -p sub && cd sub
	export WORD=here
	measured '.[0] | .status == "ok" and .metrics.m.value == 5 and (.log | contains("in repo with here; 0 bytes")) and
		(.log | contains("tty") | not)'
	cd ..
	[ -s pids ]
	for pid in $(cat pids); do
		[ ! -e "/proc/$pid" ]
	done
}

@test "what goes wrong is a status with its reason, and the other cases are unharmed" {
	script ends.sh <<-'END'
		echo "trying"
		echo "cannot open corpus.tar" >&2
		case $1 in
		exits) exit 3 ;;
		signal) kill -SEGV $$ ;;
		hangs) sleep 300 ;;
		floods) exec yes ;;
		asks) [ -t 0 ] || { echo "this is not a terminal" >&2; exit 1; } ;;
		esac
	END
	cat >bench/ends.bench <<-'END'
		bench "ends" { command = "./ends.sh {how}" sweep = {"how=exits,signal,floods,asks,well"} threads = "1" budget = "1ms" }
		bench "hangs" { command = "./ends.sh hangs" threads = "1" timeout = "1s" }
		bench "gone" { command = "./gone.sh" threads = "1" }
		bench "path" { command = "no-such-program-here" threads = "1" }
		bench "nothing" { command = "./tool.sh 1" threads = "1" budget = "1ms"
			metric "m" { pattern = "nothing ([0-9])" unit = "1" better = "lower" } }
		bench "silent" { command = "true" threads = "1" budget = "1ms" metric "m" { pattern = "([0-9])" unit = "1" better = "lower" } }
		bench "twice" { command = "./tool.sh 1" threads = "1" budget = "1ms"
			metric "m" { pattern = "([0-9.]+) [Mb]" unit = "1" better = "lower" } }
		bench "word" { command = "./tool.sh 1" threads = "1" budget = "1ms"
			metric "m" { pattern = "(level)" unit = "1" better = "lower" } }
	END
	suite '"*" { }'
	measured '[.[] | select(.op == "tool" or .key == "ends/ends.sh/how=well/t=1/-") | .status] == ["ok", "ok", "ok"]'
	[ "$status" = 4 ]
	measured '[.[] | select(.status != "ok") | [.op, .axes.how, .status, .reason]] == [
		["ends", "exits", "failed", "'"'./ends.sh'"': exited with status 3: cannot open corpus.tar"],
		["ends", "signal", "crashed", "'"'./ends.sh'"': killed by signal 11 (SIGSEGV): cannot open corpus.tar"],
		["ends", "floods", "failed", "'"'./ends.sh'"': it wrote more than 64 MiB of output: y"],
		["ends", "asks", "failed", "'"'./ends.sh'"': exited with status 1: this is not a terminal"],
		["hangs", null, "timeout", "'"'./ends.sh'"': it ran for more than 1 s, the limit of its bench: cannot open corpus.tar"],
		["gone", null, "failed", "cannot start '"'./gone.sh'"': No such file or directory"],
		["path", null, "failed", "cannot start '"'no-such-program-here'"': no such program in PATH"],
		["nothing", null, "failed", "'"'./tool.sh'"': metric '"'m'"': its pattern finds nothing in the output, which ends in '"'size 1234 bytes'"'"],
		["silent", null, "failed", "'"'true'"': metric '"'m'"': its pattern finds nothing, as the program printed nothing"],
		["twice", null, "failed", "'"'./tool.sh'"': metric '"'m'"': its pattern finds two numbers, in '"'level 1: 700.5 MB/s'"' and in '"'size 1234 bytes'"'"],
		["word", null, "failed", "'"'./tool.sh'"': metric '"'m'"': its pattern found '"'level'"', which is not a number"]]'
}

@test "a program does not outlive assay, even if that is killed, nor does what it has started" {
	script long.sh <<-'END'
		sleep 300 &
		echo "$!" >>pids
		# in a session of its own
		setsid sleep 300 &
		echo "$!" >>pids
		# without its parent
		(sleep 300 & echo "$!" >>pids)
		echo "$$" >>pids
		wait
	END
	bench long 'command = "./long.sh"'
	local command pid
	for command in run 'time ./long.sh'; do
		rm -f pids
		# shellcheck disable=SC2086 # words
		"$ASSAY" $command 3>&- &
		for _ in $(seq 1200); do
			[ ! -s pids ] || [ "$(wc -l <pids)" -lt 4 ] || break
			sleep 0.05
		done
		[ "$(wc -l <pids)" = 4 ]
		kill -KILL "$!"
		for pid in $(cat pids); do
			for _ in $(seq 1200); do
				[ -e "/proc/$pid" ] || break
				sleep 0.05
			done
			[ ! -e "/proc/$pid" ]
		done
	done
	# and no process that waits for its end
	for _ in $(seq 1200); do
		[ -n "$(alive "time ./long.sh")" ] || break
		sleep 0.05
	done
	[ -z "$(alive "time ./long.sh")" ]
}

@test "a comparison runs each side's program in its own tree, and judges each metric" {
	# nothing has changed
	compared 0 '.verdict == "PASS" and (.cases | length) == 4 and ([.cases[].verdict] | unique) == ["PASS"]
		and ([.cases[] | select(.metric == "size") | .evidence, .ratio] | unique) == [1, "exact"]
		and ([.cases[] | select(.metric == "compress") | .evidence] | unique) == ["paired"]
		and [.controls.items[] | .kind] == ["aa"]' main
	# slower and smaller; what is found ends a comparison, so that time is needed on a busy machine alone
	echo 670 >speed
	echo 1000 >size
	compared 1 '.verdict == "REGRESSED" and ([.cases[] | select(.metric == "compress") | .verdict] | unique) == ["REGRESSED"]
		and ([.cases[] | select(.metric == "compress") | .ratio > 1.04] | all)
		and ([.cases[] | select(.metric == "size") | .verdict] | unique) == ["IMPROVED"]' main --budget 5s
	run --separate-stderr "$ASSAY" compare --replay last --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | .metric, .verdict] == ["compress", "REGRESSED", "size", "IMPROVED", "compress", "REGRESSED", "size", "IMPROVED"]' <<<"$output"
	run --separate-stderr "$ASSAY" compare --replay last
	[[ $output == *"4.55 % worse, shown to be more than 1 %"*"reversed where more is better: + is worse"* ]]
	"$ASSAY" report c2 -o page.html && grep -q compress page.html
	"$ASSAY" show c2 'level=1' --json | jq -e '[.cases[] | select(.control == "none").pairs[] | (.base.raw_metrics | length) == 2 * .blocks
		and (.head.raw_metrics | unique) == [{compress: 670e6, size: 1000}]] | all'
	run "$ASSAY" show c2 'level=1' --samples
	[[ $output == *$'\n      head  compress 670 MB/s, size 1000 B\n'* ]]
	# of what each pair wrote, each side's last is shown, and which that is
	run "$ASSAY" show c2 'level=1'
	for side in base head; do
		[ "$(grep -c ", $side, .*wrote to standard output" <<<"$output")" = "$(grep -c '^tool/.*level=1' <<<"$output")" ]
		[ "$(grep -cE "^pair [0-9]+, $side, the last of [0-9]+ that are kept \(--json has all\), wrote" <<<"$output")" -ge 1 ]
	done
	# two commits
	git commit -qam slower
	compared 1 '[.cases[] | select(.metric == "compress") | .verdict] == ["REGRESSED"]' main~1 main --only 'level=1' --budget 5s
	compared 1 '[.cases[] | .verdict] == ["IMPROVED", "REGRESSED"]' main main~1 --only 'level=1' --budget 5s
}

@test "wall time has both controls, and a metric is judged beside it where that is asked for" {
	bench nap 'command = "./nap.sh" metric "naps" { pattern = "([0-9]+) naps" unit = "1" better = "lower" } metric "time_s" { }'
	echo 'sleep 0.01; echo 1 naps' | script nap.sh
	echo 'margin "*" { paired = "20%" }' >baselines/policy.conf
	git add . && git commit -q -m nap
	echo 'sleep 0.06; echo 1 naps' | script nap.sh
	compared 1 '[.cases[] | [.metric, .verdict]] == [["naps", "PASS"], ["time_s", "REGRESSED"]]
		and [.controls.items[] | .kind] == ["aa", "slower"] and .controls.trusted' main --budget 30s
	# nothing is said of the time where nobody asks
	sed -i 's/metric "time_s" { }//' bench/nap.bench
	compared 0 '[.cases[] | [.metric, .verdict]] == [["naps", "PASS"]]' main
}

@test "the function of a program that became slower is named, and waiting is told apart" {
	# it works for as long as it says, and says what does not depend on what else runs here
	cat >prog.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static volatile double sink;
		__attribute__((noinline)) static void parse(int n)
		{
			for (int i = 0; i < n; i++)
				sink = sink / 2 + i;
		}
		__attribute__((noinline)) static void crunch(int n)
		{
			for (int i = 0; i < n; i++)
				sink = sink / 3 + i;
		}
		int main(int argc, char **argv)
		{
			const int n = 200000, more = 1;
			FILE *out = NULL;
			for (int i = 1; i < argc; i++) {
				if (!strcmp(argv[i], "--benchmark_list_tests=true"))
					return puts("BM_A") < 0;
				if (!strncmp(argv[i], "--benchmark_out=", 16))
					out = fopen(argv[i] + 16, "w");
			}
			parse(n);
			crunch(more * n);
			if (!out)
				return system("sleep 0.01");
			return fprintf(out, "{\"context\": {}, \"benchmarks\": [{\"name\": \"BM_A\", \"run_name\": \"BM_A\", \"run_type\": \"iteration\", "
					    "\"iterations\": 1, \"real_time\": %d, \"cpu_time\": 1, \"time_unit\": \"us\"}]}", 100 * (1 + more)) < 0;
		}
	END
	bench prog 'command = "./prog" reads = "google-benchmark"'
	bench wait 'command = "./prog"'
	suite '"prog" { }' '"wait" { }'
	echo prog >>.gitignore
	sed -i "s/^build = .*/build = \"${CC:-cc} -O1 -g -o prog prog.c\"/" assay.conf
	echo 'margin "*" { paired = "20%" }' >baselines/policy.conf
	git add . && git commit -q -m prog
	sed -i 's/more = 1/more = 4/' prog.c
	compared 1 '.cases[0] | .verdict == "REGRESSED" and (.because[0] | .function == "crunch" and .file == "prog.c" and .lines[0] >= 10
		and .lines[1] <= 14 and .delta_ns > 2e5 and .delta_ns < 4e5) and (.because | length) == 1' main --only 'prog/*' --profile auto
	"$ASSAY" compare --replay last | grep -q 'because crunch (prog.c:'
	git checkout -q prog.c
	sed -i 's/sleep 0.01/sleep 0.1/' prog.c
	compared 1 '.cases[0] | .verdict == "REGRESSED" and
		.because_unknown == "cause unknown: its processor time did not change as much as its time: it waits for something"' \
		main --only 'wait/*' --profile auto --profile-for 500ms --budget 10s
}

@test "programs that one side lacks, or that fail on one" {
	bench new 'command = "./new.sh"'
	echo 'exit 0' | script new.sh
	compared 0 '.cases[0] | .verdict == "PASS" and .reason == "new: the base has no such case"' main
	git add . && git commit -q -m new
	rm new.sh
	compared 4 '.cases[0] | .verdict == "NOT_MEASURED" and
		(.reason | startswith("the head does not run it, the base does: cannot start"))' main
	echo 'echo broken; exit 1' | script new.sh
	compared 4 '.cases[0] | .verdict == "NOT_MEASURED" and .reason == "head failed: '"'./new.sh'"': exited with status 1: broken"' main
	git commit -qam broken
	echo 'exit 0' | script new.sh
	compared 5 '.cases[0] | .verdict == "INCOMPARABLE" and (.reason | startswith("base failed: "))' main
	# both print other things
	git checkout -q main~2 -- tool.sh
	echo 'echo none' | script tool.sh
	suite '"tool" { }'
	compared 4 '[.cases[].verdict] == ["NOT_MEASURED", "NOT_MEASURED"]' main
}

# A program that measures itself as those of Google Benchmark do, with the names and times of the file 'times'.
self_measuring() {
	script self.sh <<-'END'
		filter=.
		for a; do
			case $a in
			--benchmark_list_tests=true) cut -d ' ' -f 1 times; exit ;;
			--benchmark_out=*) out=${a#*=} ;;
			--benchmark_filter=*) filter=${a#*=} ;;
			esac
		done
		echo "filter $filter" >>asked
		echo "a table"
		{
			printf '{"context": {}, "benchmarks": ['
			grep -E "$(echo "$filter" | sed 's/\$$/ /')" times | while read -r name ns items; do
				printf '%s{"name": "%s", "run_name": "%s", "run_type": "iteration", "iterations": 10, "real_time": %s,
					"cpu_time": 1, "time_unit": "ns", "items_per_second": %s, "mine": 3}' "$comma" "$name" "$name" "$ns" "$items"
				comma=,
			done
			printf ']}'
		} >"$out"
	END
	printf 'BM_A 100 7\nBM_B/8/n:2 2.5 8\n' >times
	bench self 'command = "./self.sh" reads = "google-benchmark"'
	git add . && git commit -qm self
}

@test "every benchmark of a program that measures itself is a case, and each process measures one" {
	self_measuring
	measured '[.[].key] == ["self/self.sh/BM_A/t=1/-", "self/self.sh/BM_B,arg1=8,n=2/t=1/-"]'
	[ "$(sort -u asked)" = $'filter ^BM_A$\nfilter ^BM_B/8/n:2$' ]
	measured '.[1] | .median_ns == 2.5 and .metrics.time_s.value == 2.5e-9 and .metrics.items_per_s.value == 8 and .metrics.mine.value == 3
		and .metrics.wall_s.value > 0.0001 and .axes == {"benchmark": "BM_B", "arg1": 8, "n": 2} and (.log | contains("a table"))'
	"$ASSAY" history self/self.sh/BM_A/t=1/- --json | jq -e '[.points[].median_ns] == [100, 100]'
	"$ASSAY" list --manifest | grep -q 'self/self.sh/BM_B,arg1=8,n=2/t=1/-'
	# one slower, one new, one gone
	printf 'BM_A 100 7\nBM_B/8/n:2 2.6 8\nBM_C 1 1\n' >times
	compared 1 '[.cases[] | [.key[13:17], .verdict]] == [["BM_A", "PASS"], ["BM_B", "REGRESSED"], ["BM_C", "PASS"]]
		and .cases[1].ratio > 1.039 and (.cases[2].reason | startswith("new")) and [.controls.items[].kind] == ["aa"]' main
	printf 'BM_A 100 7\n' >times
	compared 4 '[.cases[] | [.key[13:17], .verdict]] == [["BM_A", "PASS"], ["BM_B", "NOT_MEASURED"]]
		and (.cases[1].reason | startswith("only the base has it"))' main
	# another of its numbers, which is judged besides
	printf 'BM_A 100 6\nBM_B/8/n:2 2.5 8\n' >times
	bench self 'command = "./self.sh" reads = "google-benchmark" metric "items_per_s" { better = "higher" }'
	compared 1 '[.cases[] | [.metric, .verdict]] == [["time_s", "PASS"], ["items_per_s", "REGRESSED"]]' main --only BM_A
}

@test "a benchmark with a long name is measured like any other" {
	self_measuring
	printf 'BM_A 100 7\nBM_%0300d 5 1\n' 0 >times
	measured '[.[].median_ns] == [100, 5]'
}

@test "bisect finds the commit, by what is judged of the program" {
	for i in 1 2 3; do
		[ "$i" != 2 ] || echo 600 >speed
		echo "$i" >n
		git add n && git commit -qam "$i"
	done
	run --separate-stderr "$ASSAY" bisect --good main~3 --bad main --case tool/tool.sh/level=1/t=1/- --budget 2s --json
	[ "$status" = 0 ]
	jq -e --arg commit "$(git rev-parse main~1)" '.commit == $commit and .ratio > 1.16 and .ratio < 1.17' <<<"$output"
}

@test "history confirms a change of a program by building and running both commits" {
	echo asked >>.gitignore
	self_measuring
	for ns in 100 120; do
		printf 'BM_A %s 7\n' $ns >times
		git commit -qam "$ns"
		for _ in 1 2 3 4 5 6 7 8; do
			"$ASSAY" run --rounds 1 >/dev/null
		done
	done
	run --separate-stderr "$ASSAY" history self/self.sh/BM_A/t=1/- --confirm --budget 2s --json
	[ "$status" = 0 ]
	jq -e --arg from "$(git rev-parse main~1)" --arg to "$(git rev-parse main)" '.changes | length == 1 and (.[0] | .from_commit == $from
		and .to_commit == $to and .confirmed and (.reason | startswith("compared, REGRESSED: ")))' <<<"$output"
}

@test "a program that does not write what its bench says" {
	bench x 'command = "./tool.sh 1" reads = "google-benchmark"'
	measured '.[0] | .status == "failed" and .reason == "'"'./tool.sh'"': it wrote no results of google-benchmark: size 1234 bytes"'
	[ "$status" = 4 ]
	bench x 'command = "./tool.sh 1" reads = "llama-bench"'
	measured '.[0] | .status == "failed" and (.reason | startswith("'"'./tool.sh'"': it is not what llama-bench writes: "))'
	bench x 'command = "./gone.sh" reads = "google-benchmark"'
	measured '.[0] | .status == "failed" and .reason == "cannot start '"'./gone.sh'"': No such file or directory"'
	# it lists what it does not measure
	self_measuring
	sed -i 's/"name": "%s", "run_name": "%s"/"name": "x%s", "run_name": "x%s"/' self.sh
	measured '.[0] | .status == "failed" and .reason == "'"'./self.sh'"': it measured '"'xBM_A'"', and not '"'BM_A'"'"'
	bench x 'command = "./tool.sh" reads = "google"'
	KEEP_DB=1 fails 2 "bench 'x' reads 'google': unknown format 'google', expected one of" run
	bench x 'command = "./tool.sh" reads = "google-benchmark" metric "m" { pattern = "(1)" }'
	KEEP_DB=1 fails 2 "metric 'm' of bench 'x' has a pattern or a kind, and the program writes a format that says what it is" run
}

@test "bad benches get one line that names them, and nothing is measured" {
	bench x 'command = "./tool.sh" metric "m" { pattern = "(" unit = "s" better = "lower" }'
	fails 2 "metric 'm' of bench 'x' has a pattern that is not a regular expression" run
	bench x 'command = "./tool.sh" metric "m" { pattern = "(1)" better = "lower" }'
	fails 2 "metric 'm' of bench 'x' has no unit" run
	bench x 'command = "./tool.sh" metric "m" { pattern = "(1)" unit = "s" }'
	fails 2 "metric 'm' of bench 'x' does not say what is better" run
	bench x 'command = "./tool.sh {nope}" metric "time_s" { }'
	fails 2 "the command of bench 'x' has {nope}, and the bench has no such axis, only {threads}; if the program is to get it as it stands, put" run
	bench x 'command = "./tool.sh {level} {levle}" sweep = {"level=1,9"}'
	fails 2 "the command of bench 'x' has {levle}, and the bench has no such axis, only {level}, {threads};" list cases
	bench x 'command = "a | b"'
	fails 2 "the command of bench 'x': only a shell understands the '|'" run
}

# stands_in FORMAT COMMAND N: a program that writes what FORMAT does, with N benchmarks, is measured, listed, gated and compared.
stands_in() {
	cp "$ASSAY_SOURCE/tests/fixtures/programs/${2%% *}" .
	echo 1 >factor
	bench "$1" "command = \"./$2\" reads = \"$1\""
	"$ASSAY" list --manifest >baselines/quick.manifest
	git add . && git commit -qm "$1"
	measured 'length == '"$3"' and ([.[].status] | unique) == ["ok"]'
	"$ASSAY" list cases >list
	[ "$(cut -d ' ' -f 1 list)" = "$(jq -r '.cases[].key' <<<"$output")" ]
	run --separate-stderr "$ASSAY" gate --allow-no-baseline --json
	[ "$status" = 0 ]
	# the times are what it says of itself, so that the first self-check is all there is; a busy machine needs a while for ten pairs
	compared 0 '([.cases[].verdict] | unique) == ["PASS"] and [.controls.items[].kind] == ["aa"]' main --budget 5s
	echo 1.06 >factor
	compared 1 '([.cases[].verdict] | unique) == ["REGRESSED"] and ([.cases[].ratio | . > 1.059 and . < 1.061] | all)' main --budget 5s
}

@test "a program of NVBench" {
	stands_in nvbench nvbench.sh 2
	echo 1 >factor
	measured '[.[] | .key, .median_ns, .metrics.bytes_per_s.value, .metrics.host_time_s.value] ==
		["nvbench/nvbench.sh/copy,device=0,Elements=1024/t=1/-", 10000, 819200000, 0.002,
		 "nvbench/nvbench.sh/copy,device=0,Elements=4096/t=1/-", 25000, 1310720000, 0.002]'
}

@test "llama-bench" {
	stands_in llama-bench 'llama-bench.sh -p 128 -n 16' 2
	echo 1 >factor
	measured '[.[] | .metrics.tokens_per_s | .value, .unit, .better] == [6400, "1/s", "higher", 53.333333, "1/s", "higher"]
		and ([.[].log | contains("asserts enabled")] | all)'
}

@test "a script of pyperf" {
	stands_in pyperf pyperf.sh 1
	echo 1 >factor
	measured '.[0] | .key == "pyperf/pyperf.sh/telco/t=1/-" and .metrics.time_s.value == 2e-6 and .metrics.wall_s.value > 1e-4'
}

@test "a program with criterion" {
	stands_in criterion criterion.sh 2
	echo 1 >factor
	measured '[.[] | .key, .median_ns, (.metrics.items_per_s.value | round)] ==
		["criterion/criterion.sh/fib%2Frecursive%2F20/t=1/-", 26000, 769231,
		 "criterion/criterion.sh/fib%2Floop/t=1/-", 4000, 5000000]'
}
