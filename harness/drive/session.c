/* SPDX-License-Identifier: Apache-2.0 */
/* The road that several commands share: topology, plugins, plan, what each case takes. */
#include "drive/session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay/op_generate_file.h"
#include "base/file.h"
#include "counters/groups.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/revision.h"
#include "formats/formats.h"
#include "judge/manifest.h"
#include "machine/cpu_features.h"
#include "machine/host_facts.h"
#include "measure/program.h"
#include "model/quantity.h"
#include "plan/plan.h"
#include "worker/main.h"
#include "worker/program/program.h"

/* Is one of @l the file @path, under whatever name? */
static bool has_file(const struct assay_strings *l, const char *path)
{
	struct stat a, b;

	for (size_t i = 0; i < l->n; i++)
		if (!stat(path, &a) && !stat(l->v[i], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

/* Those of the repository at hand, but for what is loaded already or named with --plugin. */
static int gather_own(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	struct assay_strings all = { 0 };
	int rc = q->no_default_plugins ? 0 : assay_project_plugins(&all, s->build, sizeof(s->build), err);

	for (size_t i = 0; i < s->built.n && !rc; i++)
		rc = assay_strings_add(&all, s->built.v[i], err);
	for (size_t i = 0; i < all.n && !rc; i++) {
		if (has_file(&q->plugins, all.v[i]) || has_file(&s->plugins, all.v[i]))
			continue;
		rc = assay_strings_add(&s->own, all.v[i], err);
		if (!rc)
			rc = assay_strings_add(&s->plugins, all.v[i], err);
	}
	assay_strings_release(&all);
	return rc;
}

/* The installed plugins, the repository's, then those named with --plugin; one named twice is loaded once. */
static int gather_plugins(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	int rc = q->no_default_plugins ? 0 : assay_installed_plugins(&s->plugins, err);

	if (!rc)
		rc = gather_own(s, q, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < q->plugins.n; i++) {
		const char *path = q->plugins.v[i];

		if (!assay_file_exists(path))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot open plugin '%s': no such file", path);
		if (assay_strings_has(&s->plugins, path))
			continue;
		rc = assay_strings_add(&s->plugins, path, err);
		if (rc)
			return rc;
	}
	if (!s->plugins.n)
		return assay_err_set(err, ASSAY_EUSAGE, "no plugins to load: name one with --plugin FILE");
	return 0;
}

static int find_benches(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	assay_project_top(s->folder, sizeof(s->folder));
	if (!q->plan.bench_dir)
		return assay_project_bench_dir(s->bench_dir, sizeof(s->bench_dir), err);
	if (!assay_file_exists(q->plan.bench_dir))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot open bench folder '%s': no such folder",
				     q->plan.bench_dir);
	snprintf(s->bench_dir, sizeof(s->bench_dir), "%s", q->plan.bench_dir);
	return 0;
}

int assay_session_suites(const struct assay_request *q, struct assay_strings *out, struct assay_err *err)
{
	struct assay_session s = { 0 };
	int rc = find_benches(&s, q, err);

	return rc ? rc : assay_plan_suites(s.bench_dir, out, err);
}

static const char *default_suite(const struct assay_session *s, const struct assay_request *q)
{
	struct assay_err none;

	return q->plan.models.n && !assay_plan_suite_check(s->bench_dir, ASSAY_MODEL_SUITE, &none)
		       ? ASSAY_MODEL_SUITE
		       : ASSAY_DEFAULT_SUITE;
}

int assay_session_suite_check(const struct assay_request *q, struct assay_err *err)
{
	struct assay_session s = { 0 };
	int rc = find_benches(&s, q, err);

	return rc ? rc : assay_plan_suite_check(s.bench_dir, q->plan.suite ? q->plan.suite : default_suite(&s, q), err);
}

/* Add @file by its full path, where there is one, unless it is there. */
static int add_model(struct assay_session *s, const char *file, struct assay_err *err)
{
	char full[PATH_MAX];
	const char *path = realpath(file, full) ? full : file;

	if (strchr(path, ':'))
		return assay_err_set(err, ASSAY_EUSAGE, "'%s' has a ':' in its path, which separates models", path);
	return assay_strings_has(&s->models, path) ? 0 : assay_strings_add(&s->models, path, err);
}

/*
 * Ops read the list and the prompt from the environment, which all processes that are started inherit. Behind an empty
 * entry of the list are files that only benches name.
 */
static int name_models(struct assay_session *s, const struct assay_request *q, size_t *n_named, struct assay_err *err)
{
	const char *before = getenv(ASSAY_MODEL_VARIABLE);
	struct assay_strings files = { 0 };
	struct assay_text list = { 0 };
	int rc = 0;

	for (size_t i = 0; i < q->plan.models.n && !rc; i++)
		rc = add_model(s, q->plan.models.v[i], err);
	if (!rc && !q->plan.models.n && before)
		rc = assay_strings_split(&files, before, ':', err);
	for (size_t i = 0; i < files.n && files.v[i][0] && !rc; i++)
		rc = add_model(s, files.v[i], err);
	*n_named = s->models.n;
	assay_strings_release(&files);
	files = (struct assay_strings){ 0 };
	if (!rc)
		rc = assay_plan_model_files(s->bench_dir, &files, err);
	for (size_t i = 0; i < files.n && !rc; i++)
		rc = add_model(s, files.v[i], err);
	assay_strings_release(&files);
	for (size_t i = 0; i < s->models.n; i++)
		assay_text_addf(&list, "%s%s%s", i == *n_named ? ":" : "", i ? ":" : "", s->models.v[i]);
	if (!rc && (list.failed || (list.s && setenv(ASSAY_MODEL_VARIABLE, list.s, 1))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the names of models");
	unsetenv(ASSAY_PROMPT_VARIABLE);
	if (!rc && q->plan.prompt && setenv(ASSAY_PROMPT_VARIABLE, q->plan.prompt, 1))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for a prompt");
	assay_text_release(&list);
	return rc;
}

static int ask_plugins(struct assay_session *s, const struct assay_request *q, const char *parts,
		       const struct assay_host_info *host, struct assay_err *err)
{
	int rc = assay_inventory_open(&s->inventory, &s->plugins, parts, host, err);

	if (!rc && q->isa)
		rc = assay_inventory_cap(s->inventory, q->isa, err);
	if (!rc)
		s->catalog = assay_inventory_catalog(s->inventory);
	return rc;
}

static int take_inventory(struct assay_session *s, const struct assay_request *q, const char *parts,
			  struct assay_err *err)
{
	size_t n_models;
	int rc = name_models(s, q, &n_models, err);

	if (!rc)
		rc = assay_topology_open(&s->topology, NULL, err);
	if (rc)
		return rc;
	assay_topology_host_info(s->topology, &s->host);
	s->host.vector_bits = q->isa ? assay_isa_vector_bits(q->isa) : 0;
	rc = ask_plugins(s, q, parts, &s->host, err);
	return rc ? rc : assay_plan_models(assay_inventory_extend(s->inventory), &s->models, n_models, err);
}

int assay_session_groups(struct assay_counter_groups *g, const char *bench_dir, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX + 16];
	struct assay_cpu_identity cpu;
	int rc = bench_dir ? 0 : assay_project_group_dir(dir, sizeof(dir), err);

	if (rc)
		return rc;
	assay_cpu_identity(&cpu);
	if (bench_dir)
		snprintf(dir, sizeof(dir), "%s/groups", bench_dir);
	return assay_counter_groups_load(g, dir, assay_counter_vendor(cpu.model), err);
}

int assay_session_open(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	int rc = find_benches(s, q, err);

	if (!rc)
		rc = assay_session_groups(&s->groups, q->plan.bench_dir, err);
	if (!rc)
		rc = gather_plugins(s, q, err);
	return rc ? rc : take_inventory(s, q, NULL, err);
}

int assay_session_names(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	int rc = gather_plugins(s, q, err);

	return rc ? rc : ask_plugins(s, q, NULL, NULL, err);
}

int assay_session_models(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	struct assay_plan_options plan = q->plan;
	size_t n_models = 0;
	int rc = find_benches(s, q, err);

	if (!rc)
		rc = name_models(s, q, &n_models, err);
	if (!rc)
		rc = assay_session_names(s, q, err);
	if (!rc)
		rc = assay_plan_models(assay_inventory_extend(s->inventory), &s->models, n_models, err);
	if (!rc)
		rc = assay_plan_programs(s->bench_dir, assay_inventory_extend(s->inventory), err);
	plan.bench_dir = s->bench_dir;
	plan.all_threads = 1;
	return rc ? rc : assay_plan_load(&s->plan, &plan, s->catalog, err);
}

int assay_session_open_with(struct assay_session *s, const struct assay_request *q, const struct assay_strings *plugins,
			    const char *parts, struct assay_err *err)
{
	int rc = find_benches(s, q, err);

	if (!rc)
		rc = assay_session_groups(&s->groups, q->plan.bench_dir, err);
	for (size_t i = 0; i < plugins->n && !rc; i++)
		rc = assay_strings_add(&s->plugins, plugins->v[i], err);
	return rc ? rc : take_inventory(s, q, parts, err);
}

/* A plugin that the user named, or made, must be usable; of an installed one a warning is enough. */
static int require_plugins(const struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			   struct assay_err *err)
{
	if (s->build[0] && !s->own.n && !q->plugins.n)
		return assay_err_set(err, ASSAY_EUSAGE, "this repository has no plugin yet: build it with '%s'",
				     s->build);
	for (size_t i = 0; i < s->catalog->n_plugins; i++) {
		const struct assay_catalog_plugin *p = &s->catalog->plugins[i];

		if (!p->error)
			continue;
		if (assay_strings_has(&q->plugins, p->path) || assay_strings_has(&s->own, p->path))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin: %s", p->error);
		assay_watch_warn(w, "a plugin is left out: %s; 'assay list plugins' shows all", p->error);
	}
	return 0;
}

/* Workers load what could be loaded: a plugin that was refused would fail the cases of all. */
static void leave_out_refused(struct assay_session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->plugins.n; i++)
		if (s->catalog->plugins[i].error)
			free(s->plugins.v[i]);
		else
			s->plugins.v[n++] = s->plugins.v[i];
	s->plugins.n = n;
}

static bool has_case(const struct assay_session *s, size_t plugin)
{
	for (size_t i = 0; i < s->plan.n_cases; i++) {
		const struct assay_case *c = &s->plan.cases[i];
		const struct assay_catalog_variant *v = assay_catalog_variant(s->catalog, c->op, c->variant);
		const struct assay_catalog_op *op = assay_catalog_op(s->catalog, c->op);

		if ((v && v->plugin == plugin) || (op && op->plugin == plugin))
			return true;
	}
	return false;
}

static bool could_have_case(const struct assay_session *s, size_t plugin)
{
	for (size_t i = 0; i < s->catalog->n_variants; i++)
		if (s->catalog->variants[i].plugin == plugin &&
		    assay_catalog_op(s->catalog, s->catalog->variants[i].op))
			return true;
	for (size_t i = 0; i < s->catalog->n_ops; i++)
		if (s->catalog->ops[i].plugin == plugin)
			return true;
	return false;
}

/* A plugin that the user named, and of which nothing runs, would look as if it were right. */
static void warn_of_idle_plugins(const struct assay_session *s, const struct assay_request *q,
				 const struct assay_watch *w)
{
	for (size_t i = 0; i < s->catalog->n_variants; i++) {
		const struct assay_catalog_variant *v = &s->catalog->variants[i];
		const char *path = v->plugin < s->catalog->n_plugins ? s->catalog->plugins[v->plugin].path : NULL;

		if (path && assay_strings_has(&q->plugins, path) && !assay_catalog_op(s->catalog, v->op))
			assay_watch_warn(w, "variant '%s' of '%s' is of op '%s', which no plugin has", v->name, path,
					 v->op);
	}
	for (size_t i = 0; i < s->catalog->n_plugins && !q->plan.only.n; i++)
		if (assay_strings_has(&q->plugins, s->catalog->plugins[i].path) && could_have_case(s, i) &&
		    !has_case(s, i))
			assay_watch_warn(w,
					 "the suite has no case of plugin '%s': only benches that name its ops and "
					 "variants run them",
					 s->catalog->plugins[i].path);
}

/* CPUs and threads that the user asks for by number must exist: a missing one is named, not silently skipped. */
static int check_placement(const struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	size_t most = q->placement.n_cpus;
	struct assay_err why;
	int *cpus, rc;

	for (size_t i = 0; i < q->plan.n_threads; i++)
		if (q->plan.threads[i] != ASSAY_THREADS_DOUBLING && q->plan.threads[i] > most)
			most = q->plan.threads[i];
	if (!most)
		return 0;
	cpus = calloc(most, sizeof(*cpus));
	if (!cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_placement_pick(s->topology, &q->placement, most, cpus, &why);
	free(cpus);
	if (rc)
		return assay_err_set(err, rc, "%.900s (--threads, ASSAY_THREADS, --cpus)", why.text);
	return assay_cpu_quota_check(most, err);
}

static int check_devices(const struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < q->plan.devices.n && !rc; i++)
		rc = assay_catalog_check_device(s->catalog, q->plan.devices.v[i], "the device (--device, ASSAY_DEVICE)",
						err);
	return rc;
}

/* The meaning of `all`: every core that may be used, as far as the container's quota keeps them running. */
static int count_threads(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	s->all_threads = (unsigned)assay_placement_max(s->topology, &q->placement);
	while (s->all_threads > 1 && assay_cpu_quota_check(s->all_threads, NULL))
		s->all_threads--;
	return assay_cpu_quota_check(s->all_threads, err);
}

int assay_session_counters_check(const struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	struct assay_strings published = { 0 };
	struct assay_counter_choice choice = { 0 };
	int rc = 0;

	if (q->counter_groups)
		rc = q->counter_groups[0] ? assay_counter_choice_add(&choice, &s->groups, q->counter_groups, err)
					  : assay_err_set(err, ASSAY_EUSAGE, "expected groups such as cache,branch");
	if (rc)
		assay_err_prefix(err, "bad --counters '%s'", q->counter_groups);
	/* those of the cases exist: the plan was told which there are */
	for (size_t i = 0; i < s->plan.n_cases && !rc; i++)
		rc = assay_counter_choice_add(&choice, &s->groups, s->plan.cases[i].counters, err);
	for (size_t i = 0; i < s->catalog->n_ops && !rc; i++)
		for (size_t k = 0; k < s->catalog->ops[i].counters.n && !rc; k++)
			rc = assay_strings_add(&published, s->catalog->ops[i].counters.v[k], err);
	/* without the installed ops their counters are not there, but no misspelling either */
	if (!rc && !q->no_default_plugins)
		rc = assay_counter_choice_check(&choice, &published, err);
	for (size_t i = 0; i < q->events.n && !rc; i++) {
		rc = assay_counter_event_check(q->events.v[i], &s->groups, &published, err);
		if (rc)
			assay_err_prefix(err, "bad --events");
	}
	assay_counter_choice_release(&choice);
	assay_strings_release(&published);
	return rc;
}

static int group_names(const struct assay_counter_groups *g, struct assay_strings *names, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < g->n && !rc; i++)
		rc = assay_strings_add(names, g->v[i].name, err);
	return rc;
}

/* Formats that programs are said to write; "auto" is none of a program that is to be asked for it. */
static int check_formats(const struct assay_session *s, struct assay_err *err)
{
	const struct assay_format *f;
	int rc = 0;

	for (size_t i = 0; i < s->catalog->n_ops && !rc; i++) {
		const struct assay_catalog_op *op = &s->catalog->ops[i];

		if (!op->program || !op->program->reads)
			continue;
		rc = assay_format_find(op->program->reads, &f, err);
		if (!rc && !f)
			rc = assay_err_set(err, ASSAY_EUSAGE, "expected the name of a format such as google-benchmark");
		if (rc)
			assay_err_prefix(err, "bench '%s' reads '%.40s'", op->name, op->program->reads);
	}
	return rc;
}

/* A model or a prompt that no case takes was meant for another suite. */
static int check_models(const struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	const bool named = q->plan.models.n > 0;

	if (!named && !q->plan.prompt)
		return 0;
	for (size_t i = 0; i < s->plan.n_cases; i++) {
		const struct assay_catalog_op *op = assay_catalog_op(s->catalog, s->plan.cases[i].op);

		if (op && op->model_axis)
			return 0;
	}
	return assay_err_set(err, ASSAY_EUSAGE,
			     "%s '%.200s', and suite '%s' has no case that takes a model: name one that has, such as "
			     "--suite " ASSAY_MODEL_SUITE,
			     named ? "--model names" : "--prompt is", named ? q->plan.models.v[0] : q->plan.prompt,
			     s->plan.suite);
}

int assay_session_plan(struct assay_session *s, const struct assay_request *q, struct assay_err *err)
{
	struct assay_strings groups = { 0 };
	struct assay_plan_options plan = q->plan;
	int rc = check_placement(s, q, err);

	if (!rc)
		rc = check_devices(s, q, err);
	if (!rc)
		rc = count_threads(s, q, err);
	if (!rc)
		rc = group_names(&s->groups, &groups, err);
	plan.bench_dir = s->bench_dir;
	plan.suite = plan.suite ? plan.suite : default_suite(s, q);
	plan.counter_groups = &groups;
	plan.all_threads = s->all_threads;
	if (!rc)
		rc = assay_plan_programs(s->bench_dir, assay_inventory_extend(s->inventory), err);
	if (!rc)
		rc = check_formats(s, err);
	plan.benchmarks = assay_session_benchmarks;
	plan.benchmarks_arg = s;
	if (!rc)
		rc = assay_plan_load(&s->plan, &plan, s->catalog, err);
	if (!rc)
		rc = check_models(s, q, err);
	assay_strings_release(&groups);
	return rc ? rc : assay_session_counters_check(s, q, err);
}

int assay_session_manifest(const struct assay_session *s, struct assay_text *out, struct assay_err *err)
{
	return assay_manifest_format(s->plan.suite, s->plan.cases, s->plan.n_cases, s->catalog, out, err);
}

/* A limit holds for the worker as a whole, so what it takes by itself counts, too. */
static int check_limit(const struct assay_session *s, size_t i, uint64_t own, struct assay_err *err)
{
	const struct assay_case *c = &s->plan.cases[i];
	uint64_t bytes = s->facts[i].bytes + own;
	char need[64], itself[64], have[64];

	if (!c->memory_bytes || bytes <= c->memory_bytes)
		return 0;
	assay_quantity_text((double)bytes, "B", true, need, sizeof(need));
	assay_quantity_text((double)own, "B", true, itself, sizeof(itself));
	assay_quantity_text((double)c->memory_bytes, "B", true, have, sizeof(have));
	return assay_err_set(
		err, ASSAY_EUSAGE,
		"case '%s' needs %s, %s of them for the worker itself, its limit is %s: raise --memory-limit (or "
		"ASSAY_MEMORY_LIMIT), or leave the case out with --only",
		c->key, need, itself, have);
}

/* 0 where no case has a limit. */
static int worker_bytes(const struct assay_session *s, uint64_t *own, struct assay_err *err)
{
	bool limited = false;

	for (size_t i = 0; i < s->plan.n_cases; i++)
		limited |= s->plan.cases[i].memory_bytes != 0;
	*own = 0;
	return limited ? assay_inventory_worker_bytes(s->inventory, own, err) : 0;
}

/* @own is what a worker takes by itself. */
static int check_memory(const struct assay_session *s, uint64_t own, struct assay_err *err)
{
	struct assay_memory_state mem;
	int rc = assay_memory_state(&mem, err);

	for (size_t i = 0; i < s->plan.n_cases && !rc; i++) {
		char need[64], have[64];

		if (s->plan.cases[i].skip_reason[0] || !s->facts[i].timed)
			continue;
		rc = check_limit(s, i, own, err);
		if (rc || s->facts[i].bytes <= mem.available_bytes)
			continue;
		assay_quantity_text((double)s->facts[i].bytes, "B", true, need, sizeof(need));
		assay_quantity_text((double)mem.available_bytes, "B", true, have, sizeof(have));
		rc = assay_err_set(
			err, ASSAY_EUSAGE,
			"case '%s' needs %s, but only %s is available: free memory, or leave the case out with --only",
			s->plan.cases[i].key, need, have);
	}
	return rc;
}

static int describe_smaller(struct assay_session *s, struct assay_err *err)
{
	const size_t n = s->plan.n_smaller;
	struct assay_case *cases = calloc(n + 1, sizeof(*cases));
	int rc;

	s->smaller_facts = calloc(n + 1, sizeof(*s->smaller_facts));
	for (size_t i = 0; cases && i < n; i++)
		cases[i] = s->plan.smaller[i].c;
	rc = cases && s->smaller_facts ? assay_inventory_describe(s->inventory, cases, n, s->smaller_facts, err)
				       : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	free(cases);
	return rc;
}

/* Programs that are not where they are to run cannot be measured, and their cases say so. */
static void find_programs(struct assay_session *s)
{
	for (size_t i = 0; i < s->plan.n_cases; i++) {
		const struct assay_catalog_op *op = assay_catalog_op(s->catalog, s->plan.cases[i].op);
		struct assay_case_facts *f = &s->facts[i];
		struct assay_err why = { 0 };

		if (!op || !op->program ||
		    !assay_program_check(s->folder[0] ? s->folder : NULL, &op->program->words, &why))
			continue;
		*f = (struct assay_case_facts){ .failed = true };
		snprintf(f->reason, sizeof(f->reason), "%.250s", why.text);
	}
}

int assay_session_facts(struct assay_session *s, struct assay_err *err)
{
	uint64_t own;
	int rc;

	s->facts = calloc(s->plan.n_cases ? s->plan.n_cases : 1, sizeof(*s->facts));
	if (!s->facts)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = worker_bytes(s, &own, err);
	if (!rc)
		rc = assay_inventory_describe(s->inventory, s->plan.cases, s->plan.n_cases, s->facts, err);
	if (!rc)
		find_programs(s);
	if (!rc && s->plan.n_smaller)
		rc = describe_smaller(s, err);
	return rc ? rc : check_memory(s, own, err);
}

static int build_tree(struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
		      struct assay_err *err)
{
	struct assay_side_source tree = { 0 };
	int rc = assay_session_suite_check(q, err);

	if (!rc && q->revision.hash[0])
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "--revision tells what plugin files were built from, and --build builds the working "
				   "tree: drop one");
	if (!rc)
		rc = assay_revision_resolve_watched(NULL, NULL, NULL, w, &tree, err);
	if (!rc) {
		s->built = tree.plugins;
		tree.plugins = (struct assay_strings){ 0 };
	}
	assay_side_source_release(&tree);
	return rc;
}

int assay_session_ready(struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			struct assay_err *err)
{
	int rc = q->build ? build_tree(s, q, w, err) : 0;

	s->interrupted = w->interrupted;
	if (!rc)
		rc = assay_session_open(s, q, err);
	if (!rc)
		rc = require_plugins(s, q, w, err);
	if (!rc)
		leave_out_refused(s);
	if (!rc)
		rc = assay_session_plan(s, q, err);
	if (!rc)
		warn_of_idle_plugins(s, q, w);
	return rc ? rc : assay_session_facts(s, err);
}

struct assay_measure_options assay_session_measure(const struct assay_session *s, const struct assay_request *q,
						   const struct assay_clock *clock, const struct assay_watch *w)
{
	return (struct assay_measure_options){
		.worker = { .settings = q->settings,
			    .plugins = &s->plugins,
			    .topology = s->topology,
			    .host = &s->host,
			    .clock = clock,
			    .interrupted = w->interrupted },
		.placement = q->placement,
		.folder = s->folder[0] ? s->folder : NULL,
		.groups = &s->groups,
		.counter_groups = q->counter_groups,
		.events = &q->events,
	};
}

void assay_session_close(struct assay_session *s)
{
	assay_session_forget_benchmarks(s);
	free(s->facts);
	free(s->smaller_facts);
	assay_plan_release(&s->plan);
	assay_counter_groups_release(&s->groups);
	assay_inventory_close(s->inventory);
	assay_topology_close(s->topology);
	assay_strings_release(&s->plugins);
	assay_strings_release(&s->own);
	assay_strings_release(&s->models);
	assay_strings_release(&s->built);
	*s = (struct assay_session){ 0 };
}

/* ---- entry ---- */

bool assay_drive_entry(int argc, char **argv, int *status)
{
	if (!assay_worker_is_command(argc, argv))
		return false;
	*status = assay_worker_main(argc, argv);
	return true;
}

/* ---- benchmarks: a program is asked once for them, though several suites may be planned ---- */

/* The answer of a program in one of its cases. */
struct assay_known_benchmarks {
	char key[ASSAY_KEY_MAX];
	struct assay_case *cases; /* malloc'ed */
	size_t n;
};

static int copy_cases(const struct assay_known_benchmarks *k, struct assay_case **out, size_t *n, struct assay_err *err)
{
	*out = malloc((k->n + 1) * sizeof(**out));
	if (!*out)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	memcpy(*out, k->cases, k->n * sizeof(**out));
	*n = k->n;
	return 0;
}

static int ask(struct assay_session *s, const struct assay_catalog_op *op, const struct assay_case *c,
	       struct assay_known_benchmarks *k, struct assay_err *err)
{
	struct assay_known_benchmarks *grown;
	int rc =
		assay_program_benchmarks(op, c, s->folder[0] ? s->folder : NULL, s->interrupted, &k->cases, &k->n, err);

	if (rc)
		return rc;
	grown = realloc(s->known, (s->n_known + 1) * sizeof(*grown));
	if (!grown) {
		free(k->cases);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	}
	s->known = grown;
	s->known[s->n_known++] = *k;
	return 0;
}

int assay_session_benchmarks(void *session, const struct assay_catalog_op *op, const struct assay_case *c,
			     struct assay_case **out, size_t *n, struct assay_err *err)
{
	struct assay_known_benchmarks fresh = { .n = 0 };
	struct assay_session *s = session;
	struct assay_case of = *c;
	int rc = assay_case_make_key(&of, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < s->n_known; i++)
		if (!strcmp(s->known[i].key, of.key))
			return copy_cases(&s->known[i], out, n, err);
	memcpy(fresh.key, of.key, sizeof(fresh.key));
	rc = ask(s, op, c, &fresh, err);
	return rc ? rc : copy_cases(&fresh, out, n, err);
}

void assay_session_forget_benchmarks(struct assay_session *s)
{
	for (size_t i = 0; i < s->n_known; i++)
		free(s->known[i].cases);
	free(s->known);
	s->known = NULL;
	s->n_known = 0;
}
