/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/case/code_pages.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * What is written to becomes a page of its own, also when it is what was there. A page may begin with bytes that
 * AddressSanitizer keeps free between constants.
 */
__attribute__((no_sanitize_address)) static void write_same(unsigned char *from, const unsigned char *end, size_t page)
{
	for (volatile unsigned char *p = from; p < end; p += page)
		*p = *p;
}

/* SELinux may forbid to run what was written to: then the file is mapped again. */
static void map_again(const char *path, unsigned char *at, size_t bytes, int prot, off_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	mmap(at, bytes, prot, MAP_PRIVATE | MAP_FIXED, fd, offset);
	close(fd);
}

static void draw_segment(const char *path, unsigned char *base, const ElfW(Phdr) * h, size_t page)
{
	const size_t before = h->p_vaddr % page, bytes = (before + h->p_filesz + page - 1) / page * page;
	const int prot = PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0);
	unsigned char *const at = base + h->p_vaddr - before;

	/* executable all the while: the plugin may have threads already */
	if (!bytes || mprotect(at, bytes, prot | PROT_WRITE))
		return;
	write_same(at, at + bytes, page);
	if (mprotect(at, bytes, prot))
		map_again(path, at, bytes, prot, (off_t)(h->p_offset - before));
}

static int draw_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct link_map *map = arg;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)size;
	if (info->dlpi_addr != map->l_addr)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W))
			draw_segment(map->l_name, (unsigned char *)info->dlpi_addr, h, page);
	}
	return 1;
}

void assay_code_pages_draw(void *dl)
{
	struct link_map *map = NULL;

	if (!dlinfo(dl, RTLD_DI_LINKMAP, &map) && map)
		dl_iterate_phdr(draw_object, map);
}
