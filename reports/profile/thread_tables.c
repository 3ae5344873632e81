/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of threads: a table of their states, what they wait for, and the numbers for scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/profile.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define FEW    15 /* rows without --verbose */
#define LABELS 2  /* of a stack: thread and state */

static double share(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void ns_text(uint64_t ns, const struct assay_emit_style *style, char *buf, size_t size)
{
	assay_quantity_text((double)ns * 1e-9, "s", style->utf8, buf, size);
}

static void add_head(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	char took[32];

	assay_quantity_text(p->seconds, "s", style->utf8, took, sizeof(took));
	assay_profile_put_line(style, out, "  %zu thread%s in %s by %s; %" PRIu64 " waits lost", p->n_threads,
			       p->n_threads == 1 ? "" : "s", took, p->source, p->lost);
}

/* Rows of those that slept all the time, or of the others. */
static void add_rows(const struct assay_thread_account *v, size_t n, bool slept, size_t most,
		     const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrrrrr", .indent = "  " };

	assay_columns_row(&t, (const char *const[]){ "thread", "wall", "running", "waiting", "blocked", "ready" });
	for (size_t i = 0; i < n && most; i++) {
		char wall[32], part[ASSAY_N_THREAD_STATES][32];

		if (assay_thread_slept(&v[i]) != slept)
			continue;
		most--;
		ns_text(v[i].wall_ns, style, wall, sizeof(wall));
		for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++)
			snprintf(part[s], sizeof(part[s]), "%.1f %%", share(v[i].ns[s], v[i].wall_ns));
		assay_columns_row(&t, (const char *const[]){ v[i].name, wall, part[ASSAY_STATE_RUNNING],
							     part[ASSAY_STATE_WAITING], part[ASSAY_STATE_BLOCKED],
							     part[ASSAY_STATE_READY] });
	}
	assay_profile_put_table(&t, style, out);
}

static void add_accounts(const struct assay_thread_account *v, size_t n, const struct assay_emit_style *style,
			 struct assay_text *out)
{
	size_t slept = 0, awake, shown;

	for (size_t i = 0; i < n; i++)
		slept += assay_thread_slept(&v[i]);
	awake = n - slept;
	shown = style->verbose || awake < FEW ? awake : FEW;
	if (shown || !n)
		add_rows(v, n, false, shown, style, out);
	if (awake > shown)
		assay_profile_put_line(style, out, "  and %zu more threads: --verbose shows all", awake - shown);
	if (!slept)
		return;
	if (style->html)
		assay_text_addf(out, "<details><summary>%zu thread%s slept all the time</summary>\n", slept,
				slept == 1 ? "" : "s");
	else
		assay_profile_put_line(style, out, "  %zu thread%s slept all the time%s", slept, slept == 1 ? "" : "s",
				       style->verbose ? ":"
				       : slept == 1   ? ": --verbose shows it"
						      : ": --verbose shows them");
	if (style->verbose)
		add_rows(v, n, true, slept, style, out);
	assay_text_add(out, style->html ? "</details>\n" : "");
}

static void add_efficiency(const struct assay_thread_account *v, size_t n, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	const struct assay_thread_efficiency e = assay_thread_efficiency(v, n);

	if (isfinite(e.parallel) && n > 1)
		assay_profile_put_line(style, out,
				       "  parallel efficiency %.1f %%: load balance %.1f %%, serialisation %.1f %%, "
				       "scheduling %.1f %%",
				       100 * e.parallel, 100 * e.load_balance, 100 * e.serialisation,
				       100 * e.scheduling);
}

static void add_waits(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrll", .indent = "  " };
	struct assay_thread_wait *v = NULL;
	size_t n, shown;

	if (assay_thread_waits(p, &v, &n, NULL)) {
		out->failed = true;
		return;
	}
	shown = style->verbose || n < FEW ? n : FEW;
	if (n)
		assay_text_add(out, "\n");
	assay_columns_row(&t, (const char *const[]){ "waited", "share", "waits", "longest", "for", "where" });
	for (size_t i = 0; i < shown; i++) {
		char ns[32], part[32], waits[32] = "", longest[32] = "";
		struct assay_text where = { 0 };

		ns_text(v[i].ns, style, ns, sizeof(ns));
		snprintf(part, sizeof(part), "%.1f %%", share(v[i].ns, p->stacks.weight));
		if (v[i].waits) {
			snprintf(waits, sizeof(waits), "%" PRIu64, v[i].waits);
			ns_text(v[i].longest_ns, style, longest, sizeof(longest));
		}
		assay_profile_where(p, v[i].stack, LABELS, &where);
		assay_columns_row(&t, (const char *const[]){ ns, part, waits, longest, assay_thread_wait_call(p, &v[i]),
							     where.s ? where.s : "" });
		out->failed |= where.failed;
		assay_text_release(&where);
	}
	if (n)
		assay_profile_put_table(&t, style, out);
	else
		assay_columns_release(&t);
	if (n > shown)
		assay_profile_put_line(style, out, "  and %zu more places: --verbose shows all", n - shown);
	free(v);
}

void assay_profile_threads_text(const struct assay_profile *p, const struct assay_emit_style *style,
				struct assay_text *out)
{
	struct assay_thread_account *v = NULL;
	size_t n;

	if (assay_thread_accounts(p, &v, &n, NULL)) {
		out->failed = true;
		return;
	}
	add_head(p, style, out);
	add_accounts(v, n, style, out);
	add_efficiency(v, n, style, out);
	add_waits(p, style, out);
	free(v);
}

/* ---- for scripts ------------------------------------------------------------------------------------------------ */

static const char *const keys[ASSAY_N_THREAD_STATES] = { "running", "waiting", "blocked", "ready" };

static json_t *account_json(const struct assay_thread_account *a)
{
	json_t *v = json_pack("{s:o,s:o}", "name", assay_json_text(a->name), "wall_ns", assay_json_u64(a->wall_ns));
	char key[32];

	for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++) {
		snprintf(key, sizeof(key), "%s_ns", keys[s]);
		json_object_set_new(v, key, assay_json_u64(a->ns[s]));
		snprintf(key, sizeof(key), "%s_frac", keys[s]);
		json_object_set_new(v, key,
				    a->wall_ns ? json_real((double)a->ns[s] / (double)a->wall_ns) : json_null());
	}
	return v;
}

static json_t *waits_json(const struct assay_profile *p)
{
	struct assay_thread_wait *v = NULL;
	json_t *list = json_array();
	size_t n;

	if (assay_thread_waits(p, &v, &n, NULL)) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:o,s:b,s:o,s:i,s:o,s:o,s:o}", "call",
					assay_json_text(assay_thread_wait_call(p, &v[i])), "barrier", v[i].meets, "ns",
					assay_json_u64(v[i].ns), "threads", (int)v[i].threads, "waits",
					v[i].waits ? assay_json_u64(v[i].waits) : json_null(), "longest_ns",
					v[i].waits ? assay_json_u64(v[i].longest_ns) : json_null(), "stack",
					assay_profile_stack_json(p, v[i].stack, LABELS)));
	free(v);
	return list;
}

static json_t *timeline_json(const struct assay_profile *p)
{
	const struct assay_timeline *l = &p->timeline;
	json_t *threads;

	if (!l->cells)
		return json_null();
	threads = json_array();
	for (size_t i = 0; i < l->n_threads; i++) {
		json_t *t = json_pack("{s:o}", "name", assay_json_text(p->threads[i].name));

		for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++) {
			json_t *row = json_array();

			for (size_t b = 0; b < l->n_bins; b++)
				json_array_append_new(row, assay_json_u64(l->cells[i * l->n_bins + b].ns[s]));
			json_object_set_new(t, keys[s], row);
		}
		json_array_append_new(threads, t);
	}
	return json_pack("{s:o,s:o}", "bin_ns", assay_json_u64(l->bin_ns), "threads", threads);
}

void assay_profile_threads_json(const struct assay_profile *p, json_t *root)
{
	struct assay_thread_efficiency e = { NAN, NAN, NAN, NAN };
	struct assay_thread_account *v = NULL;
	json_t *threads = json_array();
	size_t n = 0;

	if (!assay_thread_accounts(p, &v, &n, NULL))
		e = assay_thread_efficiency(v, n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(threads, account_json(&v[i]));
	free(v);
	json_object_set_new(root, "threads", threads);
	json_object_set_new(root, "efficiency",
			    json_pack("{s:o,s:o,s:o,s:o}", "parallel", assay_json_number(e.parallel), "load_balance",
				      assay_json_number(e.load_balance), "serialisation",
				      assay_json_number(e.serialisation), "scheduling",
				      assay_json_number(e.scheduling)));
	json_object_set_new(root, "waits", waits_json(p));
	json_object_set_new(root, "timeline", timeline_json(p));
}
