/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and sentences that the terminal, Markdown and JUnit share. */
#include "reports/gate/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

const enum assay_verdict assay_gate_words_order[ASSAY_N_VERDICTS] = {
	ASSAY_WRONG_RESULT, ASSAY_NOT_MEASURED, ASSAY_REGRESSED, ASSAY_INCOMPARABLE,
	ASSAY_INCONCLUSIVE, ASSAY_IMPROVED,     ASSAY_PASS,
};

const struct assay_gate_case **assay_gate_words_sorted(const struct assay_gate_report *r)
{
	const struct assay_gate_case **v = malloc((r->n_cases + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t k = 0; v && k < 2 * ASSAY_N_VERDICTS; k++)
		for (size_t i = 0; i < r->n_cases; i++)
			if (r->cases[i].verdict == assay_gate_words_order[k / 2] && r->cases[i].suspect == !(k % 2))
				v[n++] = &r->cases[i];
	return v;
}

const char assay_gate_words_untrusted[] = "a self-check failed, so no verdict on time can be trusted on this host "
					  "today; try again when it is quieter, or "
					  "see what it can detect with 'assay certify'";

void assay_gate_words_change(double ratio, bool fine, char *buf, size_t size)
{
	double percent = 100 * (ratio - 1);
	int decimals = fine && fabs(percent) < 9.995 ? 2 : fabs(percent) < 99.95 ? 1 : 0;

	if (!isfinite(ratio)) {
		buf[0] = '\0';
		return;
	}
	/* what rounds to nothing has no sign, and two noisy pairs can span anything */
	if (percent >= 999.5)
		snprintf(buf, size, "over +999 %%");
	else if (fabs(percent) < (fine ? 0.005 : 0.05))
		snprintf(buf, size, "%.*f %%", decimals, 0.0);
	else
		snprintf(buf, size, "%+.*f %%", decimals, percent);
}

void assay_gate_words_times(double ratio, char *buf, size_t size)
{
	double times = 1 / ratio;
	int decimals = times < 9.95 ? 2 : times < 99.5 ? 1 : 0;

	buf[0] = '\0';
	if (isfinite(times) && times > 0)
		snprintf(buf, size, "%.*fx", decimals, times);
}

/* Of two variants the numbers are speed-ups, whose bounds change places. */
static void change_or_speedup(const struct assay_gate_case *c, double ratio, char *buf, size_t size)
{
	if (c->base_variant[0])
		assay_gate_words_times(ratio, buf, size);
	else
		assay_gate_words_change(ratio, c->evidence == ASSAY_EVIDENCE_PAIRED, buf, size);
}

bool assay_gate_words_has_change(const struct assay_gate_case *c)
{
	const bool of_time = c->evidence == ASSAY_EVIDENCE_PAIRED || c->evidence == ASSAY_EVIDENCE_STORED;

	return isfinite(c->ratio) && (!of_time || (isfinite(c->ci_lo) && isfinite(c->ci_hi)));
}

void assay_gate_words_of(const struct assay_gate_case *c, struct assay_gate_words *out)
{
	const bool turned = c->base_variant[0];
	char lo[32], hi[32];

	memset(out, 0, sizeof(*out));
	if (assay_gate_words_has_change(c))
		change_or_speedup(c, c->ratio, out->change, sizeof(out->change));
	/* a count differs or does not, however little */
	if (c->evidence == ASSAY_EVIDENCE_EXACT && c->ratio != 1 && fabs(c->ratio - 1) < 0.001)
		snprintf(out->change, sizeof(out->change), "%+.3f %%", 100 * (c->ratio - 1));
	change_or_speedup(c, turned ? c->ci_hi : c->ci_lo, lo, sizeof(lo));
	change_or_speedup(c, turned ? c->ci_lo : c->ci_hi, hi, sizeof(hi));
	if (lo[0] && hi[0])
		snprintf(out->interval, sizeof(out->interval), "%s to %s", lo, hi);
	if (isfinite(c->margin_frac) && out->change[0])
		snprintf(out->margin, sizeof(out->margin), "%.3g %%", 100 * c->margin_frac);
	if (c->pairs)
		snprintf(out->pairs, sizeof(out->pairs), "%zu", c->pairs);
}

/* Is it one of the rows that only say that there is no baseline? */
static bool gate_words_baseless(const struct assay_gate_report *r, const struct assay_gate_case *c)
{
	return r->no_baseline && c->verdict == ASSAY_INCOMPARABLE && c->evidence != ASSAY_EVIDENCE_EXACT;
}

bool assay_gate_words_matters(const struct assay_gate_report *r, const struct assay_gate_case *c)
{
	return c->verdict != ASSAY_PASS && !gate_words_baseless(r, c);
}

const char *assay_gate_words_no_baseline(const struct assay_gate_report *r)
{
	if (!r->no_baseline)
		return NULL;
	for (size_t i = 0; i < r->n_cases; i++)
		if (gate_words_baseless(r, &r->cases[i]) && r->cases[i].reason[0])
			return r->cases[i].reason;
	return "no baseline";
}

struct assay_gate_counts assay_gate_words_count(const struct assay_gate_report *r)
{
	struct assay_gate_counts n = { .baseless = 0 };

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		(*(c->skipped ? &n.skipped : gate_words_baseless(r, c) ? &n.baseless : &n.of[c->verdict]))++;
	}
	return n;
}

size_t assay_gate_words_part(const struct assay_gate_counts *n, enum assay_verdict v, bool also, const char **name)
{
	*name = !also ? assay_verdict_name(v) : v == ASSAY_PASS ? "skipped" : "without a baseline";
	return !also ? n->of[v] : v == ASSAY_PASS ? n->skipped : v == ASSAY_INCOMPARABLE ? n->baseless : 0;
}

void assay_gate_words_cases(const struct assay_gate_report *r, char *buf, size_t size)
{
	struct assay_name_index seen = { 0 };
	size_t at, measured = 0, cases;
	int rc = 0;

	/* a counted case may be another than the measured one: of a smaller shape, or of a device that is not here */
	for (unsigned exact = 0; exact < 2; exact++) {
		for (size_t i = 0; i < r->n_cases && !rc; i++)
			if ((r->cases[i].evidence == ASSAY_EVIDENCE_EXACT) == exact)
				rc = assay_name_index_put(&seen, r->cases[i].key, i, &at, NULL, NULL);
		measured = exact ? measured : seen.n;
	}
	cases = rc ? r->n_cases : seen.n;
	assay_name_index_release(&seen);
	if (!rc && measured && measured < cases && cases < r->n_cases)
		snprintf(buf, size, "%zu verdicts on %zu case%s and on %zu that %s counted alone", r->n_cases, measured,
			 measured == 1 ? "" : "s", cases - measured, cases - measured == 1 ? "was" : "were");
	else if (r->n_cases == cases)
		snprintf(buf, size, "%zu case%s", cases, cases == 1 ? "" : "s");
	else
		snprintf(buf, size, "%zu verdicts on %zu case%s", r->n_cases, cases, cases == 1 ? "" : "s");
}

/* ---- the verdict as a sentence ---- */

const struct assay_gate_case *assay_gate_words_worst(const struct assay_gate_report *r)
{
	const struct assay_gate_case *worst = NULL;
	double most = -1;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];
		const bool timed = c->evidence == ASSAY_EVIDENCE_PAIRED || c->evidence == ASSAY_EVIDENCE_STORED;
		/* times before counts, which are many for one change */
		const double size = !isfinite(c->ratio) ? 0 : fabs(log(c->ratio)) + (timed ? 1e3 : 0);

		if (c->verdict == r->verdict && !gate_words_baseless(r, c) && size > most) {
			worst = c;
			most = size;
		}
	}
	return worst;
}

/* The last '/' of the first @len bytes; 0: there is none, or it is the first. */
static size_t last_slash(const char *key, size_t len)
{
	while (len && key[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

/* "matmul.ternary/avx2": the key without axes, threads and cache. An imported command may have a '/' itself. */
static int name_length(const char *key)
{
	size_t len = strlen(key), at = last_slash(key, len);
	const bool none = at && !strcmp(key + at, "/-") && !strncmp(key + last_slash(key, at), "/t=", 3);

	if (none || !strcmp(key + at, "/warm") || !strcmp(key + at, "/cold"))
		len = at;
	at = last_slash(key, len);
	if (!strncmp(key + at, "/t=", 3))
		len = at;
	at = last_slash(key, len);
	return last_slash(key, at) ? (int)at : (int)len;
}

/* "is 11.5 % slower", "takes 2.40x as long", "does 3.10 % more instructions", or what the row itself says. */
static void add_what_happened(const struct assay_gate_case *c, struct assay_text *out)
{
	const bool of_program = assay_key_is_program(c->key) && strcmp(c->metric, "time_s") != 0 &&
				(c->evidence == ASSAY_EVIDENCE_EXACT || c->evidence == ASSAY_EVIDENCE_PAIRED);
	const bool counted = c->evidence == ASSAY_EVIDENCE_EXACT, slower = c->ratio > 1;
	const char *than = c->base_variant[0] ? " than " : "", *metric = c->metric;
	char change[32];

	if (of_program && c->ratio > 0 && isfinite(c->ratio)) {
		assay_gate_words_change(c->ratio, true, change, sizeof(change));
		assay_text_addf(out, " is %s %s in %s", change + strspn(change, "+-"), slower ? "worse" : "better",
				metric);
		return;
	}
	if (!(c->ratio > 0) || !isfinite(c->ratio) || (!counted && strcmp(metric, "time_s") != 0)) {
		assay_text_addf(out, " breaks a limit: %s", c->reason);
		return;
	}
	assay_gate_words_change(c->ratio, true, change, sizeof(change));
	if (counted) {
		metric += strncmp(metric, "exact_", 6) ? 0 : 6;
		assay_text_addf(out, " does %s %s", change + strspn(change, "+-"), slower ? "more " : "fewer ");
		for (; *metric; metric++)
			assay_text_addn(out, *metric == '_' ? " " : metric, 1);
	} else if (c->base_variant[0] && !slower) {
		assay_gate_words_times(c->ratio, change, sizeof(change));
		assay_text_addf(out, " is %s as fast as %s", change, c->base_variant);
	} else if (c->ratio >= 2) {
		assay_gate_words_times(1 / c->ratio, change, sizeof(change));
		assay_text_addf(out, " takes %s as long%s%s", change, c->base_variant[0] ? " as " : "",
				c->base_variant);
	} else {
		assay_text_addf(out, " is %s %s%s%s", change + strspn(change, "+-"), slower ? "slower" : "faster", than,
				c->base_variant);
	}
}

void assay_gate_words_sentence(const struct assay_gate_report *r, struct assay_text *out)
{
	const struct assay_gate_case *worst = assay_gate_words_worst(r);
	const size_t n = assay_gate_words_count(r).of[r->verdict];
	char more[32];

	if (!r->n_cases) {
		assay_text_add(out, "Nothing was judged");
		return;
	}
	snprintf(more, sizeof(more), "%zu more verdict%s", n - 1, n == 2 ? "" : "s");
	if (worst)
		assay_text_addn(out, worst->key,
				r->verdict == ASSAY_PASS || r->verdict == ASSAY_INCONCLUSIVE
					? 0
					: (size_t)name_length(worst->key));
	switch (worst ? r->verdict : ASSAY_PASS) {
	case ASSAY_WRONG_RESULT:
		assay_text_add(out, " computes a wrong result");
		break;
	case ASSAY_NOT_MEASURED:
		assay_text_add(out, " was not measured");
		break;
	case ASSAY_REGRESSED:
	case ASSAY_IMPROVED:
		add_what_happened(worst, out);
		break;
	case ASSAY_INCOMPARABLE:
		assay_text_add(out, " cannot be compared");
		break;
	case ASSAY_INCONCLUSIVE:
		assay_text_add(out, "No case is known to be slower, but not every case could be shown to keep its "
				    "margin");
		return;
	default:
		assay_text_add(out, r->no_baseline ? "There is nothing to compare with, so speed was not judged"
						   : "No case is slower than its margin allows");
		return;
	}
	if (n > 1)
		assay_text_addf(out, ", and %s %s %s", more, n == 2 ? "is" : "are", assay_verdict_name(r->verdict));
}

/* ---- the headline ---- */

size_t assay_gate_words_suspects(const struct assay_gate_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cases; i++)
		n += r->cases[i].suspect;
	return n;
}

size_t assay_gate_words_undecided_controls(const struct assay_gate_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_controls; i++)
		n += r->controls[i].ok && r->controls[i].verdict == ASSAY_INCONCLUSIVE;
	return n;
}

/* "3 of 20 verdicts inconclusive, one of them apparently 12 % slower" */
static void undecided_text(const struct assay_gate_report *r, size_t n, char *buf, size_t size)
{
	const size_t suspects = assay_gate_words_suspects(r);
	double worst = 0;
	char of[32] = "", suspect[80] = "";

	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].suspect)
			worst = fmax(worst, 100 * (r->cases[i].ratio - 1));
	if (n > 1 && suspects == 1)
		snprintf(of, sizeof(of), "one of them ");
	else if (n > 1 && suspects)
		snprintf(of, sizeof(of), "%zu of them ", suspects);
	if (suspects)
		snprintf(suspect, sizeof(suspect), ", %sapparently %s%.*f %% slower", of, suspects > 1 ? "up to " : "",
			 worst < 9.95 ? 1 : 0, worst);
	snprintf(buf, size, "%zu of %zu verdicts inconclusive%s", n, r->n_cases, suspect);
}

/* "1.93x as fast (1.90x to 1.96x)", or the range over several cases. */
static void speedup_text(const struct assay_gate_report *r, char *buf, size_t size)
{
	double least = INFINITY, most = 0;
	const struct assay_gate_case *only = NULL;
	struct assay_gate_words w;
	char from[32], to[32];
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		if (!c->base_variant[0] || !assay_gate_words_has_change(c))
			continue;
		only = c;
		n++;
		least = fmin(least, c->ratio);
		most = fmax(most, c->ratio);
	}
	if (!n)
		return;
	assay_gate_words_of(only, &w);
	assay_gate_words_times(most, from, sizeof(from));
	assay_gate_words_times(least, to, sizeof(to));
	if (n > 1)
		snprintf(buf, size, ": %s to %s as fast in %zu cases", from, to, n);
	else
		snprintf(buf, size, ": %s as fast%s%s%s", to, w.interval[0] ? " (" : "", w.interval,
			 w.interval[0] ? ")" : "");
}

void assay_gate_words_doubt(const struct assay_gate_report *r, char *buf, size_t size)
{
	const size_t controls = assay_gate_words_undecided_controls(r);
	const size_t undecided = assay_gate_words_count(r).of[ASSAY_INCONCLUSIVE];
	size_t n = 0;

	buf[0] = '\0';
	if (undecided) {
		undecided_text(r, undecided, buf, size);
		n = strlen(buf);
	}
	if (controls)
		snprintf(buf + n, size - n, "%s%zu of %zu self-checks inconclusive", n ? "; " : "", controls,
			 r->n_controls);
}

void assay_gate_words_headline(const struct assay_gate_report *r, struct assay_text *out)
{
	const bool good = r->verdict == ASSAY_PASS || r->verdict == ASSAY_IMPROVED;
	const struct assay_gate_counts n = assay_gate_words_count(r);
	const size_t passed = n.of[ASSAY_PASS] + n.of[ASSAY_IMPROVED];
	char doubt[192], speedup[96];

	assay_gate_words_doubt(r, doubt, sizeof(doubt));
	speedup_text(r, speedup, sizeof(speedup));
	if (good && doubt[0])
		assay_text_addf(out, ", but %s", doubt);
	assay_text_add(out, ": ");
	if (r->verdict == ASSAY_INCONCLUSIVE && doubt[0])
		assay_text_addf(out, "%s; %zu passed; ", doubt, passed);
	assay_text_add(out, r->head[0] ? r->head : "this run");
	/* without a baseline a verdict says what it is of, and a base is the file of recorded counts */
	if (r->no_baseline)
		assay_text_addf(out, "%s%s%s%s", r->base[0] ? " against " : "", r->base,
				good ? ": correctness, manifest and limits passed" : "",
				good && r->base[0] ? ", counts are as recorded" : "");
	else
		assay_text_addf(out, " against %s%s", r->base[0] ? r->base : "no baseline", speedup);
	if (!good && r->verdict != ASSAY_INCONCLUSIVE && doubt[0])
		assay_text_addf(out, "; %s", doubt);
	if (r->n_unjudged)
		assay_text_addf(out, "; %zu demand%s on skipped cases %s not judged", r->n_unjudged,
				r->n_unjudged == 1 ? "" : "s", r->n_unjudged == 1 ? "was" : "were");
	if (r->no_baseline)
		assay_text_add(out, "; speed was not judged");
}

void assay_gate_words_control(const struct assay_gate_control *c, char *buf, size_t size)
{
	if (c->kind == ASSAY_CONTROL_SLOWER)
		snprintf(buf, size, "head with %.3g %% more work", 100 * c->injected_frac);
	else
		snprintf(buf, size, "base against base");
}

void assay_gate_words_controls(const struct assay_gate_report *r, char *buf, size_t size)
{
	char undecided[40] = "", failed[40] = "";
	const size_t n_undecided = assay_gate_words_undecided_controls(r);
	size_t n_failed = 0;

	for (size_t i = 0; i < r->n_controls; i++)
		n_failed += !r->controls[i].ok;
	if (n_undecided)
		snprintf(undecided, sizeof(undecided), ", %zu inconclusive", n_undecided);
	if (n_failed)
		snprintf(failed, sizeof(failed), ", %zu failed", n_failed);
	snprintf(buf, size, "%zu of %zu passed%s%s", r->n_controls - n_failed - n_undecided, r->n_controls, undecided,
		 failed);
}
