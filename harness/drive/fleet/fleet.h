/* SPDX-License-Identifier: Apache-2.0 */
/* A suite on all nodes of a Slurm partition: jobs, their databases, and one verdict over all. */
#ifndef ASSAY_DRIVE_FLEET_FLEET_H
#define ASSAY_DRIVE_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "drive/watch.h"
#include "model/reports.h"

#define ASSAY_FLEET_DIR "assay-fleet"
/* How long a node may wait for its turn. */
#define ASSAY_FLEET_START_NS 3600000000000u

/* All-zero but for `db`, `suite` and `partition` is the default. Strings are borrowed. */
struct assay_fleet_request {
	const char *db; /* into which all results are merged */
	const char *suite, *partition;
	const char *dir;            /* on a file system that all nodes share; NULL: ASSAY_FLEET_DIR */
	unsigned nodes;             /* that take part; 0: all of the partition */
	unsigned per_kind;          /* so many nodes of each kind take part, in place of `nodes`; 0: as it says */
	bool gate;                  /* compare two revisions on each node, in place of a run */
	bool shard;                 /* each case on one of the nodes, in place of on all; not of a gate */
	const char *base, *head;    /* of a gate; NULL: where HEAD branched off; HEAD */
	uint64_t start_within_ns;   /* 0: ASSAY_FLEET_START_NS */
	const char *policy;         /* as of a gate */
	const char *manifest;       /* likewise */
	bool strict, suspects_fail; /* likewise */
	struct assay_strings more;  /* options of `assay run` or `assay compare` that each node gets */
};

/*
 * Measure on all nodes, wait, merge and judge. What is under way is kept in the folder: asked again, the same request
 * goes on with what is there and submits only what is missing. The folder is removed once all nodes are measured.
 *
 * A node without a result is NOT_MEASURED in @out, with its reason. ASSAY_EUSAGE before anything is submitted: no
 * Slurm, no such partition, a folder that holds another fleet. ASSAY_EINTERRUPTED: @err says which nodes are left. On
 * any error no job is left. Release @out in either case.
 */
int assay_fleet(const struct assay_fleet_request *q, const struct assay_watch *w, struct assay_fleet_report *out,
		struct assay_err *err);

/* ---- slurm ---- */

/* Requests to Slurm through its commands: libslurm is of another licence and of another version at every site. */

#define ASSAY_SLURM_JOB_MAX 32

struct assay_slurm_node {
	char name[ASSAY_NAME_MAX];
	char state[32]; /* "idle", "down*" */
	char kind[256]; /* sockets, cores, threads, memory, features and devices: nodes alike in these are of a kind */
	char reason[160]; /* why it is not available; "none" where it is */
};

/*
 * The nodes of @partition into *out, malloc'ed, by name. ASSAY_EUSAGE where there is no Slurm, or no such partition.
 */
int assay_slurm_nodes(const char *partition, const volatile sig_atomic_t *interrupted, struct assay_slurm_node **out,
		      size_t *n, struct assay_err *err);
/* Can no job start there before somebody repairs it? */
bool assay_slurm_node_is_down(const struct assay_slurm_node *n);

struct assay_slurm_array {
	const char *name, *partition;
	const char *tasks;                /* their numbers, as in "1-3,5" */
	const char *log;                  /* file for what a task prints, in which %a is its number */
	const char *script;               /* file for /bin/sh */
	const struct assay_strings *args; /* of the script */
};

/*
 * Submit an array, each task of which has a node for itself and does not begin anew when that fails. It is held: an
 * array has one list of nodes for all of its tasks, so that each is placed by itself before they are released.
 */
int assay_slurm_submit(const struct assay_slurm_array *a, char id[ASSAY_SLURM_JOB_MAX], struct assay_err *err);
/* Send a task, such as "17_2", to this node and no other. */
int assay_slurm_place(const char *task, const char *node, struct assay_err *err);
int assay_slurm_release(const char *id, struct assay_err *err);

struct assay_slurm_state {
	char id[ASSAY_SLURM_JOB_MAX]; /* "17_2" of a task */
	char state[32];               /* "PENDING", "NODE_FAIL" */
	char reason[96];              /* why it waits; "None" where it does not */
};

/* The user's jobs of this name that Slurm still knows, into *out, malloc'ed. */
int assay_slurm_states(const char *name, const volatile sig_atomic_t *interrupted, struct assay_slurm_state **out,
		       size_t *n, struct assay_err *err);
/* Was it never released? */
bool assay_slurm_is_held(const struct assay_slurm_state *s);
/* Has it ended, however it did? */
bool assay_slurm_has_ended(const struct assay_slurm_state *s);
/* End the job @id; NULL: all of the user's jobs of this name. */
int assay_slurm_cancel(const char *name, const char *id, struct assay_err *err);

/* ---- verdicts ---- */

/* The measurements of a node, by which it is judged. */
struct assay_fleet_measured {
	const char *name;
	const char *db; /* that its job wrote; NULL: it was not measured, for this reason */
	char reason[512];
};

/*
 * Merge the databases of @nodes into that of @q and judge what they hold. A node without a run or a comparison becomes
 * NOT_MEASURED. @out is all-zero before but for names.
 */
int assay_fleet_judge(const struct assay_fleet_request *q, struct assay_fleet_measured *nodes, size_t n,
		      const struct assay_watch *w, struct assay_fleet_report *out, struct assay_err *err);

#endif
