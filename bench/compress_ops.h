/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compress and decompress ops, as entries for the descriptor of ops.so. A format is an op, because its streams are
 * what libraries can be right or wrong about; libraries are variants. Formats: assay/op_compress.h.
 */
#ifndef COMPRESS_OPS_H
#define COMPRESS_OPS_H

#include "assay/op_compress.h"

#define ASSAY_COMPRESS_N_METRICS 2
#define ASSAY_COMPRESS_N_AXES    4

extern const struct assay_metric_def assay_compress_metrics[ASSAY_COMPRESS_N_METRICS];
int assay_compress_fill(struct assay_job *job);
int assay_compress_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_decompress_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_decompress_check(struct assay_job *job, struct assay_check *out);
int assay_compress_report(struct assay_job *job);

#define COMPRESS_DECLARE(format)                                                                                       \
	extern const struct assay_axis assay_compress_axes_##format[ASSAY_COMPRESS_N_AXES];                            \
	extern const struct assay_axis assay_decompress_axes_##format[ASSAY_COMPRESS_N_AXES];                          \
	int assay_compress_check_##format(struct assay_job *job, struct assay_check *out);                             \
	int assay_decompress_fill_##format(struct assay_job *job)

COMPRESS_DECLARE(deflate);
COMPRESS_DECLARE(gzip);
COMPRESS_DECLARE(lz4);
COMPRESS_DECLARE(zstd);
COMPRESS_DECLARE(snappy);
COMPRESS_DECLARE(brotli);

#define COMPRESS_OP(direction, format, n, fill_, check_, help_)                                                        \
	{                                                                                                              \
		.name = #direction "." #format, .help = help_, .axes = assay_##direction##_axes_##format, .n_axes = n, \
		.axis_stride = sizeof(struct assay_axis), .n_metrics = ASSAY_COMPRESS_N_METRICS,                       \
		.metrics = assay_compress_metrics, .metric_stride = sizeof(struct assay_metric_def),                   \
		.describe = assay_##direction##_describe, .fill = fill_, .check = check_,                              \
		.report = assay_compress_report                                                                        \
	}

/* Libraries, and versions of one, compress differently: these ops are not exact. */
#define COMPRESS_FORMAT(format, n, name)                                                                               \
	COMPRESS_OP(compress, format, n, assay_compress_fill, assay_compress_check_##format,                           \
		    "blocks of a corpus to " name " streams"),                                                         \
		COMPRESS_OP(decompress, format, n, assay_decompress_fill_##format, assay_decompress_check,             \
			    name " streams back to blocks of a corpus"),

#define ASSAY_COMPRESS_OPS                                                                                             \
	COMPRESS_FORMAT(deflate, ASSAY_COMPRESS_N_AXES, "DEFLATE")                                                     \
	COMPRESS_FORMAT(gzip, ASSAY_COMPRESS_N_AXES, "gzip")                                                           \
	COMPRESS_FORMAT(lz4, ASSAY_COMPRESS_N_AXES, "LZ4 block")                                                       \
	COMPRESS_FORMAT(zstd, ASSAY_COMPRESS_N_AXES, "Zstandard")                                                      \
	COMPRESS_FORMAT(snappy, ASSAY_COMPRESS_LEVEL, "Snappy")                                                        \
	COMPRESS_FORMAT(brotli, ASSAY_COMPRESS_N_AXES, "Brotli")

#endif
