/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding with Zydis: which operands of an instruction lie in memory, and how their addresses and sizes follow from
 * registers. What an instruction calculates is step/class.c's.
 */
#include "counters/step/decode.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#endif

#if ASSAY_ZYDIS

int assay_step_probe(struct assay_err *err)
{
	(void)err;
	return 0;
}

static unsigned gpr_of(ZydisRegister reg)
{
	const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? (unsigned)(whole - ZYDIS_REGISTER_RAX)
									  : ASSAY_STEP_NO_REGISTER;
}

static bool name_begins(const ZydisDecodedInstruction *insn, const char *with)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	name += *name == 'v';
	return !strncmp(name, with, strlen(with));
}

static bool is_cmpxchg(const ZydisDecodedInstruction *insn)
{
	return name_begins(insn, "cmpxchg");
}

/* Operands in memory that are only named: no access follows. */
static bool reaches_nothing(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || insn->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
	}
}

/* ---- masks ---- */

/* The elements of a vector that a mask register turns on and off: those of the operand that is written. */
static unsigned masked_elements(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *o = &operands[0];

	/* comparisons write a mask: elements are those of what they compare */
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_MASK)
		o = &operands[2];
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && insn->avx.broadcast.mode && !insn->avx.broadcast.is_static)
		return insn->avx.vector_length / o->element_size;
	return o->element_count;
}

/* Does its mask also keep it from reading what it masks? Not where elements of the result come from several. */
static bool mask_spares_memory(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E2:
	case ZYDIS_EXCEPTION_CLASS_E3:
	case ZYDIS_EXCEPTION_CLASS_E4:
	case ZYDIS_EXCEPTION_CLASS_E5:
	case ZYDIS_EXCEPTION_CLASS_E6:
	case ZYDIS_EXCEPTION_CLASS_E10:
	case ZYDIS_EXCEPTION_CLASS_E11:
	case ZYDIS_EXCEPTION_CLASS_E12:
	case ZYDIS_EXCEPTION_CLASS_E1:
		return true;
	default:
		return false;
	}
}

static bool set_mask(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		     const ZydisDecodedOperand *op, struct assay_step_operand *o)
{
	const bool scalar = op->element_count == 1 && !insn->avx.broadcast.mode;

	if (insn->avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED || !mask_spares_memory(insn))
		return true;
	o->mask = (uint8_t)ZydisRegisterGetId(insn->avx.mask.reg);
	o->mask_bits = (uint8_t)(scalar ? 1 : masked_elements(insn, operands));
	if (insn->meta.category == ZYDIS_CATEGORY_COMPRESS || insn->meta.category == ZYDIS_CATEGORY_EXPAND) {
		o->shape = ASSAY_STEP_PACKED;
		o->element_bytes = (uint8_t)(op->element_size / 8);
		return true;
	}
	o->shape = ASSAY_STEP_MASKED;
	/* an operand that is broadcast has fewer elements than the mask has bits */
	o->elements = insn->avx.broadcast.mode ? (uint8_t)op->element_count : o->mask_bits;
	if (!o->elements || o->bytes % o->elements)
		return false;
	o->element_bytes = (uint8_t)(o->bytes / o->elements);
	return true;
}

/* Loads and stores of AVX and SSE2 whose mask is a vector: the operand beside the one in memory. */
static void set_vector_mask(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			    struct assay_step_operand *o)
{
	const bool bytes = insn->mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU || insn->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;

	o->shape = ASSAY_STEP_SIGNED;
	o->mask = (uint8_t)ZydisRegisterGetId(operands[1].reg.value);
	o->element_bytes = bytes ? 1 : (uint8_t)(operands[1].element_size / 8);
	o->elements = o->mask_bits = (uint8_t)(o->bytes / o->element_bytes);
}

/* In vpgatherdq and its kin, the letter after "gather" or "scatter" is the index and the last letter the element. */
static bool set_gather(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		       const ZydisDecodedOperand *op, struct assay_step_operand *o)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);
	const char *letter = strstr(name, "gather");
	const bool scatter = !letter, evex = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	const ZydisDecodedOperand *data = scatter ? &operands[2] : &operands[0];
	unsigned indexes, elements;

	if (scatter)
		letter = strstr(name, "scatter");
	if (!letter || data->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	letter += strlen(scatter ? "scatter" : "gather");
	if (*letter != 'd' && *letter != 'q')
		return false;
	o->index = (uint8_t)ZydisRegisterGetId(op->mem.index);
	o->index_bytes = *letter == 'd' ? 4 : 8;
	o->element_bytes = (uint8_t)(op->size / 8);
	indexes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->mem.index) / 8 / o->index_bytes;
	elements = data->size / 8 / o->element_bytes;
	o->elements = o->mask_bits = (uint8_t)(indexes < elements ? indexes : elements);
	o->shape = evex ? ASSAY_STEP_GATHERED : ASSAY_STEP_GATHERED_SIGNED;
	o->mask = (uint8_t)ZydisRegisterGetId(evex ? insn->avx.mask.reg : operands[2].reg.value);
	return true;
}

/* ---- operands ---- */

static void set_address(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op, uint64_t next,
			struct assay_step_operand *o)
{
	const bool relative = op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP;

	o->displacement = op->mem.disp.value;
	if (relative)
		o->displacement += (int64_t)next;
	o->base = (uint8_t)(relative || !op->mem.base ? ASSAY_STEP_NO_REGISTER : gpr_of(op->mem.base));
	o->index = (uint8_t)(op->mem.index ? gpr_of(op->mem.index) : ASSAY_STEP_NO_REGISTER);
	o->scale = op->mem.index ? op->mem.scale : 1;
	o->segment = op->mem.segment == ZYDIS_REGISTER_FS ? 'f' : op->mem.segment == ZYDIS_REGISTER_GS ? 'g' : 0;
	o->narrow = insn->address_width == 32;
}

static void set_access(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op, struct assay_step_operand *o)
{
	const bool reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	const bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	o->access = reads && writes ? ASSAY_STEP_MODIFY : writes ? ASSAY_STEP_WRITE : ASSAY_STEP_READ;
	if (insn->meta.category == ZYDIS_CATEGORY_PREFETCH || insn->meta.category == ZYDIS_CATEGORY_PREFETCHWT1)
		o->access = ASSAY_STEP_PREFETCH;
	o->non_temporal = name_begins(insn, "movnt") || name_begins(insn, "maskmovdqu") ||
			  (insn->meta.category == ZYDIS_CATEGORY_MOVDIR && writes);
}

static bool set_area(const ZydisDecodedInstruction *insn, struct assay_step_operand *o)
{
	const bool restores = name_begins(insn, "xrstor");

	o->access = restores ? ASSAY_STEP_READ : ASSAY_STEP_WRITE;
	o->shape = restores                                                     ? ASSAY_STEP_AREA_READ
		   : name_begins(insn, "xsavec") || name_begins(insn, "xsaves") ? ASSAY_STEP_AREA_COMPACT
										: ASSAY_STEP_AREA;
	return name_begins(insn, "xsave") || restores;
}

/* valgrind reads these element by element. */
static bool is_read_in_parts(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && op->element_count > 1 &&
	       (insn->meta.category == ZYDIS_CATEGORY_VFMA ||
		(insn->mnemonic == ZYDIS_MNEMONIC_VMOVDDUP && op->size == 256));
}

static bool is_hidden_stack(const ZydisDecodedOperand *op)
{
	return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP;
}

/* False where what the operand reaches cannot be told. */
static bool set_shape(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		      const ZydisDecodedOperand *op, struct assay_step_operand *o)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return set_area(insn, o);
	case ZYDIS_CATEGORY_BITBYTE:
		if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op == &operands[0] && name_begins(insn, "bt")) {
			o->shape = ASSAY_STEP_BITS;
			/* what names the word stands in the place of an index, which then cannot be there */
			if (o->index != ASSAY_STEP_NO_REGISTER)
				return false;
			o->index = (uint8_t)gpr_of(operands[1].reg.value);
			o->scale = 0;
		}
		return true;
	case ZYDIS_CATEGORY_POP:
		/* pop to an address of rsp: rsp after the pop */
		if (op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT && op->mem.base == ZYDIS_REGISTER_RSP)
			o->displacement += o->bytes;
		return true;
	default:
		break;
	}
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return set_gather(insn, operands, op, o);
	if (insn->mnemonic == ZYDIS_MNEMONIC_XLAT)
		o->shape = ASSAY_STEP_TABLE;
	else if (is_hidden_stack(op) && o->access == ASSAY_STEP_WRITE)
		o->shape = ASSAY_STEP_PUSH;
	else if (name_begins(insn, "maskmov") || name_begins(insn, "pmaskmov"))
		set_vector_mask(insn, operands, o);
	else if (is_read_in_parts(insn, op)) {
		o->shape = ASSAY_STEP_PARTS;
		o->elements = (uint8_t)(insn->mnemonic == ZYDIS_MNEMONIC_VMOVDDUP ? 2 : op->element_count);
		o->element_bytes = (uint8_t)(o->bytes / o->elements);
	} else {
		return set_mask(insn, operands, op, o);
	}
	return true;
}

static bool add_operand(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			const ZydisDecodedOperand *op, struct assay_step_insn *out)
{
	const bool locked = (insn->attributes & ZYDIS_ATTRIB_HAS_LOCK) || insn->mnemonic == ZYDIS_MNEMONIC_XCHG;
	struct assay_step_operand o = { .bytes = op->size / 8 };

	if (out->n_operands == ASSAY_STEP_OPERANDS_MAX || op->mem.type == ZYDIS_MEMOP_TYPE_MIB)
		return false;
	set_address(insn, op, out->address + out->length, &o);
	set_access(insn, op, &o);
	if (!o.bytes || !set_shape(insn, operands, op, &o))
		return false;
	if (o.access == ASSAY_STEP_MODIFY && locked && !is_cmpxchg(insn)) {
		if (out->n_operands + 2 > ASSAY_STEP_OPERANDS_MAX)
			return false;
		o.access = ASSAY_STEP_READ;
		out->operands[out->n_operands++] = o;
		o.access = ASSAY_STEP_WRITE;
	}
	out->operands[out->n_operands++] = o;
	return true;
}

/* An instruction does all its reads before its writes. */
static bool add_operands(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			 struct assay_step_insn *out)
{
	for (int written = 0; written < 2; written++) {
		for (unsigned i = 0; i < insn->operand_count; i++) {
			const ZydisDecodedOperand *op = &operands[i];
			const bool reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;

			if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || reaches_nothing(insn, op) || reads == written)
				continue;
			if (!add_operand(insn, operands, op, out))
				return false;
		}
	}
	return true;
}

/* ---- the whole ---- */

/*
 * Can this instruction not be stepped faithfully? Either the signal frame does not show what it needs or changes, or it
 * delays the trap beyond the next instruction, or it leaves the flat segments.
 */
static bool is_untold(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_AMX_TILE:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
	case ZYDIS_CATEGORY_KNC:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_UINTR:
		return insn->mnemonic != ZYDIS_MNEMONIC_TILERELEASE;
	default:
		break;
	}
	if (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || insn->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ)
		return true;
	if (insn->mnemonic == ZYDIS_MNEMONIC_ENTER)
		return operands[1].imm.value.u != 0;
	return insn->mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == ZYDIS_REGISTER_SS;
}

static void set_areas(struct assay_step_insn *out)
{
	unsigned size, offset, unused;

	__cpuid_count(0xd, 5, size, offset, unused, unused);
	out->area_mask = (uint16_t)(size ? offset : 0);
	__cpuid_count(0xd, 6, size, offset, unused, unused);
	out->area_upper = (uint16_t)(size ? offset : 0);
	__cpuid_count(0xd, 7, size, offset, unused, unused);
	out->area_upper_registers = (uint16_t)(size ? offset : 0);
}

static enum assay_step_rep rep_of(const ZydisDecodedInstruction *insn)
{
	return insn->attributes & ZYDIS_ATTRIB_HAS_REPNE  ? ASSAY_STEP_REPNE
	       : insn->attributes & ZYDIS_ATTRIB_HAS_REPE ? ASSAY_STEP_REPE
	       : insn->attributes & ZYDIS_ATTRIB_HAS_REP  ? ASSAY_STEP_REP
							  : ASSAY_STEP_NO_REP;
}

static bool needs_areas(const struct assay_step_insn *insn)
{
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operands[i].shape >= ASSAY_STEP_MASKED)
			return true;
	return insn->lane_mask;
}

enum assay_step_status assay_step_decode(const uint8_t *code, size_t size, uint64_t address,
					 struct assay_step_insn *out)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT] = { 0 };
	ZyanStatus rc;

	if (size > ASSAY_STEP_LENGTH_MAX)
		size = ASSAY_STEP_LENGTH_MAX;
	*out = (struct assay_step_insn){ .address = address, .length = (uint8_t)size };
	memcpy(out->code, code, size);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	rc = ZydisDecoderDecodeFull(&decoder, code, size, &insn, operands);
	if (rc == ZYDIS_STATUS_NO_MORE_DATA)
		return ASSAY_STEP_CUT;
	if (!ZYAN_SUCCESS(rc))
		return ASSAY_STEP_UNKNOWN;
	out->length = insn.length;
	assay_step_classify(&insn, operands, out);
	if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative)
		out->target = address + insn.length + operands[0].imm.value.u;
	out->rep = (uint8_t)rep_of(&insn);
	out->writes_flags = name_begins(&insn, "popf") || name_begins(&insn, "iret");
	out->reads_flags = name_begins(&insn, "pushf");
	if (is_untold(&insn, operands) || !add_operands(&insn, operands, out))
		return ASSAY_STEP_UNTOLD;
	if (needs_areas(out))
		set_areas(out);
	return ASSAY_STEP_OK;
}

#else

int assay_step_probe(struct assay_err *err)
{
#if defined(__x86_64__)
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "this program was built without Zydis: install the package libzydis-dev and build again, "
			     "without ZYDIS=0");
#else
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "instructions are decoded on x86-64 only");
#endif
}

enum assay_step_status assay_step_decode(const uint8_t *code, size_t size, uint64_t address,
					 struct assay_step_insn *out)
{
	(void)code;
	(void)size;
	*out = (struct assay_step_insn){ .address = address };
	return ASSAY_STEP_UNKNOWN;
}

#endif

/* ---- registers ---- */

#if defined(__x86_64__)

/* How the kernel marks that more than the 512 bytes of FXSAVE stand in a signal frame (its uapi/asm/sigcontext.h). */
#define FRAME_MARK_OFFSET 464
#define FRAME_MARK        0x46505853u
#define FRAME_SIZE_OFFSET (FRAME_MARK_OFFSET + 16)
#define FRAME_FXSAVE      512

void assay_step_regs_take(struct assay_step_regs *r, const void *ucontext)
{
	static const int order[ASSAY_STEP_N_GPR] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
						     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
						     REG_R12, REG_R13, REG_R14, REG_R15 };
	const mcontext_t *m = &((const ucontext_t *)ucontext)->uc_mcontext;
	uint32_t mark, size;

	for (size_t i = 0; i < ASSAY_STEP_N_GPR; i++)
		r->gpr[i] = (uint64_t)m->gregs[order[i]];
	r->rip = (uint64_t)m->gregs[REG_RIP];
	r->rflags = (uint64_t)m->gregs[REG_EFL];
	r->xsave = (const uint8_t *)m->fpregs;
	r->xsave_bytes = 0;
	if (!r->xsave)
		return;
	memcpy(&mark, r->xsave + FRAME_MARK_OFFSET, sizeof(mark));
	memcpy(&size, r->xsave + FRAME_SIZE_OFFSET, sizeof(size));
	r->xsave_bytes = mark == FRAME_MARK ? size : FRAME_FXSAVE;
}

/* arch_prctl works on every kernel; the instructions that read the two need one that allows them. */
#define GET_FS 0x1003
#define GET_GS 0x1004

void assay_step_regs_bases(struct assay_step_regs *r)
{
	unsigned long fs = 0, gs = 0;

	syscall(SYS_arch_prctl, GET_FS, &fs);
	syscall(SYS_arch_prctl, GET_GS, &gs);
	r->fs_base = fs;
	r->gs_base = gs;
}

#else

void assay_step_regs_take(struct assay_step_regs *r, const void *ucontext)
{
	(void)ucontext;
	*r = (struct assay_step_regs){ .rip = 0 };
}

void assay_step_regs_bases(struct assay_step_regs *r)
{
	r->fs_base = r->gs_base = 0;
}

#endif
