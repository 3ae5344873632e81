/* SPDX-License-Identifier: Apache-2.0 */
/* Own logarithm and exponential: the object that stands before malloc brings no library into programs. */
#include "counters/preload/heap_recorder.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OF_THREAD __thread __attribute__((tls_model("initial-exec"))) /* needs no memory */

static OF_THREAD double left_bytes; /* to the next byte that is drawn */
static OF_THREAD uint64_t state;    /* 0: nothing was drawn yet */

/* Of 0 < x <= 1: by halves to [0.7, 1.4], then the series of the inverse hyperbolic tangent. */
static double log_of(double x)
{
	double t, t2, sum = 0, e = 0;

	for (; x < 0.7; x *= 2)
		e -= 1;
	t = (x - 1) / (x + 1);
	t2 = t * t;
	for (int k = 19; k > 0; k -= 2)
		sum = sum * t2 + 1.0 / k;
	return 2 * t * sum + e * 0.69314718055994530942;
}

/* 1 - exp(-x), x >= 0. */
static double drawn(double x)
{
	double term = 1, sum = 0;

	if (x > 40)
		return 1;
	if (x > 0.5) {
		const double half = drawn(x / 2);

		return half * (2 - half);
	}
	for (int k = 1; k < 16; k++) {
		term *= -x / k;
		sum -= term;
	}
	return sum;
}

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static double draw(double mean)
{
	state += UINT64_C(0x9E3779B97F4A7C15);
	return -mean * log_of(((double)(mixed(state) >> 11) + 0.5) * 0x1p-53);
}

static void seed(double mean)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	state = mixed((uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 30 ^ (uint64_t)syscall(SYS_gettid) << 44) | 1;
	left_bytes = draw(mean);
}

bool assay_heap_sampled(size_t bytes, double mean)
{
	if (!state)
		seed(mean);
	left_bytes -= bytes ? (double)bytes : 1;
	if (left_bytes > 0)
		return false;
	left_bytes = draw(mean); /* memoryless: what of this block follows the drawn byte changes nothing */
	return true;
}

double assay_heap_sample_weight(size_t bytes, double mean)
{
	return 1 / drawn((bytes ? (double)bytes : 1) / mean);
}
