#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit tests (cmocka programs) and command line tests (bats, two files at a time), and ends with what failed and one line of sums:
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
beside=()
clean_up() {
	local group

	for group in "${beside[@]}"; do
		kill -- "-$group" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT

unit_tests() {
	local program

	for program in "$@"; do
		count "$(basename "$program")" env CMOCKA_MESSAGE_OUTPUT=TAP timeout 300 "$program"
	done
}

# The files that no other lane has taken.
command_line_tests() {
	local script

	for script in tests/cli/*.bats; do
		[ -e "$script" ] || continue
		mkdir "$work/${script##*/}" 2>/dev/null || continue
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

# They wait more than they calculate, so unit tests and two lanes of the others run beside each other; what they say is shown one
# after the other.
lanes=(1 2)
set -m # process groups of their own, to be ended with this script
for lane in "${lanes[@]}"; do
	(
		tap=$work/$lane.tap failures=$work/$lane.failed
		command_line_tests
		echo "$passed $failed $skipped" >"$work/$lane.sums"
	) >"$work/$lane.said" 2>&1 &
	beside+=($!)
done
set +m
tap=$work/unit.tap failures=$work/unit.failed
unit_tests "$@"
for lane in "${lanes[@]}"; do
	tail -n +1 --pid="${beside[0]}" -f "$work/$lane.said"
	wait "${beside[0]}"
	beside=("${beside[@]:1}")
	if read -r p f s <"$work/$lane.sums"; then
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	else
		failed=$((failed + 1))
		echo '    some command line tests did not end'
		echo 'some command line tests did not end' >>"$work/$lane.failed"
	fi
done

cat "$work/unit.failed" "$work"/[0-9].failed >"$work/failures" 2>/dev/null
[ -z "$collected" ] || cat "$work/failures" >>"$collected"
ci/failures.sh show "$work/failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
