/* SPDX-License-Identifier: Apache-2.0 */
/* Only the order of prices matters, so that what a machine takes need not be known well. */
#include "drive/exact/price.h"

#include <math.h>

/* What a case costs however short it is, and what each instruction of its call adds, which is run twice. */
#define CALLGRIND_NS      4e8
#define CALLGRIND_INSN_NS 100.0
#define STEPPED_NS        1e8
#define STEPPED_INSN_NS   24000.0 /* two steps of 12 us, as on a virtual machine */

const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = NULL;

	for (size_t i = 0; i < b->n_builds && !c; i++)
		c = assay_exact_case_find(&b->builds[i], key);
	return c;
}

double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = assay_exact_price_case(b, key);
	const double instructions = c ? (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS] : 0;

	if (!c)
		return INFINITY;
	return c->how == ASSAY_EXACT_STEPPED ? STEPPED_NS + instructions * STEPPED_INSN_NS
					     : CALLGRIND_NS + instructions * CALLGRIND_INSN_NS;
}

double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = assay_exact_price_case(b, key);

	return c && c->how == ASSAY_EXACT_STEPPED ? (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS] : 0;
}
