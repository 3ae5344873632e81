/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/author/repository.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary.h"
#include "drive/installed.h"
#include "drive/author/template.h"
#include "drive/repository.h"
#include "drive/request.h"
#include "judge/manifest.h"
#include "plan/plan.h"

int assay_new_repository_check(struct assay_err *err)
{
	struct assay_repository repo;
	struct assay_err why = { 0 };
	char here[PATH_MAX];

	if (assay_repository_open(&repo, NULL, NULL, &why))
		return assay_err_set(err, ASSAY_EUSAGE, "there is %s%s", why.text,
				     strchr(why.text, ':') ? ""
							   : ": a gate compares commits, so begin with 'git init'");
	if (!getcwd(here, sizeof(here)) || strcmp(here, repo.top) != 0)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "this folder is not the top of its repository, where assay.conf and workflows "
				     "lie: go to '%s', or begin one here with 'git init'",
				     repo.top);
	return 0;
}

#define HERE "assay"

const char *assay_new_repository_dir(const struct assay_new_request *q)
{
	return q->here ? HERE "/" : "";
}

int assay_new_repository_commands(const struct assay_new_request *q, struct assay_new_result *r, struct assay_err *err)
{
	r->compile = strdup(q->here ? "make -C " HERE : "make");
	r->verify = strdup("assay verify");
	r->run = strdup("assay run -v --suite all");
	r->gate = strdup(q->here ? "git add " HERE " assay.conf .github/workflows/assay.yml && git commit -m 'kernels, "
				   "measured by assay' && assay-gate"
				 : "git add . && git commit -m 'kernels, measured by assay' && assay-gate");
	return r->compile && r->verify && r->run && r->gate ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/* ---- the manifest ---- */

/* Plan the default suite from a copy of the bench files in @dir. */
static int plan_copy(const struct assay_new_files *files, const char *bench, const struct assay_catalog *with,
		     const char *dir, struct assay_plan *plan, struct assay_err *err)
{
	const size_t len = strlen(bench);
	const struct assay_plan_options o = { .bench_dir = dir, .suite = ASSAY_DEFAULT_SUITE, .all_threads = 1 };
	char path[2 * PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/suites", dir);
	rc = assay_file_mkdirs(path, err);
	for (size_t i = 0; i < files->n && !rc; i++) {
		const struct assay_new_file *f = &files->v[i];

		if (strncmp(f->path, bench, len) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, f->path + len);
		rc = assay_file_write(path, f->text.s ? f->text.s : "", f->text.len, err);
	}
	return rc ? rc : assay_plan_load(plan, &o, with, err);
}

/* Bench files are read from a folder; nothing is written into the repository before all is known. */
static int add_manifest(const struct assay_new_request *q, struct assay_new_files *files,
			const struct assay_catalog *with, struct assay_err *err)
{
	char bench[64], manifest[64];
	struct assay_temporary copy = { 0 };
	struct assay_plan plan = { 0 };
	char path[PATH_MAX + 64];
	struct assay_text *to;
	int rc = assay_temporary_make(&copy, "init", err);

	if (rc)
		return rc;
	snprintf(bench, sizeof(bench), "%sbench/", assay_new_repository_dir(q));
	snprintf(manifest, sizeof(manifest), "%sbaselines/" ASSAY_DEFAULT_SUITE ".manifest",
		 assay_new_repository_dir(q));
	rc = plan_copy(files, bench, with, copy.path, &plan, err);
	to = rc ? NULL : assay_new_files_add(files, manifest, true, err);
	if (!rc)
		rc = to ? assay_manifest_format(ASSAY_DEFAULT_SUITE, plan.cases, plan.n_cases, with, to, err)
			: ASSAY_ENOMEM;
	assay_plan_release(&plan);
	for (size_t i = 0; i < files->n; i++)
		if (!strncmp(files->v[i].path, bench, strlen(bench))) {
			snprintf(path, sizeof(path), "%s/%s", copy.path, files->v[i].path + strlen(bench));
			unlink(path);
		}
	snprintf(path, sizeof(path), "%s/suites", copy.path);
	rmdir(path);
	assay_temporary_remove(&copy);
	return rc;
}

/* ---- the other files ---- */

static const struct {
	const char *path, *template;
	bool top; /* of the repository, also where a folder holds the rest */
} own[] = {
	{ "Makefile", "repository.makefile", false },
	{ "assay.conf", "repository.assay.conf", true },
	{ ".gitignore", "repository.gitignore", false },
	{ "baselines/policy.conf", "repository.policy.conf", false },
};

/* These are installed as they are, for those who write the rest by hand. */
static const struct {
	const char *path, *installed;
	const char *here, *line; /* with --here: the path where @path is taken, and the line that brings it there */
} copied[] = {
	{ ".github/workflows/assay.yml", "github-actions.yml", NULL, NULL },
	{ ".gitlab-ci.yml", "gitlab-ci.yml", HERE "/gitlab-ci.yml", "include: '/" HERE "/gitlab-ci.yml'" },
};

static int add_copy(struct assay_new_files *files, const char *path, const char *name, struct assay_err *err)
{
	struct assay_text *to = assay_new_files_add(files, path, true, err);
	char dir[ASSAY_INSTALLED_PATH_MAX], from[2 * ASSAY_INSTALLED_PATH_MAX], *text = NULL;
	size_t len;
	int rc = to ? assay_installed_template_dir(dir, sizeof(dir), err) : ASSAY_ENOMEM;

	if (rc)
		return rc;
	snprintf(from, sizeof(from), "%s/%s", dir, name);
	rc = assay_file_read(from, &text, &len, err);
	if (!rc)
		assay_text_addn(to, text, len);
	free(text);
	return rc;
}

/* A line that somebody has to add by hand. */
static int tell_line(struct assay_new_result *r, const char *file, const char *text, struct assay_err *err)
{
	int rc = assay_strings_add(&r->add_to, file, err);

	return rc ? rc : assay_strings_add(&r->add, text, err);
}

static int add_own(const struct assay_new_request *q, struct assay_new_files *files, struct assay_err *err)
{
	const char *dir = assay_new_repository_dir(q);
	const struct assay_template_value values[] = { { "MAKE", q->here ? "make -C " HERE : "make" }, { "DIR", dir } };
	int rc = 0;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !rc; i++) {
		char path[64];
		struct assay_text *to;

		snprintf(path, sizeof(path), "%s%s", own[i].top ? "" : dir, own[i].path);
		to = assay_new_files_add(files, path, true, err);
		rc = to ? assay_template_fill(own[i].template, values, 2, to, err) : ASSAY_ENOMEM;
	}
	return rc;
}

int assay_new_repository_add(const struct assay_new_request *q, struct assay_new_files *files,
			     const struct assay_catalog *with, struct assay_new_result *r, struct assay_err *err)
{
	int rc = add_manifest(q, files, with, err);

	if (!rc)
		rc = add_own(q, files, err);
	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]) && !rc; i++) {
		const bool beside = q->here && copied[i].here && assay_file_exists(copied[i].path);

		rc = add_copy(files, beside ? copied[i].here : copied[i].path, copied[i].installed, err);
		if (!rc && beside)
			rc = tell_line(r, copied[i].path, copied[i].line, err);
	}
	/* results lie where commands are given, most likely at the top */
	return rc || !q->here ? rc : tell_line(r, ".gitignore", "/assay.db*", err);
}
