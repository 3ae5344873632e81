/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal reader of ELF-64 files. */
#include "worker/plugin/elf_image.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#else
#define OWN_MACHINE EM_NONE
#endif

bool assay_elf_inside(const struct assay_elf *e, uint64_t offset, uint64_t len)
{
	return offset <= e->len && len <= e->len - offset;
}

bool assay_elf_open(struct assay_elf *e, const void *data, size_t len)
{
	const Elf64_Ehdr *eh = data;
	const Elf64_Shdr *names;

	*e = (struct assay_elf){ .data = data, .len = len };
	if (len < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_ident[EI_DATA] != ELFDATA2LSB || eh->e_type != ET_DYN)
		return false;
	if (OWN_MACHINE != EM_NONE && eh->e_machine != OWN_MACHINE)
		return false;
	e->machine = eh->e_machine;
	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shoff % 8 ||
	    !assay_elf_inside(e, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr)) ||
	    eh->e_shstrndx >= eh->e_shnum)
		return false;
	e->sections = (const void *)(e->data + eh->e_shoff);
	e->n_sections = eh->e_shnum;
	names = &e->sections[eh->e_shstrndx];
	if (!assay_elf_inside(e, names->sh_offset, names->sh_size) || !names->sh_size ||
	    e->data[names->sh_offset + names->sh_size - 1])
		return false;
	e->names = (const char *)e->data + names->sh_offset;
	e->names_len = names->sh_size;
	return true;
}

const char *assay_elf_section_name(const struct assay_elf *e, const Elf64_Shdr *s)
{
	return s->sh_name < e->names_len ? e->names + s->sh_name : "";
}

size_t assay_elf_section_at(const struct assay_elf *e, uint64_t addr, uint64_t len)
{
	for (size_t i = 0; i < e->n_sections; i++) {
		const Elf64_Shdr *s = &e->sections[i];

		if ((s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NOBITS && s->sh_size && addr >= s->sh_addr &&
		    addr - s->sh_addr < s->sh_size && len <= s->sh_size - (addr - s->sh_addr) &&
		    assay_elf_inside(e, s->sh_offset, s->sh_size))
			return i;
	}
	return e->n_sections;
}

bool assay_elf_symbols(const struct assay_elf *e, uint32_t type, struct assay_elf_symbols *out)
{
	for (size_t i = 0; i < e->n_sections; i++) {
		const Elf64_Shdr *s = &e->sections[i], *str;

		if (s->sh_type != type || s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset % 8 ||
		    !assay_elf_inside(e, s->sh_offset, s->sh_size) || s->sh_link >= e->n_sections)
			continue;
		str = &e->sections[s->sh_link];
		if (!assay_elf_inside(e, str->sh_offset, str->sh_size) || !str->sh_size ||
		    e->data[str->sh_offset + str->sh_size - 1])
			continue;
		*out = (struct assay_elf_symbols){
			.section = i,
			.v = (const void *)(e->data + s->sh_offset),
			.n = s->sh_size / sizeof(Elf64_Sym),
			.strings = (const char *)e->data + str->sh_offset,
			.strings_len = str->sh_size,
		};
		return true;
	}
	return false;
}

const char *assay_elf_symbol_name(const struct assay_elf_symbols *t, const Elf64_Sym *sym)
{
	return sym->st_name < t->strings_len ? t->strings + sym->st_name : "";
}

/* ---- relocation fields ---- */

/* Numbers and fields as in the psABIs. */

static const struct assay_relocation_field fields[] = {
	{ EM_X86_64, R_X86_64_64, 8, UINT64_MAX, true },
	{ EM_X86_64, R_X86_64_PC32, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_PC64, 8, UINT64_MAX, false },
	{ EM_X86_64, R_X86_64_PLT32, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_GOTPCREL, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_GOTPCRELX, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_REX_GOTPCRELX, 4, UINT32_MAX, false },
	{ EM_AARCH64, R_AARCH64_ABS64, 8, UINT64_MAX, true },
	{ EM_AARCH64, R_AARCH64_PREL64, 8, UINT64_MAX, false },
	{ EM_AARCH64, R_AARCH64_PREL32, 4, UINT32_MAX, false },
	{ EM_AARCH64, R_AARCH64_CALL26, 4, 0x03ffffff, false },
	{ EM_AARCH64, R_AARCH64_JUMP26, 4, 0x03ffffff, false },
	{ EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 4, 0x60ffffe0, true },
	{ EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, 4, 0x60ffffe0, true },
	{ EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LD64_GOT_LO12_NC, 4, 0x003ffc00, true },
};

const struct assay_relocation_field *assay_relocation_field_of(uint16_t machine, uint32_t type)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].machine == machine && fields[i].type == type)
			return &fields[i];
	return NULL;
}

void assay_relocation_clear(const struct assay_relocation_field *f, unsigned char *bytes)
{
	for (unsigned b = 0; b < f->width; b++)
		bytes[b] &= (unsigned char)~(f->mask >> 8 * b);
}
