#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that C files are as clang-format 14 writes them and that no line is wider than 120 columns. Other versions of
# clang-format break some lines elsewhere, so where there is no 14 only the width is checked, and that is said.
set -eu

cd "$(dirname "$0")/.."

files=$(git ls-files '*.c' '*.h' '*.cu' '*.cuh')

# shellcheck disable=SC2086
wide=$(perl -CSD -ne '
	chomp;
	1 while s/\t+/" " x (length($&) * 8 - length($`) % 8)/e;
	printf "%s:%d: %d columns, 120 at most\n", $ARGV, $., length if length > 120;
	close ARGV if eof;' $files)
if [ -n "$wide" ]; then
	echo "$wide"
	exit 1
fi

format=
for tool in clang-format-14 clang-format; do
	if command -v "$tool" >/dev/null && "$tool" --version | grep -q 'version 14\.'; then
		format=$tool
		break
	fi
done
if [ -z "$format" ]; then
	echo 'no clang-format 14: the format of C files is not checked'
	exit 0
fi
# shellcheck disable=SC2086
if ! "$format" --dry-run --Werror $files 2>/dev/null; then
	for file in $files; do
		"$format" --dry-run --Werror "$file" 2>/dev/null || echo "$file: not as clang-format writes it: make format"
	done
	exit 1
fi
