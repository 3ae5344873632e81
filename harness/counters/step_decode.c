/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding with Zydis, and the table of what was decoded. */
#include "counters/step_decode.h"

#include <stdio.h>

int assay_step_probe(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "instructions are not decoded");
}

void assay_step_regs_take(struct assay_step_regs *r, const void *ucontext)
{
	(void)r;
	(void)ucontext;
}

void assay_step_regs_bases(struct assay_step_regs *r)
{
	r->fs_base = r->gs_base = 0;
}

const char *assay_step_kind_name(enum assay_step_kind kind)
{
	static const char *const names[] = {
#define ROW(kind, name) [ASSAY_STEP_##kind] = (name),
		ASSAY_STEP_KINDS(ROW)
#undef ROW
	};
	return names[kind];
}

const char *assay_step_width_name(enum assay_step_width width)
{
	static const char *const names[] = {
#define ROW(width, name) [ASSAY_STEP_WIDTH_##width] = (name),
		ASSAY_STEP_WIDTHS(ROW)
#undef ROW
	};
	return names[width];
}

void assay_step_refusal_text(const struct assay_step_refusal *r, char *buf, size_t size)
{
	snprintf(buf, size, "not decoded at 0x%llx", (unsigned long long)r->address);
}

enum assay_step_status assay_step_decode(const uint8_t *code, size_t size, uint64_t address,
					 struct assay_step_insn *out)
{
	(void)code;
	(void)size;
	*out = (struct assay_step_insn){ .address = address };
	return ASSAY_STEP_UNKNOWN;
}

int assay_step_table_new(struct assay_step_table **out, size_t instructions, struct assay_err *err)
{
	(void)instructions;
	*out = NULL;
	return assay_step_probe(err);
}

void assay_step_table_free(struct assay_step_table *t)
{
	(void)t;
}

const struct assay_step_insn *assay_step_table_get(struct assay_step_table *t, uint64_t address,
						   struct assay_step_refusal *why)
{
	(void)t;
	*why = (struct assay_step_refusal){ .status = ASSAY_STEP_UNKNOWN, .address = address };
	return NULL;
}

size_t assay_step_table_size(const struct assay_step_table *t)
{
	(void)t;
	return 0;
}

const struct assay_step_insn *assay_step_table_at(const struct assay_step_table *t, size_t i)
{
	(void)t;
	(void)i;
	return NULL;
}

size_t assay_step_table_index(const struct assay_step_table *t, const struct assay_step_insn *insn)
{
	(void)t;
	(void)insn;
	return 0;
}

enum assay_step_status assay_step_accesses(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					   struct assay_step_accesses *out)
{
	(void)insn;
	(void)r;
	out->n = 0;
	return ASSAY_STEP_OK;
}

struct assay_step_outcome assay_step_outcome(const struct assay_step_insn *insn, const struct assay_step_regs *before,
					     const struct assay_step_regs *after)
{
	(void)insn;
	(void)before;
	(void)after;
	return (struct assay_step_outcome){ .instructions = 1 };
}

enum assay_step_status assay_step_operations(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					     unsigned *operations)
{
	(void)insn;
	(void)r;
	*operations = 0;
	return ASSAY_STEP_OK;
}

enum assay_step_status assay_step_mix_add(struct assay_step_mix *m, const struct assay_step_insn *insn,
					  const struct assay_step_regs *r, const struct assay_step_accesses *acc)
{
	(void)r;
	(void)acc;
	m->instructions[insn->kind][insn->width]++;
	return ASSAY_STEP_OK;
}
