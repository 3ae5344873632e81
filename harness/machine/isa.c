/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPU features an instruction set has: those it adds and those of the one it extends. Knows no CPU. */
#include "machine/isa.h"

#include <stdio.h>
#include <string.h>

#include "machine/cpu_features.h"

/* An entry extends an earlier one, or nothing (-1). */
static const struct {
	const char *name;
	const char *arch; /* NULL: any */
	int extends;
	unsigned vector_bits;
	const char *adds;
} sets[] = {
	{ "baseline", NULL, -1, 128, "" },
	{ "avx2", "x86_64", 0, 256, "sse4_2 avx f16c fma avx2" },
	{ "avxvnni", "x86_64", 1, 256, "avx_vnni" },
	{ "avx512", "x86_64", 1, 512, "avx512f avx512bw avx512cd avx512dq avx512vl" },
	{ "avx512vnni", "x86_64", 3, 512, "avx512_vnni avx512vbmi avx512_vbmi2 avx_vnni gfni" },
	{ "neon", "aarch64", 0, 128, "asimd" },
	{ "dotprod", "aarch64", 5, 128, "asimddp" },
};

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
	struct assay_cpu_features f = { .flags = " " };
	size_t len = 1;

	for (int i = find(isa); i >= 0; i = sets[i].extends)
		len += (size_t)snprintf(f.flags + len, sizeof(f.flags) - len, "%s ", sets[i].adds);
	return assay_cpu_features_has_all(&f, needs, beyond, size);
}

const char *assay_isa_arch(const char *needs)
{
	char first[64];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(needs ? needs : "", ","), needs ? needs : "");
	for (int i = 0; first[0] && i < N_SETS; i++)
		if (sets[i].arch && assay_isa_holds(sets[i].name, first, NULL, 0))
			return sets[i].arch;
	return NULL;
}

unsigned assay_isa_vector_bits(const char *isa)
{
	return sets[find(isa)].vector_bits;
}
