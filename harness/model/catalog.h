/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the loaded plugins, as plain data: the process that plans and judges never runs plugin code. */
#ifndef ASSAY_MODEL_CATALOG_H
#define ASSAY_MODEL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/case.h"

struct assay_catalog_axis {
	char *name, *help;
	struct assay_strings symbols; /* empty: a whole number */
	int64_t min, max;
	int64_t def; /* INT64_MIN: must be named */
};

struct assay_catalog_metric {
	char *tag, *unit, *help;
	int better;
	enum assay_metric_kind kind;
	double lo, hi;
};

/*
 * The program of a bench with a command. Its cases are those of an op that is named like the bench, which
 * declares the metrics that the program prints, and of one variant, which is named like the program.
 */
struct assay_program {
	struct assay_strings words;    /* of the command; {axis} and {threads} in them stand for values of the case */
	char *reads;                   /* the format that it writes its benchmarks in; NULL: it has no benchmarks */
	struct assay_strings patterns; /* one a metric of the op, which finds it in the output; none where it `reads` */
	double *factors;               /* one a metric: what the unit that is printed is of the metric's */
	char judged[ASSAY_JUDGED_MAX]; /* see struct assay_comparison_case */
};

struct assay_catalog_op {
	char *name, *help;
	size_t plugin; /* index into assay_catalog.plugins */
	struct assay_catalog_axis *axes;
	size_t n_axes;
	struct assay_catalog_metric *metrics;
	size_t n_metrics;
	struct assay_strings counters;
	bool work_axis;                /* keys name the last axis only where it is not 0 */
	bool model_axis;               /* the first axis is the file of a model */
	size_t n_models;               /* which cases take that name none: values from 1 on */
	bool exact;                    /* outputs are bit-identical everywhere and carry a digest */
	char *composes;                /* NULL unless composite */
	struct assay_program *program; /* NULL: a plugin's; else `plugin` is none */
	char *defect;                  /* what is wrong with all this: its cases fail. NULL: nothing */
};

/* Axes that every case of @op names. */
static inline size_t assay_catalog_named_axes(const struct assay_catalog_op *op)
{
	return op->n_axes - op->work_axis;
}

struct assay_catalog_variant {
	char *op, *name, *help;
	char *needs; /* CPU features, comma separated; NULL none */
	size_t plugin;
	unsigned device_kind;
	bool one_thread, reference;
	const char *other_arch; /* the architecture it is built for, where that is not this one; NULL else */
	/* cannot run on this machine: "needs avx512_vnni", "no CUDA device: …". NULL: it can */
	char *unavailable;
	char *defect; /* what it declares wrongly: its cases fail. NULL: nothing */
};

/* A kind of device that a plugin brings. */
struct assay_catalog_device {
	char *name;
	unsigned kind; /* enum assay_device_kind */
	size_t plugin;
	int count;    /* of devices that can be used; 0 or negative: see reason */
	char *reason; /* NULL: it gave none */
	struct assay_device_info *infos;
	size_t n_infos; /* those of the first devices; `size` is 0 where one told nothing of itself */
};

struct assay_catalog_plugin {
	char *path, *name, *version;
	char build_id[65]; /* hex, "" when the linker wrote none */
	unsigned abi_major, abi_minor;
	char *error;    /* why it was refused; NULL: loaded */
	int error_code; /* enum assay_error that goes with it */
};

/* Variants of composite ops are already expanded: one per variant of the op they compose. */
struct assay_catalog {
	struct assay_catalog_plugin *plugins;
	size_t n_plugins;
	struct assay_catalog_op *ops;
	size_t n_ops;
	struct assay_catalog_variant *variants;
	size_t n_variants;
	struct assay_catalog_device *devices;
	size_t n_devices;
};

void assay_catalog_release(struct assay_catalog *cat);
const struct assay_catalog_op *assay_catalog_op(const struct assay_catalog *cat, const char *name);
const struct assay_catalog_variant *assay_catalog_variant(const struct assay_catalog *cat, const char *op,
							  const char *name);
/*
 * May metric @i of @op be a histogram? Otherwise @why says what is wrong with it: a range below 0, too long a tag, or
 * metrics that follow from it and have the name of another one.
 */
bool assay_catalog_histogram_ok(const struct assay_catalog_op *op, size_t i, char *why, size_t size);
/* The kind of device that variants of @kind run on; NULL: no plugin brings it. */
const struct assay_catalog_device *assay_catalog_device(const struct assay_catalog *cat, unsigned kind);
/* Its name in keys, whether a plugin brings it or not. */
const char *assay_catalog_device_name(const struct assay_catalog *cat, unsigned kind);
/* The facts about the device "cuda:0"; NULL: none are known. */
const struct assay_device_info *assay_catalog_device_info(const struct assay_catalog *cat, const char *device);
/* ASSAY_EUSAGE with those that exist, unless @device is one of them; messages call it @what. */
int assay_catalog_check_device(const struct assay_catalog *cat, const char *device, const char *what,
			       struct assay_err *err);

/* The op's answers about one case. */
struct assay_case_facts {
	bool failed;    /* its plugin is at fault, see reason; neither of the next two */
	bool supported; /* false: the variant cannot run this shape, see reason */
	bool timed;     /* false: nor can it be timed; or only that, because it cannot be cold here, see reason */
	char reason[256];
	uint32_t measures; /* enum assay_measures: of the machine, by its op */
	struct assay_cost cost;
	char item_name[ASSAY_NAME_MAX]; /* copy of cost.item_name; cost.item_name itself is NULL here */
	uint64_t tensor_bytes;          /* of one copy of the tensors */
	uint64_t bytes;                 /* everything the case will take: all copies, the variant's own not included */
	uint64_t copies;                /* of the inputs: 1 for warm */
	double rotated_bytes;           /* that a cold case reads of all of them; 0 for warm */
};

/* ---- device text ---- */

/* A device in one line for people and for fingerprints: what decides its speed. */

/*
 * "NVIDIA H200, sm_90, 132 units, 1980 MHz, 139 GiB, L2 60 MiB, ECC on, MIG off, PCIe 5 x16, driver 570.86.15",
 * without what is unknown. It names no piece: two of a kind have the same text.
 */
void assay_device_text(const struct assay_device_info *i, char *buf, size_t size);

#endif
