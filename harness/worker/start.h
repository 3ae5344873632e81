/* SPDX-License-Identifier: Apache-2.0 */
/* How to start a worker: its options, what its page tells it, and the start of its process. */
#ifndef ASSAY_WORKER_START_H
#define ASSAY_WORKER_START_H

#include <signal.h>

#include "base/process.h"
#include "base/text.h"
#include "machine/core_pace.h"
#include "worker/time_limits.h"
#include "worker/protocol.h"

/* Another way to start it: under a tool that simulates the processor. */
struct assay_worker_launch {
	const char *const *prefix; /* NULL-terminated command that takes the program and its arguments behind its own */
	const char *const *env;    /* NULL-terminated; the whole environment */
};

#define ASSAY_WORKER_MOST_ENV 4

/* The settings that all workers of a command have in common. */
struct assay_worker_setup {
	struct assay_worker_settings settings;
	const struct assay_strings *plugins; /* paths */
	const char *parts; /* a letter a plugin, see enum assay_plugin_part; NULL: all of everything */
	const struct assay_topology *topology; /* spares the worker to read it; NULL: it does */
	const struct assay_host_info *host;    /* what ops may know of the machine */
	const struct assay_clock *clock;
	const volatile sig_atomic_t *interrupted; /* non-zero: stop */
};

struct assay_worker_options {
	struct assay_worker_setup setup;
	struct assay_worker_checks checks;
	const struct assay_case *c;
	const struct assay_case_facts *facts; /* of the case; NULL: nothing is known of its cost */
	uint64_t copies;
	int *cpus; /* one a thread */
	/* NULL: start it plainly. Otherwise all addresses that plugins see are fixed. */
	const struct assay_worker_launch *launch;
	bool try_pace;                      /* of the cores, around each sample */
	const struct assay_core_pace *pace; /* what is known of it; NULL: nothing */
	uint64_t deadline_ns;               /* CLOCK_MONOTONIC; when it passes, the worker is killed */
	uint64_t cpu_most_ns;               /* processor time after which it is killed; 0: no limit */
	/* recognises a hang before that, and learns what the case takes; NULL: only this worker is known */
	struct assay_timeout_history *timeouts;
	const char *events;         /* what to count, as assay_counter_choice_text() writes it; NULL: nothing */
	const char *heap_sites;     /* folder for where the variant allocates, see counters/heap/sites.h; NULL: none */
	uint64_t heap_sample_bytes; /* likewise */
	const char *const
		*env; /* "NAME=value" for its process, NULL-terminated, ASSAY_WORKER_MOST_ENV at most; NULL: none */
	bool cells_from_memory;                      /* counters of the op are read without PAPI */
	enum assay_common common;                    /* of a pair of the same op and shape */
	const struct assay_cache_model *cache_model; /* to be stepped: the caches, and the file that gets the counts */
	const char *counts_path;
};

/* The files that the process of a worker inherits, and which side of a pair it is. */
struct assay_worker_place {
	int page_fd, pair_fd; /* pair_fd 0: it has no partner */
	int words_fd;         /* gets what it prints */
	unsigned index;       /* 0 or 1 */
};

/*
 * Fill in what the worker has to know about its case. ASSAY_ELIMIT: more threads, events or plugins than the page has
 * room for.
 */
int assay_worker_spec_fill(struct assay_worker_spec *s, const struct assay_worker_options *o, struct assay_err *err);

/* Start the process. The descriptors stay the caller's. What assay_process_start() returns, or ASSAY_EIO. */
int assay_worker_process_start(struct assay_process *process, const struct assay_worker_options *o,
			       const struct assay_worker_place *at, struct assay_err *err);

#endif
