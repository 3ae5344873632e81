/* SPDX-License-Identifier: Apache-2.0 */
/* Asks plugins, in a child process, what they offer and what a case would take. */
#ifndef ASSAY_WORKER_INVENTORY_INVENTORY_H
#define ASSAY_WORKER_INVENTORY_INVENTORY_H

#include <jansson.h>

#include "base/process.h"
#include "base/text.h"
#include "model/catalog.h"

struct assay_inventory;

/*
 * Load @plugins in a child and describe them; @parts has a letter for each (see enum assay_plugin_part), NULL: all of
 * everything. A plugin that is refused, crashes or hangs while loading stands in the catalog
 * with its error; the others are there. On error nothing is kept. @host NULL: only names are wanted, and no case is
 * described.
 */
int assay_inventory_open(struct assay_inventory **inv, const struct assay_strings *plugins, const char *parts,
			 const struct assay_host_info *host, struct assay_err *err);
void assay_inventory_close(struct assay_inventory *inv);
/* Mark what needs more than @isa (see machine/cpu_features.h) as unavailable, on top of what the machine lacks. */
int assay_inventory_cap(struct assay_inventory *inv, const char *isa, struct assay_err *err);
const struct assay_catalog *assay_inventory_catalog(const struct assay_inventory *inv);
/* The same, to add programs to: nothing else is. */
struct assay_catalog *assay_inventory_extend(struct assay_inventory *inv);
/*
 * Let the child get as far as a worker does before it makes anything of a case: its resident set is then what a worker
 * takes by itself. To be asked before cases are described.
 */
int assay_inventory_worker_bytes(struct assay_inventory *inv, uint64_t *bytes, struct assay_err *err);

/*
 * Ask for @n cases at once. A shape the op refuses is ASSAY_EUSAGE with its reason; one the variant does not support is
 * in the facts. Cases with a skip_reason are described as far as their op is known.
 */
int assay_inventory_describe(struct assay_inventory *inv, const struct assay_case *cases, size_t n,
			     struct assay_case_facts *out, struct assay_err *err);

/* ---- process ---- */

/*
 * The inventory's child as its controller sees it: questions go out as lines of JSON, answers come back. Code of
 * plugins runs in it, so nothing that comes from it is trusted: lines are limited in size, number and time, what it
 * prints is no more than quoted, and whatever it started ends with it.
 */

struct assay_inventory_process {
	struct assay_process process; /* pid 0: there is none */
	struct assay_strays strays;
	struct assay_pipe words; /* what it prints */
	int fd;
	char *buf; /* bytes read and not yet used */
	size_t len, cap;
	json_int_t question; /* the last one asked */
};

/*
 * Start it; @p is not running. On error it is not running either. @fork_only: as a copy of this process, which takes
 * half the time of a fresh one.
 */
int assay_inventory_process_start(struct assay_inventory_process *p, bool fork_only, struct assay_err *err);
/* Kill it and all that it started, where it runs. */
void assay_inventory_process_stop(struct assay_inventory_process *p);

/* Ask @msg, an object, whose reference it takes. ASSAY_EWORKER when nobody listens. */
int assay_inventory_process_ask(struct assay_inventory_process *p, json_t *msg, struct assay_err *err);
/*
 * The next line that answers the last question, an object whose strings are printable. NULL with ASSAY_EWORKER and what
 * the child did instead: it ended, kept silent, wrote without end or something else. Only stop may follow then.
 */
json_t *assay_inventory_process_answer(struct assay_inventory_process *p, struct assay_err *err);

/* ---- catalog ---- */

/* Building the catalog from the messages of the inventory's child. */

/* One more zeroed element at the end of a heap array of *n elements. NULL when out of memory. */
void *assay_catalog_grow(void **array, size_t *n, size_t size);

/*
 * What was said of plugin @i: its names, ops and variants, or why it was refused.
 * What an op or variant declares wrongly is its defect. ASSAY_EWORKER: no loader says such a thing. ASSAY_ENOMEM.
 */
int assay_catalog_take_plugin(struct assay_catalog *cat, size_t i, const json_t *j, struct assay_err *err);
/* Parse the facts of a case; nothing is refused. ASSAY_EPLUGIN: it makes no sense, the op "is …". */
int assay_catalog_take_facts(const json_t *j, struct assay_case_facts *f, struct assay_err *err);
/* Variants of composite ops: one for each variant of the op they compose. ASSAY_ENOMEM. */
int assay_catalog_expand_composites(struct assay_catalog *cat, struct assay_err *err);
/* Note what this machine lacks for each variant. ASSAY_ENOMEM. */
int assay_catalog_mark_unavailable(struct assay_catalog *cat, struct assay_err *err);

/* ---- check ---- */

/* Whether what a plugin declares makes sense, before anything is planned by it. */

/* In the keys of cases on a device, see struct assay_case. */
#define ASSAY_DEVICE_AXIS      "device"
#define ASSAY_OWN_THREADS_AXIS "own_threads"

/*
 * False, and @why, when cases of the op or variant could not be planned, stored or shown by what it declares. Names by
 * which they are known, and the numbers of tables, hold already. An op whose axes are at fault gets axes that every
 * bench can be planned with, so that its cases are there to fail.
 */
bool assay_declared_op(struct assay_catalog_op *op, char *why, size_t size);
bool assay_declared_variant(const struct assay_catalog_variant *v, char *why, size_t size);

/* ---- child ---- */

/* The inventory's child: loads plugins and answers what they offer and what cases take. */

/* Its argv[1]. */
#define ASSAY_INVENTORY_COMMAND "__inventory"
/*
 * Lines from the controller, and what the child answers:
 *     {"load": "path", "host": {…}}                             {"name", "ops", "variants", …} or {"error": "…"}
 *     {"ready": true}                                           {}
 *     {"place": true}                                           {"placed": true}
 *     {"case": {"op", "variant", "axes", "threads", "cold"}}    {"supported", "timed", "reason", …}
 * Each question has a number, "question", that its answer repeats. Of cases the answer may also be
 * {"refused": "…"}, by the op, or {"broken": "…"}: what the op describes cannot be. A path has the letter of a part
 * before it.
 * Ends when the socket does. Returns the exit status of the process.
 */
int assay_inventory_child(int fd);

#endif
