/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's request to the driving layer: which cases, of which plugins, where and how they are measured. What only
 * one command needs is in a struct of its own, see compare/plan.h, gate/request.h and compare/certify.h.
 */
#ifndef ASSAY_DRIVE_REQUEST_H
#define ASSAY_DRIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "machine/topology.h"
#include "model/build.h"
#include "model/exact.h"
#include "plan/options.h"
#include "worker/protocol.h"

#define ASSAY_DEFAULT_SUITE "quick"
#define ASSAY_MODEL_SUITE   "file" /* in place of it, if models are named and this one exists */
/* Any number would do; because it is always the same, two runs are comparable without naming it. */
#define ASSAY_DEFAULT_SEED 42
#define ASSAY_DEFAULT_DB   "assay.db"

/* Which evidence is taken, or judged. */
enum assay_take {
	ASSAY_TAKE_ALL,
	ASSAY_TAKE_TIMES,
	ASSAY_TAKE_COUNTS, /* exact counts of the cases that the suite names for them, or that `only` selects */
};

/* Begin with assay_request_default(). Strings that are not lists are borrowed. */
struct assay_request {
	struct assay_plan_options plan; /* its lists and threads are owned */
	const char *db;                 /* path */
	struct assay_strings plugins;
	bool no_default_plugins;
	struct assay_commit revision; /* that these plugins were built from; "": as their repository is */
	bool build;                   /* the working tree first, as its assay.conf says; its plugins are loaded, too */
	const char *isa;              /* the most that variants may need; NULL: all that the CPU has */
	struct assay_worker_settings settings;
	struct assay_placement_options placement; /* its CPUs are owned */
	bool deterministic;                       /* work that does not depend on time */
	const char *counter_groups;               /* "cache,branch"; NULL: those of the benches */
	struct assay_strings events;
	bool roof_in_turn;
	enum assay_take take;
	const char *cache_model;                /* NULL: as the suite says */
	enum assay_exact_source counter_source; /* which way exact counts are taken */
	uint64_t max_steps;                     /* of a call that is stepped; 0: as the suite says */
	uint64_t exact_budget_ns; /* for all exact counts, see struct assay_exact_schedule; 0: as the suite says */
};

/* Default suite, seed and database. */
struct assay_request assay_request_default(void);
void assay_request_release(struct assay_request *q);

/*
 * Set one field from text, which messages call @what, such as "--threads". ASSAY_EUSAGE with what is expected; the
 * request is then unchanged.
 */
int assay_request_set_devices(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_threads(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_cpus(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_placement(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_isa(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_shard(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_rounds(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_memory(struct assay_request *q, const char *text, const char *what, struct assay_err *err);
int assay_request_set_cache_model(struct assay_request *q, const char *text, struct assay_err *err);
int assay_request_set_counter_source(struct assay_request *q, const char *text, const char *what,
				     struct assay_err *err);
int assay_request_set_steps(struct assay_request *q, const char *text, const char *what, struct assay_err *err);

#endif
