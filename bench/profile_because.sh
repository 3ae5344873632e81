#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often 'assay compare --profile' blames the right one of five functions that take the same, of which a drawn one takes PERCENT more:
#     bench/profile_because.sh [TIMES] [PERCENT|PERCENTdata|same...]      (default 20 times, 5 10 5data same)
# Of "5data" a constant makes the function slower, so that no machine code tells which it is. Of "same" no function differs, but for one
# that is never called, and all cases are profiled. A row each: how often a comparison found a change, named the right function, a wrong
# one, or none. WAIT='flock -x FILE' or the like goes before each comparison.
set -eu
times=${1:-20}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 5 10 5data same
source=$(cd "$(dirname "$0")/.." && pwd)
build=${ASSAY_BUILD:-$source/build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

plugin() { # FILE SLOW PERCENT MORE
	printf '#define FIVE_SLOW %s\n#define FIVE_PERCENT %s\n%s\n#include "%s/tests/plugins/compare_five.c"\n' "$2" "$3" "$4" "$source" >"$folder/$1.c"
	cc -std=gnu11 -O2 -g -fPIC -shared -falign-loops=64 -falign-functions=64 -I"$source/harness/include" -o "$folder/$1.so" "$folder/$1.c"
}
printf 'margin "*" { paired = "0.2%%" }\n' >"$folder/policy.conf"
printf 'change\tfound\tright\twrong\tnone\n'
for change; do
	found=0 right=0 wrong=0 none=0 i=0 profile=auto more='' percent=$change
	case $change in
	same) profile=all percent=0 ;;
	*data) more='#define FIVE_BY_DATA' percent=${change%data} ;;
	esac
	plugin base 0 0 "$more"
	while [ $i -lt "$times" ]; do
		slow=$((i % 5 + 1))
		i=$((i + 1))
		[ "$change" != same ] || more="int never_called_$i(int x); int never_called_$i(int x) { return x * $i; }"
		plugin head $slow "$percent" "$more"
		# shellcheck disable=SC2086
		${WAIT:-} "$build/bin/assay" compare --no-default-plugins --plugin "$build/tests/plugins/compare_op.so" \
			--bench-dir "$source/tests/fixtures/compare" "$folder/base.so" "$folder/head.so" --policy "$folder/policy.conf" \
			--budget 3s --profile "$profile" --db "$folder/a.db" --json >"$folder/out.json" 2>"$folder/err" ||
			[ $? = 1 ] || { cat "$folder/err" >&2; exit 1; }
		[ -z "${VERBOSE:-}" ] || jq -r '.cases[0] | "\(.verdict) \(.ratio) \(.because[0].text // .because_unknown)"' "$folder/out.json" >&2
		[ "$change" = same ] || [ "$(jq -r '.cases[0].verdict' "$folder/out.json")" = REGRESSED ] || continue
		found=$((found + 1))
		name=$(jq -r '.cases[0].because[0].function // ""' "$folder/out.json")
		want=$([ "$change" = same ] || echo one two three four five | cut -d' ' -f$slow)
		case $name in
		'') none=$((none + 1)) ;;
		part_"$want") right=$((right + 1)) ;;
		*) wrong=$((wrong + 1)) ;;
		esac
	done
	printf '%s\t%s\t%s\t%s\t%s\n' "$change" $found $right $wrong $none
done
