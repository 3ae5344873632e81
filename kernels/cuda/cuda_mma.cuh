/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The int8 matrix instruction of a warp, mma.m16n8k32 (PTX ISA, "Matrix multiply-accumulate"), and the loads of its
 * operands. With g = lane / 4 and t = lane % 4, a lane holds four bytes of
 *
 *	A   rows g and g + 8 from column 4·t on, then the same rows from column 4·t + 16 on
 *	B   column g from row 4·t on, then from row 4·t + 16 on
 *	C   row g, columns 2·t and 2·t + 1, then the same columns of row g + 8 (32 bits each)
 */
#ifndef CUDA_MMA_CUH
#define CUDA_MMA_CUH

#include "cuda/cuda_kernel.cuh"

static __device__ __forceinline__ void mma_s8(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#ifdef __CUDACC__
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
		     "{%0, %1, %2, %3};"
		     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
	emulated_mma_s8(c, a, b0, b1);
#endif
}

/*
 * Four matrices of eight rows and 16 bytes a row from shared memory, by ldmatrix. Lane i says where row i % 8 of matrix
 * i / 8 begins. Of each matrix a lane gets four bytes: those of row g from column 4·t on.
 */
static __device__ __forceinline__ void load_matrices(uint32_t (&r)[4], const void *row)
{
#ifdef __CUDACC__
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"((uint32_t)__cvta_generic_to_shared(row)));
#else
	emulated_load_matrices(r, row);
#endif
}

#endif
