#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What profiling costs whoever is profiled, for figures and not for tests. At the top of the tree, after 'make':
#     bench/profile_cost.sh cpu [TIME] [CASE...]         turns of a worker that are sampled against turns that are not
#     bench/profile_cost.sh sample                       how long one sample keeps a thread from its work
#     bench/profile_cost.sh threads|heap [PAIRS [BLOCKS]]  a watched process and a plain one, in turn
# WAIT='flock -x FILE', or the like, goes before each measurement. A bound is "shown" where the upper end of the
# interval is below it, "missed" where the lower end is above it.
set -eu

kind=${1:-}
[ $# -eq 0 ] || shift
source=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$source/build/bin/assay}
libraries=$(cd "$(dirname "$assay")/../lib/assay" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

compile() {
	"${CC:-cc}" -O2 -pthread -o "$work/$1" "$source/tests/cost/$1.c"
}

# "shown", "missed" or "not shown": verdict LOW HIGH BOUND, all in %
verdict() {
	awk -v lo="$1" -v hi="$2" -v bound="$3" 'BEGIN { print((hi < bound) ? "shown" : (lo > bound) ? "missed" : "not shown") }'
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

cost_of_cpu() {
	time=${1:-40s}
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- quantize.q8_0/avx2/n=1048576/t=1/warm matmul.ternary/avx2/m=2560,k=2560,n=1/t=1/warm
	printf 'case\tcost at 997 Hz\tcost at 20 kHz\tless than 1 %%\tcontrol\n'
	for key; do
		# shellcheck disable=SC2086
		${WAIT:-} "$assay" profile cpu "$key" --cost --for "$time" |
			awk '{ gsub(/[()%+,]/, ""); print $4, $5, $7 }' >"$work/costs"
		{
			read -r cost lo hi
			read -r cost2 lo2 hi2
		} <"$work/costs"
		printf '%s\t%s %% (%s to %s %%)\t%s %% (%s to %s %%)\t%s\t%s\n' "$key" "$cost" "$lo" "$hi" "$cost2" "$lo2" "$hi2" \
			"$(verdict "$lo" "$hi" 1)" \
			"$(awk -v lo="$lo2" -v cost="$cost" 'BEGIN { print((lo > 0 && lo > cost) ? "caught" : "not caught") }')"
	done
}

# The least of medians, taken in turn: a neighbour on the host, or on the other thread of a core, makes all longer.
cost_of_sample() {
	compile sample_gap
	sizes='-1 0 2048 4096 8192'
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		for bytes in $sizes; do
			# shellcheck disable=SC2086
			${WAIT:-} "$work/sample_gap" 10000 0.3 $bytes | cut -d ' ' -f 2 >>"$work/gaps.$bytes"
		done
	done
	printf 'copied of the stack\tinterruption\tat 997 Hz\n'
	for bytes in $sizes; do
		sort -g "$work/gaps.$bytes" | head -n 1 |
			awk -v bytes="$bytes" '{ printf "%s\t%.2f µs\t%.2f %%\n", bytes < 0 ? "0 bytes, no registers" : bytes " bytes", $1, $1 * 997 / 1e4 }'
	done
}

# Each pair of processes is one observation: the median of its blocks. The interval is Student's, at 98 %, so that
# either end is passed by chance once in a hundred. interval FILE NAME BOUND
interval() {
	awk -v what="$2" -v bound="$3" '
		BEGIN { split("31.82 6.96 4.54 3.75 3.36 3.14 3.00 2.90 2.82 2.76 2.72 2.68 2.65 2.62 2.60 2.58 2.57 2.55 2.54", t, " ") }
		{ n++; s += $1; q += $1 * $1 }
		END {
			m = s / n; sd = n > 1 && q > n * m * m ? sqrt((q - n * m * m) / (n - 1)) : 0
			h = n > 1 ? (n > 20 ? t[19] : t[n - 1]) * sd / sqrt(n) : m
			said = (100 * (m + h) < bound) ? "shown" : (100 * (m - h) > bound) ? "missed" : "not shown"
			printf "%s\t%+.2f %% (%+.2f to %+.2f %%)\t%d\tless than %s %%: %s\n", what, 100 * m, 100 * (m - h), 100 * (m + h), n, bound, said
		}' "$1"
}

# pairs NAME BOUND LOAD PAIRS BLOCKS [NAME=VALUE...]
pairs() {
	name=$1 bound=$2 load=$3 count=$4 blocks=$5
	shift 5
	rm -f "$work"/cpu "$work"/wall
	while [ "$count" -gt 0 ]; do
		count=$((count - 1))
		rm -rf "$work/records"
		mkdir "$work/records"
		# shellcheck disable=SC2086
		${WAIT:-} "$work/watched_pair" "$load" "$blocks" "$steps" "$@" >"$work/blocks"
		cut -d ' ' -f 1 "$work/blocks" | median >>"$work/cpu"
		cut -d ' ' -f 2 "$work/blocks" | median >>"$work/wall"
	done
	interval "$work/cpu" "$name, processor time" "$bound"
	interval "$work/wall" "$name, wall time" "$bound"
}

cost_of_pairs() {
	compile watched_pair
	steps=$("$work/watched_pair" steps)
	printf 'watched\tcost\tpairs\tbound\n'
	if [ "$kind" = threads ]; then
		pairs threads 0.5 threads "${1:-10}" "${2:-40}" LD_PRELOAD="$libraries/assay-threads.so" ASSAY_THREADS="$work/records"
		return
	fi
	pairs 'heap, sampled' 3 heap "${1:-10}" "${2:-40}" LD_PRELOAD="$libraries/assay-heap.so" ASSAY_HEAP_SITES="$work/records" \
		ASSAY_HEAP_SAMPLE=524288
	pairs 'heap, every allocation' 10 heap "${1:-10}" "${2:-40}" LD_PRELOAD="$libraries/assay-heap.so" ASSAY_HEAP_SITES="$work/records" \
		ASSAY_HEAP_SAMPLE=0
}

case $kind in
cpu) cost_of_cpu "$@" ;;
sample) cost_of_sample ;;
threads | heap) cost_of_pairs "$@" ;;
*)
	sed -n '3,8s/^# //p' "$0" >&2
	exit 2
	;;
esac
