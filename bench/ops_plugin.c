/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor of ops.so. Each family keeps its ops in `<family>_ops.h`: prototypes of the callbacks (hidden
 * symbols), and one macro ASSAY_<FAMILY>_OPS with the initializers of its `struct assay_op`, each followed by a comma.
 * The array that crosses the ABI is put together here, because C cannot copy const objects into an initializer.
 */
#include "assay/plugin.h"

#include "compress_ops.h"
#include "generate_file_ops.h"
#include "generate_ops.h"
#include "matmul_ops.h"
#include "overhead_ops.h"
#include "quantize_ops.h"
#include "stream_ops.h"
#include "tokenizer_ops.h"
#include "work_ops.h"

const char *const assay_work_counters[ASSAY_WORK_N_COUNTERS] = {
	[ASSAY_WORK_CPU_OPS] = "cpu_ops",
	[ASSAY_WORK_FALLBACKS] = "fallbacks",
};

static const struct assay_op ops[] = {
	/* clang-format off */
	ASSAY_STREAM_OPS
	ASSAY_OVERHEAD_OPS
	ASSAY_QUANTIZE_OPS
	ASSAY_MATMUL_OPS
	ASSAY_COMPRESS_OPS
	ASSAY_TOKENIZER_OPS
	ASSAY_GENERATE_OPS
	ASSAY_GENERATE_FILE_OPS
	/* clang-format on */
};

static const struct assay_variant variants[] = {
	/* clang-format off */
	ASSAY_TOKENIZER_VARIANTS
	/* clang-format on */
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "ops",
	.version = "1",
	.ops = ops,
	.n_ops = sizeof(ops) / sizeof(ops[0]),
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
