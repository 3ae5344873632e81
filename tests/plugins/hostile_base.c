/* SPDX-License-Identifier: Apache-2.0 */
/* Honest variants under the names of those that attack the harness. */
#include "side.h"

#define HONEST(n) SCALE_THREADS(n, NULL, side_scale)

static const struct assay_variant variants[] = {
	/* hostile_page.c */
	HONEST("resize"),
	HONEST("status"),
	HONEST("n_counts"),
	HONEST("n_samples"),
	HONEST("samples"),
	HONEST("forged"),
	HONEST("scribble"),
	/* hostile_state.c, hostile_flush.c */
	HONEST("flush_prepare"),
	HONEST("flush_run"),
	HONEST("affinity_run"),
	HONEST("flush_load"),
	/* cheat_clock.c */
	HONEST("halves"),
	/* hostile_signal.c */
	HONEST("interrupt"),
	HONEST("interrupt_child"),
	/* hostile_files.c */
	HONEST("limit_size"),
	HONEST("limit_files"),
	HONEST("limit_and_die"),
	HONEST("clear"),
	HONEST("cut"),
	HONEST("remove"),
	/* hostile_trace.c */
	HONEST("traced"),
	HONEST("stopped"),
	HONEST("each_other"),
	/* cheat_spy.c */
	HONEST("spy_words"),
	HONEST("spy_change"),
	HONEST("spy_turn"),
};

SIDE_PLUGIN("hostile-base", variants);
