#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that people have, as Debian packages them: what assay reads is what they print. tests/fixtures/programs has their benches.
load helpers

# real NAME: measure the bench of that name. Its cases are in `cases`, and what its program printed is in `log`.
real() {
	"$ASSAY" run --bench-dir "$ASSAY_SOURCE/tests/fixtures/programs" --suite real --only "$1/*" --json >out.json || {
		jq '.cases[] | .status, .reason, .log' out.json
		return 1
	}
	jq '.cases' out.json >cases
	jq -r '.cases[0].log' out.json >log
	jq -e '[.[].status] | length > 0 and unique == ["ok"]' cases
}

needs() {
	command -v "$1" || skip "there is no $1: install the package $2"
}

# about VALUE NUMBER: VALUE, a jq expression of the cases, is NUMBER in another unit, which is a factor of a thousand; a time is the median
# of several runs, of which the last printed NUMBER.
about() {
	jq -e --argjson v "$2" "$1 / \$v | . > 0.02 and . < 50" cases
}

# printed: the metrics are the numbers $size, $compress and $decompress that the last run printed.
printed() {
	jq -e --argjson size "$size" '.[0].metrics | .size.value == $size and .size.unit == "B" and .compress.unit == "B/s"' cases
	about '.[0].metrics.compress.value' "${compress}e6"
	about '.[0].metrics.decompress.value' "${decompress}e6"
}

corpus() {
	head -c 300000 "$ASSAY_BUILD/bin/assay" >corpus
}

@test "lz4 -b" {
	needs lz4 lz4
	corpus
	real lz4
	jq -e '[.[].key] == ["lz4/lz4/level=1/t=1/-", "lz4/lz4/level=9/t=1/-"]' cases
	# 1#corpus : 300000 -> 187654 (1.599), 400.1 MB/s ,1900.3 MB/s
	read -r _ size compress decompress < <(sed -nE 's/.*: *([0-9]+) -> *([0-9]+) \([0-9.]+\), *([0-9.]+) MB\/s *, *([0-9.]+) MB\/s.*/\1 \2 \3 \4/p' log)
	printed
	# level 9 is smaller, on any machine
	jq -e '.[1].metrics.size.value < .[0].metrics.size.value' cases
}

@test "zstd -b" {
	needs zstd zstd
	corpus
	real zstd
	read -r size compress decompress < <(sed -nE 's/.*-> *([0-9]+) \([x0-9.]+\), *([0-9.]+) MB\/s[, ]+([0-9.]+) MB\/s.*/\1 \2 \3/p' log)
	printed
}

@test "openssl speed" {
	needs openssl openssl
	real openssl
	speed=$(sed -nE 's/^sha256 +([0-9.]+)k.*/\1/p' log)
	about '.[0].metrics.sha256.value' "${speed}e3"
	jq -e '.[0].metrics.sha256 | .unit == "B/s" and .better == "higher"' cases
}

@test "sqlite3" {
	needs sqlite3 sqlite3
	real sqlite3
	jq -e '.[0].metrics | .rows.value == 100000 and .rows.better == "higher" and .time_s.value > 0' cases
	grep -q '^100000$' log
}

@test "a binary of libbenchmark" {
	command -v g++ || skip "there is no g++: install the package g++"
	g++ -O1 "$ASSAY_SOURCE/tests/fixtures/programs/bench_sum.cpp" -o bench_sum -lbenchmark -lpthread ||
		skip "there is no Google Benchmark: install the package libbenchmark-dev"
	real libbenchmark
	jq -e '[.[].key] == ["libbenchmark/bench_sum/sum,arg1=1000/t=1/-", "libbenchmark/bench_sum/sum,arg1=10000/t=1/-"]' cases
	about '.[0].median_ns' "$(awk '$1 == "sum/1000" { print $2 }' log)"
	jq -e '.[0].metrics | .bytes_per_s.value > 0 and .bytes_per_s.better == "higher" and .wall_s.value > .time_s.value' cases
	# each process measured its own benchmark alone
	[ "$(grep -c '^sum/' log)" = 1 ]
	! grep -q '^sum/10000' log
}

@test "hyperfine" {
	needs hyperfine hyperfine
	seq 2000 >words
	real hyperfine
	jq -e '.[0] | (.key | startswith("hyperfine/hyperfine/sort_words/")) and .median_ns > 1e5 and .metrics.wall_s.value > .metrics.time_s.value' cases
}

@test "pyperf" {
	python3 -c 'import pyperf' || skip "there is no pyperf: 'pip install pyperf' gets it"
	real pyperf
	jq -e '.[0] | .metrics.time_s.value > 1e-8 and .metrics.time_s.value < 1 and .metrics.wall_s.value > .metrics.time_s.value' cases
}
