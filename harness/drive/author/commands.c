/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/author/commands.h"

#include <string.h>

#include "drive/hints.h"
#include "drive/installed.h"
#include "drive/author/op_shape.h"

/* The plugin with @more at the end of its name: a path with a slash in it where @path. */
static void add_plugin(const struct assay_new_plan *w, struct assay_text *t, const char *more, bool path)
{
	struct assay_text name = { 0 };

	assay_text_addf(&name, "%s%s%s.so", path && !strchr(w->stem, '/') ? "./" : "", w->stem, more);
	assay_text_add_word(t, name.s ? name.s : "");
	t->failed |= name.failed;
	assay_text_release(&name);
}

static void add_compile(const struct assay_new_plan *w, const char *include, struct assay_text *t)
{
	struct assay_text flag = { 0 }, source = { 0 };

	assay_text_addf(&source, "%s.c", w->stem);
	assay_text_addf(t, "cc -std=c11 -O3 -Wall -Wextra%s -shared -fPIC ",
			!w->op || w->op->exact ? " -ffp-contract=off" : "");
	if (include) {
		assay_text_addf(&flag, "-I%s", include);
		assay_text_add_word(t, flag.s ? flag.s : "");
	} else {
		assay_text_add(t, "$(pkg-config --cflags assay)");
	}
	assay_text_add(t, " -o ");
	add_plugin(w, t, "", false);
	assay_text_add(t, " ");
	assay_text_add_word(t, source.s ? source.s : "");
	t->failed |= flag.failed || source.failed;
	assay_text_release(&flag);
	assay_text_release(&source);
}

/* " --only" with one shape of the variant, or of all variants of the op: enough to go on with, and soon measured. */
static void add_only(const struct assay_new_plan *w, const char *variant, struct assay_text *t)
{
	struct assay_text shape = { 0 };

	if (!w->op)
		return;
	assay_op_shape_text(w->op, w->axes, &shape);
	assay_text_addf(t, " --only '%s/%s/%s/*'", w->q->op, variant, shape.len ? shape.s : "-");
	t->failed |= shape.failed;
	assay_text_release(&shape);
}

int assay_new_commands(const struct assay_new_plan *w, struct assay_new_result *r, struct assay_err *err)
{
	struct assay_text t[6] = { 0 }, places = { 0 };
	char **to[6] = { &r->compile, &r->compile_installed, &r->verify, &r->run, &r->keep, &r->compare };
	char include[ASSAY_INSTALLED_PATH_MAX];
	int rc = assay_installed_include_dir(include, sizeof(include), err);

	if (rc)
		return rc;
	assay_places_text(&places, w->q->r, w->bench_dir, w->suite);
	add_compile(w, include, &t[0]);
	add_compile(w, NULL, &t[1]);
	for (int i = 2; i < 4; i++) {
		/* by default a run shows only the best variant of a shape */
		assay_text_addf(&t[i], "assay %s --plugin ", i == 2 ? "verify" : w->op ? "run -v" : "run");
		add_plugin(w, &t[i], "", true);
		assay_text_add(&t[i], places.s ? places.s : "");
		add_only(w, i == 2 ? w->q->variant : "*", &t[i]);
	}
	assay_text_add(&t[4], "cp ");
	add_plugin(w, &t[4], "", false);
	assay_text_add(&t[4], " ");
	add_plugin(w, &t[4], "-before", false);
	assay_text_add(&t[5], "assay compare ");
	add_plugin(w, &t[5], "-before", false);
	assay_text_add(&t[5], " ");
	add_plugin(w, &t[5], "", false);
	assay_text_add(&t[5], places.s ? places.s : "");
	add_only(w, w->q->variant, &t[5]);
	for (int i = 0; i < 6 && !rc; i++) {
		*to[i] = t[i].failed || places.failed ? NULL : assay_text_take(&t[i]);
		if (!*to[i])
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	for (int i = 0; i < 6; i++)
		assay_text_release(&t[i]);
	assay_text_release(&places);
	return rc;
}
