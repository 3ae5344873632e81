/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of an instruction, and how many operations it is, by its category and the beginning of its name. */
#include "counters/step/decode.h"

#if ASSAY_ZYDIS
#include <string.h>

#define FLOATS 255 /* a lane_bytes: as the end of the name says, which is ps, pd, ss, … */

/*
 * Vector instructions, without the v of the encoding, by the beginning of their names: the first row that fits. What is
 * not here moves, shuffles or converts. Floating-point operations are counted as Intel's event FP_ARITH_INST_RETIRED
 * counts them, with comparisons and rounding.
 */
static const struct calculation {
	const char *begin; /* beginnings of names, with blanks between them */
	uint8_t kind, per_lane;
	uint8_t lane_bytes; /* 0: as the letter at the end of the name says */
} calculations[] = {
	/* a product of four, or two, neighbours, added up and onto the lane: as many multiplications as additions */
	{ "pdpb", ASSAY_STEP_INTEGER, 8, 4 },
	{ "pdpw", ASSAY_STEP_INTEGER, 4, 4 },
	{ "pmadd52", ASSAY_STEP_INTEGER, 2, 8 },
	/* two multiplications and an addition */
	{ "pmaddwd", ASSAY_STEP_INTEGER, 3, 4 },
	{ "pmaddubsw", ASSAY_STEP_INTEGER, 3, 2 },
	/* differences, their absolute values and the sum of these: of eight bytes, of four */
	{ "psadbw", ASSAY_STEP_INTEGER, 23, 8 },
	{ "mpsadbw dbpsadbw", ASSAY_STEP_INTEGER, 11, 2 },
	{ "pmuludq pmuldq", ASSAY_STEP_INTEGER, 1, 8 },
	{ "pmultishift", ASSAY_STEP_DATA, 0, 1 },
	{ "pmul padd psub phadd phsub pmin pmax", ASSAY_STEP_INTEGER, 1, 0 },
	{ "phminposuw", ASSAY_STEP_INTEGER, 1, 2 },
	{ "pavg pabs psign popcnt plzcnt pconflict p2intersect", ASSAY_STEP_INTEGER, 1, 0 },
	/* strings, and registers shifted as a whole, which moves bytes */
	{ "pcmpistr pcmpestr", ASSAY_STEP_INTEGER, 1, 16 },
	{ "pslldq psrldq", ASSAY_STEP_DATA, 0, 16 },
	{ "pcmp psll psrl psra prol pror pshld pshrd", ASSAY_STEP_INTEGER, 1, 0 },
	/* logic knows no lanes, but for the letter of a masked one: words of 32 bits */
	{ "pternlog ptestm ptestnm", ASSAY_STEP_INTEGER, 1, 0 },
	{ "ptest", ASSAY_STEP_INTEGER, 1, 4 },
	{ "testp", ASSAY_STEP_INTEGER, 1, FLOATS },
	{ "pandnq pandq porq pxorq", ASSAY_STEP_INTEGER, 1, 8 },
	{ "pand por pxor", ASSAY_STEP_INTEGER, 1, 4 },
	{ "andp andnp orp xorp", ASSAY_STEP_INTEGER, 1, FLOATS },
	{ "gf2p8", ASSAY_STEP_INTEGER, 1, 1 },
	{ "aes sha pclmul", ASSAY_STEP_INTEGER, 1, 16 },
	/* two multiplications and two additions a lane of two halves */
	{ "dpbf16ps", ASSAY_STEP_FLOAT, 4, 4 },
	{ "dpp", ASSAY_STEP_FLOAT, 2, FLOATS },
	/* complex numbers of two halves */
	{ "fmaddc fcmaddc", ASSAY_STEP_FLOAT, 8, 4 },
	{ "fmulc fcmulc", ASSAY_STEP_FLOAT, 6, 4 },
	{ "fmadd fmsub fnmadd fnmsub", ASSAY_STEP_FLOAT, 2, FLOATS },
	{ "add sub hadd hsub mul div min max sqrt rsqrt rcp cmp comis ucomis round rndscale reduce "
	  "range scalef getexp getmant fixupimm fpclass",
	  ASSAY_STEP_FLOAT, 1, FLOATS },
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool begins_with_any(const char *name, const char *words)
{
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (!strncmp(name, words, n))
			return true;
	}
	return false;
}

/* The last letter of a name says what lanes hold; floating point has it behind s (one number) or p (several). */
static unsigned lane_bytes(const char *name, const struct calculation *c)
{
	const char last = name[strlen(name) - 1];

	if (c->lane_bytes && c->lane_bytes != FLOATS)
		return c->lane_bytes;
	switch (last) {
	case 'b':
		return 1;
	case 'h':
	case 'w':
		return 2;
	case 's':
		return 4;
	case 'd':
		return c->lane_bytes == FLOATS ? 8 : 4;
	default:
		return 8;
	}
}

/* ends in ss, sd or sh */
static bool is_one_float(const char *name)
{
	const size_t len = strlen(name);

	return name[len - 2] == 's' && strchr("sdh", name[len - 1]);
}

static unsigned vector_bytes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	unsigned bytes = 0;

	for (unsigned i = 0; i < insn->operand_count_visible; i++) {
		unsigned found = 0;

		if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(operands[i].reg.value)) {
		case ZYDIS_REGCLASS_MMX:
			found = 8;
			break;
		case ZYDIS_REGCLASS_XMM:
			found = 16;
			break;
		case ZYDIS_REGCLASS_YMM:
			found = 32;
			break;
		case ZYDIS_REGCLASS_ZMM:
			found = 64;
			break;
		default:
			break;
		}
		if (bytes < found)
			bytes = found;
	}
	/* one that compares memory with a constant has none but mask registers */
	if (!bytes && insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		bytes = insn->avx.vector_length / 8;
	return bytes;
}

static void classify_vector(const ZydisDecodedInstruction *insn, unsigned bytes, struct assay_step_insn *out)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	name += *name == 'v';
	out->kind = ASSAY_STEP_DATA;
	out->width = bytes == 64   ? ASSAY_STEP_WIDTH_512
		     : bytes == 32 ? ASSAY_STEP_WIDTH_256
		     : bytes == 16 ? ASSAY_STEP_WIDTH_128
				   : ASSAY_STEP_WIDTH_SCALAR;
	for (size_t i = 0; i < sizeof(calculations) / sizeof(calculations[0]); i++) {
		const struct calculation *c = &calculations[i];
		unsigned lanes;

		if (!begins_with_any(name, c->begin))
			continue;
		out->kind = c->kind;
		lanes = bytes / lane_bytes(name, c);
		if (c->kind == ASSAY_STEP_FLOAT && is_one_float(name)) {
			out->width = ASSAY_STEP_WIDTH_SCALAR;
			lanes = 1;
		}
		out->lanes = (uint8_t)lanes;
		out->per_lane = c->per_lane;
		break;
	}
	if (insn->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED)
		out->lane_mask = (uint8_t)ZydisRegisterGetId(insn->avx.mask.reg);
}

static void calculates(struct assay_step_insn *out, enum assay_step_kind kind)
{
	out->kind = (uint8_t)kind;
	out->lanes = out->per_lane = 1;
}

/* x87: what loads, stores and steers is no arithmetic. */
static void classify_x87(const char *name, struct assay_step_insn *out)
{
	static const char *const others[] = { "fld", "fst", "fild", "fist", "fbld", "fbst", "fxch", "fn", "ff", "fw" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (begins(name, others[i])) {
			out->kind = ASSAY_STEP_DATA;
			return;
		}
	}
	calculates(out, ASSAY_STEP_FLOAT);
}

static void classify_scalar(const ZydisDecodedInstruction *insn, struct assay_step_insn *out)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_ADOX_ADCX:
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SHIFT:
		calculates(out, ASSAY_STEP_INTEGER);
		break;
	case ZYDIS_CATEGORY_STRINGOP:
		out->kind = ASSAY_STEP_DATA;
		if (begins(name, "cmps") || begins(name, "scas"))
			calculates(out, ASSAY_STEP_INTEGER);
		break;
	case ZYDIS_CATEGORY_KMASK:
		out->kind = ASSAY_STEP_DATA;
		if (!begins(name, "kmov") && !begins(name, "kunpck"))
			calculates(out, ASSAY_STEP_INTEGER);
		break;
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_FCMOV:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_SETCC:
		out->kind = ASSAY_STEP_DATA;
		break;
	case ZYDIS_CATEGORY_X87_ALU:
		classify_x87(name, out);
		break;
	default:
		if (begins(name, "lea") || begins(name, "xlat") || begins(name, "enter"))
			out->kind = ASSAY_STEP_DATA;
		else if (begins(name, "popcnt") || begins(name, "crc32") || begins(name, "tzcnt"))
			calculates(out, ASSAY_STEP_INTEGER);
		break;
	}
}

static enum assay_step_flow flow_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	const bool direct = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return ASSAY_STEP_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? ASSAY_STEP_JUMP : ASSAY_STEP_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL:
		return direct ? ASSAY_STEP_CALL : ASSAY_STEP_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return ASSAY_STEP_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
		return insn->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? ASSAY_STEP_SYSCALL : ASSAY_STEP_OLD_CALL;
	case ZYDIS_CATEGORY_INTERRUPT:
		return insn->mnemonic == ZYDIS_MNEMONIC_INT && operands[0].imm.value.u == 0x80 ? ASSAY_STEP_OLD_CALL
											       : ASSAY_STEP_TRAP;
	default:
		break;
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return ASSAY_STEP_TRAP;
	default:
		return ASSAY_STEP_NEXT;
	}
}

void assay_step_classify(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			 struct assay_step_insn *out)
{
	const unsigned bytes = vector_bytes(insn, operands);

	out->flow = (uint8_t)flow_of(insn, operands);
	if (out->flow > ASSAY_STEP_NEXT && out->flow < ASSAY_STEP_SYSCALL)
		out->kind = ASSAY_STEP_CONTROL;
	else if (bytes)
		classify_vector(insn, bytes, out);
	else
		classify_scalar(insn, out);
}
#endif
