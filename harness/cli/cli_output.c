/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to people, and how standard output looks to them. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "drive/run/build_identity.h"
#include "model/verdict.h"

static bool colour_on(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	/* https://no-color.org: any value that is not empty */
	return isatty(fd) && !(no && no[0]) && !(term && !strcmp(term, "dumb"));
}

static bool shows_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* One line, whatever names the user gave. */
static void message(const char *kind, const char *colour, const char *fmt, va_list ap)
{
	bool painted = colour_on(STDERR_FILENO);
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, ap);
	assay_printable_line(text, sizeof(text));
	if (!shows_utf8())
		assay_ascii_signs(text, strlen(text));
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

static void print(FILE *to, const char *fmt, va_list ap)
{
	char *text;
	int n = vasprintf(&text, fmt, ap);

	if (n < 0)
		return;
	n = (int)assay_printable_lines(text, (size_t)n);
	if (!shows_utf8())
		assay_ascii_signs(text, (size_t)n);
	fputs(text, to);
	free(text);
}

void assay_cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print(stdout, fmt, ap);
	va_end(ap);
}

void assay_cli_tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print(stderr, fmt, ap);
	va_end(ap);
}

static int exit_of(int code)
{
	switch (code) {
	case 0:
		return ASSAY_EXIT_OK;
	case ASSAY_EUSAGE:
	case ASSAY_EIO: /* a file, folder or limit of the system that the user chose or can change */
	case ASSAY_ENOTFOUND:
	case ASSAY_EPLUGIN:
	case ASSAY_EABI:
	case ASSAY_EUNAVAILABLE:
	case ASSAY_ELIMIT:
	case ASSAY_ESTORE: /* of a file that the user chose: damaged, read-only */
	case ASSAY_ENOSPACE:
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

/* Why standard output took no more, where it is known; the stream keeps only that it did not. */
static int write_errno;

int assay_cli_finish(int status)
{
	const int mode = fcntl(STDOUT_FILENO, F_GETFL);

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (!write_errno)
		write_errno = errno;
	/* what stands in for a closed one cannot be written */
	assay_cli_error("cannot write to standard output%s%s", write_errno ? ": " : "",
			(mode & O_ACCMODE) == O_RDONLY ? "it is closed"
			: write_errno                  ? strerror(write_errno)
						       : "");
	return ASSAY_EXIT_USAGE;
}

struct assay_emit_style assay_cli_style(void)
{
	struct assay_emit_style s = { .colour = colour_on(STDOUT_FILENO) };
	struct winsize ws;

	s.terminal = isatty(STDOUT_FILENO);
	s.utf8 = shows_utf8();
	if (s.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0)
		s.width = ws.ws_col;
	return s;
}

void assay_cli_put(struct assay_text *t)
{
	if (t->s && fwrite(t->s, 1, t->len, stdout) < t->len && !write_errno)
		write_errno = errno;
	assay_text_release(t);
}

int assay_cli_emit(const struct assay_report *r, bool json, bool verbose, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_text out = { 0 };
	int rc;

	style.verbose = verbose;
	rc = assay_emit(r, json ? "json" : "text", &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc;
}

void assay_cli_print_version(void)
{
	char text[512];

	assay_build_identity_text(text, sizeof(text));
	puts(text);
}
