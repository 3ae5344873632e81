/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda_stream.h names of the CUDA runtime, for the emulator: there are no streams, and nothing fails later. */
#ifndef EMULATED_CUDA_RUNTIME_API_H
#define EMULATED_CUDA_RUNTIME_API_H

enum cudaError_t { cudaSuccess };
typedef void *cudaStream_t, *cudaEvent_t;

static inline cudaError_t cudaGetLastError(void)
{
	return cudaSuccess;
}

static inline const char *cudaGetErrorString(cudaError_t)
{
	return "none";
}

#endif
