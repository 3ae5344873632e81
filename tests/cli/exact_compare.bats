#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compare --evidence exact and all: two builds by their counts, with builds of which the outcome is known; and the same again from the store.
load compare_helpers

# counts STATUS BASE HEAD OPTION...: by counts alone, as JSON
counts() {
	local want=$1
	shift
	compare "$@" --evidence exact --json
	[ "$status" = "$want" ] || { echo "want status $want, got $status: $output $stderr"; return 1; }
}

# Two counts of the same code, which several tests begin with.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	: >wide.conf
	compare base base --evidence exact --json
	echo "$status" >status
	echo "$output" >equal.json
}

# Where nothing can be counted, every case says why.
can_count() {
	local why
	why=$(jq -r '.cases[0] | select(.reason | startswith("skipped: ")) | .reason' "$BATS_FILE_TMPDIR/equal.json")
	[ -z "$why" ] || skip "$why"
	output=$(cat "$BATS_FILE_TMPDIR/equal.json")
}

# replayed: is the verdict from the store that of $output, but for how long it took?
replayed() {
	local first=$output
	run --separate-stderr "$ASSAY" compare --replay last --json
	[ "$status" = "$(jq .exit <<<"$first")" ]
	[ "$(jq -S . <<<"$first")" = "$(jq -S . <<<"$output")" ] || { diff <(jq -S . <<<"$first") <(jq -S . <<<"$output"); return 1; }
}

@test "a build has its own counts; twice the work is REGRESSED by function, half of it IMPROVED" {
	can_count
	[ "$(cat "$BATS_FILE_TMPDIR/status")" = 0 ]
	is '.exit == 0 and .verdict == "PASS" and .alpha == null and .comparison == 1 and .seconds > 0'
	is '.cases | length == 1 and (.[0] | .evidence == "exact" and .metric == "exact" and (.reason | startswith("counts are those of ")))'
	counts 1 base double --markdown out.md --junit out.xml
	is '[.cases[] | .evidence == "exact" and .verdict == "REGRESSED" and .key == "lenient.triple/work/n=1024/t=1/warm"] | all'
	# 20 rounds over 1024 elements and 20 more, each writes one; and what a call saves
	is '[.cases[] | select(.metric == "exact_data_writes")][0] | .value >= 40960 and .value < 40960 + 64 and .limit >= 20480 and
		.limit < 20480 + 64 and .ratio > 1.99 and .ratio < 2.01 and .pairs == null'
	# one function, though the files have other names
	is '.cases[0] | .metric == "exact_instructions" and (.reason | test("^run: instructions \\+(99.9|100.0) % \\([0-9 ]+ → [0-9 ]+\\) at side.h:[0-9]+$"))'
	tr -d '\\' <out.md | grep -q 'exact_instructions.*run: instructions +.* at side.h:[0-9]'
	grep -q exact_instructions out.xml
	grep -q 'run: instructions +.* at side.h:[0-9]' out.xml
	replayed
	compare double base --evidence exact
	[ "$status" = 0 ]
	[[ ${lines[0]} == "IMPROVED: "*compare_base.so*" against "*compare_double.so ]]
	[[ $output == *IMPROVED*exact_data_writes*"-50.0 %"*" exact "*lenient.triple/work* ]]
	[[ $output == *"stored as c2 in assay.db"* ]]
	# the list, one of them, a case of it by function; and no gate takes them for counts of a run
	run -0 "$ASSAY" show comparisons
	[[ ${lines[1]} == *2*IMPROVED*" 1  "*compare_base.so*" against "*compare_double.so ]]
	run -0 "$ASSAY" show c1
	[[ $output == *lenient.triple/work/n=1024/t=1/warm*"against the base"*"+100.0 %"*"1 of 1 counted"* ]]
	run -0 "$ASSAY" show c1 'lenient.*'
	[[ $output == *"run (compare_double.so)"*"    run "*"+100.0 %"* ]]
	run -0 "$ASSAY" show c1 --json
	is '(.exact.base.cases[0].counters.data_writes.value * 2) as $twice | .cases == [] and
		(.exact.head.cases[0].counters.data_writes.value | . > 0.99 * $twice and . < 1.01 * $twice)'
	run -2 "$ASSAY" show c1 'matmul*'
	run -2 "$ASSAY" gate --evidence exact
	[[ $output == *"no exact counts of suite 'quick'"* ]]
}

@test "the tolerances and limits of the policy hold between two builds, and in the replay" {
	can_count
	# 5 % more work
	printf 'exact "*" { allow = {"instructions 6%%", "data_reads 6%%", "data_writes 6%%", "branches 6%%", "mispredictions 8"} }
limit "*" { require = {"exact_instructions <= base + 6%%", "exact_data_writes == base"} }\n' >wide.conf
	counts 1 base slower
	is '.cases | map([.metric, .verdict]) == [["exact", "PASS"], ["exact_instructions", "PASS"], ["exact_data_writes", "REGRESSED"]]'
	is '.cases[2] | .evidence == "exact" and (.reason | test("must be [0-9]+ as in the base$"))'
	replayed
}

@test "identical machine code is counted where the policy demands a count, and times are demanded of no counts" {
	can_count
	printf 'limit "*" { require = {"exact_instructions <= 1"} }\n' >wide.conf
	compare base base --evidence all --budget 100ms --json
	[ "$status" = 1 ]
	is '[.cases[] | select(.metric == "exact_instructions")] | length == 1 and (.[0] | .verdict == "REGRESSED" and .value > 1000)'
	is '[.cases[] | select(.metric == "exact")][0].reason | startswith("counts are those of ")'
	replayed
	printf 'limit "*" { require = {"time_s <= 1"} }\n' >wide.conf
	counts 4 base base
	is '.cases | map([.metric, .verdict]) == [["exact", "PASS"], ["time_s", "NOT_MEASURED"]]'
	is '.cases[1].reason | contains("only exact counts were taken: --evidence all takes times and metrics, too")'
	replayed
}

@test "wrong results, other outputs, lost and new cases and a base that cannot be counted keep their verdicts, and in the replay" {
	can_count
	while read -r status base head filter; do
		counts "$status" "$base" "$head"
		is "$filter"
		replayed
	done <<-'END'
		3 base wrong .cases[0].reason | test("element 3 of .y.: got [0-9]+, want [0-9]+")
		3 base bits .cases[0] | .verdict == "WRONG_RESULT" and (.reason | startswith("outputs of base and head differ: digests "))
		4 base refuses .cases | length == 1 and (.[0].reason | endswith("cannot do 1024 elements"))
		0 refuses base .cases[0] | .verdict == "PASS" and (.reason | startswith("counted, not in "))
		5 crash base .cases[0] | .verdict == "INCOMPARABLE" and (.reason | startswith("base crashed: ") and contains("SIGSEGV"))
		4 two base [.cases[] | select(.key | contains("/extra/"))] | length == 1 and (.[0] | .verdict == "NOT_MEASURED" and (.reason | test("^failed: only the base has it, the head has no such case any more: bring it back, or leave it out with --only")))
	END
}

# Verdicts by time are not asked about here, so they get hardly any.
@test "counts beside times: both rungs, what pairs have told is not counted, and the same again from the store" {
	can_count
	compare base double --evidence all --budget 100ms --json
	[ "$status" = 1 ]
	is '[.cases[] | select(.evidence == "paired") | .metric] == ["time_s"] and .alpha == 0.01 and (.controls | length > 0)'
	is '[.cases[] | select(.evidence == "exact") | .metric] | index("exact_instructions") != null'
	replayed
	run -0 "$ASSAY" show c1
	[[ $output == *"pair sd"*"base against base"*"against the base"*"1 of 1 counted"* ]]
	compare base base --evidence all --budget 100ms --json-file equal.json
	[ "$status" = 0 ]
	[[ $output == *"1 of 2 by exact counts"* ]]
	output=$(cat equal.json)
	is '[.cases[] | select(.evidence == "exact")] | length == 1 and (.[0] | .verdict == "PASS" and
		.reason == "skipped: identical machine code on both sides needs no count")'
	replayed
	# a crash in a pair says all that a count of it could
	compare base crash --evidence all --budget 100ms --json
	[ "$status" = 4 ]
	is '.cases | length == 1 and .[0].verdict == "NOT_MEASURED"'
}

@test "a head that cannot be counted any more is NOT_MEASURED where the base can" {
	can_count
	grep -qw avx512f /proc/cpuinfo || skip "no case here that runs and cannot be counted"
	counts 4 two needs --counter-source callgrind
	is '[.cases[] | select(.key | contains("/work/"))] | length == 1 and (.[0] | .verdict == "NOT_MEASURED" and (.reason | startswith("skipped: ")))'
	is '[.cases[] | select(.key | contains("/extra/")) | .verdict] == ["PASS"]'
	replayed
	# neither side can be counted: nothing became worse
	counts 0 needs needs --counter-source callgrind
	is '.cases | length == 2'
	replayed
}

# cheating VARIANT SOURCE: its verdicts when cheat_head.so is counted against cheat_base.so, each once
cheating() {
	run --separate-stderr "$ASSAY" compare --no-default-plugins --plugin "$PLUGINS/example_op.so" --bench-dir cheats --only "*/$1/*" \
		"$PLUGINS/cheat_base.so" "$PLUGINS/cheat_head.so" --policy wide.conf --evidence exact --counter-source "$2" --json
	jq -r '[.cases[] | .verdict] | unique | join(" ")' <<<"$output"
}

@test "a kernel that leaves out its work in a counted call is wrong, or counted with all of it" {
	can_count
	mkdir -p cheats/suites
	printf 'bench "scale" { op = "example.scale" shapes = {"n=512"} budget = "50ms" }\n' >cheats/scale.bench
	printf 'suite "quick" { summary = "one op" use "*" {} }\n' >cheats/suites/quick.suite
	for source in callgrind stepped; do
		# not every machine can step
		[ $source = callgrind ] || [ "$(cheating honest stepped)" != NOT_MEASURED ] || continue
		[ "$(cheating honest $source)" = PASS ]
		# they look first whether the output is there, which costs a little more than the work alone
		[ "$(cheating peek $source)" = REGRESSED ]
		[ "$(cheating glance $source)" = REGRESSED ]
		# the answer to the first inputs is wrong for others
		[ "$(cheating cachecopy $source)" = WRONG_RESULT ]
	done
	cheating simulated callgrind
	jq -e '[.cases[] | .verdict == "WRONG_RESULT" and (.reason | contains("in a counted call: "))] | any' <<<"$output"
}

# with_path FOLDERS COMMAND...: with these folders to find programs in
with_path() {
	printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$1" "$ASSAY" >program
	chmod +x program
	ASSAY=$PWD/program "${@:2}"
}

@test "without valgrind every case is NOT_MEASURED, with what to do" {
	mkdir empty
	with_path "$PWD/empty" counts 4 base base
	is '.cases | length == 1 and (.[0] | .evidence == "exact" and .verdict == "NOT_MEASURED" and (.reason | test("install|sanitizer|headers")))'
	# times do not make up for counts that were asked for
	with_path "$PWD/empty" compare base base --evidence all --budget 100ms --json
	[ "$status" = 4 ]
	is '.cases | map(.evidence) == ["paired", "exact"] and .[1].verdict == "NOT_MEASURED"'
}

@test "Ctrl-C keeps the verdicts of what was counted" {
	can_count
	interrupt_at_call 3 # the first case has both sides by then
	with_path "$PWD/bin:$PATH" counts 130 two two
	[[ $stderr == *"interrupted"*": what was measured is kept as unfinished comparison 1 of 'assay.db'"* ]]
	is '.cases | map(.verdict) == ["PASS", "NOT_MEASURED"] and (.[1].reason | endswith("the comparison ended before it was counted"))'
	run -4 --separate-stderr "$ASSAY" compare --replay last --json
	[[ $stderr == *"comparison 1 did not finish: judged as far as it came"* ]]
	is '.cases | map(.verdict) == ["PASS", "NOT_MEASURED"]'
}

@test "what is asked wrongly is one line" {
	refused "--evidence is 'exactly', expected paired (interleaved times), exact (counts) or all" --evidence exactly a b
	refused "unknown cache model 'l1', expected canon or host" --cache-model l1 a b
}
