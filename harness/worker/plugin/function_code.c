/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a function, with the fields that the linker filled in cleared where the file keeps relocations, and for
 * each of these what it means: the name of a symbol, or a place in a section with the contents of data. Where a file
 * keeps none, all constants and the order of imported names take part in every digest.
 */
#include "worker/plugin/code_hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/profile_diff.h"
#include "worker/plugin/elf_image.h"

struct reading {
	struct assay_function_codes *out;
	struct assay_elf elf;
	struct assay_elf_symbols symbols;
	bool keeps;    /* relocations */
	uint64_t rest; /* of what all functions may refer to, where it does not */
	struct assay_err *err;
};

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the functions of a plugin");
}

static const unsigned char *bytes_of(const struct assay_elf *e, const Elf64_Shdr *s, uint64_t offset, uint64_t size)
{
	if (s->sh_type == SHT_NOBITS || offset > s->sh_size || size > s->sh_size - offset ||
	    !assay_elf_inside(e, s->sh_offset, s->sh_size))
		return NULL;
	return e->data + s->sh_offset + offset;
}

static const Elf64_Rela *relocations_of(const struct reading *k, size_t section, size_t *n)
{
	for (size_t i = 0; i < k->elf.n_sections; i++) {
		const Elf64_Shdr *s = &k->elf.sections[i];

		if (s->sh_type == SHT_RELA && !(s->sh_flags & SHF_ALLOC) && s->sh_info == section &&
		    s->sh_link == k->symbols.section && s->sh_entsize == sizeof(Elf64_Rela) &&
		    assay_elf_inside(&k->elf, s->sh_offset, s->sh_size) && !(s->sh_offset % 8)) {
			*n = s->sh_size / sizeof(Elf64_Rela);
			return (const void *)(k->elf.data + s->sh_offset);
		}
	}
	*n = 0;
	return NULL;
}

static int add_range(const struct reading *k, size_t section, uint64_t offset, uint64_t size, bool of_code,
		     struct assay_text *t);

/* Of a constant in a pool of the linker, which has no size of its own; 0: it is none. */
static uint64_t element_size(const struct reading *k, const Elf64_Shdr *pool, uint64_t offset)
{
	const unsigned char *p = bytes_of(&k->elf, pool, offset, pool->sh_entsize);

	if (!(pool->sh_flags & SHF_MERGE) || !p || !pool->sh_entsize)
		return 0;
	if (pool->sh_flags & SHF_STRINGS)
		return pool->sh_entsize == 1 ? strnlen((const char *)p, pool->sh_size - offset) : 0;
	return pool->sh_entsize;
}

/* Resolve a relocation; names of clones are those of their function. Of code also the data that it refers to. */
static int add_target(const struct reading *k, const Elf64_Rela *r, bool of_code, struct assay_text *t)
{
	const size_t at = ELF64_R_SYM(r->r_info);
	const Elf64_Sym *sym = at < k->symbols.n ? &k->symbols.v[at] : NULL;
	const Elf64_Shdr *s;
	const char *name;
	uint64_t offset, size;

	if (!sym)
		return 0;
	name = assay_elf_symbol_name(&k->symbols, sym);
	s = sym->st_shndx != SHN_UNDEF && sym->st_shndx < k->elf.n_sections ? &k->elf.sections[sym->st_shndx] : NULL;
	if (ELF64_ST_TYPE(sym->st_info) == STT_SECTION && s)
		name = assay_elf_section_name(&k->elf, s);
	/* labels of the assembler are numbered in the order of the source */
	if (strncmp(name, ".L", 2) != 0)
		assay_text_addn(t, name, assay_function_name_length(name));
	assay_text_addf(t, "+%" PRId64 "\n", r->r_addend);
	if (!s || !of_code || s->sh_flags & SHF_EXECINSTR)
		return 0;
	offset = ELF64_ST_TYPE(sym->st_info) == STT_SECTION ? 0 : sym->st_value - s->sh_addr;
	size = sym->st_size ? sym->st_size : element_size(k, s, offset);
	return add_range(k, sym->st_shndx, size ? offset : 0, size ? size : s->sh_size, false, t);
}

/* @size bytes of a section from @offset on, without what the linker filled in, and what that means. */
static int add_range(const struct reading *k, size_t section, uint64_t offset, uint64_t size, bool of_code,
		     struct assay_text *t)
{
	const Elf64_Shdr *s = &k->elf.sections[section];
	const unsigned char *bytes = bytes_of(&k->elf, s, offset, size);
	const Elf64_Rela *r;
	unsigned char *copy;
	int rc = 0;
	size_t n;

	if (!bytes || !size)
		return 0;
	copy = malloc(size);
	if (!copy)
		return no_memory(k->err);
	memcpy(copy, bytes, size);
	r = relocations_of(k, section, &n);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct assay_relocation_field *f =
			assay_relocation_field_of(k->elf.machine, ELF64_R_TYPE(r[i].r_info));
		const uint64_t at = r[i].r_offset - s->sh_addr - offset;

		if (at >= size || !f || f->width > size - at)
			continue; /* its bytes stay as they are, so that they may seem to differ */
		assay_relocation_clear(f, copy + at);
		assay_text_addf(t, "%" PRIu64 " ", at);
		rc = add_target(k, &r[i], of_code, t);
	}
	assay_text_addf(t, "%" PRIx64 "\n", assay_hash64(copy, size));
	free(copy);
	return rc ? rc : t->failed ? no_memory(k->err) : 0;
}

/* The function's name in profiles: without the suffix of a clone, and printable. NULL: no memory, or no name. */
static char *name_of(struct assay_text *t, const char *symbol)
{
	assay_text_addn(t, symbol, assay_function_name_length(symbol));
	if (t->s && !t->failed)
		assay_printable_line(t->s, t->len + 1);
	return t->failed ? NULL : t->s;
}

/* Clones of a function are put together, in whatever order they stand. */
static int keep(struct reading *k, const char *name, uint64_t digest)
{
	struct assay_function_codes *c = k->out;
	char *of_source = assay_demangle(name); /* as profiles name it */
	struct assay_text key = { 0 };
	size_t at = 0;
	bool found = false;
	int rc;

	rc = name_of(&key, of_source ? of_source : name)
		     ? assay_name_index_put(&c->index, key.s, c->n, &at, &found, k->err)
		     : no_memory(k->err);
	free(of_source);
	assay_text_release(&key);
	if (!rc && !found && assay_grow(&c->digests, c->n, sizeof(*c->digests)))
		rc = no_memory(k->err);
	if (rc)
		return rc;
	if (!found)
		c->digests[c->n++] = 0;
	c->digests[at] += digest;
	return 0;
}

static int add_function(struct reading *k, const Elf64_Sym *sym)
{
	const Elf64_Shdr *s = &k->elf.sections[sym->st_shndx];
	const char *name = assay_elf_symbol_name(&k->symbols, sym);
	struct assay_text t = { 0 };
	int rc;

	if (!name[0])
		return 0;
	assay_text_addf(&t, "%" PRIx64 "\n", k->rest);
	rc = add_range(k, sym->st_shndx, sym->st_value - s->sh_addr, sym->st_size, true, &t);
	if (!rc)
		rc = keep(k, name, assay_hash64(t.s, strlen(t.s)) | 1);
	assay_text_release(&t);
	return rc;
}

static bool keeps_relocations(const struct reading *k)
{
	for (size_t i = 0; i < k->elf.n_sections; i++) {
		const Elf64_Shdr *s = &k->elf.sections[i];

		if (s->sh_type == SHT_RELA && !(s->sh_flags & SHF_ALLOC) && s->sh_info < k->elf.n_sections &&
		    k->elf.sections[s->sh_info].sh_flags & SHF_EXECINSTR)
			return true;
	}
	return false;
}

static uint64_t contents(const struct assay_elf *e, const Elf64_Shdr *s, uint64_t offset, uint64_t size)
{
	const unsigned char *p = bytes_of(e, s, offset, size);

	return p && size ? assay_hash64(p, size) : 0;
}

static uint64_t digest_rest(const struct reading *k)
{
	struct assay_elf_symbols imports;
	struct assay_text t = { 0 };
	uint64_t out = 0;

	for (size_t i = 0; i < k->elf.n_sections; i++) {
		const Elf64_Shdr *s = &k->elf.sections[i];
		const char *name = assay_elf_section_name(&k->elf, s);

		if (s->sh_flags & SHF_ALLOC && (!strncmp(name, ".rodata", 7) || !strcmp(name, ".data")))
			assay_text_addf(&t, "%s %" PRIx64 "\n", name, contents(&k->elf, s, 0, s->sh_size));
	}
	if (assay_elf_symbols(&k->elf, SHT_DYNSYM, &imports))
		for (size_t i = 0; i < imports.n; i++)
			if (imports.v[i].st_shndx == SHN_UNDEF)
				assay_text_addf(&t, "%s\n", assay_elf_symbol_name(&imports, &imports.v[i]));
	if (t.s)
		out = assay_hash64(t.s, strlen(t.s));
	assay_text_release(&t);
	return out;
}

int assay_function_codes_read(struct assay_function_codes *c, const char *path, struct assay_err *err)
{
	struct reading k = { .out = c, .err = err };
	const void *data = NULL;
	size_t len;
	int rc;

	*c = (struct assay_function_codes){ .n = 0 };
	rc = assay_file_map(path, &data, &len, err);
	if (rc)
		return rc;
	if (!assay_elf_open(&k.elf, data, len) || !assay_elf_symbols(&k.elf, SHT_SYMTAB, &k.symbols)) {
		assay_file_unmap(data, len);
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' has no symbols", path);
	}
	k.keeps = keeps_relocations(&k);
	k.rest = k.keeps ? 0 : digest_rest(&k);
	for (size_t i = 0; i < k.symbols.n && !rc; i++) {
		const Elf64_Sym *sym = &k.symbols.v[i];

		if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_size && sym->st_shndx != SHN_UNDEF &&
		    sym->st_shndx < k.elf.n_sections)
			rc = add_function(&k, sym);
	}
	assay_file_unmap(data, len);
	return rc;
}

void assay_function_codes_release(struct assay_function_codes *c)
{
	assay_name_index_release(&c->index);
	free(c->digests);
	*c = (struct assay_function_codes){ .n = 0 };
}

uint64_t assay_function_codes_find(const struct assay_function_codes *c, const char *name)
{
	struct assay_text key = { 0 };
	size_t at = 0;
	bool found;

	found = name_of(&key, name) && assay_name_index_find(&c->index, key.s, &at);
	assay_text_release(&key);
	return found ? c->digests[at] : 0;
}
