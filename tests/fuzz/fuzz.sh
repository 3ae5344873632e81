#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a fuzz target on its seeds: fuzz.sh BUILD NAME [OPTION]..., with options of libFuzzer, such as -runs=100000 or
# -max_total_time=60 -seed=1; without them it tries the seeds alone. An input that fails is kept in BUILD/fuzz-failures.
set -u

build=$(realpath "$1") name=$2
shift 2
cd "$(dirname "$0")/../.." || exit 70

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/seeds" "$work/cwd"

# Files of the tree or the build are seeds as they are; seeds/NAME/ has the rest.
case $name in
conf) cp bench/*.bench baselines/policy.conf "$work/seeds" ;;
bench) cp tests/fixtures/plan/good/*.bench "$work/seeds" ;;
policy) cp baselines/policy.conf "$work/seeds" ;;
manifest) cp baselines/*.manifest "$work/seeds" ;;
# the name of a group is that of its file
groups)
	for file in bench/groups/*.group; do
		sed 's/^group "[^"]*"/group "input"/' "$file" >"$work/seeds/${file##*/}"
	done
	;;
formula) sed -n 's/.*formula = "\(.*\)"/\1/p' bench/groups/*.group | split -l 1 - "$work/seeds/" ;;
callgrind) cp tests/fixtures/callgrind/*.out "$work/seeds" ;;
import) cp tests/fixtures/import/* "$work/seeds" ;;
exact_baseline) cp baselines/exact/*.json "$work/seeds" ;;
elf) cp "$build"/tests/code_hash/*.so "$build/tests/plugins/example_op.so" "$work/seeds" ;;
number_blob)
	printf '\1\2\4\3\243\1\0\0\0\0\0\0\340\77\0\0\0\0\0\0\320\77' >"$work/seeds/version-1"
	;;
# versions 1 and 2, each with two samples and without their check sum
sample_blob)
	printf '\1\2\1\220\3\20\6\24\1\2' >"$work/seeds/version-1"
	printf '\2\2\1\220\3\20\376\24\1\2\3\4\5\6' >"$work/seeds/version-2"
	;;
esac
if [ -d "tests/fuzz/seeds/$name" ]; then
	cp "tests/fuzz/seeds/$name"/* "$work/seeds"
fi

cd "$work/cwd" || exit 70
# A parser has no use for more memory than this, nor for seconds on an input.
"$build/tests/fuzz/fuzz_$name" -rss_limit_mb=1024 -timeout=10 "${@:--runs=0}" "$work/seeds"
status=$?
for input in crash-* leak-* oom-* timeout-*; do
	[ -e "$input" ] || continue
	mkdir -p "$build/fuzz-failures"
	mv "$input" "$build/fuzz-failures/$name-$input"
	echo "kept: fuzz-failures/$name-$input" >&2
done
exit $status
