/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix of a fleet, cases by machines, for people and for scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

/* With more machines than fit beside each other, a case has its range in place of its row. */
#define MOST_MACHINES 8

static void verdict_text(enum assay_verdict v, const struct assay_emit_style *style, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", assay_paint_verdict(style, v), assay_verdict_name(v),
		 assay_paint(style, ASSAY_RESET));
}

static void add_machines(const struct assay_fleet_report *f, const struct assay_emit_style *style,
			 struct assay_text *out)
{
	struct assay_columns t = { .align = "llll", .indent = "  ", .width = style->width };

	assay_columns_row(&t, (const char *const[]){ "machine", "verdict", "stored", "kind or reason" });
	for (size_t k = 0; k < f->n_machines; k++) {
		const struct assay_fleet_machine *m = &f->machines[k];
		char verdict[48], stored[32] = "-";

		verdict_text(m->verdict, style, verdict, sizeof(verdict));
		if (m->run)
			snprintf(stored, sizeof(stored), "r%" PRId64, m->run);
		if (m->comparison)
			snprintf(stored, sizeof(stored), "c%" PRId64, m->comparison);
		assay_columns_tail(&t, (const char *const[]){ m->name, verdict, stored }, 3,
				   m->machine[0] ? m->machine : m->reason);
		if (m->machine[0] && m->reason[0])
			assay_columns_line(&t, 4, m->reason);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

/* A time, or the change of one; "-" where there is none. */
static void number_text(const struct assay_fleet_report *f, const struct assay_fleet_cell *c,
			const struct assay_emit_style *style, char *buf, size_t size)
{
	if (!f->base[0])
		assay_quantity_text(c->median_ns * 1e-9, "s", style->utf8, buf, size);
	else if (isfinite(c->ratio) && isfinite(c->ci_lo))
		snprintf(buf, size, "%+.2f %%", 100 * (c->ratio - 1));
	else
		snprintf(buf, size, "-");
}

/* That a machine has no baseline stands beside its name. */
static bool is_worth_saying(const struct assay_fleet_report *f, const struct assay_fleet_cell *c)
{
	return c->verdict != ASSAY_PASS && (c->verdict != ASSAY_INCOMPARABLE || f->base[0]);
}

static void cell_text(const struct assay_fleet_report *f, const struct assay_fleet_cell *c,
		      const struct assay_emit_style *style, char *buf, size_t size)
{
	char number[40], verdict[48];

	number_text(f, c, style, number, sizeof(number));
	if (!c->there || !is_worth_saying(f, c)) {
		snprintf(buf, size, "%s", number);
		return;
	}
	verdict_text(c->verdict, style, verdict, sizeof(verdict));
	snprintf(buf, size, "%s%s%s", strcmp(number, "-") ? number : "", strcmp(number, "-") ? " " : "", verdict);
}

static void add_matrix(const struct assay_fleet_report *f, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrrrrrl", .indent = "  " };
	const char *cells[MOST_MACHINES + 1];
	char text[MOST_MACHINES][96];

	t.align += MOST_MACHINES - f->n_machines;
	for (size_t k = 0; k < f->n_machines; k++)
		cells[k] = f->machines[k].name;
	cells[f->n_machines] = "case";
	assay_columns_row(&t, cells);
	for (size_t i = 0; i < f->n_cases; i++) {
		for (size_t k = 0; k < f->n_machines; k++) {
			cell_text(f, assay_fleet_cell_at(f, i, k), style, text[k], sizeof(text[k]));
			cells[k] = text[k];
		}
		cells[f->n_machines] = f->keys[i];
		assay_columns_row(&t, cells);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

/* Which cell of case @i has the least or the greatest number; NULL: none has one. */
static const struct assay_fleet_cell *extreme(const struct assay_fleet_report *f, size_t i, bool greatest)
{
	const struct assay_fleet_cell *best = NULL;
	double most = -INFINITY;

	for (size_t k = 0; k < f->n_machines; k++) {
		const struct assay_fleet_cell *c = assay_fleet_cell_at(f, i, k);
		const double v = (greatest ? 1 : -1) * (f->base[0] ? c->ratio : c->median_ns);

		if (v > most) {
			most = v;
			best = c;
		}
	}
	return best;
}

/* "NOT_MEASURED on 2"; of all that did not pass. */
static void others_text(const struct assay_fleet_report *f, size_t i, struct assay_text *out)
{
	size_t n[ASSAY_N_VERDICTS] = { 0 };
	const char *comma = "";

	for (size_t k = 0; k < f->n_machines; k++) {
		const struct assay_fleet_cell *c = assay_fleet_cell_at(f, i, k);

		n[c->verdict] += c->there && is_worth_saying(f, c);
	}
	for (int v = 0; v < ASSAY_N_VERDICTS; v++)
		if (n[v]) {
			assay_text_addf(out, "%s%s on %zu", comma, assay_verdict_name((enum assay_verdict)v), n[v]);
			comma = ", ";
		}
}

static void add_ranges(const struct assay_fleet_report *f, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrll", .indent = "  " };

	assay_columns_row(&t, (const char *const[]){ "least", "most", "other than PASS", "case" });
	for (size_t i = 0; i < f->n_cases; i++) {
		char text[2][40] = { "-", "-" };
		struct assay_text others = { 0 };

		for (int most = 0; most < 2; most++) {
			const struct assay_fleet_cell *c = extreme(f, i, most);

			if (c)
				number_text(f, c, style, text[most], sizeof(text[most]));
		}
		others_text(f, i, &others);
		assay_columns_row(&t, (const char *const[]){ text[0], text[1], others.s ? others.s : "", f->keys[i] });
		assay_text_release(&others);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void fleet_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_fleet_report *f = report->fleet;
	char verdict[48];

	verdict_text(f->verdict, style, verdict, sizeof(verdict));
	assay_text_addf(out, "%s: suite '%s' on %zu machine%s of '%s'", verdict, f->suite, f->n_machines,
			f->n_machines == 1 ? "" : "s", f->partition);
	if (f->base[0])
		assay_text_addf(out, ", %s against %s", f->head, f->base);
	assay_text_add(out, "\n\n");
	add_machines(f, style, out);
	assay_text_add(out, "\n");
	if (f->n_cases && f->n_machines <= MOST_MACHINES)
		add_matrix(f, style, out);
	else if (f->n_cases)
		add_ranges(f, style, out);
	if (f->base[0])
		assay_text_addf(out, "  %g %% is the chance that unchanged code fails on any of these machines\n",
				100 * f->alpha);
}

static json_t *machine_json(const struct assay_fleet_machine *m)
{
	return json_pack("{s:o,s:o,s:s,s:o,s:o,s:o}", "name", assay_json_text(m->name), "machine",
			 assay_json_text(m->machine), "status", assay_verdict_name(m->verdict), "reason",
			 assay_json_text(m->reason), "run", m->run ? json_integer(m->run) : json_null(), "comparison",
			 m->comparison ? json_integer(m->comparison) : json_null());
}

static json_t *cell_json(const struct assay_fleet_report *f, size_t i, size_t k)
{
	const struct assay_fleet_cell *c = assay_fleet_cell_at(f, i, k);
	json_t *o = json_pack("{s:o,s:s,s:o}", "name", assay_json_text(f->machines[k].name), "verdict",
			      assay_verdict_name(c->verdict), "reason", assay_json_text(c->reason));

	if (!f->base[0]) {
		json_object_set_new(o, "median_ns", assay_json_number(c->median_ns));
		return o;
	}
	json_object_set_new(o, "ratio", assay_json_number(c->ratio));
	json_object_set_new(o, "ci",
			    isfinite(c->ci_lo)
				    ? json_pack("[o,o]", assay_json_number(c->ci_lo), assay_json_number(c->ci_hi))
				    : json_null());
	return o;
}

json_t *assay_json_fleet(const struct assay_fleet_report *f)
{
	json_t *machines = json_array(), *cases = json_array();

	for (size_t k = 0; k < f->n_machines; k++)
		json_array_append_new(machines, machine_json(&f->machines[k]));
	for (size_t i = 0; i < f->n_cases; i++) {
		json_t *cells = json_array();

		for (size_t k = 0; k < f->n_machines; k++)
			if (assay_fleet_cell_at(f, i, k)->there)
				json_array_append_new(cells, cell_json(f, i, k));
		json_array_append_new(cases,
				      json_pack("{s:o,s:s,s:o}", "key", assay_json_text(f->keys[i]), "verdict",
						assay_verdict_name(assay_fleet_case_verdict(f, i)), "machines", cells));
	}
	return json_pack("{s:i,s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "exit", (int)f->exit, "verdict",
			 assay_verdict_name(f->verdict), "suite", assay_json_text(f->suite), "partition",
			 assay_json_text(f->partition), "started", assay_json_time(f->started_ns), "base",
			 assay_json_text(f->base), "head", assay_json_text(f->head), "alpha",
			 f->base[0] ? assay_json_number(f->alpha) : json_null(), "machines", machines, "cases", cases);
}

static void fleet_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_json_print(assay_json_fleet(report->fleet), out);
}

ASSAY_EMITTER(fleet_text, ASSAY_REPORT_FLEET, "text", fleet_text);
ASSAY_EMITTER(fleet_json, ASSAY_REPORT_FLEET, "json", fleet_json);
