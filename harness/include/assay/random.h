/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3" (SC 2011). A value depends on (seed, tensor, index) alone, so any thread, device or order makes the same bits.
 */
#ifndef ASSAY_RANDOM_H
#define ASSAY_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define ASSAY_HD __host__ __device__
#else
#define ASSAY_HD
#endif

struct assay_philox {
	uint32_t v[4];
};

static inline ASSAY_HD struct assay_philox assay_philox4x32(const uint32_t ctr[4], const uint32_t key[2])
{
	struct assay_philox x = { { ctr[0], ctr[1], ctr[2], ctr[3] } };
	uint32_t k0 = key[0], k1 = key[1];

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53u * x.v[0];
		uint64_t p1 = (uint64_t)0xCD9E8D57u * x.v[2];

		x.v[0] = (uint32_t)(p1 >> 32) ^ x.v[1] ^ k0;
		x.v[1] = (uint32_t)p1;
		x.v[2] = (uint32_t)(p0 >> 32) ^ x.v[3] ^ k1;
		x.v[3] = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return x;
}

/* Four 32-bit words for block `index` of stream `tensor`; streams and blocks are independent. */
static inline ASSAY_HD struct assay_philox assay_random4(uint64_t seed, uint32_t tensor, uint64_t index)
{
	const uint32_t ctr[4] = { (uint32_t)index, (uint32_t)(index >> 32), tensor, 0 };
	const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };

	return assay_philox4x32(ctr, key);
}

/* Uniform in [0, 1) with 24 bits, exact in float. */
static inline ASSAY_HD float assay_uniform_f32(uint32_t word)
{
	return (float)(word >> 8) * 0x1p-24f;
}

/*
 * Bell-shaped, mean 0, variance 1, range ±3.46: the sum of four 8-bit uniforms (Irwin-Hall), exact integer arithmetic
 * and one rounding, so that it needs no libm and is the same everywhere.
 */
static inline ASSAY_HD float assay_normal_f32(uint32_t word)
{
	int32_t sum = (int32_t)((word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24)) - 510;

	return (float)sum * 0x1.bb688cp-8f; /* 1 / standard deviation of the sum: sqrt(4 * (256^2 - 1) / 12) = 147.8 */
}

#endif
