/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a comparison: process pair after process pair, round robin over the undecided cases; each pair is stored
 * and judged as soon as it is there. Used by compare and certify.
 */
#ifndef ASSAY_DRIVE_COMPARE_PAIR_LOOP_H
#define ASSAY_DRIVE_COMPARE_PAIR_LOOP_H

#include <stddef.h>

#include "drive/revision.h"
#include "drive/watch.h"
#include "judge/limits.h"
#include "measure/measure.h"
#include "model/comparison.h"
#include "store/store.h"
#include "worker/inventory/inventory.h"

/* One side: the plugins that its workers load, and where its programs run. */
struct assay_compare_side {
	const char *folder; /* NULL: the current one; borrowed */
	struct assay_strings plugins;
	struct assay_text parts; /* a letter a plugin, see enum assay_plugin_part */
};

struct assay_pair_loop {
	struct assay_comparison *cmp;         /* cases with their controls; pairs are added here */
	const struct assay_case_facts *facts; /* one a case of cmp */
	const struct assay_catalog *catalog;  /* of the head */
	const struct assay_compare_side *side[2];
	const struct assay_policy *policy;
	const struct assay_countable *uncounted; /* what nobody asked to be counted; NULL: something was */
	struct assay_measure_options measure;    /* its plugins are the head's, for limits of the machine */
	struct assay_inventory *inventory;       /* likewise */
	struct assay_store *store;               /* likewise; NULL: nothing is looked up */
	/* Called with each finished pair; a negative return stops. NULL: nothing to do. */
	int (*pair_done)(void *arg, size_t i, const struct assay_pair *p, struct assay_err *err);
	/* After each pair: how long all took so far, and how many cases are undecided. NULL: nobody asks. */
	void (*spent)(void *arg, double s, size_t undecided);
	void *arg;
	const struct assay_watch *watch;
};

/*
 * Until every case is decided, has had cmp->max_pairs, or has used its budget (a case of which hardly a pair fits into
 * it may take up to four times as much for the first looks). ASSAY_EINTERRUPTED when the watch says so, with the
 * finished pairs in cmp.
 */
int assay_pair_loop_run(struct assay_pair_loop *c, struct assay_err *err);

/* "name", of a revision "name (8c1f0aa with changes)". */
void assay_side_label(const struct assay_side_source *side, char *buf, size_t size);

/* ---- pair length ---- */

/* How long the process pairs of a case sample. Pure. */

/* Of the first pair: enough blocks of calls of some milliseconds to see how they spread. */
#define ASSAY_PAIR_LENGTH_FIRST_NS 80000000.0

/* Everything that the pairs of a case have shown so far. Times in ns, spreads in logarithms. */
struct assay_pair_shown {
	size_t n;        /* usable pairs that count */
	double sd;       /* between them */
	double own;      /* the part of it that their own blocks explain */
	double rest_ns;  /* what the last pair took for all but its samples */
	double least_ns; /* what samples take at least, see assay_pair_length_least_ns() */
};

/* The time that the pair took beside its turns, which took @sampling_ns, or as long as the samples of long calls. */
double assay_pair_length_rest_ns(const struct assay_pair *p, double sampling_ns);
/* The samples of a block of @p; 0: it has none. */
double assay_pair_length_block_ns(const struct assay_pair *p);

/* Enough blocks like those of @p; @slices: of calls in slices. */
double assay_pair_length_least_ns(const struct assay_pair *p, bool slices);

/* How long the first pair of divided calls samples, whose turns, or with @slices calls in slices, take @turn_ns. */
double assay_pair_length_divided(double turn_ns, bool slices, double budget_ns);
/*
 * After the first pair with samples, which sampled for @now_ns and has shown @first, its own noise among it: how long
 * the next one samples.
 */
double assay_pair_length_learnt(double now_ns, const struct assay_pair_shown *first, double margin, double budget_ns);
/* May that pair count? Where its own noise is small beside @margin. */
bool assay_pair_length_first_counts(double own, double margin);
/* After a pair that sampled for @now_ns: how long the next one samples. */
double assay_pair_length_next(double now_ns, const struct assay_pair_shown *shown, double margin, double budget_ns);

#endif
