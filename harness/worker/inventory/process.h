/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory's child as its controller sees it: questions go out as lines of JSON, answers come back. Code of
 * plugins runs in it, so nothing that comes from it is trusted: lines are limited in size, number and time, what it
 * prints is no more than quoted, and whatever it started ends with it.
 */
#ifndef ASSAY_WORKER_INVENTORY_PROCESS_H
#define ASSAY_WORKER_INVENTORY_PROCESS_H

#include <jansson.h>

#include "base/process.h"

struct assay_inventory_process {
	struct assay_process process; /* pid 0: there is none */
	struct assay_strays strays;
	struct assay_pipe words; /* what it prints */
	int fd;
	char *buf; /* bytes read and not yet used */
	size_t len, cap;
	json_int_t question; /* the last one asked */
};

/* Start it; @p is not running. On error it is not running either. */
int assay_inventory_process_start(struct assay_inventory_process *p, struct assay_err *err);
/* Kill it and all that it started, where it runs. */
void assay_inventory_process_stop(struct assay_inventory_process *p);

/* Ask @msg, an object, whose reference it takes. ASSAY_EWORKER when nobody listens. */
int assay_inventory_process_ask(struct assay_inventory_process *p, json_t *msg, struct assay_err *err);
/*
 * The next line that answers the last question, an object whose strings are printable. NULL with ASSAY_EWORKER and what
 * the child did instead: it ended, kept silent, wrote without end or something else. Only stop may follow then.
 */
json_t *assay_inventory_process_answer(struct assay_inventory_process *p, struct assay_err *err);

#endif
