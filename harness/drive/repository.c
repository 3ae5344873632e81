/* SPDX-License-Identifier: Apache-2.0 */
/* Runs git with a clean environment and reads its answers. */
#include "drive/repository.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/process.h"

#define ASK_NS      60000000000u
#define CHECKOUT_NS 900000000000u

static int add(struct assay_strings *l, const char *s, struct assay_err *err)
{
	return assay_strings_add(l, s, err);
}

int assay_repository_command(const char *const *argv, struct assay_strings *out, struct assay_err *err)
{
	static const char *const make[] = { "MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "MAKEOVERRIDES=", "GNUMAKEFLAGS=" };
	char **grown;
	int rc = add(out, "env", err);

	for (char **e = environ; !rc && e && *e; e++) {
		bool drop = !strncmp(*e, "GIT_", 4);

		for (size_t i = 0; i < sizeof(make) / sizeof(make[0]) && !drop; i++)
			drop = !strncmp(*e, make[i], strlen(make[i]));
		if (!drop)
			continue;
		rc = add(out, "-u", err);
		if (!rc)
			rc = assay_strings_addn(out, *e, strcspn(*e, "="), err);
	}
	for (; !rc && *argv; argv++)
		rc = add(out, *argv, err);
	if (rc)
		return rc;
	grown = realloc(out->v, (out->n + 1) * sizeof(*grown));
	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the command '%s'", out->v[out->n - 1]);
	out->v = grown;
	out->v[out->n] = NULL;
	return 0;
}

static int ask(const struct assay_repository *r, const char *const *argv, uint64_t timeout_ns, char **out,
	       struct assay_err *err)
{
	struct assay_strings cmd = { 0 };
	size_t n;
	int rc = assay_repository_command(argv, &cmd, err);

	if (!rc)
		rc = assay_process_capture(&(struct assay_capture){ .argv = (const char *const *)cmd.v,
								    .cwd = r->top[0] ? r->top : NULL,
								    .timeout_ns = timeout_ns,
								    .interrupted = r->interrupted },
					   out, err);
	assay_strings_release(&cmd);
	if (rc)
		return rc;
	n = strlen(*out);
	if (n && (*out)[n - 1] == '\n')
		(*out)[n - 1] = '\0';
	return 0;
}

int assay_repository_ask(const struct assay_repository *r, const char *const *argv, char **out, struct assay_err *err)
{
	return ask(r, argv, ASK_NS, out, err);
}

/* Why git does not tell of a repository: @why is its last word. */
static int refused(const struct assay_err *why, struct assay_err *err)
{
	const char *allow = strstr(why->text, "git config --global --add safe.directory");

	if (allow)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"no git repository here that git trusts: it belongs to another user; trust it with "
			"'%s'",
			allow);
	/* as env says it */
	if (strstr(why->text, "status 127"))
		return assay_err_set(err, ASSAY_EUSAGE, "no git on this machine: install the package git");
	if (strstr(why->text, "not a git repository"))
		return assay_err_set(err, ASSAY_EUSAGE, "no git repository here");
	return assay_err_set(err, ASSAY_EUSAGE, "no git repository here that can be read: %s", why->text);
}

int assay_repository_open(struct assay_repository *r, const char *at, const volatile sig_atomic_t *interrupted,
			  struct assay_err *err)
{
	static const char *const top[] = { "git", "rev-parse", "--show-toplevel", NULL };
	static const char *const common[] = { "git", "rev-parse", "--git-common-dir", NULL };
	char *out = NULL, *name, full[PATH_MAX];
	struct assay_err why = { 0 };
	struct assay_digest d;
	int rc;

	*r = (struct assay_repository){ .interrupted = interrupted };
	if (at && snprintf(r->top, sizeof(r->top), "%s", at) >= (int)sizeof(r->top))
		return assay_err_set(err, ASSAY_EUSAGE, "no git repository at a path as long as '%.80s...'", at);
	rc = ask(r, top, ASK_NS, &out, &why);
	if (rc == ASSAY_EINTERRUPTED)
		return assay_err_set(err, rc, "%s", why.text);
	if (rc)
		return refused(&why, err);
	snprintf(r->top, sizeof(r->top), "%s", out);
	free(out);
	out = NULL;
	rc = ask(r, common, ASK_NS, &out, err);
	if (rc)
		return rc;
	/* it is relative to the folder git was asked in */
	if (out[0] == '/')
		snprintf(full, sizeof(full), "%s", out);
	else if (snprintf(full, sizeof(full), "%s/%s", r->top, out) >= (int)sizeof(full))
		full[0] = '\0';
	free(out);
	name = realpath(full, NULL);
	if (!name)
		return assay_err_set(err, ASSAY_EIO, "cannot find the .git folder of '%s'", r->top);
	d = assay_hash(name, strlen(name));
	snprintf(r->git, sizeof(r->git), "%s", name);
	free(name);
	name = strrchr(r->top, '/');
	snprintf(r->id, sizeof(r->id), "%.40s-%.12s", name && name[1] ? name + 1 : "root", d.hex);
	return 0;
}

/* The nearest name of a branch or tag, and whether the clone has all of its history: what an unknown revision may need.
 */
static int unknown(const struct assay_repository *r, const char *revision, struct assay_err *err)
{
	static const char *const refs[] = { "git",        "for-each-ref", "--format=%(refname:short)",
					    "refs/heads", "refs/tags",    "refs/remotes",
					    NULL };
	static const char *const shallow[] = { "git", "rev-parse", "--is-shallow-repository", NULL };
	struct assay_strings names = { 0 };
	char *out = NULL, *cut = NULL;
	const char *near = NULL;

	if (!ask(r, refs, ASK_NS, &out, NULL) && !assay_strings_split(&names, out, '\n', NULL))
		near = assay_nearest(revision, (const char *const *)names.v, names.n);
	if (near)
		assay_err_set(err, ASSAY_EUSAGE, "unknown revision '%s', did you mean '%s'?", revision, near);
	else if (!ask(r, shallow, ASK_NS, &cut, NULL) && !strcmp(cut, "true"))
		assay_err_set(err, ASSAY_EUSAGE,
			      "unknown revision '%s'; this clone is shallow, 'git fetch --unshallow' gets the rest",
			      revision);
	else
		assay_err_set(err, ASSAY_EUSAGE,
			      "unknown revision '%s', 'git log' and 'git branch -a' list what there is", revision);
	free(cut);
	free(out);
	assay_strings_release(&names);
	return ASSAY_EUSAGE;
}

int assay_repository_commit(const struct assay_repository *r, const char *revision, char commit[65],
			    struct assay_err *err)
{
	char *out = NULL, name[512];
	int rc;

	/* git would take it for an option */
	if (revision[0] == '-' || !revision[0] ||
	    snprintf(name, sizeof(name), "%s^{commit}", revision) >= (int)sizeof(name))
		return unknown(r, revision, err);
	rc = ask(r, (const char *const[]){ "git", "rev-parse", "--verify", "--quiet", name, NULL }, ASK_NS, &out, err);
	if (rc == ASSAY_EINTERRUPTED)
		return rc;
	if (rc == ASSAY_EIO)
		return unknown(r, revision, err);
	if (rc)
		return assay_err_set(err, rc, "cannot look for revision '%s': %s", revision, assay_error_text(rc));
	snprintf(commit, 65, "%s", out);
	free(out);
	return 0;
}

int assay_repository_head(const struct assay_repository *r, char commit[65], bool *dirty, struct assay_err *err)
{
	/* without optional locks, status does not refresh the index */
	static const char *const status[] = { "git", "--no-optional-locks", "status", "--porcelain", NULL };
	static const char *const head[] = { "git", "rev-parse", "--verify", "--quiet", "HEAD", NULL };
	char *out = NULL;
	int rc;

	commit[0] = '\0';
	if (!ask(r, head, ASK_NS, &out, NULL))
		snprintf(commit, 65, "%s", out);
	free(out);
	out = NULL;
	rc = ask(r, status, ASK_NS, &out, err);
	if (rc)
		return rc;
	*dirty = out[0] != '\0';
	free(out);
	return 0;
}

int assay_repository_line(const struct assay_repository *r, const char *good, const char *bad,
			  struct assay_strings *out, struct assay_err *err)
{
	char range[160], *text = NULL;
	int rc;

	if (!strcmp(good, bad))
		return assay_err_set(err, ASSAY_EUSAGE, "good and bad are the same commit %.12s", good);
	snprintf(range, sizeof(range), "%s..%s", bad, good);
	rc = ask(r, (const char *const[]){ "git", "rev-list", "-n1", range, NULL }, ASK_NS, &text, err);
	if (!rc && text[0])
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "good %.12s is not an ancestor of bad %.12s: 'git merge-base' of both names one",
				   good, bad);
	free(text);
	text = NULL;
	snprintf(range, sizeof(range), "%s..%s", good, bad);
	if (!rc)
		rc = ask(r, (const char *const[]){ "git", "rev-list", "--first-parent", "--reverse", range, NULL },
			 ASK_NS, &text, err);
	if (!rc)
		rc = assay_strings_split(out, text, '\n', err);
	free(text);
	return rc;
}

/* Of an annotated tag git tells its own hash first, then that of its commit; of a plain one the second is empty. */
int assay_repository_tags(const struct assay_repository *r, struct assay_strings *out, struct assay_err *err)
{
	static const char *const tags[] = { "git",
					    "for-each-ref",
					    "--sort=creatordate",
					    "--format=%(objectname) %(*objectname) %(refname:strip=2)",
					    "refs/tags",
					    NULL };
	char *text = NULL, *line, *rest;
	int rc = ask(r, tags, ASK_NS, &text, err);

	for (line = rc ? NULL : strtok_r(text, "\n", &rest); line && !rc; line = strtok_r(NULL, "\n", &rest)) {
		char *second = strchr(line, ' '), *name = second ? strchr(second + 1, ' ') : NULL;

		if (!name)
			continue;
		*second++ = '\0';
		*name++ = '\0';
		rc = assay_strings_add(out, second[0] ? second : line, err);
		if (!rc)
			rc = assay_strings_add(out, name, err);
	}
	free(text);
	return rc;
}

void assay_repository_subject(const struct assay_repository *r, const char *commit, char *buf, size_t size)
{
	char *text = NULL;

	buf[0] = '\0';
	if (ask(r, (const char *const[]){ "git", "show", "-s", "--format=%s (%an, %as)", commit, NULL }, ASK_NS, &text,
		NULL))
		return;
	snprintf(buf, size, "%s", text);
	free(text);
	/* what a commit says must not steer a terminal */
	for (char *c = buf; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

/* The commit of the submodule @at in what is checked out at @path. */
static int submodule_commit(const struct assay_repository *place, const char *at, char commit[65],
			    struct assay_err *err)
{
	char name[PATH_MAX + 8], *out = NULL;
	int rc;

	snprintf(name, sizeof(name), "HEAD:%s", at);
	rc = ask(place, (const char *const[]){ "git", "rev-parse", "--verify", "--quiet", name, NULL }, ASK_NS, &out,
		 err);
	if (!rc)
		snprintf(commit, 65, "%s", out);
	free(out);
	return rc;
}

/* One submodule of what is checked out at @path. */
typedef int submodule_fn(void *arg, const char *path, const char *name, const char *at, struct assay_err *err);

/* Call @fn for each of them, until one is an error. */
static int each_submodule(const char *path, submodule_fn *fn, void *arg, struct assay_err *err)
{
	static const char begin[] = "submodule.", end[] = ".path ";
	static const char *const list[] = { "git",         "config",       "-f",
					    ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$",
					    NULL };
	struct assay_repository place = { 0 };
	char file[PATH_MAX + 16], *out = NULL, *line, *rest = NULL;
	int rc;

	snprintf(file, sizeof(file), "%s/.gitmodules", path);
	if (access(file, F_OK))
		return 0;
	snprintf(place.top, sizeof(place.top), "%s", path);
	rc = ask(&place, list, ASK_NS, &out, err);
	/* the file may name none */
	if (rc)
		return rc == ASSAY_EINTERRUPTED ? rc : 0;
	for (line = strtok_r(out, "\n", &rest); line && !rc; line = strtok_r(NULL, "\n", &rest)) {
		char *at = strstr(line, end);

		if (strncmp(line, begin, strlen(begin)) != 0 || !at)
			continue;
		*at = '\0';
		at += strlen(end);
		line += strlen(begin);
		/* as git, which refuses names that lead elsewhere */
		if (at[0] != '/' && !strstr(at, "..") && line[0] != '/' && !strstr(line, ".."))
			rc = fn(arg, path, line, at, err);
	}
	free(out);
	return rc;
}

/* Where the submodules of what is checked out may be copied from. */
struct copies {
	const char *top;  /* of the user's working tree */
	const char *root; /* of the new checkout */
	/* Git folders that have them below `modules`: the working tree's, and the one that its worktrees share. */
	const char *git[2];
};

static bool has_commit(const char *git, const char *commit)
{
	const struct assay_repository copy = { 0 };
	char dir[2 * PATH_MAX + 16], *out = NULL;
	bool found;

	snprintf(dir, sizeof(dir), "--git-dir=%s", git);
	found = !ask(&copy, (const char *const[]){ "git", dir, "cat-file", "-e", commit, NULL }, ASK_NS, &out, NULL);
	free(out);
	return found;
}

/*
 * Find a copy of the submodule, which lies at @at below the top, that has @commit. False: none has it; *@any says
 * whether there is one at all. A submodule that was a repository before it was added has its own .git.
 */
static bool find_copy(const struct copies *c, const char *name, const char *at, const char *commit,
		      char from[2 * PATH_MAX], bool *any)
{
	*any = false;
	for (size_t i = 0; i < 3; i++) {
		if (i < 2)
			snprintf(from, 2 * PATH_MAX, "%s/modules/%s", c->git[i], name);
		else
			snprintf(from, 2 * PATH_MAX, "%s/%s/.git", c->top, at);
		if (access(from, F_OK))
			continue;
		*any = true;
		if (has_commit(from, commit))
			return true;
	}
	return false;
}

/*
 * Check one out from the copy that the working tree has of it. One that is not there is left out, as it is in the
 * working tree; where the build needs it, assay_repository_lacks() says so.
 */
static int checkout_submodule(void *arg, const char *path, const char *name, const char *at, struct assay_err *err)
{
	const struct copies *c = arg;
	struct assay_repository place = { 0 };
	char from[2 * PATH_MAX], to[2 * PATH_MAX], commit[65], *out = NULL;
	const char *const clone[] = {
		"git", "-c", "core.hooksPath=/dev/null", "clone", "--quiet", "--no-checkout", "--shared", from, to, NULL
	};
	const char *const checkout[] = {
		"git", "-c", "core.hooksPath=/dev/null", "-C", to, "checkout", "--quiet", "--detach", commit, NULL
	};
	const char *below;
	struct assay_err why = { 0 };
	bool any;
	int rc;

	snprintf(place.top, sizeof(place.top), "%s", path);
	snprintf(to, sizeof(to), "%s/%s", path, at);
	below = to + strlen(c->root) + 1;
	if (submodule_commit(&place, at, commit, &why))
		return 0;
	if (!find_copy(c, name, below, commit, from, &any))
		return any ? assay_err_set(err, ASSAY_EUSAGE,
					   "its submodule '%s' is to be at commit %.12s, which is not here: "
					   "'git -C %s fetch' gets it",
					   below, commit, below)
			   : 0;
	rc = ask(&place, clone, CHECKOUT_NS, &out, &why);
	free(out);
	out = NULL;
	if (!rc)
		rc = ask(&place, checkout, CHECKOUT_NS, &out, &why);
	free(out);
	if (rc)
		return assay_err_set(err, rc, "cannot check out commit %.12s of the submodule '%s': %s", commit, below,
				     why.text);
	return each_submodule(to, checkout_submodule,
			      &(struct copies){ .top = c->top, .root = c->root, .git = { from, from } }, err);
}

static int find_missing(void *arg, const char *path, const char *name, const char *at, struct assay_err *err)
{
	struct assay_strings *missing = arg;
	char to[2 * PATH_MAX];

	(void)name;
	snprintf(to, sizeof(to), "%s/%s/.git", path, at);
	if (access(to, F_OK))
		return assay_strings_add(missing, at, err);
	to[strlen(to) - strlen("/.git")] = '\0';
	return each_submodule(to, find_missing, missing, err);
}

int assay_repository_lacks(const char *path, struct assay_strings *out, struct assay_err *err)
{
	return each_submodule(path, find_missing, out, err);
}

int assay_repository_checkout(const struct assay_repository *r, const char *commit, const char *path,
			      struct assay_err *err)
{
	/* forced, because git still knows of a folder whose cache was deleted; pruning would also forget worktrees of
	 * the user that are merely not mounted */
	const char *const argv[] = {
		"git", "-c", "core.hooksPath=/dev/null", "worktree", "add", "--force", "--detach", path, commit, NULL
	};
	/* submodules of a linked worktree are not where those of the others are */
	static const char *const own[] = { "git", "rev-parse", "--absolute-git-dir", NULL };
	struct assay_err why = { 0 };
	char *out = NULL;
	int rc = ask(r, argv, CHECKOUT_NS, &out, &why);

	free(out);
	out = NULL;
	if (rc)
		return assay_err_set(err, rc, "cannot check out %.12s into '%s': %s", commit, path, why.text);
	rc = ask(r, own, ASK_NS, &out, err);
	if (!rc)
		rc = each_submodule(path, checkout_submodule,
				    &(struct copies){ .top = r->top, .root = path, .git = { out, r->git } }, err);
	free(out);
	return rc;
}

int assay_repository_discard(const struct assay_repository *r, const char *path, struct assay_err *err)
{
	const char *const remove[] = { "git", "worktree", "remove", "--force", "--force", path, NULL };
	const char *const rest[] = { "rm", "-rf", "--", path, NULL };
	char *out = NULL;
	int rc;

	/* git refuses a folder that it did not finish or does not know any more */
	ask(r, remove, CHECKOUT_NS, &out, NULL);
	free(out);
	out = NULL;
	rc = ask(r, rest, CHECKOUT_NS, &out, err);
	free(out);
	return rc;
}
