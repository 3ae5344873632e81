#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Plugins that attack the harness cost their own cases and no others, in run and in compare.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir suites
	echo 'bench "hostile" { op = "example.scale" shapes = {"n=4096"} budget = "50ms" timeout = "60s" }' >hostile.bench
	echo 'suite "quick" { use "hostile" { } }' >suites/quick.suite
	: >plain.conf
	COMMON=(--no-default-plugins -p "$PLUGINS/example_op.so" --bench-dir . --threads 1)
}

# says VARIANT STATUS TEXT: in the JSON of the run that was printed
says() {
	jq -e --arg v "$1" --arg s "$2" --arg t "$3" \
		'.cases[] | select(.variant == $v) | .status == $s and ((.reason // "") | contains($t))' <<<"$output" >/dev/null ||
		{ printf 'not so: %s\n%s\n%s\n' "$*" "$output" "$stderr"; return 1; }
}

@test "a worker's answer that makes no sense fails its case, and no other" {
	run -4 --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_page.so" --only '*/ref/*' \
		--only '*/resize/*' --only '*/status/*' --only '*/n_*/*' --only '*/samples/*' --only '*/forged/*' --json
	says ref ok ''
	says resize failed 'cannot shrink the page'
	says status failed "worker's reply makes no sense: status 77"
	says n_counts failed "worker's reply makes no sense: n_counts 4294967295 of at most 192"
	says n_samples failed "worker's reply makes no sense: n_samples 1073741824 of at most 4096"
	says samples failed "worker's reply makes no sense: samples[0].ns 18446744073709551615 is longer than the worker ran"
	says forged failed "worker's reply makes no sense: it does not answer the command"
}

@test "nor does it end a comparison" {
	run -4 --separate-stderr "$ASSAY" compare "$PLUGINS/hostile_base.so" "$PLUGINS/hostile_page.so" --policy plain.conf \
		"${COMMON[@]}" --budget 2s --only '*/status/*' --only '*/n_counts/*' --only '*/samples/*' --only '*/forged/*' --json
	jq -e '[.cases[] | select(.verdict == "NOT_MEASURED" and (.reason | contains("makes no sense")))] | length >= 4' \
		<<<"$output"
}

@test "a changed rounding mode fails the case, a changed limit is told with it" {
	run -4 --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_state.so" --only '*/flush_prepare/*' \
		--only '*/limit_run/*' --json
	says flush_prepare failed 'prepare changed '
	says limit_run ok ''
	jq -e '.cases[] | select(.variant == "limit_run") | .unavailable.worker_state.reason
		| startswith("a call changed RLIMIT_NOFILE: 100, was ")' <<<"$output"
}

@test "a variant that signals its parent cannot interrupt the run" {
	run --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_signal.so" --json
	[ "$status" = 0 ] || [ "$status" = 4 ]
	[ "$(jq '.cases | length' <<<"$output")" = 3 ]
	says ref ok ''
	# where the kernel does not keep the signal back, it is ignored and named
	if [ "$status" = 0 ]; then
		[[ $stderr == *"ignored a signal that process "*" sent, which runs a plugin"* ]]
	else
		says interrupt failed 'cannot signal its parent'
		says interrupt_child failed 'cannot signal its parent'
	fi
}

# In the simulator nothing keeps the signal back.
@test "a signal of a worker or of its child is ignored and named" {
	needs_counts
	for variant in interrupt interrupt_child; do
		run -0 --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_signal.so" --evidence exact \
			--only "*/$variant/*" --json
		[[ $stderr == *"ignored a signal that process "*" sent, which runs a plugin"* ]]
	done
}
