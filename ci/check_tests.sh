#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each file of unit tests can fail, by itself or by a check_...() of its fixture: check_tests.sh [ROOT]. Prints one line
# for each that asserts nothing.
set -eu

cd "${1:-$(dirname "$0")/..}"

if grep -LE 'assert_|fail_msg|\<check_' tests/unit/*/*.c | sed 's/$/: asserts nothing/' | grep .; then
	exit 1
fi
