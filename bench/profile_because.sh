#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often 'assay compare --profile' blames the right one of five functions that take the same, of which a drawn one takes PERCENT more:
#     bench/profile_because.sh [TIMES] [PERCENT...]      (default 20 times, 5 10 25)
# A row a percentage: how often a comparison found the change, named the right function, a wrong one, or none.
set -eu
times=${1:-20}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 5 10 25
source=$(cd "$(dirname "$0")/.." && pwd)
build=${ASSAY_BUILD:-$source/build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

plugin() { # FILE SLOW PERCENT
	printf '#define FIVE_SLOW %s\n#define FIVE_PERCENT %s\n#include "%s/tests/plugins/five_parts.h"\n' "$2" "$3" "$source" >"$folder/$1.c"
	cc -std=gnu11 -O2 -g -fPIC -shared -falign-loops=64 -falign-functions=64 -I"$source/harness/include" -o "$folder/$1.so" "$folder/$1.c"
}
printf 'margin "*" { paired = "0.2%%" }\n' >"$folder/policy.conf"
plugin base 0 0
printf 'percent\tfound\tright\twrong\tnone\n'
for percent; do
	found=0 right=0 wrong=0 none=0 i=0
	while [ $i -lt "$times" ]; do
		slow=$((i % 5 + 1))
		i=$((i + 1))
		plugin head $slow "$percent"
		"$build/bin/assay" compare --no-default-plugins --plugin "$build/tests/plugins/compare_op.so" --bench-dir "$source/tests/fixtures/compare" \
			"$folder/base.so" "$folder/head.so" --policy "$folder/policy.conf" --budget 3s --db "$folder/a.db" --json \
			>"$folder/out.json" 2>"$folder/err" || [ $? = 1 ] || { cat "$folder/err" >&2; exit 1; }
		verdict=$(jq -r '.cases[0].verdict' "$folder/out.json")
		[ "$verdict" = REGRESSED ] || continue
		found=$((found + 1))
		name=$(jq -r '.cases[0].because.function // ""' "$folder/out.json")
		want=$(echo one two three four five | cut -d' ' -f$slow)
		case $name in
		part_"$want") right=$((right + 1)) ;;
		'') none=$((none + 1)) ;;
		*) wrong=$((wrong + 1)) ;;
		esac
		[ -z "${VERBOSE:-}" ] || jq -r '.cases[0].because.text' "$folder/out.json" >&2
	done
	printf '%s\t%s\t%s\t%s\t%s\n' "$percent" $found $right $wrong $none
done
