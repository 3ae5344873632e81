#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# time: programs as cases, one alone or several compared, by what they are and not by how long this host takes.
load helpers

# So far apart that no load makes them alike.
SHORT='sleep 0.01'
LONG='sleep 0.05'

@test "where a terminal shows no UTF-8, messages and tables are ASCII" {
	local l

	for l in C C.UTF-8; do
		LC_ALL=$l run --separate-stderr "$ASSAY" time 'ls | wc'
		[[ $stderr == *"as sh -c '$([[ $l == C ]] && echo ... || echo …)'" ]]
		LC_ALL=$l run --separate-stderr "$ASSAY" time true --budget 100ms
		[[ $output == *" $([[ $l == C ]] && echo +- || echo ±) "* ]]
	done
}

@test "bad input gets one line, and nothing is measured" {
	fails 2 "no command given: assay time 'sort words.txt'" time
	fails 2 "cannot start 'no-such-program': no such program in PATH" time no-such-program
	fails 2 "cannot start '1': no such program in PATH; 2 commands are given, and one that has arguments stands in quotes" time true 1
	fails 2 "cannot start './none': No such file or directory" time ./none
	fails 2 "cannot start '/': Is a directory" time /
	fails 2 "'env NAME=VALUE PROGRAM' sets a variable" time 'LC_ALL=C true'
	fails 2 "only a shell understands the '|' in 'ls | wc': put it in single quotes, or run a shell as sh -c" time 'ls | wc'
	fails 2 "a ' is not closed" time "echo 'a"
	fails 2 "a command is empty" time ''
	fails 2 "2 commands and 1 name: give --name once for each command" time -N a true true
	fails 2 "two commands have the --name 'a': give each its own" time -N a -N a true false
	fails 2 "4 commands with all their parameters and 3 names: give --name once for each command" time -L n 1,2 -N a -N b -N c true false
	fails 2 "--parameter-list is 'n', expected a name and its values" time -L n
	fails 2 "--parameter-list names 'n' and no values, expected some such as n 1,2,4" time -L n '' true
	fails 2 "--parameter-list names the value '1' of 'n' twice" time -L n 1,2,1 'sleep 0.0{n}'
	fails 2 "bad --margin '0': expected a share above 0" time true --margin 0
	fails 2 "option '--budgt': did you mean '--budget'?" time true --budgt 1s
	fails 2 "can the files of --input and --output be opened?" time true --input none
	fails 2 "cannot write 'none/x.json'" time true --export-json none/x.json
	fails 2 "--setup 'exit 3' failed: exited with status 3" time true --setup 'exit 3'
	fails 2 "--prepare 'exit 4' failed: exited with status 4" time true --prepare 'exit 4'
	fails 2 "the shell 'false' cannot run an empty command: exited with status 1" time true --shell false
}

@test "one command: each run is counted, and the numbers agree" {
	run --separate-stderr "$ASSAY" time 'sh -c "echo run >>runs; exit 0"' --min-runs 12 --warmup 2 --budget 1us --json
	[ "$status" = 0 ] && [ -z "$stderr" ]
	[ "$(wc -l <runs)" = 14 ]
	jq -e '.schema == 1 and .comparisons == [] and .run == 1 and .comparison == null and .shell == null
		and (.commands | length) == 1
		and (.commands[0] | .command == "sh -c \"echo run >>runs; exit 0\"" and .status == "ok" and .runs == 12
			and .exit_codes == [range(12) | 0] and .min_s <= .median_s and .median_s <= .max_s
			and .min_s <= .mean_s and .mean_s <= .max_s
			# times that lie so far apart that no interval is known have none
			and (.ci95_s == null or (.ci95_s[0] <= .median_s and .median_s <= .ci95_s[1]))
			and .user_s >= 0 and .system_s >= 0 and .page_faults > 0)' <<<"$output"
	run --separate-stderr "$ASSAY" time true --budget 1us
	[ "$status" = 0 ] && [[ $output == *"in 10 runs"*"exit status 0"*"stored as r2 in assay.db" ]]
}

@test "events are counted in all that a program starts, and others have a reason" {
	export ASSAY_PAPI=0
	run --separate-stderr "$ASSAY" time true "sh -c '(sleep 0.01; sleep 0.01) & sleep 0.01; sleep 0.01; wait'" --budget 1us \
		--counters os,heap --events PAPI_TOT_INS --json
	# a sleep is a switch at least, and so is each wait for one
	jq -e '.commands | (.[1].counters.voluntary_switches.value >= .[0].counters.voluntary_switches.value + 4)
		and (.[1].counters.minor_faults.value > 2 * .[0].counters.minor_faults.value)
		and ([.[].counters.task_clock_ns | .value > 0 and .source == "os" and .how == "getrusage, of the process and what it started"] | all)
		and ([.[].unavailable.PAPI_TOT_INS.reason] | unique) == ["PAPI is switched off (ASSAY_PAPI=0)"]' <<<"$output"
	run "$ASSAY" time true --budget 1us --events major_faults,PAPI_TOT_INS,heap_bytes
	[[ $output == *"counts  major_faults "*"not counted: PAPI_TOT_INS: PAPI is switched off (ASSAY_PAPI=0)"* ]]
	[[ $output == *"not counted: heap_bytes: 'assay profile heap -- COMMAND' watches a program"* ]]
	"$ASSAY" show last true | grep -q major_faults
	rm assay.db*
	fails 2 "bad --events: unknown event 'major_fault', did you mean 'major_faults'?" time true --events major_fault
	fails 2 "unknown group of counters 'cach', did you mean 'cache'?" time true --counters cach
	[ "$(nproc)" -ge 2 ] || return 0
	mapfile -t cpus < <(for i in $(seq 0 1023); do ! taskset -c "$i" true 2>/dev/null || echo "$i"; done | head -2)
	run --separate-stderr "$ASSAY" time --cpus "${cpus[0]},${cpus[1]}" --budget 1us --events migrations --json true \
		"sh -c 'taskset -pc ${cpus[0]} \$\$; taskset -pc ${cpus[1]} \$\$; taskset -pc ${cpus[0]} \$\$'"
	jq -e '.commands[1] | .counters.migrations.value >= 2 or (.unavailable.migrations.reason | length) > 0' <<<"$output"
}

@test "peak memory is that of the program" {
	run --separate-stderr "$ASSAY" time "sh -c 'head -c 100000000 /dev/zero | tail -c 100000000'" --min-runs 1 --warmup 0 --budget 1us --json
	[ "$status" = 0 ]
	jq -e '.commands[0].max_rss_bytes > 9e7 and .commands[0].max_rss_bytes < 4e8' <<<"$output"
	# a program that takes less than this one is not charged with what this one has
	"$ASSAY" time true --budget 1us --json | jq -e '.commands[0].max_rss_bytes == null'
}

@test "much longer is REGRESSED, much shorter is IMPROVED, whatever the host does" {
	run --separate-stderr "$ASSAY" time "$SHORT" "$LONG" --margin 20% --json
	[ "$status" = 1 ]
	jq -e '.verdict == "REGRESSED" and .exit == 1 and (.comparisons | length) == 1
		and (.comparisons[0] | .command == "sleep 0.05" and .against == "sleep 0.01" and .verdict == "REGRESSED"
			and .evidence == "paired" and .ratio > 1.2 and .ci[0] > 1.2 and .pairs >= 5)
		and ([.commands[].runs] | .[0] == .[1] and .[0] >= 10) and .comparison == 1' <<<"$output"
	run --separate-stderr "$ASSAY" time "$SHORT" "$LONG" --reference "$LONG" --margin 20%
	[ "$status" = 0 ] && [[ $output == *$'\n'"IMPROVED  $SHORT: -"*" pairs, against $LONG"* ]]
	"$ASSAY" show c1 | grep -qx 'head     sleep 0.05'
	# judged again from the samples, the same
	run --separate-stderr "$ASSAY" compare --replay c1 --json
	[ "$status" = 1 ]
	jq -e '.cases[0].verdict == "REGRESSED"' <<<"$output"
}

@test "several are compared with one reference, and parameters make commands" {
	run --separate-stderr "$ASSAY" time -L n 0.01,0.04,0.08 'sleep {n}' --margin 20% --json --export-csv t.csv --export-markdown t.md
	[ "$status" = 1 ]
	jq -e '[.comparisons[] | .command, .against, .verdict] ==
			["sleep 0.04", "sleep 0.01", "REGRESSED", "sleep 0.08", "sleep 0.01", "REGRESSED"]
		and [.commands[].parameters.n] == ["0.01", "0.04", "0.08"]
		and .commands[1].key == "sleep 0.04/program/n=0.04"' <<<"$output"
	[ "$(head -n 1 t.csv)" = "command,mean,stddev,median,user,system,min,max,parameter_n,ratio,ci_lo,ci_hi,verdict" ]
	[ "$(cut -d , -f 1,9,13 t.csv | tail -n 3 | tr '\n' ' ')" = "sleep 0.01,0.01, sleep 0.04,0.04,REGRESSED sleep 0.08,0.08,REGRESSED " ]
	grep -q '^| `sleep 0.01` | .* | reference |$' t.md
	grep -q '^| `sleep 0.08` | .* | REGRESSED |$' t.md
	# a reference that is none of them comes first
	"$ASSAY" time "$LONG" --reference "$SHORT" --margin 20% --json >out || [ "$?" = 1 ]
	jq -e '[.commands[].command] == ["sleep 0.01", "sleep 0.05"] and .comparisons[0].against == "sleep 0.01"' out
	run -0 --separate-stderr "$ASSAY" time -n a --show-output 'echo hello' -r 1 --warmup 0
	[[ $output == *hello*$'\na\n  mean '* ]]
	# names, and the same command twice
	"$ASSAY" time -N a -N b "$SHORT" "$SHORT" --budget 100ms --json | jq -e '[.commands[].key] == ["a/program/-", "b/program/-"]'
	"$ASSAY" time -L n 1,2 -N a 'head -c {n} /dev/zero' --budget 100ms --json |
		jq -e '[.commands[].key] == ["a/program/n=1", "a/program/n=2"]'
	# a name for each command that parameters make, as in hyperfine, or one in which they are filled in
	"$ASSAY" time -L n 1,2 -N one -N two --reference two 'head -c {n} /dev/zero' --budget 100ms --json |
		jq -e '[.commands[].key] == ["one/program/n=1", "two/program/n=2"] and .comparisons[0].command == "head -c 1 /dev/zero"'
	"$ASSAY" time -L n 1,2 -N 'c{n}' 'head -c {n} /dev/zero' --budget 100ms --json |
		jq -e '[.commands[].key] == ["c1/program/n=1", "c2/program/n=2"]'
	"$ASSAY" time "$SHORT" "$SHORT" --budget 100ms --json |
		jq -e '[.commands[].key] == ["sleep 0.01/program/-", "sleep 0.01 (2)/program/-"]'
}

@test "what fails has a status, a reason and an exit code" {
	run --separate-stderr "$ASSAY" time 'sh -c "exit 3"' --json
	[ "$status" = 4 ] && [[ $stderr == *"'sh -c \"exit 3\"': exited with status 3; --ignore-failure measures it"* ]]
	jq -e '.commands[0] | .status == "failed" and .reason == "exited with status 3" and .runs == 1 and .exit_codes == [3]
		and .mean_s == null and .median_s == null' <<<"$output"
	run --separate-stderr "$ASSAY" time 'sh -c "exit 3"' --ignore-failure --min-runs 3 --budget 1us --json
	[ "$status" = 0 ]
	jq -e '.commands[0] | .status == "ok" and .exit_codes == [3, 3, 3] and .mean_s > 0' <<<"$output"
	run --separate-stderr "$ASSAY" time "sh -c 'kill -SEGV \$\$'" --json
	[ "$status" = 4 ] && [[ $stderr == *"killed by signal 11 (SIGSEGV)"* ]]
	jq -e '.commands[0] | .status == "crashed" and .exit_codes == [null]' <<<"$output"
	# the head is not measured, the base cannot be compared with
	run --separate-stderr "$ASSAY" time "$SHORT" false
	[ "$status" = 4 ] && [[ $output == *"NOT_MEASURED  false"*"  failed: 'false': exited with status 1"* && $output != *"head"* ]]
	run --separate-stderr "$ASSAY" time false "$SHORT"
	[ "$status" = 5 ] && [[ $output == *"INCOMPARABLE  $SHORT"*"  failed: 'false': exited with status 1"* ]]
	# a command that has nothing to be compared with still gets its numbers
	for good in 0 1 2; do
		commands=(false false false)
		commands[good]=true
		run --separate-stderr "$ASSAY" time "${commands[@]}" --budget 1us --json
		[ "$status" = 4 ] || [ "$good$status" = 15 ] || [ "$good$status" = 25 ]
		jq -e --argjson good "$good" '.commands[$good] as $c | $c.status == "ok" and $c.runs >= 10 and $c.mean_s > 0
			and ([.commands[].status] | sort) == ["failed", "failed", "ok"]' <<<"$output"
	done
}

@test "a program that reads, hangs or leaves a daemon is ended" {
	# standard input is empty
	run --separate-stderr "$ASSAY" time cat --min-runs 2 --budget 1us --json
	[ "$status" = 0 ]
	seq 3 >three
	"$ASSAY" time 'sh -c "wc -l >>lines"' --input three --min-runs 1 --warmup 0 --budget 1us >/dev/null
	[ "$(cat lines)" = 3 ]
	run --separate-stderr "$ASSAY" time 'sleep 1000' --timeout 200ms --warmup 0 --json
	[ "$status" = 4 ] && [[ $stderr == *"'sleep 1000': it ran for more than 0.2 s, the limit of --timeout" ]]
	jq -e '.commands[0] | .status == "timeout" and (.reason | startswith("it ran for more than 0.2 s"))' <<<"$output"
	# one in a session of its own, one in the group
	run --separate-stderr "$ASSAY" time "sh -c 'setsid sleep 1001.$$ & sleep 1002.$$ & echo \$! >>pids'" --min-runs 2 --budget 1us
	[ "$status" = 0 ]
	[ "$(wc -l <pids)" = 3 ]
	[ -z "$(alive "sleep 1001.$$"; alive "sleep 1002.$$")" ]
}

@test "what is to happen around the runs happens so often, and output goes where it is sent" {
	"$ASSAY" time "sh -c 'echo c >>log'" --setup 'echo s >>log' --prepare 'echo p >>log' --conclude 'echo d >>log' \
		--cleanup 'echo e >>log' --min-runs 2 --warmup 1 --budget 1us >/dev/null
	[ "$(tr -d '\n' <log)" = spcdpcdpcde ]
	"$ASSAY" time -L n x,y 'echo {n}' --setup 'echo {n} >>made' --cleanup 'rm -f made' --budget 1us --output out >/dev/null
	[ ! -e made ] && [[ $(cat out) == [xy] ]]
	run --separate-stderr "$ASSAY" time 'echo hello' --output inherit --warmup 0 --min-runs 1 --budget 1us --json
	[ "$stderr" = hello ]
	jq -e '.commands[0].runs == 1' <<<"$output"
}

@test "a shell is started only where it is asked for, and its start is told" {
	run --separate-stderr "$ASSAY" time 'echo a | grep -q a && exit 0' --shell sh --min-runs 3 --budget 1us --json
	[ "$status" = 0 ]
	jq -e '.shell == "sh" and .shell_s > 0 and .commands[0].mean_s > 0' <<<"$output"
	# what a shell takes to start is no part of the time: of several runs, the fastest is left with less than the shell slept
	printf '#!/bin/sh\nsleep 0.3\nexec sh "$@"\n' >slow && chmod +x slow
	run --separate-stderr "$ASSAY" time : --shell ./slow --min-runs 5 --budget 1us --json
	[ "$status" = 0 ]
	jq -e '.shell_s >= 0.3 and .commands[0].min_s < 0.3' <<<"$output"
}

@test "hyperfine's format goes out and comes back in" {
	"$ASSAY" time -L n 1,2 'head -c {n}k /dev/zero' --budget 1us --export-json h.json >/dev/null
	jq -e '(.results | length) == 2 and all(.results[];
		(keys - ["memory_usage_byte"]) == ["command", "exit_codes", "max", "mean", "median", "min", "parameters", "stddev", "system",
			"times", "user"] and (.times | length) == (.exit_codes | length) and ((.times | add / length) - .mean | fabs) < 1e-9)' h.json
	run --separate-stderr "$ASSAY" import auto h.json --json --db i.db
	[ "$status" = 0 ]
	jq -e '.format == "hyperfine" and .runs[0].cases == 2 and .runs[0].ok == 2' <<<"$output"
	diff <("$ASSAY" show last --json | jq '[.cases[] | .median_ns, .samples]') \
		<("$ASSAY" show last --json --db i.db | jq '[.cases[] | .median_ns, .samples]')
}

@test "results are runs and comparisons like any other" {
	local i
	for i in 1 2 3; do "$ASSAY" time "$SHORT" --min-runs 3 --budget 1us >/dev/null; done
	"$ASSAY" history "$SHORT" --json | jq -e '.case == "sleep 0.01/program/-" and (.points | length) == 3'
	"$ASSAY" show last --json | jq -e '.run.suite == "time" and .cases[0].op == "sleep 0.01" and .cases[0].metrics.user_s.unit == "s"
		and .cases[0].counters.page_faults.source == "os"'
	"$ASSAY" report last -o run.html
	"$ASSAY" time "$SHORT" "$LONG" --margin 20% >/dev/null || [ "$?" = 1 ]
	"$ASSAY" report c1 -o comparison.html
	[ -s run.html ] && [ -s comparison.html ]
	"$ASSAY" show c1 --json | jq -e '.comparison.verdict == "REGRESSED"'
	# a name without blanks can stand in a manifest
	"$ASSAY" time -N nap "$SHORT" --min-runs 3 --budget 1us >/dev/null
	echo 'required nap/program/-' >nap.manifest
	"$ASSAY" gate --suite time --manifest nap.manifest --allow-no-baseline --json >gate.json
	jq -e '.exit == 0 and .cases[0].key == "nap/program/-"' gate.json
	"$ASSAY" plot distribution nap -o nap.svg
	[ -s nap.svg ]
}

@test "an interrupt ends what runs and keeps what is finished" {
	"$ASSAY" time "sh -c 'echo x >>started; sleep 0.01; [ \$(wc -l <started) -lt 5 ] || exec sleep 1003.$$'" >out 2>err &
	local pid=$!
	until [ -e started ] && [ "$(wc -l <started)" -ge 5 ]; do sleep 0.05; done
	interrupt "$pid"
	grep -q 'interrupted after 3 runs, which are kept as r1' err
	grep -q 'in 3 runs' out
	[ -z "$(alive "sleep 1003.$$")" ]
	"$ASSAY" show r1 --json | jq -e '.run.ended == null and .cases[0].samples == 3'
}

@test "an interrupted comparison is judged as far as it came" {
	"$ASSAY" time -N a -N b "sh -c 'echo x >>started; sleep 0.01'" "$SHORT" --budget 600s >out 2>err &
	local pid=$!
	until [ -e started ] && [ "$(wc -l <started)" -ge 3 ]; do sleep 0.05; done
	kill -TERM "$pid"
	wait "$pid" || [ "$?" = 130 ]
	grep -q 'interrupted after .* runs, which are kept as r1' err
	grep -Eq '^(NOT_MEASURED|INCONCLUSIVE)  b' out
}

@test "a program that needs a terminal has none" {
	type -P script >/dev/null || skip "no script"
	script -qec true typescript </dev/null || skip "no pseudo-terminal: /dev/pts is not mounted"
	run script -qec "$ASSAY time 'sh -c \"read x </dev/tty\"'" typescript </dev/null
	[ "$status" = 4 ] && [[ $output == *"exited with status"* ]]
}

@test "history knows the commit that was checked out" {
	git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
	"$ASSAY" time true --budget 1us --db ../commits.db >/dev/null
	"$ASSAY" history true --db ../commits.db --json | jq -e --arg head "$(git rev-parse HEAD)" '.points[0].commit == $head'
}
