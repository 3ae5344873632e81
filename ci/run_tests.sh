#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit tests (cmocka programs) and command line tests (bats), and ends with what failed and one line of sums:
# run_tests.sh BUILD UNIT_TEST... . Every program reports in TAP; one that dies counts as a failed test. What failed is also
# appended to the file that FAILURES names.
set -u

build=$1
shift
passed=0 failed=0 skipped=0

# Run the program $1 with the rest as its command, and add up its TAP.
count() {
	local name=$1 begin=$SECONDS status p f s

	shift
	"$@" >"$tap" 2>&1
	status=$?

	# bats writes "ok 1 # skip", cmocka "not ok 1 # SKIP"
	s=$(grep -ciE '^(not )?ok .*# skip' "$tap")
	p=$(grep -E '^ok ' "$tap" | grep -vciE '# skip')
	f=$(grep -E '^not ok ' "$tap" | grep -vciE '# skip')
	if [ "$status" != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "    $name ended with status $status"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '  %-32s %3d passed' "$name" "$p"
	[ "$f" != 0 ] && printf ', %d FAILED' "$f"
	[ "$s" != 0 ] && printf ', %d skipped' "$s"
	[ $((SECONDS - begin)) -ge 5 ] && printf ', %d s' $((SECONDS - begin))
	printf '\n'
	if [ "$f" != 0 ]; then
		sed 's/^/    /' "$tap"
		ci/failures.sh collect "$name" "$tap" "$status" >>"$failures"
	elif [ "$s" != 0 ]; then
		grep -iE '^(not )?ok .*# skip' "$tap" | sed 's/^/    /'
	fi
}

# A sanitizer that catches signals would turn a crash that a test expects into an ordinary exit.
signals=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
export ASAN_OPTIONS=$signals${ASAN_OPTIONS:+:$ASAN_OPTIONS} UBSAN_OPTIONS=$signals${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}

work=$(mktemp -d)
beside=
clean_up() {
	[ -z "$beside" ] || kill -- "-$beside" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT

unit_tests() {
	local program

	for program in "$@"; do
		count "$(basename "$program")" env CMOCKA_MESSAGE_OUTPUT=TAP timeout 300 "$program"
	done
}

command_line_tests() {
	local script

	for script in tests/cli/*.bats; do
		[ -e "$script" ] || continue
		# what the caller measures with must not leak into tests
		count "$(basename "$script")" env -u ASSAY_SEED -u ASSAY_DETERMINISTIC -u ASSAY_THREADS -u ASSAY_BATCH_SIZE \
			-u ASSAY_MEMORY_LIMIT -u ASSAY_DB -u ASSAY_PAPI -u NO_COLOR LC_ALL=C.UTF-8 timeout 900 bats --tap "$script"
	done
}

collected=${FAILURES-}
unset FAILURES
ASSAY_BUILD=$(realpath "$build")
ASSAY_SOURCE=$PWD
export ASSAY_BUILD ASSAY_SOURCE

# Both kinds wait more than they calculate, so they run beside each other; what they say is shown one after the other.
set -m # a process group of its own, to be ended with this script
(
	tap=$work/cli.tap failures=$work/cli.failed
	command_line_tests
	echo "$passed $failed $skipped" >"$work/sums"
) >"$work/cli" 2>&1 &
beside=$!
set +m
tap=$work/unit.tap failures=$work/unit.failed
unit_tests "$@"
tail -n +1 --pid="$beside" -f "$work/cli"
wait "$beside"
beside=
if read -r p f s <"$work/sums"; then
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
else
	failed=$((failed + 1))
	echo '    the command line tests did not end'
	echo 'the command line tests did not end' >>"$work/cli.failed"
fi

cat "$work/unit.failed" "$work/cli.failed" >"$work/failures" 2>/dev/null
[ -z "$collected" ] || cat "$work/failures" >>"$collected"
ci/failures.sh show "$work/failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
