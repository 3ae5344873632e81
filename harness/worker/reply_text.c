/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/reply_text.h"

#include "base/text.h"

static uint32_t at_most(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

void assay_reply_make_printable(struct assay_worker_reply *r)
{
	assay_printable_line(r->reason, sizeof(r->reason));
	assay_printable_line(r->wrong, sizeof(r->wrong));
	assay_printable_line(r->deviation.reason, sizeof(r->deviation.reason));
	for (int i = 0; i < 2; i++)
		assay_printable_line(r->accepted.deviation[i].reason, sizeof(r->accepted.deviation[i].reason));
	assay_printable_line(r->output_name, sizeof(r->output_name));
	for (uint32_t i = 0; i < at_most(r->n_metrics, ASSAY_PAGE_METRICS); i++)
		assay_printable_line(r->metrics[i].tag, sizeof(r->metrics[i].tag));
	for (uint32_t i = 0; i < at_most(r->n_counts, ASSAY_PAGE_COUNTS); i++) {
		struct assay_count *c = &r->counts[i];

		assay_printable_line(c->name, sizeof(c->name));
		assay_printable_line(c->source, sizeof(c->source));
		assay_printable_line(c->how, sizeof(c->how));
	}
	for (uint32_t i = 0; i < at_most(r->n_missing, ASSAY_PAGE_COUNTS); i++) {
		struct assay_unavailable *u = &r->missing[i];

		assay_printable_line(u->name, sizeof(u->name));
		assay_printable_line(u->source, sizeof(u->source));
		assay_printable_line(u->reason, sizeof(u->reason));
	}
}
