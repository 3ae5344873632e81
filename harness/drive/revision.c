/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Below the cache folder each repository has a folder, and in it each build of a revision has PLACE/, its worktree,
 * with PLACE.lock (held while it is made), PLACE.log (what the build wrote) and PLACE.built (it is complete). What
 * decides how it is built is part of the name, so a finished place never changes and can be used without a lock.
 */
#include "drive/revision.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/repository.h"

#define LOG_LINES 12
#define WAIT_NS   100000000u

/* Two names below a folder; snprintf cannot overrun it, and a path this long does not exist. */
#define PLACE_MAX (2 * PATH_MAX)

struct revision_build {
	const struct assay_revision_options *o;
	struct assay_repository repo;
	struct assay_project_conf conf;
	char key[ASSAY_DIGEST_LEN + 1]; /* of all that decides what the command makes of a commit */
	char cache[PLACE_MAX];          /* of this repository */
	char place[PLACE_MAX];          /* checkout of the commit that was built */
	const char *name;               /* what the user calls it */
	char log_path[PLACE_MAX];       /* of what the command writes */
	struct assay_text *log;         /* its last lines; may be NULL */
};

/* The plugins of @dir; none when it cannot be read. */
static int plugins_of(const char *dir, struct assay_strings *out, struct assay_err *err)
{
	int rc = assay_installed_list(dir, out, err);

	return rc == ASSAY_EIO ? 0 : rc;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Copy what is digested to the folder @to; NULL: nothing is copied. */
static int digest_plugins(const struct assay_strings *plugins, const char *to, struct assay_strings *out,
			  struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < plugins->n && !rc; i++) {
		char *data = NULL, path[PLACE_MAX];
		size_t len;

		rc = assay_file_read(plugins->v[i], &data, &len, err);
		if (!rc)
			rc = assay_strings_add(out, assay_hash(data, len).hex, err);
		if (!rc && to) {
			snprintf(path, sizeof(path), "%.4000s/%.255s", to, file_name(plugins->v[i]));
			rc = assay_file_create(path, data, len, err);
		}
		free(data);
	}
	return rc;
}

/* ---- what decides a build ---- */

static int read_conf(struct revision_build *b, struct assay_err *err)
{
	int rc = assay_project_conf_read(&b->conf, b->repo.top, err);

	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"no assay.conf in '%s': it names how a revision is built, as build = \"make plugins\" and "
			"plugins = \"build/plugins\"",
			b->repo.top);
	return rc;
}

static void add_text(struct assay_hasher *h, const char *s)
{
	assay_hasher_add(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

/* The command, the variables that builds heed, and the compiler itself, which an update of the system may have changed.
 */
static int make_key(struct revision_build *b, struct assay_err *err)
{
	static const char *const variables[] = { "CC",       "CFLAGS",         "CPPFLAGS", "CXX",
						 "CXXFLAGS", "LDFLAGS",        "NVCC",     "OPENBLAS",
						 "CUDA",     "PLUGIN_LDFLAGS", "SANITIZE" };
	static const char *const version[] = { "sh", "-c", "${CC:-cc} --version", NULL };
	struct assay_hasher *h = assay_hasher_new();
	struct assay_digest d;
	char *out = NULL;

	if (!h)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while looking for a revision");
	add_text(h, b->conf.build);
	add_text(h, b->conf.plugins);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		add_text(h, getenv(variables[i]));
	if (!assay_process_capture(&(struct assay_capture){ .argv = version,
							    .cwd = b->repo.top,
							    .timeout_ns = 60000000000u,
							    .interrupted = b->o->interrupted },
				   &out, NULL))
		add_text(h, out);
	free(out);
	d = assay_hasher_finish(h);
	snprintf(b->key, sizeof(b->key), "%s", d.hex);
	return 0;
}

static int find_cache(struct revision_build *b, struct assay_err *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	/* the XDG base directory specification tells to ignore relative ones */
	if (b->o->cache_dir)
		n = snprintf(b->cache, sizeof(b->cache), "%s/%s", b->o->cache_dir, b->repo.id);
	else if (xdg && xdg[0] == '/')
		n = snprintf(b->cache, sizeof(b->cache), "%s/assay/%s", xdg, b->repo.id);
	else if (home && home[0] == '/')
		n = snprintf(b->cache, sizeof(b->cache), "%s/.cache/assay/%s", home, b->repo.id);
	else
		return assay_err_set(err, ASSAY_EUSAGE, "no place for builds of revisions: set XDG_CACHE_HOME or HOME");
	/* leave room for the names in it */
	if (n >= PATH_MAX - 160)
		return assay_err_set(err, ASSAY_EUSAGE, "the cache folder '%.100s…' is too long", b->cache);
	return assay_file_mkdirs(b->cache, err);
}

/* ---- building ---- */

static bool interrupted(const struct revision_build *b)
{
	return b->o->interrupted && *b->o->interrupted;
}

/* An open file with an exclusive lock, which closing it gives up; negative on error. */
static int lock(const struct revision_build *b, const char *name, struct assay_err *err)
{
	char path[PLACE_MAX];
	int fd, rc;

	snprintf(path, sizeof(path), "%.4090s/%.160s.lock", b->cache, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot open '%s': %s", path, strerror(errno));
	/* not a lock that waits: a signal just before it would go unheeded */
	while ((rc = flock(fd, LOCK_EX | LOCK_NB)) && (errno == EWOULDBLOCK || errno == EINTR) && !interrupted(b))
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	if (!rc)
		return fd;
	rc = interrupted(b) ? assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted")
			    : assay_err_set(err, ASSAY_EIO, "cannot lock '%s': %s", path, strerror(errno));
	close(fd);
	return rc;
}

/* The last lines of what the command wrote into b->log. */
static void tail(const struct revision_build *b)
{
	char *text = NULL;
	size_t len, at;

	if (!b->log || assay_file_read(b->log_path, &text, &len, NULL))
		return;
	while (len && text[len - 1] == '\n')
		len--;
	at = len;
	for (unsigned lines = 0; at && (text[at - 1] != '\n' || ++lines < LOG_LINES); at--)
		;
	assay_text_addn(b->log, text + at, len - at);
	free(text);
}

/* A log that goes with its folder is not named; what it says first of an error, or last, stands in its place. */
static int build_failed(const struct revision_build *b, const char *how, struct assay_err *err)
{
	char *text = NULL, *line, *rest = NULL;
	const char *said = NULL;
	size_t len;
	int rc;

	if (!b->o->passing)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot build '%s': '%s' %s, see '%s'", b->name, b->conf.build,
				     how, b->log_path);
	if (assay_file_read(b->log_path, &text, &len, NULL))
		text = NULL;
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		if (!said || !strstr(said, "error"))
			said = line;
	rc = assay_err_set(err, ASSAY_EUSAGE, "cannot build '%s': '%s' %s%s%.200s", b->name, b->conf.build, how,
			   said ? ": " : "", said ? said : "");
	free(text);
	return rc;
}

/* To the error of a build at @dir that failed: perhaps because of a submodule that is not there. */
static void add_missing(const char *dir, struct assay_err *err)
{
	struct assay_strings missing = { 0 };
	size_t n = err ? strlen(err->text) : 0;

	if (err && !assay_repository_lacks(dir, &missing, NULL) && missing.n)
		snprintf(err->text + n, sizeof(err->text) - n,
			 "; its submodule '%.200s' is not checked out: 'git submodule update --init --recursive' gets "
			 "it",
			 missing.v[0]);
	assay_strings_release(&missing);
}

static int run_command(const struct revision_build *b, const char *dir, struct assay_err *err)
{
	/* a build that nobody watches installs nothing */
	static const char *const env[] = { "ASSAY_NO_INSTALL=1", NULL };
	struct assay_process p = { .pidfd = -1 };
	struct assay_strings cmd = { 0 };
	struct assay_strays strays;
	char how[80];
	int rc, fd = open(b->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot write '%s': %s", b->log_path, strerror(errno));
	assay_strays_watch(&strays);
	rc = assay_repository_command((const char *const[]){ "sh", "-c", b->conf.build, NULL }, &cmd, err);
	if (!rc)
		rc = assay_process_start(&p,
					 &(struct assay_process_options){ .argv = (const char *const *)cmd.v,
									  .env = env,
									  .keep_fd = -1,
									  .stdout_fd = fd,
									  .stderr_fd = fd,
									  .cwd = dir,
									  .interrupted = b->o->interrupted },
					 err);
	assay_strings_release(&cmd);
	close(fd);
	if (rc)
		return rc;
	while (!assay_process_wait(&p, WAIT_NS))
		if (interrupted(b))
			assay_process_kill(&p);
	/* of a build that ended by itself, a server that it shares with later ones may stay */
	if (interrupted(b))
		assay_strays_kill(&strays, 0);
	if (interrupted(b))
		return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted while building '%s'", b->name);
	if (p.status) {
		assay_process_describe(&p, how, sizeof(how));
		tail(b);
		rc = build_failed(b, how, err);
		add_missing(dir, err);
		return rc;
	}
	return 0;
}

/*
 * Refuse plugins that lie outside of their checkout at @place. A symbolic link would lead from every checkout to the
 * same files, and those are of the last build.
 */
static int check_inside(const char *place, const struct assay_strings *plugins, const char *name, struct assay_err *err)
{
	char *top = realpath(place, NULL);
	const size_t n = top ? strlen(top) : 0;
	int rc = 0;

	for (size_t i = 0; i < plugins->n && top && !rc; i++) {
		char *real = realpath(plugins->v[i], NULL);

		if (real && (strncmp(real, top, n) != 0 || real[n] != '/'))
			rc = assay_err_set(err, ASSAY_EUSAGE,
					   "the plugin '%s' of '%s' lies outside its checkout, at '%s': every revision "
					   "would be measured by the same file; build it inside the checkout",
					   plugins->v[i] + strlen(place) + 1, name, real);
		free(real);
	}
	free(top);
	return rc;
}

/* After the command ended well in @dir. ASSAY_EUSAGE: it made none. */
static int take_plugins(const struct revision_build *b, const char *dir, struct assay_strings *out,
			struct assay_err *err)
{
	char path[2 * PLACE_MAX];
	int rc;

	if (!b->conf.plugins)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, b->conf.plugins);
	rc = plugins_of(path, out, err);
	if (!rc && !out->n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' of '%s' made no plugin: '%s' has no *.so", b->conf.build,
				   b->conf.conf.path, path);
	return rc;
}

/* Run the command at @dir and take the plugins that it makes. */
static int build_at(const struct revision_build *b, const char *dir, struct assay_strings *out, struct assay_err *err)
{
	int rc = run_command(b, dir, err);

	if (!rc) {
		rc = take_plugins(b, dir, out, err);
		if (rc == ASSAY_EUSAGE)
			tail(b);
	}
	return rc ? rc : check_inside(dir, out, b->name, err);
}

static int make_place(const struct revision_build *b, const char *commit, struct assay_err *err)
{
	int fd = lock(b, "worktrees", err), rc;

	if (fd < 0)
		return fd;
	/* what an interrupted build left */
	rc = assay_file_exists(b->place) ? assay_repository_discard(&b->repo, b->place, err) : 0;
	if (!rc)
		rc = assay_repository_checkout(&b->repo, commit, b->place, err);
	close(fd);
	return rc ? assay_err_prefix(err, "revision '%s'", b->name) : 0;
}

/* Is all of a finished place there, as its build left it? Otherwise somebody tidied up, or wrote over it. */
static bool is_whole(const struct revision_build *b, const char *built, struct assay_strings *plugins)
{
	struct assay_strings digests = { 0 };
	struct assay_text text = { 0 };
	char *was = NULL;
	size_t len;
	bool whole = assay_file_exists(b->place) && !assay_file_read(built, &was, &len, NULL) &&
		     !take_plugins(b, b->place, plugins, NULL) && !digest_plugins(plugins, NULL, &digests, NULL);

	for (size_t i = 0; i < digests.n; i++)
		assay_text_addf(&text, "%s\n", digests.v[i]);
	whole = whole && !text.failed && !strcmp(text.s ? text.s : "", was);
	if (!whole) {
		assay_strings_release(plugins);
		*plugins = (struct assay_strings){ 0 };
	}
	assay_strings_release(&digests);
	assay_text_release(&text);
	free(was);
	return whole;
}

/* That the place is complete, with the digests of its plugins. */
static int write_built(const char *path, const struct assay_strings *plugins, struct assay_err *err)
{
	struct assay_strings digests = { 0 };
	struct assay_text text = { 0 };
	int rc = digest_plugins(plugins, NULL, &digests, err);

	for (size_t i = 0; i < digests.n; i++)
		assay_text_addf(&text, "%s\n", digests.v[i]);
	if (!rc)
		rc = text.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
				 : assay_file_write(path, text.s ? text.s : "", text.len, err);
	assay_strings_release(&digests);
	assay_text_release(&text);
	return rc;
}

static int build_commit(struct revision_build *b, const char *commit, struct assay_strings *plugins,
			struct assay_err *err)
{
	char base[160], built[PLACE_MAX];
	int fd, rc;

	snprintf(base, sizeof(base), "%s-%.8s", commit, b->key);
	snprintf(b->place, sizeof(b->place), "%.4090s/%s", b->cache, base);
	snprintf(built, sizeof(built), "%.4090s/%s.built", b->cache, base);
	snprintf(b->log_path, sizeof(b->log_path), "%.4090s/%s.log", b->cache, base);

	fd = lock(b, base, err);
	if (fd < 0)
		return fd;
	if (assay_file_exists(built)) {
		if (is_whole(b, built, plugins)) {
			rc = check_inside(b->place, plugins, b->name, err);
			goto out;
		}
		unlink(built);
	}
	if (b->o->building)
		b->o->building(b->o->arg, b->name, b->conf.build);
	rc = make_place(b, commit, err);
	if (!rc)
		rc = build_at(b, b->place, plugins, err);
	if (!rc)
		rc = write_built(built, plugins, err);
out:
	close(fd);
	return rc;
}

static int build_tree(struct revision_build *b, struct assay_strings *plugins, struct assay_err *err)
{
	int fd, rc;

	snprintf(b->log_path, sizeof(b->log_path), "%.4090s/working-tree.log", b->cache);
	fd = lock(b, "working-tree", err);
	if (fd < 0)
		return fd;
	if (b->o->building)
		b->o->building(b->o->arg, b->name, b->conf.build);
	rc = build_at(b, b->repo.top, plugins, err);
	close(fd);
	return rc;
}

/* ---- a side ---- */

static int from_git(const char *arg, const struct assay_revision_options *o, struct assay_side_source *out,
		    struct assay_text *log, struct assay_err *err)
{
	struct revision_build b = { .o = o, .name = arg ? arg : out->name, .log = log };
	struct assay_err why = { 0 };
	int rc = assay_repository_open(&b.repo, NULL, o->interrupted, &why);

	if (rc == ASSAY_EINTERRUPTED)
		return assay_err_set(err, rc, "%s", why.text);
	if (rc && arg)
		return assay_err_set(err, rc,
				     "'%s' is neither a plugin NAME.so nor a folder with plugins, and there is %s", arg,
				     why.text);
	if (rc)
		return assay_err_set(err, rc, "no working tree to compare: there is %s", why.text);
	out->from_git = true;
	rc = arg ? assay_repository_commit(&b.repo, arg, out->build.commit, err)
		 : assay_repository_head(&b.repo, out->build.commit, &out->build.dirty, err);
	if (!rc && o->stated)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "--revision tells what plugin files were built from, and '%s' is built here",
				   out->name);
	if (!rc)
		rc = read_conf(&b, err);
	if (!rc)
		rc = make_key(&b, err);
	if (!rc)
		rc = find_cache(&b, err);
	if (!rc)
		rc = arg ? build_commit(&b, out->build.commit, &out->plugins, err) : build_tree(&b, &out->plugins, err);
	if (!rc && asprintf(&out->top, "%s", arg ? b.place : b.repo.top) < 0) {
		out->top = NULL;
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	assay_project_conf_release(&b.conf);
	return rc;
}

/* As the user says, else as the repository around them is. */
static int state_of_files(const struct assay_revision_options *o, struct assay_side_source *out, struct assay_err *err)
{
	struct assay_commit c;
	int rc;

	if (o->stated)
		c = *o->stated;
	rc = o->stated ? assay_revision_check(&out->plugins, o->interrupted, &c, err)
		       : assay_revision_of_plugins(&out->plugins, o->interrupted, &c, err);
	if (rc)
		return rc;
	memcpy(out->build.commit, c.hash, sizeof(c.hash));
	out->build.dirty = c.dirty;
	return 0;
}

int assay_revision_resolve(const char *arg, const struct assay_revision_options *o, struct assay_side_source *out,
			   struct assay_text *log, struct assay_err *err)
{
	static const struct assay_revision_options none = { 0 };
	size_t len = arg ? strlen(arg) : 0;
	bool so = len > 3 && !strcmp(arg + len - 3, ".so"), dir = false;
	struct assay_err why = { 0 };
	struct stat st;
	int rc = 0;

	o = o ? o : &none;
	*out = (struct assay_side_source){ 0 };
	snprintf(out->name, sizeof(out->name), "%s", arg ? arg : "working tree");
	if (arg && !stat(arg, &st)) {
		dir = S_ISDIR(st.st_mode);
		if (dir)
			rc = plugins_of(arg, &out->plugins, err);
		else if (so)
			rc = assay_strings_add(&out->plugins, arg, err);
	}
	if (!rc && !out->plugins.n) {
		rc = from_git(arg, o, out, log, &why);
		if (rc && rc != ASSAY_EINTERRUPTED && arg && !out->build.commit[0] && (so || dir))
			assay_err_set(err, rc, "%s '%s', and no revision of that name",
				      dir ? "no *.so in the folder" : "no file", arg);
		else if (rc)
			assay_err_set(err, rc, "%s", why.text);
	} else if (!rc) {
		rc = state_of_files(o, out, err);
	}
	if (!rc)
		rc = digest_plugins(&out->plugins, NULL, &out->digests, err);
	if (rc)
		assay_side_source_release(out);
	return rc;
}

int assay_revision_read(const char *text, struct assay_commit *out, struct assay_err *err)
{
	size_t len = strlen(text);
	bool dirty = len && text[len - 1] == '+';

	len -= dirty;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._/-", text[i]))
			len = 0;
	if (strstr(text, ".."))
		len = 0;
	if (!len || len >= sizeof(out->hash) || text[0] == '-')
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"bad revision '%.80s': expected a commit or tag such as 8c1f0aa, and '8c1f0aa+' with "
			"changes",
			text);
	*out = (struct assay_commit){ .dirty = dirty };
	memcpy(out->hash, text, len);
	return 0;
}

int assay_revision_read_sides(const char *text, struct assay_commit sides[2], struct assay_err *err)
{
	const char *dots = strstr(text, "..");
	char base[sizeof(sides->hash) + 16];
	int rc = 0;

	if (dots) {
		snprintf(base, sizeof(base), "%.*s", (int)(dots - text), text);
		rc = assay_revision_read(base, &sides[0], err);
	}
	return rc ? rc : assay_revision_read(dots ? dots + 2 : text, &sides[1], err);
}

/* The folder that the first of @plugins lies in, malloc'ed; NULL where it cannot be found. */
static char *folder_of(const struct assay_strings *plugins)
{
	char *path = plugins->n ? realpath(plugins->v[0], NULL) : NULL, *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		slash[slash == path] = '\0';
	return path;
}

int assay_revision_check(const struct assay_strings *plugins, const volatile sig_atomic_t *interrupted,
			 struct assay_commit *c, struct assay_err *err)
{
	char *folder = folder_of(plugins);
	const char *const places[] = { folder ? folder : ".", "." };
	struct assay_err first = { 0 };
	int said = 0;

	for (size_t i = 0; i < 2; i++) {
		struct assay_repository repo;
		struct assay_err why = { 0 };
		char full[sizeof(c->hash)];
		int rc = assay_repository_open(&repo, places[i], interrupted, &why);
		bool is_repository = !rc;

		if (is_repository)
			rc = assay_repository_commit(&repo, c->hash, full, &why);
		if (!rc) {
			memcpy(c->hash, full, sizeof(full));
			said = 0;
			break;
		}
		if (!said && (is_repository || rc == ASSAY_EINTERRUPTED)) {
			first = why;
			said = rc;
		}
	}
	free(folder);
	return said ? assay_err_set(err, said, "bad --revision: %s", first.text) : 0;
}

int assay_revision_of_plugins(const struct assay_strings *plugins, const volatile sig_atomic_t *interrupted,
			      struct assay_commit *out, struct assay_err *err)
{
	struct assay_repository repo;
	char *path = folder_of(plugins);
	int rc;

	*out = (struct assay_commit){ 0 };
	if (!path)
		return 0;
	rc = assay_repository_open(&repo, path, interrupted, err);
	if (!rc)
		rc = assay_repository_head(&repo, out->hash, &out->dirty, err);
	free(path);
	if (rc == ASSAY_EINTERRUPTED)
		return rc;
	/* most plugins lie in no repository, and one that git cannot read says as little */
	if (rc)
		*out = (struct assay_commit){ 0 };
	return 0;
}

static void on_building(void *arg, const char *name, const char *command)
{
	char text[1024];

	snprintf(text, sizeof(text), "building %s: %s", name, command);
	assay_watch_tell(arg, &(struct assay_event){ .kind = ASSAY_EVENT_BUILDING, .text = text });
}

int assay_revision_resolve_watched(const char *arg, const char *cache_dir, const struct assay_commit *stated,
				   const struct assay_watch *w, struct assay_side_source *out, struct assay_err *err)
{
	const struct assay_revision_options o = { .cache_dir = cache_dir,
						  .passing = cache_dir != NULL,
						  .building = on_building,
						  .arg = (void *)w,
						  .stated = stated && stated->hash[0] ? stated : NULL,
						  .interrupted = w->interrupted };
	struct assay_text log = { 0 };
	int rc = assay_revision_resolve(arg, &o, out, &log, err);

	if (rc && log.s)
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_LOG, .text = log.s });
	assay_text_release(&log);
	return rc;
}

/* From here on @s has the copies. */
static int take_copies(struct assay_side_source *s, struct assay_err *err)
{
	struct assay_strings copies = { 0 }, digests = { 0 };
	int rc = digest_plugins(&s->plugins, s->copies.path, &digests, err);

	for (size_t i = 0; i < s->plugins.n && !rc; i++) {
		char path[PLACE_MAX];

		snprintf(path, sizeof(path), "%s/%.255s", s->copies.path, file_name(s->plugins.v[i]));
		rc = assay_strings_add(&copies, path, err);
	}
	if (rc) {
		assay_strings_release(&copies);
		assay_strings_release(&digests);
		return rc;
	}
	assay_strings_release(&s->digests);
	s->originals = s->plugins;
	s->plugins = copies;
	s->digests = digests;
	return 0;
}

int assay_side_source_copy(struct assay_side_source *s, struct assay_err *err)
{
	struct statvfs fs;
	int rc;

	if (!s->from_git)
		return 0;
	rc = assay_temporary_make(&s->copies, "plugins", err);
	if (!rc && !statvfs(s->copies.path, &fs) && fs.f_flag & ST_NOEXEC)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "plugins that are copied to '%s' cannot be loaded there, as its disk is mounted "
				   "noexec: set TMPDIR to another folder",
				   s->copies.path);
	return rc ? rc : take_copies(s, err);
}

int assay_side_source_unchanged(const struct assay_side_source *s, bool measured, struct assay_err *err)
{
	const struct assay_strings *plugins = s->originals.n && !measured ? &s->originals : &s->plugins;
	struct assay_strings now = { 0 };
	int rc = digest_plugins(plugins, NULL, &now, err);

	for (size_t i = 0; i < plugins->n && !rc; i++)
		if (strcmp(now.v[i], s->digests.v[i]) != 0)
			rc = assay_err_set(
				err, ASSAY_EUSAGE, "the plugin '%s' of '%s' was overwritten %s", plugins->v[i], s->name,
				measured ? "while it was measured: build it elsewhere, or once the comparison "
					   "has ended"
					 : "after it was built: the build of the other side must write inside "
					   "its own checkout alone");
	assay_strings_release(&now);
	return rc;
}

void assay_side_source_release(struct assay_side_source *s)
{
	assay_temporary_remove(&s->copies);
	assay_strings_release(&s->digests);
	assay_strings_release(&s->originals);
	assay_strings_release(&s->plugins);
	free(s->top);
	*s = (struct assay_side_source){ 0 };
}
