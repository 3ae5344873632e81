#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit tests (cmocka programs) and command line tests (bats), four programs or files at a time, and ends with what failed and one
# line of sums: run_tests.sh BUILD UNIT_TEST... . Every program reports in TAP; one that dies counts as a failed test. A program or file
# in which something failed runs once more, alone, and counts as that run went; what passes only so is named as unsteady. What failed is
# also appended to the file that FAILURES names. TESTS in the environment names the files of command line tests, instead of all; none
# is none of them.
set -u

build=$1
shift
if [ "${TESTS-}" = none ]; then
	scripts=()
elif [ -n "${TESTS-}" ]; then
	read -ra scripts <<<"$TESTS"
	scripts=("${scripts[@]/#/tests/cli/}")
	scripts=("${scripts[@]/%/.bats}")
else # the largest first, which tend to take longest
	mapfile -t scripts < <(ls -S tests/cli/*.bats)
fi
left_out=()
# Of a sanitized build, the command line tests are those that attack the program: tests/README.md. It is three times as slow, and would
# show the same of some unit tests: simulations with fixed seeds, and kernels for GPUs, which are not sanitized.
if grep -q sanitizers "$build/features" 2>/dev/null; then
	scripts=(tests/cli/{bad_input,cheats,fuzz,hostile,hostile_worker,import,interrupt}.bats)
	left_out=(-paired_simulation -paired_load -change_simulation -cuda_generate)
fi

# Run the unit test or script $1.
tests_of() {
	case $1 in
	*.bats)
		# what the caller measures with must not leak into tests
		env -u ASSAY_SEED -u ASSAY_DETERMINISTIC -u ASSAY_THREADS -u ASSAY_BATCH_SIZE -u ASSAY_MEMORY_LIMIT -u ASSAY_DB -u ASSAY_PAPI \
			-u NO_COLOR LC_ALL=C.UTF-8 timeout 900 bats --tap "$1"
		;;
	*) env CMOCKA_MESSAGE_OUTPUT=TAP timeout 900 "$1" "${left_out[@]}" ;;
	esac
}

# count FILE: run its tests, add up their TAP in $work/NAME.sums, say so, and collect what failed in $work/NAME.failed.
count() {
	local name=${1##*/} begin=$SECONDS status p f s
	local at=$work/$name tap=$work/$name.tap

	tests_of "$1" >"$tap" 2>&1
	status=$?

	# bats writes "ok 1 # skip", cmocka "not ok 1 # SKIP"
	s=$(grep -ciE '^(not )?ok .*# skip' "$tap")
	p=$(grep -E '^ok ' "$tap" | grep -vciE '# skip')
	f=$(grep -E '^not ok ' "$tap" | grep -vciE '# skip')
	if [ "$status" != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "    $name ended with status $status"
	fi
	echo "$p $f $s" >"$at.sums"
	printf '  %-32s %3d passed' "$name" "$p"
	[ "$f" != 0 ] && printf ', %d FAILED' "$f"
	[ "$s" != 0 ] && printf ', %d skipped' "$s"
	[ $((SECONDS - begin)) -ge 5 ] && printf ', %d s' $((SECONDS - begin))
	printf '\n'
	if [ "$f" != 0 ]; then
		sed 's/^/    /' "$tap"
		ci/failures.sh collect "$name" "$tap" "$status" >"$at.failed"
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

collected=${FAILURES-}
unset FAILURES
ASSAY_BUILD=$(realpath "$build")
ASSAY_SOURCE=$PWD
export ASSAY_BUILD ASSAY_SOURCE

# Run the tests that no other lane has taken; the output of each stays together.
run_lane() {
	local test

	for test in "$@"; do
		mkdir "$work/${test##*/}" 2>/dev/null || continue
		count "$test" >"$work/${test##*/}.said"
		flock "$work" cat "$work/${test##*/}.said"
	done
}

# Tests wait more than they calculate, so there are more lanes than cores.
set -m # process groups of their own, to be ended with this script
for _ in 1 2 3 4; do
	run_lane "$@" "${scripts[@]}" &
	beside+=($!)
done
set +m
wait
for test in "$@" "${scripts[@]}"; do
	test=$work/${test##*/}
	if ! [ -e "$test.sums" ]; then
		echo "${test##*/} did not end" | tee "$test.failed"
		echo 0 1 0 >"$test.sums"
	fi
done

# A fault of the code is there again when nothing runs beside; a test that had too little time is not, and should be mended.
for test in "$@" "${scripts[@]}"; do
	at=$work/${test##*/}
	[ -e "$at.failed" ] || continue
	mv "$at.failed" "$at.first"
	echo "once more, alone: ${test##*/}"
	count "$test"
	[ -e "$at.failed" ] || sed -n 's/^[^ ]/unsteady: &/p' "$at.first" >>"$work/unsteady"
done

cat "$work"/*.failed >"$work/failures" 2>/dev/null
[ -z "$collected" ] || cat "$work/failures" >>"$collected"
ci/failures.sh show "$work/failures"
cat "$work/unsteady" 2>/dev/null
cat "$work"/*.sums | awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
