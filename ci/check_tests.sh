#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each file of unit tests can fail, by itself, by a check_...() of its fixture or by an approved text: check_tests.sh [ROOT]. Prints one line
# for each that asserts nothing, or that is not built.
set -eu

cd "${1:-$(dirname "$0")/..}"

if grep -LE 'assert_|fail_msg|\<(check|golden)_|GOLDEN_GROUP' tests/unit/*/*.c | sed 's/$/: asserts nothing/' | grep .; then
	exit 1
fi
# make takes files of folders alone
if find tests/unit -maxdepth 1 -name '*.c' ! -name main.c | sed 's/$/: is in no folder of tests\/unit, so it is not built/' | grep .; then
	exit 1
fi
