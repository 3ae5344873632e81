/* SPDX-License-Identifier: Apache-2.0 */
/* Over one axis of a shape: the rate of each case, or another metric, a line for what differs otherwise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "reports/plot/lines.h"
#include "reports/run/parts.h"

#define PLOT_HEIGHT 380
#define MOST_TICKS  8
/* Where the axis spans more than this factor it is logarithmic; likewise upwards. */
#define LOG_RANGE 8

/* How many different values the measured cases of the op of @c have on its axis @axis. */
static size_t n_values(const struct assay_run *run, const struct assay_case *c, unsigned axis)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *x = &run->results[i].c;
		bool seen = false;

		if (!assay_run_cells_measured(&run->results[i]) || strcmp(x->op, c->op) || x->n_axes != c->n_axes)
			continue;
		for (size_t k = 0; k < i && !seen; k++)
			seen = assay_run_cells_measured(&run->results[k]) && !strcmp(run->results[k].c.op, c->op) &&
			       run->results[k].c.n_axes == c->n_axes &&
			       !strcmp(run->results[k].c.axes[axis].text, x->axes[axis].text);
		n += !seen;
	}
	return n;
}

/* The axis with most values, called @name where that is not NULL. Returns how many; 0 where there is no such axis. */
static size_t find_axis(const struct assay_run *run, const char *name, const struct assay_case **c, unsigned *axis)
{
	size_t most = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *x = &run->results[i].c;

		for (unsigned k = 0; k < x->n_axes && !assay_run_cells_op_before(run, i); k++) {
			size_t n;

			if (name && strcmp(x->axes[k].name, name))
				continue;
			n = n_values(run, x, k);
			if (n > most) {
				most = n;
				*c = x;
				*axis = k;
			}
		}
	}
	return most;
}

static int no_axis(const struct assay_plot_run *s, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char hint[512];
	int rc = 0;

	for (size_t i = 0; i < s->run->n_results && !rc; i++)
		for (unsigned k = 0; k < s->run->results[i].c.n_axes && !rc; k++)
			if (!assay_strings_has(&names, s->run->results[i].c.axes[k].name))
				rc = assay_strings_add(&names, s->run->results[i].c.axes[k].name, err);
	if (!rc && s->axis)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no case has an axis '%.64s'%s", s->axis,
				   assay_conf_hint(s->axis, (const char *const *)names.v, names.n, hint, sizeof(hint)));
	else if (!rc)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "the cases of run %lld have no axis", (long long)s->run->id);
	assay_strings_release(&names);
	return rc;
}

/* The vertical values: @tag of each case, of time with its interval. False: no case has it. */
static bool set_values(struct assay_case_lines *l, const char *tag, bool time, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->v[i].n; k++) {
			struct assay_line_point *p = &l->v[i].v[k];
			const struct assay_metric *m = assay_result_metric(p->r, tag);

			p->y = p->lo = p->hi = m ? m->value : NAN;
			if (time) {
				p->y = p->r->median_ns * 1e-9;
				p->lo = p->r->ci95_reached ? p->r->ci95_lo_ns * 1e-9 : p->y;
				p->hi = p->r->ci95_reached ? p->r->ci95_hi_ns * 1e-9 : p->y;
			}
			*lo = fmin(*lo, p->y);
			*hi = fmax(*hi, p->y);
		}
	}
	return *lo <= *hi;
}

/* Is point @k of line @i the first of its place? */
static bool is_first(const struct assay_case_lines *l, size_t i, size_t k)
{
	for (size_t a = 0; a <= i; a++)
		for (size_t b = 0; b < (a < i ? l->v[a].n : k); b++)
			if (l->v[a].v[b].x == l->v[i].v[k].x)
				return false;
	return true;
}

/* Values of an axis that are words stand side by side; numbers where they are. */
static void set_places(struct assay_text *t, const struct assay_case_lines *l, unsigned axis)
{
	const struct assay_axis_value *first = &l->v[0].v[0].r->c.axes[axis];
	bool words = first->text[strspn(first->text, "0123456789")] != '\0';
	struct assay_plot_array names = { 0 };
	struct assay_text places = { 0 };
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i].n; k++) {
			const struct assay_case *c = &l->v[i].v[k].r->c;
			double x = (double)c->axes[axis].value;

			lo = fmin(lo, x);
			hi = fmax(hi, x);
			if (!words || !is_first(l, i, k))
				continue;
			assay_text_addf(&places, "PLACE[%zu] = %g\n", names.n + 1, x);
			assay_plot_array_add(&names, c->axes[axis].text);
		}
	assay_text_addf(t, "XWORDS = %d\nXLOG = %d\nXLO = %.9g\nXHI = %.9g\n", words,
			!words && lo > 0 && hi > LOG_RANGE * lo, lo, hi);
	if (names.n)
		assay_text_addf(t, "array PLACE[%zu]\n%s", names.n, places.s);
	t->failed |= places.failed;
	assay_text_release(&places);
	assay_plot_array_set(t, "WORD", &names);
}

static unsigned describe(struct assay_text *t, const struct assay_plot_run *s, const struct assay_case_lines *l,
			 const char *axis)
{
	char title[ASSAY_KEY_MAX + 96], below[256];
	size_t n;

	snprintf(title, sizeof(title), "%s over %s", l->common, axis);
	n = (size_t)snprintf(below, sizeof(below), "%.120s. run %lld", s->run->machine.label, (long long)s->run->id);
	if (l->n_left_out && n < sizeof(below))
		snprintf(below + n, sizeof(below) - n, "; %zu slower lines left out", l->n_left_out);
	return assay_plot_set_head(t, title, below);
}

/* The axis is a little longer than its values; from 0 where it is linear. */
static void set_ticks(struct assay_text *t, const struct assay_plot_scale *values)
{
	struct assay_plot_scale s = *values;

	s.lo = s.logarithmic ? s.lo / 1.4 : 0;
	s.hi *= s.logarithmic ? 1.4 : 1.08;
	assay_plot_set_ticks(t, "YTICK", &s);
	assay_text_addf(t, "YLOG = %d\nYLO = %.9g\nYHI = %.9g\n", s.logarithmic, s.lo / s.factor, s.hi / s.factor);
}

static int draw(const struct assay_plot_run *s, const struct assay_case *c, unsigned axis, struct assay_text *t,
		struct assay_err *err)
{
	const char *tag = s->metric ? s->metric : assay_run_cells_rate_tag(s->run, c->op);
	bool time = !strcmp(tag, "time_s");
	struct assay_case_lines l = { 0 };
	struct assay_plot_unit unit;
	const struct assay_metric *m;
	double lo, hi;
	unsigned top, key;
	int rc = assay_case_lines_find(s->run, c, (int)axis, 2, &l, err);

	if (!rc && !l.n)
		rc = assay_err_set(err, ASSAY_ENOTFOUND,
				   "no two cases of '%s' in run %lld differ in '%s' alone, so there is no line to draw",
				   c->op, (long long)s->run->id, c->axes[axis].name);
	if (!rc && !set_values(&l, tag, time, &lo, &hi)) {
		time = !s->metric && set_values(&l, tag = "time_s", true, &lo, &hi); /* there is no rate */
		if (!time)
			rc = assay_err_set(err, ASSAY_ENOTFOUND, "no case of '%s' in run %lld has '%.64s'", c->op,
					   (long long)s->run->id, tag);
	}
	if (!rc) {
		m = time ? NULL : assay_result_metric(l.v[0].v[0].r, tag);
		unit = assay_plot_unit(time ? "time_s" : tag, m ? m->unit : time ? "s" : "1", hi);
		key = describe(t, s, &l, c->axes[axis].name);
		set_places(t, &l, axis);
		top = key + assay_case_lines_set(t, &l, unit.factor, NULL) + 16;
		assay_plot_set_text(t, "XLABEL", c->axes[axis].name);
		assay_plot_set_text(t, "YLABEL", time ? "time per call" : tag);
		set_ticks(t,
			  &(struct assay_plot_scale){ time ? "time_s" : tag,
						      m      ? m->unit
						      : time ? "s"
							     : "1",
						      lo, hi, unit.factor, lo > 0 && hi > LOG_RANGE * lo, MOST_TICKS });
		assay_text_addf(t, "TOP = %u\nBOTTOM = 62\nKEY_AT = %u\nWIDTH = %d\nHEIGHT = %u\n", top, key + 12,
				ASSAY_PLOT_WIDTH, top + PLOT_HEIGHT + 62);
	}
	assay_case_lines_release(&l);
	return rc;
}

int assay_plot_sweep_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	const struct assay_case *c = NULL;
	unsigned axis = 0;
	size_t n = find_axis(p->run.run, p->run.axis, &c, &axis);

	if (!n)
		return no_axis(&p->run, err);
	if (n < 2)
		return assay_err_set(err, ASSAY_ENOTFOUND, "all cases of run %lld have the same '%s': %s",
				     (long long)p->run.run->id, c->axes[axis].name, c->axes[axis].text);
	return draw(&p->run, c, axis, t, err);
}
