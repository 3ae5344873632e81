#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gate and baseline: verdicts and exit codes.
load helpers

# A run into DB that is interrupted in its second case.
unfinished() {
	mkdir -p slow/suites
	printf 'bench "slow" { op = "quantize.q8_0" shapes = {"n=4096", "n=8192"} variants = {"ref"} threads = {"1"} budget = "60s" }\n' >slow/slow.bench
	printf 'suite "quick" { summary = "s" use "*" { only = {"*/n=4096/*"} budget = "1ms" } use "*" { only = {"*/n=8192/*"} } }\n' >slow/suites/quick.suite
	"$ASSAY" run --bench-dir slow --db "$1" >/dev/null 2>&1 &
	for _ in $(seq 1200); do
		"$ASSAY" show last --db "$1" >/dev/null 2>&1 && break
		sleep 0.1
	done
	interrupt $!
}

@test "without a baseline the gate exits 5, or 0 where that is allowed, and says how to save one" {
	manifest
	measure >/dev/null
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf
	[ "$status" = 5 ]
	[[ ${lines[0]} == "INCOMPARABLE: run 1"* ]]
	[[ $stderr == *"assay baseline save main --run r1"* ]]
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --allow-no-baseline
	[ "$status" = 0 ]
	[[ ${lines[0]} == "PASS: run 1 ("*"): correctness, manifest and limits passed; speed was not judged" ]]
	[[ $output == *"3 without a baseline"* && $output != *INCOMPARABLE* ]]
	[[ $stderr == *"assay baseline save main --run r1"* ]]
}

@test "gate --json has every field that is promised" {
	manifest
	measure >/dev/null
	measure >/dev/null
	printf 'margin "*" { stored = "100%%" }\n' >wide.conf
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy wide.conf --json
	jq -e '.schema == 1 and has("exit") and has("verdict") and has("base") and has("head") and has("alpha") and has("controls")' <<<"$output"
	jq -e --argjson s "$status" '.exit == $s' <<<"$output"
	jq -e '.cases | length > 0' <<<"$output"
	jq -e '.manifest == "quick.manifest"' <<<"$output"
	jq -e '[.cases[] | has("key") and has("metric") and has("evidence") and has("verdict") and has("reason") and has("ratio")
		and has("ci") and has("margin") and has("pairs") and has("dropped_frac") and has("smallest_detectable")] | all' <<<"$output"
	jq -e '.head | startswith("run 2")' <<<"$output"
	jq -e '.base | startswith("run 1")' <<<"$output"
	# the text ends with what to type next
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy wide.conf
	[[ ${lines[-1]} == "next: 'assay "* ]]
}

@test "a case that is missing is told with the manifest that demands it, wherever that lies" {
	manifest
	measure >/dev/null
	mkdir -p far/away && mv quick.manifest far/away/
	echo 'required quantize.q8_0/ref/n=12345/t=1/warm' >>far/away/quick.manifest
	run --separate-stderr "$ASSAY" gate --manifest far/away/quick.manifest --policy plain.conf
	[ "$status" = 4 ]
	[[ $output == *"in the manifest (far/away/quick.manifest:"*") but not in the run"* ]]
	grep -Eq '^ *manifest +far/away/quick.manifest$' <<<"$output"
}

@test "gate writes summaries for a pull request and a CI system" {
	manifest
	measure >/dev/null
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --markdown report.md --junit junit.xml \
		--json-file report.json --json
	[ "$status" = 5 ]
	grep -q INCOMPARABLE report.md
	if command -v xmllint; then
		xmllint --noout --schema "$ASSAY_SOURCE/tests/fixtures/junit/junit.xsd" junit.xml
	fi
	grep -q 'q8_0' junit.xml
	[ "$(cat report.json)" = "$output" ]
}

@test "a case of the manifest that is missing is NOT_MEASURED, exit 4" {
	manifest
	measure --only 'quantize.q8_0/*' >/dev/null
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --allow-no-baseline
	[ "$status" = 4 ]
	[[ $output == *"NOT_MEASURED"*"dequantize.q8_0/ref/n=4096/t=1/warm"* ]]
	[[ $(tr -s '\n ' ' ' <<<"$output") == *"in the run; if that is meant, 'assay list --manifest --suite quick > FILE' writes what the suite has, and --manifest FILE judges by it"* ]]
	[ "$(grep -c 'list --manifest' <<<"$output")" = 1 ]
}

@test "what disappears from the bench files is missing by name: a bench, a variant, a shape, a cache state, a number of threads" {
	# no machine has so many threads: these are planned, and skipped as their lines allow
	f32='bench "f32" { op = "matmul.f32" shapes = {"m=8,k=8"} sweep = {"n=1,2"} variants = {"ref", "blocked"} threads = {"4096"} cache = {"warm", "cold"} }'
	q8='bench "q8" { op = "quantize.q8_0" shapes = {"n=32"} variants = {"ref"} threads = {"1", "4096"} }'
	mkdir -p t/suites
	printf 'suite "s" { use "*" { } }\n' >t/suites/s.suite
	: >plain.conf
	# misses STATUS KEY...: with the bench files as they are, the gate ends with STATUS and misses exactly these cases
	misses() {
		local want=$1
		shift
		ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir t --suite s >/dev/null 2>&1 || [ $? = 4 ]
		run --separate-stderr "$ASSAY" gate --suite s --manifest s.manifest --policy plain.conf --allow-no-baseline --json
		[ "$status" = "$want" ]
		jq -e '[.cases[] | select(.verdict == "NOT_MEASURED") | .key] == $ARGS.positional' --args "$@" <<<"$output"
	}

	printf '%s\n' "$f32" "$q8" >t/t.bench
	"$ASSAY" list --manifest --bench-dir t --suite s >s.manifest
	run -0 grep -v '^#' s.manifest
	[ "$output" = 'may-skip matmul.f32/{ref,blocked}/m=8,k=8,n={1,2}/t=4096/{warm,cold}
required quantize.q8_0/ref/n=32/t=1/warm
may-skip quantize.q8_0/ref/n=32/t=4096/warm' ]
	misses 0
	printf '%s\n' "$f32" >t/t.bench
	misses 4 quantize.q8_0/ref/n=32/t=1/warm quantize.q8_0/ref/n=32/t=4096/warm
	printf '%s\n' "${f32/, \"blocked\"/}" "$q8" >t/t.bench
	misses 4 matmul.f32/blocked/m=8,k=8,n={1,2}/t=4096/{warm,cold}
	printf '%s\n' "${f32/n=1,2/n=2}" "$q8" >t/t.bench
	misses 4 matmul.f32/{ref,blocked}/m=8,k=8,n=1/t=4096/{warm,cold}
	printf '%s\n' "${f32/, \"cold\"/}" "$q8" >t/t.bench
	misses 4 matmul.f32/{ref,blocked}/m=8,k=8,n={1,2}/t=4096/cold
	printf '%s\n' "$f32" "${q8/, \"4096\"/}" >t/t.bench
	misses 4 quantize.q8_0/ref/n=32/t=4096/warm
}

@test "a floor that is not reached is REGRESSED, exit 1; one that is reached passes" {
	manifest
	measure >/dev/null
	printf 'limit "quantize*" { require = {"items_per_s >= 1e18"} }\n' >high.conf
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy high.conf --allow-no-baseline
	[ "$status" = 1 ]
	[[ ${lines[0]} == "REGRESSED: "* ]]
	printf 'limit "quantize*" { require = {"items_per_s >= 1", "time_s <= 20 s", "bytes_per_s >= 3 kB/s"} }\n' >low.conf
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy low.conf --allow-no-baseline
	[ "$status" = 0 ]
}

@test "bad policies, manifests, runs and baselines are exit 2" {
	export KEEP_DB=1
	manifest
	measure >/dev/null
	printf 'limit "quantize*" { require = {"no_such_metric >= 1"} }\n' >bad.conf
	fails 2 "no_such_metric" gate --manifest quick.manifest --policy bad.conf
	printf 'limit "quantize*" { where_counted = {"sycalls <= 0"} }\n' >bad.conf
	fails 2 "has a metric 'sycalls', did you mean 'syscalls'?" gate --manifest quick.manifest --policy bad.conf
	printf 'margin "*" {\n stored = "200%%" }\n' >bad.conf
	fails 2 "bad.conf:2" gate --manifest quick.manifest --policy bad.conf
	printf 'limit "quantize*" { require = {"time_s <= 3 GB/s"} }\n' >bad.conf
	fails 2 "bad.conf:1: time_s cannot be in 'GB/s', it takes ns, us, ms or s" gate --manifest quick.manifest --policy bad.conf
	printf 'limit "*" { where_counted = {"syscalls <= 1 MiB"} }\n' >bad.conf
	fails 2 "bad.conf:1: syscalls cannot be in 'MiB', it takes no unit" gate --manifest quick.manifest --policy bad.conf
	fails 2 "cannot read '.'" gate --manifest quick.manifest --policy .
	fails 2 "cannot read '.'" gate --manifest . --policy plain.conf
	for o in --markdown --junit --json-file; do
		run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf $o /proc/foo
		[ "$status" = 2 ]
		[[ ${stderr_lines[0]} == *"cannot write '/proc/foo'"* ]]
	done
	fails 2 "nope.conf" gate --manifest quick.manifest --policy nope.conf
	printf 'required quantize.q8_0/ref/n=4096/t=1/warm\nmaybe x\n' >bad.manifest
	fails 2 "bad.manifest:2" gate --manifest bad.manifest
	fails 2 "nope.manifest" gate --manifest nope.manifest
	fails 2 "no run 99" gate --manifest quick.manifest --policy plain.conf --run 99
	fails 2 "no run of suite 'full' is stored in 'assay.db'" gate --suite full
	fails 2 "run 1 is of suite 'quick', not 'full'" gate --suite full --run 1
	fails 2 "no baseline 'main' of suite 'quick'" gate --manifest quick.manifest --policy plain.conf --baseline main
}

# installed_with FILE...: a tree of this build of which the folder of baselines holds only these; $ASSAY becomes its program
installed_with() {
	mkdir -p tree/bin tree/share/assay/baselines
	cp "$ASSAY" tree/bin/
	ln -s "$ASSAY_BUILD/plugins" tree/plugins
	ln -s "$ASSAY_SOURCE/bench" tree/share/assay/bench
	[ $# = 0 ] || cp "$@" tree/share/assay/baselines/
	ASSAY=$PWD/tree/bin/assay
}

@test "without a policy neither a gate nor a comparison judges by the defaults: exit 2, with what to do" {
	export KEEP_DB=1
	manifest
	measure >/dev/null
	installed_with quick.manifest
	fails 2 "no policy 'tree/share/assay/baselines/policy.conf': write one, an empty file takes the defaults, or name one with --policy" gate
	fails 2 "no policy 'tree/share/assay/baselines/policy.conf'" compare "$ASSAY_BUILD" "$ASSAY_BUILD" --bench-dir "$BENCH"
	fails 2 "no policy 'none.conf'" gate --manifest quick.manifest --policy none.conf
	# who names both needs no folder
	rm -r tree/share/assay/baselines
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --allow-no-baseline
	[ "$status" = 0 ]
	fails 2 "no baselines beside" gate --manifest quick.manifest
}

@test "baselines are saved, listed, shown, used and dropped" {
	export KEEP_DB=1
	manifest
	measure >/dev/null
	run "$ASSAY" baseline list
	[[ $output == "no baselines yet"* ]]
	"$ASSAY" baseline save main
	measure >/dev/null
	"$ASSAY" baseline save main --run 2 --json | jq -e '. == {"schema": 1, "saved": "main", "run": 2}'
	"$ASSAY" baseline list --json | jq -e '.baselines | length == 1 and .[0].name == "main" and .[0].runs == [1, 2] and .[0].suite == "quick"'
	run "$ASSAY" baseline show main
	[[ $output == *"main"*"quick"*"1,2"* ]]
	fails 2 "no baseline 'other'" baseline show other
	fails 2 "other" baseline drop other
	measure >/dev/null
	run "$ASSAY" gate --manifest quick.manifest --policy plain.conf --json
	jq -e '.base == "baseline '"'main'"' (2 runs)"' <<<"$output"
	{ "$ASSAY" gate --manifest quick.manifest --policy plain.conf --run last --json || true; } | jq -e '.head | startswith("run 3")'
	"$ASSAY" baseline save other --run last --json | jq -e '.run == 3'
	"$ASSAY" baseline drop other
	"$ASSAY" baseline drop main --json | jq -e '. == {"schema": 1, "dropped": "main"}'
	"$ASSAY" baseline list --json | jq -e '.baselines == []'
	# the runs themselves stay, and are the base of the last
	"$ASSAY" show --json | jq -e '.runs | length == 3'
	{ "$ASSAY" gate --manifest quick.manifest --policy plain.conf --json || true; } | jq -e '.base | startswith("2 runs since ")'
	run "$ASSAY" gate --manifest quick.manifest --policy plain.conf
	[[ $output == *"2 runs since "* ]]
}

@test "a run is no baseline for itself" {
	manifest
	measure >/dev/null
	"$ASSAY" baseline save main
	run "$ASSAY" gate --manifest quick.manifest --policy plain.conf
	[ "$status" = 5 ]
	[[ $output == *"holds only run 1 itself"* ]]
}

@test "what to do for a baseline fits what is stored" {
	manifest
	measure --db other.db >/dev/null
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --db other.db
	[[ $stderr == *"save one with 'assay baseline save main --run r1 --db other.db'" ]]
	eval "$(sed "s/.* save one with '\(.*\)'$/\1/" <<<"$stderr")"
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --db other.db
	[ "$status" = 5 ]
	[[ $stderr != *"baseline save"* ]]
	[[ $stderr == *"measure another run with 'assay run --db other.db' and judge that" ]]
	# other messages, too, name commands that can be typed as they stand
	export KEEP_DB=1
	fails 2 "measure one with 'assay run --suite smoke --db other.db'" gate --suite smoke --db other.db
	fails 2 "take them with 'assay run --evidence exact --db other.db'" gate --evidence exact --db other.db
	fails 2 "no baseline 'none': 'assay baseline list --db other.db' shows all" baseline show none --db other.db
	fails 2 "on this machine: 'assay baseline list --db other.db' shows all" gate --manifest quick.manifest --policy plain.conf \
		--baseline none --db other.db
	fails 2 "no case of run 1 matches 'nothing like it': 'assay show r1 --db other.db' lists them" show 1 'nothing like it' --db other.db
	fails 2 "'assay show last --db other.db' lists those of the last run" plot trend 'nothing like it' -o x.svg --db other.db
	unset KEEP_DB
	# a run that did not finish cannot become a baseline
	unfinished cut.db
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --db cut.db
	[[ $stderr != *"baseline save"* ]]
	[[ $stderr == *"run 1 cannot become one"*"'assay run --db cut.db'" ]]
}

@test "a policy may name the cases of another suite, and t=all is t=1 where all means one thread" {
	manifest
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	measure --cpus "$cpu" --json >run.json
	jq -e --argjson cpu "$cpu" '.run | .all_threads == 1 and .all_cpus == [$cpu]
		and (.environment.placement | endswith("all = 1 thread on CPU \($cpu)"))' run.json
	printf 'margin "generate.chat/*" { stored = "20%%" }\n' >other.conf
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy other.conf --allow-no-baseline
	[ "$status" = 0 ]
	# what is demanded of all threads is demanded there, too
	printf 'limit "*/t=all/*" { require = {"time_s <= 0"} }\n' >all.conf
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy all.conf --allow-no-baseline --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric == "time_s" and .verdict == "REGRESSED")] | length > 0' <<<"$output"
	measure --cpus "$cpu" --threads 1 >/dev/null
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf --allow-no-baseline
	[ "$status" = 0 ]
}

@test "a name that no case or metric has gets the nearest" {
	export KEEP_DB=1
	measure >/dev/null
	fails 2 "has 'bytes_per_ss', did you mean 'bytes_per_s'?" plot sweep --metric bytes_per_ss -o t.svg
	fails 2 "has 'instructions', did you mean 'exact_instructions'?" plot sweep --metric instructions -o t.svg
	fails 2 "did you mean 'quantize.q8_0/ref/n=4096/t=all/warm'?" show last quantize.q8_0/rfe/n=4096/t=all/warm
	fails 2 "3 stored cases match 'q8_0'" plot trend q8_0 -o t.svg
}

@test "a damaged database is no baseline, and nothing of it is shown" {
	local root
	command -v sqlite3 >/dev/null || skip "no sqlite3, which says where to damage it"
	manifest
	measure >/dev/null
	measure >/dev/null
	"$ASSAY" baseline save main --run 1
	root=$(sqlite3 assay.db "SELECT rootpage FROM sqlite_schema WHERE name = 'result_by_series'")
	printf '\xa5%.0s' {1..300} | dd of=assay.db bs=1 seek=$(((root - 1) * 4096)) conv=notrunc status=none
	run --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy plain.conf
	[ "$status" = 2 ] && [ -z "$output" ]
	[[ $stderr == *"the file is damaged; restore a copy"* ]]
	run --separate-stderr "$ASSAY" show 1
	[ "$status" = 2 ] && [ -z "$output" ]
}
