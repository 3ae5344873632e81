#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A case of N threads uses N: processor time that others of its process take fails it, by their names.
load helpers

CHEATS=$ASSAY_BUILD/tests/plugins/cheat_threads.so

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir suites
	echo 'bench "scale" { op = "example.scale" shapes = {"n=4096"} budget = "300ms" }' >scale.bench
	echo 'suite "quick" { summary = "one op" use "*" {} }' >suites/quick.suite
	COMMON=(--no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/example_op.so" --bench-dir . --db x.db)
	: >plain.conf
}

# is FILTER: of the JSON that was printed
is() {
	jq -e "$1" <<<"$output" >/dev/null || { printf 'not so: %s\n%s\n' "$1" "$(jq -c '.cases[] | [.key, .status, .verdict, .reason]' <<<"$output")"; return 1; }
}

@test "a thread that calculates beside those of the case fails it, by name" {
	run -4 --separate-stderr "$ASSAY" run "${COMMON[@]}" --plugin "$CHEATS" --rounds 1 --budget 600ms \
		--only '*/hidden/*' --only '*/packs/*' --json
	is '.cases[] | select(.variant == "hidden") | .status == "failed" and (.reason | test("thread .blas-pool-1. \\([0-9.]+ .?s\\) and [0-9]+ others? used [0-9.]+ .?s of processor time beside the 1 thread of the case, which used .*own_threads = .yes. in its bench$"))'
	# what prepare does is no part of what is timed
	is '.cases[] | select(.variant == "packs").status == "ok"'
}

@test "a bench may allow it, and the key says so" {
	sed -i 's/budget/own_threads = "yes" &/' scale.bench
	run -0 --separate-stderr "$ASSAY" run "${COMMON[@]}" --plugin "$CHEATS" --only '*/hidden/*' --json
	is '.cases | length == 1 and .[0].status == "ok" and .[0].key == "example.scale/hidden/n=4096,own_threads=yes/t=1/warm"'
	run -0 --separate-stderr "$ASSAY" show last 'example.scale/hidden/n=4096,own_threads=yes/t=1/warm' --db x.db
	sed -i 's/"yes"/"perhaps"/' scale.bench
	fails 2 "own_threads is 'perhaps', expected 'yes' or 'no'" list cases "${COMMON[@]:0:5}"
}

@test "in a pair neither a thread nor a signal handler may work in the partner's turn" {
	run -4 --separate-stderr "$ASSAY" compare "${CHEATS%threads.so}base.so" "$CHEATS" --policy plain.conf "${COMMON[@]}" \
		--budget 2s --profile no --only '*/away/*' --only '*/alarm/*' --only '*/packs/*' --json
	is '.cases[] | select(.key | contains("/away/")) | .verdict == "NOT_MEASURED" and (.reason | test("thread .flusher. \\([0-9.]+ .?s\\) and [0-9]+ others? used .* of processor time beside the 1 thread"))'
	# on a machine so busy that the handler hardly runs there are too few pairs to say anything
	is '.cases[] | select(.key | contains("/alarm/")) | .verdict == "INCONCLUSIVE" or (.verdict == "NOT_MEASURED" and (.reason | test("a signal handler used .* while the other side of the pair was timed")))'
	is '.cases[] | select(.key | contains("/packs/")) | .verdict != "NOT_MEASURED"'
}
