#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# run, verify and show: what is printed, stored and promised to scripts.
load helpers

# Process $1 ends, whoever its parent is by now; what only waits to be reaped has ended.
gone() {
	for _ in $(seq 1200); do
		[ -e "/proc/$1" ] || return 0
		grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" && return 0
		sleep 0.1
	done
	echo "process $1 is still there"
	return 1
}

@test "run measures, checks and stores every case" {
	run --separate-stderr measure
	[ "$status" = 0 ]
	[[ ${lines[0]} == "machine: "* ]]
	[[ ${lines[1]} == "suite     quick, seed 42" ]]
	[[ $output == *"quantize.q8_0"* && $output == *"dequantize.q8_0"* ]]
	[[ $output == *"3 ok in "* ]]
	[[ $output == *"stored as r1 in assay.db"* ]]
	[ -z "$stderr" ]
}

@test "a run shows the best of each shape, -v and show every case" {
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite smoke --only 'quantize.*' >brief.txt
	for op in i2_s tq2_0 q8_0 i8_token; do
		[ "$(grep -c "^quantize.$op " brief.txt)" = 1 ]
	done
	# one row an op; of one process alone nothing has an interval, and so there is no ratio to the reference either
	run ! grep -qE '×|±' brief.txt
	grep -qE '^  4 of [0-9]+ cases: the best of each shape and what failed; -v shows all$' brief.txt
	"$ASSAY" show last >all.txt
	[ "$(grep -cE '^  ref ' all.txt)" = 4 ]
	run ! grep -q 'vs ref' all.txt
}

@test "a run of which cases fail or are skipped says which" {
	local plugins=$ASSAY_BUILD/tests/plugins

	run -4 --separate-stderr "$ASSAY" run --no-default-plugins -p "$plugins/compare_op.so" -p "$plugins/compare_crash.so" \
		--bench-dir "$ASSAY_SOURCE/tests/fixtures/compare" --threads 1
	[[ $output == *"work"*"crashed: "*"SIGSEGV"* ]]
	mkdir suites
	echo 'bench "many" { op = "quantize.q8_0" shapes = {"n=64"} variants = {"ref"} threads = {"1", "4096"} }' >many.bench
	echo 'suite "quick" { use "many" { } }' >suites/quick.suite
	ASSAY_DETERMINISTIC=1 run -0 --separate-stderr "$ASSAY" run --bench-dir .
	[[ $output == *$'\n'"1 ok, 1 skipped in "*$'\n'"skipped   1: needs 4096 threads"* ]]
}

@test "the commands that run names can be typed as they stand" {
	run --separate-stderr measure
	[[ $output == *"; 'assay show r1' shows every case, 'assay list --manifest --bench-dir "*" >quick.manifest' writes what a gate demands, 'assay gate --manifest quick.manifest' judges it"* ]]
	# a part of the suite is not what a gate demands
	run --separate-stderr measure --only '*/t=1/*' --db part.db
	[ "${lines[-1]}" = "stored as r1 in part.db; 'assay show r1 --db part.db' shows every case" ]
	mkdir -p suites
	cp "$BENCH"/*.bench .
	sed 's/"quick"/"mine"/' "$BENCH/suites/quick.suite" >suites/mine.suite
	ASSAY_DETERMINISTIC=1 run --separate-stderr "$ASSAY" run --bench-dir . --suite mine --db 'my $x.db'
	[ "$status" = 0 ]
	command=$(sed -n "s/^stored as r1 in .*; '\(.*\)' shows every case, .*/\1/p" <<<"$output")
	[ "$command" = 'assay show r1 --db "my \$x.db"' ]
	eval "$command" >/dev/null
	command=$(sed -n "s/.* shows every case, '\(.*\)' writes what a gate demands, .*/\1/p" <<<"$output")
	[ "$command" = 'assay list --manifest --bench-dir . --suite mine >mine.manifest' ]
	eval "$command"
	command=$(sed -n "s/.* writes what a gate demands, '\(.*\)' judges it$/\1/p" <<<"$output")
	[ "$command" = 'assay gate --suite mine --db "my \$x.db" --manifest mine.manifest' ]
	: >plain.conf
	eval "$command --allow-no-baseline --policy plain.conf" >/dev/null
	# of the installed benches there are manifests
	mkdir -p tree/bin tree/share/assay
	cp "$ASSAY" tree/bin/
	ln -s "$ASSAY_BUILD/plugins" tree/plugins
	ln -s "$BENCH" tree/share/assay/bench
	ASSAY_DETERMINISTIC=1 run --separate-stderr tree/bin/assay run --db installed.db
	[[ $output == *"shows every case, 'assay gate --db installed.db' judges it" ]]
}

@test "a share of the roof that cannot be given says why, also when it is shown again" {
	measure --json >a.json
	jq -e '[.cases[] | .metrics.roof_frac == null and .unavailable.roof_frac.source == "assay"
		and (.unavailable.roof_frac.reason | test("^the run has no measurement of read or copy bandwidth"))] | all' a.json
	"$ASSAY" show last --json | jq -e --slurpfile a a.json '[.cases[].unavailable] == [$a[0].cases[].unavailable]'
}

@test "run --json has every field that is promised" {
	run --separate-stderr measure --json
	[ "$status" = 0 ]
	jq -e '.schema == 1 and .run.id == 1 and .run.suite == "quick" and .run.seed == 42
		and (.run.started | type) == "string" and (.run.machine.id | length) == 32 and (.run.build.id | length) == 32' <<<"$output"
	jq -e '.cases | length == 3' <<<"$output"
	jq -e '[.cases[] | has("key") and has("op") and has("variant") and has("axes") and has("status") and has("reason")
		and has("correct") and has("digest") and has("max_rel_err") and has("samples") and has("iterations")
		and has("median_ns") and has("ci95_ns") and has("metrics") and has("counters") and has("dropped_frac") and has("cpus")
		and (.counters.slow_core_samples.value == (.slow_core_frac * .samples | round) or .status != "ok") and has("slow_core")] | all' <<<"$output"
	jq -e '[.cases[] | .status == "ok" and .correct and .median_ns > 0
		and (if .rounds > 1 then .ci95_ns[0] <= .median_ns and .median_ns <= .ci95_ns[1] else .ci95_ns == null end)
		and .samples > 0 and .iterations > 0 and (.cpus | length) > 0] | all' <<<"$output"
	jq -e '[.cases[].metrics | length > 0] | all' <<<"$output"
	jq -e '[.cases[] | .metrics | to_entries[] | .value | has("value") and has("unit") and has("better")] | all' <<<"$output"
	jq -e '.cases[0].key == "quantize.q8_0/ref/n=4096/t=1/warm" and .cases[0].axes.n == 4096' <<<"$output"
}

@test "the same seed makes the same digests, another seed others" {
	measure --json >a.json
	measure --json >b.json
	measure --json --seed 43 >c.json
	[ "$(jq -c '[.cases[].digest]' a.json)" = "$(jq -c '[.cases[].digest]' b.json)" ]
	[ "$(jq -c '[.cases[].digest]' a.json)" != "$(jq -c '[.cases[].digest]' c.json)" ]
	# one and all threads agree
	jq -e '.cases[0].op == .cases[1].op and .cases[0].digest == .cases[1].digest and (.cases[0].digest | length) == 32' a.json
}

@test "an option beats the environment, the environment beats the default" {
	one() {
		measure --only 'dequantize.*' "$@"
	}
	ASSAY_SEED=7 one --json | jq -e '.run.seed == 7'
	ASSAY_SEED=7 one --json --seed 0x10 | jq -e '.run.seed == 16'
	one --json --seed 18446744073709551615 | jq -e '.run.seed == "18446744073709551615"'
	ASSAY_THREADS=1 measure --json | jq -e '[.cases[].threads] | unique == [1]'
	ASSAY_DB=env.db one >/dev/null
	[ -e env.db ]
	ASSAY_DB=env.db one --db option.db >/dev/null
	[ -e option.db ]
}

@test "run --only and --cpus" {
	measure --json --only 'dequantize.*' | jq -e '[.cases[].op] | unique == ["dequantize.q8_0"]'
	measure --json --only 'dequantize.*' --only 'quantize.*' | jq -e '[.cases[].op] | unique == ["dequantize.q8_0", "quantize.q8_0"]'
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	measure --json --cpus "$cpu" | jq -e --argjson c "$cpu" '[.cases[].cpus] | unique == [[$c]]'
}

# The results of a run's cases that depend on no clock and no kernel. Two threads in OpenBLAS or oneDNN may wait for each other at its locks.
bytes_of_work() {
	jq '[.cases[] | {key, axes, status, reason, correct, digest, max_rel_err, samples, iterations, copies, rounds, code_hash,
		counters: ((.variant | IN("openblas", "onednn")) as $locks | .counters | map_values(select(.source | IN("sde", "exact", "heap")))
			| if $locks then del(.syscalls) else . end), roof: .roof.bounds}]' "$1"
}

@test "deterministic runs do the same work, to the byte, in about the time of others" {
	local i chats=1 counts=50 of='*/ref/*'

	# the reference of a chat, checked by sanitizers, takes longer than all else together
	! grep -q sanitizers "$ASSAY_BUILD/features" || chats=0 counts=30 of='[!g]*/ref/*'
	for i in a b; do
		ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite smoke --only 'overhead.*' --only 'matmul.*' --only "$of" --json >$i.json
		bytes_of_work $i.json >$i.work
	done
	cmp a.work b.work
	jq -e --argjson counts $counts '[.[].counters | length] | add > $counts' a.work
	# an op that states no cost may take any time, and a long call few samples
	jq -e '[.cases[] | select(.op | startswith("overhead.")) | .iterations] | unique == [1]' a.json
	jq -e --argjson chats $chats '[.cases[] | select(.op == "generate.chat") | .samples] == [range($chats) | 3]' a.json
	jq -e '[.cases[] | select(.op == "quantize.q8_0") | .samples] | unique == [20]' a.json
}

@test "verify checks and stores nothing" {
	run --separate-stderr "$ASSAY" verify --bench-dir "$BENCH"
	[ "$status" = 0 ]
	[[ $output == *"3 ok"* ]]
	[ ! -e assay.db ]
	"$ASSAY" verify --bench-dir "$BENCH" --json | jq -e '.run.id == null and ([.cases[] | .correct and .median_ns == null] | all)'
}

@test "show lists runs, shows a run, a case and its samples" {
	measure -v >first.txt
	measure --seed 9 >/dev/null
	run "$ASSAY" show
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[1]} == *"2"*"quick"*"9"*"3/3"* ]]
	"$ASSAY" show --json | jq -e '[.runs[].id] == [2, 1] and .runs[0].ok == 3'

	# what is shown again is what was shown
	"$ASSAY" show 1 | grep -v '^started' >again.txt
	grep -v '^stored as r' first.txt | diff - again.txt

	run "$ASSAY" show last dequantize
	[ "$status" = 0 ]
	[ "${lines[0]}" = "dequantize.q8_0/ref/n=4096/t=1/warm" ]
	"$ASSAY" show 1 dequantize --samples --json | jq -e '.cases[0] | (.raw | length) == .samples'
	run "$ASSAY" show 1 dequantize --samples
	[[ $output == *"ns per iteration"* ]]
	# a whole key is one case, also where it is a part of another's
	"$ASSAY" list cases --suite smoke --threads 1 --only quantize.q8_0/ref/n=16384/t=1/warm >key.txt
	[ "$(cat key.txt)" = quantize.q8_0/ref/n=16384/t=1/warm ]

	KEEP_DB=1 fails 2 "no case of run 1 matches 'zzz'" show 1 zzz
	KEEP_DB=1 fails 2 "no run 99" show 99
}

@test "a run or check in which every case is skipped is exit 4, one with any measured case is not" {
	mkdir suites
	echo 'bench "many" { op = "quantize.q8_0" shapes = {"n=64"} variants = {"ref"} threads = {"1", "4096"} }' >many.bench
	echo 'suite "quick" { use "many" { } }' >suites/quick.suite
	for command in run verify; do
		run -4 --separate-stderr "$ASSAY" $command --bench-dir . --only '*/t=4096/*'
		[[ $output == *"needs 4096 threads"* && $stderr == *"nothing was measured: no case can run here"* ]]
		ASSAY_DETERMINISTIC=1 run -0 --separate-stderr "$ASSAY" $command --bench-dir .
		[[ $output == *"1 ok, 1 skipped"* ]]
	done
}

@test "rounds: each a process of its own, all of them in one result" {
	run --separate-stderr "$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' --threads 1 --budget 3s --rounds 2 --json
	[ "$status" = 0 ]
	jq -e '.cases[0] | .rounds == 2 and .ci95_reached == (.ci95_ns != null)
		and (.ci95_ns == null or (.ci95_ns[0] <= .median_ns and .median_ns <= .ci95_ns[1]))
		and (.metrics.time_s.value * 1e9 - .median_ns | fabs) < 0.001' <<<"$output"
	"$ASSAY" show last dequantize --samples --json | jq -e '.cases[0] | .rounds == 2 and (.raw | length) == .samples
		and ([.raw[][2] / 65536 | floor % 2 | select(. == 1)] | length) == 1'
	run "$ASSAY" show last dequantize
	[[ $output == *" iterations in 2 processes, "* ]]
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' --threads 1 --rounds 2 --json |
		jq -e '.cases[0] | .rounds == 1 and .ci95_ns == null and (.ci95_reached | not)'
	"$ASSAY" show last dequantize | grep '^median .* (one process alone, so no interval)$'
	"$ASSAY" history dequantize --json | jq -e '.points[1].ci95_ns == null'
	run -0 --separate-stderr "$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' --threads 1 --budget 3s --json
	jq -e '.cases[0] | .rounds == 3 and (.ci95_ns | length) == 2' <<<"$output"
}

# Wait until a run that writes to out.txt measures: until the head of its report is there.
under_way() {
	for _ in $(seq 1200); do
		grep -q '^placement' out.txt && return
		sleep 0.05
	done
	return 1
}

@test "a run that is interrupted keeps what is finished and says so" {
	printf 'bench "slow" { op = "quantize.q8_0" sweep = {"n=4096,8192,16384,32768"} variants = {"ref"} threads = {"1"} budget = "3s" }\n' >slow.bench
	mkdir suites
	printf 'suite "quick" { summary = "s" use "*" { } }\n' >suites/quick.suite
	"$ASSAY" run --bench-dir . >out.txt 2>err.txt &
	pid=$!
	# the second case has begun once the first is stored
	for _ in $(seq 1200); do
		[ "$("$ASSAY" show --json 2>/dev/null | jq '.runs[0].cases // 0')" -ge 1 ] && break
		sleep 0.1
	done
	for _ in $(seq 1200); do
		workers=$(cat "/proc/$pid/task/$pid/children")
		[ -n "$workers" ] && break
		sleep 0.1
	done
	[ -n "$workers" ]
	interrupt "$pid"
	run cat err.txt
	[[ $output == *"interrupted"*": "*" of 4 cases kept in run 1"* ]]
	"$ASSAY" show --json | jq -e '.runs[0].ended == null and .runs[0].cases >= 1'
	run "$ASSAY" show 1
	[[ $output == *"run 1 did not finish, or is under way"* ]]
	run "$ASSAY" show
	[[ ${lines[1]} == *"unfinished (or under way)"* ]]
	for worker in $workers; do
		gone "$worker"
	done
}

@test "a terminal that goes away interrupts a run, unless nohup is asked for" {
	local pid status=0

	env --default-signal=HUP "$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' --budget 60s >out.txt 2>err.txt &
	pid=$!
	under_way
	# as timeout(1) does it: to the process, and at once to its group
	kill -HUP "$pid"
	kill -HUP "$pid"
	wait "$pid" || status=$?
	[ "$status" = 130 ]
	[[ $(cat err.txt) == "assay: interrupted"*" before the first of 1 cases was finished: nothing is kept" ]]
	run ! "$ASSAY" show last
	(
		trap '' HUP
		exec "$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' --budget 1s >out.txt 2>err.txt
	) &
	pid=$!
	under_way
	kill -HUP "$pid"
	wait "$pid"
}

@test "a database that is removed during a run is told, and nothing is said to be stored" {
	local pid status=0

	"$ASSAY" run --suite smoke >out.txt 2>err.txt &
	pid=$!
	under_way
	rm assay.db*
	wait "$pid" || status=$?
	[ "$status" = 70 ]
	[[ $(tail -n 1 err.txt) == "assay: what was stored in 'assay.db' does not read back, "*": cannot write 'assay.db': it was removed or replaced by something else; what it held is lost" ]]
	run ! grep -q "stored as r" out.txt err.txt
}

@test "closed standard streams are no place for a database" {
	"$ASSAY" run --suite smoke --only 'dequantize.q8_0/ref/*' <&- >/dev/null 2>&-
	"$ASSAY" show last --json | jq -e '.cases[0].status == "ok"'
}

@test "a plugin of which nothing runs is told" {
	run --separate-stderr "$ASSAY" verify --suite smoke --only 'dequantize.q8_0/ref/*' -p "$ASSAY_BUILD/tests/plugins/example_variant.so"
	[ "$status" = 0 ]
	[[ $stderr == *"variant 'doubled' of '"*"example_variant.so' is of op 'example.scale', which no plugin has"* ]]
	ASSAY_DETERMINISTIC=1 run --separate-stderr "$ASSAY" verify --bench-dir "$BENCH" -p "$ASSAY_BUILD/tests/plugins/example_op.so"
	[ "$status" = 0 ]
	[[ $stderr == *"the suite has no case of plugin '"*"example_op.so'"* ]]
}

@test "output is plain when it is no terminal, and in ASCII where the locale is" {
	measure >a.txt
	run grep -c $'\033' a.txt
	[ "$output" = 0 ]
	LC_ALL=C measure >b.txt
	run env LC_ALL=C grep -c '[^ -~]' b.txt
	[ "$output" = 0 ]
}

@test "a file that may not grow in the middle of a run keeps what is finished, and says how much" {
	# SQLite's log may not exceed what the pages shared with workers take
	run --separate-stderr env ASSAY_DETERMINISTIC=1 bash -c 'ulimit -f 1000; exec "$0" run --suite smoke --db full.db' "$ASSAY"
	[ "$status" = 2 ]
	[[ ${stderr_lines[-1]} =~ "raise the limit (ulimit -f); what is stored is intact; "([1-9][0-9]*)" of "([0-9]+)" cases kept in run 1"$ ]]
	[ "${BASH_REMATCH[1]}" -lt "${BASH_REMATCH[2]}" ]
	local kept=${BASH_REMATCH[1]}
	[[ $output =~ ([0-9]+)\ ok(,\ ([0-9]+)\ skipped)? ]]
	[ $((BASH_REMATCH[1] + ${BASH_REMATCH[3]:-0})) = "$kept" ]
	[ "$("$ASSAY" show 1 --db full.db --json | jq '.cases | length')" = "$kept" ]
}
