/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes of one program, of which one is watched, take turns on the same processors in the order ABBA:
 *     watched_pair LOAD BLOCKS STEPS [NAME=VALUE...]
 * prints a line a block: processor time and wall time of the watched one against the other's, minus one. The watched
 * one has NAME=VALUE in its environment. LOAD is "threads", two of which meet at a barrier every millisecond and take a
 * lock ten times in between, or "heap", which allocates every 10 µs. STEPS of arithmetic take 10 µs;
 *     watched_pair steps
 * says how many do here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS      20 /* of a sample, each a millisecond */
#define PARTS       10 /* of a round, between which the lock is taken */
#define ALLOCATIONS 2000
#define LIVE        500

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile uint64_t sum = 1;
static void *held[LIVE];
static uint64_t steps;

static double seconds(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static __attribute__((noinline)) uint64_t compute(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return x;
}

static void pin(size_t number)
{
	cpu_set_t all, one;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	number %= (size_t)CPU_COUNT(&all);
	for (size_t seen = 0; seen <= number;)
		seen += CPU_ISSET(++cpu, &all) != 0;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

/* ---- loads ---- */

static void rounds(void)
{
	for (uint64_t r = 0; r < ROUNDS; r++) {
		for (int part = 0; part < PARTS; part++) {
			const uint64_t x = compute(r, 100 / PARTS * steps);

			pthread_mutex_lock(&lock);
			sum += x;
			pthread_mutex_unlock(&lock);
		}
		pthread_barrier_wait(&barrier);
	}
}

static void *second(void *arg)
{
	pin(1);
	for (;;) {
		pthread_barrier_wait(&barrier);
		rounds();
	}
	return arg;
}

static void start_threads(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, second, NULL);
}

static void meet(void)
{
	pthread_barrier_wait(&barrier);
	rounds();
}

static __attribute__((noinline)) void take(unsigned depth, unsigned i)
{
	if (depth) {
		take(depth - 1, i);
	} else {
		free(held[i % LIVE]);
		held[i % LIVE] = malloc(16 + (sum >> 40) % 1024);
	}
	__asm__ volatile("" ::: "memory"); /* no jump in place of the call */
}

/* From three call sites' depths. */
static void allocate(void)
{
	for (unsigned i = 0; i < ALLOCATIONS; i++) {
		sum = compute(sum, steps);
		take(10 + i % 3, i);
	}
}

static void nothing(void)
{
}

static const struct load {
	const char *name;
	void (*begin)(void);
	void (*sample)(void);
} loads[] = { { "threads", start_threads, meet }, { "heap", nothing, allocate } };

/* ---- processes ---- */

/* A sample for each byte that comes, and what it took. */
static int serve(const struct load *l)
{
	char c;

	pin(0);
	l->begin();
	while (read(0, &c, 1) == 1) {
		const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
		double took[2];

		l->sample();
		took[0] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		took[1] = seconds(CLOCK_MONOTONIC) - wall;
		if (write(1, took, sizeof(took)) != sizeof(took))
			return 1;
	}
	return 0;
}

static void start(char **argv, char **settings, int *to, int *from)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	if (!fork()) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		for (; settings && *settings; settings++)
			putenv(*settings);
		execl("/proc/self/exe", argv[0], argv[1], "serve", argv[3], (char *)NULL);
		_exit(127);
	}
	*to = in[1];
	*from = out[0];
}

static int take_turns(int blocks, const int to[2], const int from[2])
{
	for (int b = -2; b < blocks; b++) {
		double sums[2][2] = { { 0 } };

		for (int k = 0; k < 4; k++) {
			const int side = k == 1 || k == 2;
			double took[2];

			if (write(to[side], "x", 1) != 1 || read(from[side], took, sizeof(took)) != sizeof(took))
				return 1;
			sums[side][0] += took[0];
			sums[side][1] += took[1];
		}
		if (b >= 0) /* the first warm up */
			printf("%.9f %.9f\n", sums[1][0] / sums[0][0] - 1, sums[1][1] / sums[0][1] - 1);
	}
	return 0;
}

/* How many steps take 10 µs: the least of some tries. */
static int find_steps(void)
{
	double least = 1;

	for (int i = 0; i < 200; i++) {
		const double began = seconds(CLOCK_MONOTONIC);

		sum = compute(sum, 100000);
		least = seconds(CLOCK_MONOTONIC) - began < least ? seconds(CLOCK_MONOTONIC) - began : least;
	}
	printf("%.0f\n", 100000 * 10e-6 / least);
	return 0;
}

int main(int argc, char **argv)
{
	const struct load *l = NULL;
	int to[2], from[2];

	if (argc == 2 && !strcmp(argv[1], "steps"))
		return find_steps();
	for (size_t i = 0; argc >= 4 && i < sizeof(loads) / sizeof(loads[0]); i++)
		l = !strcmp(argv[1], loads[i].name) ? &loads[i] : l;
	if (!l) {
		fprintf(stderr,
			"usage: watched_pair threads|heap BLOCKS STEPS [NAME=VALUE...], or watched_pair steps\n");
		return 2;
	}
	steps = strtoull(argv[3], NULL, 10);
	if (!strcmp(argv[2], "serve"))
		return serve(l);
	start(argv, NULL, &to[0], &from[0]);
	start(argv, argv + 4, &to[1], &from[1]);
	return take_turns(atoi(argv[2]), to, from);
}
