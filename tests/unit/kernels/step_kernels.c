/* SPDX-License-Identifier: Apache-2.0 */
/* Every instruction of every kernel is decoded: the code of the built plugins, from its first byte to its last. */
#include "unit.h"
#include "counters/step/decode.h"

#if defined(__x86_64__) && ASSAY_ZYDIS
#include <elf.h>

#include "base/file.h"
#include "mini_plugins.h"

struct object {
	const uint8_t *bytes;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
};

/* Do functions of the symbol table begin where instructions do? Marks hold 1 for each byte that begins one. */
static unsigned check_functions(const struct object *o, const Elf64_Shdr *code, size_t index, const uint8_t *marks)
{
	unsigned n = 0;

	for (size_t s = 0; s < o->head->e_shnum; s++) {
		const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(o->bytes + o->sections[s].sh_offset);

		if (o->sections[s].sh_type != SHT_SYMTAB)
			continue;
		for (size_t i = 0; i < o->sections[s].sh_size / sizeof(*symbols); i++) {
			if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_shndx != index)
				continue;
			n++;
			if (!marks[symbols[i].st_value - code->sh_addr])
				fail_msg("no instruction begins at 0x%llx", (unsigned long long)symbols[i].st_value);
		}
	}
	return n;
}

static void check_section(const char *name, const struct object *o, size_t index, unsigned *functions, size_t *insns)
{
	const Elf64_Shdr *code = &o->sections[index];
	uint8_t *marks = calloc(code->sh_size + 1, 1);

	assert_non_null(marks);
	for (uint64_t at = 0; at < code->sh_size;) {
		struct assay_step_insn insn;
		const enum assay_step_status rc = assay_step_decode(o->bytes + code->sh_offset + at, code->sh_size - at,
								    code->sh_addr + at, &insn);

		if (rc)
			fail_msg("%s: 0x%llx: status %d", name, (unsigned long long)(code->sh_addr + at), rc);
		marks[at] = 1;
		at += insn.length;
		++*insns;
	}
	*functions += check_functions(o, code, index, marks);
	free(marks);
}

TEST(all_code_of_the_plugins_is_decoded)
{
	static const char *const names[] = { "ops.so", "matmul.so", "quantize.so", "stream.so", "overhead.so" };
	char folder[3800], path[4096];

	mini_plugin_folder(folder, sizeof(folder));
	for (size_t i = 0; i < N_OF(names); i++) {
		struct object o;
		unsigned functions = 0;
		size_t size, insns = 0;
		char *file = NULL;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (assay_file_read(path, &file, &size, NULL))
			fail_msg("no plugin '%s'", path);
		o.bytes = (const uint8_t *)file;
		o.head = (const Elf64_Ehdr *)(const void *)file;
		o.sections = (const Elf64_Shdr *)(const void *)(file + o.head->e_shoff);
		for (size_t s = 0; s < o.head->e_shnum; s++)
			if (o.sections[s].sh_type == SHT_PROGBITS && (o.sections[s].sh_flags & SHF_EXECINSTR))
				check_section(names[i], &o, s, &functions, &insns);
		assert_true(functions > 5 && insns > 100);
		free(file);
	}
}
#else
TEST(is_for_x86_64_with_zydis)
{
	assert_int_equal(assay_step_probe(NULL), ASSAY_EUNAVAILABLE);
}
#endif

UNIT_GROUP(NULL, NULL)
