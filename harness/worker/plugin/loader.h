/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads plugins into this process, which must be a child: their constructors run. Copies what they offer into own
 * tables.
 */
#ifndef ASSAY_WORKER_PLUGIN_LOADER_H
#define ASSAY_WORKER_PLUGIN_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "base/err.h"
#include "base/hash.h"

/* ---- file ---- */

/* Reads a plugin as an ELF file, before any of its code can run. Must not load it. */

struct assay_plugin_file {
	uint16_t abi_major, abi_minor;
	char build_id[65]; /* hex; "" when the linker wrote none */
};

/*
 * ASSAY_EPLUGIN: not a shared object of this architecture, no descriptor symbol, or no magic in it. ASSAY_EABI: another
 * major version; both are named, and abi_major and abi_minor are filled.
 */
int assay_plugin_file_read(const char *path, struct assay_plugin_file *out, struct assay_err *err);
/* The digest of all its machine code, constants and imports. Reads the whole file. */
int assay_plugin_file_code(const char *path, struct assay_digest *out, struct assay_err *err);

/* ---- loading ---- */

/* Of an op or a plugin at most; more is refused. */
#define ASSAY_MAX_METRICS  64
#define ASSAY_MAX_SYMBOLS  256
#define ASSAY_MAX_OPS      1024
#define ASSAY_MAX_VARIANTS 4096
#define ASSAY_MAX_DEVICES  64

struct assay_loaded_plugin {
	char *path;
	void *dl;
	struct assay_plugin desc;
	struct assay_plugin_file file;
	struct assay_op *ops; /* copies with this program's layout */
	struct assay_variant *variants;
	struct assay_device_ops *devices;
};

/* The parts that are taken from a plugin. A comparison takes the ops of the head and the variants of one side. */
enum assay_plugin_part {
	ASSAY_PART_ALL = 'a',
	ASSAY_PART_OPS = 'o', /* devices are part of either */
	ASSAY_PART_VARIANTS = 'v',
	ASSAY_PART_REST = 'r', /* whatever no earlier plugin brings; never refused for a name */
};

/* All-zero is empty. */
struct assay_loader {
	struct assay_loaded_plugin *plugins;
	size_t n_plugins;
};

/*
 * Load @path. On error @ld is unchanged and @err explains: ASSAY_EPLUGIN, ASSAY_EABI (before any code of the plugin
 * ran). Operations and variants whose names collide with loaded ones are refused with both paths.
 */
int assay_loader_add(struct assay_loader *ld, const char *path, enum assay_plugin_part part, struct assay_err *err);
void assay_loader_release(struct assay_loader *ld);

/* NULL when absent; @plugin (may be NULL) gets its index. */
const struct assay_op *assay_loader_op(const struct assay_loader *ld, const char *name, size_t *plugin);
/*
 * The variant that a case of @op names: one of the op's own, else one of what a composite op composes, which the op's
 * driver runs (its `op` tells). On the CPU composite ops have none of their own, and on devices no driver.
 */
const struct assay_variant *assay_loader_case_variant(const struct assay_loader *ld, const struct assay_op *op,
						      const char *name, size_t *plugin);
const struct assay_device_ops *assay_loader_device(const struct assay_loader *ld, uint32_t kind);

/* Is @s a name of a variant, or with the further characters @extra of an op ("."), or of a plugin ("-")? */
bool assay_plugin_name_ok(const char *s, const char *extra);

/* Own axes and metrics of an op, read with the stride it was compiled with. */
const struct assay_axis *assay_op_axis(const struct assay_op *op, uint32_t i);
const struct assay_metric_def *assay_op_metric(const struct assay_op *op, uint32_t i);

#endif
