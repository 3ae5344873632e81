#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every fuzz target takes its seeds, and some copies of them that are changed at random.
load helpers

@test "no fuzz target fails on its seeds or on copies of them" {
	local target name
	for target in "$ASSAY_SOURCE"/tests/fuzz/fuzz_*.c; do
		name=${target##*/fuzz_}
		"$ASSAY_SOURCE/tests/fuzz/fuzz.sh" "$ASSAY_BUILD" "${name%.c}" -runs=200 -seed=1
	done
}

@test "a fuzz target that fails says so, and its input is kept" {
	local build=$BATS_TEST_TMPDIR/build
	mkdir -p "$build/tests/fuzz" "$build/tests/code_hash"
	printf '#!/bin/sh\necho broken >crash-1\nexit 3\n' >"$build/tests/fuzz/fuzz_policy"
	chmod +x "$build/tests/fuzz/fuzz_policy"
	run "$ASSAY_SOURCE/tests/fuzz/fuzz.sh" "$build" policy
	[ "$status" = 3 ]
	[ "$(cat "$build/fuzz-failures/policy-crash-1")" = broken ]
}
