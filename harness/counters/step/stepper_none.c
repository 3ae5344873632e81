/* SPDX-License-Identifier: Apache-2.0 */
/* The stepper of processors without a trap flag: nothing but the reason. */
#include "counters/step/stepper.h"

#if !defined(__x86_64__)

/* assay_stepper_open() is all that can be called. */
int assay_stepper_open(struct assay_stepper **out, const struct assay_stepper_options *o, struct assay_err *err)
{
	(void)out;
	(void)o;
	return assay_step_probe(err);
}

void assay_stepper_close(struct assay_stepper *s)
{
	(void)s;
}

void assay_stepper_begin(struct assay_stepper *s, uint64_t max_steps)
{
	(void)s;
	(void)max_steps;
}

enum assay_stepper_end assay_stepper_end(struct assay_stepper *s, uint64_t *at, char *why, size_t size)
{
	(void)s;
	*at = 0;
	if (size)
		why[0] = '\0';
	return ASSAY_STEPPER_WHOLE;
}

void assay_stepper_watch(struct assay_stepper *s, const struct assay_step_range *ranges, size_t n, uint64_t steps)
{
	(void)s;
	(void)ranges;
	(void)n;
	(void)steps;
}

void assay_stepper_enter(struct assay_stepper *s, unsigned thread)
{
	(void)s;
	(void)thread;
}

unsigned assay_stepper_leave(struct assay_stepper *s)
{
	(void)s;
	return 0;
}

void assay_stepper_mark(struct assay_stepper *s, unsigned thread, enum assay_stepper_mark mark)
{
	(void)s;
	(void)thread;
	(void)mark;
}

struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread)
{
	(void)s;
	(void)thread;
	return (struct assay_step_trace){ .n = 0 };
}

int assay_stepper_try(double *step_ns, struct assay_err *err)
{
	*step_ns = 0;
	return assay_step_probe(err);
}
#endif
