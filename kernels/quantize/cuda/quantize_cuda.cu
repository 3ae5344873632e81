// SPDX-License-Identifier: Apache-2.0
// quantize.* on a GPU: the formats of assay/op_quantize.h, bit for bit.
#include "quantize_cuda.cuh"

// The multiplier of a block whose scale is d, and the half to store; 0 where all codes are zero.
static __device__ __forceinline__ float block_scale(float amax, float d, uint16_t *half)
{
	const float id = __fdiv_rn(1.0f, d);

	if (!isfinite(amax)) {
		*half = QUANTIZE_HALF_NAN;
		return 0;
	}
	*half = quantize_half_of_float(d);
	return d > 0 && isfinite(id) ? id : 0;
}

static __device__ __forceinline__ int code_away(float x, float id)
{
	return id == 0 ? 0 : (int)roundf(__fmul_rn(x, id));
}

// ---- q8_0: eight threads a block of 32 ----

CUDA_KERNEL(quantize_q8_0)(uint8_t *q, const float4 *x, int64_t n)
{
	__shared__ uint32_t staged[QUANTIZE_STAGED(ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES) / 4];
	const int span = span_of(n), lane = threadIdx.x % 8;
	float4 v[QUANTIZE_VECTORS];

	x += (int64_t)blockIdx.x * (QUANTIZE_SPAN / 4);
	q += (int64_t)blockIdx.x * sizeof(staged);
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++) {
		const int at = i * QUANTIZE_THREADS + threadIdx.x;

		v[i] = 4 * at < span ? x[at] : make_float4(0, 0, 0, 0);
	}
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++) {
		const int block = (i * QUANTIZE_THREADS + threadIdx.x) / 8;
		const float amax = assay_f32_of_bits(largest_of_lanes(largest_mag(v[i]), 8));
		uint8_t *to = (uint8_t *)staged + block * ASSAY_Q8_0_BLOCK_BYTES;
		uint16_t half;
		const float id = block_scale(amax, __fdiv_rn(amax, 127.0f), &half);

		if (lane == 0)
			*(uint16_t *)to = half;
		store_halves(to + 2 + 4 * lane, pack(code_away(v[i].x, id), code_away(v[i].y, id),
						     code_away(v[i].z, id), code_away(v[i].w, id)));
	}
	__syncthreads();
	copy_words(q, (const uint8_t *)staged, span / ASSAY_Q8_0_BLOCK * ASSAY_Q8_0_BLOCK_BYTES);
}

// ---- tq2_0: sixteen threads a block of 256, each with four bytes of codes ----

static __device__ __forceinline__ uint32_t codes_tq2_0(float4 v, float id)
{
	return pack(code_away(v.x, id) + 1, code_away(v.y, id) + 1, code_away(v.z, id) + 1, code_away(v.w, id) + 1);
}

CUDA_KERNEL(quantize_tq2_0)(uint8_t *q, const float4 *x, int64_t n)
{
	__shared__ uint32_t staged[QUANTIZE_STAGED(ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES) / 4];
	const int span = span_of(n), block = threadIdx.x / 16, lane = threadIdx.x % 16;
	const int byte = lane / 8 * 32 + lane % 8 * 4; // of the block, and with it where the values begin
	const int first = block * 64 + lane / 8 * 32 + lane % 8;
	uint8_t *to = (uint8_t *)staged + block * ASSAY_TQ2_0_BLOCK_BYTES;
	float4 v[QUANTIZE_VECTORS];
	uint32_t mag = 0, word = 0;
	uint16_t half;
	float id, amax;

	x += (int64_t)blockIdx.x * (QUANTIZE_SPAN / 4);
	q += (int64_t)blockIdx.x * sizeof(staged);
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++)
		v[i] = block * ASSAY_TQ2_0_BLOCK < span ? x[first + 8 * i] : make_float4(0, 0, 0, 0);
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++)
		mag = larger(mag, largest_mag(v[i]));
	amax = assay_f32_of_bits(largest_of_lanes(mag, 16));
	id = block_scale(amax, amax, &half);
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++)
		word |= codes_tq2_0(v[i], id) << 2 * i;
	store_halves(to + byte, word);
	if (lane == 0)
		*(uint16_t *)(to + 64) = half;
	__syncthreads();
	copy_words(q, (const uint8_t *)staged, span / ASSAY_TQ2_0_BLOCK * ASSAY_TQ2_0_BLOCK_BYTES);
}

// ---- i2_s: sums by sixteen lanes as defined, the same of these sums, then codes ----

#define SUM_BLOCKS (CUDA_THREADS_quantize_i2_s_sums / ASSAY_I2_S_SUM_LANES) // of a block of threads

CUDA_KERNEL(quantize_i2_s_sums)(double *sums, const float *x, int64_t n)
{
	const int lane = threadIdx.x % ASSAY_I2_S_SUM_LANES;
	const int64_t block = (int64_t)blockIdx.x * SUM_BLOCKS + threadIdx.x / ASSAY_I2_S_SUM_LANES;
	const int64_t first = block * ASSAY_I2_S_SUM_BLOCK, left = n - first;
	const int64_t count = left < ASSAY_I2_S_SUM_BLOCK ? left : ASSAY_I2_S_SUM_BLOCK;
	double sum = 0;

#pragma unroll 16
	for (int64_t i = lane; i < count; i += ASSAY_I2_S_SUM_LANES)
		sum = __dadd_rn(sum, (double)fabsf(x[first + i]));
	for (int width = ASSAY_I2_S_SUM_LANES / 2; width; width /= 2)
		sum = __dadd_rn(sum, __shfl_xor_sync(CUDA_FULL, sum, width));
	if (lane == 0 && left > 0)
		sums[block] = sum;
}

#define SCALE_THREADS CUDA_THREADS_quantize_i2_s_scale
#define SUMS_EACH     4 // of a thread on their way while those before are added
#define SUMS_AT_ONCE  (SUMS_EACH * SCALE_THREADS)

static __device__ __forceinline__ void load_sums(double (&v)[SUMS_EACH], const double *sums, int64_t first, int64_t n)
{
#pragma unroll
	for (int i = 0; i < SUMS_EACH; i++) {
		const int64_t at = first + i * SCALE_THREADS + threadIdx.x;

		v[i] = at < n ? sums[at] : 0; // which adds nothing
	}
}

CUDA_KERNEL(quantize_i2_s_scale)(float *scale, const double *sums, int64_t n_sums, int64_t n)
{
	__shared__ double part[SUMS_AT_ONCE];
	double sum = 0, next[SUMS_EACH];

	load_sums(next, sums, 0, n_sums);
	for (int64_t first = 0; first < n_sums; first += SUMS_AT_ONCE) {
#pragma unroll
		for (int i = 0; i < SUMS_EACH; i++)
			part[i * SCALE_THREADS + threadIdx.x] = next[i];
		load_sums(next, sums, first + SUMS_AT_ONCE, n_sums);
		__syncthreads();
		if (threadIdx.x < ASSAY_I2_S_SUM_LANES)
#pragma unroll 8
			for (int i = threadIdx.x; i < SUMS_AT_ONCE; i += ASSAY_I2_S_SUM_LANES)
				sum = __dadd_rn(sum, part[i]);
		__syncthreads();
	}
	for (int width = ASSAY_I2_S_SUM_LANES / 2; width; width /= 2)
		sum = __dadd_rn(sum, __shfl_xor_sync(CUDA_FULL, sum, width));
	if (threadIdx.x == 0) {
		const float gamma = (float)__ddiv_rn(sum, (double)n);

		*scale = !isfinite(gamma)               ? assay_f32_of_bits(QUANTIZE_FLOAT_NAN)
			 : gamma < ASSAY_I2_S_MIN_GAMMA ? ASSAY_I2_S_MIN_GAMMA
							: gamma;
	}
}

static __device__ __forceinline__ int code_i2_s(float x, float s)
{
	const float y = rintf(__fmul_rn(x, s));

	return 1 + (y >= 1) - (y <= -1);
}

static __device__ __forceinline__ uint32_t codes_i2_s(float4 v, float s)
{
	return pack(code_i2_s(v.x, s), code_i2_s(v.y, s), code_i2_s(v.z, s), code_i2_s(v.w, s));
}

// Eight threads a block of 128, each with four bytes. The last floats come first: they were summed last, so that L2 has
// them, and nothing that is read or stored here is kept in their place.
CUDA_KERNEL(quantize_i2_s_codes)(uint32_t *q, const float4 *x, const float *scale, int64_t n)
{
	const int64_t word = (int64_t)(gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
	const float4 *from = x + word / 8 * (ASSAY_I2S_BLOCK / 4) + word % 8;
	const float s = __fdiv_rn(1.0f, *scale);

	if (16 * word < n) {
		const float4 a = __ldcs(from), b = __ldcs(from + 8), c = __ldcs(from + 16), d = __ldcs(from + 24);

		__stcs(q + word,
		       codes_i2_s(a, s) << 6 | codes_i2_s(b, s) << 4 | codes_i2_s(c, s) << 2 | codes_i2_s(d, s));
	}
}

// ---- i8_token: a block of threads a token ----

#define TOKEN_VECTORS 4 // of a thread at most, where a token stays in registers

static __device__ __forceinline__ int code_i8(float x, float s)
{
	const float y = rintf(__fmul_rn(x, s));

	return (int)(y < -128 ? -128 : y > 127 ? 127 : y);
}

// Infinity times 0 would be no number.
static __device__ __forceinline__ uint32_t codes_i8(float4 v, float s)
{
	return s == 0 ? 0 : pack(code_i8(v.x, s), code_i8(v.y, s), code_i8(v.z, s), code_i8(v.w, s));
}

template <int THREADS> static __device__ __forceinline__ uint32_t largest_of_block(uint32_t mag)
{
	__shared__ uint32_t of_warp[THREADS / CUDA_WARP];

	mag = largest_of_lanes(mag, CUDA_WARP);
	if (threadIdx.x % CUDA_WARP == 0)
		of_warp[threadIdx.x / CUDA_WARP] = mag;
	__syncthreads();
	for (int i = 0; i < THREADS / CUDA_WARP; i++)
		mag = larger(mag, of_warp[i]);
	return mag;
}

// Stores the scale of a token, and gives its multiplier; 0 where all codes are zero.
template <int THREADS> static __device__ __forceinline__ float token_scale(uint32_t mag, float *scale)
{
	float a = assay_f32_of_bits(largest_of_block<THREADS>(mag)), s = 0;

	if (isfinite(a)) {
		a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
		s = __fdiv_rn(127.0f, a);
	} else {
		a = assay_f32_of_bits(QUANTIZE_FLOAT_NAN);
	}
	if (threadIdx.x == 0)
		*scale = canonical(__fdiv_rn(a, 127.0f));
	return s;
}

// A token that fits: it is read once.
template <int THREADS>
static __device__ __forceinline__ void token_in_registers(uint32_t *q, float *scale, const float4 *x, int n)
{
	float4 v[TOKEN_VECTORS];
	uint32_t mag = 0;
	float s;

#pragma unroll
	for (int i = 0; i < TOKEN_VECTORS; i++) {
		const int at = i * THREADS + threadIdx.x;

		v[i] = at < n ? __ldcs(x + at) : make_float4(0, 0, 0, 0);
	}
#pragma unroll
	for (int i = 0; i < TOKEN_VECTORS; i++)
		mag = larger(mag, largest_mag(v[i]));
	s = token_scale<THREADS>(mag, scale);
#pragma unroll
	for (int i = 0; i < TOKEN_VECTORS; i++) {
		const int at = i * THREADS + threadIdx.x;

		if (at < n)
			__stcs(q + at, codes_i8(v[i], s));
	}
}

// A longer token is read twice, the second time from a cache.
template <int THREADS>
static __device__ __forceinline__ void token_of_vectors(uint32_t *q, float *scale, const float4 *x, int64_t n)
{
	uint32_t mag = 0;
	float s;

	for (int64_t i = threadIdx.x; i < n; i += THREADS)
		mag = larger(mag, largest_mag(x[i]));
	s = token_scale<THREADS>(mag, scale);
	for (int64_t i = threadIdx.x; i < n; i += THREADS)
		q[i] = codes_i8(x[i], s);
}

// And so is one that may begin anywhere.
template <int THREADS>
static __device__ __forceinline__ void token_of_floats(int8_t *q, float *scale, const float *x, int64_t dim)
{
	uint32_t mag = 0;
	float s;

	for (int64_t i = threadIdx.x; i < dim; i += THREADS)
		mag = larger(mag, assay_f32_bits(x[i]) & MAG_MASK);
	s = token_scale<THREADS>(mag, scale);
	for (int64_t i = threadIdx.x; i < dim; i += THREADS)
		q[i] = (int8_t)(s == 0 ? 0 : code_i8(x[i], s));
}

template <int THREADS>
static __device__ __forceinline__ void token(int8_t *q, float *scale, const float *x, int64_t dim)
{
	const int64_t first = blockIdx.x * dim, vectors = dim / 4;

	q += first;
	x += first;
	scale += blockIdx.x;
	if (dim % 4)
		token_of_floats<THREADS>(q, scale, x, dim);
	else if (vectors <= TOKEN_VECTORS * THREADS)
		token_in_registers<THREADS>((uint32_t *)q, scale, (const float4 *)x, (int)vectors);
	else
		token_of_vectors<THREADS>((uint32_t *)q, scale, (const float4 *)x, vectors);
}

CUDA_KERNEL(quantize_i8_token)(int8_t *q, float *scale, const float *x, int64_t dim)
{
	token<CUDA_THREADS_quantize_i8_token>(q, scale, x, dim);
}

CUDA_KERNEL(quantize_i8_token_long)(int8_t *q, float *scale, const float *x, int64_t dim)
{
	token<CUDA_THREADS_quantize_i8_token_long>(q, scale, x, dim);
}

// ---- launches ----

int assay_quantize_q8_0_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	CUDA_LAUNCH(job, quantize_q8_0, cuda_blocks(n, QUANTIZE_SPAN), cuda_tensor<uint8_t>(job, ASSAY_QUANTIZE_Q),
		    cuda_tensor<float4>(job, ASSAY_QUANTIZE_X), n);
	return cuda_launched(job);
}

int assay_quantize_tq2_0_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	CUDA_LAUNCH(job, quantize_tq2_0, cuda_blocks(n, QUANTIZE_SPAN), cuda_tensor<uint8_t>(job, ASSAY_QUANTIZE_Q),
		    cuda_tensor<float4>(job, ASSAY_QUANTIZE_X), n);
	return cuda_launched(job);
}

int assay_quantize_i2_s_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];
	const int64_t n_sums = cuda_blocks(n, ASSAY_I2_S_SUM_BLOCK);
	float *const scale = cuda_tensor<float>(job, ASSAY_QUANTIZE_SCALE);
	double *const sums = cuda_tensor<double>(job, ASSAY_QUANTIZE_SUMS);

	CUDA_LAUNCH(job, quantize_i2_s_sums, cuda_blocks(n_sums, SUM_BLOCKS), sums,
		    cuda_tensor<float>(job, ASSAY_QUANTIZE_X), n);
	CUDA_LAUNCH(job, quantize_i2_s_scale, 1, scale, sums, n_sums, n);
	CUDA_LAUNCH(job, quantize_i2_s_codes, cuda_blocks(n, 16 * CUDA_THREADS_quantize_i2_s_codes),
		    cuda_tensor<uint32_t>(job, ASSAY_QUANTIZE_Q), cuda_tensor<float4>(job, ASSAY_QUANTIZE_X), scale, n);
	return cuda_launched(job);
}

int assay_quantize_i8_token_cuda(struct assay_job *job)
{
	const int64_t tokens = job->shape->axis[ASSAY_QUANTIZE_TOKENS], dim = job->shape->axis[ASSAY_QUANTIZE_DIM];
	int8_t *const q = cuda_tensor<int8_t>(job, ASSAY_QUANTIZE_Q);
	float *const scale = cuda_tensor<float>(job, ASSAY_QUANTIZE_SCALE);
	const float *const x = cuda_tensor<float>(job, ASSAY_QUANTIZE_X);

	if (dim <= 4 * TOKEN_VECTORS * CUDA_THREADS_quantize_i8_token)
		CUDA_LAUNCH(job, quantize_i8_token, tokens, q, scale, x, dim);
	else
		CUDA_LAUNCH(job, quantize_i8_token_long, tokens, q, scale, x, dim);
	return cuda_launched(job);
}
