#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often are two identical commands called different? Compares a command with itself and counts the verdicts; at most
# 1 % may be REGRESSED. Each call adds to the comparisons in OUT, so that it can be stopped and go on.
# usage: bench/identical_programs.sh [COMPARISONS [COMMAND]], 300 by default of a loop in awk that takes about 10 ms.
# OPTIONS go to `assay time`; the default is OPTIONS="--budget 2s". LOAD=N: beside N busy processes.
set -eu

comparisons=${1:-300}
command=${2:-"awk 'BEGIN { for (i = 0; i < 450000; i++) s += i }'"}
assay=${ASSAY:-build/bin/assay}
load=${LOAD:-0}
out=${OUT:-build/identical-programs/load-$load}
dir=$(mktemp -d)
neighbours=

end() {
	for pid in $neighbours; do
		kill "$pid" 2>/dev/null || :
	done
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT TERM

for _ in $(seq "$load"); do
	awk 'BEGIN { for (;;) i++ }' &
	neighbours="$neighbours $!"
done
mkdir -p "${out%/*}"
touch "$out"
while n=$(wc -l <"$out") && [ "$n" -lt "$comparisons" ]; do
	rm -f "$dir"/db*
	status=0
	# shellcheck disable=SC2086 # OPTIONS are words
	"$assay" time "$command" "$command" --seed "$n" --db "$dir/db" --json ${OPTIONS:---budget 2s} >"$dir/compared" ||
		status=$?
	jq -re --argjson status "$status" \
		'.comparisons[0] | "\(.verdict) \(.ratio) \(.ci[0]) \(.ci[1]) \(.pairs) \($status)"' "$dir/compared" >>"$out"
done
awk '{ n[$1]++ } END { for (v in n) printf "%s %d of %d\n", v, n[v], NR; exit n["REGRESSED"] > NR / 100 }' "$out"
