/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and fields as in the psABIs. */
#include "worker/plugin/relocation_fields.h"

#include <elf.h>
#include <stddef.h>

static const struct assay_relocation_field fields[] = {
	{ EM_X86_64, R_X86_64_64, 8, UINT64_MAX, true },
	{ EM_X86_64, R_X86_64_PC32, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_PC64, 8, UINT64_MAX, false },
	{ EM_X86_64, R_X86_64_PLT32, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_GOTPCREL, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_GOTPCRELX, 4, UINT32_MAX, false },
	{ EM_X86_64, R_X86_64_REX_GOTPCRELX, 4, UINT32_MAX, false },
	{ EM_AARCH64, R_AARCH64_ABS64, 8, UINT64_MAX, true },
	{ EM_AARCH64, R_AARCH64_PREL64, 8, UINT64_MAX, false },
	{ EM_AARCH64, R_AARCH64_PREL32, 4, UINT32_MAX, false },
	{ EM_AARCH64, R_AARCH64_CALL26, 4, 0x03ffffff, false },
	{ EM_AARCH64, R_AARCH64_JUMP26, 4, 0x03ffffff, false },
	{ EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 4, 0x60ffffe0, true },
	{ EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, 4, 0x60ffffe0, true },
	{ EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, 4, 0x003ffc00, true },
	{ EM_AARCH64, R_AARCH64_LD64_GOT_LO12_NC, 4, 0x003ffc00, true },
};

const struct assay_relocation_field *assay_relocation_field_of(uint16_t machine, uint32_t type)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].machine == machine && fields[i].type == type)
			return &fields[i];
	return NULL;
}

void assay_relocation_clear(const struct assay_relocation_field *f, unsigned char *bytes)
{
	for (unsigned b = 0; b < f->width; b++)
		bytes[b] &= (unsigned char)~(f->mask >> 8 * b);
}
