#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the two ways to count exactly against each other: bench/exact_agreement.sh [SUITE [REPEATS]]. SUITE of bench/agreement is
# short (default; a minute), all (every variant of quick; ten minutes), long (up to 50 million steps a call) or families (a cheap case
# of each family, for repeats). REPEATS (0) are taken of every case in both ways, half of them beside a load of eight processes; those
# of AVX-512 and of two threads are stepped. Instructions, reads and writes must be equal, misses
# of D1 and of the last level within 1 %, so fewer than 100 must be equal; every repeat equal. Prints a table, what differs, and
# AGREES or, with exit status 1, DIFFERS. ONLY=GLOB in the environment takes the cases that match, and none of AVX-512.
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
# valgrind 3.19 misses the read of a masked load (vmaskmovps) and counts an instruction more for each element that it reads, so it must
# differ by exactly these. Of a cold call the simulator has seen the harness touch the first lines of the stack, so up to 4 lines
# miss only when stepped, on both levels. The data of a counted call is put in place before it, whose code may cost the simulator a line.
jq -r -n --slurpfile a "$out/callgrind.json" --slurpfile b "$out/stepped.json" '
	([$b[0].cases[] | {key, value: .}] | from_entries) as $stepped |
	["case", "instructions", "reads", "writes", "D1 misses", "stepped", "LL misses", "stepped", ""],
	($a[0].cases[] | select(.status == "ok") | .key as $key | .counters as $c | $stepped[$key] as $s |
	[$key] + if $s.status != "ok" then [$c.instructions.value, "", "", "", "", "", "", "DIFFERS: \($s.status) \($s.reason)"] else
		($s.mix.masked_reads // 0) as $masked |
		($s.counters.d1_misses.value - $c.d1_misses.value) as $more |
		(if ($key | endswith("/cold")) and $more > 0 and $more <= 4 then $more else 0 end) as $first |
		{instructions: ($s.mix.masked_elements // 0), data_reads: (0 - $masked)} as $defect |
		[($c | .instructions, .data_reads, .data_writes, .d1_misses | .value), $s.counters.d1_misses.value, $c.ll_misses.value,
			$s.counters.ll_misses.value, ([("instructions", "data_reads", "data_writes") |
				select($c[.].value != $s.counters[.].value + ($defect[.] // 0)) | "\(.) \($s.counters[.].value)"] +
			[("d1_misses", "ll_misses") | select(($c[.].value + $first - $s.counters[.].value | fabs) > ([$c[.].value / 100, 1] | max))] |
			if length > 0 then "DIFFERS: stepped " + join(", ") elif $masked > 0 then
				"AGREES, but for \($masked) masked loads, which callgrind miscounts"
			elif $first > 0 then "AGREES, but for \($first) lines that the harness touches first" else "" end)] end) | @tsv' >"$out/table"
awk -F '\t' 'NR == FNR { for (i = 1; i <= NF; i++) w[i] = length($i) > w[i] ? length($i) : w[i]; next }
	{ for (i = 1; i < NF; i++) printf "%-*s  ", w[i], $i; print $NF }' "$out/table" "$out/table"
echo "$(($(wc -l <"$out/table") - 1)) cases counted in both ways"

# What the loops of AVX-512 kernels must do, by hand: key, count, least, most. A VPDPBUSD calculates 128 times, 64 products a sum;
# stores are of 64 bytes, but for tails; blocks of q8_0 have 34 bytes for 32 values; a pass of a stream moves as much as its arrays
# hold, half of the 48 KiB of D1 or of the 2 MiB that count as L2. Peaks do 64 steps of 384 lanes. Most: what unpacks codes, the stack,
# tables and the job.
theory() {
	local gemv=$((2 * 64 * 256)) l1=$((24 << 10)) l2=$((1 << 20)) peak=$((64 * 384))
	cat <<-END
	matmul.ternary/avx512vnni/m=64,k=256,n=1 integer_512_operations $gemv $((3 * gemv))
	matmul.ternary/avx512vnni/m=64,k=256,n=8 integer_512_operations $((8 * gemv)) $((9 * gemv))
	quantize.q8_0/avx512/n=512 bytes_read $((512 * 4)) $((3 * 512 * 4))
	quantize.q8_0/avx512/n=512 bytes_written $((512 * 34 / 32)) $((512 * 34 / 32 + 1024))
	dequantize.q8_0/avx512/n=512 bytes_read $((512 * 34 / 32)) $((512 * 34 / 32 + 1024))
	dequantize.q8_0/avx512/n=512 bytes_written $((512 * 4)) $((512 * 4 + 1024))
	stream.read/avx512/level=l1,passes=2 bytes_read $((2 * l1)) $((2 * l1 + 1024))
	stream.read/avx512/level=l2,passes=1 bytes_read $l2 $((l2 + 1024))
	stream.copy/avx512/level=l2,passes=1 bytes_read $((l2 / 2)) $((l2 / 2 + 1024))
	stream.copy/avx512/level=l2,passes=1 bytes_written $((l2 / 2)) $((l2 / 2 + 1024))
	stream.triad/avx512/level=l1,passes=2 bytes_read $((2 * l1 * 2 / 3)) $((2 * l1 * 2 / 3 + 1024))
	stream.triad/avx512/level=l1,passes=2 bytes_written $((2 * l1 / 3)) $((2 * l1 / 3 + 1024))
	peak.f32_fma/avx512/steps=64 float_512_operations $((2 * peak)) $((2 * peak))
	peak.i8_dot/avx512vnni/steps=64 integer_512_operations $((8 * peak)) $((8 * peak))
	peak.ternary_dot/avx512vnni/steps=64 integer_512_operations $((8 * peak)) $((8 * peak))
	END
}
if grep -q avx512_vnni /proc/cpuinfo && [ -z "${ONLY:-}" ]; then
	count widest stepped --only '*/avx512*'
else
	echo '{"cases": []}' >"$out/widest.json"
fi
while read -r key count least most; do
	[ -z "${ONLY:-}" ] || break
	jq -r --arg key "$key" --arg count "$count" --argjson least "$least" --argjson most "$most" '
		.cases[] | select(.key | startswith($key + "/")) | (.mix[$count] // 0) as $n |
		"\(.key): \($count) \($n), by hand \($least) to \($most)" + if $n >= $least and $n <= $most then "" else " DIFFERS" end' \
		"$out/widest.json"
done < <(theory) | tee -a "$out/table"

# repeat SOURCE AGAIN: one more time, against the counts in SOURCE.json.
repeat() {
	local source=$1 again=$2 options=("${common[@]}")

	[ "$source" != widest ] || options=(--only '*/avx512*')
	count repeat "${source/widest/stepped}" "${options[@]}"
	if ! diff <(jq -S '[.cases[] | del(.log)]' "$out/$source.json") <(jq -S '[.cases[] | del(.log)]' "$out/repeat.json"); then
		echo "DIFFERS: repeat $again, $source" | tee -a "$out/table"
	fi
	rm -f "$out"/repeat.db*
}
for ((i = 1; i <= repeats; i++)); do
	[ "$i" != $((repeats / 2 + 1)) ] || start_load
	repeat callgrind "$i"
	repeat stepped "$i"
	[ "$(jq '.cases | length' "$out/widest.json")" = 0 ] || repeat widest "$i"
done
stop_load
[ "$repeats" = 0 ] || jq -r -s --arg n "$repeats" '[.[].cases[] | select(.status == "ok")] | length |
	"\($n) repeats of \(.) counts, half of them beside a load of 8"' "$out"/{callgrind,stepped,widest}.json
if grep -q DIFFERS "$out/table"; then
	echo DIFFERS
	exit 1
fi
echo AGREES
