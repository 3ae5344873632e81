/* SPDX-License-Identifier: Apache-2.0 */
/* The honest side of cheat_head, cheat_threads and cheat_kinds. */
#include "cheat_side.h"

static const struct assay_variant variants[] = {
	SCALE("honest", side_scale),
	SCALE("branchy", cheat_branchy),
	SCALE("peek", side_scale),
	SCALE("glance", side_scale),
	SCALE("burst", side_scale),
	SCALE("cachecopy", side_scale),
	SCALE("late", side_scale),
	SCALE("memo", side_scale),
	SIDE_VARIANT("example.scale", "prepared", .prepare = cheat_prepare, .run = side_scale),
	SCALE("skip", side_scale),
	SCALE("simulated", side_scale),
	/* cheat_threads.c */
	SCALE("away", side_scale),
	SCALE("alarm", side_scale),
	SCALE("packs", side_scale),
	/* cheat_kinds.c */
	SIDE_VARIANT("cheat.i8", "honest", .run = cheat_bytes),
	SIDE_VARIANT("cheat.i8", "blocks", .run = cheat_bytes),
	SIDE_VARIANT("cheat.i8", "once", .run = cheat_bytes),
	SIDE_VARIANT("cheat.i8", "peek", .run = cheat_bytes),
	SIDE_VARIANT("cheat.i8", "sparse", .run = cheat_bytes),
	SIDE_VARIANT("cheat.u8", "honest", .run = cheat_bytes),
	SIDE_VARIANT("cheat.u8", "peek", .run = cheat_bytes),
	SIDE_VARIANT("cheat.u8", "sparse", .run = cheat_bytes),
	SIDE_VARIANT("cheat.state", "honest", .run = cheat_state),
	SIDE_VARIANT("cheat.state", "keep", .run = cheat_state),
	SIDE_VARIANT("cheat.state", "late", .run = cheat_state),
	SCALE_THREADS("threads", NULL, cheat_threads),
	SCALE_THREADS("threads_peek", NULL, cheat_threads),
	SCALE("parts", cheat_parts),
	SCALE("parts_peek", cheat_parts),
	SCALE("wary", side_scale),
	SCALE("gap", side_scale),
	SCALE("input", side_scale),
	SIDE_VARIANT("example.scale", "prepared_late", .prepare = cheat_prepare, .run = side_scale),
};

SIDE_PLUGIN("cheat-base", variants);
