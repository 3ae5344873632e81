/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a sample keeps a thread from its work: a loop that reads the clock sees each sample as a gap.
 *     sample_gap RATE SECONDS -1|STACK_BYTES
 * prints the quartiles of the gaps in µs; those of the tick are among them, so that RATE should be 5000 or more. -1:
 * neither registers nor stack are taken. Another thread, on another processor, reads the ring.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (4u << 20)
#define MOST_GAPS  1000000
#define LEAST_NS   300u      /* a shorter gap is the loop's own */
#define REGISTERS  0xff01ffu /* as assay samples them on x86-64 */
#define READ_US    20000u    /* between two readings of the ring */

static uint64_t gaps[MOST_GAPS];
static struct perf_event_mmap_page *page;
static atomic_bool over;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *read_ring(void *arg)
{
	const volatile unsigned char *data = (unsigned char *)page + sysconf(_SC_PAGESIZE);

	pin(0);
	while (!atomic_load(&over)) {
		const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

		for (uint64_t at = page->data_tail; at < head; at += 64)
			(void)data[at & (RING_BYTES - 1)];
		__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
		usleep(READ_US);
	}
	return arg;
}

static int open_sampler(int rate, int stack_bytes)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .sample_period = 1000000000 / (uint64_t)rate,
				     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				     .exclude_kernel = 1,
				     .exclude_hv = 1,
				     .watermark = 1,
				     .wakeup_watermark = 1u << 30 };

	if (stack_bytes >= 0) {
		a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a.sample_regs_user = REGISTERS;
		a.sample_stack_user = (uint32_t)stack_bytes;
	}
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A stack that is as deep as the most that is copied. */
static __attribute__((noinline)) size_t watch(uint64_t until)
{
	volatile char deep[16384];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = 1;
	for (uint64_t before = now_ns(), now; before < until && n < MOST_GAPS; before = now) {
		now = now_ns();
		if (now - before >= LEAST_NS)
			gaps[n++] = now - before;
	}
	return n + (deep[0] == 0);
}

int main(int argc, char **argv)
{
	pthread_t t;
	size_t n;
	int fd;

	if (argc != 4 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: sample_gap RATE SECONDS -1|STACK_BYTES\n");
		return 2;
	}
	fd = open_sampler(atoi(argv[1]), atoi(argv[3]));
	if (fd < 0) {
		perror("sample_gap: cannot sample");
		return 1;
	}
	page = mmap(NULL, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || pthread_create(&t, NULL, read_ring, NULL)) {
		perror("sample_gap: no ring");
		return 1;
	}
	pin((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	n = watch(now_ns() + (uint64_t)(atof(argv[2]) * 1e9));
	atomic_store(&over, true);
	pthread_join(t, NULL);
	if (!n)
		return 1;
	qsort(gaps, n, sizeof(gaps[0]), by_size);
	printf("%.2f %.2f %.2f\n", (double)gaps[n / 4] * 1e-3, (double)gaps[n / 2] * 1e-3,
	       (double)gaps[n * 3 / 4] * 1e-3);
	return 0;
}
