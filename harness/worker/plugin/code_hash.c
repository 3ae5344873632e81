/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest is built over a graph. Its nodes are sections of the file, its edges the relocations that the linker was
 * asked to keep. Sections and not functions, because the assembler settles a call within one section by itself and
 * leaves no relocation behind: only between sections is the list of references complete. A node gives its bytes with
 * the relocated fields cleared, and for each relocation where it stands and what it means: the number of the node it
 * leads to and the offset in there, or the name of an imported symbol. Nodes are numbered in the order of discovery
 * from the entries, so neither addresses nor the names of symbols take part.
 *
 * A pool of constants (a section of equal elements or of strings) would tie together all functions of its source file;
 * where a reference says exactly which element it means, that element is hashed in place of the pool.
 *
 * Constructors are entries too: what they leave behind in variables is not to be seen from the code that reads it.
 */
#include "worker/plugin/code_hash.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "worker/plugin/elf_image.h"

#define FIELD_MAX 8

struct walk {
	const char *path;
	struct assay_elf elf;
	struct assay_elf_symbols symbols;
	struct assay_hasher *hasher;
	uint32_t *relocations; /* a section: that of its kept relocations; 0, which is never one: it has none */
	uint32_t *number;      /* a section: its node's number, counted from 1; 0 not reached */
	uint32_t *queue;       /* sections in the order of their numbers */
	uint32_t n_nodes;
};

static void add_u64(struct walk *w, uint64_t v)
{
	assay_hasher_add(w->hasher, &v, sizeof(v));
}

/* The number of the node that section @i is. */
static uint64_t reach(struct walk *w, size_t i)
{
	if (!w->number[i]) {
		w->queue[w->n_nodes] = (uint32_t)i;
		w->number[i] = ++w->n_nodes;
	}
	return w->number[i];
}

/* Kept relocations of section @i; NULL where it has none. */
static const Elf64_Shdr *relocations_of(const struct walk *w, size_t i)
{
	return w->relocations[i] ? &w->elf.sections[w->relocations[i]] : NULL;
}

static bool keeps_relocations(const struct walk *w)
{
	for (size_t i = 0; i < w->elf.n_sections; i++)
		if ((w->elf.sections[i].sh_flags & SHF_ALLOC) && relocations_of(w, i))
			return true;
	return false;
}

/* Length of the element that begins at byte @at of a pool; 0 where it would not end within it. */
static uint64_t element_len(const struct walk *w, const Elf64_Shdr *pool, uint64_t at)
{
	static const unsigned char zero[FIELD_MAX];
	const unsigned char *bytes = w->elf.data + pool->sh_offset;
	uint64_t unit = pool->sh_entsize;

	if (!(pool->sh_flags & SHF_STRINGS))
		return unit <= pool->sh_size && at <= pool->sh_size - unit ? unit : 0;
	if (unit > sizeof(zero))
		return 0;
	for (uint64_t end = at; end + unit <= pool->sh_size; end += unit)
		if (!memcmp(bytes + end, zero, unit))
			return end + unit - at;
	return 0;
}

/* Try to hash the one constant that a reference to offset @at of section @i means; false when the whole section counts.
 */
static bool add_constant(struct walk *w, size_t i, uint64_t at)
{
	const Elf64_Shdr *s = &w->elf.sections[i];
	uint64_t len;

	if (!(s->sh_flags & SHF_MERGE) || !s->sh_entsize || s->sh_type != SHT_PROGBITS || at >= s->sh_size ||
	    at % s->sh_entsize || !assay_elf_inside(&w->elf, s->sh_offset, s->sh_size) || relocations_of(w, i))
		return false;
	len = element_len(w, s, at);
	if (!len)
		return false;
	add_u64(w, len);
	assay_hasher_add(w->hasher, w->elf.data + s->sh_offset + at, len);
	return true;
}

static int unavailable(const struct walk *w, struct assay_err *err, const char *what)
{
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot tell the functions of '%s' apart: %s", w->path, what);
}

/* The target of a relocation. */
static int add_target(struct walk *w, const Elf64_Rela *r, const struct assay_relocation_field *f,
		      struct assay_err *err)
{
	const Elf64_Sym *sym;
	const Elf64_Shdr *s;
	uint64_t offset;
	bool named;

	if (ELF64_R_SYM(r->r_info) >= w->symbols.n)
		return unavailable(w, err, "a relocation has no symbol");
	sym = &w->symbols.v[ELF64_R_SYM(r->r_info)];
	if (sym->st_shndx == SHN_UNDEF) {
		const char *name = assay_elf_symbol_name(&w->symbols, sym);

		assay_hasher_add(w->hasher, "import", 6);
		assay_hasher_add(w->hasher, name, strlen(name) + 1);
		add_u64(w, (uint64_t)r->r_addend);
		return 0;
	}
	if (sym->st_shndx == SHN_ABS) {
		assay_hasher_add(w->hasher, "number", 6);
		add_u64(w, sym->st_value + (uint64_t)r->r_addend);
		return 0;
	}
	if (sym->st_shndx >= SHN_LORESERVE || sym->st_shndx >= w->elf.n_sections)
		return unavailable(w, err, "a symbol has no section");

	s = &w->elf.sections[sym->st_shndx];
	offset = sym->st_value - s->sh_addr;
	/* a symbol of its own stands at the beginning of its constant; a section's does not say where that is, unless
	 * the addend alone does */
	named = ELF64_ST_TYPE(sym->st_info) != STT_SECTION;
	if ((named || f->absolute) && (s->sh_flags & SHF_MERGE)) {
		assay_hasher_add(w->hasher, "constant", 8);
		add_u64(w, named ? (uint64_t)r->r_addend : 0);
		if (add_constant(w, sym->st_shndx, named ? offset : offset + (uint64_t)r->r_addend))
			return 0;
	}
	assay_hasher_add(w->hasher, "node", 4);
	add_u64(w, reach(w, sym->st_shndx));
	add_u64(w, offset + (uint64_t)r->r_addend);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const Elf64_Rela *x = a, *y = b;

	if (x->r_offset != y->r_offset)
		return x->r_offset < y->r_offset ? -1 : 1;
	return ELF64_R_TYPE(x->r_info) < ELF64_R_TYPE(y->r_info) ? -1
								 : ELF64_R_TYPE(x->r_info) > ELF64_R_TYPE(y->r_info);
}

/* Hash the @n relocations @r of section @s and clear what they fill in of its copy @bytes (NULL: it has none). */
static int add_relocations(struct walk *w, const Elf64_Shdr *s, unsigned char *bytes, const Elf64_Rela *r, size_t n,
			   struct assay_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct assay_relocation_field *f =
			assay_relocation_field_of(w->elf.machine, ELF64_R_TYPE(r[i].r_info));
		uint64_t at = r[i].r_offset - s->sh_addr;
		int rc;

		if (!ELF64_R_TYPE(r[i].r_info))
			continue; /* R_*_NONE */
		if (!f)
			return assay_err_set(err, ASSAY_EUNAVAILABLE,
					     "cannot tell the functions of '%s' apart: relocation type %" PRIu64
					     " is unknown",
					     w->path, (uint64_t)ELF64_R_TYPE(r[i].r_info));
		if (!bytes || at > s->sh_size || f->width > s->sh_size - at)
			return unavailable(w, err, "a relocation lies outside its section");
		assay_relocation_clear(f, bytes + at);
		add_u64(w, at);
		add_u64(w, f->type);
		rc = add_target(w, &r[i], f, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_node(struct walk *w, size_t i, struct assay_err *err)
{
	const Elf64_Shdr *s = &w->elf.sections[i], *rs = relocations_of(w, i);
	bool has_bytes = s->sh_type != SHT_NOBITS && s->sh_size;
	unsigned char *bytes = NULL;
	Elf64_Rela *r = NULL;
	size_t n = 0;
	int rc = 0;

	if (has_bytes && !assay_elf_inside(&w->elf, s->sh_offset, s->sh_size))
		return unavailable(w, err, "a section lies outside the file");
	if (rs && (rs->sh_entsize != sizeof(*r) || !assay_elf_inside(&w->elf, rs->sh_offset, rs->sh_size)))
		return unavailable(w, err, "its relocations cannot be read");
	if (rs)
		n = rs->sh_size / sizeof(*r);
	if (has_bytes)
		bytes = malloc(s->sh_size);
	if (n)
		r = malloc(n * sizeof(*r));
	if ((has_bytes && !bytes) || (n && !r)) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory while hashing '%s'", w->path);
		goto out;
	}
	if (bytes)
		memcpy(bytes, w->elf.data + s->sh_offset, s->sh_size);
	if (n) {
		memcpy(r, w->elf.data + rs->sh_offset, n * sizeof(*r));
		qsort(r, n, sizeof(*r), by_offset);
	}
	assay_hasher_add(w->hasher, "section", 7);
	add_u64(w, s->sh_type);
	add_u64(w, s->sh_flags & (SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_TLS));
	/* zeros are alike; the linker pads them to fit what comes next */
	add_u64(w, s->sh_type != SHT_NOBITS ? s->sh_addralign : 0);
	add_u64(w, s->sh_type != SHT_NOBITS ? s->sh_size : 0);
	add_u64(w, n);
	rc = add_relocations(w, s, bytes, r, n, err);
	if (!rc && bytes)
		assay_hasher_add(w->hasher, bytes, s->sh_size);
out:
	free(bytes);
	free(r);
	return rc;
}

static int add_entries(struct walk *w, uint64_t bias, const void *const *entries, struct assay_err *err)
{
	const Elf64_Shdr *sections = w->elf.sections;

	for (size_t i = 0; i < ASSAY_CODE_ENTRIES; i++) {
		uint64_t addr = (uint64_t)(uintptr_t)entries[i] - bias;
		size_t at;

		if (!entries[i]) {
			add_u64(w, 0);
			continue;
		}
		at = assay_elf_section_at(&w->elf, addr, 1);
		if (at == w->elf.n_sections || !(sections[at].sh_flags & SHF_EXECINSTR))
			return unavailable(w, err, "a function of the variant lies in another file");
		add_u64(w, reach(w, at));
		add_u64(w, addr - sections[at].sh_addr);
	}
	for (size_t i = 0; i < w->elf.n_sections; i++)
		if (sections[i].sh_type == SHT_INIT_ARRAY || sections[i].sh_type == SHT_PREINIT_ARRAY)
			reach(w, i);
	return 0;
}

int assay_code_hash(const char *path, void *dl, const void *const entries[ASSAY_CODE_ENTRIES], struct assay_digest *out,
		    struct assay_err *err)
{
	struct walk w = { .path = path };
	struct link_map *map = NULL;
	const void *data = NULL;
	size_t len;
	int rc;

	if (dlinfo(dl, RTLD_DI_LINKMAP, &map) || !map)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot see where '%s' was loaded", path);
	rc = assay_file_map(path, &data, &len, err);
	if (rc)
		return rc;
	if (!assay_elf_open(&w.elf, data, len)) {
		rc = unavailable(&w, err, "it is not a shared object");
		goto out;
	}
	w.relocations = calloc(w.elf.n_sections, sizeof(*w.relocations));
	w.number = calloc(w.elf.n_sections, sizeof(*w.number));
	w.queue = calloc(w.elf.n_sections, sizeof(*w.queue));
	w.hasher = assay_hasher_new();
	if (!w.relocations || !w.number || !w.queue || !w.hasher) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory while hashing '%s'", path);
		goto out;
	}
	if (assay_elf_symbols(&w.elf, SHT_SYMTAB, &w.symbols)) {
		/* The first table of relocations that the linker kept for each section. */
		for (size_t k = w.elf.n_sections; k-- > 1;) {
			const Elf64_Shdr *s = &w.elf.sections[k];

			if (s->sh_type == SHT_RELA && !(s->sh_flags & SHF_ALLOC) && s->sh_info < w.elf.n_sections &&
			    s->sh_link == w.symbols.section)
				w.relocations[s->sh_info] = (uint32_t)k;
		}
	}
	if (!keeps_relocations(&w)) {
		rc = unavailable(&w, err, "it was not linked with --emit-relocs, or was stripped");
		goto out;
	}
	rc = add_entries(&w, map->l_addr, entries, err);
	for (uint32_t i = 0; i < w.n_nodes && !rc; i++)
		rc = add_node(&w, w.queue[i], err);
out:
	if (w.hasher) {
		struct assay_digest d = assay_hasher_finish(w.hasher);

		if (!rc)
			*out = d;
	}
	free(w.queue);
	free(w.number);
	free(w.relocations);
	assay_file_unmap(data, len);
	return rc;
}
