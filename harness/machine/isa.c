/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPU features an instruction set of assay/isa_table.h has. Knows no CPU. */
#include "machine/isa.h"

#include <stdio.h>
#include <string.h>

#include "assay/isa_table.h"

#include "machine/cpu_features.h"

#define ROW(name, arch, vector_bits, flags, needs, also) { #name, arch, vector_bits, needs, also },
static const struct {
	const char *name, *arch; /* "": any architecture */
	unsigned vector_bits;
	const char *needs, *also; /* comma separated */
} sets[] = { ASSAY_ISA_SETS(ROW) };

#define N_SETS ((int)(sizeof(sets) / sizeof(sets[0])))

static int find(const char *isa)
{
	for (int i = 0; i < N_SETS; i++)
		if (!strcmp(sets[i].name, isa))
			return i;
	return -1;
}

int assay_isa_check(const char *isa, const char *what, struct assay_err *err)
{
	char names[256] = "";
	size_t len = 0;

	if (find(isa) >= 0)
		return 0;
	for (int i = 0; i < N_SETS; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
					!i                ? ""
					: i == N_SETS - 1 ? " or "
							  : ", ",
					sets[i].name);
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected %s", what, isa, names);
}

bool assay_isa_holds(const char *isa, const char *needs, char *beyond, size_t size)
{
	struct assay_cpu_features f;
	int i = find(isa);

	snprintf(f.flags, sizeof(f.flags), " %s,%s ", sets[i].needs, sets[i].also);
	for (char *comma = f.flags; (comma = strchr(comma, ','));)
		*comma = ' ';
	return assay_cpu_features_has_all(&f, needs, beyond, size);
}

const char *assay_isa_arch(const char *needs)
{
	char first[64];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(needs ? needs : "", ","), needs ? needs : "");
	for (int i = 0; first[0] && i < N_SETS; i++)
		if (sets[i].arch[0] && assay_isa_holds(sets[i].name, first, NULL, 0))
			return sets[i].arch;
	return NULL;
}

unsigned assay_isa_vector_bits(const char *isa)
{
	return sets[find(isa)].vector_bits;
}
