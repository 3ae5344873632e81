/* SPDX-License-Identifier: Apache-2.0 */
/* Release a comparison, and find its parts. */
#include "model/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void assay_pair_release(struct assay_pair *p)
{
	for (int i = 0; i < 2; i++)
		assay_result_release(&p->side[i]);
	*p = (struct assay_pair){ 0 };
}

void assay_pair_drop_samples(struct assay_pair *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->side[i].samples);
		free(p->side[i].raw_metrics);
		p->side[i].samples = NULL;
		p->side[i].raw_metrics = NULL;
		p->side[i].n_samples = 0;
	}
	p->n_blocks = 0;
}

void assay_case_readings_release(struct assay_case_reading *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++) {
		free(v[i].pairs);
		assay_pair_release(&v[i].counted);
	}
	free(v);
}

void assay_comparison_case_release(struct assay_comparison_case *c)
{
	for (size_t k = 0; k < c->n_pairs; k++)
		assay_pair_release(&c->pairs[k]);
	free(c->pairs);
	assay_because_evidence_free(c->because);
	c->because = NULL;
	c->pairs = NULL;
	c->n_pairs = 0;
}

void assay_comparison_drop_cases(struct assay_comparison *cmp)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		assay_comparison_case_release(&cmp->cases[i]);
	free(cmp->cases);
	cmp->cases = NULL;
	cmp->n_cases = 0;
}

void assay_comparison_release(struct assay_comparison *cmp)
{
	assay_comparison_drop_cases(cmp);
	for (int i = 0; i < 2; i++)
		assay_exact_run_release(&cmp->exact[i]);
	free(cmp->policy);
	*cmp = (struct assay_comparison){ 0 };
}

bool assay_pair_same_code(const struct assay_pair *p)
{
	const char *base = p->side[ASSAY_BASE].code_hash;

	return base[0] && !strcmp(base, p->side[ASSAY_HEAD].code_hash);
}

bool assay_comparison_judged(const struct assay_comparison_case *c, size_t i, char tag[ASSAY_METRIC_TAG_MAX])
{
	const char *at = c->judged[0] ? c->judged : "time_s";

	for (; i && at; i--) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	if (at)
		snprintf(tag, ASSAY_METRIC_TAG_MAX, "%.*s", (int)strcspn(at, ","), at);
	return at;
}

size_t assay_comparison_n_judged(const struct assay_comparison_case *c)
{
	char tag[ASSAY_METRIC_TAG_MAX];
	size_t n = 0;

	while (assay_comparison_judged(c, n, tag))
		n++;
	return n;
}

int assay_comparison_base_case(const struct assay_comparison_case *c, struct assay_case *out, struct assay_err *err)
{
	*out = c->c;
	if (!c->base_variant[0])
		return 0;
	memcpy(out->variant, c->base_variant, sizeof(out->variant));
	return assay_case_make_key(out, err);
}

double assay_comparison_injected(const struct assay_comparison_case *c)
{
	const struct assay_pair *p = c->pairs;
	const uint64_t extra = c->n_pairs ? p->extra_iterations[ASSAY_HEAD] : 0;

	return extra ? (double)extra / (double)p->iterations : c->injected_frac;
}

/* ---- because evidence ---- */

const char *assay_code_change_name(enum assay_code_change c)
{
	static const char *const names[] = { "unknown", "same", "differs" };

	return (unsigned)c < sizeof(names) / sizeof(names[0]) ? names[c] : names[0];
}

void assay_because_evidence_free(struct assay_because_evidence *e)
{
	if (!e)
		return;
	free(e->pairs);
	free(e->functions);
	free(e);
}

struct assay_because_function *assay_because_function_at(struct assay_because_evidence *e, const char *name,
							 size_t length, const char *object)
{
	struct assay_because_function *f;
	char key[sizeof(f->name)];

	snprintf(key, sizeof(key), "%.*s", (int)(length < sizeof(key) ? length : sizeof(key) - 1), name);
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->functions[i].name, key) && (key[0] || !strcmp(e->functions[i].object, object)))
			return &e->functions[i];
	if (assay_grow(&e->functions, e->n, sizeof(*e->functions)))
		return NULL;
	f = &e->functions[e->n++];
	memset(f, 0, sizeof(*f));
	memcpy(f->name, key, sizeof(key));
	snprintf(f->object, sizeof(f->object), "%s", object);
	f->counted[0] = f->counted[1] = -1;
	return f;
}
