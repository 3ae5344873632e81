#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels of an architecture that is not this machine's, under emulation.
load helpers

# emulate FILE: runs the unit tests of this file of tests/unit/kernels as `make cross-tests` built it.
emulate() {
	[ "$(uname -m)" != aarch64 ] || skip "this is one: the unit tests have run them"
	command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
	[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || skip "no C library for aarch64"
	command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
	run qemu-aarch64 -L /usr/aarch64-linux-gnu "$ASSAY_BUILD/aarch64/tests/test_kernels" "$1"
	echo "$output"
	[ "$status" = 0 ]
}

@test "ternary kernels on aarch64" {
	emulate ternary_variants
	for test in is_ref extremes unaligned; do
		grep -qE "^ok [0-9]+ - test_neon_dotprod_$test\$" <<<"$output"
	done
}

@test "quantize formats on aarch64" {
	emulate quantize
	for test in known_blocks known_floats sum_order tiny_ternary_blocks not_finite_input not_finite_scale; do
		grep -qE "^ok [0-9]+ - test_$test\$" <<<"$output"
	done
	emulate quantize_halves
	for test in all_halves_decode halves_round_to_even; do
		grep -qE "^ok [0-9]+ - test_$test\$" <<<"$output"
	done
	emulate quantize_wrong
	for test in wrong_elements_are_told_by_block_and_field wrong_values_are_told_by_block_and_code; do
		grep -qE "^ok [0-9]+ - test_$test\$" <<<"$output"
	done
}

@test "quantize kernels on aarch64" {
	emulate quantize_agree
	for test in variants_agree token_tails; do
		grep -qE "^ok [0-9]+ - test_$test\$" <<<"$output"
	done
}
