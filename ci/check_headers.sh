#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each header compiles alone, as C and, for the public ones, as C++: check_headers.sh CC FLAGS...
# What a source file includes before anything else compiles alone if that file does, so that only other headers are compiled as C.
set -u

failed=0

# Headers that a source file includes first, as they are named from here. A name is of this folder or of harness/.
included_first() {
	find harness reports -name '*.c' -exec awk '/^#include/ { print $2; nextfile }' {} + | tr -d '"' | sort -u |
		while read -r name; do
			[ ! -e "harness/$name" ] || echo "harness/$name"
			[ ! -e "$name" ] || echo "$name"
		done
}

# alone AS COMPILER FLAGS...: each header on standard input compiles alone, as many at a time as there are processors.
alone() {
	as=$1
	shift
	# shellcheck disable=SC2016
	LC_ALL=C sort | xargs -P "$(nproc 2>/dev/null || echo 2)" -I HEADER \
		sh -c 'h=$1 as=$2; shift 2; "$@" "$h" || { echo "$h does not compile alone$as"; exit 1; }' sh HEADER "$as" "$@"
}

first=$(included_first)
find harness reports -name '*.h' | grep -vxF "$first" | alone '' "$@" -fsyntax-only -x c || failed=1
if command -v g++ >/dev/null 2>&1; then
	find harness/include -name '*.h' | alone ' as C++' g++ -std=c++17 -Wall -Wextra -Iharness/include -fsyntax-only -x c++ || failed=1
fi
exit "$failed"
