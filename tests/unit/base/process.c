/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that end, fail, hang, leave others behind or outlive their parent. This program starts itself again (with a
 * role as its first argument) where a child of a certain kind is wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "unit.h"

#define LONG_NS  UINT64_C(20000000000) /* never waited for in full unless something is broken */
#define SHORT_NS UINT64_C(50000000)

static struct assay_process_options plain(const char *const *argv)
{
	return (struct assay_process_options){ .argv = argv, .keep_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
}

TEST(describes_the_end)
{
	static const struct {
		const char *script, *want;
	} cases[] = {
		{ "exit 0", "exited with status 0" },
		{ "exit 3", "exited with status 3" },
		{ "kill -SEGV $$", "killed by signal 11 (SIGSEGV)" },
		{ "kill -KILL $$", "killed by signal 9 (SIGKILL)" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *argv[] = { "sh", "-c", cases[i].script, NULL };
		struct assay_process_options o = plain(argv);
		struct assay_err err = { 0 };
		struct assay_process p;
		char how[80];

		assert_int_equal(assay_process_start(&p, &o, &err), 0);
		assert_true(assay_process_wait(&p, LONG_NS));
		assert_true(p.reaped);
		assert_int_equal(p.pidfd, -1);
		assay_process_describe(&p, how, sizeof(how));
		assert_string_equal(how, cases[i].want);
		assert_true(assay_process_ended(&p));
		assert_int_equal(assay_process_rss_bytes(&p), 0);
		assay_process_kill(&p); /* does nothing to one that is gone */
	}
}

TEST(says_why_it_cannot_start)
{
	static const struct {
		const char *program, *cwd;
		int want;
		const char *text;
	} cases[] = {
		{ "assay-no-such-program", NULL, ASSAY_ENOTFOUND,
		  "cannot start 'assay-no-such-program': no such program in PATH" },
		{ "/none/such", NULL, ASSAY_ENOTFOUND, "cannot start '/none/such': No such file or directory" },
		{ "/etc/passwd", NULL, ASSAY_EIO, "cannot start '/etc/passwd': Permission denied" },
		{ "/bin/true", "/none", ASSAY_ENOTFOUND,
		  "cannot enter the folder of '/bin/true' in '/none': No such file or directory" },
		{ "", NULL, ASSAY_ENOTFOUND, "cannot start '': no such program in PATH" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *argv[] = { cases[i].program, NULL };
		struct assay_process_options o = plain(argv);
		struct assay_err err = { 0 };
		struct assay_process p;

		o.cwd = cases[i].cwd;
		assert_int_equal(assay_process_start(&p, &o, &err), cases[i].want);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(p.pid, 0);
		assay_process_kill(&p);
	}
	/* No zombie remains of those that failed after the fork. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(kills_one_that_hangs)
{
	/* It ignores what can be ignored and has a child of its own that sleeps. */
	const char *argv[] = { "sh", "-c", "trap '' TERM INT; sleep 1000 & wait; sleep 1000", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;
	char how[80];

	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	assert_false(assay_process_wait(&p, SHORT_NS));
	assert_false(assay_process_ended(&p));
	assay_process_describe(&p, how, sizeof(how));
	assert_string_equal(how, "still running");
	assert_true(assay_process_rss_bytes(&p) > 0);
	assay_process_kill(&p);
	assay_process_describe(&p, how, sizeof(how));
	assert_string_equal(how, "killed by signal 9 (SIGKILL)");
}

/* No process of the group @pgid but zombies, waited for a while because the kernel kills asynchronously. */
static bool group_is_gone(pid_t pgid)
{
	for (int i = 0; i < 2000; i++) {
		if (kill(-pgid, 0) && errno == ESRCH)
			return true;
		usleep(5000);
	}
	return false;
}

TEST(kills_what_it_left_behind)
{
	const char *argv[] = { "sh", "-c", "sleep 1000 & exit 0", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;

	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	assert_true(assay_process_wait(&p, LONG_NS));
	assert_int_equal(p.status, 0);
	assert_true(group_is_gone(p.pid));
}

TEST(waits_without_a_pidfd)
{
	const char *argv[] = { "sh", "-c", "exit 5", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;

	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	if (p.pidfd >= 0)
		close(p.pidfd);
	p.pidfd = -1; /* as on a kernel before 5.3 */
	assert_true(assay_process_wait(&p, LONG_NS));
	assert_int_equal(WEXITSTATUS(p.status), 5);
}

TEST(hands_over_only_what_it_should)
{
	const char *argv[] = { "/proc/self/exe", "list-fds", NULL };
	const char *env[] = { "ASSAY_TEST_NEW=one", "ASSAY_TEST_OLD=two", NULL };
	int extra = open("/dev/null", O_RDONLY), keep = fcntl(extra, F_DUPFD_CLOEXEC, 40),
	    second = fcntl(extra, F_DUPFD_CLOEXEC, 30);
	int far = fcntl(extra, F_DUPFD, 200), fds[2];
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;
	char got[512] = "";
	sigset_t block, old;
	ssize_t n;

	setenv("ASSAY_TEST_OLD", "one", 1);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &old);
	assert_int_equal(pipe(fds), 0);
	o.keep_fd = keep;
	o.second_fd = second;
	o.env = env;
	o.cwd = "/";
	o.stdout_fd = o.stderr_fd = fds[1];
	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	close(fds[1]);
	assert_true(assay_process_wait(&p, LONG_NS));
	n = read(fds[0], got, sizeof(got) - 1);
	assert_true(n > 0);
	assert_string_equal(got, "fds 0 1 2 30 40; env one two 1; cwd /; own group; signals reset; stdin ends\n");
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(fds[0]);
	close(extra);
	close(keep);
	close(second);
	close(far);
}

TEST(survives_an_ignored_sigchld)
{
	const char *argv[] = { "sh", "-c", "exit 7", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;

	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	assert_true(assay_process_wait(&p, LONG_NS));
	assert_int_equal(WEXITSTATUS(p.status), 7);
	signal(SIGCHLD, SIG_DFL);
}

/* The parent in between is killed, as an out-of-memory killer would; the child it started must follow. */
TEST(dies_with_its_parent)
{
	const char *argv[] = { "/proc/self/exe", "parent", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_err err = { 0 };
	struct assay_process p;
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	o.stdout_fd = fds[1];
	assert_int_equal(assay_process_start(&p, &o, &err), 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &child, sizeof(child)), sizeof(child));
	close(fds[0]);
	assert_true(child > 0);
	assert_int_equal(kill(child, 0), 0);
	assert_int_not_equal(getpgid(child), p.pid);
	kill(p.pid, SIGKILL);
	assert_true(assay_process_wait(&p, LONG_NS));
	assert_true(group_is_gone(child));
}

static int capture(const char *const *argv, uint64_t timeout_ns, char **out, struct assay_err *err)
{
	return assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = timeout_ns }, out, err);
}

TEST(captures_output)
{
	static const struct {
		const char *script;
		uint64_t timeout_ns;
		int want;
		const char *out, *text;
	} cases[] = {
		{ "echo one; echo two >&2; echo three", LONG_NS, 0, "one\nthree\n", NULL },
		{ "true", LONG_NS, 0, "", NULL },
		{ "echo a; exit 0; sleep 1000", LONG_NS, 0, "a\n", NULL },
		{ "echo part; echo first >&2; echo ' why not ' >&2; exit 4", LONG_NS, ASSAY_EIO, NULL,
		  "'sh' exited with status 4: why not" },
		{ "echo only this; exit 1", LONG_NS, ASSAY_EIO, NULL, "'sh' exited with status 1: only this" },
		{ "exit 1", LONG_NS, ASSAY_EIO, NULL, "'sh' exited with status 1" },
		{ "kill -9 $$", LONG_NS, ASSAY_EIO, NULL, "'sh' killed by signal 9 (SIGKILL)" },
		{ "sleep 1000", SHORT_NS, ASSAY_EIO, NULL, "'sh' did not end within 0.05 s, stopped" },
		{ "exec >&- 2>&-; sleep 1000", SHORT_NS, ASSAY_EIO, NULL, "'sh' did not end within 0.05 s, stopped" },
		{ "yes", LONG_NS, ASSAY_EIO, NULL, "'sh' wrote more than 64 MiB, stopped" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *argv[] = { "sh", "-c", cases[i].script, NULL };
		struct assay_err err = { 0 };
		char *out = NULL;

		assert_int_equal(capture(argv, cases[i].timeout_ns, &out, &err), cases[i].want);
		if (cases[i].out)
			assert_string_equal(out, cases[i].out);
		else
			assert_null(out);
		if (cases[i].text)
			assert_string_equal(err.text, cases[i].text);
		free(out);
	}
}

TEST(capturing_is_interrupted)
{
	static const char *const argv[] = { "sh", "-c", "echo begun; exec sleep 600", NULL };
	static const volatile sig_atomic_t stop = 1;
	const struct assay_capture c = { .argv = argv, .timeout_ns = LONG_NS, .interrupted = &stop };
	struct assay_err err = { 0 };
	char *out = NULL;

	assert_int_equal(assay_process_capture(&c, &out, &err), ASSAY_EINTERRUPTED);
	assert_null(out);
	assert_string_equal(err.text, "interrupted");
}

/* ---- roles ---- */

static int list_fds(void)
{
	struct sigaction sa;
	sigset_t mask;
	char cwd[64], c;
	int n = 0;

	printf("fds");
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	printf("; env %s %s", getenv("ASSAY_TEST_NEW"), getenv("ASSAY_TEST_OLD"));
	/* replaced, not shadowed by a second one */
	for (char **e = environ; *e; e++)
		n += !strncmp(*e, "ASSAY_TEST_OLD=", 15);
	printf(" %d", n);
	printf("; cwd %s", getcwd(cwd, sizeof(cwd)));
	printf("; %s group", getpgrp() == getpid() ? "own" : "other");
	sigaction(SIGPIPE, NULL, &sa);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("; signals %s", sa.sa_handler == SIG_DFL && !sigismember(&mask, SIGUSR1) ? "reset" : "kept");
	printf("; stdin %s\n", read(0, &c, 1) == 0 ? "ends" : "has data");
	return 0;
}

static int be_parent(void)
{
	const char *argv[] = { "sleep", "1000", NULL };
	struct assay_process_options o = plain(argv);
	struct assay_process p;

	if (assay_process_start(&p, &o, NULL) || write(1, &p.pid, sizeof(p.pid)) != sizeof(p.pid))
		return 1;
	pause();
	return 0;
}

static bool is_child(int argc, char **argv, int *status)
{
	if (argc > 1 && !strcmp(argv[1], "list-fds"))
		*status = list_fds();
	else if (argc > 1 && !strcmp(argv[1], "parent"))
		*status = be_parent();
	else
		return false;
	return true;
}

/* ---- pipe reader ---- */

/* Output in a pipe: the beginning is kept, the rest is counted, and nothing is waited for. */

TEST(the_beginning_is_kept)
{
	struct assay_pipe p;

	assert_int_equal(assay_pipe_open(&p, 5, NULL), 0);
	assert_int_equal(assay_pipe_drain(&p), 0);
	assert_int_equal(write(p.write_fd, "abc", 3), 3);
	assert_int_equal(assay_pipe_drain(&p), 3);
	assert_int_equal(write(p.write_fd, "defgh", 5), 5);
	assert_int_equal(assay_pipe_drain(&p), 5);
	assert_int_equal(write(p.write_fd, "ij", 2), 2);
	assay_pipe_started(&p);
	assert_int_equal(assay_pipe_drain(&p), 2);
	assert_string_equal(p.text.s, "abcde");
	assert_int_equal(p.left_out, 5);
	assert_int_equal(p.read_fd, -1);
	assert_int_equal(assay_pipe_drain(&p), 0);
	assay_pipe_release(&p);
}

/* A file that never ends is one that is always written faster than it is read. */
TEST(a_flood_comes_in_parts)
{
	struct assay_pipe p = { .read_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), .write_fd = -1, .most = 100 };
	size_t taken = assay_pipe_drain(&p);

	assert_true(taken > 100 && taken <= (size_t)16 << 20);
	assert_int_equal(p.text.len, 100);
	assert_int_equal(p.left_out, taken - 100);
	assay_pipe_release(&p);
}

UNIT_GROUP_WITH(NULL, NULL, NULL, is_child)
