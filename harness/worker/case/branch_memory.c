/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/case/branch_memory.h"

/*
 * So many times 64 branches. On Zen 4, which learns 4096 branches of a kernel in one call, half as many make a call on
 * known data 0.9 times as long as on new data.
 */
#define ROUNDS 2000

/* xorshift64 (Marsaglia, 2003). */
static uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

/* No compiler makes a conditional move of a branch around an asm. */
#define BRANCH(bit)                                                                                                    \
	if (bits >> (bit)&1)                                                                                           \
		__asm__ volatile("nop");
#define BRANCHES(bit)                                                                                                  \
	BRANCH(bit)                                                                                                    \
	BRANCH((bit) + 1)                                                                                              \
	BRANCH((bit) + 2)                                                                                              \
	BRANCH((bit) + 3)                                                                                              \
	BRANCH((bit) + 4)                                                                                              \
	BRANCH((bit) + 5)                                                                                              \
	BRANCH((bit) + 6)                                                                                              \
	BRANCH((bit) + 7)

void assay_branch_memory_clear(uint64_t seed)
{
	uint64_t bits = seed | 1;

	for (int i = 0; i < ROUNDS; i++) {
		bits = next(bits);
		BRANCHES(0)
		BRANCHES(8)
		BRANCHES(16)
		BRANCHES(24)
		BRANCHES(32)
		BRANCHES(40)
		BRANCHES(48)
		BRANCHES(56)
	}
}
