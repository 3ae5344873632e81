/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the descriptor's first bytes through .dynsym, the build-id note and the loaded sections of a plugin's file.
 * Dynamic loading runs constructors, so the version must be known from the file alone.
 */
#include "worker/plugin/loader.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/plugin.h"
#include "base/file.h"
#include "worker/plugin/elf_image.h"

/* First bytes of the exported descriptor; NULL when there is none. */
static const unsigned char *find_descriptor(const struct assay_elf *e, uint64_t len)
{
	struct assay_elf_symbols t;

	if (!assay_elf_symbols(e, SHT_DYNSYM, &t))
		return NULL;
	for (size_t k = 0; k < t.n; k++) {
		const Elf64_Sym *sym = &t.v[k];
		size_t at;

		if (sym->st_shndx == SHN_UNDEF || strcmp(assay_elf_symbol_name(&t, sym), ASSAY_PLUGIN_SYMBOL))
			continue;
		at = assay_elf_section_at(e, sym->st_value, len);
		if (at == e->n_sections)
			return NULL;
		return e->data + e->sections[at].sh_offset + (sym->st_value - e->sections[at].sh_addr);
	}
	return NULL;
}

static void read_build_id(const struct assay_elf *e, char *hex, size_t size)
{
	hex[0] = '\0';
	for (size_t i = 0; i < e->n_sections; i++) {
		const Elf64_Shdr *s = &e->sections[i];
		const unsigned char *id;
		Elf64_Nhdr note;
		size_t start;

		if (s->sh_type != SHT_NOTE || strcmp(assay_elf_section_name(e, s), ".note.gnu.build-id") ||
		    !assay_elf_inside(e, s->sh_offset, s->sh_size) || s->sh_size < sizeof(note))
			continue;
		memcpy(&note, e->data + s->sh_offset, sizeof(note));
		start = sizeof(note) + ((note.n_namesz + 3u) & ~3u);
		if (start + note.n_descsz > s->sh_size)
			continue;
		id = e->data + s->sh_offset + start;
		for (size_t k = 0; k < note.n_descsz && 2 * k + 2 < size; k++)
			snprintf(hex + 2 * k, 3, "%02x", id[k]);
	}
}

/*
 * All that is loaded, so that also another table of pointers or another imported function is another plugin; but not
 * the notes, since the build-id depends on debugging information too.
 */
static bool decides(const struct assay_elf *e, const Elf64_Shdr *s)
{
	return (s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NOBITS && s->sh_type != SHT_NOTE &&
	       assay_elf_inside(e, s->sh_offset, s->sh_size);
}

int assay_plugin_file_code(const char *path, struct assay_digest *out, struct assay_err *err)
{
	struct assay_hasher *h = NULL;
	struct assay_elf e;
	const void *data = NULL;
	size_t len;
	int rc = assay_file_map(path, &data, &len, err);

	if (rc)
		return rc;
	if (!assay_elf_open(&e, data, len))
		rc = assay_err_set(err, ASSAY_EPLUGIN, "'%s' is not a shared object for this processor", path);
	else if (!(h = assay_hasher_new()))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory while hashing a plugin");
	for (size_t i = 0; !rc && i < e.n_sections; i++)
		if (decides(&e, &e.sections[i]))
			assay_hasher_add(h, e.data + e.sections[i].sh_offset, e.sections[i].sh_size);
	if (!rc)
		*out = assay_hasher_finish(h);
	assay_file_unmap(data, len);
	return rc;
}

int assay_plugin_file_read(const char *path, struct assay_plugin_file *out, struct assay_err *err)
{
	const unsigned char *head;
	struct assay_elf e;
	uint32_t magic;
	const void *data = NULL;
	size_t len;
	int rc;

	rc = assay_file_map(path, &data, &len, err);
	if (rc)
		return rc;
	*out = (struct assay_plugin_file){ 0 };
	if (!assay_elf_open(&e, data, len)) {
		rc = assay_err_set(err, ASSAY_EPLUGIN, "'%s' is not a shared object for this processor", path);
		goto out;
	}
	head = find_descriptor(&e, 16);
	if (!head) {
		rc = assay_err_set(err, ASSAY_EPLUGIN, "no symbol '%s' in '%s'", ASSAY_PLUGIN_SYMBOL, path);
		goto out;
	}
	memcpy(&magic, head, 4);
	memcpy(&out->abi_major, head + 4, 2);
	memcpy(&out->abi_minor, head + 6, 2);
	if (magic != ASSAY_PLUGIN_MAGIC) {
		rc = assay_err_set(err, ASSAY_EPLUGIN, "'%s' in '%s' has magic 0x%08x, expected 0x%08x",
				   ASSAY_PLUGIN_SYMBOL, path, magic, ASSAY_PLUGIN_MAGIC);
		goto out;
	}
	if (out->abi_major != ASSAY_ABI_MAJOR) {
		rc = assay_err_set(
			err, ASSAY_EABI,
			"'%s' was built for plugin ABI %u.%u, this program takes %u.x (%u.%u); rebuild the plugin",
			path, out->abi_major, out->abi_minor, ASSAY_ABI_MAJOR, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
		goto out;
	}
	read_build_id(&e, out->build_id, sizeof(out->build_id));
out:
	assay_file_unmap(data, len);
	return rc;
}
