/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What audits change: elements of the outputs whose right values are known, and inputs. Internal to the audits of
 * audit/audit.h.
 */
#ifndef ASSAY_WORKER_AUDIT_DATA_H
#define ASSAY_WORKER_AUDIT_DATA_H

#include <string.h>

#include "machine/lost_time.h"
#include "worker/case/state.h"

/*
 * Larger inputs are not made again, which would take longer than the samples; single elements of them are changed
 * instead.
 */
#define ASSAY_AUDIT_MOST_BYTES (16u << 20)

static inline uint32_t assay_audit_element_bytes(const struct assay_case_job *j, uint32_t tensor)
{
	return (uint32_t)assay_dtype_bytes(j->problem.tensors[tensor].dtype);
}

static inline unsigned char *assay_audit_element(const struct assay_case_job *j, uint64_t copy, uint32_t tensor,
						 uint64_t element)
{
	const struct assay_tensor *t = &j->tensors[copy * j->problem.n_tensors + tensor];

	return (unsigned char *)t->data + element * assay_audit_element_bytes(j, tensor);
}

static inline uint64_t assay_audit_load(const unsigned char *p, uint32_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes <= sizeof(v) ? bytes : 0);
	return v;
}

/* Of one size at a time, so that it is one instruction in the loop that is timed. */
static inline void assay_audit_store(unsigned char *p, uint64_t v, uint32_t bytes)
{
	switch (bytes) {
	case 1:
		memcpy(p, &v, 1);
		break;
	case 2:
		memcpy(p, &v, 2);
		break;
	case 4:
		memcpy(p, &v, 4);
		break;
	default:
		memcpy(p, &v, 8);
	}
}

/* Overwrite element @s of @copy with something that cannot be the right answer. */
static inline void assay_audit_scramble_spot(const struct assay_case_job *j, const struct assay_audit_spot *s,
					     uint64_t copy)
{
	assay_audit_store(assay_audit_element(j, copy, s->tensor, s->element), ~s->want[j->audit.other],
			  assay_audit_element_bytes(j, s->tensor));
}

/* A number below @n, drawn anew by each call. */
uint64_t assay_audit_draw(struct assay_case_audit *a, uint64_t n);

/* How many elements a tensor has; 0: they have no size. */
uint64_t assay_audit_elements(const struct assay_case_job *j, uint32_t tensor);

void assay_audit_choose_spots(struct assay_case_job *j);
/* Remember spots of the outputs of copy 0, which are right for the inputs that are there. */
void assay_audit_learn_spots(struct assay_case_job *j);
/* Do the outputs of @copy have the right values at all spots, for the inputs that are there? */
struct assay_outcome assay_audit_look(const struct assay_case_job *j, uint64_t copy);

/* Choose how inputs can be changed, and which of them by single elements. */
void assay_audit_choose_inputs(struct assay_case_job *j);
/* Put the other inputs in place, or those of the case; they must not be there yet. */
struct assay_outcome assay_audit_make_inputs(struct assay_case_job *j, bool other);
/* Ask this before inputs are changed: afterwards, changes that a variant made to them cannot be seen. */
struct assay_outcome assay_audit_inputs_are_kept(const struct assay_case_job *j);
/* Is this an input that assay_audit_make_inputs() changes? */
bool assay_audit_changes(const struct assay_case_job *j, uint32_t tensor);
/* Size of all inputs that assay_audit_make_inputs() changes; 0: it changes none. */
uint64_t assay_audit_changed_bytes(const struct assay_case_job *j);
/* Copy these inputs of copy 0, end to end, from where they are and to there. */
void assay_audit_keep_inputs(const struct assay_case_job *j, unsigned char *buf);
void assay_audit_put_inputs(const struct assay_case_job *j, const unsigned char *buf);
/* Change these inputs to values that they never had, and keep them in @buf. The caller must have kept the old ones. */
struct assay_outcome assay_audit_draw_inputs(struct assay_case_job *j, unsigned char *buf);

/* ---- times ---- */

/* Times of calls in an audit: do calls on data that changed take longer than calls that do the same over and over? */

/* With this many calls of each kind, the machine may disturb some, and a longer time still shows. */
#define ASSAY_AUDIT_ROUNDS 16

/* Calls on data like that of the call before, and on data that changed. Shortest first. All-zero: none yet. */
struct assay_audit_times {
	double same_ns[ASSAY_AUDIT_ROUNDS], changed_ns[ASSAY_AUDIT_ROUNDS];
	int n, n_changed;
	bool forgets; /* what the processor has learnt of the data is cleared before each call */
	bool paused;  /* the data is the same, but the calls that count as changed are single ones after a pause */
};

/*
 * The time of calls in a row that took @ns and last longer than a sample, without what the thread waited for a CPU that
 * others had. If the thread never @slept, it took no longer than it had a CPU; otherwise it may have let another thread
 * calculate.
 */
double assay_audit_times_less_waits(uint64_t ns, const struct assay_thread_time *before,
				    const struct assay_thread_time *after, bool slept);

/* Add a call; there is room for ASSAY_AUDIT_ROUNDS of each kind. */
void assay_audit_times_same(struct assay_audit_times *t, double ns);
void assay_audit_times_changed(struct assay_audit_times *t, double ns);

/* Do calls on changed data take longer than the machine and the clock explain? False without a call of that kind. */
bool assay_audit_times_tell(const struct assay_case_job *j, const struct assay_audit_times *t);

/* Could they, with more calls? Not if the shortest calls of both kinds do not tell. */
bool assay_audit_times_may_tell(const struct assay_case_job *j, const struct assay_audit_times *t);

/* ASSAY_STATUS_WRONG if they do: the samples were too quick. @when says what was changed, for the reason. */
struct assay_outcome assay_audit_times_verdict(const struct assay_case_job *j, const struct assay_audit_times *t,
					       const char *when);

#endif
