/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins as files: they are read before anything of them is loaded. */
#include <dlfcn.h>
#include <link.h>

#include "fuzz.h"
#include "base/file.h"
#include "worker/plugin/code_hash.h"
#include "worker/plugin/elf_image.h"
#include "worker/plugin/loader.h"

/* Where the file says that its first functions begin, as if it had been loaded at @bias. */
static void find_entries(uint64_t bias, const void *entries[ASSAY_CODE_ENTRIES])
{
	struct assay_elf_symbols t;
	struct assay_elf e;
	const void *data;
	size_t len, n = 0;

	FUZZ_CHECK(!assay_file_map("input.so", &data, &len, NULL));
	if (assay_elf_open(&e, data, len) && assay_elf_symbols(&e, SHT_SYMTAB, &t))
		for (size_t i = 0; i < t.n && n < ASSAY_CODE_ENTRIES; i++)
			if (ELF64_ST_TYPE(t.v[i].st_info) == STT_FUNC && t.v[i].st_value)
				entries[n++] = (const void *)(uintptr_t)(bias + t.v[i].st_value);
	assay_file_unmap(data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const void *entries[ASSAY_CODE_ENTRIES] = { NULL };
	struct assay_plugin_file file;
	struct assay_digest digest;
	struct assay_err err = { 0 };
	struct link_map *map;
	void *self = dlopen(NULL, RTLD_NOW);
	int rc;

	fuzz_write("input.so", data, size);
	rc = assay_plugin_file_read("input.so", &file, &err);
	fuzz_check_refusal(rc, &err);
	err = (struct assay_err){ 0 };
	rc = assay_plugin_file_code("input.so", &digest, &err);
	fuzz_check_refusal(rc, &err);

	FUZZ_CHECK(self && !dlinfo(self, RTLD_DI_LINKMAP, &map));
	find_entries(map->l_addr, entries);
	err = (struct assay_err){ 0 };
	rc = assay_code_hash("input.so", self, entries, &digest, &err);
	fuzz_check_refusal(rc, &err);
	dlclose(self);
	return 0;
}
