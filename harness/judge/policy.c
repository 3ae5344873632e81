/* SPDX-License-Identifier: Apache-2.0 */
/* Reads policy files; knows no metric and no case by name. */
#include "judge/policy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/grow.h"
#include "model/quantity.h"

/* Each is tried against every case. */
#define MAX_RULES 5000

static const struct assay_conf_option root_options[] = {
	{ "alpha", false },  { "max_dropped", false },  { "pass_alpha", false },
	{ "budget", false }, { "require_edges", true }, { NULL, false },
};
static const struct assay_conf_option margin_options[] = { { "stored", false }, { "paired", false }, { NULL, false } };
static const struct assay_conf_option limit_options[] = { { "require", true },
							  { "where_counted", true },
							  { NULL, false } };
static const struct assay_conf_option exact_options[] = { { "allow", true }, { NULL, false } };
static const struct assay_conf_option alert_options[] = {
	{ "when", false }, { "cases", false }, { "for", false }, { "severity", false }, { NULL, false }
};
static const struct assay_conf_grammar root_sections[] = {
	{ .name = "margin", .titled = true, .options = margin_options },
	{ .name = "limit", .titled = true, .options = limit_options },
	{ .name = "exact", .titled = true, .options = exact_options },
	{ .name = "alert", .titled = true, .options = alert_options },
	{ .name = NULL },
};
static const struct assay_conf_grammar grammar = { .options = root_options, .sections = root_sections };

struct assay_policy assay_policy_default(void)
{
	return (struct assay_policy){ .stored_margin_frac = 0.10,
				      .paired_margin_frac = 0.005,
				      .alpha = 0.01,
				      .pass_alpha = 0.025,
				      .max_dropped_frac = 0.30,
				      .budget_ns = 10000000000u };
}

/* Above 0, up to @hi. */
static int read_frac(const struct assay_conf_section *s, const char *name, double hi, double *out,
		     struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, name);
	double v;

	if (!e)
		return 0;
	if (assay_parse_frac(e->values[0].text, name, 0.0, hi, &v, NULL) || v <= 0.0)
		return assay_conf_fail(err, e->path, e->values[0].line,
				       "%s is '%s', expected a share above 0 and up to %g %% such as \"1%%\"", name,
				       e->values[0].text, hi * 100.0);
	*out = v;
	return 0;
}

static int read_budget(const struct assay_conf_section *s, uint64_t *out, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "budget");
	uint64_t ns;

	if (!e)
		return 0;
	if (assay_parse_duration_ns(e->values[0].text, "budget", &ns, NULL))
		return assay_conf_fail(err, e->path, e->values[0].line,
				       "budget is '%s', expected a time such as \"10s\"", e->values[0].text);
	*out = ns;
	return 0;
}

static int take_glob(const char *path, unsigned line, const char *glob, char *out, struct assay_err *err)
{
	if (!glob[0] || strlen(glob) >= ASSAY_KEY_MAX)
		return assay_conf_fail(err, path, line, "bad glob '%s', expected one over keys such as \"matmul.*\"",
				       glob);
	memcpy(out, glob, strlen(glob) + 1);
	return 0;
}

static int read_glob(const char *path, const struct assay_conf_section *s, char *out, struct assay_err *err)
{
	return take_glob(path, s->line, s->title, out, err);
}

static int read_edges(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "require_edges");
	int rc = 0;

	if (!e || !e->n)
		return 0;
	p->edges = calloc(e->n, sizeof(*p->edges));
	if (!p->edges)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	p->edges_line = e->values[0].line;
	for (size_t i = 0; i < e->n && !rc; i++) {
		rc = take_glob(p->path, e->values[i].line, e->values[i].text, p->edges[i], err);
		p->n_edges += !rc;
	}
	return rc;
}

/* @n more rules of one kind, of which there are @have. */
static int check_rules(const struct assay_policy *p, const struct assay_conf_section *s, size_t have, size_t n,
		       struct assay_err *err)
{
	return have + n <= MAX_RULES
		       ? 0
		       : assay_conf_fail(err, p->path, s->line, "more than %d rules of kind '%s' in one policy",
					 MAX_RULES, s->name);
}

static int add_margin(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	struct assay_margin *v;
	int rc;

	if (!assay_conf_entry(s, "stored") && !assay_conf_entry(s, "paired"))
		return assay_conf_fail(err, p->path, s->line,
				       "margin \"%s\" sets nothing, expected stored = \"10%%\" or paired = \"0.5%%\"",
				       s->title);
	rc = check_rules(p, s, p->n_margins, 1, err);
	if (rc)
		return rc;
	if (assay_grow(&p->margins, p->n_margins, sizeof(*v)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	v = &p->margins[p->n_margins];
	memset(v, 0, sizeof(*v));
	v->line = s->line;
	rc = read_glob(p->path, s, v->cases, err);
	if (!rc)
		rc = read_frac(s, "stored", 1.0, &v->stored_frac, err);
	if (!rc)
		rc = read_frac(s, "paired", 1.0, &v->paired_frac, err);
	if (!rc)
		p->n_margins++;
	return rc;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* A finite number. @s moves behind it and blanks. */
static bool take_number(const char **s, double *out)
{
	char *end;

	*out = strtod(*s, &end);
	if (end == *s || !isfinite(*out))
		return false;
	*s = skip_blanks(end);
	return true;
}

/* "2%" → 0.02. */
static bool take_share(const char **s, double *out)
{
	if (!isdigit((unsigned char)**s) || !take_number(s, out) || **s != '%')
		return false;
	*out /= 100.0;
	*s = skip_blanks(*s + 1);
	return true;
}

/* "3 GB/s", "20us", "50%", "0.5". A unit ends where the text does, or before "+-". */
static bool take_quantity(const char **s, struct assay_limit *l)
{
	const char *end;
	double factor;
	size_t len;

	if (!take_number(s, &l->limit))
		return false;
	end = strstr(*s, "+-");
	len = end ? (size_t)(end - *s) : strlen(*s);
	while (len && ((*s)[len - 1] == ' ' || (*s)[len - 1] == '\t'))
		len--;
	if (!len)
		return true;
	/* blanks lie within "k requests/s", and bytes of UTF-8 in "µs" */
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)(*s)[i];

		if (!isalpha(c) && !strchr("%/_ ", c) && c < 0x80)
			return false;
	}
	if (len >= sizeof(l->written))
		return false;
	memcpy(l->written, *s, len);
	*s = skip_blanks(*s + len);
	if (!assay_unit_read(l->metric, l->written, &factor, l->unit))
		return false;
	l->limit *= factor;
	return true;
}

/* "base", "base + 2%", "base - 2%", or a quantity. */
static bool take_bound(const char **s, struct assay_limit *l)
{
	bool less;

	if (strncmp(*s, "base", 4))
		return take_quantity(s, l);
	l->base = true;
	*s = skip_blanks(*s + 4);
	if ((**s != '+' && **s != '-') || !strncmp(*s, "+-", 2))
		return true;
	less = **s == '-';
	*s = skip_blanks(*s + 1);
	if (!take_share(s, &l->limit))
		return false;
	l->limit = less ? -l->limit : l->limit;
	return true;
}

/* metric (">=" | "<=" | "==") bound, after "==" also "+-" and a share. */
static bool parse_requirement(const char *s, struct assay_limit *l)
{
	size_t len = 0;

	s = skip_blanks(s);
	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	if (!len || len >= sizeof(l->metric))
		return false;
	memcpy(l->metric, s, len);
	l->metric[len] = '\0';
	s = skip_blanks(s + len);
	if (!*s || !strchr("<>=", *s) || s[1] != '=')
		return false;
	l->floor = s[0] == '>';
	l->equal = s[0] == '=';
	s = skip_blanks(s + 2);
	if (!take_bound(&s, l))
		return false;
	if (l->equal && !strncmp(s, "+-", 2)) {
		s = skip_blanks(s + 2);
		if (!take_share(&s, &l->tolerance_frac))
			return false;
	}
	return !*s;
}

int assay_limit_check_unit(const struct assay_policy *p, const struct assay_limit *l, const char *unit,
			   struct assay_err *err)
{
	char choice[2 * ASSAY_METRIC_TAG_MAX + 16];

	if (!l->unit[0] || !strcmp(l->unit, unit))
		return 0;
	assay_unit_choice(l->metric, unit, choice, sizeof(choice));
	return assay_conf_fail(err, p->path, l->line, "%s cannot be in '%s', it takes %s", l->metric, l->written,
			       choice);
}

static int add_requirements(struct assay_policy *p, const struct assay_conf_section *s,
			    const struct assay_conf_entry *e, bool where_counted, struct assay_err *err)
{
	struct assay_limit *v;
	int rc = check_rules(p, s, p->n_limits, e->n, err);

	if (rc)
		return rc;
	v = realloc(p->limits, (p->n_limits + e->n) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	p->limits = v;
	for (size_t i = 0; !rc && i < e->n; i++) {
		v = &p->limits[p->n_limits];
		memset(v, 0, sizeof(*v));
		v->line = e->values[i].line;
		v->where_counted = where_counted;
		rc = read_glob(p->path, s, v->cases, err);
		if (!rc && !parse_requirement(e->values[i].text, v))
			rc = assay_conf_fail(err, p->path, v->line,
					     "cannot read the requirement '%s', expected \"metric >= number\", "
					     "\"metric <= base + 2%%\" or \"metric == base +- 1%%\"",
					     e->values[i].text);
		if (!rc) {
			/* Units of the harness's own metrics are known at once, others with what was measured. */
			const struct assay_metric_info *own = assay_metric_find(v->metric);

			rc = own ? assay_limit_check_unit(p, v, own->unit, err) : 0;
		}
		if (!rc)
			p->n_limits++;
	}
	return rc;
}

static int add_limits(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *always = assay_conf_entry(s, "require"),
				      *counted = assay_conf_entry(s, "where_counted");
	int rc = 0;

	if (!always && !counted)
		return assay_conf_fail(err, p->path, s->line,
				       "limit \"%s\" demands nothing, expected require = {\"metric >= number\"}",
				       s->title);
	if (always)
		rc = add_requirements(p, s, always, false, err);
	if (counted && !rc)
		rc = add_requirements(p, s, counted, true, err);
	return rc;
}

/* ---- alerts ---- */

/* metric ("<" | ">") quantity */
static bool parse_condition(const char *s, struct assay_alert *a)
{
	struct assay_limit l = { .limit = 0 };
	const struct assay_metric_info *own;
	size_t len;

	s = skip_blanks(s);
	len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	if (!len || len >= sizeof(l.metric))
		return false;
	memcpy(l.metric, s, len);
	s = skip_blanks(s + len);
	if (*s != '<' && *s != '>')
		return false;
	a->below = *s == '<';
	s = skip_blanks(s + 1);
	if (!take_quantity(&s, &l) || *s)
		return false;
	own = assay_metric_find(l.metric);
	snprintf(a->metric, sizeof(a->metric), "%s", l.metric);
	snprintf(a->unit, sizeof(a->unit), "%s", l.unit[0] ? l.unit : own ? own->unit : "");
	a->limit = l.limit;
	return !own || !l.unit[0] || !strcmp(own->unit, l.unit);
}

static int add_alert(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *when = assay_conf_entry(s, "when"), *cases = assay_conf_entry(s, "cases"),
				      *long_for = assay_conf_entry(s, "for"),
				      *severity = assay_conf_entry(s, "severity");
	struct assay_alert *a;
	int rc = check_rules(p, s, p->n_alerts, 1, err);

	if (rc)
		return rc;
	if (assay_grow(&p->alerts, p->n_alerts, sizeof(*a)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	a = &p->alerts[p->n_alerts];
	*a = (struct assay_alert){ .cases = "*" };
	if (!s->title[0] || strlen(s->title) >= sizeof(a->name) ||
	    s->title[strspn(s->title, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")])
		return assay_conf_fail(err, p->path, s->line,
				       "alert \"%s\" is not a name of up to %zu letters, digits, '_' and '-'", s->title,
				       sizeof(a->name) - 1);
	for (size_t i = 0; i < p->n_alerts; i++)
		if (!strcmp(p->alerts[i].name, s->title))
			return assay_conf_fail(err, p->path, s->line, "alert \"%s\" appears twice", s->title);
	if (!when || !parse_condition(when->values[0].text, a))
		return assay_conf_fail(
			err, p->path, when ? when->values[0].line : s->line,
			"alert \"%s\" needs when = \"metric < number\" or \"metric > number\", with a unit "
			"of the metric or none%s%s",
			s->title, when ? ", not " : "", when ? when->values[0].text : "");
	snprintf(a->name, sizeof(a->name), "%s", s->title);
	snprintf(a->written, sizeof(a->written), "%s", when->values[0].text);
	snprintf(a->severity, sizeof(a->severity), "%s", severity ? severity->values[0].text : "warning");
	if (cases)
		rc = take_glob(p->path, cases->values[0].line, cases->values[0].text, a->cases, err);
	if (!rc && long_for && assay_parse_duration_ns(long_for->values[0].text, "for", &a->for_ns, err))
		rc = assay_conf_fail(err, p->path, long_for->values[0].line,
				     "for is '%s', expected a time such as 5min", long_for->values[0].text);
	p->n_alerts += !rc;
	return rc;
}

/* ---- tolerances of exact counts ---- */

static bool find_event(const char *s, size_t len, enum assay_exact_event *out)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
		const char *name = assay_exact_event_name((enum assay_exact_event)e);

		if (strlen(name) == len && !strncmp(s, name, len)) {
			*out = (enum assay_exact_event)e;
			return true;
		}
	}
	return false;
}

/* "d1_misses 1%", "ll_misses 64" */
static int read_allowance(const struct assay_conf_entry *e, size_t i, struct assay_allowance *out,
			  struct assay_err *err)
{
	const char *s = e->values[i].text, *value;
	size_t len = strcspn(s, " \t");
	uint64_t count;

	out->frac = out->count = -1;
	value = s + len + strspn(s + len, " \t");
	if (!find_event(s, len, &out->event)) {
		const char *names[ASSAY_N_EXACT_EVENTS];
		char name[64], hint[256];

		for (unsigned k = 0; k < ASSAY_N_EXACT_EVENTS; k++)
			names[k] = assay_exact_event_name((enum assay_exact_event)k);
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), s);
		return assay_conf_fail(err, e->path, e->values[i].line, "unknown count '%s'%s", name,
				       assay_conf_hint(name, names, ASSAY_N_EXACT_EVENTS, hint, sizeof(hint)));
	}
	if (!assay_parse_u64(value, "allow", 0, UINT32_MAX, &count, NULL)) {
		out->count = (double)count;
		return 0;
	}
	if (strchr(value, '%') && !assay_parse_frac(value, "allow", 0.0, 1.0, &out->frac, NULL))
		return 0;
	return assay_conf_fail(
		err, e->path, e->values[i].line,
		"cannot read '%s', expected a count and what it may differ by, such as \"d1_misses 1%%\" or "
		"\"d1_misses 64\"",
		s);
}

static int add_allowances(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "allow");
	struct assay_allowance *v;
	int rc = 0;

	if (!e)
		return assay_conf_fail(err, p->path, s->line,
				       "exact \"%s\" allows nothing, expected allow = {\"d1_misses 1%%\"}", s->title);
	rc = check_rules(p, s, p->n_allowances, e->n, err);
	if (rc)
		return rc;
	v = realloc(p->allowances, (p->n_allowances + e->n) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	p->allowances = v;
	for (size_t i = 0; i < e->n && !rc; i++) {
		rc = read_glob(p->path, s, v[p->n_allowances].cases, err);
		if (!rc)
			rc = read_allowance(e, i, &v[p->n_allowances], err);
		if (!rc)
			v[p->n_allowances++].line = s->line;
	}
	return rc;
}

/* ---- the whole ---- */

static int read_policy(struct assay_policy *out, const struct assay_conf *conf, struct assay_err *err)
{
	struct assay_policy p = assay_policy_default();
	int rc;

	snprintf(p.path, sizeof(p.path), "%s", conf->path);
	rc = read_frac(&conf->root, "alpha", 0.5, &p.alpha, err);
	if (!rc)
		rc = read_frac(&conf->root, "max_dropped", 1.0, &p.max_dropped_frac, err);
	if (!rc)
		rc = read_frac(&conf->root, "pass_alpha", 0.5, &p.pass_alpha, err);
	if (!rc)
		rc = read_budget(&conf->root, &p.budget_ns, err);
	if (!rc)
		rc = read_edges(&p, &conf->root, err);
	for (size_t i = 0; !rc && i < conf->root.n_sections; i++) {
		const struct assay_conf_section *s = &conf->root.sections[i];

		rc = !strcmp(s->name, "margin")  ? add_margin(&p, s, err)
		     : !strcmp(s->name, "exact") ? add_allowances(&p, s, err)
		     : !strcmp(s->name, "alert") ? add_alert(&p, s, err)
						 : add_limits(&p, s, err);
	}
	if (rc)
		assay_policy_release(&p);
	else
		*out = p;
	return rc;
}

int assay_policy_load(struct assay_policy *out, const char *path, struct assay_err *err)
{
	struct assay_conf conf;
	int rc = assay_conf_load(&conf, path, &grammar, err);

	if (rc)
		return rc;
	rc = read_policy(out, &conf, err);
	assay_conf_release(&conf);
	return rc;
}

int assay_policy_parse(struct assay_policy *out, const char *text, const char *path, struct assay_err *err)
{
	char *copy = strdup(text);
	struct assay_conf conf;
	int rc;

	if (!copy)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", path);
	rc = assay_conf_parse(&conf, copy, strlen(copy), path, &grammar, err);
	free(copy);
	if (rc)
		return rc;
	rc = read_policy(out, &conf, err);
	assay_conf_release(&conf);
	return rc;
}

void assay_policy_release(struct assay_policy *p)
{
	free(p->edges);
	free(p->margins);
	free(p->limits);
	free(p->allowances);
	free(p->alerts);
	memset(p, 0, sizeof(*p));
}

bool assay_policy_selects(const char *glob, const struct assay_case *c)
{
	char portable[ASSAY_KEY_MAX];

	if (assay_glob_match(glob, c->key))
		return true;
	assay_case_portable_key(c, portable);
	return assay_glob_match(glob, portable);
}

bool assay_policy_requires_edges(const struct assay_policy *p, const struct assay_case *c)
{
	for (size_t i = 0; i < p->n_edges; i++)
		if (assay_policy_selects(p->edges[i], c))
			return true;
	return false;
}

double assay_policy_margin(const struct assay_policy *p, const struct assay_case *c)
{
	for (size_t i = p->n_margins; i > 0; i--)
		if (p->margins[i - 1].stored_frac > 0 && assay_policy_selects(p->margins[i - 1].cases, c))
			return p->margins[i - 1].stored_frac;
	return p->stored_margin_frac;
}

double assay_policy_paired_margin(const struct assay_policy *p, const struct assay_case *c)
{
	for (size_t i = p->n_margins; i > 0; i--)
		if (p->margins[i - 1].paired_frac > 0 && assay_policy_selects(p->margins[i - 1].cases, c))
			return p->margins[i - 1].paired_frac;
	return p->paired_margin_frac;
}

double assay_policy_exact_allowed(const struct assay_policy *p, const struct assay_case *c,
				  enum assay_exact_event event, uint64_t count)
{
	double frac = 0, most = 0;

	for (size_t i = 0; i < p->n_allowances; i++) {
		const struct assay_allowance *a = &p->allowances[i];

		if (a->event != event || !assay_policy_selects(a->cases, c))
			continue;
		if (a->frac >= 0)
			frac = a->frac;
		if (a->count >= 0)
			most = a->count;
	}
	return frac * (double)count + most;
}
