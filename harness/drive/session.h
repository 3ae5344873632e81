/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that several commands share: topology, plugins, plan, what each case takes. */
#ifndef ASSAY_DRIVE_SESSION_H
#define ASSAY_DRIVE_SESSION_H

#include <signal.h>
#include <stdbool.h>

#include "counters/groups.h"
#include "drive/request.h"
#include "drive/watch.h"
#include "measure/options.h"
#include "model/catalog.h"
#include "plan/plan.h"
#include "worker/inventory/inventory.h"

struct assay_known_benchmarks;

/* All-zero is closed. */
struct assay_session {
	struct assay_topology *topology;
	struct assay_host_info host;
	struct assay_strings plugins; /* paths, the installed ones first; once ready, without the refused */
	struct assay_strings own;     /* those of them that the repository at hand made */
	struct assay_strings built;   /* that q->build made; those that are loaded are among @own */
	struct assay_strings models;  /* files, those that were asked for first */
	char build[256];              /* the command that makes them; "": it has no benches of its own */
	struct assay_inventory *inventory;
	const struct assay_catalog *catalog;
	char bench_dir[4096];
	char folder[4096]; /* that programs run in; "": the current one */
	struct assay_counter_groups groups;
	const volatile sig_atomic_t
		*interrupted;                 /* ends a program that is asked for its benchmarks; NULL: nothing does */
	struct assay_known_benchmarks *known; /* what programs answered; malloc'ed */
	size_t n_known;
	unsigned all_threads; /* what `all` means */
	struct assay_plan plan;
	struct assay_case_facts *facts;         /* one a case of the plan */
	struct assay_case_facts *smaller_facts; /* one a smaller shape of it */
};

/* The groups of counters below @bench_dir; NULL: those of the repository or the program. Release in either case. */
int assay_session_groups(struct assay_counter_groups *g, const char *bench_dir, struct assay_err *err);
/* Do the groups and events of @q exist? To be asked before anything is measured. ASSAY_EUSAGE with the nearest name. */
int assay_session_counters_check(const struct assay_session *s, const struct assay_request *q, struct assay_err *err);
/* The names of all suites, sorted. */
int assay_session_suites(const struct assay_request *q, struct assay_strings *out, struct assay_err *err);
/* Is there such a suite? For commands that build before they plan: ASSAY_ENOTFOUND with the nearest name. */
int assay_session_suite_check(const struct assay_request *q, struct assay_err *err);
/* Topology, plugins and what they offer. Close in either case. */
int assay_session_open(struct assay_session *s, const struct assay_request *q, struct assay_err *err);
/* What the plugins offer, for a caller that only lists names. Close in either case. */
int assay_session_names(struct assay_session *s, const struct assay_request *q, struct assay_err *err);
/* The cases of a suite, for a caller that only lists its models. Close in either case. */
int assay_session_models(struct assay_session *s, const struct assay_request *q, struct assay_err *err);
/*
 * As assay_session_open, with these plugins and parts (see assay_inventory_open) instead of the installed and named
 * ones.
 */
int assay_session_open_with(struct assay_session *s, const struct assay_request *q, const struct assay_strings *plugins,
			    const char *parts, struct assay_err *err);
/* The cases of the suite, without asking plugins about them. */
int assay_session_plan(struct assay_session *s, const struct assay_request *q, struct assay_err *err);
/* Asks a program, once, in the folder of @session: see struct assay_plan_options. */
int assay_session_benchmarks(void *session, const struct assay_catalog_op *op, const struct assay_case *c,
			     struct assay_case **out, size_t *n, struct assay_err *err);
void assay_session_forget_benchmarks(struct assay_session *s);
/* The manifest of the planned suite, as text. */
int assay_session_manifest(const struct assay_session *s, struct assay_text *out, struct assay_err *err);
/* Then find out what each case takes, and whether this machine has it: ASSAY_EUSAGE before anything is measured. */
int assay_session_facts(struct assay_session *s, struct assay_err *err);
/*
 * All of these, for commands that measure as the request says. If a plugin that the user named is refused, that is
 * ASSAY_EUSAGE; if an installed one is, it is a warning. Close in either case.
 */
int assay_session_ready(struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			struct assay_err *err);
/* How its cases are measured, by @clock. All that the options point to stays the callers'. */
struct assay_measure_options assay_session_measure(const struct assay_session *s, const struct assay_request *q,
						   const struct assay_clock *clock, const struct assay_watch *w);
void assay_session_close(struct assay_session *s);

/* ---- entry ---- */

/* A program that drives measurements must call this first, because the program is also its own worker. */

/* To be called at the start of main(). True: it was a worker, has done its work, and *status is to be returned. */
bool assay_drive_entry(int argc, char **argv, int *status);

#endif
