/* SPDX-License-Identifier: Apache-2.0 */
/* assay profile: where the time of a case or of any program goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/profile/kinds.h"
#include "drive/profile/profile.h"

#define MOST_DAYS 18000 /* what a clock that begins in 1970 has behind it */

struct profile_args {
	struct assay_settings s;
	struct assay_profile_request q;
	const char *out;
	const char *with;  /* a tool in place of assay's own; NULL: none */
	uint64_t every_ns; /* again and again, from start to start; 0: once */
	bool lines, sanitize, cost;
	const char *before; /* what is printed before it, of several; NULL: nothing */
};

/* One profile of each of these kinds. */
static bool are_several(const struct profile_args *a)
{
	return !strcmp(a->q.kind, "all") || strchr(a->q.kind, ',');
}

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct profile_args *a = args;

	if (!a->q.kind) {
		struct assay_err one = { 0 };
		int rc;

		a->q.kind = arg;
		rc = strcmp(arg, "all") ? assay_profile_kinds_check(arg, &one) : 0;
		return rc ? assay_err_set(err, rc, "%s or all", one.text) : 0;
	}
	if (a->q.key)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': profile takes one case, or '-- COMMAND...'", arg);
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "bad case '': expected a key, or a glob or part of one");
	a->q.key = arg;
	return 0;
}

static int set_rate(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t v;
	int rc = assay_parse_u64(arg, name, 1, ASSAY_PROFILE_MOST_HZ, &v, err);

	if (!rc)
		*(unsigned *)to = (unsigned)v;
	return rc;
}

static int set_name(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	*(const char **)to = arg;
	return assay_profile_name_check(arg, err);
}

static int set_keep(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t n;
	int rc = assay_parse_u64(arg, name, 1, 1000000000, &n, err);

	if (!rc)
		*(size_t *)to = (size_t)n;
	return rc;
}

static int set_days(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t n;
	int rc = assay_parse_u64(arg, name, 1, MOST_DAYS, &n, err);

	if (!rc)
		*(unsigned *)to = (unsigned)n;
	return rc;
}

static int set_sample(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t v = 0;
	int rc = assay_parse_bytes(arg, name, &v, err);

	if (!rc && !v)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected at least 1 byte", name, arg);
	*(uint64_t *)to = v;
	return rc;
}

static int set_with(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	*(const char **)to = arg;
	return assay_profile_tool_check(arg, err);
}

/* Options of one kind that the others do not have. */
static int check_kind(const struct profile_args *a, struct assay_err *err)
{
	const char *dot = a->out ? strrchr(a->out, '.') : NULL;
	const struct {
		bool given;
		const char *option, *kind;
		bool takes; /* where all kinds are profiled, that one takes it */
	} of_one[] = {
		{ a->q.rate_hz, "--rate", "cpu", true },
		{ a->lines, "--lines", "cpu", true },
		{ a->cost, "--cost", "cpu", false },
		{ a->q.sample_bytes, "--sample", "heap", true },
		{ dot && !strcmp(dot, ".dhat"), "a file that ends in .dhat", "heap", false },
		{ a->with, "--with", "gpu", false },
		{ dot && !strcmp(dot, ".trace"), "a file that ends in .trace", "trace", false },
	};

	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++)
		if (of_one[i].given && strcmp(of_one[i].kind, a->q.kind) &&
		    !(are_several(a) && of_one[i].takes && assay_profile_kinds_have(a->q.kind, of_one[i].kind)))
			return assay_err_set(err, ASSAY_EUSAGE, "%s is for profiles of the kind %s, not %s",
					     of_one[i].option, of_one[i].kind, a->q.kind);
	if (a->with && a->q.name)
		return assay_err_set(err, ASSAY_EUSAGE, "--name stores what assay sees: %s's report is a file",
				     a->with);
	return a->with ? assay_profile_tool_output(a->with, a->out, err) : 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct profile_args *a = args;

	if (!a->q.kind)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "nothing to profile: expected 'profile cpu CASE' or 'profile cpu -- COMMAND...'");
	if ((a->every_ns || a->q.keep || a->q.keep_days) && !a->q.name)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--every, --keep and --keep-days store profiles: give them a --name");
	if (a->q.key && a->q.command)
		return assay_err_set(err, ASSAY_EUSAGE, "a case and a command exclude each other: profile one of them");
	if (!a->q.key && (!a->q.command || !a->q.command[0]))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"no case or command given: 'assay profile %s CASE' or 'assay profile %s -- COMMAND...'",
			a->q.kind, a->q.kind);
	if (a->cost && (a->q.command || a->out || a->q.name || a->lines || a->sanitize || a->s.json))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"--cost measures a case and makes no profile: combine it with --rate and --for only");
	return check_kind(a, err);
}

#define AT(member) offsetof(struct profile_args, member)

static const struct assay_option options[] = {
	{ "rate", 0, "HZ", set_rate, AT(q.rate_hz),
	  "Samples a second of each thread's CPU time, to 10000 (default 997)" },
	{ "for", 0, "TIME", assay_option_duration, AT(q.for_ns),
	  "How long to sample: timed iterations of a case (default 5s, or as assay.conf says), or the start of a "
	  "program (default: all of "
	  "it)" },
	{ "output", 'o', "FILE", assay_option_text, AT(out),
	  "Also write FILE: .svg is a flame graph, .html a page with it and all tables, .folded its stacks as text for "
	  "other viewers, .json what --json prints; of threads .svg is a timeline; of a trace .json is "
	  "for Perfetto and Chrome's viewer; of the heap also .dhat, for the viewers of valgrind's DHAT" },
	{ "suite", 's', "NAME", assay_option_text, AT(s.r.plan.suite),
	  "Suite that has the case (default " ASSAY_DEFAULT_SUITE ")" },
	{ "name", 0, "NAME", set_name, AT(q.name),
	  "Store the profile under this name, for 'assay show NAME' and 'assay diff NAME OTHER'" },
	{ "every", 0, "TIME", assay_option_duration, AT(every_ns),
	  "Profile repeatedly until interrupted, one start every TIME; with --name" },
	{ "keep", 0, "N", set_keep, AT(q.keep), "Keep the newest N profiles of that name (default: all)" },
	{ "keep-days", ASSAY_RARELY, "DAYS", set_days, AT(q.keep_days),
	  "Keep those of the last DAYS days; with --keep, a profile stays if either option keeps it" },
	{ "sample", ASSAY_RARELY, "BYTES", set_sample, AT(q.sample_bytes),
	  "With heap: sample about one allocation per this many bytes, such as 512KiB (default: all)" },
	{ "sanitize", ASSAY_RARELY, NULL, assay_option_flag, AT(sanitize),
	  "Show and write it without paths, user and host names; what is stored stays as it is" },
	{ "with", 0, "nsys|ncu", set_with, AT(with),
	  "With gpu: let nsys or ncu profile it, if they are installed; -o names their report" },
	{ "cost", ASSAY_RARELY, NULL, assay_option_flag, AT(cost),
	  "Measure what sampling a case at --rate costs it, against workers that are not sampled; at 20000 Hz as a "
	  "control" },
	{ "lines", 0, NULL, assay_option_flag, AT(lines), "Also show the hottest lines and instructions" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "cpu|heap|threads|trace|gpu|all CASE\ncpu|heap|threads|trace|gpu|all -- COMMAND...",
	.doc = "Sample what the threads of a case, or of any program, execute, with all their callers, and show "
	       "the functions that take most. Stacks are unwound as it runs, with the unwind tables that "
	       "compilers emit, so nothing has to be recompiled. CASE is a key of the suite, or a glob or part of "
	       "one. heap shows the call sites that allocate "
	       "memory, in place of samples; threads what each thread does with its time, and what it waits for; "
	       "trace the same one after the other, with spans that ops mark, and the critical path; gpu the "
	       "kernels and copies of NVIDIA's GPUs, with what these used meanwhile. all, or several kinds as in "
	       "cpu,heap, takes one of each after the other, as far as this machine has them; -o p.svg then writes "
	       "p.cpu.svg and so on. What "
	       "a command prints goes to standard error, so that standard output has the profile alone.\v"
	       "examples:\n"
	       "  assay profile cpu quantize.q8_0/avx2/n=1048576/t=1/warm -o p.svg\n"
	       "  assay profile cpu --for 10s --lines -- ./server --port 8080\n"
	       "  assay profile heap --sample 512KiB -o p.dhat -- ./server --port 8080\n"
	       "  assay profile threads -o p.svg -- ./server --port 8080\n"
	       "  assay profile trace -o p.json 'generate.decode/avx2/*/t=2/warm'\n"
	       "  assay profile gpu -o p.html -- ./server --port 8080",
	.tables = { { options, 0 },
		    { assay_options_load, 0 },
		    { assay_options_models, 0 },
		    { assay_options_place, 0 },
		    { assay_options_measure, 0 },
		    { assay_options_wrong, 0 },
		    ASSAY_OPTIONS_READING },
	.argument = set_argument,
	.check = check,
};

/* A case without a profile ends the command as it would end a run. */
static int end_with(int rc, int *status, const struct assay_err *err)
{
	if (rc != ASSAY_EWORKER && rc != ASSAY_EWRONG)
		return rc;
	assay_cli_error("%s", err->text);
	*status = rc == ASSAY_EWRONG ? ASSAY_EXIT_WRONG_RESULT : ASSAY_EXIT_NOT_MEASURED;
	return 0;
}

/* JSON of a trace is that of its viewers. NULL: what the ending says. */
static const char *file_format(const struct profile_args *a)
{
	const char *dot = strrchr(a->out, '.');

	return !strcmp(a->q.kind, "trace") && dot && !strcmp(dot, ".json") ? "trace" : NULL;
}

/* Measurements are shown even if they could not be stored or written. */
static int profile_once(struct profile_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct assay_profile p;
	struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p, .lines = a->lines } };
	struct assay_err unkept = { 0 }, unwritten = { 0 };
	int rc = assay_profile_take(&a->q, &w->watch, &p, &unkept, err);

	if (!rc && a->sanitize)
		rc = assay_profile_sanitize(&p, err);
	if (!rc && a->out)
		unwritten.code =
			assay_user_path_error(assay_emit_file(&r, file_format(a), a->out, &unwritten), &unwritten);
	if (!rc && a->q.command && !a->s.json)
		fputc('\n', stderr); /* the last line of the program may have no end, and both may be one terminal */
	if (!rc && a->before)
		fputs(a->before, stdout);
	if (!rc)
		rc = assay_cli_emit(&r, a->s.json, a->s.verbose, err);
	fflush(stdout); /* before the next program prints */
	if (!rc && (unkept.code || unwritten.code)) {
		*err = unkept.code ? unkept : unwritten;
		rc = err->code;
	}
	assay_profile_release(&p);
	return end_with(rc, status, err);
}

/* "p.heap.svg" of "p.svg". Malloc'ed; NULL without memory. */
static char *name_with_kind(const char *path, const char *kind)
{
	const char *dot = strrchr(path, '.');
	const int stem = dot ? (int)(dot - path) : (int)strlen(path);
	char *name;

	return asprintf(&name, "%.*s.%s%s", stem, path, kind, dot ? dot : "") < 0 ? NULL : name;
}

static int profile_kind(const struct profile_args *all, const char *kind, const char *before, struct assay_watcher *w,
			int *status, struct assay_err *err)
{
	char *name = all->out ? name_with_kind(all->out, kind) : NULL;
	struct profile_args a = *all;
	int rc;

	a.q.kind = kind;
	a.before = before;
	a.out = name;
	a.lines &= !strcmp(kind, "cpu");
	a.q.rate_hz = strcmp(kind, "cpu") ? 0 : a.q.rate_hz;
	a.q.sample_bytes = strcmp(kind, "heap") ? 0 : a.q.sample_bytes;
	rc = all->out && !name ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : profile_once(&a, w, status, err);
	free(name);
	return rc;
}

/* The kind that is asked for at place @i of all or behind it; NULL: there is none. */
static const char *next_kind(const struct profile_args *a, size_t *i)
{
	while (assay_profile_kind(*i) && !assay_profile_kinds_have(a->q.kind, assay_profile_kind(*i)))
		++*i;
	return assay_profile_kind(*i);
}

/* Kinds that this machine cannot profile are reported and left out. */
static int profile_several(const struct profile_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	size_t taken = 0, i = 0;
	const char *kind;
	int rc = 0;

	while (!rc && !*status && (kind = next_kind(a, &i))) {
		i++;
		rc = profile_kind(a, kind,
				  a->s.json ? taken ? "," : "{\"schema\": 1, \"profiles\": ["
				  : taken   ? "\n"
					    : "",
				  w, status, err);
		if (rc == ASSAY_EUNAVAILABLE && (taken || next_kind(a, &i))) {
			assay_watch_warn(&w->watch, "no profile of the kind %s: %s", kind, err->text);
			rc = 0;
		} else if (!rc) {
			taken++;
		}
	}
	if (a->s.json && taken)
		puts("]}");
	return rc;
}

/* Until @at; an interrupt ends it. */
static int wait_until(uint64_t at, const struct assay_watch *w, struct assay_err *err)
{
	const struct timespec step = { .tv_nsec = 50000000 };
	int rc = assay_watch_check(w, err);

	while (!rc && assay_monotonic_ns() < at) {
		nanosleep(&step, NULL);
		rc = assay_watch_check(w, err);
	}
	return rc;
}

static int run_tool(struct profile_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	int rc = assay_profile_tool_run(a->with, &a->q, &w->watch, a->out, err);

	if (!rc)
		assay_cli_say("the report of %s is in %s\n", a->with, a->out);
	return end_with(rc, status, err);
}

/* Can all files be written? Asked before anything runs. */
static int check_files(const struct profile_args *a, struct assay_err *err)
{
	int rc = 0;

	if (a->out && a->with)
		rc = assay_file_write_check(a->out, err);
	else if (a->out && !are_several(a))
		rc = assay_emit_check(ASSAY_REPORT_PROFILE, a->out, err);
	for (size_t i = 0; a->out && are_several(a) && assay_profile_kind(i) && !rc; i++) {
		char *name = name_with_kind(a->out, assay_profile_kind(i));

		rc = name ? assay_emit_check(ASSAY_REPORT_PROFILE, name, err)
			  : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		free(name);
	}
	return assay_user_path_error(rc, err);
}

static int tell_cost(struct profile_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct assay_profile_cost v[2];
	int rc = assay_profile_cost(&a->q, &w->watch, v, err);

	for (unsigned i = 0; i < 2 && !rc; i++)
		assay_cli_say("%s %5u Hz: %+.2f %% (%+.2f to %+.2f %%) of a plain worker's processor time, %zu pairs\n",
			      i ? "control" : "sampled", v[i].rate_hz, 100 * (v[i].ratio - 1), 100 * (v[i].ci.lo - 1),
			      100 * (v[i].ci.hi - 1), v[i].pairs);
	return end_with(rc, status, err);
}

static int profile(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct profile_args *a = args;
	uint64_t next = assay_monotonic_ns();
	int rc = check_files(a, err);

	if (rc)
		return rc;
	w->hold = true;
	a->q.what = &a->s.r;
	if (a->cost)
		return tell_cost(a, w, status, err);
	if (a->with)
		return run_tool(a, w, status, err);
	if (!a->q.command && a->q.key && strchr(a->q.key, '/') && !access(a->q.key, X_OK))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "'%.200s' is a file and no case: a program stands behind '--', assay "
				     "profile %s -- %.200s",
				     a->q.key, a->q.kind, a->q.key);
	do {
		rc = are_several(a) ? profile_several(a, w, status, err) : profile_once(a, w, status, err);
		next += a->every_ns;
		if (!rc && a->every_ns && !*status)
			rc = wait_until(next, &w->watch, err);
	} while (!rc && a->every_ns && !*status);
	return rc;
}

/* Everything after "--" is another program's command, with options of its own. */
int assay_cmd_profile(int argc, char **argv)
{
	struct profile_args a = { .out = NULL };

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--")) {
			a.q.command = (const char *const *)&argv[i + 1];
			argc = i;
		}
	return assay_command(&line, argc, argv, &a, profile);
}
