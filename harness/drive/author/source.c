/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names, finds a suite that runs what is new, puts the commands together, and writes the files. */
#include "drive/author/source.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/hints.h"
#include "drive/installed.h"
#include "drive/author/commands.h"
#include "drive/author/files.h"
#include "drive/author/repository.h"
#include "drive/author/template.h"
#include "drive/author/variant.h"
#include "drive/author/op_shape.h"
#include "drive/project.h"
#include "drive/repository.h"
#include "drive/session.h"
#include "plan/plan.h"
#include "worker/plugin/loader.h"

struct writing {
	const struct assay_new_request *q;
	struct assay_session session;
	const struct assay_catalog *cat;   /* of the session */
	const struct assay_catalog_op *op; /* NULL: it is new */
	char *stem;                        /* the file without ".c" */
	char *bench_name;                  /* of the plugin and the bench of a new op */
	char *source_dir, *own_bench;      /* where a repository has sources and benches: "assay/", "assay/bench" */
	char *make;                        /* how it is built */
	char *suite;                       /* a suite that runs what is new; NULL: none does */
	bool has_shape;
	int64_t axes[ASSAY_MAX_AXES]; /* a shape of that suite */
	struct assay_op_shape shape;  /* of an op that is not new */
};

/* printf into a heap string; NULL and an error when out of memory. */
static char *heap_text(struct assay_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static char *heap_text(struct assay_err *err, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return s;
	assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return NULL;
}

/* ---- folders ---- */

/*
 * Those of a repository that `assay init` begins, or has begun: its plugins are made in build/ of the folder that has
 * the sources and the Makefile. None elsewhere, and where the source is to lie somewhere else.
 */
static int find_folders(struct writing *w, struct assay_err *err)
{
	char here[PATH_MAX], top[PATH_MAX + 1] = "", make[2 * PATH_MAX];
	struct assay_project_conf c = { 0 };
	struct assay_repository repo;
	int rc = 0, dir;

	if (w->q->repository) {
		w->source_dir = strdup(assay_new_repository_dir(w->q));
		w->own_bench = heap_text(err, "%sbench", assay_new_repository_dir(w->q));
		return w->source_dir && w->own_bench ? 0 : ASSAY_ENOMEM;
	}
	if (w->q->variant || w->q->file || w->q->r->bench_dir || assay_repository_open(&repo, NULL, NULL, NULL))
		return 0;
	if (assay_project_conf_read(&c, repo.top, NULL) || !c.bench)
		goto out;
	dir = (int)(strrchr(c.plugins, '/') ? strrchr(c.plugins, '/') + 1 - c.plugins : 0);
	/* what a person types */
	if (!getcwd(here, sizeof(here)) || strcmp(here, repo.top) != 0)
		snprintf(top, sizeof(top), "%.*s/", PATH_MAX - 1, repo.top);
	snprintf(make, sizeof(make), "%s%.*sMakefile", top, dir, c.plugins);
	if (!strcmp(c.plugins + dir, "build") && assay_file_exists(make)) {
		w->source_dir = heap_text(err, "%s%.*s", top, dir, c.plugins);
		w->own_bench = heap_text(err, "%s%s", top, c.bench);
		w->make = top[0] ? heap_text(err, "(cd %s && %s)", repo.top, c.build) : strdup(c.build);
		rc = w->source_dir && w->own_bench && w->make ? 0 : ASSAY_ENOMEM;
	}
out:
	assay_project_conf_release(&c);
	return rc;
}

/* ---- names ---- */

static int check_plugins(const struct writing *w, struct assay_err *err)
{
	for (size_t i = 0; i < w->cat->n_plugins; i++)
		if (w->cat->plugins[i].error && assay_strings_has(&w->q->r->plugins, w->cat->plugins[i].path))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin: %s", w->cat->plugins[i].error);
	return 0;
}

static int no_such_op(const struct writing *w, struct assay_err *err)
{
	const char **names = calloc(w->cat->n_ops + 1, sizeof(*names)), *near = NULL;

	for (size_t i = 0; names && i < w->cat->n_ops; i++)
		names[i] = w->cat->ops[i].name;
	if (names)
		near = assay_nearest(w->q->op, names, w->cat->n_ops);
	free(names);
	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "unknown op '%s': did you mean '%s'?", w->q->op, near);
	return assay_err_set(err, ASSAY_EUSAGE, "unknown op '%s': 'assay list ops' lists them%s", w->q->op,
			     w->q->repository ? "" : ", --plugin FILE adds those of a plugin");
}

static int check_variant(struct writing *w, struct assay_err *err)
{
	const char *name = w->q->variant;
	const struct assay_catalog_variant *other;

	w->op = assay_catalog_op(w->cat, w->q->op);
	if (!w->op)
		return no_such_op(w, err);
	if (w->op->composes)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "op '%s' has no variants of its own: it runs those of '%s', so write one of that",
				     w->op->name, w->op->composes);
	if (!assay_plugin_name_ok(name, ""))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad name '%s' of a variant: expected a-z, 0-9 and '_', such as avx2_tiled", name);
	other = assay_catalog_variant(w->cat, w->op->name, name);
	if (other)
		return assay_err_set(err, ASSAY_EUSAGE, "op '%s' has a variant '%s' already, in '%s'", w->op->name,
				     name, w->cat->plugins[other->plugin].path);
	return 0;
}

static int check_op(struct writing *w, struct assay_err *err)
{
	const char *name = w->q->op, *dot = strchr(name, '.');
	const struct assay_catalog_op *other = assay_catalog_op(w->cat, name);

	if (!assay_plugin_name_ok(name, ".") || !dot || dot == name || !dot[1] || strchr(dot + 1, '.'))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad name '%s' of an op: expected FAMILY.PROBLEM of a-z, 0-9 and '_', such as "
				     "norm.rms",
				     name);
	if (other)
		return assay_err_set(err, ASSAY_EUSAGE, "there is an op '%s' already, in '%s'", name,
				     w->cat->plugins[other->plugin].path);
	return 0;
}

/* "norm.rms" → "norm_rms" as a file, "norm-rms" as a plugin and a bench. */
static int name_files(struct writing *w, struct assay_err *err)
{
	const char *file = w->q->file;
	size_t n = file ? strlen(file) : 0;

	if (file && (n < 3 || strcmp(file + n - 2, ".c") != 0 || file[n - 3] == '/'))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad --output '%s': expected the name of a C file, such as mine.c", file);
	w->stem = file ? strndup(file, n - 2)
		       : heap_text(err, "%s%s", w->source_dir ? w->source_dir : "",
				   w->q->variant ? w->q->variant : w->q->op);
	w->bench_name = strdup(w->q->variant ? w->q->variant : w->q->op);
	if (!w->stem || !w->bench_name)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (char *c = w->stem + (w->source_dir ? strlen(w->source_dir) : 0); !file && *c; c++)
		*c = *c == '.' ? '_' : *c;
	for (char *c = w->bench_name; *c; c++)
		*c = *c == '.' ? '-' : *c;
	return 0;
}

/* ---- a suite that runs it ---- */

/* Does @suite, of a catalog that has the variant, run it? Then with which shape first? */
static bool runs_it(struct writing *w, const struct assay_catalog *with, const char *suite)
{
	struct assay_plan_options o = { .bench_dir = w->session.bench_dir, .suite = suite, .all_threads = 1 };
	struct assay_plan plan = { 0 };
	bool found = false;

	/* a suite that cannot be planned runs nothing */
	if (assay_plan_load(&plan, &o, with, NULL))
		return false;
	for (size_t i = 0; i < plan.n_cases && !found; i++) {
		const struct assay_case *c = &plan.cases[i];

		found = !strcmp(c->op, w->q->op) && !strcmp(c->variant, w->q->variant);
		for (unsigned k = 0; found && k < c->n_axes; k++)
			w->axes[k] = c->axes[k].value;
	}
	assay_plan_release(&plan);
	return found;
}

/* A catalog that has the variant as well. Its variants alone are to be freed, on error, too. */
static int with_variant(const struct writing *w, struct assay_catalog *with, struct assay_err *err)
{
	*with = *w->cat;
	with->variants = malloc((with->n_variants + 1) * sizeof(*with->variants));
	if (!with->variants)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	memcpy(with->variants, w->cat->variants, with->n_variants * sizeof(*with->variants));
	with->variants[with->n_variants++] = (struct assay_catalog_variant){ .op = (char *)w->q->op,
									     .name = (char *)w->q->variant,
									     .plugin = w->op->plugin };
	return 0;
}

/* The default suite if it runs the variant, else the first that does. */
static int find_suite(struct writing *w, struct assay_err *err)
{
	struct assay_strings suites = { 0 };
	struct assay_catalog with;
	const char *found = NULL;
	int rc = assay_plan_suites(w->session.bench_dir, &suites, err);

	if (rc)
		return rc;
	rc = with_variant(w, &with, err);
	if (rc)
		goto out;
	if (assay_strings_has(&suites, ASSAY_DEFAULT_SUITE) && runs_it(w, &with, ASSAY_DEFAULT_SUITE))
		found = ASSAY_DEFAULT_SUITE;
	for (size_t i = 0; i < suites.n && !found; i++)
		if (runs_it(w, &with, suites.v[i]))
			found = suites.v[i];
	if (found) {
		w->has_shape = true;
		w->suite = strdup(found);
		if (!w->suite)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
out:
	free(with.variants);
	assay_strings_release(&suites);
	return rc;
}

static int ask(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
	       struct assay_shape_facts *out, struct assay_err *err)
{
	return assay_inventory_shape(arg, op, axes, n_threads, out, err);
}

static char *bench_dir_of(const struct writing *w, struct assay_err *err)
{
	return heap_text(err, "%s-bench", w->stem);
}

/* ---- the text of the files ---- */

/* Does @text speak of the op, and not only of one whose name contains it? */
static bool speaks_of(const char *text, const char *op)
{
	static const char part[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	size_t len = strlen(op);

	for (const char *at = text; (at = strstr(at, op)); at += len)
		if ((at == text || !strchr(part, at[-1])) &&
		    (!at[len] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[len])))
			return true;
	return false;
}

/* The headers beside plugin.h that name the op: there its numbers are explained. */
static int find_headers(const struct writing *w, struct assay_strings *out, struct assay_err *err)
{
	char include[ASSAY_INSTALLED_PATH_MAX], path[2 * ASSAY_INSTALLED_PATH_MAX];
	struct assay_strings names = { 0 };
	int rc = assay_installed_include_dir(include, sizeof(include), err);

	snprintf(path, sizeof(path), "%s/assay", include);
	if (!rc)
		rc = assay_file_list(path, ".h", &names, err);
	for (size_t i = 0; i < names.n && !rc; i++) {
		char *text;
		size_t len;

		snprintf(path, sizeof(path), "%s/assay/%s.h", include, names.v[i]);
		rc = assay_file_read(path, &text, &len, err);
		/* plugin.h takes ops as examples */
		if (!rc && strcmp(names.v[i], "plugin") != 0 && speaks_of(text, w->q->op)) {
			snprintf(path, sizeof(path), "assay/%s.h", names.v[i]);
			rc = assay_strings_add(out, path, err);
		}
		if (!rc)
			free(text);
	}
	assay_strings_release(&names);
	return rc;
}

static int variant_source(const struct writing *w, const struct assay_new_result *r, struct assay_text *out,
			  struct assay_err *err)
{
	struct assay_strings headers = { 0 };
	struct assay_new_variant v = { .catalog = w->cat,
				       .op = w->op,
				       .shape = &w->shape,
				       .name = w->q->variant,
				       .headers = &headers,
				       .example = w->q->repository,
				       .compile = r->compile,
				       .verify = r->verify,
				       .run = r->run };
	int rc = find_headers(w, &headers, err);

	if (!rc)
		rc = assay_new_variant_source(&v, out, err);
	assay_strings_release(&headers);
	return rc;
}

static int op_source(const struct writing *w, const struct assay_new_result *r, struct assay_text *out,
		     struct assay_err *err)
{
	const struct assay_template_value values[] = { { "OP", w->q->op },
						       { "PLUGIN", w->bench_name },
						       { "COMPILE", r->compile },
						       { "VERIFY", r->verify },
						       { "RUN", r->run } };

	return assay_template_fill("op.c", values, sizeof(values) / sizeof(values[0]), out, err);
}

static int bench_source(const struct writing *w, const char *template, struct assay_text *out, struct assay_err *err)
{
	const bool own = w->q->repository;
	struct assay_text shapes = { 0 }, variants = { 0 };
	struct assay_template_value values[] = {
		{ "OP", w->q->op },
		{ "NAME", w->q->variant ? w->q->variant : "ref" },
		{ "PLUGIN", w->bench_name },
		{ "SHAPES", NULL },
		/* one thread is judged well on any machine */
		{ "THREADS", own ? "\"1\"" : "\"1\", \"all\"" },
		{ "EXACT", own ? "    exact \"canon\" { cases = {\"*\"} }   # counted on a simulated processor" : "" },
		{ "OWN", NULL },
	};
	int rc;

	assay_text_add(&shapes, "\"");
	if (w->op)
		assay_op_shape_text(w->op, w->shape.axes, &shapes);
	else
		assay_text_add(&shapes, "rows=64,dim=1024\", \"rows=1,dim=4096");
	assay_text_add(&shapes, "\"");
	if (own)
		assay_text_addf(&variants,
				"\n        variants = {\"%s\"}\n        counters = {\"heap\", \"syscalls\"}\n   ",
				w->q->variant);
	values[3].value = shapes.s ? shapes.s : "";
	values[6].value = variants.s ? variants.s : "";
	rc = assay_template_fill(template, values, sizeof(values) / sizeof(values[0]), out, err);
	out->failed |= shapes.failed || variants.failed;
	assay_text_release(&shapes);
	assay_text_release(&variants);
	return rc;
}

/* ---- writing ---- */

/* Add DIR/NAME.bench and DIR/suites/quick.suite. */
static int add_bench(const struct writing *w, const char *dir, struct assay_new_files *files, struct assay_err *err)
{
	static const char *const templates[] = { "op.bench", ASSAY_DEFAULT_SUITE ".suite" };
	char *path[] = { heap_text(err, "%s/%s.bench", dir, w->bench_name),
			 heap_text(err, "%s/suites/" ASSAY_DEFAULT_SUITE ".suite", dir) };
	int rc = path[0] && path[1] ? 0 : ASSAY_ENOMEM;

	for (int i = 0; i < 2; i++) {
		struct assay_text *text = rc ? NULL : assay_new_files_add(files, path[i], true, err);

		if (!rc)
			rc = text ? bench_source(w, templates[i], text, err) : ASSAY_ENOMEM;
		free(path[i]);
	}
	return rc;
}

/* What gates the variant, its benches among that. */
static int add_repository(const struct writing *w, struct assay_new_files *files, struct assay_new_result *r,
			  struct assay_err *err)
{
	struct assay_catalog with;
	int rc = with_variant(w, &with, err);
	char *path = rc ? NULL : heap_text(err, "%s/suites/all.suite", w->own_bench);
	struct assay_text *suite = path ? assay_new_files_add(files, path, true, err) : NULL;

	free(path);
	if (!rc)
		rc = suite ? bench_source(w, "all.suite", suite, err) : ASSAY_ENOMEM;
	if (!rc)
		rc = add_bench(w, w->own_bench, files, err);
	if (!rc)
		rc = assay_new_repository_add(w->q, files, &with, r, err);
	free(with.variants);
	return rc;
}

/* The bench of a new op goes into the folder of benches that there is, with a suite of its own. */
static int add_own_bench(const struct writing *w, struct assay_new_files *files, struct assay_new_result *r,
			 struct assay_err *err)
{
	char *paths[] = { heap_text(err, "%s/%s.bench", w->own_bench, w->bench_name),
			  heap_text(err, "%s/suites/%s.suite", w->own_bench, w->bench_name) },
	     *quick = heap_text(err, "%s/suites/" ASSAY_DEFAULT_SUITE ".suite", w->own_bench),
	     *use = heap_text(err, "use \"%s\" { }", w->bench_name);
	int rc = paths[0] && paths[1] && quick && use ? 0 : ASSAY_ENOMEM;

	for (int i = 0; i < 2 && !rc; i++) {
		struct assay_text *text = assay_new_files_add(files, paths[i], true, err);

		rc = text ? bench_source(w, i ? "own.suite" : "op.bench", text, err) : ASSAY_ENOMEM;
	}
	if (!rc && assay_file_exists(quick)) {
		rc = assay_strings_add(&r->add_to, quick, err);
		if (!rc)
			rc = assay_strings_add(&r->add, use, err);
	}
	free(paths[0]);
	free(paths[1]);
	free(quick);
	free(use);
	return rc;
}

static int write_files(const struct writing *w, struct assay_new_result *r, struct assay_err *err)
{
	struct assay_new_files files = { 0 };
	char *path = heap_text(err, "%s.c", w->stem), *dir = bench_dir_of(w, err);
	struct assay_text *source = path && dir ? assay_new_files_add(&files, path, w->source_dir != NULL, err) : NULL;
	int rc = source ? 0 : ASSAY_ENOMEM;

	if (!rc)
		rc = w->op ? variant_source(w, r, source, err) : op_source(w, r, source, err);
	if (!rc && w->q->repository)
		rc = add_repository(w, &files, r, err);
	else if (!rc && w->own_bench)
		rc = add_own_bench(w, &files, r, err);
	else if (!rc && !w->suite)
		rc = add_bench(w, files.fresh = dir, &files, err);
	if (!rc)
		rc = assay_new_files_write(&files, &r->files, err);
	if (rc == ASSAY_EUSAGE && w->q->repository && !w->q->here && strstr(err->text, " there already")) {
		const struct assay_err why = *err;

		assay_err_set(err, rc, "%.400s; --here puts all of it into a folder of its own", why.text);
	}
	assay_new_files_release(&files);
	free(path);
	free(dir);
	return rc;
}

/* In a repository that has all that it takes. */
static int own_commands(const struct writing *w, struct assay_new_result *r, struct assay_err *err)
{
	r->compile = strdup(w->make);
	r->verify = heap_text(err, "assay verify --suite %s", w->bench_name);
	r->run = heap_text(err, "assay run --suite %s", w->bench_name);
	r->keep = heap_text(err, "git add . && git commit -m '%s, measured by assay'", w->q->op);
	r->compare = heap_text(err, "assay compare HEAD --suite %s", w->bench_name);
	return r->compile && r->verify && r->run && r->keep && r->compare
		       ? 0
		       : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int put_commands(const struct writing *w, struct assay_new_result *r, struct assay_err *err)
{
	struct assay_new_plan plan = { .q = w->q,
				       .op = w->op,
				       .stem = w->stem,
				       .suite = w->suite,
				       .bench_dir = w->q->r->bench_dir,
				       .axes = w->shape.axes };
	char *own = w->suite || w->own_bench ? NULL : bench_dir_of(w, err);
	int rc = w->suite || w->own_bench || own ? 0 : ASSAY_ENOMEM;

	if (own)
		plan.bench_dir = own;
	if (!rc)
		rc = w->q->repository ? assay_new_repository_commands(w->q, r, err)
		     : w->own_bench   ? own_commands(w, r, err)
				      : assay_new_commands(&plan, r, err);
	free(own);
	return rc;
}

int assay_new_write(const struct assay_new_request *q, struct assay_new_result *out, struct assay_err *err)
{
	struct writing *w = calloc(1, sizeof(*w));
	int rc;

	*out = (struct assay_new_result){ 0 };
	if (!w)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	w->q = q;
	rc = q->repository ? assay_new_repository_check(err) : 0;
	if (!rc)
		rc = find_folders(w, err);
	if (!rc)
		rc = assay_session_open(&w->session, q->r, err);
	w->cat = w->session.catalog;
	if (!rc)
		rc = check_plugins(w, err);
	if (!rc)
		rc = q->variant ? check_variant(w, err) : check_op(w, err);
	if (!rc)
		rc = name_files(w, err);
	if (!rc && w->op)
		rc = find_suite(w, err);
	if (!rc && w->op)
		rc = assay_op_shape_find(&w->shape, w->op, w->has_shape ? w->axes : NULL, ask, w->session.inventory,
					 err);
	if (!rc)
		rc = put_commands(w, out, err);
	out->right = q->repository ? assay_new_variant_has_example(q->op) : !q->variant;
	if (!rc)
		rc = write_files(w, out, err);
	free(w->stem);
	free(w->source_dir);
	free(w->own_bench);
	free(w->make);
	free(w->bench_name);
	free(w->suite);
	assay_session_close(&w->session);
	free(w);
	return rc;
}

void assay_new_release(struct assay_new_result *r)
{
	assay_strings_release(&r->files);
	assay_strings_release(&r->add_to);
	assay_strings_release(&r->add);
	free(r->compile);
	free(r->compile_installed);
	free(r->verify);
	free(r->run);
	free(r->keep);
	free(r->compare);
	free(r->gate);
	*r = (struct assay_new_result){ 0 };
}
