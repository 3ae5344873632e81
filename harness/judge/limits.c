/* SPDX-License-Identifier: Apache-2.0 */
/* Floors, ceilings and equality, absolute or against the base. */
#include "judge/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/rows.h"
#include "model/exact.h"
#include "model/quantity.h"

void assay_limit_value(const struct assay_metric *metrics, size_t n, const struct assay_counters *counters,
		       const char *name, struct assay_limit_facts *out)
{
	const struct assay_count *c = assay_counters_find(counters, name);
	const struct assay_unavailable *u =
		assay_counters_find_missing(counters, assay_exact_is_metric(name) ? ASSAY_EXACT_MISSING : name);

	const struct assay_metric_info *known = assay_metric_find(name);

	*out = (struct assay_limit_facts){ .value = NAN, .base = NAN };
	snprintf(out->unit, sizeof(out->unit), "%s", c || u ? "1" : known ? known->unit : "");
	for (size_t i = 0; i < n; i++)
		if (!strcmp(metrics[i].tag, name)) {
			out->value = metrics[i].value;
			out->estimated = metrics[i].estimated;
			memcpy(out->unit, metrics[i].unit, sizeof(out->unit));
			memcpy(out->source, metrics[i].source, sizeof(out->source));
			return;
		}
	if (c) {
		out->value = c->value;
		out->estimated = c->running_frac < 1;
		memcpy(out->source, c->source, sizeof(out->source));
	} else if (u) {
		out->why_no_value = u->reason;
		memcpy(out->source, u->source, sizeof(out->source));
	}
}

void assay_countable_release(struct assay_countable *c)
{
	assay_strings_release(&c->names);
	assay_strings_release(&c->units);
	assay_strings_release(&c->groups);
}

/* The reason for a value that is missing from a well-measured case, if no other is known. */
static const struct {
	const char *metric, *why;
} absent[] = {
	{ "ops_per_s", "its op declares no operations" },
	{ "bytes_per_s", "its op declares no bytes read or written" },
	{ "items_per_s", "its op declares no items" },
	{ "tokens_per_ms", "its op counts no tokens" },
	{ "arith_intensity", "its op declares no operations or no bytes" },
	{ "parallel_efficiency", "it needs several threads, and the same case with one thread in the run" },
	{ "machine_used_bytes", "the memory of this machine is unknown" },
	{ "machine_total_bytes", "the memory of this machine is unknown" },
	{ "machine_busy_frac", "it is taken in runs, of cases that are sampled by time for some tenths of a second" },
};

/*
 * Where @f has neither a value nor a reason: what is to be counted, or what the metric follows from, put into @buf,
 * which @f then points to. @known may be NULL, as nothing is said of what is in no group.
 */
static void explain(const struct assay_limit *l, const struct assay_countable *known, struct assay_limit_facts *f,
		    char *buf, size_t size)
{
	if (isfinite(f->value) || f->why_no_value)
		return;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (!strcmp(absent[i].metric, l->metric))
			f->why_no_value = absent[i].why;
	for (size_t i = 0; known && i < known->names.n; i++) {
		const char *group = known->groups.v[i];

		if (strcmp(known->names.v[i], l->metric) || !group[0])
			continue;
		snprintf(buf, size,
			 "group '%.40s' was not counted: --counters %.40s, or counters = {\"%.40s\"} in its bench, "
			 "counts it",
			 group, group, group);
		f->why_no_value = buf;
		return;
	}
}

static bool holds(const struct assay_limit *l, double value, double bound)
{
	if (l->equal)
		return fabs(value - bound) <= l->tolerance_frac * fabs(bound);
	return l->floor ? value >= bound : value <= bound;
}

/* Numbers as tables show them, all with the same unit; or with six digits, where two that differ would look alike. */
struct writing {
	const char *metric, *unit;
	bool fine;
};

static const char *number(const struct writing *w, double v, char *buf, size_t size)
{
	if (w->fine || !w->unit[0])
		snprintf(buf, size, "%.6g%s%s", v, w->unit[0] && strcmp(w->unit, "1") ? " " : "",
			 strcmp(w->unit, "1") ? w->unit : "");
	else /* the reason says in words whether a share can be */
		assay_metric_text(strcmp(w->metric, "roof_frac") ? w->metric : "_frac", v, w->unit, true, buf, size);
	return buf;
}

static bool look_alike(const struct writing *w, double a, double b)
{
	char x[64], y[64];

	return a != b && !strcmp(number(w, a, x, sizeof(x)), number(w, b, y, sizeof(y)));
}

static const char *word(const struct assay_limit *l, bool broken)
{
	if (l->equal)
		return "must be";
	if (l->floor)
		return broken ? "below the floor of" : "floor";
	return broken ? "above the ceiling of" : "ceiling";
}

/* "floor 90.0 %", "above the ceiling of 102 (base 100 + 2 %)", "must be 40 (within 1 %)" */
static void demand_text(const struct assay_limit *l, const struct writing *w, bool broken, double bound, double base,
			char *buf, size_t size)
{
	char from[112] = "", within[48] = "", n[64];

	if (l->base && l->limit != 0)
		snprintf(from, sizeof(from), " (base %s %c %g %%)", number(w, base, n, sizeof(n)),
			 l->limit > 0 ? '+' : '-', 100 * fabs(l->limit));
	else if (l->base)
		snprintf(from, sizeof(from), " as in the base");
	if (l->tolerance_frac > 0)
		snprintf(within, sizeof(within), " (within %g %%)", 100 * l->tolerance_frac);
	if (l->base && !isfinite(base))
		snprintf(buf, size, "%s that of the base%s", l->equal ? "equal to" : word(l, broken), within);
	else
		snprintf(buf, size, "%s %s%s%s", word(l, broken), number(w, bound, n, sizeof(n)), from, within);
}

void assay_limit_judge(const struct assay_limit *l, const struct assay_limit_facts *f, struct assay_gate_case *out)
{
	double bound = l->base ? f->base * (1 + l->limit) : l->limit;
	const char *why = f->why_no_value ? f->why_no_value : "";
	/* a share that cannot be holds no floor and breaks no ceiling */
	const bool wrong = !strcmp(l->metric, "roof_frac") && assay_limit_exceeded(f->value);
	bool known = isfinite(f->value) && isfinite(bound) && !wrong, broken = known && !holds(l, f->value, bound);
	struct writing w = { .metric = l->metric, .unit = f->unit };
	char demand[192], value[48];

	w.fine = broken && look_alike(&w, f->value, bound);
	demand_text(l, &w, broken, bound, f->base, demand, sizeof(demand));
	number(&w, f->value, value, sizeof(value));
	out->evidence = assay_evidence_of_source(f->source);
	out->value = f->value;
	out->limit = bound;
	if (!isfinite(f->value)) {
		out->verdict = ASSAY_NOT_MEASURED;
		snprintf(out->reason, sizeof(out->reason), "%s was not measured%s%.400s%s, %s", l->metric,
			 why[0] ? " (" : "", why, why[0] ? ")" : "", demand);
	} else if (wrong) {
		out->verdict = ASSAY_NOT_MEASURED;
		snprintf(out->reason, sizeof(out->reason), "%s is %s, %s, %s", l->metric, value,
			 ASSAY_LIMIT_EXCEEDED_TEXT, demand);
	} else if (!isfinite(bound)) {
		out->verdict = ASSAY_INCOMPARABLE;
		snprintf(out->reason, sizeof(out->reason), "%s is %s, %s: %.200s", l->metric, value, demand,
			 f->why_no_base ? f->why_no_base : "the base has none");
	} else {
		out->verdict = broken ? ASSAY_REGRESSED : ASSAY_PASS;
		snprintf(out->reason, sizeof(out->reason), "%s is %s%s, %s", l->metric, f->estimated ? "about " : "",
			 value, demand);
	}
}

int assay_limits_judge(const struct assay_policy *p, const struct assay_limit_case *c, struct assay_gate_report *out,
		       struct assay_err *err)
{
	for (size_t i = 0; i < p->n_limits; i++) {
		const struct assay_limit *l = &p->limits[i];
		struct assay_limit_facts f;
		struct assay_gate_case *row;
		char why[256];
		int rc;

		if (!assay_policy_selects(l->cases, c->c))
			continue;
		rc = c->look_up(c->arg, l, &f, err);
		if (rc)
			return rc;
		explain(l, c->countable, &f, why, sizeof(why));
		if (l->where_counted && !isfinite(f.value))
			continue;
		row = assay_row_add(out, (struct assay_row_name){ c->c->key, l->metric, ASSAY_EVIDENCE_NONE }, err);
		if (!row)
			return ASSAY_ENOMEM;
		assay_limit_judge(l, &f, row);
	}
	return 0;
}

void assay_edges_refused(const struct assay_deviation *d, char *buf, size_t size)
{
	char edges[ASSAY_EDGES_MAX];

	snprintf(buf, size, "deviates on %s, which the policy refuses (require_edges): %s",
		 assay_edges_text(d->edges, edges, sizeof(edges)), d->reason);
}

int assay_limits_judge_edges(const struct assay_policy *p, const struct assay_case *c, const struct assay_deviation *d,
			     struct assay_gate_case *row, struct assay_gate_report *out, struct assay_err *err)
{
	char refused[384], edges[ASSAY_EDGES_MAX];

	if (!d->edges)
		return 0;
	if (assay_policy_requires_edges(p, c)) {
		assay_edges_refused(d, refused, sizeof(refused));
		return assay_row_say(out, (struct assay_row_name){ c->key, "edges", ASSAY_EVIDENCE_EXACT },
				     ASSAY_WRONG_RESULT, err, "%s", refused);
	}
	if (row)
		row->edges = d->edges;
	if (row && row->verdict != ASSAY_INCOMPARABLE)
		assay_row_note(row, "%shead deviates on %s", row->reason[0] ? "; " : "",
			       assay_edges_text(d->edges, edges, sizeof(edges)));
	return 0;
}

size_t assay_limits_require(const struct assay_policy *p, const struct assay_case *c, bool exact)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_limits; i++)
		n += !p->limits[i].where_counted && (!exact || assay_exact_is_metric(p->limits[i].metric)) &&
		     assay_policy_selects(p->limits[i].cases, c);
	return n;
}

/* The events of the group `os` are always counted. */
static bool is_uncounted(const struct assay_countable *uncounted, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < uncounted->names.n; i++)
		if (!strcmp(uncounted->names.v[i], name)) {
			if (!strcmp(uncounted->groups.v[i], "os"))
				return false;
			found = true;
		}
	return found;
}

bool assay_limits_need_samples(const struct assay_policy *p, const struct assay_case *c,
			       const struct assay_countable *uncounted)
{
	for (size_t i = 0; i < p->n_limits; i++) {
		const struct assay_limit *l = &p->limits[i];

		if (assay_policy_selects(l->cases, c) && !(l->where_counted && is_uncounted(uncounted, l->metric)))
			return true;
	}
	return false;
}

/* ---- the load of the machine ---- */

struct floor {
	const char *metric;
	double limit;
};

/* The first floor of a rate that @r is under; NULL as metric: none. */
static struct floor floor_missed(const struct assay_policy *p, const struct assay_result *r)
{
	for (size_t i = 0; i < p->n_limits + p->n_alerts; i++) {
		const struct assay_limit *l = i < p->n_limits ? &p->limits[i] : NULL;
		const struct assay_alert *a = l ? NULL : &p->alerts[i - p->n_limits];
		const struct floor f = { l ? l->metric : a->metric, l ? l->limit : a->limit };
		const struct assay_metric *m = assay_result_metric(r, f.metric);
		const size_t n = m ? strlen(m->unit) : 0;

		if ((l ? l->floor && !l->base : a->below) && n > 2 && !strcmp(m->unit + n - 2, "/s") &&
		    m->value < f.limit && assay_policy_selects(l ? l->cases : a->cases, &r->c))
			return f;
	}
	return (struct floor){ 0 };
}

void assay_result_note(const struct assay_policy *p, double busy_frac, double full_frac, struct assay_result *r)
{
	const struct assay_metric *busy = assay_result_metric(r, "machine_busy_frac"),
				  *used = assay_result_metric(r, "machine_used_bytes"),
				  *all = assay_result_metric(r, "machine_total_bytes");
	const struct floor f = floor_missed(p, r);
	char a[64], b[64];

	r->note[0] = '\0';
	if (busy && busy->value > busy_frac && f.metric) {
		const struct assay_metric *m = assay_result_metric(r, f.metric);

		assay_metric_text(m->tag, m->value, m->unit, true, a, sizeof(a));
		assay_metric_text(m->tag, f.limit, m->unit, true, b, sizeof(b));
		snprintf(r->note, sizeof(r->note), "%s is %s, below the floor of %s, while the CPUs were %.0f %% busy",
			 m->tag, a, b, 100 * busy->value);
	}
	if (used && all && used->value > full_frac * all->value) {
		const size_t n = strlen(r->note);

		assay_metric_text(used->tag, used->value, used->unit, true, a, sizeof(a));
		assay_metric_text(all->tag, all->value, all->unit, true, b, sizeof(b));
		snprintf(r->note + n, sizeof(r->note) - n, "%smemory was %.0f %% full: %s of %s", n ? "; " : "",
			 100 * used->value / all->value, a, b);
	}
}
