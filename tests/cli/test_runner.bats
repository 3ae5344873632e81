#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=plain
# The scripts that run all tests: what they say of tests that fail, in a tree of a few tests.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset FAILURES
	mkdir -p tree/tests/cli tree/.ci tree/ci build
	cp "$ASSAY_SOURCE/.ci/run" tree/.ci/
	cp "$ASSAY_SOURCE"/ci/{run_tests,failures}.sh tree/ci/
	cd tree || return 1
	printf '@test "%s" {\n\t%s\n}\n' 'one is one' true 'two is three' 'echo "two is 2"; [ 2 = 3 ]' 'not here' 'skip "no device"' \
		>tests/cli/sums.bats
}

# unit NAME LINE...: a unit test that prints these lines and ends with status 3.
unit() {
	printf '#!/bin/sh\ncat <<END\n' >"../build/$1"
	printf '%s\n' "${@:2}" END 'exit 3' >>"../build/$1"
	chmod +x "../build/$1"
}

tests() {
	run ci/run_tests.sh ../build "${@/#/../build/}"
	[ "$status" = 1 ]
}

# the lines from "failed:" on
the_end() {
	printf '%s\n' "$output" | sed -n '/^failed:$/,$p'
}

@test "failed tests are named at the end with what they said" {
	unit test_sums '1..2' 'ok 1 - fine' 'not ok 2 - wrong' '# 0x1 != 0x2'
	tests test_sums
	diff - <(the_end) <<-'END'
		failed:
		  test_sums: wrong
		      0x1 != 0x2
		  sums.bats: two is three
		      (in test file tests/cli/sums.bats, line 5)
		        `echo "two is 2"; [ 2 = 3 ]' failed
		      two is 2
		2 passed, 2 failed, 1 skipped
	END
}

@test "a program that dies is named with its status and what a sanitizer said, or its last lines" {
	unit test_dead '1..2' 'ok 1 - fine' $(seq 30)
	unit test_sanitized 'ok 1 - fine' '==7==ERROR: AddressSanitizer: heap-use-after-free' $(seq 30)
	rm tests/cli/sums.bats
	tests test_dead test_sanitized
	the_end | grep -A 15 '^  test_dead: ended with status 3$' | tail -n 15 | tr -d ' ' | diff - <(seq 16 30)
	the_end | grep -A 2 '^  test_sanitized: ended with status 3$' | tail -n 2 | diff - <(printf '      %s\n' \
		'==7==ERROR: AddressSanitizer: heap-use-after-free' 1)
}

@test "the last 60 lines have every failure of a few, and the names of many" {
	for i in 1 2 3 4 5 6; do
		unit test_$i "not ok 1 - wrong" $(seq 30)
	done
	tests test_1 test_2 test_3 test_4 test_5 test_6
	[ "$(printf '%s\n' "$output" | tail -n 60 | grep -c '^  [a-z0-9_.]*: ')" = 7 ]
	# each has its share of the room
	[ "$(the_end | grep -c '^      7$')" = 6 ]
	# more than have room
	seq -f 'not ok %g - wrong' 90 >many
	unit test_1 "$(cat many)"
	rm tests/cli/sums.bats
	tests test_1
	[ "$(the_end | wc -l)" = 59 ]
	[ "$(the_end | tail -n 2)" = $'  and 34 more\n0 passed, 90 failed, 0 skipped' ]
}

@test "each file of tests runs once" {
	for i in 1 2 3 4 5; do
		printf '@test "one" {\n\techo >>"%s/ran.%s"\n}\n' "$PWD" $i >tests/cli/file_$i.bats
	done
	tests
	[ "$(cat ran.* | wc -l)" = 5 ]
	[ "$(grep -cE '^  file_[1-5].bats +1 passed(, [0-9]+ s)?$' <<<"$output")" = 5 ]
	[ "${lines[-1]}" = '6 passed, 1 failed, 1 skipped' ]
}

@test "a sanitized build leaves out what has the tag plain" {
	printf '# bats test_tags=plain\n@test "one" {\n\ttouch "%s/ran"\n}\n@test "two" {\n\ttrue\n}\n' "$PWD" >tests/cli/sums.bats
	echo 'with   PAPI; sanitizers address' >../build/features
	run -0 ci/run_tests.sh ../build
	[ "${lines[-1]}" = '1 passed, 0 failed, 0 skipped' ]
	[ ! -e ran ]
	echo 'with   PAPI' >../build/features
	run -0 ci/run_tests.sh ../build
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
	[ -e ran ]
}

@test "what fails beside others alone is no failure, and is told" {
	printf '#!/bin/sh\necho 1..1\nmkdir tried 2>/dev/null && echo "not ok 1 - hurried" || echo "ok 1 - hurried"\n' >../build/test_hurried
	chmod +x ../build/test_hurried
	tests test_hurried
	printf '%s\n' "$output" | grep -x 'passed in a second try: test_hurried: hurried'
	# the other failed twice, and is counted once
	the_end | grep -x '  sums.bats: two is three'
	[ "$(the_end | grep -c ': ')" = 1 ]
	[ "${lines[-1]}" = '2 passed, 1 failed, 1 skipped' ]
	# nor is it one for who calls
	rm -r tried tests/cli/sums.bats
	run -0 env FAILURES="$PWD/failed" ci/run_tests.sh ../build ../build/test_hurried
	[ "${lines[-1]}" = '1 passed, 0 failed, 0 skipped' ]
	[ ! -s failed ]
}

@test "where many files fail none is tried again" {
	for i in 1 2 3 4; do
		unit test_$i 'not ok 1 - wrong'
	done
	tests test_1 test_2 test_3 test_4
	[ "$(grep -c FAILED <<<"$output")" = 5 ]
	rm tests/cli/sums.bats
	tests test_1 test_2 test_3 test_4
	[ "$(grep -c FAILED <<<"$output")" = 8 ]
	[ "${lines[-1]}" = '0 passed, 4 failed, 0 skipped' ]
}

# A make for .ci/run: each step says what its name says.
fake_steps() {
	printf '#!/bin/sh\n' >ci/deps.sh
	mkdir bin
	cat >bin/make <<-'END'
		#!/bin/sh
		case "$*" in
		*SANITIZE*' test') echo 'test_x: sanitized' >>"$FAILURES"; echo '5 passed, 1 failed, 0 skipped'; exit 1 ;;
		*CC=gcc*test) [ ! -e "$FAILURES" ] || exit 70; echo 'passed in a second try: test_y: hurried'; echo '7 passed, 0 failed, 2 skipped' ;;
		*soak) seq 40; exit 2 ;;
		*) [ ! -e "$FAILURES" ] || exit 70 ;;
		esac
	END
	chmod +x ci/deps.sh bin/make
}

@test "all checks end with the failures of each step and the sum of all" {
	fake_steps
	run env PATH="$PWD/bin:$PATH" CC=cc .ci/run
	[ "$status" = 1 ]
	diff - <(the_end | grep -v '^      [0-9]') <<-END
		failed:
		  two minutes of attacks: ended with status 2
		  tests under sanitizers: test_x: sanitized
		$(type -P clang >/dev/null && echo 15 passed, 2 failed, 2 skipped || echo 13 passed, 2 failed, 4 skipped)
	END
	[ "$(the_end | grep -c '^      [0-9]')" = 15 ]
	printf '%s\n' "$output" | grep -x 'passed in a second try: make test with gcc, warnings as errors: test_y: hurried'
}

@test "where all is well nothing failed" {
	sed -i '/two is three/,/^}/d' tests/cli/sums.bats
	run -0 ci/run_tests.sh ../build
	[ "${lines[-1]}" = '1 passed, 0 failed, 1 skipped' ]
	[[ $output != *failed:* ]]
}
