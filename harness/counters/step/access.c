/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of an instruction with given registers: the memory it reaches, the lanes it works on, where it goes. */
#include "counters/step/decode.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- vector and mask registers ---- */

/* The area that XSAVE writes (Intel's manual, volume 1, chapter 13). */
#define AREA_XMM         160
#define AREA_HEADER      512
#define AREA_HEADER_SIZE 64
#define AREA_YMM         (AREA_HEADER + AREA_HEADER_SIZE)
#define AREA_HEADER_FORM 8 /* the word of the header that says how it is packed */
#define AREA_COMPACT     (UINT64_C(1) << 63)

enum area_part {
	PART_SSE = 1,
	PART_AVX,
	PART_MASK = 5,
	PART_UPPER,           /* of zmm0 to zmm15 */
	PART_UPPER_REGISTERS, /* zmm16 to zmm31 */
	N_PARTS = 63,
};

static uint64_t word_at(const uint8_t *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* Copy @bytes at @offset of @part to @to; zeros where the processor left the part out because it holds nothing else. */
static bool read_part(const struct assay_step_regs *r, enum area_part part, size_t offset, size_t bytes, uint8_t *to)
{
	memset(to, 0, bytes);
	if (!r->xsave || r->xsave_bytes < AREA_YMM)
		return false;
	if (!(word_at(r->xsave + AREA_HEADER) & UINT64_C(1) << part))
		return true;
	if (!offset || offset + bytes > r->xsave_bytes)
		return false;
	memcpy(to, r->xsave + offset, bytes);
	return true;
}

static bool read_mask(const struct assay_step_insn *insn, const struct assay_step_regs *r, unsigned mask, uint64_t *out)
{
	uint8_t bytes[8];
	const bool known = read_part(r, PART_MASK, insn->area_mask + 8 * (size_t)mask, sizeof(bytes), bytes);

	*out = word_at(bytes);
	return known && insn->area_mask;
}

/* The first @bytes (16, 32 or 64) of a vector register. */
static bool read_vector(const struct assay_step_insn *insn, const struct assay_step_regs *r, unsigned vector,
			unsigned bytes, uint8_t out[64])
{
	bool known = true;

	if (vector >= 16)
		return insn->area_upper_registers &&
		       read_part(r, PART_UPPER_REGISTERS, insn->area_upper_registers + 64 * ((size_t)vector - 16), 64,
				 out);
	known = read_part(r, PART_SSE, AREA_XMM + 16 * (size_t)vector, 16, out);
	if (bytes > 16)
		known = known && read_part(r, PART_AVX, AREA_YMM + 16 * (size_t)vector, 16, out + 16);
	if (bytes > 32)
		known = known && insn->area_upper &&
			read_part(r, PART_UPPER, insn->area_upper + 32 * (size_t)vector, 32, out + 32);
	return known;
}

/* One bit an element of the vector register that masks @o: is its sign set? */
static bool read_signs(const struct assay_step_insn *insn, const struct assay_step_regs *r,
		       const struct assay_step_operand *o, uint64_t *out)
{
	const unsigned bytes = (unsigned)o->mask_bits * o->element_bytes;
	uint8_t vector[64];

	*out = 0;
	if (!read_vector(insn, r, o->mask, bytes, vector))
		return false;
	for (unsigned i = 0; i < o->mask_bits; i++)
		if (vector[(i + 1) * o->element_bytes - 1] & 0x80)
			*out |= UINT64_C(1) << i;
	return true;
}

/* ---- addresses ---- */

/* Without index where that is a vector's element or a bit's number. */
static uint64_t address_of(const struct assay_step_operand *o, const struct assay_step_regs *r, int64_t index)
{
	uint64_t at = (uint64_t)o->displacement + (uint64_t)index * o->scale;

	if (o->base < ASSAY_STEP_N_GPR)
		at += r->gpr[o->base];
	if (o->narrow)
		at = (uint32_t)at;
	return at + (o->segment == 'f' ? r->fs_base : o->segment == 'g' ? r->gs_base : 0);
}

static uint64_t plain_address(const struct assay_step_operand *o, const struct assay_step_regs *r)
{
	return address_of(o, r, o->index < ASSAY_STEP_N_GPR ? (int64_t)r->gpr[o->index] : 0);
}

static void add(struct assay_step_accesses *out, const struct assay_step_operand *o, uint64_t address, uint64_t bytes)
{
	out->a[out->n++] = (struct assay_step_access){
		.address = address, .bytes = (uint32_t)bytes, .kind = o->access, .non_temporal = o->non_temporal
	};
}

/* The number in the low @bytes of @value, with its sign. */
static int64_t signed_part(uint64_t value, unsigned bytes)
{
	const unsigned above = 64 - 8 * bytes;

	return (int64_t)(value << above) >> above;
}

/* bt and its kind: the register counts bits from the operand's first, backwards too. */
static void add_bit_word(struct assay_step_accesses *out, const struct assay_step_operand *o,
			 const struct assay_step_regs *r)
{
	const int64_t bits = 8 * (int64_t)o->bytes, bit = signed_part(r->gpr[o->index], o->bytes);
	const int64_t word = (bit - ((bit % bits) + bits) % bits) / bits;

	add(out, o, address_of(o, r, 0) + (uint64_t)(word * (int64_t)o->bytes), o->bytes);
}

static void add_active(struct assay_step_accesses *out, const struct assay_step_operand *o,
		       const struct assay_step_regs *r, uint64_t mask)
{
	uint64_t active = 0;
	unsigned first, last;

	for (unsigned i = 0; i < o->mask_bits; i++)
		if (mask >> i & 1)
			active |= UINT64_C(1) << i % o->elements;
	if (!active)
		return;
	first = (unsigned)__builtin_ctzll(active);
	last = 63 - (unsigned)__builtin_clzll(active);
	add(out, o, plain_address(o, r) + first * o->element_bytes, (last - first + 1) * o->element_bytes);
}

static bool add_gathered(struct assay_step_accesses *out, const struct assay_step_insn *insn,
			 const struct assay_step_operand *o, const struct assay_step_regs *r, uint64_t mask)
{
	const unsigned bytes = (unsigned)o->elements * o->index_bytes;
	uint8_t indexes[64];

	if (!read_vector(insn, r, o->index, bytes, indexes))
		return false;
	for (unsigned i = 0; i < o->elements; i++) {
		uint64_t index = 0;

		memcpy(&index, indexes + (size_t)i * o->index_bytes, o->index_bytes);
		if (mask >> i & 1)
			add(out, o, address_of(o, r, signed_part(index, o->index_bytes)), o->element_bytes);
	}
	return true;
}

/* ---- XSAVE and its kind ---- */

#if defined(__x86_64__)
static uint64_t enabled_parts(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

/* Bytes from the beginning of an area to the end of the last of its @parts. */
static uint64_t area_bytes(uint64_t parts, bool compact)
{
	uint64_t end = AREA_YMM;
	unsigned size, offset, flags, unused;

	for (unsigned i = PART_AVX; i < N_PARTS; i++) {
		if (!(parts >> i & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, flags, unused);
		if (compact)
			end = (flags & 2 ? (end + 63) & ~UINT64_C(63) : end) + size;
		else if (end < offset + size)
			end = offset + size;
	}
	return end;
}

static void add_area(struct assay_step_accesses *out, const struct assay_step_operand *o,
		     const struct assay_step_regs *r)
{
	const uint64_t address = plain_address(o, r);
	uint64_t parts = (r->gpr[ASSAY_STEP_RDX] << 32 | (uint32_t)r->gpr[ASSAY_STEP_RAX]) & enabled_parts();
	bool compact = o->shape == ASSAY_STEP_AREA_COMPACT;

	if (o->shape == ASSAY_STEP_AREA_READ) {
		const uint64_t form = word_at((const uint8_t *)(uintptr_t)address + AREA_HEADER + AREA_HEADER_FORM);

		compact = form & AREA_COMPACT;
		if (compact)
			parts = form & ~AREA_COMPACT;
	}
	add(out, o, address, area_bytes(parts, compact));
}
#else
static void add_area(struct assay_step_accesses *out, const struct assay_step_operand *o,
		     const struct assay_step_regs *r)
{
	add(out, o, plain_address(o, r), o->bytes);
}
#endif

/* ---- all of an instruction ---- */

static bool add_operand(struct assay_step_accesses *out, const struct assay_step_insn *insn,
			const struct assay_step_operand *o, const struct assay_step_regs *r)
{
	uint64_t mask = 0;

	switch ((enum assay_step_shape)o->shape) {
	case ASSAY_STEP_WHOLE:
		add(out, o, plain_address(o, r), o->bytes);
		return true;
	case ASSAY_STEP_PUSH:
		add(out, o, r->gpr[ASSAY_STEP_RSP] - o->bytes, o->bytes);
		return true;
	case ASSAY_STEP_BITS:
		add_bit_word(out, o, r);
		return true;
	case ASSAY_STEP_TABLE:
		add(out, o, address_of(o, r, (uint8_t)r->gpr[ASSAY_STEP_RAX]), o->bytes);
		return true;
	case ASSAY_STEP_PARTS:
		for (unsigned i = 0; i < o->elements; i++)
			add(out, o, plain_address(o, r) + (uint64_t)i * o->element_bytes, o->element_bytes);
		return true;
	case ASSAY_STEP_MASKED:
	case ASSAY_STEP_PACKED:
	case ASSAY_STEP_GATHERED:
		if (!read_mask(insn, r, o->mask, &mask))
			return false;
		break;
	case ASSAY_STEP_SIGNED:
	case ASSAY_STEP_GATHERED_SIGNED:
		if (!read_signs(insn, r, o, &mask))
			return false;
		break;
	case ASSAY_STEP_AREA:
	case ASSAY_STEP_AREA_COMPACT:
	case ASSAY_STEP_AREA_READ:
		add_area(out, o, r);
		return true;
	}
	if (o->mask_bits < 64)
		mask &= (UINT64_C(1) << o->mask_bits) - 1;
	if (o->shape == ASSAY_STEP_GATHERED || o->shape == ASSAY_STEP_GATHERED_SIGNED)
		return add_gathered(out, insn, o, r, mask);
	if (o->shape != ASSAY_STEP_PACKED)
		add_active(out, o, r, mask);
	else if (mask)
		add(out, o, plain_address(o, r), (unsigned)__builtin_popcountll(mask) * o->element_bytes);
	return true;
}

/* Iterations that are left. A string instruction with addresses of 32 bits counts in ecx. */
static uint64_t iterations(const struct assay_step_insn *insn, const struct assay_step_regs *r)
{
	const uint64_t rcx = r->gpr[ASSAY_STEP_RCX];

	return insn->operands[0].narrow ? (uint32_t)rcx : rcx;
}

enum assay_step_status assay_step_accesses(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					   struct assay_step_accesses *out)
{
	out->n = 0;
	if (insn->rep && !iterations(insn, r))
		return ASSAY_STEP_OK;
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (!add_operand(out, insn, &insn->operands[i], r))
			return ASSAY_STEP_NO_VECTORS;
	return ASSAY_STEP_OK;
}

/* ---- counting ---- */

#define ZERO_FLAG (1u << 6)

struct assay_step_outcome assay_step_outcome(const struct assay_step_insn *insn, const struct assay_step_regs *before,
					     const struct assay_step_regs *after)
{
	struct assay_step_outcome out = { .instructions = 1 };
	const bool equal = after->rflags & ZERO_FLAG;

	switch ((enum assay_step_flow)insn->flow) {
	case ASSAY_STEP_CONDITIONAL:
	case ASSAY_STEP_JUMP_INDIRECT:
	case ASSAY_STEP_CALL_INDIRECT:
		out.branches = 1;
		out.taken = after->rip != insn->address + insn->length;
		break;
	default:
		break;
	}
	if (insn->rep && iterations(insn, before) && !iterations(insn, after) &&
	    !(insn->rep == ASSAY_STEP_REPE && !equal) && !(insn->rep == ASSAY_STEP_REPNE && equal))
		out.instructions++;
	return out;
}

enum assay_step_status assay_step_operations(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					     unsigned *operations)
{
	unsigned lanes = insn->lanes;
	uint64_t mask;

	*operations = 0;
	if (lanes && insn->lane_mask) {
		if (!read_mask(insn, r, insn->lane_mask, &mask))
			return ASSAY_STEP_NO_VECTORS;
		if (lanes < 64)
			mask &= (UINT64_C(1) << lanes) - 1;
		lanes = (unsigned)__builtin_popcountll(mask);
	}
	*operations = lanes * insn->per_lane;
	return ASSAY_STEP_OK;
}

enum assay_step_status assay_step_mix_add(struct assay_step_mix *m, const struct assay_step_insn *insn,
					  const struct assay_step_regs *r, const struct assay_step_accesses *acc)
{
	unsigned operations;
	const enum assay_step_status rc = assay_step_operations(insn, r, &operations);

	if (rc)
		return rc;
	m->instructions[insn->kind][insn->width]++;
	m->operations[insn->kind][insn->width] += operations;
	if (acc->n && insn->operands[0].shape == ASSAY_STEP_SIGNED && acc->a[0].kind == ASSAY_STEP_READ) {
		m->masked_reads++;
		m->masked_elements += acc->a[0].bytes / insn->operands[0].element_bytes;
	}
	for (unsigned i = 0; i < acc->n; i++) {
		const struct assay_step_access *a = &acc->a[i];

		if (a->kind == ASSAY_STEP_PREFETCH) {
			m->prefetches++;
			continue;
		}
		if (a->kind != ASSAY_STEP_WRITE)
			m->bytes_read += a->bytes;
		if (a->kind != ASSAY_STEP_READ)
			m->bytes_written += a->bytes;
		if (a->non_temporal && a->kind == ASSAY_STEP_WRITE)
			m->non_temporal_writes++;
	}
	return ASSAY_STEP_OK;
}

/* ---- texts ---- */

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
	static const char *const what[] = {
		[ASSAY_STEP_OK] = "can be stepped",
		[ASSAY_STEP_UNKNOWN] = "is not a known instruction",
		[ASSAY_STEP_CUT] = "is an instruction that is cut short",
		[ASSAY_STEP_UNTOLD] = "is an instruction whose memory accesses are not known",
		[ASSAY_STEP_CHANGED] = "changed while it ran",
		[ASSAY_STEP_TABLE_FULL] = "comes after more different instructions than can be kept",
		[ASSAY_STEP_NO_VECTORS] = "needs vector registers that are not known",
	};
	size_t at = (size_t)snprintf(buf, size, "%s", what[r->status]);

	for (unsigned i = 0; i < r->length && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%02x", i ? " " : ": ", r->code[i]);
}
