/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a check, and its findings. */
#include "generate_checking.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_generate_checking_init(struct gen_checking *c, const struct assay_job *job)
{
	const struct gen_model *m;

	memset(c, 0, sizeof(*c));
	c->job = job;
	c->stats = job->op_state;
	c->plan = &c->stats->plan;
	m = c->plan->m;
	c->o.plan = c->plan;
	c->o.weights = job->tensors[ASSAY_GENERATE_T_WEIGHTS].data;
	c->o.scales = job->tensors[ASSAY_GENERATE_T_SCALES].data;
	c->o.norms = job->tensors[ASSAY_GENERATE_T_NORMS].data;
	c->o.embedding = job->tensors[ASSAY_GENERATE_T_EMBEDDING].data;
	c->o.head = c->o.embedding + (m->tied ? 0 : m->vocab * c->plan->row_bytes);
	c->o.kv = job->tensors[ASSAY_GENERATE_T_KV].data;
	/* Where the driver keeps the blocks of its sequence, the last one that it ran. */
	c->o.table = (const int32_t *)job->tensors[ASSAY_GENERATE_T_WORK_I32].data + m->vocab + c->plan->max_pos;
	c->i8 = job->tensors[ASSAY_GENERATE_T_TRACE_I8].data;
	c->f32 = job->tensors[ASSAY_GENERATE_T_TRACE_F32].data;
	c->last = job->tensors[ASSAY_GENERATE_T_TRACE_LAST].data;
	assay_generate_trace_layout(m, &c->t);
	c->buf_len = 4 * ((int64_t)m->ffn + m->dim) + c->plan->max_pos;
	c->sequence = malloc((size_t)c->plan->max_pos * sizeof(*c->sequence));
	c->found = calloc(job->n_threads, sizeof(*c->found));
	c->wide = malloc(job->tensors[ASSAY_GENERATE_T_TRACE_I8].bytes * sizeof(*c->wide));
	if (!c->sequence || !c->found || !c->wide)
		return -1;
	for (uint64_t i = 0; i < job->tensors[ASSAY_GENERATE_T_TRACE_I8].bytes; i++)
		c->wide[i] = c->i8[i];
	for (uint32_t i = 0; i < job->n_threads; i++) {
		c->found[i].order = INT64_MAX;
		c->found[i].buf = malloc((size_t)c->buf_len * sizeof(double));
		if (!c->found[i].buf)
			return -1;
	}
	return 0;
}

void assay_generate_checking_release(struct gen_checking *c)
{
	for (uint32_t i = 0; c->found && i < c->job->n_threads; i++)
		free(c->found[i].buf);
	free(c->found);
	free(c->wide);
	free(c->sequence);
}

void assay_generate_found(struct gen_finding *f, enum gen_stage stage, int64_t at, const char *tensor, int64_t index,
			  const char *fmt, ...)
{
	int64_t order = ((int64_t)stage << 56) + at;
	va_list ap;

	if (order >= f->order)
		return;
	f->order = order;
	f->tensor = tensor;
	f->index = index;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void assay_generate_conclude(const struct gen_checking *c, struct assay_check *out)
{
	const struct gen_finding *first = &c->found[0];

	out->max_rel_err = 0;
	for (uint32_t i = 0; i < c->job->n_threads; i++) {
		out->max_rel_err = fmax(out->max_rel_err, c->found[i].worst);
		if (c->found[i].order < first->order)
			first = &c->found[i];
	}
	out->correct = first->order == INT64_MAX;
	out->first_bad = out->correct ? -1 : first->index;
	out->tensor = out->correct ? NULL : first->tensor;
	snprintf(out->reason.text, sizeof(out->reason.text), "%s", out->correct ? "" : first->text);
}
