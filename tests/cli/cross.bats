#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels of an architecture that is not this machine's, under emulation.
load helpers

@test "ternary kernels on aarch64" {
	[ "$(uname -m)" != aarch64 ] || skip "this is one: the unit tests have run them"
	command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
	command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
	run qemu-aarch64 -L /usr/aarch64-linux-gnu "$ASSAY_BUILD/aarch64/tests/test_ternary_variants"
	[ "$status" = 0 ]
	for test in is_ref extremes unaligned; do
		grep -qE "^ok [0-9]+ - test_neon_dotprod_$test\$" <<<"$output"
	done
}
