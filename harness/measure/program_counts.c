/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of this thread are inherited by what it starts, and the operating system adds up what children used, so that
 * the providers of kernels serve programs, too.
 */
#include "measure/program.h"

/* A program is counted from the one thread that starts it. */
static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	(void)pool;
	fn(arg, 0, 1);
}

int assay_program_counts_open(struct assay_program_counts *c, const char *events, bool multiplex, struct assay_err *err)
{
	const struct assay_counting_options o = {
		.ctx = &c->ctx,
		.events = events,
		.n_threads = 1,
		.parallel = alone,
	};

	if (!events || !events[0])
		return 0;
	assay_counter_context_init(&c->ctx, NULL, NULL, 0);
	c->ctx.multiplex = multiplex;
	c->ctx.children = true;
	return assay_counting_open(&c->counting, &o, err);
}

void assay_program_counts_close(struct assay_program_counts *c)
{
	assay_counting_close(c->counting);
	c->counting = NULL;
}

int assay_program_counts_run(struct assay_program_counts *c, const struct assay_program_runner *r,
			     const struct assay_strings *words, struct assay_time_process *out, struct assay_err *err)
{
	struct assay_os_counts os;
	int rc;

	if (!c->counting)
		return assay_program_run(r, words, out, err);
	assay_counting_before(c->counting, 0, &os);
	rc = assay_program_run(r, words, out, err);
	assay_counting_after(c->counting, 0, &os);
	assay_counting_rest(c->counting, 0);
	return rc;
}

void assay_program_counts_keep(struct assay_program_counts *c)
{
	if (c->counting)
		assay_counting_add(c->counting, 1);
}

int assay_program_counts_take(const struct assay_program_counts *c, const struct assay_counter_choice *choice,
			      struct assay_result *to, struct assay_err *err)
{
	if (!c->counting)
		return 0;
	if (assay_counting_result(c->counting, &to->counters))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	return assay_counter_derive(choice, &to->counters, &to->metrics, &to->n_metrics, err);
}
