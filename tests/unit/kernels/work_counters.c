/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that variants publish about their work: the operations of the op's cost, and calls that fell back. */
#include "counters/step/decode.h"
#include "matmul_fixture.h"
#include "unit.h"

#define RUNS 3

static const char *const matmul_ops[] = { "matmul.f32", "matmul.ternary" };
static const char *const quantize_ops[] = { "quantize.i2_s",     "quantize.tq2_0",     "quantize.q8_0",
					    "quantize.i8_token", "dequantize.i2_s",    "dequantize.tq2_0",
					    "dequantize.q8_0",   "dequantize.i8_token" };

/* Of @axes with a last-level cache of @llc_bytes: 0 is unknown, 1 makes any output exceed it. */
static void expect(const char *op, const char *variant, const char *axes, uint64_t llc_bytes, uint32_t offset_bytes,
		   uint64_t fallbacks)
{
	for (uint32_t threads = 1; threads <= 3; threads += 2) {
		struct mini_case *c =
			mini_new(op, variant, axes,
				 &(struct mini_options){ .n_threads = threads, .offset_bytes = offset_bytes });

		c->info.llc_bytes = llc_bytes;
		mini_fill(c);
		for (int i = 0; i < RUNS; i++)
			mini_run(c);
		if (c->counters[ASSAY_WORK_CPU_OPS] != RUNS * (uint64_t)c->problem.cost.ops ||
		    c->counters[ASSAY_WORK_FALLBACKS] != RUNS * fallbacks)
			fail_msg("%s/%s/%s, %u threads: %llu operations, %llu fallbacks in %d runs", op, variant, axes,
				 threads, (unsigned long long)c->counters[ASSAY_WORK_CPU_OPS],
				 (unsigned long long)c->counters[ASSAY_WORK_FALLBACKS], RUNS);
		mini_free(c);
	}
}

/* One token suits all variants; more are not for weights of 1.6 bits. */
TEST(test_matmul)
{
	for (size_t op = 0; op < N_OF(matmul_ops); op++)
		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			const char *variant = mini_variant_names()->v[v];

			if (!mini_can_run(matmul_ops[op], variant))
				continue;
			expect(matmul_ops[op], variant, "m=70,k=384,n=1", 0, 0, 0);
			expect(matmul_ops[op], variant, "m=70,k=384,n=5", 0, 0, !strcmp(variant, "avx512vnni_trits"));
		}
}

TEST(test_quantize)
{
	for (size_t op = 0; op < N_OF(quantize_ops); op++) {
		bool tokens = strstr(quantize_ops[op], "i8_token") != NULL;
		const char *axes = tokens ? "tokens=9,dim=256" : "n=9216";

		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			const char *variant = mini_variant_names()->v[v];
			bool vectors = strcmp(variant, "ref") != 0;

			if (!mini_can_run(quantize_ops[op], variant))
				continue;
			expect(quantize_ops[op], variant, axes, 0, 0, 0);
			expect(quantize_ops[op], variant, axes, 0, 8, 0); /* plain stores need no alignment */
			expect(quantize_ops[op], variant, axes, 1, 0, 0);
			expect(quantize_ops[op], variant, axes, 1, 8, vectors);
			if (!tokens)
				continue;
			expect(quantize_ops[op], variant, "tokens=9,dim=3", 0, 0, vectors);
			expect(quantize_ops[op], variant, "tokens=9,dim=67", 0, 0, 0); /* what is left over */
			expect(quantize_ops[op], variant, "tokens=9,dim=67", 1, 0, vectors);
		}
	}
}

/* ---- step kernels ---- */

/* Every instruction of every kernel is decoded: the code of the built plugins, from its first byte to its last. */

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
