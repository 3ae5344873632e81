#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# history: the stored runs of a case, and what bad input gets.
load helpers

@test "history takes one case, a date and numbers in their range" {
	fails 2 "no case given: assay history CASE" history
	fails 2 "unexpected argument 'y': history takes one case" history x y
	fails 2 "--csv and --json exclude each other" history x --csv --json
	for bad in yesterday 2026-13-01 2026-02-30 2026-1-1 2026-01-31T25:00 2026-01-31T12 '2026-01-31 '; do
		fails 2 "bad --since '$bad': expected a date, such as 2026-01-31" history x --since "$bad"
	done
	fails 2 "--alpha" history x --alpha 2
	fails 2 "--smallest" history x --smallest -1%
}

@test "history shows the runs of a case" {
	fails 2 "assay.db" history x
	measure >/dev/null
	export KEEP_DB=1
	run --separate-stderr "$ASSAY" history dequantize --since 2026-01-31 --json
	[ "$status" = 0 ]
	jq -e '.schema == 1 and (.case | startswith("dequantize")) and (.points | length) == 1 and .changes == []
		and (.points[0] | .run == 1 and has("commit") and (.started | endswith("Z")) and .median_ns > 0
			and (.ci95_ns == null or (.ci95_ns | length) == 2))' <<<"$output"
	run --separate-stderr "$ASSAY" history dequantize --csv
	[ "$status" = 0 ] && [ "${#lines[@]}" = 2 ] && [[ ${lines[1]} == 1,*,,,, ]]
	run --separate-stderr "$ASSAY" history dequantize
	[ "$status" = 0 ] && [[ $output == *"1 run: at least 10 are needed to find change points"* ]]
	fails 2 "no stored case matches 'zzz'" history zzz
	fails 2 "did you mean 'quantize.q8_0/ref/n=4096/t=all/warm'?" history quantize.q8_0/rfe/n=4096/t=all/warm
	fails 2 "3 stored cases match 'q8_0'" history q8_0
	fails 2 "since 2400-01-01T00:00Z has a time" history dequantize --since 2400-01-01
	fails 2 "no machine 'abacus' has stored runs" history dequantize --machine abacus
}

@test "the key of a case that only failed is no part of another's key" {
	printf '{"results": [%s, %s]}' '{"command": "sort", "times": [1, 1.1], "exit_codes": [1, 1]}' \
		'{"command": "resort", "times": [1, 1.1], "exit_codes": [0, 0]}' >runs.json
	"$ASSAY" import hyperfine runs.json >/dev/null
	export KEEP_DB=1
	fails 2 "'sort/hyperfine/-' has no time in its 1 run on this machine; in the last it was failed" history sort/hyperfine/-
	run -0 "$ASSAY" history ort/hyperfine # a part of both, and one has a time
	[[ $output == resort/hyperfine/-* ]]
}

# confirmable: h.db has the runs of two commits of repo, of which the second takes ten times as long; made once.
confirmable() {
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null KEEP_DB=1
	PLUGINS=$ASSAY_BUILD/tests/plugins
	SELECT="--no-default-plugins --plugin $PLUGINS/compare_op.so --bench-dir $ASSAY_SOURCE/tests/fixtures/compare --db $PWD/h.db"
	if [ -e "$BATS_FILE_TMPDIR/h.db" ]; then
		cp -a "$BATS_FILE_TMPDIR/repo" "$BATS_FILE_TMPDIR/h.db" .
		cd repo
		return
	fi
	mkdir repo
	cd repo
	# shellcheck disable=SC2016
	printf 'build = "mkdir -p out && cp %s/compare_$(cat which).so out/side.so"\nplugins = "out"\n' "$PLUGINS" >assay.conf
	git init -q -b main
	for which in base tenfold; do
		echo $which >which
		git add .
		git -c user.name=a -c user.email=a@b commit -qm $which
		for ((i = 0; i < 8; i++)); do
			# shellcheck disable=SC2086
			"$ASSAY" run $SELECT --plugin "$PLUGINS/compare_$which.so" --revision "$(git rev-parse HEAD)" --budget 5ms >/dev/null
		done
	done
	cp -a ../repo ../h.db "$BATS_FILE_TMPDIR"
}

of() {
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" history lenient.triple/work --smallest 200% $SELECT "$@"
	[ "$status" = 0 ]
}

@test "--confirm says why it cannot ask" {
	confirmable
	fails 2 "are for the comparisons of --confirm" history x --budget 1s
	of --json
	jq -e '.changes | length == 1 and .[0].confirmed == null and .[0].reason == null' <<<"$output"
	cd ..
	GIT_CEILING_DIRECTORIES=$PWD of --confirm
	[[ $output == *"could not be confirmed: there is no git repository here"* ]]
}

@test "--confirm asks compare, and keeps the answer" {
	confirmable
	of --confirm --budget 5m --json
	jq -e --arg from "$(git rev-parse HEAD~1)" --arg to "$(git rev-parse HEAD)" '.changes[0] | .from_commit == $from and .to_commit == $to
		and (.reason | startswith("compared, ")) and .confirmed == (.reason | startswith("compared, REGRESSED: ")) and .comparison == 1' \
		<<<"$output" || { echo "$output"; false; }
	jq -e '.changes[0] | .confirmed or (.reason | contains("host too noisy"))' <<<"$output" || { echo "$output"; false; }
	jq -e '.changes[0].confirmed' <<<"$output" || skip "the machine is too noisy to compare anything"
	# what is known costs nothing, also without git
	cd ..
	of --confirm --json
	jq -e '.changes[0] | .confirmed == true and .comparison == 1' <<<"$output"
	of
	[[ $output == *"  confirmed: compared, REGRESSED: "* ]]
}

@test "steps beyond doubt are reported at the default alpha, and how long a level must be to be seen" {
	series=$BATS_TEST_TMPDIR/series.json
	# runs:milliseconds ..., with noise of 0.3 %
	for spec in "40:100 25:115 40:100" "20:100 50:88" "20:100 50:88 25:106" "30:100"; do
		tr ' ' '\n' <<<"$spec" | awk -F: '{ if (!s) s = 7; for (i = 0; i < $1; i++) {
			u = 0; for (q = 0; q < 12; q++) { s = (s * 16807) % 2147483647; u += s / 2147483647 }
			v = $2 * 1e6 * (1 + (u - 6) * 0.003)
			printf "{\"build_commit\":\"c%03d\",\"n_prompt\":1,\"n_gen\":0,\"test_time\":\"2024-%02d-%02dT00:00:00Z\",\"samples_ns\":[%d,%d]}\n",
				d, 1 + int(d / 28), 1 + d % 28, v, v * 1.0001; d++ } }' >"$series"
		rm -f s.db
		"$ASSAY" import llama-bench "$series" --machine m --db s.db >/dev/null
		run -0 "$ASSAY" history pp --db s.db --json
		jq -e --arg spec "$spec" '(.changes | map(.runs_before)) == ($spec | split(" ") | map(split(":")[0] | tonumber))[:-1]
			and all(.changes[]; .p < 0.001) and .least_level_runs >= 5' <<<"$output"
	done
	run -0 "$ASSAY" history pp --db s.db
	[[ $output == *"no change points found"*"a level shorter than "*" runs is not reported: it could be noise"* ]]
}
