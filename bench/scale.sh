#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the store bears a database of many results, made from a seed. Takes minutes and four gigabytes: for figures, not for tests.
# usage: bench/scale.sh [RUNS [CASES [FILE_CASES [NODES]]]]
set -eu

runs=${1:-10000}
cases=${2:-100}
file_cases=${3:-200000}
nodes=${4:-100}
build=${BUILD:-build}
assay=${ASSAY:-$build/bin/assay}
out=${OUT:-$build/scale}
db=$out/scale.db
key='matmul.ternary/ref/m=64,k=256/t=1/warm'

mkdir -p "$out"
rm -f "$db"* "$out"/merged.db*
made=$("$build/tests/make_database" "$db" "$runs" "$cases")
n=$((runs * cases))

# row WHAT TARGET VALUE
row() {
	printf '| %s | %s | %s |\n' "$1" "$2" "$3"
}

# timed TIMES COMMAND...: the least time that passed, and of processors, in milliseconds; the command may fail a gate.
timed() {
	local TIMEFORMAT='%R %U %S' LC_ALL=C

	for _ in $(seq "$1"); do
		{ time "${@:2}" >"$out/output" 2>&1 || :; } 2>&1
	done | awk '{
		wall = NR == 1 || $1 < wall ? $1 : wall
		cpu = NR == 1 || $2 + $3 < cpu ? $2 + $3 : cpu
	}
	END { printf "%d %d", 1e3 * wall + 0.5, 1e3 * cpu + 0.5 }'
}

seconds() {
	timed 5 "$@" | awk '{ printf "%.2f s, %.2f s of processors", $1 / 1e3, $2 / 1e3 }'
}

once() {
	timed 1 "$@" | awk '{ printf "%.0f s, %.0f s of processors", $1 / 1e3, $2 / 1e3 }'
}

# The file that Google Benchmark would write of $file_cases benchmarks.
made_file() {
	awk -v n="$file_cases" 'BEGIN {
		printf "{\"context\": {\"host_name\": \"made\"}, \"benchmarks\": ["
		for (i = 0; i < n; i++)
			printf "%s{\"name\": \"B/%d\", \"run_name\": \"B/%d\", \"run_type\": \"iteration\", " \
				"\"repetitions\": 1, \"repetition_index\": 0, \"threads\": 1, \"iterations\": 1000, " \
				"\"real_time\": %d.5, \"cpu_time\": 24, \"time_unit\": \"ns\"}", i ? ",\n" : "", i, i, 25 + i % 7
		print "]}"
	}' >"$out/made.json"
}

# Results of a second, imported into a new database.
imported() {
	rm -f "$out"/imported.db*
	timed 1 "$assay" import google-benchmark "$out/made.json" --db "$out/imported.db" |
		awk -v n="$file_cases" '{ printf "%.0f a second, %.0f a second of processors", 1e3 * n / $1, 1e3 * n / $2 }'
}

echo "$n results of $runs runs, $cases cases on 3 machines"
echo
row what target measured
row --- --- ---
row 'storing, with 90 samples and 31 numbers a result' '50,000 a second' "$(printf '%s' "$made" | sed 's/.*: //')"
row 'size, samples included' '1.5 KB a result' "$(($(stat -c %s "$db") / n)) B a result"
# a gnuplot that draws nothing
mkdir -p "$out/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$2" = --version ] || { cat >/dev/null; exit 1; }\n' >"$out/bin/gnuplot"
chmod +x "$out/bin/gnuplot"
row 'trend of a case, before gnuplot' '0.3 s' "$(PATH=$(cd "$out/bin" && pwd):$PATH seconds "$assay" plot trend "$key" --db "$db" -o "$out/trend.svg")"
rm -f "$out/trend.svg.gp"
row 'trend of a case, drawn' 'none' "$(seconds "$assay" plot trend "$key" --db "$db" -o "$out/trend.svg")"
row 'assay gate' '0.2 s' "$(seconds "$assay" gate --suite quick --allow-no-baseline --db "$db")"
# another machine has no named baseline
row 'assay gate, without a named baseline' '0.2 s' "$(seconds "$assay" gate --suite quick --allow-no-baseline --run $((runs - 1)) --db "$db")"
row 'page of the last run (assay report)' '2 s' "$(seconds "$assay" report --db "$db" -o "$out/report.html")"
row 'data of the last run (assay show last --json)' '2 s' "$(seconds "$assay" show last --json --db "$db")"
row 'assay history CASE, other cases asked' '0.3 s' "$(seconds "$assay" history "$key" --db "$db" --json)"
row 'assay show, the list of all runs' 'none' "$(seconds "$assay" show --db "$db")"
made_file
row "importing a file of $file_cases benchmarks that nobody knows" '50,000 a second' "$(imported)"
row 'assay db merge, into a new database' 'none' "$(once "$assay" db merge "$db" --db "$out/merged.db")"
row 'assay db merge, once more' 'none' "$(once "$assay" db merge "$db" --db "$out/merged.db")"
row 'assay db prune --keep-runs 500' 'none' "$(once "$assay" db prune --keep-runs 500 --db "$out/merged.db")"
rm -f "$out"/merged.db* "$out"/imported.db* "$out/made.json"

# The databases that a fleet brings: a database of a run from each of $nodes nodes, each a machine of its own.
for i in $(seq "$nodes"); do
	rm -f "$out/node$i.db"*
	"$build/tests/make_database" "$out/node$i.db" 1 "$cases" $((100 + i)) >/dev/null
done

# grown RUNS: rows of a database of so many runs that the nodes are merged into, the first time and once more.
grown() {
	local first again
	rm -f "$out"/fleet.db*
	"$build/tests/make_database" "$out/fleet.db" "$1" "$cases" >/dev/null
	first=$(timed 1 "$assay" db merge "$out"/node*.db --db "$out/fleet.db")
	again=$(timed 1 "$assay" db merge "$out"/node*.db --db "$out/fleet.db")
	row "merging the run of a node into $1 runs" none "$(awk -v n="$nodes" -v t="$first" 'BEGIN { split(t, v); printf "%.1f ms, %.1f ms of processors", v[1] / n, v[2] / n }')"
	merged=$first
	row "the same once more" none "$(awk -v n="$nodes" -v t="$again" 'BEGIN { split(t, v); printf "%.1f ms, %.1f ms of processors", v[1] / n, v[2] / n }')"
	row "assay history CASE among $1 runs" none "$(seconds "$assay" history "$key" --machine 'made machine 0' --db "$out/fleet.db" --json)"
	row "assay show, the list of $1 runs" none "$(seconds "$assay" show --db "$out/fleet.db")"
}
grown $((runs / 10))
grown "$runs"

# 10,000 nodes, 300 cases and 100 revisions a day, from the figures of the greater one. SQLite has 2^32 - 2 pages.
sqlite3 "$out/fleet.db" "SELECT name NOT IN (SELECT name FROM sqlite_master WHERE type = 'table'), sum(pgsize) FROM dbstat GROUP BY 1" 'PRAGMA page_size' |
	awk -F '|' -v n=$((n + nodes * cases)) -v a_day=3e8 -v nodes="$nodes" -v merged="$merged" '
	NF == 2 { size += $2; if ($1) index_size = $2 }
	NF == 1 { most = $1 * (2 ^ 32 - 2) }
	END {
		printf "| bytes a result, and of indexes | none | %.0f, %.0f |\n", size / n, index_size / n
		printf "| a fleet of 10,000 nodes × 300 cases × 100 revisions: a day brings | none | %.0f GB, %.0f GB of indexes |\n", size / n * a_day / 1e9, index_size / n * a_day / 1e9
		split(merged, ms, " ")
		printf "| … one process merges that in | none | %.1f h, %.1f h of processors |\n", ms[1] / nodes / 3.6, ms[2] / nodes / 3.6
		printf "| … its indexes fill 64 GiB of memory after | none | %.1f days |\n", 64 * 2 ^ 30 / (index_size / n * a_day)
		printf "| … the greatest file of SQLite (%.1f TB) is full after | none | %.0f days |\n", most / 1e12, most / (size / n * a_day)
	}'
rm -f "$out"/fleet.db* "$out"/node*.db*
