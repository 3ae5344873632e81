/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some rows of a ternary matrix times one token. LANES neighbours of a warp share ROWS rows: each has CHUNKS chunks of
 * 16 bytes of every row in registers, asked for before the token is there. A chunk has 64 codes in four parts of 16,
 * whose values lie 32 apart. Codes are multiplied where they stand in their bytes, by 64, 16, 4 or 1 too much, part by
 * part: sums are shifted, not codes.
 */
#ifndef CUDA_TERNARY_ROWS_CUH
#define CUDA_TERNARY_ROWS_CUH

#include "cuda/cuda_ternary.cuh"

#define TERNARY_CHUNK 64 /* weights in 16 bytes */

template <int LANES, int ROWS, int CHUNKS> struct ternary_rows {
	uint4 w[CHUNKS][ROWS];
	unsigned chunks; // of a row
};

/*
 * Ask for rows @first, @first + @stride, ..., all of which are there. They have @k columns, 64 · LANES · CHUNKS at
 * most.
 */
template <int LANES, int ROWS, int CHUNKS>
static __device__ __forceinline__ void ternary_load(ternary_rows<LANES, ROWS, CHUNKS> &rows, const uint8_t *w,
						    unsigned k, unsigned first, unsigned stride)
{
	const unsigned lane = threadIdx.x % LANES;
	const uint4 *row = (const uint4 *)(w + (size_t)first * (k / 4)) + lane;

	rows.chunks = k / TERNARY_CHUNK;
#pragma unroll
	for (int j = 0; j < CHUNKS; j++)
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			rows.w[j][r] = make_uint4(0, 0, 0, 0);
			if (lane + j * LANES < rows.chunks)
				rows.w[j][r] = row[r * (size_t)stride * rows.chunks + j * LANES];
		}
}

/* Word @i of a token of @k bytes is word ternary_place(i, k) of what the next function reads: part by part. */
static __device__ __forceinline__ unsigned ternary_place(unsigned i, unsigned k)
{
	const unsigned part = i / 8 % 4, chunk = i / 32 * 2 + i / 4 % 2;

	return (part * (k / TERNARY_CHUNK) + chunk) * 4 + i % 4;
}

/*
 * Sums of code times value into @dot, for all LANES. @x lies in shared memory, with LANES · CHUNKS vectors behind it
 * that may hold anything: chunks that a row lacks are zeros.
 */
template <int LANES, int ROWS, int CHUNKS>
static __device__ __forceinline__ void ternary_multiply(const ternary_rows<LANES, ROWS, CHUNKS> &rows, const uint4 *x,
							int (&dot)[ROWS])
{
	x += threadIdx.x % LANES;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		dot[r] = 0;
#pragma unroll 2
	for (int shift = 6; shift >= 0; shift -= 2, x += rows.chunks) {
		const unsigned mask = TERNARY_CODES << shift;
		int sum[ROWS][2] = {};

#pragma unroll
		for (int j = 0; j < CHUNKS; j++) {
			const uint4 v = x[j * LANES];

#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				const uint4 w = rows.w[j][r];

				sum[r][0] = cuda_dp4a_us(w.x & mask, (int)v.x, sum[r][0]);
				sum[r][1] = cuda_dp4a_us(w.y & mask, (int)v.y, sum[r][1]);
				sum[r][0] = cuda_dp4a_us(w.z & mask, (int)v.z, sum[r][0]);
				sum[r][1] = cuda_dp4a_us(w.w & mask, (int)v.w, sum[r][1]);
			}
		}
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			dot[r] += (sum[r][0] >> shift) + (sum[r][1] >> shift);
	}
#pragma unroll
	for (int lanes = LANES / 2; lanes; lanes /= 2)
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			dot[r] += __shfl_xor_sync(CUDA_FULL, dot[r], lanes);
}

#endif
