#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels of others: what deviates on NaN and the like is measured and marked, and what is wrong only where that is asked for.
load helpers

PLUGIN=$ASSAY_BUILD/tests/plugins/edge_variants.so

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --plugin "$PLUGIN" --only '*quantize.q8_0/[pef]*' --evidence stored --even-if-wrong --json \
		--db "$BATS_FILE_TMPDIR/edges.db" >run.json || [ $? = 3 ]
}

of() {
	jq -c ".cases[] | select(.variant == \"$1\") | $2" "$BATS_FILE_TMPDIR/run.json"
}

@test "a kernel that is right on ordinary values is measured, and says where it deviates" {
	[ "$(of plain '[.status, .correct, .deviates, .digest]')" = '["ok",true,["NaN","infinity","subnormals"],null]' ]
	[ "$(of even '[.status, .correct, .deviates, .digest]')" = '["ok",true,["NaN","infinity","subnormals","ties"],null]' ]
	[ "$(of even '.median_ns > 0 and (.deviation | startswith("element "))')" = true ]
	"$ASSAY" show last --db "$BATS_FILE_TMPDIR/edges.db" >all.txt
	grep -qE '^  plain .* deviates on NaN, infinity, subnormals([ ,]|$)' all.txt
	"$ASSAY" show last quantize.q8_0/even/n=1048576/t=1/warm --db "$BATS_FILE_TMPDIR/edges.db" >case.txt
	grep -qE '^deviates  on NaN, infinity, subnormals, ties; first element [0-9]+ of ' case.txt
	"$ASSAY" report last -o page.html --db "$BATS_FILE_TMPDIR/edges.db"
	grep -q '"deviates": \?\["NaN"' page.html
	run -0 "$ASSAY" verify --plugin "$PLUGIN" --only quantize.q8_0/plain --only quantize.q8_0/ref
	[[ $output == *"deviates on NaN"* && $output == *"1 case deviates on NaN, infinity, subnormals, and only there"* ]]
}

@test "a wrong kernel is measured where that is asked for, and stays wrong" {
	[ "$(of far_off '[.status, .correct, .deviates]')" = '["wrong",false,[]]' ]
	"$ASSAY" report last -o page.html --db "$BATS_FILE_TMPDIR/edges.db"
	grep -qE -- ' --seed [0-9]+ --even-if-wrong"' page.html
	[ "$(of far_off '.median_ns > 0 and (.reason | startswith("element 5 of '"'q'"'"))')" = true ]
	"$ASSAY" show last --db "$BATS_FILE_TMPDIR/edges.db" >all.txt
	grep -qE '^  far_off .* [0-9.]+ [mµ]s .* wrong' all.txt
	# without being asked for it, there is no time
	run ! "$ASSAY" run --plugin "$PLUGIN" --only quantize.q8_0/far_off --evidence stored --budget 10ms --json --db other.db
	[ "$(jq -c '.cases[0] | [.status, .median_ns]' <<<"$output")" = '["wrong",null]' ]
	# as text, too, where no suite is named
	: >none.conf
	run "$ASSAY" gate --manifest none.conf --policy none.conf
	echo "$output"
	[ "$status" = 3 ] && [[ $output == *"next: 'assay verify "*"--only"*"checks it alone"* ]]
	# judged, it is wrong, and nothing else is said of it
	echo 'required quantize.q8_0/far_off/n=1048576/t=1/warm' >far_off.manifest
	: >policy.conf
	run -3 "$ASSAY" gate --run last --manifest far_off.manifest --policy policy.conf --db "$BATS_FILE_TMPDIR/edges.db" --json
	[ "$(jq -c '[.cases[] | select(.key | contains("far_off")) | [.metric, .verdict]]' <<<"$output")" = '[["status","WRONG_RESULT"]]' ]
}

@test "a wrong kernel is profiled where that is asked for" {
	run -3 "$ASSAY" profile heap quantize.q8_0/far_off --plugin "$PLUGIN"
	[[ $output == *"wrong: element 5"*"--even-if-wrong profiles it all the same" ]]
	run -0 --separate-stderr "$ASSAY" profile heap quantize.q8_0/far_off --plugin "$PLUGIN" --even-if-wrong
	[[ $output == "heap profile of quantize.q8_0/far_off/"* && $stderr == *"the output of"*"is wrong: element 5"* ]]
}

@test "a policy refuses deviations where it says require_edges, in a gate, in verify and in a comparison" {
	local key=quantize.q8_0/plain/n=1048576/t=1/warm

	echo "required $key" >one.manifest
	: >lax.conf
	echo 'require_edges = {"quantize.*"}' >strict.conf
	run "$ASSAY" gate --run last --manifest one.manifest --policy lax.conf --db "$BATS_FILE_TMPDIR/edges.db" --json
	# nothing of it was judged, for want of a baseline, so nothing passes
	[ "$(jq -c "[.cases[] | select(.key == \"$key\") | [.metric, .verdict]]" <<<"$output")" = '[["time_s","INCOMPARABLE"]]' ]
	run "$ASSAY" gate --run last --manifest one.manifest --policy lax.conf --db "$BATS_FILE_TMPDIR/edges.db"
	[[ $output == *"2 cases deviate on NaN, infinity, subnormals, ties, and only there; -v shows which"* ]]
	run -3 "$ASSAY" gate --run last --manifest one.manifest --policy strict.conf --db "$BATS_FILE_TMPDIR/edges.db" --json
	[ "$(jq -r ".cases[] | select(.key == \"$key\" and .metric == \"edges\") | .verdict" <<<"$output")" = WRONG_RESULT ]
	jq -r '.cases[].reason' <<<"$output" | grep -q 'deviates on NaN, infinity, subnormals, which the policy refuses (require_edges): element '

	compare() {
		"$ASSAY" compare --variants quantize.q8_0/ref quantize.q8_0/even --plugin "$PLUGIN" --budget 300ms --profile no --policy "$1" --json
	}
	run compare lax.conf
	[ "$(jq -r '[.cases[] | select(.verdict == "WRONG_RESULT")] | length' <<<"$output")" = 0 ]
	jq -r '.cases[0].reason' <<<"$output" | grep -q 'head deviates on NaN, infinity, subnormals, ties'
	run -3 compare strict.conf
	[ "$(jq -r '.cases[] | select(.metric == "edges") | .verdict' <<<"$output")" = WRONG_RESULT ]

	mkdir -p own/baselines own/bench
	cp strict.conf own/baselines/policy.conf
	printf 'build = "true"\nplugins = "."\nbench = "%s"\nbaselines = "baselines"\n' bench >own/assay.conf
	cp -r "$ASSAY_SOURCE"/bench/*.bench "$ASSAY_SOURCE/bench/suites" "$ASSAY_SOURCE/bench/groups" own/bench
	cd own
	run -3 "$ASSAY" verify --plugin "$PLUGIN" --only quantize.q8_0/plain
	[[ $output == *"wrong: deviates on NaN"*"which the policy refuses"* ]]
}
