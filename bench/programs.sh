#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How far can verdicts about programs be trusted on this machine? Compares programs of which the answer is known, and counts the
# verdicts. Each call adds to those in OUT, so that it can be stopped and go on.
# usage: bench/programs.sh KIND [N]
#   identical  N comparisons of a command with itself, 300 by default; fails if more than 1 % are REGRESSED
#   slower     N comparisons with a command that has PERCENT more to do, 100 and 2 by default
#   gates      N comparisons of a binary of Google Benchmark with itself, 50 by default: 20 benchmarks each, with PERCENT one of
#              them has so much more to do; fails if another one, or without PERCENT any, is REGRESSED
#   start      the fastest of 100 starts of 'true' with assay and with hyperfine, N times in turn, 20 by default
# MS=100: a command takes about so long, 10 ms by default. LOAD=4: beside so many busy processes. OPTIONS go to assay; the default is
# OPTIONS="--budget 2s".
set -eu

kind=${1:?which? identical, slower, gates or start: see the head of this file}
assay=$(realpath "${ASSAY:-build/bin/assay}")
load=${LOAD:-0}
percent=${PERCENT:-0}
[ "$kind" != slower ] || percent=${PERCENT:-2}
loops=$((45000 * ${MS:-10}))
case $kind in
identical) default=300 ;;
slower) default=100 ;;
gates) default=50 ;;
start) default=20 ;;
*) echo "unknown kind '$kind': identical, slower, gates or start" >&2 && exit 2 ;;
esac
n=${2:-$default}
out=${OUT:-build/programs/$kind-load-$load-percent-$percent-ms-${MS:-10}}
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

loop() {
	echo "awk 'BEGIN { for (i = 0; i < $1; i++) s += i }'"
}

# compared ARGUMENT...: the JSON of a comparison and its exit status.
compared() {
	status=0
	# shellcheck disable=SC2086 # OPTIONS are words
	"$assay" "$@" --db "$dir/db" --json ${OPTIONS:---budget 2s} >"$dir/compared" 2>"$dir/said" || status=$?
	rm -f "$dir"/db*
	[ -s "$dir/compared" ] || { cat "$dir/said" >&2 && exit 1; }
}

# A repository with a program that has 20 benchmarks; the seventh does 1000 + EXTRA steps.
repository() {
	mkdir -p "$dir/repo/bench/suites" "$dir/repo/baselines"
	cd "$dir/repo"
	{
		echo '#include <benchmark/benchmark.h>'
		echo 'template <int I> static void BM(benchmark::State &s) { for (auto _ : s) { unsigned x = I;'
		echo 'for (int i = 0; i < 1000 + (I == 7 ? EXTRA : 0); i++) benchmark::DoNotOptimize(x = x * 1664525u + 1013904223u); } }'
		for i in $(seq 20); do echo "BENCHMARK_TEMPLATE(BM, $i);"; done
		echo 'BENCHMARK_MAIN();'
	} >b.cpp
	# shellcheck disable=SC2016 # the build expands it
	echo 'build = "g++ -O2 -DEXTRA=$(cat extra) -o b b.cpp -lbenchmark -lpthread"' >assay.conf
	printf 'bench = "bench"\nbaselines = "baselines"\n' >>assay.conf
	echo 'bench "b" { command = "./b" reads = "google-benchmark" threads = "1" }' >bench/b.bench
	echo 'suite "quick" { use "b" { } }' >bench/suites/quick.suite
	echo 'margin "*" { paired = "1%" }' >baselines/policy.conf
	echo /b >.gitignore
	echo 0 >extra
	git init -q -b main && git add . && git -c user.name=a -c user.email=a@b commit -qm base
	echo $((10 * percent)) >extra
}

# What one comparison comes to: a line whose first word is counted.
one() {
	case $kind in
	start)
		a=$("$assay" time true --min-runs 100 --warmup 5 --budget 1us --db "$dir/db" --json | jq '.commands[0].min_s * 1e6 | round')
		hyperfine -N -r 100 -w 5 --style none --export-json "$dir/h" true >/dev/null 2>&1
		echo "$([ "$a" -le "$(jq '.results[0].min * 1e6 | round' "$dir/h")" ] && echo less || echo more) $a us, hyperfine" \
			"$(jq '.results[0].min * 1e6 | round' "$dir/h") us"
		;;
	gates)
		compared compare main --profile no --seed "$1"
		jq -r --argjson status "$status" '[.cases[] | select(.verdict == "REGRESSED") | .key | split("/")[2]] as $found
			| (if $found == [] then "none" elif ($found | all(. == "BM<7>")) then "seventh" else "other" end) + " \($status) \($found)"' \
			"$dir/compared"
		;;
	*)
		compared time "$(loop "$loops")" "$(loop $((loops + loops * percent / 100)))" --seed "$1"
		jq -r --argjson status "$status" '.comparisons[0] | "\(.verdict) \(.ratio) \(.ci[0]) \(.ci[1]) \(.pairs) \($status)"' "$dir/compared"
		;;
	esac
}

mkdir -p "${out%/*}"
out=$(realpath "$out")
touch "$out"
[ "$kind" != gates ] || repository
for _ in $(seq "$load"); do
	awk 'BEGIN { for (;;) i++ }' &
	neighbours="$neighbours $!"
done
while i=$(wc -l <"$out") && [ "$i" -lt "$n" ]; do
	one "$i" >>"$out"
done
awk -v kind="$kind" -v percent="$percent" '
	{ n[$1]++ }
	END {
		for (word in n) printf "%s %d of %d\n", word, n[word], NR
		exit kind == "identical" && n["REGRESSED"] > NR / 100 || kind == "gates" && (n["other"] || !percent && n["seventh"])
	}' "$out"
