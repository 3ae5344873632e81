/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First the bad side against the good one: how much is there to find? Then the steps, each against the good side with
 * half of that as its margin, as judge/bisection.h asks for them. At last the commit that was found against the one
 * before it, which says its size; if that does not agree, the search goes on.
 */
#include "drive/history/history.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "drive/revision.h"
#include "judge/bisection.h"

/* The bounds of an interval are at least so many standard errors from its middle (Student's t at 1 %, any looks). */
#define ERRORS_OF_BOUND 2.5
/* Comparisons for each that a search without doubt takes, and more for few commits. */
#define PATIENCE 2
#define MORE     4
/* A margin is a share above this and up to 1. */
#define LEAST_MARGIN 0.0005

struct search {
	const struct assay_bisect_request *q;
	const struct assay_watch *watch;
	struct assay_watch inner; /* what comparisons tell, but for lines above results */
	struct assay_bisect_place place;
	struct assay_strings line; /* of commits; number 1 is the first */
	struct assay_bisection b;
	struct assay_bisect_report *r;
	unsigned most; /* comparisons */
};

/* What a compiler says of a commit that is skipped is no news. */
static void tell_inner(void *arg, const struct assay_event *e)
{
	const struct search *s = arg;

	if (e->kind != ASSAY_EVENT_HEAD && (e->kind != ASSAY_EVENT_LOG || !s->b.n))
		assay_watch_tell(s->watch, e);
}

static void say(const struct search *s, const char *text)
{
	assay_watch_tell(s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_HEAD, .text = text });
}

/* Commit @at of the line; 0: the good one. */
static const char *commit_of(const struct search *s, size_t at)
{
	return at ? s->line.v[at - 1] : s->r->good;
}

static struct assay_bisect_step *add_step(struct search *s, const char *base, const char *commit, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	struct assay_bisect_step *v = realloc(r->steps, (r->n_steps + 1) * sizeof(*v));

	if (!v) {
		assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		return NULL;
	}
	r->steps = v;
	v = &v[r->n_steps++];
	*v = (struct assay_bisect_step){ .ratio = NAN, .ci_lo = NAN, .ci_hi = NAN };
	snprintf(v->base, sizeof(v->base), "%s", base);
	snprintf(v->commit, sizeof(v->commit), "%s", commit);
	return v;
}

static void say_step(const struct search *s, const struct assay_bisect_step *v, const char *what)
{
	char line[768];

	snprintf(line, sizeof(line), "%.12s against %.12s: %s", v->commit, v->base, what);
	say(s, line);
}

/* @commit against @base. */
static int compare(struct search *s, const char *base, const char *commit, double margin, bool controls,
		   struct assay_case_answer *a, struct assay_err *err)
{
	struct assay_compare_request q = *s->q->compare;
	struct assay_bisect_step *step;
	char what[640], text[560];
	int rc;

	q.base = base;
	q.head = commit;
	q.cache_dir = s->place.folder.path;
	q.no_controls = !controls;
	if (margin > 0)
		q.margin_frac = fmin(1, fmax(margin, LEAST_MARGIN));
	rc = assay_compare_case(&q, s->r->key[0] ? s->r->key : s->q->key, &s->inner, a, err);
	if (rc)
		return rc;
	s->r->comparisons++;
	step = add_step(s, base, commit, err);
	if (!step)
		return ASSAY_ENOMEM;
	step->verdict = a->verdict;
	step->ratio = a->ratio;
	step->ci_lo = a->ci_lo;
	step->ci_hi = a->ci_hi;
	step->comparison_id = a->comparison_id;
	memcpy(step->reason, a->reason, sizeof(step->reason));
	assay_case_answer_text(a, text, sizeof(text));
	snprintf(what, sizeof(what), "%s, %s", assay_verdict_name(a->verdict), text);
	say_step(s, step, what);
	return 0;
}

/* The commit is none that can be compared; @why says it. */
static int skip(struct search *s, size_t at, const char *why, struct assay_err *err)
{
	struct assay_bisect_step *step = add_step(s, s->r->good, commit_of(s, at), err);
	char what[560];

	if (!step)
		return ASSAY_ENOMEM;
	step->skipped = true;
	snprintf(step->reason, sizeof(step->reason), "%.500s", why);
	snprintf(what, sizeof(what), "skipped: %s", step->reason);
	say_step(s, step, what);
	assay_bisection_skip(&s->b, at);
	return 0;
}

static bool has_time(const struct assay_case_answer *a)
{
	return !a->is_new && (a->verdict == ASSAY_PASS || a->verdict == ASSAY_IMPROVED ||
			      a->verdict == ASSAY_REGRESSED || a->verdict == ASSAY_INCONCLUSIVE);
}

/* Half of the whole change, as a share. */
static double half(const struct search *s)
{
	return expm1(fabs(s->b.change) / 2);
}

/* Where the code is the same no time is taken, or that of one pair: then there is surely no difference. */
static double log_of(const struct assay_case_answer *a)
{
	return isfinite(a->ci_lo) ? log(a->ratio) : 0;
}

static double error_of(const struct assay_case_answer *a)
{
	return isfinite(a->ci_lo) ? log(a->ci_hi / a->ci_lo) / 2 / ERRORS_OF_BOUND : 0;
}

static int ask(struct search *s, size_t at, struct assay_err *err)
{
	struct assay_case_answer a;
	struct assay_err why = { 0 };
	int rc = assay_bisect_place_build(&s->place, commit_of(s, at), &s->inner, &why);

	if (!rc)
		rc = compare(s, s->r->good, commit_of(s, at), half(s), false, &a, &why);
	if (rc == ASSAY_EUSAGE)
		return skip(s, at, why.text, err);
	if (rc) {
		*err = why;
		return rc;
	}
	if (!has_time(&a))
		return skip(s, at, a.reason, err);
	assay_bisection_answer(&s->b, at, log_of(&a), error_of(&a));
	return 0;
}

/* The last of @place against what is before it. *agrees: most of the change is there. */
static int confirm(struct search *s, const struct assay_bisection_place *place, bool *agrees, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	struct assay_case_answer a;
	int rc = assay_bisect_place_build(&s->place, commit_of(s, place->first - 1), &s->inner, err);

	if (!rc)
		rc = assay_bisect_place_build(&s->place, commit_of(s, place->last), &s->inner, err);
	if (!rc)
		rc = compare(s, commit_of(s, place->first - 1), commit_of(s, place->last), half(s) / 2, true, &a, err);
	if (rc)
		return rc;
	r->ratio = a.ratio;
	r->ci_lo = a.ci_lo;
	r->ci_hi = a.ci_hi;
	*agrees = a.verdict == (s->b.change > 0 ? ASSAY_REGRESSED : ASSAY_IMPROVED);
	return 0;
}

static void name_place(struct search *s, const struct assay_bisection_place *place)
{
	struct assay_bisect_report *r = s->r;

	r->probability = place->p;
	snprintf(r->before, sizeof(r->before), "%s", commit_of(s, place->first - 1));
	snprintf(r->first, sizeof(r->first), "%s", commit_of(s, place->first));
	snprintf(r->commit, sizeof(r->commit), "%s", commit_of(s, place->last));
	assay_repository_subject(&s->place.repo, r->commit, r->subject, sizeof(r->subject));
	if (place->first == place->last)
		return;
	r->end = ASSAY_BISECT_RANGE;
	r->exit = ASSAY_EXIT_INCONCLUSIVE;
	snprintf(r->reason, sizeof(r->reason),
		 "it is one of %zu commits from %.12s to %.12s: those before the last cannot be measured",
		 place->last - place->first + 1, r->first, r->commit);
}

static void give_up(struct search *s)
{
	struct assay_bisection_place place = assay_bisection_place(&s->b);
	struct assay_bisect_report *r = s->r;

	name_place(s, &place);
	r->end = ASSAY_BISECT_UNSURE;
	r->exit = ASSAY_EXIT_INCONCLUSIVE;
	snprintf(r->reason, sizeof(r->reason),
		 "%u comparisons were inconclusive: the most likely commit is %.12s, with a probability of %.0f %%; a "
		 "larger --budget decides more of them",
		 r->comparisons, r->commit, 100 * r->probability);
}

static int look(struct search *s, struct assay_err *err)
{
	bool agrees = false;
	int rc = 0;

	while (!rc && !agrees && s->r->comparisons < s->most) {
		struct assay_bisection_place place;
		size_t at;

		rc = assay_watch_check(s->watch, err);
		if (rc)
			break;
		if (assay_bisection_next(&s->b, &at)) {
			rc = ask(s, at, err);
			continue;
		}
		place = assay_bisection_place(&s->b);
		rc = confirm(s, &place, &agrees, err);
		if (!rc && agrees)
			name_place(s, &place);
		else if (!rc)
			assay_bisection_reject(&s->b, &place);
	}
	if (!rc && !agrees)
		give_up(s);
	return rc;
}

/* Is there a change between good and bad? */
static int begin(struct search *s, bool *differ, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	struct assay_case_answer a;
	char text[560];
	int rc = assay_bisect_place_build(&s->place, r->good, &s->inner, err);

	*differ = false;
	if (!rc)
		rc = assay_bisect_place_build(&s->place, r->bad, &s->inner, err);
	if (!rc)
		rc = compare(s, r->good, r->bad, 0, true, &a, err);
	if (rc)
		return rc;
	memcpy(r->key, a.key, sizeof(r->key));
	if (a.is_new)
		return assay_err_set(err, ASSAY_EUSAGE, "the good side %.12s has no case '%s'", r->good, a.key);
	r->whole_ratio = a.ratio;
	r->whole_ci_lo = a.ci_lo;
	r->whole_ci_hi = a.ci_hi;
	*differ = a.verdict == ASSAY_REGRESSED || a.verdict == ASSAY_IMPROVED;
	if (*differ)
		return assay_bisection_init(&s->b, s->line.n, log(a.ratio), err);
	r->end = has_time(&a) ? ASSAY_BISECT_SAME : ASSAY_BISECT_UNTAKEN;
	r->exit = has_time(&a) ? ASSAY_EXIT_INCONCLUSIVE : assay_verdict_exit(a.verdict, true);
	assay_case_answer_text(&a, text, sizeof(text));
	snprintf(r->reason, sizeof(r->reason), "%s %s",
		 !has_time(&a) ? "the bad side cannot be compared:"
		 : a.verdict == ASSAY_INCONCLUSIVE
			 ? "good and bad were not shown to differ; a larger --budget may show it:"
			 : "good and bad do not differ by more than the margin:",
		 text);
	return 0;
}

static int find_sides(struct search *s, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	int rc = assay_repository_commit(&s->place.repo, s->q->good, r->good, err);

	if (!rc)
		rc = assay_repository_commit(&s->place.repo, s->q->bad ? s->q->bad : "HEAD", r->bad, err);
	if (!rc)
		rc = assay_repository_line(&s->place.repo, r->good, r->bad, &s->line, err);
	if (rc)
		return rc;
	r->n_commits = s->line.n;
	s->most = MORE + PATIENCE * (unsigned)ceil(log2((double)s->line.n + 1));
	return 0;
}

int assay_bisect(const struct assay_bisect_request *q, const struct assay_watch *w, struct assay_bisect_report *out,
		 struct assay_err *err)
{
	struct search s = { .q = q, .watch = w, .r = out };
	bool differ = false;
	int rc;

	s.inner = (struct assay_watch){ .event = tell_inner, .arg = &s, .interrupted = w->interrupted };
	*out = (struct assay_bisect_report){ .probability = NAN,
					     .ratio = NAN,
					     .ci_lo = NAN,
					     .ci_hi = NAN,
					     .whole_ratio = NAN,
					     .whole_ci_lo = NAN,
					     .whole_ci_hi = NAN };
	rc = assay_bisect_place_open(&s.place, w->interrupted, err);
	if (!rc)
		rc = find_sides(&s, err);
	if (!rc)
		rc = begin(&s, &differ, err);
	if (!rc && differ)
		rc = look(&s, err);
	assay_bisect_place_close(&s.place);
	assay_bisection_release(&s.b);
	assay_strings_release(&s.line);
	return rc;
}

int assay_bisect_step(const struct assay_bisect_request *q, const struct assay_watch *w, enum assay_bisect_sign *sign,
		      char *reason, size_t size, struct assay_err *err)
{
	struct assay_compare_request compare = *q->compare;
	struct assay_side_source good = { 0 }, head = { 0 };
	struct assay_repository repo;
	struct assay_case_answer a;
	struct assay_err why = { 0 };
	char commit[ASSAY_COMMIT_MAX];
	int rc = assay_repository_open(&repo, NULL, w->interrupted, err);

	*sign = ASSAY_BISECT_SKIP;
	if (!rc)
		rc = assay_repository_commit(&repo, "HEAD", commit, err);
	if (!rc)
		rc = assay_revision_resolve_watched(q->good, NULL, NULL, w, &good, err);
	if (rc)
		goto out;
	compare.base = q->good;
	compare.head = commit;
	rc = assay_revision_resolve_watched(commit, NULL, NULL, w, &head, &why);
	if (!rc)
		rc = assay_compare_case(&compare, q->key, w, &a, &why);
	if (rc == ASSAY_EUSAGE) {
		snprintf(reason, size, "%s", why.text);
		rc = 0;
		goto out;
	}
	if (rc) {
		*err = why;
		goto out;
	}
	assay_case_answer_text(&a, reason, size);
	if (has_time(&a) && a.verdict != ASSAY_INCONCLUSIVE)
		*sign = a.verdict == ASSAY_REGRESSED ? ASSAY_BISECT_BAD : ASSAY_BISECT_GOOD;
out:
	assay_side_source_release(&good);
	assay_side_source_release(&head);
	return rc;
}

/* ---- bisect place ---- */

int assay_bisect_place_open(struct assay_bisect_place *p, const volatile sig_atomic_t *interrupted,
			    struct assay_err *err)
{
	int rc = assay_repository_open(&p->repo, NULL, interrupted, err);

	return rc ? rc : assay_temporary_make(&p->folder, "bisect", err);
}

/* Git knows of the worktrees, so they are not merely removed. */
static void discard_all(const struct assay_repository *repo, const char *dir)
{
	char path[PATH_MAX + 512];
	const struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		assay_repository_discard(repo, path, NULL);
	}
	if (d)
		closedir(d);
}

void assay_bisect_place_close(struct assay_bisect_place *p)
{
	struct assay_repository repo = p->repo;
	char dir[PATH_MAX + 64];

	if (!p->folder.path[0])
		return;
	repo.interrupted = NULL;
	snprintf(dir, sizeof(dir), "%s/%s", p->folder.path, repo.id);
	discard_all(&repo, dir);
	/* locks and logs */
	assay_repository_discard(&repo, dir, NULL);
	assay_temporary_remove(&p->folder);
	*p = (struct assay_bisect_place){ 0 };
}

int assay_bisect_place_build(const struct assay_bisect_place *p, const char *commit, const struct assay_watch *w,
			     struct assay_err *err)
{
	struct assay_side_source built = { 0 };
	int rc = assay_revision_resolve_watched(commit, p->folder.path, NULL, w, &built, err);

	assay_side_source_release(&built);
	return rc;
}
