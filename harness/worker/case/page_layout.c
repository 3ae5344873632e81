/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/case/page_layout.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/case/memory.h"

/* Whole pages, so that what AddressSanitizer keeps free between variables is copied as well. */
__attribute__((no_sanitize_address)) static void copy(uint64_t *to, const volatile uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = from[i];
}

void assay_own_pages_draw(void *at, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)at % page;
	const size_t whole = (before + bytes + page - 1) / page * page;
	unsigned char *const first = (unsigned char *)at - before;
	unsigned char *kept;

	if (!bytes || page != ASSAY_LAYOUT_ALIGN)
		return;
	kept = mmap(NULL, 2 * whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (kept == MAP_FAILED)
		return;
	copy((uint64_t *)(void *)(kept + whole), (const volatile uint64_t *)(void *)first, whole);
	if (mremap(kept + whole, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED)
		munmap(kept, 2 * whole);
}
