/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a run, and one result in full, for people. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/build.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

static const char *environment(const struct assay_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_environment; i++)
		if (!strcmp(run->environment[i].name, name))
			return run->environment[i].value;
	return NULL;
}

static void line(struct assay_text *out, const struct assay_emit_style *st, const char *name, const char *value)
{
	if (value && value[0])
		assay_named_line(out, st, name, value);
}

static void started_text(uint64_t ns, char *buf, size_t size)
{
	time_t t = (time_t)(ns / 1000000000u);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

/* The measured build, then the measuring program if that is another build. */
static void add_build(const struct assay_build *b, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_commit revision = assay_build_revision(b);
	struct assay_commit program = { .dirty = b->dirty };
	char commit[96], buf[256];

	assay_commit_text(&revision, commit, sizeof(commit));
	snprintf(buf, sizeof(buf), "commit %s%s%s", commit, b->compiler[0] ? ", " : "", b->compiler);
	line(out, style, "build", buf);
	memcpy(program.hash, b->commit, sizeof(program.hash));
	assay_commit_text(&program, commit, sizeof(commit));
	line(out, style, "assay", assay_commit_is_own(&b->plugin) ? commit : NULL);
}

static void clock_text(const struct assay_run *run, char *buf, size_t size)
{
	const char *source = environment(run, "clock"), *resolution = environment(run, "clock_resolution_ns");
	const char *overhead = environment(run, "clock_overhead_ns");

	buf[0] = '\0';
	if (source && resolution && overhead)
		snprintf(buf, size, "%s, resolution %s ns, a read takes %s ns", source, resolution, overhead);
	else if (source)
		snprintf(buf, size, "%s", source);
}

/* Known before the first case. */
static void write_header(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->run.run;
	const char *fitness = environment(run, "fitness");
	char buf[1024];

	if (fitness)
		assay_text_addf(out, "machine: %s\n", fitness);
	if (assay_run_is_imported(run))
		snprintf(buf, sizeof(buf), "%s, imported from %s", run->suite, run->imported.format);
	else
		snprintf(buf, sizeof(buf), "%s, seed %llu", run->suite, (unsigned long long)run->seed);
	line(out, style, "suite", buf);
	line(out, style, "label", run->label);
	line(out, style, "machine", run->machine.label);
	clock_text(run, buf, sizeof(buf));
	line(out, style, "clock", buf);
	line(out, style, "placement", environment(run, "placement"));
	add_build(&run->build, style, out);
	if (run->id && run->ended_ns) {
		started_text(run->started_ns, buf, sizeof(buf));
		line(out, style, "started", run->started_unknown ? "unknown" : buf);
	}
	assay_text_add(out, "\n");
}

static void add_numbers(const struct assay_result *r, const struct assay_emit_style *style, struct assay_text *out)
{
	char a[64], b[64], c[64], slow[48] = "", buf[320];

	if (!r->n_samples)
		return;
	assay_quantity_text(r->median_ns * 1e-9, "s", style->utf8, a, sizeof(a));
	assay_quantity_text(r->ci95_lo_ns * 1e-9, "s", style->utf8, b, sizeof(b));
	assay_quantity_text(r->ci95_hi_ns * 1e-9, "s", style->utf8, c, sizeof(c));
	if (r->ci95_reached)
		snprintf(buf, sizeof(buf), "%s (95 %% interval over processes %s to %s)", a, b, c);
	else
		snprintf(buf, sizeof(buf), "%s (%s, so no interval)", a,
			 r->rounds > 1 ? "the processes differ too much" : "one process alone");
	line(out, style, "median", buf);
	assay_quantity_text(r->min_ns * 1e-9, "s", style->utf8, a, sizeof(a));
	assay_quantity_text(r->mad_ns * 1e-9, "s", style->utf8, b, sizeof(b));
	snprintf(buf, sizeof(buf), "minimum %s, median absolute deviation %s", a, b);
	line(out, style, "spread", buf);
	assay_quantity_text((double)r->warmup_ns * 1e-9, "s", style->utf8, a, sizeof(a));
	if (assay_result_pace_tried(r))
		snprintf(slow, sizeof(slow), ", %.1f %% of slow cores", 100 * r->slow_core_frac);
	if (r->c.cache == ASSAY_CACHE_UNKNOWN) {
		snprintf(buf, sizeof(buf), "%zu of %llu iterations in %zu process%s; disturbance and warm-up unknown",
			 r->n_samples, (unsigned long long)r->iterations, r->rounds, r->rounds == 1 ? "" : "es");
		line(out, style, "samples", buf);
		return;
	}
	snprintf(buf, sizeof(buf),
		 "%zu of %llu iterations in %zu process%s, %.1f %% disturbed%s, %.1f %% dropped; %swarm-up %s, %s",
		 r->n_samples, (unsigned long long)r->iterations, r->rounds, r->rounds == 1 ? "" : "es",
		 100 * r->disturbed_frac, slow, 100 * r->dropped_frac,
		 !r->ci95_reached ? ""
		 : r->converged   ? "interval within its goal; "
				  : "interval wider than its goal; ",
		 a, r->steady ? "steady" : "not steady");
	line(out, style, "samples", buf);
}

static void add_facts(const struct assay_result *r, const struct assay_emit_style *style, struct assay_text *out)
{
	char buf[640];
	size_t n = 0;

	snprintf(buf, sizeof(buf), "%s%s%s", assay_status_name(r->status), r->reason[0] ? ": " : "", r->reason);
	line(out, style, "status", buf);
	line(out, style, "note", r->note);
	if (r->checked && r->max_rel_err >= 0)
		snprintf(buf, sizeof(buf), "%s, worst relative error %.3g", r->correct ? "correct" : "wrong",
			 r->max_rel_err);
	else
		snprintf(buf, sizeof(buf), "%s", !r->checked ? "not checked" : r->correct ? "correct" : "wrong");
	line(out, style, "output", buf);
	if (r->deviation.edges) {
		char edges[ASSAY_EDGES_MAX];

		snprintf(buf, sizeof(buf), "on %s; first %s",
			 assay_edges_text(r->deviation.edges, edges, sizeof(edges)), r->deviation.reason);
		line(out, style, "deviates", buf);
	}
	line(out, style, "digest", r->digest);
	line(out, style, "code", r->code_hash);
	buf[0] = '\0';
	for (size_t i = 0; i < r->n_cpus && n < sizeof(buf) - 16; i++)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%d", i ? "," : "", r->cpus[i]);
	if (n && r->numa_node >= 0)
		snprintf(buf + n, sizeof(buf) - n, ", memory on node %d", r->numa_node);
	line(out, style, "cpus", buf);
}

static void flags_text(uint32_t flags, char *buf, size_t size)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} kinds[] = {
		{ ASSAY_DISTURB_SWITCH, "switch" },
		{ ASSAY_DISTURB_MIGRATION, "migration" },
		{ ASSAY_DISTURB_STEAL, "steal" },
		{ ASSAY_DISTURB_FAULT, "fault" },
		{ ASSAY_DISTURB_THROTTLE, "throttle" },
		{ ASSAY_DISTURB_FREQUENCY, "frequency" },
		{ ASSAY_DISTURB_PRESSURE, "pressure" },
		{ ASSAY_DISTURB_SLOW, "slow core" },
		{ ASSAY_DISTURB_DEVICE, "device throttled" },
	};
	size_t n = 0;

	snprintf(buf, size, "-");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (flags & kinds[i].flag && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "," : "", kinds[i].name);
}

static void add_samples(const struct assay_result *r, bool utf8, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrll" };
	const char *raw = r->raw_metrics ? r->raw_metrics : "";
	unsigned round = 1;

	assay_columns_row(&t, (const char *const[]){ "sample", "round", "iterations", "ns per iteration",
						     "disturbed by", *raw ? "metrics" : NULL });
	for (size_t i = 0; i < r->n_samples; i++) {
		const struct assay_sample *s = &r->samples[i];
		char no[24], in[24], it[24], ns[32], flags[96];
		struct assay_text metrics = { 0 };

		round += (s->flags & ASSAY_SAMPLE_NEW_ROUND) != 0;
		snprintf(no, sizeof(no), "%zu", i);
		snprintf(in, sizeof(in), "%u", round);
		snprintf(it, sizeof(it), "%llu", (unsigned long long)s->iterations);
		snprintf(ns, sizeof(ns), "%.3f", s->iterations ? (double)s->ns / (double)s->iterations : 0.0);
		flags_text(s->flags, flags, sizeof(flags));
		assay_raw_metrics_text(r, &raw, utf8, &metrics);
		assay_columns_row(&t, (const char *const[]){ no, in, it, ns, flags, metrics.s });
		assay_text_release(&metrics);
	}
	assay_text_add(out, "\n");
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

/* Its numbers, metrics, counts, and with @samples every raw sample. */
static void add_result(const struct assay_result *r, bool samples, const struct assay_emit_style *style,
		       struct assay_text *out)
{
	struct assay_columns t = { .align = "lrl", .indent = "  ", .width = style->width };
	char buf[64], note[320];

	assay_text_addf(out, "%s%s%s\n", assay_paint(style, ASSAY_BOLD), r->c.key, assay_paint(style, ASSAY_RESET));
	add_facts(r, style, out);
	add_numbers(r, style, out);
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct assay_metric *m = &r->metrics[i];

		if (assay_run_cells_repeats(r, m))
			continue;
		assay_metric_text(m->tag, m->value, m->unit, style->utf8, buf, sizeof(buf));
		snprintf(note, sizeof(note), "%s%s%s%s",
			 m->better > 0   ? "higher is better"
			 : m->better < 0 ? "lower is better"
					 : "",
			 m->better && m->source[0] ? "; " : "", m->source, m->estimated ? ", an estimate" : "");
		assay_columns_row(&t, (const char *const[]){ m->tag, buf, note });
	}
	for (size_t i = 0; i < r->counters.n; i++) {
		const struct assay_count *c = &r->counters.v[i];

		assay_count_text(c, buf, sizeof(buf));
		assay_count_note(c, note, sizeof(note));
		assay_columns_row(&t, (const char *const[]){ c->name, buf, note });
	}
	for (size_t i = 0; i < r->counters.n_missing; i++) {
		const struct assay_unavailable *u = &r->counters.missing[i];

		snprintf(note, sizeof(note), "%s: %s", u->source, u->reason);
		assay_columns_row(&t, (const char *const[]){ u->name, "unavailable", note });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (samples && r->samples)
		add_samples(r, style->utf8, out);
	assay_log_text(out, "", r->log);
}

static void write_cases(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->run.run;
	struct assay_emit_style by_function = *style;

	for (size_t i = 0; i < run->n_results; i++) {
		if (i)
			assay_text_add(out, "\n");
		add_result(&run->results[i], r->run.samples, style, out);
	}
	if (!run->exact || !run->exact->n_cases)
		return;
	by_function.verbose = true;
	assay_text_add(out, "\n");
	assay_counts_text(run->exact, &by_function, out);
}

ASSAY_EMITTER(run_header, ASSAY_REPORT_RUN, "header", write_header);
ASSAY_EMITTER(run_cases, ASSAY_REPORT_RUN, "cases", write_cases);
