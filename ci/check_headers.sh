#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each header compiles alone, as C and, for the public ones, as C++: check_headers.sh CC FLAGS...
set -u

failed=0
cc=$1
shift
for h in $(find harness reports -name '*.h' | LC_ALL=C sort); do
	if ! "$cc" "$@" -fsyntax-only -x c "$h"; then
		echo "$h does not compile alone"
		failed=1
	fi
done
if command -v g++ >/dev/null 2>&1; then
	for h in $(find harness/include -name '*.h' | LC_ALL=C sort); do
		if ! g++ -std=c++17 -Wall -Wextra -Iharness/include -fsyntax-only -x c++ "$h"; then
			echo "$h does not compile alone as C++"
			failed=1
		fi
	done
fi
exit "$failed"
