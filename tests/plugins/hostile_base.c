/* SPDX-License-Identifier: Apache-2.0 */
/* Honest variants, with the names of those in hostile_page.c and hostile_state.c. */
#include "hostile_side.h"

static const struct assay_variant variants[] = {
	HOSTILE("resize", NULL, hostile_right),   HOSTILE("status", NULL, hostile_right),
	HOSTILE("n_counts", NULL, hostile_right), HOSTILE("n_samples", NULL, hostile_right),
	HOSTILE("samples", NULL, hostile_right),  HOSTILE("forged", NULL, hostile_right),
	HOSTILE("scribble", NULL, hostile_right),
};

HOSTILE_PLUGIN("hostile-base", variants);
