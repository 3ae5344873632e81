#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What 'assay profile heap' costs a program that allocates 100,000 times a second between computing: processor time of
# plain, sampled and fully recorded runs, in turn. For figures, not for tests.
# usage: bench/profile_heap_cost.sh [ROUNDS [SECONDS]]   at the top of the tree, after 'make'
set -eu

rounds=${1:-5}
seconds=${2:-2}
tree=$(pwd)
assay=${ASSAY:-$tree/build/bin/assay}
library=$(dirname "$assay")/../lib/assay/assay-heap.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# About 10 µs of arithmetic an allocation; 500 blocks live, of 16 to 1039 bytes, 12 calls deep.
cat >"$work/load.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static volatile uint64_t seed = 1;
static void *held[500];

static __attribute__((noinline)) void compute(unsigned n)
{
	uint64_t x = seed;

	while (n--)
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	seed = x;
}

static __attribute__((noinline)) void take(unsigned depth, unsigned i)
{
	if (depth) {
		take(depth - 1, i);
	} else {
		free(held[i % 500]);
		held[i % 500] = malloc(16 + (seed >> 40) % 1024);
	}
	__asm__ volatile("" ::: "memory");
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const unsigned calls = (unsigned)atoi(argv[1]), work = (unsigned)atoi(argv[2]);
	const double start = cpu_seconds();

	(void)argc;
	for (unsigned i = 0; i < calls; i++) {
		compute(work);
		take(10 + i % 3, i);
	}
	fprintf(stderr, "%.6f\n", cpu_seconds() - start);
	return 0;
}
END
"${CC:-cc}" -O2 -o "$work/load" "$work/load.c"

# steps of arithmetic that take 10 µs here
took=$("$work/load" 100000 2000 2>&1)
steps=$(awk -v t="$took" 'BEGIN { printf "%d", 2000 * 1.0 / t }')
calls=$((100000 * seconds))

one() {
	case $1 in
	plain) "$work/load" "$calls" "$steps" 2>"$work/out" ;;
	idle) LD_PRELOAD=$library "$work/load" "$calls" "$steps" 2>"$work/out" ;;
	sampled) "$assay" profile heap --sample 512KiB -- "$work/load" "$calls" "$steps" 2>"$work/out" >"$work/text" ;;
	all) "$assay" profile heap -- "$work/load" "$calls" "$steps" 2>"$work/out" >"$work/text" ;;
	esac
	grep -E '^[0-9.]+$' "$work/out" >>"$work/$1"
}

for _ in $(seq "$rounds"); do
	for how in plain idle sampled all plain; do
		one "$how"
	done
done

median() {
	sort -g "$work/$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

plain=$(median plain)
echo "| run | processor seconds, median | cost |"
echo "| --- | --- | --- |"
for how in plain idle sampled all; do
	awk -v how="$how" -v t="$(median "$how")" -v plain="$plain" \
		'BEGIN { printf "| %s | %.3f | %+.1f %% |\n", how, t, 100 * (t / plain - 1) }'
done
awk -v plain="$plain" -v calls="$calls" 'BEGIN { printf "plain: %.0f allocations a second\n", calls / plain }'
