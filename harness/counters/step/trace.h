/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one thread did, as a growing array of words: one word for each step, followed by what belongs to the step. Must
 * not know which instructions are written down, nor when.
 *
 * All but open and close are async-signal-safe.
 */
#ifndef ASSAY_COUNTERS_STEP_TRACE_H
#define ASSAY_COUNTERS_STEP_TRACE_H

#include "counters/step/decode.h"

/* Fields belong to this module, but for words and n. */
struct assay_step_words {
	uint64_t *words;
	size_t n, room;
};

/*
 * An empty row, that of thread number @thread; ASSAY_ENOMEM. It lies far from where the kernel puts what programs map,
 * and stays there while it grows: code that is stepped finds its own memory where it would be without.
 */
int assay_step_words_open(struct assay_step_words *w, unsigned thread, struct assay_err *err);
void assay_step_words_close(struct assay_step_words *w);
/* Forget all; the memory stays. */
void assay_step_words_empty(struct assay_step_words *w);
/* Make room for any entry and the end of the one before. False: there is no more memory. */
bool assay_step_words_need(struct assay_step_words *w);

/* Write down a step, for which there is room, and return where it stands. Its end is open. */
size_t assay_step_words_add(struct assay_step_words *w, size_t instruction, const struct assay_step_accesses *acc);
/* What became of the last step, which stands @at. */
void assay_step_words_end(struct assay_step_words *w, size_t at, const struct assay_step_outcome *o);
/* Where it went; at most once, and before the next step. */
void assay_step_words_target(struct assay_step_words *w, size_t at, uint64_t target);
void assay_step_words_mark(struct assay_step_words *w, unsigned mark);

/*
 * The first word of an entry. A step has two words an access, see assay_step_entry_access(), and one more with where it
 * went if has_target.
 */
struct assay_step_entry {
	uint32_t instruction; /* of the table; of a mark what it is */
	bool is_mark, has_target;
	unsigned accesses, instructions, branches, taken;
};
struct assay_step_entry assay_step_entry_of(uint64_t word);
/* Words of the entry, the first included. */
size_t assay_step_entry_words(const struct assay_step_entry *e);
struct assay_step_access assay_step_entry_access(const uint64_t *words, unsigned i);

#endif
