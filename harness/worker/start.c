/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of a worker is this program, started once more with a hidden command and the numbers of its files; a
 * simulator's command may stand before it. Everything else that it needs to know is in the page.
 */
#include "worker/start.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/heap/heap.h"
#include "counters/heap/sites.h"
#include "worker/plugin/loader.h"
#include "worker/main.h"

#define MAX_PREFIX 32

int assay_worker_spec_fill(struct assay_worker_spec *s, const struct assay_worker_options *o, struct assay_err *err)
{
	const struct assay_strings *plugins = o->setup.plugins;
	const struct assay_case *c = o->c;
	size_t at = 0;

	if (c->threads > ASSAY_PAGE_CPUS)
		return assay_err_set(err, ASSAY_ELIMIT, "%u threads asked, %d are possible", c->threads,
				     ASSAY_PAGE_CPUS);
	s->settings = o->setup.settings;
	s->checks = o->checks;
	s->checks.audit &= !s->settings.even_if_wrong;
	s->c = *c;
	s->try_pace = o->try_pace;
	for (unsigned i = 0; i < c->threads; i++) {
		s->cpus[i] = o->cpus[i];
		s->core_least[i] = assay_core_pace_known(o->pace, o->cpus[i]);
	}
	s->copies = o->copies;
	s->fixed_layout = o->launch != NULL;
	s->clock = *o->setup.clock;
	s->host = *o->setup.host;
	s->cells_from_memory = o->cells_from_memory;
	s->common = (uint32_t)o->common;
	if (o->cache_model)
		s->cache_model = *o->cache_model;
	snprintf(s->counts_path, sizeof(s->counts_path), "%s", o->counts_path ? o->counts_path : "");
	if (o->events && strlen(o->events) >= sizeof(s->events))
		return assay_err_set(err, ASSAY_ELIMIT, "the names of all events take more than %zu bytes",
				     sizeof(s->events));
	snprintf(s->events, sizeof(s->events), "%s", o->events ? o->events : "");
	for (size_t i = 0; i < plugins->n; i++) {
		int n = snprintf(s->plugins + at, sizeof(s->plugins) - at, "%c%s\n",
				 o->setup.parts ? o->setup.parts[i] : ASSAY_PART_ALL, plugins->v[i]);

		if (n < 0 || (size_t)n >= sizeof(s->plugins) - at)
			return assay_err_set(err, ASSAY_ELIMIT, "the paths of the plugins take more than %zu bytes",
					     sizeof(s->plugins));
		at += (size_t)n;
	}
	return 0;
}

/* The recorder of the heap must come before everything else in the worker, including the user's own preloads. */
static const char *preload_variable(const struct assay_worker_options *o, char *buf, size_t size)
{
	char path[ASSAY_PRELOADED_PATH_MAX];

	if ((!o->heap_sites && (!o->events || !assay_heap_wanted(o->events))) ||
	    assay_heap_library(path, sizeof(path), NULL))
		return NULL;
	assay_preloaded_variable(path, buf, size);
	return buf;
}

/* Behind those that @env has, which ends with NULL and has room for them. */
static void add_variables(const char **env, const char *const *more)
{
	while (*env)
		env++;
	for (size_t i = 0; more && more[i] && i < ASSAY_WORKER_MOST_ENV; i++)
		env[i] = more[i];
}

int assay_worker_process_start(struct assay_process *process, const struct assay_worker_options *o,
			       const struct assay_worker_place *at, struct assay_err *err)
{
	char page_number[16], pair_number[16], program[4096] = "/proc/self/exe", preload[2 * ASSAY_PRELOADED_PATH_MAX];
	char folder[4200], sample[64];
	const char *env[5 + ASSAY_WORKER_MOST_ENV] = { preload_variable(o, preload, sizeof(preload)) };
	const char *argv[MAX_PREFIX + 6];
	struct assay_process_options po = { .argv = argv,
					    .env = env,
					    .keep_fd = at->page_fd,
					    .second_fd = at->pair_fd,
					    .stdout_fd = at->words_fd,
					    .stderr_fd = at->words_fd,
					    .interrupted = o->setup.interrupted,
					    .fixed_addresses = o->setup.settings.layout_seed || o->launch };
	size_t n = 0;

	if (o->launch) {
		/* the name is resolved by another program, whose own it would be */
		if (!realpath("/proc/self/exe", program))
			return assay_err_set(err, ASSAY_EIO, "cannot find the running program: %s", strerror(errno));
		while (o->launch->prefix[n] && n < MAX_PREFIX) {
			argv[n] = o->launch->prefix[n];
			n++;
		}
		po.env = o->launch->env;
		po.only_env = true;
	}
	if (o->heap_sites && env[0]) {
		snprintf(folder, sizeof(folder), ASSAY_HEAP_SITES_FOLDER "=%s", o->heap_sites);
		snprintf(sample, sizeof(sample), ASSAY_HEAP_SITES_SAMPLE "=%" PRIu64, o->heap_sample_bytes);
		env[1] = folder;
		env[2] = sample;
		env[3] = ASSAY_HEAP_SITES_WAIT "=1";
	}
	add_variables(env, o->env);
	/* as long for both sides of a pair, since arguments move the stack */
	snprintf(page_number, sizeof(page_number), "%04d", at->page_fd);
	snprintf(pair_number, sizeof(pair_number), "%d", at->pair_fd);
	argv[n++] = program;
	argv[n++] = ASSAY_WORKER_COMMAND;
	argv[n++] = page_number;
	argv[n++] = pair_number;
	argv[n++] = at->index ? "1" : "0";
	argv[n] = NULL;
	return assay_process_start(process, &po, err);
}
