/* SPDX-License-Identifier: Apache-2.0 */
/* The architecture that this program was built for. */
#ifndef ASSAY_BASE_ARCH_H
#define ASSAY_BASE_ARCH_H

/* "x86_64", "aarch64", "riscv64", "ppc64", "s390x", or "other". */
const char *assay_arch(void);

#endif
