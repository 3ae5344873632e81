/* SPDX-License-Identifier: Apache-2.0 */
/* A case: one fully bound bench. Its key is its name for ever. */
#ifndef ASSAY_MODEL_CASE_H
#define ASSAY_MODEL_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "base/err.h"

#define ASSAY_KEY_MAX    768
#define ASSAY_OP_MAX     512 /* of an imported case, whose op may be a C++ name or a command; else ASSAY_NAME_MAX */
#define ASSAY_NAME_MAX   64
#define ASSAY_JUDGED_MAX 512
#define ASSAY_GROUPS_MAX 128 /* of all names of groups of counters of a case */
#define ASSAY_DEVICE_MAX 72  /* of a device's name and number, "cuda:0" */

enum assay_cache {
	ASSAY_CACHE_WARM,
	ASSAY_CACHE_COLD,
	ASSAY_CACHE_UNKNOWN, /* of imported cases: no other tool says it */
	ASSAY_CACHE_NONE,    /* of programs, which start with whatever the one before has left */
	ASSAY_N_CACHE,
};

/* "warm", "cold"; "" where it is unknown, "-" of programs. */
const char *assay_cache_name(enum assay_cache c);

/* The axis of a program that measures several benchmarks; keys have its value alone. */
#define ASSAY_BENCHMARK_AXIS "benchmark"

/* One bound axis, for keys, JSON and the store. */
struct assay_axis_value {
	char name[ASSAY_NAME_MAX];
	char text[ASSAY_NAME_MAX]; /* "4096" or a symbol */
	int64_t value;             /* number, or index of the symbol */
};

struct assay_case {
	/* op/variant/axes[,device=D][,own_threads=yes]/t=N/warm|cold|-, without what is unknown */
	char key[ASSAY_KEY_MAX];
	char op[ASSAY_OP_MAX];
	char variant[ASSAY_NAME_MAX];
	struct assay_axis_value axes[ASSAY_MAX_AXES]; /* all axes of the op, in its order */
	unsigned n_axes;
	unsigned threads; /* 0: unknown, of imported cases alone */
	bool all_threads; /* the bench said `all`, also where that is one thread; policies may name the case by t=all */
	/* Of `doubling`, between 1 and all: other machines have other such cases, and no manifest has one. */
	bool between_threads;
	enum assay_cache cache;
	char device[ASSAY_DEVICE_MAX]; /* "cuda:0", behind the axes in keys; "": the CPU. Stored in the key alone */
	bool own_threads;              /* its kernel may have threads besides those of the case; likewise */
	bool reference;                /* its variant is what others are measured by; not stored */

	const char *benchmark;           /* of a program that measures several: what it calls this one, by
					  * assay_text_kept(); NULL: no such program. Not stored */
	char counters[ASSAY_GROUPS_MAX]; /* groups of events to count, comma separated; "" none of its own */

	/* limits */
	uint64_t budget_ns;    /* sampling time */
	uint64_t timeout_ns;   /* the whole case, set-up included */
	uint64_t memory_bytes; /* of the worker; 0: no limit but the machine's */

	/* planning already knows that it cannot run: status skipped with this reason. Empty: it can. */
	char skip_reason[256];
};

/* "cuda:0" is the device of this kind's name with this number; false where @text is none. */
bool assay_device_read(const char *text, char name[ASSAY_NAME_MAX], unsigned *number);
/* Fill c->device and c->own_threads from c->key. */
void assay_case_read_key(struct assay_case *c);

/* Fill c->key from the other members. ASSAY_ELIMIT when it does not fit. */
int assay_case_make_key(struct assay_case *c, struct assay_err *err);

/*
 * The key with t=all for t=N when the bench asked for all threads, as manifests write it. It follows from c->key and
 * c->all_threads alone. @buf holds ASSAY_KEY_MAX.
 */
void assay_case_portable_key(const struct assay_case *c, char *buf);

/* How much of @key is its op, which may have slashes of its own, as commands and names of imported benchmarks have. */
size_t assay_key_op_length(const char *key);

/* Is this the key of a program's case? */
bool assay_key_is_program(const char *key);

/* Do they differ in nothing but variant and threads? */
bool assay_case_same_shape(const struct assay_case *a, const struct assay_case *b);
/* Do they differ in nothing but their variants? */
bool assay_case_same_but_variant(const struct assay_case *a, const struct assay_case *b);

/* ---- status ---- */

/* The outcome of a case. */

enum assay_status {
	ASSAY_STATUS_OK,
	ASSAY_STATUS_SKIPPED, /* cannot run here: reason */
	ASSAY_STATUS_WRONG,   /* wrong output, changed inputs, or wrote out of bounds */
	ASSAY_STATUS_CRASHED, /* the worker died: signal or exit */
	ASSAY_STATUS_TIMEOUT,
	ASSAY_STATUS_FAILED, /* it said why it cannot: memory limit, set-up error, metric out of range */
	ASSAY_N_STATUS,
};

const char *assay_status_name(enum assay_status s);

#endif
