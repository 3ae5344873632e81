/* SPDX-License-Identifier: Apache-2.0 */
/* Texts only become shorter or, by HOST and USER, are cut where they lie: each stays in its place. */
#include "drive/profile/kinds.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT_NAME 2 /* a name of so few letters stands for much else */

static bool is_edge(char c)
{
	return !c || strchr(" \t\n=:,;'\"()[]<>|&", c) != NULL;
}

/* The word of @len characters at @s is a path. */
static bool is_path(const char *s, size_t len, bool command)
{
	const char *slash = memchr(s, '/', len);

	return slash && (command || *s == '/' || *s == '~' || !strncmp(s, "./", 2) || !strncmp(s, "../", 3));
}

/* Of every path its last part. */
static void cut_paths(char *text, bool command)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t len = 0, last = 0;

		while (!is_edge(from[len]))
			len++;
		if (is_path(from, len, command)) {
			for (size_t i = 0; i + 1 < len; i++)
				if (from[i] == '/')
					last = i + 1;
		}
		memmove(to, from + last, len - last);
		to += len - last;
		from += len;
		if (*from)
			*to++ = *from++;
	}
	*to = '\0';
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* @name as a word of its own becomes @word. */
static void replace(char *text, size_t size, const char *name, const char *word)
{
	const size_t len = strlen(name), with = strlen(word);

	if (len <= SHORT_NAME)
		return;
	for (char *at = strstr(text, name); at; at = strstr(at, name)) {
		const size_t rest = strlen(at + len), before = (size_t)(at - text);
		size_t room;

		if ((at > text && in_word(at[-1])) || in_word(at[len])) {
			at += len;
			continue;
		}
		if (before + with >= size) {
			*at = '\0';
			return;
		}
		room = size - 1 - before - with;
		room = rest < room ? rest : room;
		memmove(at + with, at + len, room);
		memcpy(at, word, with);
		at += with;
		at[room] = '\0';
	}
}

void assay_text_sanitize(char *text, size_t size, bool command, const char *host, const char *user)
{
	cut_paths(text, command);
	replace(text, size, host, "HOST");
	replace(text, size, user, "USER");
}

struct names {
	char host[256], user[256];
};

/* The text that a frame owns: its room is as long as the text, and more for names. */
static int sanitize_owned(const char **text, const struct names *n, struct assay_err *err)
{
	const size_t size = 2 * strlen(*text) + 16;
	char *own = malloc(size);

	if (!own)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	snprintf(own, size, "%s", *text);
	assay_text_sanitize(own, size, false, n->host, n->user);
	free((char *)*text);
	*text = own;
	return 0;
}

static void find_names(struct names *n)
{
	const struct passwd *pw = getpwuid(getuid());

	if (gethostname(n->host, sizeof(n->host) - 1))
		n->host[0] = '\0';
	snprintf(n->user, sizeof(n->user), "%s", pw ? pw->pw_name : "");
	if (!strcmp(n->user, "root"))
		n->user[0] = '\0'; /* tells nobody anything, and is a word of many functions */
}

/* Names of spans and tracks, which the file of a trace has beside the stacks. */
static int sanitize_trace(struct assay_trace *t, const struct names *n, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->n_tracks; i++) {
		struct assay_trace_track *x = &t->tracks[i];

		assay_text_sanitize(x->name, sizeof(x->name), false, n->host, n->user);
		assay_text_sanitize(x->device, sizeof(x->device), false, n->host, n->user);
	}
	for (size_t i = 0; i < t->n_names && !rc; i++) {
		const char *name = t->names[i];

		rc = sanitize_owned(&name, n, err);
		t->names[i] = (char *)name;
	}
	return rc;
}

#define SANITIZE(field, command) assay_text_sanitize(field, sizeof(field), command, n.host, n.user)

int assay_profile_sanitize(struct assay_profile *p, struct assay_err *err)
{
	struct names n = { .host = "" };
	int rc = 0;

	find_names(&n);
	SANITIZE(p->what, !p->is_case);
	SANITIZE(p->name, false);
	SANITIZE(p->source, false);
	SANITIZE(p->machine.label, false);
	SANITIZE(p->build.compiler, false);
	SANITIZE(p->gpu.why, false);
	for (size_t i = 0; i < p->n_threads; i++)
		SANITIZE(p->threads[i].name, false);
	for (size_t i = 0; i < p->gpu.n_devices; i++)
		SANITIZE(p->gpu.devices[i].name, false);
	for (size_t i = 0; i < p->stacks.n_frames && !rc; i++) {
		rc = sanitize_owned(&p->stacks.frames[i].name, &n, err);
		if (!rc)
			rc = sanitize_owned(&p->stacks.frames[i].object, &n, err);
		if (!rc)
			rc = sanitize_owned(&p->stacks.frames[i].file, &n, err);
	}
	return rc ? rc : sanitize_trace(&p->trace, &n, err);
}
