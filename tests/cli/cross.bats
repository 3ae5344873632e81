#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels of an architecture that is not this machine's, under emulation.
load helpers

# emulate FILE TEST...: runs the unit tests of this file of tests/unit/kernels as `make cross-tests` built it, among which are these.
emulate() {
	local test
	[ "$(uname -m)" != aarch64 ] || skip "this is one: the unit tests have run them"
	command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
	[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || skip "no C library for aarch64"
	command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
	run qemu-aarch64 -L /usr/aarch64-linux-gnu "$ASSAY_BUILD/aarch64/tests/test_kernels" "$1"
	echo "$output"
	[ "$status" = 0 ]
	for test in "${@:2}"; do
		grep -qE "^ok [0-9]+ - test_$test\$" <<<"$output"
	done
}

@test "ternary kernels on aarch64" {
	emulate ternary_variants neon_dotprod_is_ref neon_dotprod_extremes neon_dotprod_unaligned
}

@test "kernels of blocks, and heads, on aarch64" {
	emulate block_rows blocks_variants blocks_inputs heads
}

@test "quantize formats on aarch64" {
	emulate quantize known_blocks known_floats sum_order tiny_ternary_blocks not_finite_input not_finite_scale
	emulate quantize_halves all_halves_decode halves_round_to_even
	emulate quantize_wrong wrong_elements_are_told_by_block_and_field wrong_values_are_told_by_block_and_code
}

@test "quantize kernels on aarch64" {
	emulate quantize_agree variants_agree token_tails
}
