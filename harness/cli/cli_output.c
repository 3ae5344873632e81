/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to people, and how standard output looks to them. */
#include "cli/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "model/verdict.h"

static bool colour_on(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	/* https://no-color.org: any value that is not empty */
	return isatty(fd) && !(no && no[0]) && !(term && !strcmp(term, "dumb"));
}

/* One line, whatever names the user gave. */
static void message(const char *kind, const char *colour, const char *fmt, va_list ap)
{
	bool painted = colour_on(STDERR_FILENO);
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fflush(stdout);
	fprintf(stderr, "%sassay:%s %s%s\n", painted ? colour : "", painted ? "\033[0m" : "", kind, text);
}

void assay_cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", "\033[1;31m", fmt, ap);
	va_end(ap);
}

void assay_cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("warning: ", "\033[1;33m", fmt, ap);
	va_end(ap);
}

static int exit_of(int code)
{
	switch (code) {
	case 0:
		return ASSAY_EXIT_OK;
	case ASSAY_EUSAGE:
	case ASSAY_ENOTFOUND:
	case ASSAY_EPLUGIN:
	case ASSAY_EABI:
	case ASSAY_EUNAVAILABLE:
	case ASSAY_ELIMIT:
	case ASSAY_ESTORE: /* of a file that the user chose: damaged, read-only, on a full disk */
		return ASSAY_EXIT_USAGE;
	case ASSAY_EINTERRUPTED:
		return ASSAY_CLI_EXIT_INTERRUPTED;
	default:
		return ASSAY_EXIT_INTERNAL;
	}
}

int assay_cli_fail(const struct assay_err *err)
{
	assay_cli_error("%s", err->text[0] ? err->text : assay_error_text(err->code));
	return exit_of(err->code);
}

int assay_cli_user_path(int rc, struct assay_err *err)
{
	if (rc == ASSAY_EIO)
		rc = err->code = ASSAY_EUSAGE;
	return rc;
}

/* " OPTION WORD", the word as a shell takes it. */
static size_t add_option(char *buf, size_t size, size_t n, const char *option, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:@%=";
	bool quoted = word[strspn(word, plain)];

	if (n + strlen(option) + 2 * strlen(word) + 5 > size)
		return n;
	n += (size_t)snprintf(buf + n, size - n, " %s %s", option, quoted ? "\"" : "");
	for (; *word; word++) {
		if (strchr("\"\\$`", *word))
			buf[n++] = '\\';
		buf[n++] = *word;
	}
	if (quoted)
		buf[n++] = '"';
	buf[n] = '\0';
	return n;
}

void assay_cli_command(char *buf, size_t size, const char *command, const char *suite, const char *db)
{
	size_t n = (size_t)snprintf(buf, size, "assay %s", command);

	if (n >= size)
		return;
	if (suite && strcmp(suite, ASSAY_CLI_DEFAULT_SUITE))
		n = add_option(buf, size, n, "--suite", suite);
	if (strcmp(db, ASSAY_CLI_DEFAULT_DB))
		add_option(buf, size, n, "--db", db);
}

struct assay_emit_style assay_cli_style(void)
{
	struct assay_emit_style s = { .colour = colour_on(STDOUT_FILENO) };
	struct winsize ws;

	s.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0)
		s.width = ws.ws_col;
	return s;
}

void assay_cli_when(uint64_t unix_ns, char *buf, size_t size)
{
	time_t t = (time_t)(unix_ns / 1000000000u);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M", &tm);
}

void assay_cli_put(struct assay_text *t)
{
	if (t->s)
		fwrite(t->s, 1, t->len, stdout);
	assay_text_release(t);
}

uint64_t assay_cli_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int assay_cli_case_names(struct assay_strings *names, const struct assay_case *c, struct assay_err *err)
{
	char portable[ASSAY_KEY_MAX];
	int rc = assay_strings_add(names, c->key, err);

	assay_case_portable_key(c, portable);
	return rc || !strcmp(portable, c->key) ? rc : assay_strings_add(names, portable, err);
}

int assay_cli_no_case(const struct assay_strings *names, const char *what, const char *pattern, const char *hint,
		      struct assay_err *err)
{
	const char *near = assay_nearest(pattern, (const char *const *)names->v, names->n);

	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "no %s matches '%s': did you mean '%s'?", what, pattern, near);
	return assay_err_set(err, ASSAY_EUSAGE, "no %s matches '%s': %s", what, pattern, hint);
}

void assay_cli_print_version(void)
{
	char text[512];

	assay_build_identity_text(text, sizeof(text));
	puts(text);
}
