/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The physical pages of what a process has to itself. They decide how well loads pass the stores before them: on Zen 4
 * one page in 15 makes a kernel in L1 that reads there slower by 1 to 2 %, whatever its address.
 */
#ifndef ASSAY_WORKER_CASE_PAGE_LAYOUT_H
#define ASSAY_WORKER_CASE_PAGE_LAYOUT_H

#include <stddef.h>

/*
 * Put the pages that hold @bytes from @at on new physical ones, at the same addresses and with the same content. They
 * are private memory that may be read and written, and no other thread writes to them meanwhile. Where the system
 * refuses, and where pages are not of ASSAY_LAYOUT_ALIGN, they stay. Each draw keeps as many pages until the process
 * ends, since the kernel gives first what it got back last.
 */
void assay_own_pages_draw(void *at, size_t bytes);

#endif
