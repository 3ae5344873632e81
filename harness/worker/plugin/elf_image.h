/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object as bytes of its file: sections, names, symbols' tables. Every offset is checked; nothing is loaded.
 */
#ifndef ASSAY_WORKER_PLUGIN_ELF_IMAGE_H
#define ASSAY_WORKER_PLUGIN_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrows the bytes it was opened on. */
struct assay_elf {
	const unsigned char *data;
	size_t len;
	uint16_t machine; /* EM_X86_64, … */
	const Elf64_Shdr *sections;
	size_t n_sections;
	const char *names;
	size_t names_len;
};

/* A table of symbols with its strings. */
struct assay_elf_symbols {
	size_t section; /* of the table */
	const Elf64_Sym *v;
	size_t n;
	const char *strings;
	size_t strings_len;
};

/* false unless it is a 64-bit shared object of this processor with a sound table of sections. @data is 8-byte aligned.
 */
bool assay_elf_open(struct assay_elf *e, const void *data, size_t len);

/* Do @len bytes at @offset lie in the file? */
bool assay_elf_inside(const struct assay_elf *e, uint64_t offset, uint64_t len);

/* "" where it has none. */
const char *assay_elf_section_name(const struct assay_elf *e, const Elf64_Shdr *s);

/* The loaded section that covers @len bytes at virtual address @addr; n_sections where there is none. */
size_t assay_elf_section_at(const struct assay_elf *e, uint64_t addr, uint64_t len);

/* The first table of @type, SHT_SYMTAB or SHT_DYNSYM; false where there is none that is sound. */
bool assay_elf_symbols(const struct assay_elf *e, uint32_t type, struct assay_elf_symbols *out);
const char *assay_elf_symbol_name(const struct assay_elf_symbols *t, const Elf64_Sym *sym);

/* ---- relocation fields ---- */

/* Which bits of machine code a relocation fills in, as the processor's ABI says. */

/* Little-endian, @width bytes, those of @mask. */
struct assay_relocation_field {
	uint16_t machine;
	uint32_t type;
	unsigned width; /* 8 at most */
	uint64_t mask;
	bool absolute; /* the addend is an offset from the symbol to what is meant, and nothing else */
};

/* NULL: this kind is not known here. */
const struct assay_relocation_field *assay_relocation_field_of(uint16_t machine, uint32_t type);
/* Clear them in the instruction at @bytes. */
void assay_relocation_clear(const struct assay_relocation_field *f, unsigned char *bytes);

#endif
