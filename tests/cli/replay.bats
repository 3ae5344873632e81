#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compare --replay and show of comparisons: what is stored says the same as what was measured.
load compare_helpers

# The four comparisons that most tests read, measured once.
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

@test "a replay repeats the verdict from the stored samples alone, byte by byte, also from a copy elsewhere" {
	comparisons
	mkdir elsewhere
	cp assay.db elsewhere/copy.db
	# neither policy, plugins nor benches are needed
	rm wide.conf
	"$ASSAY" compare --replay c1 --json >judged.json || [ $? = 1 ]
	jq -e '.exit == 1 and .comparison == 1' judged.json
	cmp "$BATS_FILE_TMPDIR/measured.json" judged.json
	cd elsewhere
	"$ASSAY" compare --replay c1 --db copy.db --json >copied.json || [ $? = 1 ]
	cmp ../judged.json copied.json
}

@test "a replay ends with the status of the comparison, and writes the same summaries" {
	comparisons
	run "$ASSAY" compare --replay c2
	[ "$status" = 3 ]
	run "$ASSAY" compare --replay c3 --markdown report.md --junit junit.xml --json-file report.json
	[ "$status" = 4 ]
	grep -q NOT_MEASURED report.md
	grep -q 'extra/n=1024/t=1/warm' junit.xml
	jq -e '.exit == 4 and .comparison == 3' report.json
	# the newest
	run --separate-stderr "$ASSAY" compare --replay last --json
	is '.comparison == 4'
}

@test "a replay with --strict turns INCONCLUSIVE into exit 6" {
	printf 'alpha = "0.0001%%"\npass_alpha = "0.0001%%"\nmargin "*" { paired = "0.0001%%" }\n' >hopeless.conf
	compare base two --only '*/work/*' --policy hopeless.conf --budget 100ms
	run "$ASSAY" compare --replay last
	[ "$status" = 0 ]
	run "$ASSAY" compare --replay last --strict
	[ "$status" = 6 ]
}

@test "comparisons that are not there, and bad arguments, are exit 2" {
	fails 2 "assay.db" compare --replay last
	fails 2 "--replay is '0'" compare --replay 0
	fails 2 "unexpected argument 'main': --replay judges what is stored" compare --replay c3 main
	comparisons
	KEEP_DB=1
	fails 2 "no comparison 99 in 'assay.db'" compare --replay c99
	fails 2 "no comparison 99 in 'assay.db'" show c99
	fails 2 "what to show is 'x', expected r3 (a run), c3 (a comparison), p3 (a profile), a label or 'last'" show x
	fails 2 "unexpected argument '1': one comparison is shown by 'assay show c3'" show comparisons 1
	fails 2 "no case of comparison 4 matches 'zzz'" show last zzz
	fails 2 "unexpected argument 'more'" show c1 '*' more
}

@test "show comparisons lists them, newest first" {
	run "$ASSAY" show comparisons
	[ "$status" = 2 ]
	comparisons
	run "$ASSAY" show comparisons
	[ "$status" = 0 ]
	[ "${#lines[@]}" -ge 5 ]
	[[ ${lines[1]} =~ " c4 ".*quick.*(PASS|INCONCLUSIVE) ]] # a busy host decides nothing
	[[ $output == *" c2 "*quick*WRONG_RESULT*compare_wrong.so* ]]
	run --separate-stderr "$ASSAY" show comparisons --json
	is '.schema == 1 and (.comparisons | map(.id)) == [4, 3, 2, 1] and (.comparisons | map(.exit)) == [0, 4, 3, 1]'
	is '.comparisons[0] | .cases == 2 and .controls == 2 and .pairs >= 1 and .suite == "quick" and .ended != null'
}

@test "show comparisons shows one of them, and the pairs of a case" {
	comparisons
	run "$ASSAY" show c1
	[ "$status" = 0 ]
	[[ $output == *"comparison 1 of suite 'quick'"*compare_double.so*"verdict  REGRESSED"*"head with 80 % more work"* ]]
	run "$ASSAY" show c1 triple
	[[ $output == *"pair"*"change"*"blocks"*"dropped"* ]]
	run --separate-stderr "$ASSAY" show c1 triple --samples --json
	is '.comparison.id == 1 and .comparison.family == 1 and (.cases | map(.control)) == ["none", "aa", "slower"]'
	# blocks of two samples of either side, each of the iterations that the pair names
	is '[.cases[].pairs[] | (.base.samples | length) == 2 * .blocks and (.head.samples | length) == 2 * .blocks] | all'
	is '[.cases[0].pairs[] | .iterations as $n | .base.samples[] | .iterations == $n] | all'
	is '.cases[0].pairs[0].extra_iterations == 0'
	# where calls are so long that whole ones cannot be added, time is stretched
	is '.cases[2].pairs[0] | .extra_iterations == 0 or (.extra_iterations / .iterations - 0.8 | fabs) < 0.001'
	is '[.cases[0].pairs[] | select(.usable) | .ratio > 1.5] | all'
	run "$ASSAY" show c1 triple --samples
	[[ $output == *"block"*"base ns"*"head ns"* ]]
	run "$ASSAY" show last
	[[ $output == *"comparison 4 of suite 'quick'"* ]]
	run "$ASSAY" show c2 triple
	[[ $output == *"head wrong: element 3 of 'y'"* ]]
}

@test "a comparison that another rule judged, or none with a version, is judged again with one warning" {
	command -v sqlite3 >/dev/null || skip "no sqlite3, which changes what is stored"
	compare base wrong
	rule=$(sqlite3 assay.db 'SELECT rule FROM comparison')
	[ "$rule" -ge 1 ]
	run -3 --separate-stderr "$ASSAY" compare --replay last
	[ -z "$stderr" ]
	sqlite3 assay.db 'UPDATE comparison SET rule = 1000'
	run -3 --separate-stderr "$ASSAY" compare --replay last
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"comparison 1 was measured and judged by rule 1000 (WRONG_RESULT), this is rule $rule: the verdict may differ"* ]]
	sqlite3 assay.db 'UPDATE comparison SET rule = NULL'
	run -3 --separate-stderr "$ASSAY" compare --replay last --json
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"by a rule without a version (WRONG_RESULT), this is rule $rule"* ]]
}
