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
