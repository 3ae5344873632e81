/* SPDX-License-Identifier: Apache-2.0 */
/* A catalog made by hand and folders of bench files written from strings, for the tests of planning. */
#ifndef ASSAY_TESTS_PLAN_FIXTURE_H
#define ASSAY_TESTS_PLAN_FIXTURE_H

#include <limits.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
#include "plan/plan.h"

#ifndef ASSAY_FIXTURES
#define ASSAY_FIXTURES "tests/fixtures"
#endif

#define TEXT(s) ((char *)(uintptr_t)(s))

static char *toy_levels[] = { TEXT("l1"), TEXT("l2"), TEXT("dram") };

static struct assay_catalog_axis toy_axes[] = {
	{ .name = TEXT("m"), .help = TEXT("rows"), .min = 1, .max = 1024, .def = INT64_MIN },
	{ .name = TEXT("n"), .help = TEXT("columns"), .min = 1, .max = 512, .def = 1 },
	{ .name = TEXT("level"), .help = TEXT("where it lies"), .symbols = { toy_levels, 3 }, .def = 1 },
};
static struct assay_catalog_axis batch_axes[] = {
	{ .name = TEXT("batch"), .help = TEXT("sequences"), .min = 1, .max = 64, .def = 1 },
};
static struct assay_catalog_axis work_axes[] = {
	{ .name = TEXT("m"), .help = TEXT("rows"), .min = 1, .max = 1024, .def = INT64_MIN },
	{ .name = TEXT("rounds"), .help = TEXT("how often"), .min = 0, .max = 64 },
};
static struct assay_catalog_op toy_ops[] = {
	{ .name = TEXT("plain"), .help = TEXT("no axes") },
	{ .name = TEXT("toy.matmul"), .help = TEXT("m by n"), .axes = toy_axes, .n_axes = 3, .exact = true },
	{ .name = TEXT("toy.generate"),
	  .help = TEXT("composite"),
	  .axes = batch_axes,
	  .n_axes = 1,
	  .composes = TEXT("toy.matmul") },
	{ .name = TEXT("toy.rounds"), .help = TEXT("m often"), .axes = work_axes, .n_axes = 2, .work_axis = true },
};
static struct assay_catalog_plugin toy_plugins[] = {
	{ .path = TEXT("ops.so"), .name = TEXT("ops"), .version = TEXT("1") },
	{ .path = TEXT("plugins/toy-openblas.so"), .name = TEXT("toy-openblas"), .version = TEXT("1") },
	{ .path = TEXT("plugins/toy-cuda.so"), .name = TEXT("toy-cuda"), .version = TEXT("1") },
};
static struct assay_catalog_variant toy_variants[] = {
	{ .op = TEXT("plain"), .name = TEXT("ref"), .help = TEXT("x"), .reference = true },
	{ .op = TEXT("toy.matmul"), .name = TEXT("ref"), .help = TEXT("x"), .one_thread = true, .reference = true },
	{ .op = TEXT("toy.matmul"), .name = TEXT("fast"), .help = TEXT("x"), .needs = TEXT("avx2") },
	{ .op = TEXT("toy.matmul"), .name = TEXT("openblas"), .help = TEXT("x"), .plugin = 1 },
	{ .op = TEXT("toy.matmul"),
	  .name = TEXT("cuda"),
	  .help = TEXT("x"),
	  .plugin = 2,
	  .device_kind = ASSAY_DEVICE_CUDA,
	  .unavailable = TEXT("no CUDA device") },
	{ .op = TEXT("toy.generate"), .name = TEXT("ref"), .help = TEXT("x") },
	{ .op = TEXT("toy.rounds"), .name = TEXT("ref"), .help = TEXT("x") },
};
static const struct assay_catalog toy_catalog = {
	.plugins = toy_plugins,
	.n_plugins = N_OF(toy_plugins),
	.ops = toy_ops,
	.n_ops = N_OF(toy_ops),
	.variants = toy_variants,
	.n_variants = N_OF(toy_variants),
};

/* A temporary folder with suites/ in it. */
struct bench_dir {
	char path[64];
};

static inline void bench_dir_make(struct bench_dir *d)
{
	char sub[96];

	snprintf(d->path, sizeof(d->path), "/tmp/assay-plan-XXXXXX");
	assert_non_null(mkdtemp(d->path));
	snprintf(sub, sizeof(sub), "%s/suites", d->path);
	assert_int_equal(assay_file_mkdirs(sub, NULL), 0);
}

static inline void bench_dir_write(const struct bench_dir *d, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline void bench_dir_remove(const struct bench_dir *d, const char *const *names, size_t n)
{
	char path[128];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", d->path, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/suites", d->path);
	rmdir(path);
	rmdir(d->path);
}

#define GOOD ASSAY_FIXTURES "/plan/good"

static inline struct assay_plan_options options(const char *dir, const char *suite)
{
	return (struct assay_plan_options){ .bench_dir = dir, .suite = suite, .all_threads = 2 };
}

static inline void add_glob(struct assay_plan_options *o, const char *glob)
{
	if (glob)
		assert_int_equal(assay_strings_add(&o->only, glob, NULL), 0);
}

/* Plan one bench and one suite written as text. */
static inline int plan_text(const char *bench, const char *suite, const struct assay_plan_options *given,
			    struct assay_plan *p, struct assay_err *err, char *text, size_t size)
{
	static const char *const names[] = { "x.bench", "suites/s.suite" };
	struct assay_plan_options o = *given;
	struct bench_dir d;
	char *at;
	int rc;

	bench_dir_make(&d);
	bench_dir_write(&d, names[0], bench);
	bench_dir_write(&d, names[1], suite);
	o.bench_dir = d.path;
	o.suite = "s";
	rc = assay_plan_load(p, &o, &toy_catalog, err);
	bench_dir_remove(&d, names, 2);

	/* The folder's random name does not belong to what is tested. */
	text[0] = '\0';
	for (at = err->text; *at && strlen(text) + 1 < size; at++) {
		if (!strncmp(at, d.path, strlen(d.path)))
			at += strlen(d.path) + 1;
		snprintf(text + strlen(text), size - strlen(text), "%c", *at);
	}
	return rc;
}

/* Suites that use every bench. */
#define ALL_AND(section) "suite \"s\" {\n\tuse \"*\" { }\n" section "\n}\n"
#define USE_ALL          ALL_AND("")

#endif
