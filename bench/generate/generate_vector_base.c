/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of four floats, which SSE2 and NEON have, and the choice among the tables. */
#define VEC          4
#define VECTOR_TABLE assay_generate_vector_base
#include "generate_vector_body.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#if defined(__x86_64__)
static int allows(const struct assay_host_info *host, uint32_t bits)
{
	uint32_t most = 0;

	if (host && host->size >= offsetof(struct assay_host_info, vector_bits) + sizeof(host->vector_bits))
		most = host->vector_bits;
	return !most || bits <= most;
}
#endif

const struct gen_vector *assay_generate_vector(const struct assay_host_info *host)
{
#if defined(__x86_64__)
	if (allows(host, 512) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return __builtin_cpu_supports("avx512vnni") ? &assay_generate_vector_avx512vnni
							    : &assay_generate_vector_avx512;
	if (allows(host, 256) && __builtin_cpu_supports("avx2"))
		return &assay_generate_vector_avx2;
#elif defined(__aarch64__)
	(void)host;
	if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP)
		return &assay_generate_vector_dotprod;
#else
	(void)host;
#endif
	return &assay_generate_vector_base;
}
