# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Files of every kind that the program reads, changed at random, through their parsers under sanitizers: the fuzz targets in
# turn, a few seconds each.

targets=(tests/fuzz/fuzz_*.c)

try_once() {
	local name=${targets[seed % ${#targets[@]}]##*/fuzz_}

	name=${name%.c}
	what="fuzz target $name"
	start "$source/tests/fuzz/fuzz.sh" "$programs" "$name" -max_total_time=3 -seed="$seed"
	finish
	[ "$status" = 0 ] || failed "$(grep -m 1 '^kept: ' "$try/err")"
}
