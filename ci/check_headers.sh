#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each header compiles alone, as C and, for the public ones, as C++: check_headers.sh CC FLAGS...
set -u

failed=0

# alone AS FOLDERS COMPILER FLAGS...: each header of these compiles alone, as many at a time as there are processors.
alone() {
	as=$1 folders=$2
	shift 2
	# shellcheck disable=SC2016,SC2086
	find $folders -name '*.h' | LC_ALL=C sort | xargs -P "$(nproc 2>/dev/null || echo 2)" -I HEADER \
		sh -c 'h=$1 as=$2; shift 2; "$@" "$h" || { echo "$h does not compile alone$as"; exit 1; }' sh HEADER "$as" "$@" || failed=1
}

alone '' 'harness reports' "$@" -fsyntax-only -x c
if command -v g++ >/dev/null 2>&1; then
	alone ' as C++' harness/include g++ -std=c++17 -Wall -Wextra -Iharness/include -fsyntax-only -x c++
fi
exit "$failed"
