/* SPDX-License-Identifier: Apache-2.0 */
/* Sides of a comparison, in a small repository made for the purpose whose build only copies and counts. */

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
#include "drive/revision.h"

static char root[] = "/tmp/assay-revision-XXXXXX";
static char cache[PATH_MAX], home[PATH_MAX];
static unsigned told;

static void building(void *arg, const char *name, const char *command)
{
	assert_true(name[0] && command[0]);
	told++;
}

static const struct assay_revision_options options = { .cache_dir = cache, .building = building };

static void __attribute__((format(printf, 1, 2))) sh(const char *fmt, ...)
{
	char cmd[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd))
		fail_msg("failed: %s", cmd);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
}

static char *get(const char *path)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(assay_file_read(path, &text, &len, NULL), 0);
	return text;
}

static void assert_file(const char *path, const char *want)
{
	char *text = get(path);

	assert_string_equal(text, want);
	free(text);
}

/* One letter in ../count for each build. */
static void assert_builds(const char *want)
{
	if (!want[0])
		assert_false(assay_file_exists("../count"));
	else
		assert_file("../count", want);
}

#define CONF                                                                                                           \
	"build = \"printf b >>%s/count && mkdir -p out && cp kernel out/k.so && test -z "                              \
	"\\\"$GIT_DIR$MAKEFLAGS\\\"\"\n"                                                                               \
	"plugins = \"out\"\n"

/* Two commits, `one` (a tag) and `main`, and an ignored folder `out`. */
static int fresh(void **state)
{
	char conf[PATH_MAX];

	assert_int_equal(chdir(root), 0);
	sh("rm -rf repo cache count && git init -q -b main repo");
	assert_int_equal(chdir("repo"), 0);
	snprintf(conf, sizeof(conf), CONF, root);
	put("assay.conf", conf);
	put(".gitignore", "out\n");
	put("kernel", "first");
	sh("git add . && git commit -q -m one && git tag one");
	put("kernel", "second");
	sh("git commit -q -a -m two");
	told = 0;
	return 0;
}

static void resolve(const char *arg, struct assay_side_source *s)
{
	struct assay_err err = { 0 };
	struct assay_text log = { 0 };

	if (assay_revision_resolve(arg, &options, s, &log, &err))
		fail_msg("%s\n%s", err.text, log.s ? log.s : "");
	assert_null(log.s);
}

static void refuse(const char *arg, const char *text)
{
	struct assay_side_source s;
	struct assay_err err = { 0 };

	assert_int_equal(assay_revision_resolve(arg, &options, &s, NULL, &err), ASSAY_EUSAGE);
	if (!strstr(err.text, text))
		fail_msg("'%s' lacks '%s'", err.text, text);
	assert_int_equal(s.plugins.n, 0);
}

TEST_WITH(test_unknown, fresh, NULL)
{
	refuse("mian", "unknown revision 'mian', did you mean 'main'?");
	refuse("0123456789", "unknown revision '0123456789'");
	refuse("--all", "unknown revision '--all'");
	refuse("", "unknown revision ''");
	refuse("one^{tree}", "unknown revision");
	refuse("none.so", "no file 'none.so', and no revision of that name");
	sh("mkdir empty");
	refuse("empty", "no *.so in the folder 'empty', and no revision of that name");
	assert_int_equal(chdir(home), 0);
	refuse("main",
	       "'main' is neither a plugin NAME.so nor a folder with plugins, and there is no git repository here");
	refuse(NULL, "no git repository here");
}

TEST_WITH(test_builds_once, fresh, NULL)
{
	struct assay_side_source s;
	char conf[4096];

	put("kernel", "uncommitted");
	put("new", "untracked");
	sh("git add new && git status --porcelain >../before && touch -d 2001-01-01 .gitignore && cp .git/index "
	   "../index");
	resolve("one", &s);
	assert_int_equal(s.plugins.n, 1);
	assert_file(s.plugins.v[0], "first");
	assert_true(s.from_git);
	assert_true(!strncmp(s.plugins.v[0], s.top, strlen(s.top)) && s.plugins.v[0][strlen(s.top)] == '/');
	snprintf(conf, sizeof(conf), "%s/assay.conf", s.top);
	assert_int_equal(access(conf, R_OK), 0);
	assert_int_equal(strlen(s.build.commit), 40);
	assert_false(s.build.dirty);
	assert_string_equal(s.name, "one");
	assay_side_source_release(&s);
	assert_builds("b");
	assert_int_equal(told, 1);

	/* by another name, from a folder further down */
	sh("mkdir -p down");
	assert_int_equal(chdir("down"), 0);
	resolve("main~1", &s);
	assert_file(s.plugins.v[0], "first");
	assay_side_source_release(&s);
	assert_int_equal(chdir(".."), 0);
	assert_builds("b");
	resolve("main", &s);
	assert_file(s.plugins.v[0], "second");
	assay_side_source_release(&s);
	assert_builds("bb");
	assert_int_equal(told, 2);

	/* the user's tree is as it was */
	assert_file("kernel", "uncommitted");
	assert_false(assay_file_exists("out"));
	sh("cmp .git/index ../index && git status --porcelain | cmp - ../before");
}

TEST_WITH(test_environment_is_clean, fresh, NULL)
{
	struct assay_side_source s;

	setenv("GIT_DIR", "/proc/nowhere", 1);
	setenv("GIT_INDEX_FILE", "/proc/nowhere", 1);
	setenv("MAKEFLAGS", "-j --jobserver-auth=3,4", 1);
	resolve("one", &s);
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("MAKEFLAGS");
	assert_file(s.plugins.v[0], "first");
	assay_side_source_release(&s);
}

TEST_WITH(test_another_command_builds_again, fresh, NULL)
{
	struct assay_side_source s;

	resolve("one", &s);
	assay_side_source_release(&s);
	assert_builds("b");
	put("assay.conf", "build = \"mkdir -p out && tr a-z A-Z <kernel >out/k.so\"\nplugins = \"out\"\n");
	resolve("one", &s);
	assert_file(s.plugins.v[0], "FIRST");
	assay_side_source_release(&s);
	setenv("CFLAGS", "-O1", 1);
	told = 0;
	resolve("one", &s);
	unsetenv("CFLAGS");
	assay_side_source_release(&s);
	assert_int_equal(told, 1);
}

TEST_WITH(test_bad_conf, fresh, NULL)
{
	struct assay_side_source s;

	put("assay.conf", "build = \"true\"\nplugins = \"/usr/lib\"\n");
	refuse("one", "plugins '/usr/lib' must lie inside the checkout");
	put("assay.conf", "build = \"true\"\nplugins = \"a/../../b\"\n");
	refuse("one", "must lie inside the checkout");
	put("assay.conf", "build = \"true\"\n");
	refuse("one", "assay.conf' has no plugins = ");
	put("assay.conf", "plugins = \"out\"\n");
	refuse("one", "assay.conf' has no build = ");
	put("assay.conf", "build = \"true\"\nplugin = \"out\"\n");
	refuse("one", "plugins");
	sh("rm assay.conf");
	refuse("one", "no assay.conf in '");
	sh("mkdir ci");
	put("ci/assay.conf", "build = \"mkdir -p out; cp kernel out/k.so\"\nplugins = \"out\"\n");
	resolve("one", &s);
	assay_side_source_release(&s);
}

TEST_WITH(test_survives_a_lost_or_half_made_cache, fresh, NULL)
{
	struct assay_side_source s;

	resolve("one", &s);
	assay_side_source_release(&s);
	sh("rm -rf ../cache");
	resolve("one", &s);
	assert_file(s.plugins.v[0], "first");
	assay_side_source_release(&s);
	assert_builds("bb");

	sh("rm ../cache/*/*.built && rm ../cache/*/*/kernel && for d in ../cache/*/*/out; do touch $d/stale.so; done");
	resolve("one", &s);
	assert_int_equal(s.plugins.n, 1);
	assert_file(s.plugins.v[0], "first");
	assay_side_source_release(&s);
	assert_builds("bbb");

	sh("rm -r ../cache/*/*/out");
	resolve("one", &s);
	assert_file(s.plugins.v[0], "first");
	assay_side_source_release(&s);
	assert_builds("bbbb");
	sh("test $(git worktree list | wc -l) = 2");
}

TEST_WITH(test_hooks_do_not_run, fresh, NULL)
{
	struct assay_side_source s;

	put(".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n");
	sh("chmod +x .git/hooks/post-checkout");
	resolve("one", &s);
	assay_side_source_release(&s);
}

TEST_WITH(test_two_at_once, fresh, NULL)
{
	pid_t pid[4];

	for (size_t i = 0; i < 4; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct assay_side_source s;
			int rc = assay_revision_resolve(i < 2 ? "one" : "main", &options, &s, NULL, NULL);

			_exit(rc || s.plugins.n != 1);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	assert_builds("bb");
}

static int set_up(void **state)
{
	if (!mkdtemp(root))
		return -1;
	snprintf(cache, sizeof(cache), "%s/cache", root);
	snprintf(home, sizeof(home), "%s/home", root);
	setenv("HOME", home, 1);
	setenv("GIT_CEILING_DIRECTORIES", root, 1);
	setenv("GIT_AUTHOR_NAME", "nobody", 1);
	setenv("GIT_AUTHOR_EMAIL", "nobody@localhost", 1);
	setenv("GIT_COMMITTER_NAME", "nobody", 1);
	setenv("GIT_COMMITTER_EMAIL", "nobody@localhost", 1);
	unsetenv("GIT_DIR");
	unsetenv("MAKEFLAGS");
	return assay_file_mkdirs(home, NULL);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	sh("rm -rf '%s'", root);
	return 0;
}

UNIT_GROUP(set_up, tear_down)
