/* SPDX-License-Identifier: Apache-2.0 */
/* assay plot: the history of one case as a picture, or of all cases as a page. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/cli_options.h"
#include "model/verdict.h"
#include "reports/trend.h"
#include "store/store.h"

struct plot_args {
	struct assay_settings s;
	const char *what; /* "trend" or "report" */
	const char *key, *out;
};

static int set_argument(struct plot_args *a, const char *arg)
{
	struct assay_err *err = &a->s.err;

	if (!a->what) {
		if (strcmp(arg, "trend") && strcmp(arg, "report"))
			return assay_err_set(err, ASSAY_EUSAGE,
					     "cannot plot '%s': expected 'trend CASE -o FILE' or 'report -o DIR'", arg);
		a->what = arg;
		return 0;
	}
	if (a->key || strcmp(a->what, "trend"))
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': the output is named with -o", arg);
	a->key = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case 'o':
		a->out = arg;
		return 0;
	case ARGP_KEY_ARG:
		return set_argument(a, arg) ? EINVAL : 0;
	case ARGP_KEY_END:
		if (!a->what)
			assay_err_set(&a->s.err, ASSAY_EUSAGE,
				      "nothing to plot: expected 'trend CASE -o FILE' or 'report -o DIR'");
		else if (!strcmp(a->what, "trend") && !a->key)
			assay_err_set(&a->s.err, ASSAY_EUSAGE, "no case given: assay plot trend CASE -o FILE.svg");
		else if (!a->out || !a->out[0])
			assay_err_set(&a->s.err, ASSAY_EUSAGE, "no output given: name one with -o %s",
				      !strcmp(a->what, "trend") ? "FILE.svg" : "DIR");
		return a->s.err.code ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "output", 'o', "PATH", 0, "Picture (.svg or .png) of a trend, folder of a report", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_store, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"trend CASE\nreport",
	"Draw the stored runs of a case over time (median with its interval), or of all cases into a folder with a "
	"page. The runs are "
	"those of the machine that measured last.\v"
	"example:\n  assay plot trend 'matmul.ternary/avx2/m=2560,k=2560,n=1/t=1/warm' -o trend.svg",
	children,
	NULL,
	NULL,
};

/* The key itself, or the only one that a glob matches. */
static int find_key(const struct assay_strings *keys, const char *pattern, const char **out, struct assay_err *err)
{
	const char *first = NULL;
	size_t n = 0;

	if (assay_strings_has(keys, pattern)) {
		*out = pattern;
		return 0;
	}
	for (size_t i = 0; i < keys->n; i++) {
		if (!assay_glob_match(pattern, keys->v[i]))
			continue;
		if (!n++)
			first = keys->v[i];
	}
	if (!n)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no stored case matches '%s': 'assay show last' lists those of the last run",
				     pattern);
	if (n > 1)
		return assay_err_set(err, ASSAY_EUSAGE, "%zu stored cases match '%s', the first is '%s': name one", n,
				     pattern, first);
	*out = first;
	return 0;
}

static int copy_runs(const struct assay_trend_point *p, size_t n, struct assay_trend_run **out, struct assay_err *err)
{
	struct assay_trend_run *r = calloc(n ? n : 1, sizeof(*r));

	if (!r)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		r[i] = (struct assay_trend_run){ .run_id = p[i].run_id,
						 .started_ns = p[i].started_ns,
						 .dirty = p[i].dirty,
						 .median_ns = p[i].median_ns,
						 .ci95_lo_ns = p[i].ci95_lo_ns,
						 .ci95_hi_ns = p[i].ci95_hi_ns };
		snprintf(r[i].commit, sizeof(r[i].commit), "%s", p[i].commit);
	}
	*out = r;
	return 0;
}

/* The machine of the newest run. */
static int last_machine(struct assay_store *store, struct assay_run_info *info, const char *db, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_runs(store, NULL, 1, &runs, &n, err);

	if (!rc && !n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no run is stored in '%s': 'assay run' makes one", db);
	if (!rc)
		*info = runs[0];
	free(runs);
	return rc;
}

/* History of @key on @machine into @series and @link; the caller frees *runs. ASSAY_ENOTFOUND: never measured there. */
static int history(struct assay_store *store, const char *key, const struct assay_run_info *machine,
		   struct assay_trend_series *series, struct assay_trend_run **runs, struct assay_err *err)
{
	struct assay_trend_point *points = NULL;
	size_t n = 0;
	int rc = assay_store_trend(store, key, machine->machine_id, &points, &n, err);

	if (!rc && !n)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "case '%s' was never measured on this machine", key);
	if (!rc)
		rc = copy_runs(points, n, runs, err);
	if (!rc)
		*series = (struct assay_trend_series){
			.key = key, .machine = machine->machine_label, .runs = *runs, .n_runs = n
		};
	free(points);
	return rc;
}

static int plot_trend(const struct plot_args *a, struct assay_store *store, const struct assay_strings *keys,
		      struct assay_err *err)
{
	struct assay_run_info machine;
	struct assay_trend_series series;
	struct assay_trend_run *runs = NULL;
	const char *key = NULL;
	int rc = find_key(keys, a->key, &key, err);

	if (!rc)
		rc = last_machine(store, &machine, a->s.db, err);
	if (!rc)
		rc = history(store, key, &machine, &series, &runs, err);
	if (!rc)
		rc = assay_cli_user_path(assay_trend_plot(&series, a->out, err), err);
	if (!rc)
		printf("%zu runs of %s drawn in %s\n", series.n_runs, key, a->out);
	free(runs);
	return rc;
}

struct page {
	struct assay_trend_link *links;
	char (*files)[ASSAY_TREND_NAME_MAX];
	char (*last)[64];
	size_t n;
};

static int add_plot(struct page *page, const char *folder, const struct assay_trend_series *s, struct assay_err *err)
{
	char path[4096 + ASSAY_TREND_NAME_MAX];
	double first = s->runs[0].median_ns, last = s->runs[s->n_runs - 1].median_ns;
	size_t i = page->n;
	int rc;

	assay_trend_file_name(s->key, ".svg", page->files[i]);
	assay_emit_quantity(last * 1e-9, "s", true, page->last[i], sizeof(page->last[i]));
	snprintf(path, sizeof(path), "%s/%s", folder, page->files[i]);
	rc = assay_cli_user_path(assay_trend_plot(s, path, err), err);
	if (rc)
		return rc;
	page->links[i] = (struct assay_trend_link){ .key = s->key,
						    .file = page->files[i],
						    .last = page->last[i],
						    .change_frac = s->n_runs > 1 && first > 0 ? last / first - 1 : NAN,
						    .n_runs = s->n_runs };
	page->n++;
	return 0;
}

static int plot_all(struct page *page, const struct plot_args *a, struct assay_store *store,
		    const struct assay_strings *keys, const struct assay_run_info *machine, struct assay_err *err)
{
	bool bar = isatty(STDERR_FILENO);
	int rc = 0;

	for (size_t i = 0; i < keys->n && !rc; i++) {
		struct assay_trend_series series;
		struct assay_trend_run *runs = NULL;

		if (bar)
			fprintf(stderr, "\rdrawing %zu/%zu\033[K", i + 1, keys->n);
		rc = history(store, keys->v[i], machine, &series, &runs, err);
		if (!rc)
			rc = add_plot(page, a->out, &series, err);
		else if (rc == ASSAY_ENOTFOUND)
			rc = 0; /* measured on other machines only */
		free(runs);
	}
	if (bar)
		fputs("\r\033[K", stderr);
	return rc;
}

static int plot_report(const struct plot_args *a, struct assay_store *store, const struct assay_strings *keys,
		       struct assay_err *err)
{
	struct page page = { 0 };
	struct assay_run_info machine;
	int rc = last_machine(store, &machine, a->s.db, err);

	page.links = calloc(keys->n + 1, sizeof(*page.links));
	page.files = calloc(keys->n + 1, sizeof(*page.files));
	page.last = calloc(keys->n + 1, sizeof(*page.last));
	if (!rc && (!page.links || !page.files || !page.last))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		rc = assay_cli_user_path(assay_file_mkdirs(a->out, err), err);
	if (!rc)
		rc = plot_all(&page, a, store, keys, &machine, err);
	if (!rc)
		rc = assay_cli_user_path(assay_trend_index(a->out, machine.machine_label, page.links, page.n, err),
					 err);
	if (!rc)
		printf("%zu plots in %s/index.html\n", page.n, a->out);
	free(page.links);
	free(page.files);
	free(page.last);
	return rc;
}

int assay_cmd_plot(int argc, char **argv)
{
	struct plot_args a = { 0 };
	struct assay_store *store = NULL;
	struct assay_strings keys = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = assay_store_open(&store, a.s.db, ASSAY_STORE_READ, &err);
	if (rc) {
		status = assay_cli_fail(&err);
		goto out;
	}
	rc = assay_store_keys(store, &keys, &err);
	if (!rc)
		rc = !strcmp(a.what, "trend") ? plot_trend(&a, store, &keys, &err)
					      : plot_report(&a, store, &keys, &err);
	status = rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
out:
	assay_strings_release(&keys);
	assay_store_close(store);
	assay_settings_release(&a.s);
	return status;
}
