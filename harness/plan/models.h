/* SPDX-License-Identifier: Apache-2.0 */
/* Files of models as values of an axis (ASSAY_OP_MODEL_AXIS): which ones there are, and what keys call them. */
#ifndef ASSAY_PLAN_MODELS_H
#define ASSAY_PLAN_MODELS_H

#include "model/catalog.h"

/* Add the files to @files that benches and suites of @bench_dir name, as in "model=FILE.gguf". */
int assay_plan_model_files(const char *bench_dir, struct assay_strings *files, struct assay_err *err);

/*
 * Give the axes of @cat their values: none, and each of @files. Benches that name none take the first @n_named of them.
 * ASSAY_EUSAGE: the name of a file cannot stand in a key, or two have the same.
 */
int assay_plan_models(struct assay_catalog *cat, const struct assay_strings *files, size_t n_named,
		      struct assay_err *err);

#endif
