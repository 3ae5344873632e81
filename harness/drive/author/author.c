/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks names, finds a suite that runs what is new, and fills in the tables of commands and files. The files are
 * written all or not at all, and over none that is there already.
 */
#include "drive/author/author.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/repository.h"
#include "drive/session.h"
#include "drive/user_text.h"
#include "formats/formats.h"
#include "judge/manifest.h"
#include "measure/program.h"
#include "plan/plan.h"
#include "worker/plugin/loader.h"

/* The files that are written, and where they go. */
enum {
	VARIANT = 1,       /* of an op that a suite has */
	VARIANT_ALONE = 2, /* of an op that none has: with a bench */
	OP = 4,            /* with a bench */
	OP_AT_HOME = 8,    /* in a repository that `assay init` began: its bench lies among those of the others */
	INIT = 16,         /* a variant, in a repository of its own */
	PROGRAM = 32,      /* a program, in a repository that is there already */
};
#define ANYWHERE (VARIANT | VARIANT_ALONE | OP)

/* Keys of the templates. */
#define KEYS(X)                                                                                                        \
	X(OP)                                                                                                          \
	X(NAME)    /* of the variant */                                                                                \
	X(PLUGIN)  /* of the bench, and of the plugin of an op */                                                      \
	X(HELP)    /* what the op does */                                                                              \
	X(AXES)    /* of the op, for people */                                                                         \
	X(SHAPE)   /* "m=2560,k=2560,n=1": one that a suite has, or that is likely; "" of an op without axes */        \
	X(WORK)    /* the function that a person writes */                                                             \
	X(DIR)     /* of a repository's sources: "", or "assay/" */                                                    \
	X(STEM)    /* the source without ".c" */                                                                       \
	X(BENCH)   /* the folder of benches */                                                                         \
	X(MAKE)    /* builds a repository */                                                                           \
	X(ADD)     /* the files that `assay init` wrote, for git */                                                    \
	X(COMMAND) /* of a program; as the next, it stands in quotes */                                                \
	X(READS)   /* the format that it writes; "": none */                                                           \
	X(FLAGS)   /* these and the next seven are words of commands, quoted as a shell takes them */                  \
	X(INCLUDE) /* of the headers beside this program */                                                            \
	X(SOURCE)                                                                                                      \
	X(SO)                                                                                                          \
	X(LOAD) /* the plugin with a slash in its name */                                                              \
	X(BEFORE)                                                                                                      \
	X(PLACES)                                                                                                      \
	X(ONLY)   /* the case of the variant */                                                                        \
	X(BESIDE) /* the same case of all variants */                                                                  \
	X(COMPILE)                                                                                                     \
	X(COMPILE_INSTALLED)                                                                                           \
	X(VERIFY)                                                                                                      \
	X(RUN)                                                                                                         \
	X(KEEP)                                                                                                        \
	X(COMPARE)                                                                                                     \
	X(GATE)
enum key {
#define X(key) KEY_##key,
	KEYS(X)
#undef X
		N_KEYS
};
static const char *const keys[N_KEYS] = {
#define X(key) #key,
	KEYS(X)
#undef X
};

/* The commands that come next, in an order in which each is made of those before. */
static const struct {
	unsigned modes;
	enum key key;
	const char *text;
} commands[] = {
	{ ANYWHERE, KEY_COMPILE, "cc -std=c11 -O3 -Wall -Wextra@FLAGS@ -shared -fPIC @INCLUDE@ -o @SO@ @SOURCE@" },
	{ ANYWHERE, KEY_COMPILE_INSTALLED,
	  "cc -std=c11 -O3 -Wall -Wextra@FLAGS@ -shared -fPIC $(pkg-config --cflags assay) -o @SO@ @SOURCE@" },
	{ ANYWHERE, KEY_VERIFY, "assay verify --plugin @LOAD@@PLACES@@ONLY@" },
	/* by default a run shows only the best variant of a shape */
	{ VARIANT | VARIANT_ALONE, KEY_RUN, "assay run -v --plugin @LOAD@@PLACES@@BESIDE@" },
	{ OP, KEY_RUN, "assay run --plugin @LOAD@@PLACES@" },
	{ ANYWHERE, KEY_KEEP, "cp @SO@ @BEFORE@" },
	{ ANYWHERE, KEY_COMPARE, "assay compare @BEFORE@ @SO@@PLACES@@ONLY@" },

	{ OP_AT_HOME | INIT, KEY_COMPILE, "@MAKE@" },
	{ OP_AT_HOME, KEY_VERIFY, "assay verify --suite @PLUGIN@" },
	{ OP_AT_HOME, KEY_RUN, "assay run --suite @PLUGIN@" },
	{ OP_AT_HOME, KEY_KEEP, "git add . && git commit -m '@OP@, measured by assay'" },
	{ OP_AT_HOME, KEY_COMPARE, "assay compare HEAD --suite @PLUGIN@" },
	{ INIT, KEY_VERIFY, "assay verify" },
	{ INIT, KEY_RUN, "assay run -v --suite all" },
	{ INIT, KEY_GATE, "git add @ADD@ && git commit -m 'kernels, measured by assay' && assay-gate" },
	{ PROGRAM, KEY_RUN, "assay run" },
	{ PROGRAM, KEY_KEEP, "git add @ADD@ && git commit -m 'gated by assay'" },
	{ PROGRAM, KEY_GATE, "assay-gate" },
};

/* In a project that has a .gitlab-ci.yml of its own, ours lies in the folder, and theirs includes it. */
#define GITLAB ".gitlab-ci.yml"
/* One that is there gets a line, too. */
#define GITIGNORE ".gitignore"

/* The files. A copy is installed as it is, for those who write the rest by hand; one with neither is the manifest. */
static const struct file {
	unsigned modes;
	const char *path, *template, *copy;
} files[] = {
	{ VARIANT | VARIANT_ALONE | INIT, "@STEM@.c", "variant.c", NULL },
	{ OP | OP_AT_HOME, "@STEM@.c", "op.c", NULL },
	{ VARIANT_ALONE | OP | OP_AT_HOME | INIT, "@BENCH@/@PLUGIN@.bench", "op.bench", NULL },
	{ VARIANT_ALONE | OP | INIT | PROGRAM, "@BENCH@/suites/" ASSAY_DEFAULT_SUITE ".suite", "quick.suite", NULL },
	{ PROGRAM, "@BENCH@/@PLUGIN@.bench", "program.bench", NULL },
	{ OP_AT_HOME, "@BENCH@/suites/@PLUGIN@.suite", "all.suite", NULL },
	{ INIT, "@BENCH@/suites/all.suite", "all.suite", NULL },
	{ INIT, "@DIR@Makefile", "repository.makefile", NULL },
	{ INIT | PROGRAM, "assay.conf", "repository.assay.conf", NULL },
	{ INIT, "@DIR@.gitignore", "repository.gitignore", NULL },
	{ PROGRAM, GITIGNORE, "program.gitignore", NULL },
	{ INIT | PROGRAM, "@DIR@baselines/policy.conf", "repository.policy.conf", NULL },
	{ INIT | PROGRAM, ".github/workflows/assay.yml", NULL, "github-actions.yml" },
	{ INIT | PROGRAM, GITLAB, NULL, "gitlab-ci.yml" },
	{ INIT | PROGRAM, "@DIR@baselines/" ASSAY_DEFAULT_SUITE ".manifest", NULL, NULL },
};
#define N_FILES (sizeof(files) / sizeof(files[0]))

struct writing {
	const struct assay_new_request *q;
	struct assay_new_result *r;
	unsigned mode;
	struct assay_session session;
	const struct assay_catalog_op *op; /* NULL: it is new */
	struct assay_catalog with;         /* the catalog with the new variant; only its list of variants is ours */
	char suite[ASSAY_NAME_MAX];        /* one that runs what is new; "": none does */
	struct assay_text value[N_KEYS];
	struct assay_strings tags;
	struct assay_strings folders; /* that were made, the outer ones first */
};

static void set(struct writing *w, enum key key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void set(struct writing *w, enum key key, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	if (s)
		assay_text_add(&w->value[key], s);
	else
		w->value[key].failed = true;
	free(s);
}

static const char *get(const struct writing *w, enum key key)
{
	return w->value[key].s ? w->value[key].s : "";
}

static struct assay_template_values values(const struct writing *w)
{
	return (struct assay_template_values){ .keys = keys, .values = w->value, .n = N_KEYS, .tags = w->tags };
}

static int out_of_memory(const struct writing *w, struct assay_err *err)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (w->value[i].failed)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return 0;
}

/* ---- names ---- */

static int check_plugins(const struct writing *w, struct assay_err *err)
{
	const struct assay_catalog *cat = w->session.catalog;

	for (size_t i = 0; i < cat->n_plugins; i++)
		if (cat->plugins[i].error && assay_strings_has(&w->q->r->plugins, cat->plugins[i].path))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin: %s", cat->plugins[i].error);
	return 0;
}

static int no_such_op(const struct writing *w, struct assay_err *err)
{
	const struct assay_catalog *cat = w->session.catalog;
	const char **names = calloc(cat->n_ops + 1, sizeof(*names)), *near = NULL;

	for (size_t i = 0; names && i < cat->n_ops; i++)
		names[i] = cat->ops[i].name;
	if (names)
		near = assay_nearest(w->q->op, names, cat->n_ops);
	free(names);
	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "unknown op '%s': did you mean '%s'?", w->q->op, near);
	return assay_err_set(err, ASSAY_EUSAGE, "unknown op '%s': 'assay list ops' lists them%s", w->q->op,
			     w->q->repository ? "" : ", --plugin FILE adds those of a plugin");
}

static int check_variant(struct writing *w, struct assay_err *err)
{
	const struct assay_catalog *cat = w->session.catalog;
	const char *name = w->q->variant;
	const struct assay_catalog_variant *other;

	w->op = assay_catalog_op(cat, w->q->op);
	if (!w->op)
		return no_such_op(w, err);
	if (w->op->composes)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "op '%s' has no variants of its own: it runs those of '%s', so write one of that",
				     w->op->name, w->op->composes);
	if (!assay_plugin_name_ok(name, ""))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad name '%s' of a variant: expected a-z, 0-9 and '_', such as avx2_tiled", name);
	other = assay_catalog_variant(cat, w->op->name, name);
	if (other)
		return assay_err_set(err, ASSAY_EUSAGE, "op '%s' has a variant '%s' already, in '%s'", w->op->name,
				     name, cat->plugins[other->plugin].path);
	return 0;
}

static int check_op(const struct writing *w, struct assay_err *err)
{
	const struct assay_catalog *cat = w->session.catalog;
	const char *name = w->q->op, *dot = strchr(name, '.');
	const struct assay_catalog_op *other = assay_catalog_op(cat, name);

	if (!assay_plugin_name_ok(name, ".") || !dot || dot == name || !dot[1] || strchr(dot + 1, '.'))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad name '%s' of an op: expected FAMILY.PROBLEM of a-z, 0-9 and '_', such as "
				     "norm.rms",
				     name);
	if (other)
		return assay_err_set(err, ASSAY_EUSAGE, "there is an op '%s' already, in '%s'", name,
				     cat->plugins[other->plugin].path);
	return 0;
}

/* ---- folders ---- */

/* ASSAY_EUSAGE unless the current folder is the top of a git repository. */
static int check_top(struct assay_err *err)
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

/*
 * Does the current folder lie in a repository that `assay init` began, whose plugins are made in build/ of the folder
 * that has the sources and the Makefile? Then a new op goes there, unless its source is to lie somewhere else.
 */
static void find_home(struct writing *w)
{
	char here[PATH_MAX], top[PATH_MAX + 1] = "", make[2 * PATH_MAX];
	struct assay_project_conf c = { 0 };
	struct assay_repository repo;
	int dir;

	if (w->q->file || w->q->r->plan.bench_dir || assay_repository_open(&repo, NULL, NULL, NULL))
		return;
	if (!assay_project_conf_read(&c, repo.top, NULL) && c.bench && c.plugins) {
		dir = (int)(strrchr(c.plugins, '/') ? strrchr(c.plugins, '/') + 1 - c.plugins : 0);
		/* what a person types */
		if (!getcwd(here, sizeof(here)) || strcmp(here, repo.top) != 0)
			snprintf(top, sizeof(top), "%.*s/", PATH_MAX - 1, repo.top);
		snprintf(make, sizeof(make), "%s%.*sMakefile", top, dir, c.plugins);
		if (!strcmp(c.plugins + dir, "build") && assay_file_exists(make)) {
			w->mode = OP_AT_HOME;
			set(w, KEY_DIR, "%s%.*s", top, dir, c.plugins);
			set(w, KEY_BENCH, "%s%s", top, c.bench);
			if (top[0])
				set(w, KEY_MAKE, "(cd %s && %s)", repo.top, c.build);
			else
				set(w, KEY_MAKE, "%s", c.build);
		}
	}
	assay_project_conf_release(&c);
}

/* "norm.rms" → "norm_rms" as a file, "norm-rms" as a plugin and a bench. */
static void set_with(struct writing *w, enum key key, const char *prefix, const char *name, char dot)
{
	set(w, key, "%s%s", prefix, name);
	for (char *c = w->value[key].s ? w->value[key].s + strlen(prefix) : NULL; c && *c; c++)
		*c = *c == '.' ? dot : *c;
}

/* Everything but the jobs, assay.conf and what git passes over lies in a folder of ours. */
static bool in_folder(const struct writing *w)
{
	return w->q->here || w->mode == PROGRAM;
}

/* @s between double quotes of a configuration file. */
static int set_quoted(struct writing *w, enum key key, const char *s, struct assay_err *err)
{
	if (strstr(s, "${") || strpbrk(s, "\r\n"))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"the command '%.200s' cannot stand in a bench file, where ${NAME} is replaced and a "
			"line ends: write it into a script",
			s);
	for (; *s; s++)
		set(w, key, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	return 0;
}

/* How the files at the top say that the tree is built; where they say nothing, there is nothing to be done. */
static const char *guess_build(void)
{
	static const struct {
		const char *file, *command;
	} known[] = {
		{ "GNUmakefile", "make" },
		{ "makefile", "make" },
		{ "Makefile", "make" },
		{ "CMakeLists.txt", "cmake -B build && cmake --build build" },
		{ "meson.build", "{ [ -d build ] || meson setup build; } && ninja -C build" },
		{ "Cargo.toml", "cargo build --release" },
		{ "go.mod", "go build ./..." },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (assay_file_exists(known[i].file))
			return known[i].command;
	return "true";
}

/* The name of the bench: the program's, without characters that names of benches cannot have. */
static void set_bench_name(struct writing *w)
{
	const char *word = w->q->program + strspn(w->q->program, " \t\"'");
	const size_t n = strcspn(word, " \t\"'");

	for (size_t i = 0; i < n; i++) {
		const char c = word[i];

		if (c == '/')
			w->value[KEY_PLUGIN].len = 0;
		else if (isalnum((unsigned char)c) || strchr("._-", c))
			set(w, KEY_PLUGIN, "%c", c);
	}
	if (!w->value[KEY_PLUGIN].len)
		set(w, KEY_PLUGIN, "program");
}

static int name_program(struct writing *w, struct assay_err *err)
{
	const struct assay_format *format = NULL;
	int rc = w->q->reads ? assay_format_find(w->q->reads, &format, err) : 0;

	if (!rc && w->q->reads && !format)
		rc = assay_err_set(err, ASSAY_EUSAGE, "--reads is 'auto', expected the format that the program writes");
	if (!rc)
		rc = set_quoted(w, KEY_COMMAND, w->q->program, err);

	set(w, KEY_DIR, "assay/");
	set(w, KEY_BENCH, "assay/bench");
	set_bench_name(w);
	set(w, KEY_OP, "%s", get(w, KEY_PLUGIN));
	set(w, KEY_ADD, "assay assay.conf .github/workflows/assay.yml%s%s", assay_file_exists(GITLAB) ? "" : " " GITLAB,
	    assay_file_exists(GITIGNORE) ? "" : " " GITIGNORE);
	if (!rc)
		rc = set_quoted(w, KEY_MAKE, w->q->build ? w->q->build : guess_build(), err);
	set(w, KEY_READS, "%s", w->q->reads ? w->q->reads : "");
	if (!rc)
		rc = assay_strings_add(&w->tags, w->q->reads ? "reads" : "timed", err);
	return rc ? rc : assay_strings_add(&w->tags, "program", err);
}

static int name_files(struct writing *w, struct assay_err *err)
{
	const char *file = w->q->file, *name = w->q->variant ? w->q->variant : w->q->op;
	size_t n = file ? strlen(file) : 0;

	if (file && (n < 3 || strcmp(file + n - 2, ".c") != 0 || file[n - 3] == '/'))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad --output '%s': expected the name of a C file, such as mine.c", file);
	if (w->mode == INIT) {
		set(w, KEY_DIR, "%s", w->q->here ? "assay/" : "");
		set(w, KEY_BENCH, "%sbench", get(w, KEY_DIR));
		set(w, KEY_MAKE, "%s", w->q->here ? "make -C assay" : "make");
		set(w, KEY_ADD, "%s", w->q->here ? "assay assay.conf .github/workflows/assay.yml .gitlab-ci.yml" : ".");
	}
	if (file)
		set(w, KEY_STEM, "%.*s", (int)n - 2, file);
	else
		set_with(w, KEY_STEM, get(w, KEY_DIR), name, '_');
	if (!w->value[KEY_BENCH].len)
		set(w, KEY_BENCH, "%s-bench", get(w, KEY_STEM));
	set_with(w, KEY_PLUGIN, "", name, '-');
	set(w, KEY_OP, "%s", w->q->op);
	set(w, KEY_NAME, "%s", w->q->variant ? w->q->variant : "ref");
	return 0;
}

/* ---- a suite that runs it ---- */

static int with_variant(struct writing *w, struct assay_err *err)
{
	struct assay_catalog *with = &w->with;

	*with = *w->session.catalog;
	with->variants = malloc((with->n_variants + 1) * sizeof(*with->variants));
	if (!with->variants)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	memcpy(with->variants, w->session.catalog->variants, with->n_variants * sizeof(*with->variants));
	with->variants[with->n_variants++] = (struct assay_catalog_variant){ .op = (char *)w->q->op,
									     .name = (char *)w->q->variant,
									     .plugin = w->op->plugin };
	return 0;
}

/* Does @suite run the variant? Then take its first shape. A suite that cannot be planned runs nothing. */
static bool runs_it(struct writing *w, const char *suite)
{
	struct assay_plan_options o = { .bench_dir = w->session.bench_dir, .suite = suite, .all_threads = 1 };
	struct assay_plan plan = { 0 };
	bool found = false;

	if (assay_plan_load(&plan, &o, &w->with, NULL))
		return false;
	for (size_t i = 0; i < plan.n_cases && !found; i++) {
		const struct assay_case *c = &plan.cases[i];

		found = !strcmp(c->op, w->q->op) && !strcmp(c->variant, w->q->variant);
		for (unsigned k = 0; found && k < c->n_axes; k++)
			if (k < assay_catalog_named_axes(w->op) || c->axes[k].value)
				set(w, KEY_SHAPE, "%s%s=%s", k ? "," : "", c->axes[k].name, c->axes[k].text);
	}
	assay_plan_release(&plan);
	if (found)
		snprintf(w->suite, sizeof(w->suite), "%s", suite);
	return found;
}

/* A shape of an op that no suite has: 1024 of everything, since most blocks and vectors divide that. */
static void guess_shape(struct writing *w)
{
	for (size_t k = 0; k < assay_catalog_named_axes(w->op); k++) {
		const struct assay_catalog_axis *a = &w->op->axes[k];
		int64_t v = a->def != INT64_MIN ? a->def : a->min > 1024 ? a->min : a->max < 1024 ? a->max : 1024;

		if (a->symbols.n)
			set(w, KEY_SHAPE, "%s%s=%s", k ? "," : "", a->name, a->symbols.v[a->def > 0 ? a->def : 0]);
		else
			set(w, KEY_SHAPE, "%s%s=%lld", k ? "," : "", a->name, (long long)v);
	}
}

/* The default suite if it runs the variant, else the first that does. */
static int find_suite(struct writing *w, struct assay_err *err)
{
	struct assay_strings suites = { 0 };
	int rc = with_variant(w, err);

	if (!rc)
		rc = assay_plan_suites(w->session.bench_dir, &suites, err);
	if (!rc && assay_strings_has(&suites, ASSAY_DEFAULT_SUITE))
		runs_it(w, ASSAY_DEFAULT_SUITE);
	for (size_t i = 0; i < suites.n && !rc && !w->suite[0]; i++)
		runs_it(w, suites.v[i]);
	if (!rc && !w->suite[0])
		guess_shape(w);
	assay_strings_release(&suites);
	return rc;
}

/* ---- values ---- */

/* @s inside of a comment, which it must not end, on one line. */
static void set_comment(struct writing *w, enum key key, const char *s)
{
	for (; *s; s++) {
		const bool pair = (s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*') ||
				  (s[0] == '?' && s[1] == '?'); /* a trigraph */

		set(w, key, "%c%s", (unsigned char)*s < ' ' ? ' ' : *s, pair ? " " : "");
	}
}

static void set_axes(struct writing *w)
{
	for (size_t i = 0; i < w->op->n_axes; i++) {
		const struct assay_catalog_axis *a = &w->op->axes[i];

		set(w, KEY_AXES, "%s *   %-10s  ", i ? "\n" : " *\n * Axes, in the order of job->shape->axis:\n",
		    a->name);
		set_comment(w, KEY_AXES, a->help ? a->help : "");
		set(w, KEY_AXES, "%s", a->help && a->help[0] ? "; " : "");
		for (size_t k = 0; k < a->symbols.n; k++) {
			set(w, KEY_AXES, "%s%zu ", k ? ", " : "", k);
			set_comment(w, KEY_AXES, a->symbols.v[k]);
		}
		if (!a->symbols.n)
			set(w, KEY_AXES, "%lld to %lld", (long long)a->min, (long long)a->max);
	}
}

static void set_word(struct writing *w, enum key key, const char *prefix, const char *name, const char *ending)
{
	struct assay_text t = { 0 };

	assay_text_addf(&t, "%s%s%s", prefix, name, ending);
	assay_text_add_word(&w->value[key], t.s ? t.s : "");
	w->value[key].failed |= t.failed;
	assay_text_release(&t);
}

static int set_words(struct writing *w, struct assay_err *err)
{
	char include[ASSAY_INSTALLED_PATH_MAX];
	const char *stem = get(w, KEY_STEM), *shape = get(w, KEY_SHAPE);
	int rc = assay_installed_include_dir(include, sizeof(include), err);

	if (rc)
		return rc;
	set(w, KEY_FLAGS, "%s", !w->op || w->op->exact ? " -ffp-contract=off" : "");
	set_word(w, KEY_INCLUDE, "-I", include, "");
	set_word(w, KEY_SOURCE, "", stem, ".c");
	set_word(w, KEY_SO, "", stem, ".so");
	set_word(w, KEY_LOAD, strchr(stem, '/') ? "" : "./", stem, ".so");
	set_word(w, KEY_BEFORE, "", stem, "-before.so");
	assay_places_text(&w->value[KEY_PLACES], w->q->r, w->suite[0] ? w->q->r->plan.bench_dir : get(w, KEY_BENCH),
			  w->suite[0] ? w->suite : NULL);
	if (w->op) {
		set(w, KEY_ONLY, " --only '%s/%s/%s/*'", w->q->op, w->q->variant, shape[0] ? shape : "-");
		set(w, KEY_BESIDE, " --only '%s/*/%s/*'", w->q->op, shape[0] ? shape : "-");
	}
	return 0;
}

static int set_commands(struct writing *w, struct assay_err *err)
{
	struct assay_template_values v = values(w);
	int rc = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && !rc; i++)
		if (commands[i].modes & w->mode)
			rc = assay_template_fill(commands[i].text, &v, &w->value[commands[i].key], err);
	return rc;
}

/* Does the template of a family know the op, and does it then have a body that is right? */
static bool knows(const char *template, const char *op)
{
	const size_t len = strlen(op);

	for (const char *at = template; at && (at = strstr(at, op)); at += len)
		if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n'))
			return true;
	return false;
}

static int set_variant(struct writing *w, struct assay_err *err)
{
	/* of the op that has a body which is right */
	static const char right[] = "quantize.q8_0";
	const int family = (int)strcspn(w->op->name, ".");
	char name[ASSAY_NAME_MAX + 8], tag[ASSAY_NAME_MAX];
	struct assay_template_values v;
	const char *template;
	int rc;

	snprintf(name, sizeof(name), "%.*s.work", family, w->op->name);
	snprintf(tag, sizeof(tag), "%.*s", family, w->op->name);
	template = assay_template_text(name);
	w->r->right = w->mode == INIT && !strcmp(w->op->name, right);
	rc = assay_strings_add(&w->tags, w->op->name, err);
	if (!rc)
		rc = assay_strings_add(&w->tags, tag, err);
	if (!rc)
		rc = assay_strings_add(&w->tags, w->r->right ? "right" : "todo", err);
	if (!rc)
		rc = assay_strings_add(&w->tags, w->op->exact ? "exact" : "inexact", err);
	if (!rc && knows(template, w->op->name))
		rc = assay_strings_add(&w->tags, "counted", err);
	else
		template = assay_template_text("other.work");
	if (rc)
		return rc;
	set_comment(w, KEY_HELP, w->op->help && w->op->help[0] ? w->op->help : w->op->name);
	set_axes(w);
	v = values(w);
	rc = assay_template_fill(template, &v, &w->value[KEY_WORK], err);
	/* its last newline is that of the line that it stands for */
	if (!rc && w->value[KEY_WORK].len)
		w->value[KEY_WORK].s[--w->value[KEY_WORK].len] = '\0';
	return rc;
}

/* ---- files ---- */

static int make_path(const struct writing *w, const struct file *f, char path[PATH_MAX], struct assay_err *err)
{
	const struct assay_template_values v = values(w);
	struct assay_text t = { 0 };
	int rc = assay_template_fill(f->path, &v, &t, err);

	if (!rc && in_folder(w) && !strcmp(f->path, GITLAB) && assay_file_exists(GITLAB))
		rc = assay_template_fill("@DIR@gitlab-ci.yml", &v, (assay_text_release(&t), &t), err);
	if (!rc && t.len >= PATH_MAX)
		rc = assay_err_set(err, ASSAY_EUSAGE, "cannot write '%.200s…': the name is too long", t.s);
	snprintf(path, PATH_MAX, "%s", !rc && t.s ? t.s : "");
	assay_text_release(&t);
	return rc;
}

/* Is anything of this name there, also a link that leads nowhere? */
static void note_taken(const char *path, struct assay_text *there, unsigned *n)
{
	struct stat st;

	if (!lstat(path, &st))
		assay_text_addf(there, "%s'%s'", (*n)++ ? ", " : "", path);
}

static bool is_written(const struct writing *w, const struct file *f)
{
	return f->modes & w->mode && (strcmp(f->path, GITIGNORE) != 0 || !assay_file_exists(GITIGNORE));
}

static int check_files(const struct writing *w, struct assay_err *err)
{
	/* a folder of benches of their own must not be there */
	const bool fresh = w->mode & (VARIANT_ALONE | OP);
	struct assay_text there = { 0 };
	char path[PATH_MAX];
	unsigned n = 0;
	int rc = 0;

	for (size_t i = 0; i < N_FILES && !rc; i++) {
		if (!is_written(w, &files[i]) || (fresh && !strncmp(files[i].path, "@BENCH@", 7)))
			continue;
		rc = make_path(w, &files[i], path, err);
		if (!rc)
			note_taken(path, &there, &n);
	}
	if (fresh && !rc)
		note_taken(get(w, KEY_BENCH), &there, &n);
	if (n && !rc)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%.400s %s there already, and nothing is overwritten%s",
				   there.s ? there.s : "a file", n > 1 ? "are" : "is",
				   w->mode == INIT && !w->q->here ? "; --here puts all of it into a folder of its own"
								  : "");
	assay_text_release(&there);
	return rc;
}

/* The folders on the way to @path, those noted that were not there. */
static int make_folders(struct writing *w, const char *path, struct assay_err *err)
{
	char part[PATH_MAX];
	int rc = 0;

	for (const char *slash = strchr(path + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (!mkdir(part, 0777))
			rc = assay_strings_add(&w->folders, part, err);
		else if (errno != EEXIST)
			rc = assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': %s", path, strerror(errno));
	}
	return rc;
}

/*
 * Measure one benchmark, since many programs print something whatever they are asked for. @benchmark NULL: whatever the
 * program measures. What is wrong is in @r.
 */
static int try_benchmark(const struct assay_new_request *q, const struct assay_catalog_op *op,
			 const struct assay_case *c, const char *benchmark, struct assay_result *r,
			 struct assay_err *err)
{
	struct assay_measure_options o = { .worker = { .interrupted = q->interrupted }, .verify_only = true };
	struct assay_topology *topology = NULL;
	struct assay_case one = *c;
	int rc = assay_topology_open(&topology, NULL, err);

	one.threads = one.all_threads ? 1 : one.threads;
	one.benchmark = benchmark;
	o.worker.topology = topology;
	if (!rc)
		rc = assay_program_case(&one, op, &o, r, err);
	assay_topology_close(topology);
	return rc;
}

/* The program is asked for its benchmarks where its bench says that it measures itself. */
static int ask_program(void *arg, const struct assay_catalog_op *op, const struct assay_case *c,
		       struct assay_case **out, size_t *n, struct assay_err *err)
{
	const struct assay_new_request *q = arg;
	struct assay_result r = { 0 };
	int rc = assay_program_benchmarks(op, c, NULL, q->interrupted, out, n, err);

	if (rc)
		return rc;
	rc = try_benchmark(q, op, c, *n ? (*out)[0].benchmark : NULL, &r, err);
	if (!rc && r.status != ASSAY_STATUS_OK && *n)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "'%.200s' lists the benchmark '%.100s', which it does not measure as --reads %s "
				   "expects: %.200s",
				   q->program, (*out)[0].benchmark, q->reads, r.reason);
	else if (!rc && !*n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%.200s' reports no benchmarks as --reads %s expects%s%.200s",
				   q->program, q->reads, r.reason[0] ? ": " : "", r.reason);
	if (rc) {
		free(*out);
		*out = NULL;
		*n = 0;
	}
	assay_result_release(&r);
	return rc;
}

/* The manifest of exactly the cases of the default suite, whose files are written by then. */
static int add_manifest(struct writing *w, struct assay_text *to, struct assay_err *err)
{
	const struct assay_plan_options o = { .bench_dir = get(w, KEY_BENCH),
					      .suite = ASSAY_DEFAULT_SUITE,
					      /* that of a program is to be told from 1, wherever it is read */
					      .all_threads = w->mode == PROGRAM ? 2 : 1,
					      .benchmarks = ask_program,
					      .benchmarks_arg = (void *)w->q };
	struct assay_plan plan = { 0 };
	char key[ASSAY_KEY_MAX];
	int rc = w->mode == PROGRAM ? assay_plan_programs(o.bench_dir, &w->with, err) : 0;

	if (!rc)
		rc = assay_plan_load(&plan, &o, &w->with, err);
	for (size_t i = 0; i < plan.n_cases && !rc && w->mode == PROGRAM; i++) {
		assay_case_portable_key(&plan.cases[i], key);
		rc = assay_strings_add(&w->r->cases, key, err);
	}
	if (!rc)
		rc = assay_manifest_format(ASSAY_DEFAULT_SUITE, plan.cases, plan.n_cases, &w->with, to, err);
	assay_plan_release(&plan);
	return rc;
}

/* A job with the command that builds this repository in place of `make`. */
static void add_with_build(const struct writing *w, const char *text, struct assay_text *to)
{
	static const char *const makes[] = { "        run: make\n", "    - make\n" };
	const char *command = w->q->build ? w->q->build : guess_build(), *at = NULL;

	for (size_t i = 0; i < 2 && !at && w->mode == PROGRAM; i++) {
		at = strstr(text, makes[i]);
		if (!at)
			continue;
		assay_text_addn(to, text, (size_t)(at - text) + strlen(makes[i]) - strlen("make\n"));
		assay_text_add(to, "'");
		for (const char *c = command; *c; c++)
			assay_text_addf(to, "%s%c", *c == '\'' ? "'" : "", *c);
		assay_text_add(to, "'\n");
		text = at + strlen(makes[i]);
	}
	assay_text_add(to, text);
}

static int add_copy(const struct writing *w, const char *name, struct assay_text *to, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], from[2 * ASSAY_INSTALLED_PATH_MAX], *text = NULL;
	size_t len = 0;
	int rc = assay_installed_template_dir(dir, sizeof(dir), err);

	if (rc)
		return rc;
	snprintf(from, sizeof(from), "%s/%s", dir, name);
	rc = assay_file_read(from, &text, &len, err);
	if (!rc)
		add_with_build(w, text, to);
	free(text);
	return rc;
}

static int write_file(struct writing *w, const struct file *f, struct assay_err *err)
{
	/* where a person named the source, its folder is there */
	const bool folders = w->mode & (OP_AT_HOME | INIT | PROGRAM) || strcmp(f->path, "@STEM@.c") != 0;
	const struct assay_template_values v = values(w);
	struct assay_text text = { 0 };
	char path[PATH_MAX];
	int rc = make_path(w, f, path, err);

	if (!rc)
		rc = f->template ? assay_template_fill(assay_template_text(f->template), &v, &text, err)
		     : f->copy   ? add_copy(w, f->copy, &text, err)
				 : add_manifest(w, &text, err);
	if (!rc && text.failed)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc && folders)
		rc = make_folders(w, path, err);
	if (!rc)
		rc = assay_user_path_error(assay_file_create(path, text.s, text.len, err), err);
	if (!rc) {
		rc = assay_strings_add(&w->r->files, path, err);
		if (rc)
			unlink(path);
	}
	assay_text_release(&text);
	return rc;
}

static int write_files(struct writing *w, struct assay_err *err)
{
	int rc = check_files(w, err);

	for (size_t i = 0; i < N_FILES && !rc; i++)
		if (is_written(w, &files[i]))
			rc = write_file(w, &files[i], err);
	if (rc) {
		for (size_t i = 0; i < w->r->files.n; i++)
			unlink(w->r->files.v[i]);
		for (size_t i = w->folders.n; i > 0; i--)
			rmdir(w->folders.v[i - 1]);
	}
	return rc;
}

/* ---- all of it ---- */

/* A line that somebody has to add by hand, where @file is there. */
static int tell_line(struct writing *w, const char *file, const char *line, struct assay_err *err)
{
	int rc = assay_strings_add(&w->r->add_to, file, err);

	return rc ? rc : assay_strings_add(&w->r->add, line, err);
}

static int tell_lines(struct writing *w, struct assay_err *err)
{
	char quick[PATH_MAX], use[ASSAY_NAME_MAX + 16];
	int rc = 0;

	if (w->mode == OP_AT_HOME) {
		snprintf(quick, sizeof(quick), "%s/suites/" ASSAY_DEFAULT_SUITE ".suite", get(w, KEY_BENCH));
		snprintf(use, sizeof(use), "use \"%s\" { }", get(w, KEY_PLUGIN));
		return assay_file_exists(quick) ? tell_line(w, quick, use, err) : 0;
	}
	if (!in_folder(w))
		return 0;
	if (assay_file_exists(GITLAB))
		rc = tell_line(w, GITLAB, "include: '/assay/gitlab-ci.yml'", err);
	/* results lie where commands are given, most likely at the top */
	if (rc || (w->mode == PROGRAM && !assay_file_exists(GITIGNORE)))
		return rc;
	rc = tell_line(w, GITIGNORE, "/assay.db*", err);
	return rc ? rc : tell_line(w, GITIGNORE, "/build/gate/", err);
}

static int decide(struct writing *w, struct assay_err *err)
{
	int rc = w->mode & (INIT | PROGRAM) ? check_top(err) : 0;

	if (w->mode == PROGRAM) {
		if (!rc)
			rc = name_program(w, err);
		return rc ? rc : check_files(w, err);
	}
	if (w->mode == OP)
		find_home(w);
	if (!rc)
		rc = assay_session_open(&w->session, w->q->r, err);
	if (!rc)
		rc = check_plugins(w, err);
	if (!rc)
		rc = w->q->variant ? check_variant(w, err) : check_op(w, err);
	if (!rc)
		rc = name_files(w, err);
	if (!rc && w->op)
		rc = find_suite(w, err);
	if (w->mode == VARIANT && !w->suite[0])
		w->mode = VARIANT_ALONE;
	if (!rc)
		rc = assay_strings_add(&w->tags, w->op ? "variant" : "op", err);
	if (!rc)
		rc = assay_strings_add(&w->tags, w->mode == INIT ? "init" : "new", err);
	return rc;
}

int assay_new_write(const struct assay_new_request *q, struct assay_new_result *out, struct assay_err *err)
{
	struct writing *w = calloc(1, sizeof(*w));
	const struct {
		enum key key;
		char **to;
	} told[] = {
		{ KEY_COMPILE, &out->compile }, { KEY_COMPILE_INSTALLED, &out->compile_installed },
		{ KEY_VERIFY, &out->verify },   { KEY_RUN, &out->run },
		{ KEY_KEEP, &out->keep },       { KEY_COMPARE, &out->compare },
		{ KEY_GATE, &out->gate },
	};
	int rc;

	*out = (struct assay_new_result){ .op = q->op,
					  .variant = q->program ? q->program : q->variant,
					  .right = !q->variant };
	if (!w)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	w->q = q;
	w->r = out;
	w->mode = q->program ? PROGRAM : q->repository ? INIT : q->variant ? VARIANT : OP;
	rc = decide(w, err);
	/* before anything is written, and after all that can be found out without it */
	if (!rc && w->mode == PROGRAM)
		rc = assay_new_try(q, out, err);
	if (!rc && w->mode & ANYWHERE)
		rc = set_words(w, err);
	if (!rc)
		rc = set_commands(w, err);
	if (!rc && w->op)
		rc = set_variant(w, err);
	if (!rc)
		rc = tell_lines(w, err);
	if (!rc)
		rc = out_of_memory(w, err);
	if (!rc)
		rc = write_files(w, err);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (!rc && w->value[told[i].key].len)
			*told[i].to = assay_text_take(&w->value[told[i].key]);
	for (size_t i = 0; i < N_KEYS; i++)
		assay_text_release(&w->value[i]);
	if (w->mode == PROGRAM)
		assay_catalog_release(&w->with);
	else
		free(w->with.variants);
	assay_strings_release(&w->tags);
	assay_strings_release(&w->folders);
	assay_session_close(&w->session);
	free(w);
	return rc;
}

void assay_new_release(struct assay_new_result *r)
{
	assay_strings_release(&r->files);
	assay_strings_release(&r->add_to);
	assay_strings_release(&r->add);
	assay_strings_release(&r->cases);
	free(r->compile);
	free(r->compile_installed);
	free(r->verify);
	free(r->run);
	free(r->keep);
	free(r->compare);
	free(r->gate);
	*r = (struct assay_new_result){ 0 };
}
