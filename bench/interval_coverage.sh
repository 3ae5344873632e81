#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does the 95 % interval of a run cover the time that other runs find? Measures kernels of 0.1 µs to some ms, in L1, L3
# and memory, in RUNS fresh runs, and counts the runs whose interval covers the median of all. Exits with 1 if fewer than
# 90 % do.
# usage: bench/interval_coverage.sh [RUNS], 100 by default. OPTIONS go to `assay run`, such as OPTIONS="--rounds 5".
set -eu

runs=${1:-100}
assay=${ASSAY:-build/bin/assay}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

mkdir "$dir/suites"
cat >"$dir/coverage.bench" <<'EOF'
bench "token" { op = "dequantize.i8_token" variants = {"[!r]*"} shapes = {"tokens=1,dim=2560"} cache = {"warm", "cold"} budget = "150ms" }
bench "l1"    { op = "stream.read" variants = {"[!r]*"} shapes = {"level=l1,passes=40", "level=l1,passes=4000"} budget = "150ms" }
bench "l3"    { op = "stream.read" variants = {"[!r]*"} shapes = {"level=l3,passes=1"} budget = "150ms" }
bench "q8"    { op = "dequantize.q8_0" variants = {"[!r]*"} shapes = {"n=65536", "n=2097152"} cache = {"warm", "cold"} budget = "150ms" }
EOF
printf 'suite "coverage" { use "*" {} }\n' >"$dir/suites/coverage.suite"

i=0
while [ "$i" -lt "$runs" ]; do
	i=$((i + 1))
	# shellcheck disable=SC2086 # OPTIONS are words
	"$assay" run --bench-dir "$dir" --suite coverage --seed "$i" --db "$dir/db" --json ${OPTIONS:-} >"$dir/run" 2>"$dir/said" ||
		{
			cat "$dir/said" >&2
			jq -r '.cases[] | select(.reason) | "\(.status): \(.key): \(.reason)"' "$dir/run" >&2
			exit 1
		}
	jq -c '.cases[] | select(.status == "ok") | [.key, .median_ns, .ci95_ns]' "$dir/run" >>"$dir/all"
done

jq -rs --argjson runs "$runs" '
	def middle: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
	def percent: . * 1000 | round / 10;
	[group_by(.[0])[] | (map(.[1]) | middle) as $all | {
		key: .[0][0], ns: $all, n: length,
		covered: (map(select(.[2] != null and .[2][0] <= $all and $all <= .[2][1])) | length),
		half: (map(select(.[2] != null) | (.[2][1] - .[2][0]) / 2 / .[1]) | if length > 0 then middle else 0 end),
		spread: (map((.[1] / $all | log) * (.[1] / $all | log)) | add / length | sqrt)
	}] | (["covered", "of", "median_ns", "interval_pm_%", "sd_of_runs_%", "case"] | @tsv),
	     (.[] | [.covered, .n, (.ns * 10 | round / 10), (.half | percent), (.spread | percent), .key] | @tsv),
	     (if all(.[]; .covered >= 0.9 * $runs) then empty else "too few covered" end)' "$dir/all" >"$dir/table"
cat "$dir/table"
! grep -q 'too few covered' "$dir/table"
