#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the store bears a database of many results, made from a seed. Takes minutes and a gigabyte: for figures, not for tests.
# usage: bench/scale.sh [RUNS [CASES]]
set -eu

runs=${1:-10000}
cases=${2:-100}
build=${BUILD:-build}
assay=${ASSAY:-$build/bin/assay}
out=${OUT:-$build/scale}
db=$out/scale.db
key='matmul.ternary/ref/m=64,k=256/t=1/warm'

mkdir -p "$out"
rm -f "$db" "$db-wal" "$db-shm"
made=$("$build/tests/make_database" "$db" "$runs" "$cases")
n=$((runs * cases))

# row WHAT TARGET VALUE
row() {
	printf '| %s | %s | %s |\n' "$1" "$2" "$3"
}

# The least of five, in seconds; the command may fail a gate.
seconds() {
	local best=99999999 from to

	for _ in 1 2 3 4 5; do
		from=$(date +%s%N)
		"$@" >"$out/output" 2>&1 || :
		to=$(date +%s%N)
		[ $(((to - from) / 1000)) -ge "$best" ] || best=$(((to - from) / 1000))
	done
	awk -v us="$best" 'BEGIN { printf "%.3f s", us / 1e6 }'
}

echo "$n results of $runs runs, $cases cases on 3 machines"
echo
row what target measured
row --- --- ---
row 'storing, with 90 samples and 31 numbers a result' '50,000 a second' "$(printf '%s' "$made" | sed 's/.*: //')"
row 'size, samples included' '1.5 KB a result' "$(($(stat -c %s "$db") / n)) B a result"
row 'trend of a case, drawn' '0.3 s before gnuplot' "$(seconds "$assay" plot trend "$key" --db "$db" -o "$out/trend.svg")"
row 'assay gate' '0.2 s' "$(seconds "$assay" gate --suite quick --allow-no-baseline --db "$db")"
# another machine has no named baseline
row 'assay gate, without a named baseline' '0.2 s' "$(seconds "$assay" gate --suite quick --allow-no-baseline --run $((runs - 1)) --db "$db")"
row 'data of the last run (assay show last --json)' '2 s' "$(seconds "$assay" show last --json --db "$db")"
row 'assay history CASE, other cases asked' '0.3 s' "$(seconds "$assay" history "$key" --db "$db" --json)"
row 'assay show, the list of all runs' 'none' "$(seconds "$assay" show --db "$db")"
