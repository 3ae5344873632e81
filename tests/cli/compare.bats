#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compare: verdicts and exit codes of builds of which the outcome is known.
load compare_helpers

@test "a build compared with itself is the same code, and never REGRESSED" {
	compare base base --json
	[ "$status" = 0 ]
	is '.exit == 0 and (.verdict == "PASS" or .verdict == "INCONCLUSIVE")'
	is '.cases | length == 1'
	is '.cases[0] | .evidence == "paired" and (.verdict != "PASS" or (.reason | startswith("same machine code")))'
}

@test "twice the work is REGRESSED, exit 1, with how much; the JSON has every field that is promised; summaries say the same" {
	compare base double --markdown report.md --junit junit.xml --json-file report.json
	[ "$status" = 1 ] || { echo "$output"; false; }
	[[ ${lines[0]} == "machine: "* ]]
	# what these builds take is not known yet
	[[ ${lines[1]} == "time: 1 case and 2 self-checks: at most 6 min 40 s" ]]
	# beside other programs a control may stay undecided, which is added
	[[ ${lines[2]} == "REGRESSED: "*compare_double.so*" against "*compare_base.so* ]] || { echo "$output"; false; }
	# the second is what disturbed samples show
	[[ $output == *" % slower, shown to be more than 20 %"* || $output == *"at least "*" % slower, whatever disturbed "* ]]
	[[ $output == *"self-checks: $((2 - $(jq .controls.undecided report.json))) of 2 passed"* ]]
	[[ ${lines[-2]} == "stored as c1 in assay.db; 'assay compare --replay c1' judges it again" ]]
	[[ ${lines[-1]} == "why: 'assay compare $PLUGINS/compare_base.so $PLUGINS/compare_double.so --plugin "*" --policy wide.conf --only "*" --evidence exact' says"* ]]
	# as it stands
	if counts_exactly; then
		why=${lines[-1]#"why: 'assay "}
		eval "run --separate-stderr \"\$ASSAY\" ${why%"' says"*}"
		[ "$status" = 1 ]
		[[ $output == *"run: instructions +100"* ]]
	fi
	grep -q '^Machine: ' report.md
	grep -q '<property name="fitness"' junit.xml
	grep -q REGRESSED report.md
	if command -v xmllint; then
		xmllint --noout --schema "$ASSAY_SOURCE/tests/fixtures/junit/junit.xsd" junit.xml
	fi
	grep -q '<failure' junit.xml
	output=$(cat report.json)
	is '.schema == 1 and .exit == 1 and .verdict == "REGRESSED" and .alpha == 0.01'
	is '.headline | startswith("REGRESSED: ")'
	is '.undecided == 0 and .suspects == 0 and (.controls.items | length == 2) and (.fitness | length > 0)'
	is '(.base | endswith("compare_base.so")) and (.head | endswith("compare_double.so"))'
	is '[.cases[] | has("key") and has("metric") and has("evidence") and has("verdict") and has("reason") and has("ratio")
		and has("ci") and has("margin") and has("pairs") and has("dropped_frac") and has("smallest_detectable")] | all'
	is '.cases[0] | .key == "lenient.triple/work/n=1024/t=1/warm" and .metric == "time_s" and .margin == 0.2 and .pairs >= 5'
	is '.cases[0] | .ratio > 1.2 and .ci[0] > 1.2 and .ci[0] <= .ratio and .ratio <= .ci[1]'
	is '.controls.items | map(.kind) == ["aa", "slower"]'
	is '.controls.items[1].injected == 0.8'
}

@test "half of the work is IMPROVED, exit 0" {
	compare double base --json
	[ "$status" = 0 ]
	is '.verdict == "IMPROVED" and .cases[0].ratio < 0.8 and .cases[0].ci[1] < 1'
}

@test "a head that is wrong is WRONG_RESULT, exit 3, however fast it is" {
	compare base wrong --json
	[ "$status" = 3 ]
	is '.exit == 3 and .verdict == "WRONG_RESULT"'
	is '.cases[0].reason | test("element 3 of .y.: got [0-9]+, want [0-9]+")'
	# a base that is wrong, too, does not hide it, whichever is asked first
	for seed in 1 2 3 4; do
		compare wrong wrong --seed "$seed" --json
		[ "$status" = 3 ]
		is '.cases[0] | .verdict == "WRONG_RESULT" and (.reason | startswith("head: "))'
	done
}

@test "outputs that differ are WRONG_RESULT, exit 3, with where, although both sides pass their oracle" {
	compare base bits --json
	[ "$status" = 3 ]
	is '.verdict == "WRONG_RESULT" and (.cases[0].reason | contains("differ"))'
	# the first of the two, not the second
	is '.cases[0].reason | test("byte 20|element 5")'
}

@test "a head that crashes is NOT_MEASURED, exit 4, with the signal" {
	compare base crash --json
	[ "$status" = 4 ]
	is '.verdict == "NOT_MEASURED" and (.cases[0].reason | contains("SIGSEGV"))'
}

@test "a case that the head lost or refuses is NOT_MEASURED, exit 4" {
	compare two base --json
	[ "$status" = 4 ]
	is '[.cases[] | select(.key == "lenient.triple/extra/n=1024/t=1/warm")] | length == 1 and .[0].verdict == "NOT_MEASURED"'
	is '[.cases[] | select(.key == "lenient.triple/work/n=1024/t=1/warm")][0].verdict != "NOT_MEASURED"'
	compare base refuses --json
	[ "$status" = 4 ]
	is '.cases | length == 1'
	is '.cases[0] | .verdict == "NOT_MEASURED" and (.reason | endswith("cannot do 1024 elements"))'
}

@test "a case that the base lacks or refuses is new, and that is no failure" {
	printf 'margin "*" { paired = "20%%" }\nlimit "*" { require = {"items_per_s >= 1"} }\n' >floor.conf
	compare base two --policy floor.conf --json
	[ "$status" = 0 ]
	is '[.cases[] | select(.key == "lenient.triple/extra/n=1024/t=1/warm")][0] | .verdict == "PASS" and (.reason | startswith("new"))'
	# a floor holds for it, too
	is '[.cases[] | select(.metric == "items_per_s" and .verdict == "PASS")] | length == 2'
	counts_exactly || return 0
	compare refuses base --evidence all
	[ "$status" = 0 ]
	# once, though its time and its counts are new
	[[ $output == *$'\nnew '*"1 case that the base lacks: lenient.triple/work/n=1024/t=1/warm"$'\n'* ]]
}

@test "a new case must be right and must run all the same" {
	compare refuses wrong --json
	[ "$status" = 3 ]
	is '.cases | length == 1 and (.[0].reason | contains("element 3 of"))'
	compare refuses crash --json
	[ "$status" = 4 ]
	is '.cases[0].reason | contains("SIGSEGV")'
}

@test "a base of another ABI is INCOMPARABLE, exit 5, with both versions; such a head is refused" {
	command_of compare "$PLUGINS/bad_abi_older.so" "$PLUGINS/compare_base.so" --policy wide.conf --json
	[ "$status" = 5 ]
	is '.exit == 5 and .verdict == "INCOMPARABLE" and (.cases[0].reason | contains("0.9") and contains("1.x"))'
	rm assay.db
	refused "bad_abi_older.so" "$PLUGINS/compare_base.so" "$PLUGINS/bad_abi_older.so"
	refused "bad_no_symbol.so" "$PLUGINS/bad_no_symbol.so" "$PLUGINS/compare_base.so"
}

@test "sides that are missing, too many or unknown are exit 2" {
	refused "name a BASE"
	refused "compare takes BASE and HEAD" a.so b.so c.so
	refused "'nothing.so'" nothing.so "$PLUGINS/compare_base.so"
	refused "'nothing'" "$PLUGINS/compare_base.so" nothing
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	git init -q -b main
	git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
	refused "nosuchbranch" nosuchbranch "$PLUGINS/compare_base.so"
}

@test "a revision that does not build is exit 2, after the last lines of its compiler" {
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	mkdir repo
	cd repo
	printf 'build = "cc -shared -o out.so broken.c"\nplugins = "."\n' >assay.conf
	echo 'int broken(void) { return nothing_here; }' >broken.c
	git init -q -b main
	git add .
	git -c user.name=a -c user.email=a@b commit -qm first
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" compare $SELECT main "$PLUGINS/compare_base.so"
	[ "$status" = 2 ]
	[ -z "$output" ]
	[[ $stderr == *"nothing_here"* ]]
	[[ ${stderr_lines[-1]} == "assay: "*"main"* ]]
	[ ! -e assay.db ]
	# the working tree and the index are as they were
	[ -z "$(git status --porcelain)" ]
}

@test "revisions are built and compared, and the working tree is the head where none is named" {
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	mkdir repo
	cd repo
	printf 'build = "mkdir -p out && cp %s/compare_$(cat which).so out/side.so"\nplugins = "out"\n' "$PLUGINS" >assay.conf
	echo /out/ >.gitignore
	echo base >which
	git init -q -b main
	git add .
	git -c user.name=a -c user.email=a@b commit -qm first
	echo double >which
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" compare $SELECT --policy ../wide.conf --budget 20s --profile no --db ../assay.db main --json
	[ "$status" = 1 ]
	is '.verdict == "REGRESSED" and (.base | startswith("main (")) and (.head | contains("with changes"))'
	[ "$(git status --porcelain)" = " M which" ]
	[ "$(git rev-list --all --count)" = 1 ]
}

@test "margins of 0 or over 100 %, shares and budgets that are none are exit 2" {
	local same="$PLUGINS/compare_base.so $PLUGINS/compare_base.so"

	# shellcheck disable=SC2086
	for bad in "--margin 0" "--margin 0%" "--margin 101%" "--margin -1%" "--margin x" "--alpha 0" "--alpha 2" "--budget 0" "--budget x"; do
		refused "${bad% *}" $same $bad
	done
	printf 'alpha = "1%%"\nmargin "*" { paired = "0%%" }\n' >bad.conf
	# shellcheck disable=SC2086
	refused "bad.conf:2" $same --policy bad.conf
	printf 'margin "*" { paired = "101%%" }\n' >bad.conf
	# shellcheck disable=SC2086
	refused "bad.conf:1" $same --policy bad.conf
}

@test "a policy that names a case or a metric that does not exist is exit 2, with the nearest that does" {
	local same="$PLUGINS/compare_base.so $PLUGINS/compare_base.so"

	printf '\nmargin "lenient.tripel/*" { paired = "1%%" }\n' >bad.conf
	# shellcheck disable=SC2086
	refused "bad.conf:2: 'lenient.tripel/*' selects no case of any suite, did you mean 'lenient.triple'?" $same --policy bad.conf
	printf 'limit "lenient.*" { require = {"item_per_s >= 1"} }\n' >bad.conf
	# shellcheck disable=SC2086
	refused "bad.conf:1: no case that 'lenient.*' selects has a metric 'item_per_s', did you mean 'items_per_s'?" $same --policy bad.conf
	# shellcheck disable=SC2086
	refused "none.conf" $same --policy none.conf
	# a case of another suite, and one that --only leaves out, may be named
	printf 'margin "*" { paired = "20%%" }\nmargin "matmul*" { paired = "1%%" }\nmargin "lenient.triple/extra/*" { paired = "20%%" }\n' >good.conf
	compare refuses two --policy good.conf --only '*/work/*' --json
	[ "$status" = 0 ]
	is '.cases | length == 1'
}

@test "a demand binds in a comparison as in a gate, and what it cannot measure is NOT_MEASURED" {
	local wide='margin "*" { paired = "20%" }'

	printf '%s\nlimit "*" { require = {"prepare_bytes <= 0"} }\n' "$wide" >demand.conf
	compare base keeps --policy demand.conf --json
	[ "$status" = 1 ]
	is '[.cases[] | select(.metric == "prepare_bytes")] | length == 1 and .[0].verdict == "REGRESSED" and .[0].value == 12345'
	is '[.cases[] | select(.metric == "time_s")] | length == 1'
	run --separate-stderr "$ASSAY" compare --replay last --json
	[ "$status" = 1 ]
	compare keeps base --policy demand.conf --json
	[ "$status" = 0 ] || { echo "$status" "$output"; false; }
	is '[.cases[] | select(.metric == "prepare_bytes" and .verdict == "PASS")] | length == 1'
	# the same of a run
	command_of run --plugin "$PLUGINS/compare_keeps.so" --seed 1
	# shellcheck disable=SC2086
	"$ASSAY" list $SELECT --plugin "$PLUGINS/compare_keeps.so" --manifest >keeps.manifest
	run --separate-stderr "$ASSAY" gate --manifest keeps.manifest --policy demand.conf --allow-no-baseline --json
	[ "$status" = 1 ]
	is '[.cases[] | select(.metric == "prepare_bytes")] | length == 1 and .[0].verdict == "REGRESSED" and .[0].value == 12345'
}

@test "what cannot be decided is INCONCLUSIVE: exit 0, and 6 with --strict" {
	# a margin that the pairs of the budget cannot resolve with errors so rare
	printf 'alpha = "0.0001%%"\npass_alpha = "0.0001%%"\nmargin "*" { paired = "0.0001%%" }\n' >hopeless.conf
	compare base two --only '*/work/*' --policy hopeless.conf --budget 100ms --json
	[ "$status" = 0 ]
	is '.verdict == "INCONCLUSIVE"'
	is '.cases[0] | .pairs < 2 or .smallest_detectable > 0'
	compare base two --only '*/work/*' --policy hopeless.conf --budget 100ms --strict --json
	[ "$status" = 6 ]
	is '.exit == 6'
}

@test "what is likely slower, and not shown to be, is a suspect: exit 6 with --suspects fail, and when it is judged again" {
	# errors so rare take 41 pairs, more than fit into four budgets on any machine; whatever disturbs them, they count
	local why='.exit == 6 and .verdict == "INCONCLUSIVE" and (.cases[0] | .suspect and (.reason | startswith("apparently ")))'

	refused "--suspects is 'some', expected fail or pass" "$PLUGINS/compare_base.so" "$PLUGINS/compare_base.so" --suspects some
	printf 'max_dropped = "100%%"\nmargin "*" { paired = "20%%" }\n' >all.conf
	compare base double --policy all.conf --alpha 0.0000000001% --budget 200ms --suspects fail --junit junit.xml --json
	[ "$status" = 6 ]
	is "$why"
	grep -q '<failure type="INCONCLUSIVE"' junit.xml
	run --separate-stderr "$ASSAY" compare --replay last --suspects fail --json
	[ "$status" = 6 ]
	is "$why"
	run --separate-stderr "$ASSAY" compare --replay last --suspects pass --junit junit.xml --json
	[ "$status" = 0 ]
	is '.exit == 0 and .cases[0].suspect'
	grep -q '<skipped message="INCONCLUSIVE' junit.xml
}

@test "summaries that cannot be written are told before anything is measured" {
	for option in --markdown --junit --json-file; do
		refused "cannot write $option 'no/such/folder.x'" "$PLUGINS/compare_base.so" "$PLUGINS/compare_base.so" $option no/such/folder.x
		refused "cannot write $option '.'" "$PLUGINS/compare_base.so" "$PLUGINS/compare_base.so" $option .
	done
}

@test "the time of unchanged code is taken where it is asked for, or demanded" {
	compare base base --json
	is '.cases[0] | .verdict == "PASS" and .pairs == null and .reason == "same machine code, so it was not timed"'
	compare base base --same-code --json
	is '.cases[0] | .verdict == "PASS" and .pairs >= 3 and (.reason | startswith("same machine code: any difference"))'
	printf 'margin "*" { paired = "20%%" }\nlimit "*" { require = {"time_s <= 3600"} }\n' >demand.conf
	compare base base --policy demand.conf --json
	is '[.cases[] | select(.metric == "time_s" and .evidence != "paired")] | length == 1 and .[0].verdict == "PASS"'
}

@test "a demand on what a bench counts binds on unchanged code, too" {
	local only='quantize.i2_s/ref/*'
	"$ASSAY" run --suite smoke --only "$only" --json | jq -e '.cases[0].counters.heap_allocations' || skip "the heap cannot be counted here"
	printf 'margin "*" { paired = "20%%" }\nlimit "*" { where_counted = {"heap_allocations <= 0"} }\n' >counted.conf
	run --separate-stderr "$ASSAY" compare "$ASSAY_BUILD/plugins" "$ASSAY_BUILD/plugins" --suite smoke --only "$only" \
		--policy counted.conf --budget 300ms --profile no --json
	is '[.cases[] | select(.metric == "heap_allocations") | .verdict] == ["PASS"]'
}

@test "an interrupted comparison is kept, and marked as unfinished" {
	# shellcheck disable=SC2086
	"$ASSAY" compare $SELECT --policy wide.conf --margin 0.0001% --alpha 0.0001% --budget 1h "$PLUGINS/compare_base.so" \
		"$PLUGINS/compare_keeps.so" >out.txt 2>err.txt 3>&- &
	pid=$!
	# until a pair of the case is stored, and not of a control alone
	for _ in $(seq 1200); do
		pairs=$("$ASSAY" compare --replay last --json 2>/dev/null | jq '.cases[0].pairs // 0')
		[ "${pairs:-0}" -ge 1 ] && break
		sleep 0.1
	done
	interrupt "$pid"
	[[ $(cat err.txt) == *"kept as unfinished comparison 1 of 'assay.db'"* ]]
	run --separate-stderr "$ASSAY" compare --replay last --json
	[[ $stderr == *"comparison 1 did not finish"* ]]
	is '.comparison == 1 and .seconds == null and .cases[0].pairs >= 1'
	run --separate-stderr "$ASSAY" show comparisons
	[[ $output == *unfinished* ]]
	# what keeps a case from a verdict: too few pairs, or a host that disturbed those it has
	run --separate-stderr "$ASSAY" show c1
	[[ $output == *"undecided: "* ]]
	shown=$output
	run --separate-stderr "$ASSAY" show c1 --json
	[[ $shown == *"undecided: $(jq -r '.cases[0].undecided' <<<"$output")"* ]]
}
