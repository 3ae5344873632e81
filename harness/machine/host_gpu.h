/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA boards and driver as the kernel module shows them in /proc; needs no library. */
#ifndef ASSAY_MACHINE_HOST_GPU_H
#define ASSAY_MACHINE_HOST_GPU_H

#include <stddef.h>

/* "NVIDIA H200", "8 x NVIDIA H200", "none"; and "535.129.03" or "none". */
void assay_gpu_models(const char *root, char *buf, size_t size);
void assay_gpu_driver(const char *root, char *buf, size_t size);

#endif
