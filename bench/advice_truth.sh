#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How true is advice? advice_truth.sh [RUN [DB]]: of a run in which several variants solved the same shapes, the gain that
# `assay show RUN --bottlenecks` promises each variant against the gain that a faster variant of the shape really has, and what more
# threads have. Cases most of whose samples were disturbed, or of slow cores, are left out. A promise is true within a factor of 1.5.
# Prints a line a pair; exits with 1 where under 80 % of promises are true.
set -euo pipefail

assay=${ASSAY:-$(dirname "$0")/../build/bin/assay}
run=${1:-last} db=${2:-${ASSAY_DB:-assay.db}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$assay" show "$run" --db "$db" --json >"$work/run.json"
"$assay" show "$run" --db "$db" --bottlenecks --json >"$work/advice.json"

jq -r --slurpfile advice "$work/advice.json" '
	($advice[0].cases | map({ key, value: .advice }) | from_entries) as $of
	| [.cases[] | select(.status == "ok" and .median_ns > 0 and .disturbed_frac <= 0.5
		and .slow_core != true and $of[.key] != null)] as $cases
	| $cases[] as $slow | $cases[] as $fast
	| select($slow.op == $fast.op and $slow.axes == $fast.axes and $slow.cache == $fast.cache)
	| (if $slow.variant == $fast.variant and $slow.threads == 1 and $fast.threads > 1 then "threads"
	   elif $slow.threads == $fast.threads and $fast.median_ns < $slow.median_ns then "variant"
	   else empty end) as $kind
	| ($of[$slow.key] | map(select(if $kind == "threads" then .rule == "threads"
		else .rule as $r | ["vector", "wider", "compute", "stream"] | index($r) != null end))[0]) as $a
	| ($a.steps[$fast.variant]? // $a.gain) as $promised
	| ($slow.median_ns / $fast.median_ns) as $real
	| [$slow.key, if $kind == "threads" then "t=\($fast.threads)" else $fast.variant end, $a.rule // "-", $promised // "-", $real]
	| @tsv' "$work/run.json" >"$work/pairs"

awk -F '\t' '
	$4 == "-" { none++; if ($5 <= 1.5) none_true++; next }
	{
		off = $4 > $5 ? $4 / $5 : $5 / $4
		n++
		good += off <= 1.5
		printf "%s  %-8s promised %5.2fx  real %5.2fx  %s to %s\n", off <= 1.5 ? "true " : "FALSE", $3, $4, $5, $1, $2
	}
	END {
		printf "%d of %d promises (%.0f %%) are within a factor of 1.5 of the real gain", good, n, n ? 100 * good / n : 0
		printf "; of %d pairs nothing was promised, of which %d gained no more than that\n", none, none_true
		exit n && good >= 0.8 * n ? 0 : 1
	}' "$work/pairs"
