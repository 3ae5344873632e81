/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The physical pages of what a process has to itself. Which they are decides how fast the stores and loads of a kernel
 * pass each other: on Zen 4 one page of input in 15 makes a kernel in L1 slower by 1 to 3 %, at any address.
 */
#ifndef ASSAY_WORKER_OWN_PAGES_H
#define ASSAY_WORKER_OWN_PAGES_H

#include <stddef.h>

/*
 * Put the pages that hold @bytes from @at on new physical ones, at the same addresses and with the same content. They
 * are private memory that may be read and written, and no other thread writes to them meanwhile. Where the system
 * refuses, they stay.
 */
void assay_own_pages_draw(void *at, size_t bytes);

#endif
