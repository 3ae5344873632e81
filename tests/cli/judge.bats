#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# judge and show comparisons: what is stored says the same as what was measured.
load compare_helpers

# What most tests read: four comparisons, measured once.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	wide_policy
	compare base double --json --profile no # whose profiles are not stored
	printf '%s\n' "$output" >measured.json
	compare base wrong
	compare two base
	compare base two
}

# A copy of their database.
comparisons() {
	cp "$BATS_FILE_TMPDIR/assay.db" .
}

@test "judge repeats the verdict from the stored samples alone, byte by byte, also from a copy elsewhere" {
	comparisons
	mkdir elsewhere
	cp assay.db elsewhere/copy.db
	# neither policy, plugins nor benches are needed
	rm wide.conf
	"$ASSAY" judge --comparison 1 --json >judged.json || [ $? = 1 ]
	jq -e '.exit == 1 and .comparison == 1' judged.json
	cmp "$BATS_FILE_TMPDIR/measured.json" judged.json
	cd elsewhere
	"$ASSAY" judge --db copy.db --comparison 1 --json >copied.json || [ $? = 1 ]
	cmp ../judged.json copied.json
}

@test "judge ends with the status of the comparison, and writes the same summaries" {
	comparisons
	run "$ASSAY" judge --comparison 2
	[ "$status" = 3 ]
	run "$ASSAY" judge --comparison 3 --markdown report.md --junit junit.xml --json-file report.json
	[ "$status" = 4 ]
	grep -q NOT_MEASURED report.md
	grep -q 'extra/n=1024/t=1/warm' junit.xml
	jq -e '.exit == 4 and .comparison == 3' report.json
	# the newest
	run --separate-stderr "$ASSAY" judge --json
	is '.comparison == 4'
}

@test "judge with --strict turns INCONCLUSIVE into exit 6" {
	printf 'alpha = "0.0001%%"\npass_alpha = "0.0001%%"\nmargin "*" { paired = "0.0001%%" }\n' >hopeless.conf
	compare base two --only '*/work/*' --policy hopeless.conf --budget 100ms
	run "$ASSAY" judge
	[ "$status" = 0 ]
	run "$ASSAY" judge --strict
	[ "$status" = 6 ]
}

@test "comparisons that are not there, and bad arguments, are exit 2" {
	fails 2 "assay.db" judge
	fails 2 "--comparison" judge --comparison x
	fails 2 "--comparison" judge --comparison 0
	fails 2 "named with --comparison" judge 3
	comparisons
	KEEP_DB=1
	fails 2 "no comparison 99 in 'assay.db'" judge --comparison 99
	fails 2 "no comparison 99 in 'assay.db'" show comparisons 99
	fails 2 "comparison is 'x'" show comparisons x
	fails 2 "no case of comparison 4 matches 'zzz'" show comparisons last zzz
	fails 2 "unexpected argument 'more'" show comparisons 1 '*' more
}

@test "show comparisons lists them, newest first" {
	run "$ASSAY" show comparisons
	[ "$status" = 2 ]
	comparisons
	run "$ASSAY" show comparisons
	[ "$status" = 0 ]
	[ "${#lines[@]}" -ge 5 ]
	[[ ${lines[1]} == *" 4 "*quick*PASS* ]]
	[[ $output == *" 2 "*quick*WRONG_RESULT*compare_wrong.so* ]]
	run --separate-stderr "$ASSAY" show comparisons --json
	is '.schema == 1 and (.comparisons | map(.id)) == [4, 3, 2, 1] and (.comparisons | map(.exit)) == [0, 4, 3, 1]'
	is '.comparisons[0] | .cases == 2 and .controls == 2 and .pairs >= 1 and .suite == "quick" and .ended != null'
}

@test "show comparisons shows one of them, and the pairs of a case" {
	comparisons
	run "$ASSAY" show comparisons 1
	[ "$status" = 0 ]
	[[ $output == *"comparison 1 of suite 'quick'"*compare_double.so*"verdict  REGRESSED"*"head with 80 % more work"* ]]
	run "$ASSAY" show comparisons 1 triple
	[[ $output == *"pair"*"change"*"blocks"*"dropped"* ]]
	run --separate-stderr "$ASSAY" show comparisons 1 triple --samples --json
	is '.comparison.id == 1 and .comparison.family == 1 and (.cases | map(.control)) == ["none", "aa", "slower"]'
	# blocks of two samples of either side, each of the iterations that the pair names
	is '[.cases[].pairs[] | (.base.samples | length) == 2 * .blocks and (.head.samples | length) == 2 * .blocks] | all'
	is '[.cases[0].pairs[] | .iterations as $n | .base.samples[] | .iterations == $n] | all'
	is '.cases[0].pairs[0].extra_iterations == 0'
	# where calls are so long that whole ones cannot be added, time is stretched
	is '.cases[2].pairs[0] | .extra_iterations == 0 or (.extra_iterations / .iterations - 0.8 | fabs) < 0.001'
	is '[.cases[0].pairs[] | select(.usable) | .ratio > 1.5] | all'
	run "$ASSAY" show comparisons 1 triple --samples
	[[ $output == *"block"*"base ns"*"head ns"* ]]
	run "$ASSAY" show comparisons last
	[[ $output == *"comparison 4 of suite 'quick'"* ]]
	run "$ASSAY" show comparisons 2 triple
	[[ $output == *"head wrong: element 3 of 'y'"* ]]
}

@test "a comparison that another rule judged, or none with a version, is judged again with one warning" {
	command -v sqlite3 >/dev/null || skip "no sqlite3, which changes what is stored"
	compare base wrong
	rule=$(sqlite3 assay.db 'SELECT rule FROM comparison')
	[ "$rule" -ge 1 ]
	run -3 --separate-stderr "$ASSAY" judge
	[ -z "$stderr" ]
	sqlite3 assay.db 'UPDATE comparison SET rule = 1000'
	run -3 --separate-stderr "$ASSAY" judge
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"comparison 1 was measured and judged by rule 1000 (WRONG_RESULT), this is rule $rule: the verdict may differ"* ]]
	sqlite3 assay.db 'UPDATE comparison SET rule = NULL'
	run -3 --separate-stderr "$ASSAY" judge --json
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"by a rule without a version (WRONG_RESULT), this is rule $rule"* ]]
}
