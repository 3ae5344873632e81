#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the two ways to count exactly against each other: bench/exact_agreement.sh [SUITE [REPEATS]]. SUITE of bench/agreement is
# short (default; a minute), all (an hour: up to 4 million steps a call) or long. REPEATS (0) are taken of every case that is stepped,
# half of them beside a load of eight processes. Instructions, reads and writes must be equal, misses of D1 and of the last level
# within 1 % and 4; every repeat equal. Prints a table; exit status 1 and what differs where they do not agree. ONLY=GLOB in the
# environment takes the cases that match, and none of AVX-512.
set -euo pipefail

suite=${1:-short}
repeats=${2:-0}
assay=$(realpath "${ASSAY:-build/bin/assay}")
benches=$(cd "$(dirname "$0")/agreement" && pwd)
out=$(mktemp -d)
load=()

stop_load() {
	[ ${#load[@]} = 0 ] || kill "${load[@]}" 2>/dev/null || :
	load=()
}
trap 'stop_load; rm -rf "$out"' EXIT

start_load() {
	for _ in 1 2 3 4 5 6 7 8; do
		awk 'BEGIN { for (;;) for (i = 0; i < 100000; i++) a[i] = i }' &
		load+=($!)
	done
}

# count NAME SOURCE [OPTION...]: the counts of the suite that SOURCE took. What cannot be counted there has a status; nothing at all is
# an error.
count() {
	local name=$1 source=$2

	shift 2
	"$assay" run --evidence exact --bench-dir "$benches" --suite "$suite" --counter-source "$source" --steps 80000000 "$@" \
		--db "$out/$name.db" --json >"$out/$name.json" 2>"$out/$name.words" || :
	if ! [ -s "$out/$name.json" ] || ! jq -e '[.cases[] | select(.status == "ok")] | length > 0' "$out/$name.json" >/dev/null; then
		cat "$out/$name.words"
		jq -r '[.cases[].reason] | unique[]' "$out/$name.json"
		exit 1
	fi
}

# ops, too, choose their code by what the CPU has, and valgrind has AVX2
common=(--isa avx2 --only "${ONLY:-*}")
count callgrind callgrind "${common[@]}"
count stepped stepped "${common[@]}"
jq -r -n --slurpfile a "$out/callgrind.json" --slurpfile b "$out/stepped.json" '
	([$b[0].cases[] | {key, value: .}] | from_entries) as $stepped |
	["case", "instructions", "reads", "writes", "D1 misses", "stepped", "LL misses", "stepped", ""],
	($a[0].cases[] | select(.status == "ok") | .key as $key | .counters as $c | $stepped[$key] as $s |
	[$key] + if $s.status != "ok" then [$c.instructions.value, "", "", "", "", "", "", "DIFFERS: \($s.status) \($s.reason)"] else
		[($c | .instructions, .data_reads, .data_writes, .d1_misses | .value), $s.counters.d1_misses.value, $c.ll_misses.value,
			$s.counters.ll_misses.value, ([("instructions", "data_reads", "data_writes") |
				select($c[.].value != $s.counters[.].value) | "\(.) \($s.counters[.].value)"] +
			[("d1_misses", "ll_misses") | select(($c[.].value - $s.counters[.].value | fabs) > 4 + $c[.].value / 100)] |
			if length > 0 then "DIFFERS: stepped " + join(", ") else "" end)] end) | @tsv' >"$out/table"
column -t -s $'\t' "$out/table"
echo "$(($(wc -l <"$out/table") - 1)) cases counted in both ways"

# What the loops of AVX-512 kernels must do, by hand: key, count, least, most. A VPDPBUSD calculates 128 times, 64 products a sum;
# stores are of 64 bytes, but for tails; blocks of q8_0 have 34 bytes for 32 values; a stream moves 16 MiB a call and reads or writes
# 64 bytes at a time. Most: what unpacks codes, the stack, tables and the job.
theory() {
	local gemv=$((2 * 64 * 256)) mib16=$((16 << 20))
	cat <<-END
	matmul.ternary/avx512vnni/m=64,k=256,n=1 integer_512_operations $gemv $((3 * gemv))
	matmul.ternary/avx512vnni/m=64,k=256,n=8 integer_512_operations $((8 * gemv)) $((9 * gemv))
	quantize.q8_0/avx512/n=512 bytes_read $((512 * 4)) $((3 * 512 * 4))
	quantize.q8_0/avx512/n=512 bytes_written $((512 * 34 / 32)) $((512 * 34 / 32 + 1024))
	dequantize.q8_0/avx512/n=512 bytes_read $((512 * 34 / 32)) $((512 * 34 / 32 + 1024))
	dequantize.q8_0/avx512/n=512 bytes_written $((512 * 4)) $((512 * 4 + 1024))
	stream.read/avx512/level=l1 bytes_read $((mib16 * 99 / 100)) $((mib16 * 101 / 100))
	stream.copy/avx512/level=l3 bytes_read $((mib16 * 99 / 200)) $((mib16 * 101 / 200))
	stream.copy/avx512/level=l3 bytes_written $((mib16 * 99 / 200)) $((mib16 * 101 / 200))
	stream.triad/avx512/level=l1 bytes_read $((mib16 * 2 * 99 / 300)) $((mib16 * 2 * 101 / 300))
	END
}
if grep -q avx512_vnni /proc/cpuinfo && [ -z "${ONLY:-}" ]; then
	count widest stepped --only '*/avx512*'
else
	echo '{"cases": []}' >"$out/widest.json"
fi
while read -r key count least most; do
	jq -r --arg key "$key" --arg count "$count" --argjson least "$least" --argjson most "$most" '
		.cases[] | select(.status == "ok" and (.key | startswith($key + "/"))) | .mix[$count] as $n |
		"\(.key): \($count) \($n), by hand \($least) to \($most)" + if $n >= $least and $n <= $most then "" else " DIFFERS" end' \
		"$out/widest.json"
done < <(theory) | tee -a "$out/table"

for ((i = 1; i <= repeats; i++)); do
	[ "$i" != $((repeats / 2 + 1)) ] || start_load
	count repeat stepped "${common[@]}"
	if ! diff <(jq -S '[.cases[] | del(.log)]' "$out/stepped.json") <(jq -S '[.cases[] | del(.log)]' "$out/repeat.json"); then
		echo "DIFFERS: repeat $i" | tee -a "$out/table"
	fi
	rm -f "$out"/repeat.db*
done
stop_load
[ "$repeats" = 0 ] || echo "$repeats repeats, half of them beside a load of 8"
! grep -q DIFFERS "$out/table"
