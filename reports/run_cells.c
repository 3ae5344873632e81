/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a line of the run table: the shape of a case, and the metrics that its op publishes. */
#include "reports/run_cells.h"

#include <stdio.h>
#include <string.h>

#include "model/quantity.h"

static bool is_common(const struct assay_run *run, const struct assay_case *c, unsigned axis)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *o = &run->results[i].c;

		if (!strcmp(o->op, c->op) && (o->n_axes != c->n_axes || strcmp(o->axes[axis].text, c->axes[axis].text)))
			return false;
	}
	return true;
}

void assay_run_cells_shape(const struct assay_run *run, const struct assay_case *c, bool common, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < c->n_axes && n < size; i++)
		if (is_common(run, c, i) == common)
			n += (size_t)snprintf(buf + n, size - n, "%s%s=%s", n ? "," : "", c->axes[i].name,
					      c->axes[i].text);
}

/* "kv_hit_frac" → "kv hit": the unit stands with the number. */
static void spoken_name(const char *tag, char *name, size_t size)
{
	static const char *const units[] = { " per s", " s", " frac", " bytes" };

	snprintf(name, size, "%s", tag);
	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = ' ';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(name), end = strlen(units[i]);

		if (len > end && !strcmp(name + len - end, units[i])) {
			name[len - end] = '\0';
			return;
		}
	}
}

bool assay_run_cells_repeats(const struct assay_result *r, const struct assay_metric *m)
{
	if (strcmp(m->tag, "items_per_s"))
		return false;
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].unit, "1/s") && !assay_metric_find(r->metrics[i].tag))
			return true;
	return false;
}

/* The name that stands before a rate has said what was counted. */
static void put_number(const struct assay_metric *m, bool utf8, char *buf, size_t size)
{
	if (!strcmp(m->unit, "1/s"))
		assay_quantity_text(m->value, m->unit, utf8, buf, size);
	else
		assay_metric_text(m->tag, m->value, m->unit, utf8, buf, size);
}

void assay_run_cells_metrics(const struct assay_result *r, const struct assay_emit_style *style, struct assay_text *out)
{
	char family[ASSAY_METRIC_TAG_MAX] = "";

	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct assay_metric *m = &r->metrics[i];
		char name[ASSAY_METRIC_TAG_MAX], number[64];
		size_t first;

		if ((!style->verbose && assay_metric_find(m->tag)) || !strcmp(m->tag, "tokens_per_s") ||
		    assay_run_cells_repeats(r, m))
			continue;
		spoken_name(m->tag, name, sizeof(name));
		put_number(m, style->utf8, number, sizeof(number));

		/* neighbours that begin with the same word say it once */
		first = strcspn(name, " ");
		if (name[first] && !strncmp(family, name, first) && !family[first]) {
			assay_text_addf(out, ", %s", name + first + 1);
		} else {
			assay_text_addf(out, "%s%s", out->len ? (style->utf8 ? " · " : " | ") : "", name);
			snprintf(family, sizeof(family), "%.*s", (int)first, name);
		}
		/* a number stays with its unit when the line wraps */
		for (char *p = number; *p; p++) {
			if (p == number)
				assay_text_add(out, style->utf8 ? "\u00a0" : " ");
			if (*p == ' ' && style->utf8)
				assay_text_add(out, "\u00a0");
			else
				assay_text_addn(out, p, 1);
		}
	}
}
