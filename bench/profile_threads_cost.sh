#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What 'assay profile threads' costs: lock-step pairs of a watched and a plain process on the same processors, whose two
# threads meet at a barrier every millisecond and take a lock ten times in between. They take turns, ABBA; what is
# compared is processor time, which a busy machine changes less, then wall time. For figures, not for tests.
# usage: bench/profile_threads_cost.sh [PAIRS [SAMPLES]]   at the top of the tree, after 'make'
set -eu

pairs=${1:-6}
samples=${2:-40}
tree=$(pwd)
assay=${ASSAY:-$tree/build/bin/assay}
library=$(dirname "$assay")/../lib/assay/assay-threads.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

cat >"$work/pair.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 50 /* of a sample, each about a millisecond */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile uint64_t sum, steps = 30000;

static double seconds(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rounds(void)
{
	for (int r = 0; r < ROUNDS; r++) {
		uint64_t x = (uint64_t)r;

		for (int part = 0; part < 10; part++) {
			for (uint64_t i = 0; i < steps; i++)
				x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
			pthread_mutex_lock(&lock);
			sum += x;
			pthread_mutex_unlock(&lock);
		}
		pthread_barrier_wait(&barrier);
	}
}

static void *second(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		rounds();
	}
	return arg;
}

/* A process of the pair: a sample for each byte that comes. */
static int serve(void)
{
	pthread_t t;
	char c;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, second, NULL);
	while (read(0, &c, 1) == 1) {
		const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
		double took[2];

		pthread_barrier_wait(&barrier);
		rounds();
		took[0] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		took[1] = seconds(CLOCK_MONOTONIC) - wall;
		if (write(1, took, sizeof(took)) != sizeof(took))
			return 1;
	}
	return 0;
}

static void start(char **argv, const char *preload, const char *folder, int *to, int *from)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	if (!fork()) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (preload) {
			setenv("LD_PRELOAD", preload, 1);
			setenv("ASSAY_THREADS", folder, 1);
		}
		execl(argv[0], argv[0], (char *)NULL);
		_exit(127);
	}
	*to = in[1];
	*from = out[0];
}

/* pair SAMPLES LIBRARY FOLDER: a line "plain watched" of processor time and of wall time for each block of four. */
int main(int argc, char **argv)
{
	int to[2], from[2];

	if (argc == 1)
		return serve();
	start(argv, NULL, NULL, &to[0], &from[0]);
	start(argv, argv[2], argv[3], &to[1], &from[1]);
	for (int s = -1; s < atoi(argv[1]); s++) {
		double sums[2][2] = { { 0 } };

		for (int k = 0; k < 4; k++) {
			const int side = k == 1 || k == 2;
			double took[2];

			if (write(to[side], "x", 1) != 1 || read(from[side], took, sizeof(took)) != sizeof(took))
				return 1;
			sums[side][0] += took[0];
			sums[side][1] += took[1];
		}
		if (s >= 0) /* the first warms up */
			printf("%.9f %.9f\n", sums[1][0] / sums[0][0] - 1, sums[1][1] / sums[0][1] - 1);
	}
	return 0;
}
END
sed -i 's/#include <pthread.h>/#include <fcntl.h>\n#include <pthread.h>/' "$work/pair.c"
"${CC:-cc}" -O2 -pthread -o "$work/pair" "$work/pair.c"

for i in $(seq "$pairs"); do
	mkdir "$work/$i"
	"$work/pair" "$samples" "$library" "$work/$i" | sort -g >"$work/blocks"
	for column in 1 2; do
		cut -d ' ' -f $column "$work/blocks" | sort -g |
			awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }' >>"$work/medians.$column"
	done
done

# Each pair is one observation: its median over blocks. The interval is Student's, at 95 % for up to 20 pairs.
for column in 1 2; do
	awk -v what="$([ $column = 1 ] && echo 'processor time' || echo 'wall time')" '
		BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09", t, " ") }
		{ n++; s += $1; q += $1 * $1 }
		END {
			m = s / n; sd = n > 1 ? sqrt((q - n * m * m) / (n - 1)) : 0; h = n > 1 ? t[n - 1] * sd / sqrt(n) : 0
			printf "%s: %+.2f %% (%+.2f to %+.2f %%), %d pairs: less than 0.5 %% %s\n", what, 100 * m, 100 * (m - h), 100 * (m + h), n,
				m + h < 0.005 ? "shown" : "not shown"
		}' "$work/medians.$column"
done
