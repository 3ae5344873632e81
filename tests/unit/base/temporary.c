/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders: made with their owner's name, removed with what is in them, and swept when the owner is gone. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* $TMPDIR of a test. */
static char place[64];

static int set_up(void **state)
{
	snprintf(place, sizeof(place), "/tmp/test-temporary-XXXXXX");
	assert_non_null(mkdtemp(place));
	return setenv("TMPDIR", place, 1);
}

static int tear_down(void **state)
{
	unsetenv("TMPDIR");
	return rmdir(place); /* each test leaves nothing */
}

static void put(const char *folder, const char *name)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(0, assay_file_write(path, "x", 1, NULL));
}

TEST(a_folder_is_removed_with_what_is_in_it)
{
	struct assay_temporary t;
	struct assay_err err = { 0 };
	char own[128], below[PATH_MAX];

	assert_int_equal(0, assay_temporary_make(&t, "some-thing", &err));
	snprintf(own, sizeof(own), "/assay-some-thing-%ld-", (long)getpid());
	assert_non_null(strstr(t.path, own));
	put(t.path, "a");
	put(t.path, ".hidden");
	snprintf(below, sizeof(below), "%s/b/c", t.path);
	assert_int_equal(0, assay_file_mkdirs(below, NULL));
	put(below, "d");
	snprintf(below, sizeof(below), "%s", t.path);
	assay_temporary_remove(&t);
	assert_false(assay_file_exists(below));
	assert_string_equal(t.path, "");
	assay_temporary_remove(&t); /* there is none */
}

TEST(where_none_can_be_made_it_says_so)
{
	struct assay_temporary t;
	struct assay_err err = { 0 };

	setenv("TMPDIR", "/nowhere/at all", 1);
	assert_int_equal(ASSAY_EUSAGE, assay_temporary_make(&t, "x", &err));
	assert_string_equal(err.text, "cannot make a folder in '/nowhere/at all': No such file or directory, set "
				      "TMPDIR to one that can be written");
	assay_temporary_remove(&t);
	assay_temporary_sweep();
	setenv("TMPDIR", place, 1);
}

/* A child makes a folder and is killed; *path is what it left. It is reaped behind @swept(), if there is any. */
static void leave_one(char *path, size_t size, void (*swept)(void))
{
	int fd[2];
	pid_t child;

	assert_int_equal(0, pipe(fd));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct assay_temporary t;

		if (assay_temporary_make(&t, "left", NULL) || write(fd[1], t.path, strlen(t.path) + 1) < 0)
			_exit(1);
		pause();
	}
	assert_true(read(fd[0], path, size) > 0);
	put(path, "counts");
	/* as long as it lives it keeps its folder */
	assay_temporary_sweep();
	assert_true(assay_file_exists(path));
	kill(child, SIGKILL);
	assert_int_equal(0, waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT));
	if (swept)
		swept();
	assert_int_equal(child, waitpid(child, NULL, 0));
	close(fd[0]);
	close(fd[1]);
}

TEST(what_a_killed_process_left_is_swept)
{
	struct assay_temporary own;
	char left[4096];

	assert_int_equal(0, assay_temporary_make(&own, "own", NULL));
	leave_one(left, sizeof(left), NULL);
	assay_temporary_sweep();
	assert_false(assay_file_exists(left));
	assert_true(assay_file_exists(own.path));
	assay_temporary_remove(&own);
}

TEST(who_ended_and_is_not_asked_for_has_left_its_folder)
{
	char left[4096];

	leave_one(left, sizeof(left), assay_temporary_sweep);
	assert_false(assay_file_exists(left));
}

/* Another container may have processes of its own, and share the folder. */
TEST(what_is_locked_is_not_swept)
{
	char left[4096];
	int fd;

	leave_one(left, sizeof(left), NULL);
	fd = open(left, O_RDONLY | O_DIRECTORY);
	assert_int_equal(0, flock(fd, LOCK_EX));
	assay_temporary_sweep();
	assert_true(assay_file_exists(left));
	close(fd);
	assay_temporary_sweep();
	assert_false(assay_file_exists(left));
}

/* Names of others; and of this very process, had it begun at another time. */
TEST(names_tell_whose_it_is)
{
	static const struct {
		const char *before, *behind; /* the number of the process */
		bool swept;
	} cases[] = {
		{ "assay-x-", "-7-abcDE9", true },   { "assay-x-y-", "-7-abcDE9", true },
		{ "assay-x-", "-7-abcDE9z", false }, { "assay-x-", "-abcDE9", false },
		{ "other-x-", "-7-abcDE9", false },  { "assay-", "", false },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char path[8192];

		snprintf(path, sizeof(path), "%s/%s%ld%s", place, cases[i].before, (long)getpid(), cases[i].behind);
		assert_int_equal(0, mkdir(path, 0700));
		assay_temporary_sweep();
		if (assay_file_exists(path) == cases[i].swept)
			fail_msg("%s", path);
		rmdir(path);
	}
}

UNIT_GROUP(set_up, tear_down)
