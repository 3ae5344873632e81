/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/exact/size.h"

#include <stdio.h>
#include <string.h>

#include "model/exact.h"
#include "model/quantity.h"

/* What steps cost in all is said where it is more than this. */
#define WORTH_NS 2e9

void assay_exact_size_tell(void *watch, const struct assay_exact_steps *s)
{
	const double all_ns = s->expected * s->step_ns;
	char text[ASSAY_KEY_MAX + 160], steps[32], takes[32], one[32];

	if (s->done <= 0 && all_ns > WORTH_NS) {
		assay_quantity_text(all_ns * 1e-9, "s", false, takes, sizeof(takes));
		assay_quantity_text(s->step_ns * 1e-9, "s", false, one, sizeof(one));
		assay_exact_about_text(s->expected, steps, sizeof(steps));
		snprintf(text, sizeof(text), "%s: about %s steps of %s, together %s", s->key, steps, one, takes);
		assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
	}
	assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_PART,
						       .done_frac = s->expected > 0 ? s->done / s->expected : 0 });
}

bool assay_exact_size_small(const struct assay_plan *plan, const struct assay_request *q, const char *key)
{
	bool small = false, any = false;

	for (size_t i = 0; i < plan->n_cases && !q->max_steps; i++)
		small |= plan->exact_small[i] && !strcmp(plan->cases[i].key, key);
	for (size_t i = 0; i < plan->n_smaller && small; i++)
		any |= !strcmp(plan->cases[plan->smaller[i].of].key, key) && strcmp(plan->smaller[i].c.key, key);
	return any;
}

void assay_exact_size_name_smaller(const struct assay_plan *plan, const char *key, struct assay_exact_case *c)
{
	size_t n = strlen(c->reason);
	bool any = false;

	for (size_t i = 0; i < plan->n_smaller; i++) {
		if (strcmp(plan->cases[plan->smaller[i].of].key, key))
			continue;
		if (n < sizeof(c->reason))
			n += (size_t)snprintf(c->reason + n, sizeof(c->reason) - n, "%s '%.200s'", any ? "," : ": see",
					      plan->smaller[i].c.key);
		any = true;
	}
	if (any)
		c->skip = ASSAY_EXACT_SKIP_SMALLER;
	else if (n < sizeof(c->reason))
		snprintf(c->reason + n, sizeof(c->reason) - n,
			 "; its bench names no exact_shapes, and --steps allows more");
}
