#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compare --evidence exact: two builds by their counts, with builds of which the outcome is known.
load compare_helpers

counts() {
	local base=$1 head=$2
	shift 2
	compare "$base" "$head" --evidence exact "$@"
}

# Where nothing can be counted, every case says why.
needs_valgrind() {
	local why
	why=$(jq -r '.cases[0] | select(.reason | startswith("skipped: ")) | .reason' <<<"$output")
	[ -z "$why" ] || skip "$why"
}

@test "a build has its own counts; twice the work is REGRESSED by function, half of it IMPROVED" {
	counts base base --json
	needs_valgrind
	[ "$status" = 0 ]
	is '.exit == 0 and .verdict == "PASS" and .alpha == null and .comparison == null and .seconds > 0'
	is '.cases | length == 1 and (.[0] | .evidence == "exact" and .metric == "exact" and (.reason | startswith("counts are those of ")))'
	counts base double --json --markdown out.md --junit out.xml
	[ "$status" = 1 ]
	is '[.cases[] | .evidence == "exact" and .verdict == "REGRESSED" and .key == "lenient.triple/work/n=1024/t=1/warm"] | all'
	# 20 rounds over 1024 elements and 20 more, each writes one; and what a call saves
	is '[.cases[] | select(.metric == "exact_data_writes")][0] | .value >= 40960 and .value < 40960 + 64 and .limit >= 20480 and
		.limit < 20480 + 64 and .ratio > 1.99 and .ratio < 2.01 and .pairs == null'
	# one function, though the files have other names
	is '.cases[0] | .metric == "exact_instructions" and (.reason | test("^run: instructions \\+(99.9|100.0) % \\([0-9 ]+ → [0-9 ]+\\)$"))'
	grep -q exact_instructions out.md
	grep -q exact_instructions out.xml
	counts double base
	[ "$status" = 0 ]
	[[ ${lines[0]} == "IMPROVED: "*compare_base.so*" against "*compare_double.so ]]
	[[ $output == *IMPROVED*exact_data_writes*"-50.0 %"*" exact "*lenient.triple/work* ]]
	# nothing is kept of it
	[ ! -e assay.db ]
}

@test "the tolerances and limits of the policy hold between two builds" {
	# 5 % more work
	printf 'exact "*" { allow = {"instructions 6%%", "data_reads 6%%", "data_writes 6%%", "branches 6%%", "mispredictions 8"} }
limit "*" { require = {"exact_instructions <= base + 6%%", "exact_data_writes == base"} }\n' >wide.conf
	counts base slower --json
	needs_valgrind
	[ "$status" = 1 ]
	is '.cases | map([.metric, .verdict]) == [["exact", "PASS"], ["exact_instructions", "PASS"], ["exact_data_writes", "REGRESSED"]]'
	is '.cases[2] | .evidence == "exact" and (.reason | test("must be [0-9]+ as in the base$"))'
}

@test "wrong results, other outputs, lost and new cases and a base that cannot be counted keep their verdicts" {
	counts base wrong --json
	needs_valgrind
	[ "$status" = 3 ]
	is '.cases[0].reason | test("element 3 of .y.: got [0-9]+, want [0-9]+")'
	counts base bits --json
	[ "$status" = 3 ]
	is '.cases[0] | .verdict == "WRONG_RESULT" and (.reason | startswith("outputs of base and head differ: digests "))'
	counts base refuses --json
	[ "$status" = 4 ]
	is '.cases | length == 1 and (.[0].reason | endswith("cannot do 1024 elements"))'
	counts refuses base --json
	[ "$status" = 0 ]
	is '.cases[0] | .verdict == "PASS" and (.reason | startswith("counted, not in "))'
	counts crash base --json
	[ "$status" = 5 ]
	is '.cases[0] | .verdict == "INCOMPARABLE" and (.reason | startswith("base crashed: ") and contains("SIGSEGV"))'
	counts two base --json
	[ "$status" = 4 ]
	is '[.cases[] | select(.key == "lenient.triple/extra/n=1024/t=1/warm")] | length == 1 and
		(.[0] | .verdict == "NOT_MEASURED" and .reason == "failed: the head has no such case any more")'
}

# with_path FOLDERS ARGUMENT...: counts with these folders to find programs in
with_path() {
	printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$1" "$ASSAY" >program
	chmod +x program
	ASSAY=$PWD/program counts "${@:2}"
}

@test "without valgrind every case is NOT_MEASURED, with what to do" {
	mkdir empty
	with_path "$PWD/empty" base base --json
	[ "$status" = 4 ]
	is '.cases | length == 1 and (.[0] | .evidence == "exact" and .verdict == "NOT_MEASURED" and (.reason | test("install|sanitizer|headers")))'
}

@test "Ctrl-C keeps the verdicts of what was counted" {
	counts base base --json
	needs_valgrind
	# who would count the second case interrupts the one that started it; the first case has both sides by then
	mkdir bin
	printf '#!/bin/bash\n[ "$1" = --version ] || echo >>calls\n[ ! -e calls ] || [ "$(wc -l <calls)" -lt 3 ] || kill -INT $PPID\nexec %s "$@"\n' \
		"$(command -v valgrind)" >bin/valgrind
	chmod +x bin/valgrind
	with_path "$PWD/bin:$PATH" two two --json
	[ "$status" = 130 ]
	[[ $stderr == *"interrupted: only what was counted by then is judged"* ]]
	is '.cases | map(.verdict) == ["PASS", "NOT_MEASURED"] and (.[1].reason | endswith("the comparison ended before it was counted"))'
}

@test "what is asked wrongly is one line" {
	refused "--evidence is 'exactly', expected paired (times, in lock step) or exact (counts)" --evidence exactly a b
	refused "unknown cache model 'l1', expected canon or host" --cache-model l1 a b
}
