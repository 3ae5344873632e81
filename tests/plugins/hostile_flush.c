/* SPDX-License-Identifier: Apache-2.0 */
/* As an object that was linked with -ffast-math by some compilers: flush-to-zero is on once it is loaded. */
#include "float_control.h"
#include "side.h"

static __attribute__((constructor)) void when_loaded(void)
{
	flush_to_zero();
}

static const struct assay_variant variants[] = { SCALE_THREADS("flush_load", NULL, side_scale) };

SIDE_PLUGIN("hostile-flush", variants);
