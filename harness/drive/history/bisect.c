/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First the bad side against the good one: how much is there to find? Then git bisects, and each commit that it asks
 * for is held against the good side, with half of that as the margin. At last the commit that was found against the one
 * before it, which says the size of its change.
 */
#include "drive/history/history.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "drive/repository.h"
#include "drive/revision.h"

/* A margin is a share above this and up to 1. */
#define LEAST_MARGIN 0.0005

/* ---- place ---- */

/* Where a bisection builds its commits: worktrees in a temporary folder, of which nothing is left at the end. */
struct place {
	struct assay_repository repo; /* around the current folder */
	struct assay_temporary folder;
};

/* ASSAY_EUSAGE where there is no repository here. Close in either case. */
static int place_open(struct place *p, const volatile sig_atomic_t *interrupted, struct assay_err *err)
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

/* Remove the worktrees; an interrupt does not prevent it. */
static void place_close(struct place *p)
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
	*p = (struct place){ 0 };
}

/* Check out and build @commit unless that is done. ASSAY_EUSAGE: it does not build. */
static int place_build(const struct place *p, const char *commit, const struct assay_watch *w, struct assay_err *err)
{
	struct assay_side_source built = { 0 };
	int rc = assay_revision_resolve_watched(commit, p->folder.path, NULL, w, &built, err);

	assay_side_source_release(&built);
	return rc;
}

/* ---- search ---- */

struct search {
	const struct assay_bisect_request *q;
	const struct assay_watch *watch;
	struct assay_watch inner; /* what comparisons tell, but for lines above results */
	struct place place;
	double change; /* log of the whole one; 0: not known yet */
	struct assay_bisect_report *r;
};

/* Compiler output for a commit that is skipped is not worth showing. */
static void tell_inner(void *arg, const struct assay_event *e)
{
	const struct search *s = arg;

	if (e->kind != ASSAY_EVENT_HEAD && (e->kind != ASSAY_EVENT_LOG || s->change == 0))
		assay_watch_tell(s->watch, e);
}

static void say(const struct search *s, const char *text)
{
	assay_watch_tell(s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_HEAD, .text = text });
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
static int skip(struct search *s, const char *commit, const char *why, struct assay_err *err)
{
	struct assay_bisect_step *step = add_step(s, s->r->good, commit, err);
	char what[560];

	if (!step)
		return ASSAY_ENOMEM;
	step->skipped = true;
	snprintf(step->reason, sizeof(step->reason), "%.500s", why);
	snprintf(what, sizeof(what), "skipped: %s", step->reason);
	say_step(s, step, what);
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
	return expm1(fabs(s->change) / 2);
}

/* Where the code is the same no time is taken, or that of one pair: then there is surely no difference. */
static bool has_changed(const struct search *s, const struct assay_case_answer *a)
{
	return isfinite(a->ci_lo) && log(a->ratio) / s->change > 0.5;
}

/* *word: what git is told of @commit. */
static int ask(struct search *s, const char *commit, const char **word, struct assay_err *err)
{
	struct assay_case_answer a;
	struct assay_err why = { 0 };
	int rc = place_build(&s->place, commit, &s->inner, &why);

	*word = "skip";
	if (!rc)
		rc = compare(s, s->r->good, commit, half(s), false, &a, &why);
	if (rc == ASSAY_EUSAGE || rc == ASSAY_ENOTFOUND)
		return skip(s, commit, why.text, err);
	if (rc) {
		*err = why;
		return rc;
	}
	if (!has_time(&a))
		return skip(s, commit, a.reason, err);
	if (a.verdict != ASSAY_INCONCLUSIVE)
		*word = has_changed(s, &a) ? "bad" : "good";
	return 0;
}

/* ---- git bisect -------------------------------------------------------------------------------------------------- */

static int git(const struct assay_repository *r, const char *const *argv, struct assay_err *err)
{
	char *out = NULL;
	int rc = assay_repository_ask(r, argv, &out, err);

	free(out);
	return rc;
}

/* Begin in a worktree without files, so that no bisection of the user's is disturbed. @r becomes that worktree. */
static int start(const struct search *s, struct assay_repository *r, struct assay_err *err)
{
	char path[sizeof(r->top)];
	int rc;

	snprintf(path, sizeof(path), "%.3000s/%.64s/search", s->place.folder.path, r->id);
	rc = git(r,
		 (const char *const[]){ "git", "-c", "core.hooksPath=/dev/null", "worktree", "add", "--no-checkout",
					"--detach", path, s->r->bad, NULL },
		 err);
	memcpy(r->top, path, sizeof(path));
	return rc ? rc
		  : git(r,
			(const char *const[]){ "git", "bisect", "start", "--no-checkout", "--first-parent", s->r->bad,
					       s->r->good, NULL },
			err);
}

static bool was_asked(const struct search *s, const char *commit)
{
	for (size_t i = 0; i < s->r->n_steps; i++)
		if (!strcmp(s->r->steps[i].commit, commit))
			return true;
	return false;
}

/* The commits that may be the one, latest first: of these the first is known to be bad. */
static int find_left(const struct assay_repository *r, struct assay_strings *out, struct assay_err *err)
{
	char *text = NULL;
	int rc = assay_repository_ask(r,
				      (const char *const[]){ "git", "rev-list", "--first-parent", "refs/bisect/bad",
							     "--not", "--glob=refs/bisect/good-*", NULL },
				      &text, err);

	assay_strings_release(out);
	if (!rc)
		rc = assay_strings_split(out, text, '\n', err);
	free(text);
	return rc;
}

/* Is there a commit to ask about? The first of @left is known to be bad, and git keeps those that were skipped. */
static bool is_open(const struct search *s, const struct assay_strings *left)
{
	for (size_t i = 1; i < left->n; i++)
		if (!was_asked(s, left->v[i]))
			return true;
	return false;
}

static int search(struct search *s, const struct assay_repository *r, struct assay_strings *left, struct assay_err *err)
{
	struct assay_err why;
	int told = 0;

	for (;;) {
		char commit[ASSAY_COMMIT_MAX];
		const char *word;
		int rc = find_left(r, left, err);

		if (rc || !is_open(s, left))
			return rc;
		/* git fails, too, where all that is left was skipped */
		if (told) {
			*err = why;
			return told;
		}
		rc = assay_watch_check(s->watch, err);
		if (!rc)
			rc = assay_repository_commit(r, "BISECT_HEAD", commit, err);
		if (!rc)
			rc = ask(s, commit, &word, err);
		if (rc)
			return rc;
		told = git(r, (const char *const[]){ "git", "bisect", word, commit, NULL }, &why);
	}
}

/* ---- what it found ----------------------------------------------------------------------------------------------- */

static void name_place(struct search *s, const struct assay_strings *left)
{
	struct assay_bisect_report *r = s->r;

	snprintf(r->first, sizeof(r->first), "%s", left->v[left->n - 1]);
	snprintf(r->commit, sizeof(r->commit), "%s", left->v[0]);
	assay_repository_subject(&s->place.repo, r->commit, r->subject, sizeof(r->subject));
	if (left->n == 1)
		return;
	r->end = ASSAY_BISECT_RANGE;
	r->exit = ASSAY_EXIT_INCONCLUSIVE;
	snprintf(r->reason, sizeof(r->reason),
		 "it is one of %zu commits from %.12s to %.12s: those before the last cannot be measured or were "
		 "inconclusive",
		 left->n, r->first, r->commit);
}

/* Is most of the change between the commit that was named and the last one that does not have it? */
static int confirm(struct search *s, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	struct assay_case_answer a;
	char before[sizeof(r->first) + 1], text[560];
	int rc;

	snprintf(before, sizeof(before), "%s^", r->first);
	rc = assay_repository_commit(&s->place.repo, before, r->before, err);
	if (!rc)
		rc = place_build(&s->place, r->before, &s->inner, err);
	if (!rc)
		rc = place_build(&s->place, r->commit, &s->inner, err);
	if (!rc)
		rc = compare(s, r->before, r->commit, half(s) / 2, true, &a, err);
	if (rc)
		return rc;
	r->ratio = a.ratio;
	r->ci_lo = a.ci_lo;
	r->ci_hi = a.ci_hi;
	if (a.verdict == (s->change > 0 ? ASSAY_REGRESSED : ASSAY_IMPROVED))
		return 0;
	assay_case_answer_text(&a, text, sizeof(text));
	r->end = ASSAY_BISECT_UNSURE;
	r->exit = ASSAY_EXIT_INCONCLUSIVE;
	snprintf(r->reason, sizeof(r->reason),
		 "the search ended at %.12s, which was not shown to differ from %.12s; a larger --budget decides more "
		 "comparisons: %.400s",
		 r->commit, r->before, text);
	return 0;
}

static int look(struct search *s, struct assay_err *err)
{
	struct assay_repository r = s->place.repo;
	struct assay_strings left = { 0 };
	int rc = start(s, &r, err);

	if (!rc)
		rc = search(s, &r, &left, err);
	if (!rc) {
		name_place(s, &left);
		rc = confirm(s, err);
	}
	assay_strings_release(&left);
	return rc;
}

/* Is there a change between good and bad? */
static int begin(struct search *s, bool *differ, struct assay_err *err)
{
	struct assay_bisect_report *r = s->r;
	struct assay_case_answer a;
	char text[560];
	int rc = place_build(&s->place, r->good, &s->inner, err);

	*differ = false;
	if (!rc)
		rc = place_build(&s->place, r->bad, &s->inner, err);
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
	if (*differ) {
		s->change = log(a.ratio);
		return 0;
	}
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
	struct assay_strings line = { 0 };
	int rc = assay_repository_commit(&s->place.repo, s->q->good, r->good, err);

	if (!rc)
		rc = assay_repository_commit(&s->place.repo, s->q->bad ? s->q->bad : "HEAD", r->bad, err);
	if (!rc)
		rc = assay_repository_line(&s->place.repo, r->good, r->bad, &line, err);
	r->n_commits = line.n;
	assay_strings_release(&line);
	return rc;
}

int assay_bisect(const struct assay_bisect_request *q, const struct assay_watch *w, struct assay_bisect_report *out,
		 struct assay_err *err)
{
	struct search s = { .q = q, .watch = w, .r = out };
	bool differ = false;
	int rc;

	s.inner = (struct assay_watch){ .event = tell_inner, .arg = &s, .interrupted = w->interrupted };
	*out = (struct assay_bisect_report){
		.ratio = NAN, .ci_lo = NAN, .ci_hi = NAN, .whole_ratio = NAN, .whole_ci_lo = NAN, .whole_ci_hi = NAN
	};
	rc = place_open(&s.place, w->interrupted, err);
	if (!rc)
		rc = find_sides(&s, err);
	if (!rc)
		rc = begin(&s, &differ, err);
	if (!rc && differ)
		rc = look(&s, err);
	place_close(&s.place);
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
	if (rc == ASSAY_EUSAGE || rc == ASSAY_ENOTFOUND) {
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
