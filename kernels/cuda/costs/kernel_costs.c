/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run by make: kernel_costs COMPILER REPORT... writes the static costs of all kernels as JSON, from what ptxas -v
 * reported of them. How many warps a multiprocessor holds at once follows from these and the shape of the launch.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_occupancy.h>

#include "cuda/cuda_shapes.h"

#define N_OF(v) (sizeof(v) / sizeof((v)[0]))
#define KIB     1024

/* From the table "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide. */
static const struct {
	int sm, threads;
	size_t shared, shared_of_block; /* of a multiprocessor, and what a block may ask for */
} archs[] = {
	{ 80, 2048, 164 * KIB, 163 * KIB },
	{ 86, 1536, 100 * KIB, 99 * KIB },
	{ 89, 1536, 100 * KIB, 99 * KIB },
	{ 90, 2048, 228 * KIB, 227 * KIB },
};

static const struct {
	const char *name;
	int threads;
} kernels[] = {
#define KERNEL(name, threads) { #name, threads },
	CUDA_KERNELS(KERNEL)
#undef KERNEL
};

struct cost {
	int found, registers, spill_stores, spill_loads, stack, shared;
};

static struct cost costs[N_OF(kernels)][N_OF(archs)];

/* Of the warps that a multiprocessor can hold, in percent; negative where the library does not know. */
static int occupancy(const struct cost *c, size_t arch, int threads)
{
	const cudaOccDeviceProp device = {
		.computeMajor = archs[arch].sm / 10,
		.computeMinor = archs[arch].sm % 10,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = archs[arch].threads,
		.regsPerBlock = 64 * KIB,
		.regsPerMultiprocessor = 64 * KIB,
		.warpSize = 32,
		.sharedMemPerBlock = 48 * KIB,
		.sharedMemPerMultiprocessor = archs[arch].shared,
		.numSms = 1,
		.sharedMemPerBlockOptin = archs[arch].shared_of_block,
		.reservedSharedMemPerBlock = 1 * KIB,
	};
	const cudaOccFuncAttributes kernel = { .maxThreadsPerBlock = INT_MAX,
					       .numRegs = c->registers,
					       .sharedSizeBytes = (size_t)c->shared,
					       .shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT };
	const cudaOccDeviceState state = { .cacheConfig = CACHE_PREFER_NONE,
					   .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT };
	cudaOccResult r;

	if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &device, &kernel, &state, threads, 0) != CUDA_OCC_SUCCESS)
		return -1;
	return r.activeBlocksPerMultiprocessor * ((threads + 31) / 32) * 3200 / archs[arch].threads;
}

/* The kernel and architecture of a line "… Compiling entry function 'NAME' for 'sm_NN'"; NULL: one is unknown. */
static struct cost *begin(const char *line)
{
	char name[128];
	int sm;

	if (sscanf(line, "ptxas info : Compiling entry function '%127[^']' for 'sm_%d'", name, &sm) != 2)
		return NULL;
	for (size_t k = 0; k < N_OF(kernels); k++)
		for (size_t a = 0; a < N_OF(archs); a++)
			if (!strcmp(kernels[k].name, name) && archs[a].sm == sm)
				return &costs[k][a];
	return NULL;
}

static int read_report(const char *path)
{
	FILE *f = fopen(path, "r");
	struct cost *c = NULL;
	char line[512];
	int rc = f ? 0 : -1;

	while (!rc && fgets(line, sizeof(line), f)) {
		const char *shared;

		if (strstr(line, "Compiling entry function")) {
			c = begin(line);
			rc = c ? 0 : -1;
		} else if (c && sscanf(line, "ptxas info : Used %d registers", &c->registers) == 1) {
			shared = strstr(line, " bytes smem");
			while (shared && shared > line && shared[-1] != ' ')
				shared--;
			c->shared = shared ? atoi(shared) : 0;
			c->found++;
		} else if (c) {
			sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &c->stack,
			       &c->spill_stores, &c->spill_loads);
		}
	}
	if (rc)
		fprintf(stderr, "kernel_costs: '%s': %s%s", path, f ? "not in cuda_shapes.h: " : "cannot be read\n",
			f ? line : "");
	if (f)
		fclose(f);
	return rc;
}

static int write_costs(const char *compiler)
{
	printf("{\n  \"schema\": 1,\n  \"compiler\": \"%s\",\n  \"columns\": [\"registers\", \"spill_stores\", "
	       "\"spill_loads\", \"stack\", \"shared\", \"occupancy_percent\"],\n  \"kernels\": {",
	       compiler);
	for (size_t k = 0; k < N_OF(kernels); k++)
		for (size_t a = 0; a < N_OF(archs); a++) {
			const struct cost *c = &costs[k][a];
			const int percent = occupancy(c, a, kernels[k].threads);

			if (c->found != 1 || percent < 0) {
				fprintf(stderr, "kernel_costs: '%s' for sm_%d: %s\n", kernels[k].name, archs[a].sm,
					c->found == 1 ? "no occupancy" : "not one report");
				return 1;
			}
			printf("%s\n    \"%s/sm_%d\": [%d, %d, %d, %d, %d, %d]", k || a ? "," : "", kernels[k].name,
			       archs[a].sm, c->registers, c->spill_stores, c->spill_loads, c->stack, c->shared,
			       percent);
		}
	printf("\n  }\n}\n");
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (read_report(argv[i]))
			return 1;
	return argc < 3 || write_costs(argv[1]);
}
