/* SPDX-License-Identifier: Apache-2.0 */
/* Reads manifests. A line that cannot be understood is an error: a typing error must not excuse a benchmark. */
#include "judge/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/conf.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"

static const char *const demands[] = {
	[ASSAY_MANIFEST_REQUIRED] = "required",
	[ASSAY_MANIFEST_MAY_SKIP] = "may-skip",
	[ASSAY_MANIFEST_OPTIONAL] = "optional",
};

#define N_DEMANDS (sizeof(demands) / sizeof(demands[0]))

static const char *const arches[] = { "x86_64", "aarch64", "riscv64", "ppc64", "s390x", "other" };

#define N_ARCHES (sizeof(arches) / sizeof(arches[0]))

/* A few lists can stand for more cases than anybody measures. */
#define MAX_CASES 100000

const char *assay_manifest_demand_name(enum assay_manifest_demand d)
{
	return demands[d];
}

/* Of @n bytes: "all" or a number of threads behind "t=". */
static bool looks_like_threads(const char *s, size_t n)
{
	if (n < 3 || strncmp(s, "t=", 2))
		return false;
	return (n == 5 && !strncmp(s + 2, "all", 3)) || strspn(s + 2, "0123456789") == n - 2;
}

/* Cut the last part, behind the last '/', off the first *len bytes of @s; its length is in *n. */
static const char *last_part(const char *s, size_t *len, size_t *n)
{
	size_t from = *len;

	while (from && s[from - 1] != '/')
		from--;
	*n = *len - from;
	*len = from ? from - 1 : 0;
	return s + from;
}

/*
 * op/variant/axes, then /t=N and /warm or /cold, or /- of programs, as far as they are known: of imported cases they
 * may not be. The op of these is a command, which may have a '/' itself, so that it is what the other parts leave.
 */
static bool looks_like_key(const char *s)
{
	size_t len = strlen(s), n, before;
	const char *part = last_part(s, &len, &n);
	size_t above = len;
	const char *threads = last_part(s, &above, &before);

	if ((!strcmp(part, "-") && looks_like_threads(threads, before)) || !strcmp(part, "warm") ||
	    !strcmp(part, "cold")) {
		part = last_part(s, &len, &n);
		if (!looks_like_threads(part, n))
			return false;
		part = last_part(s, &len, &n);
	} else if (looks_like_threads(part, n) && memchr(s, '/', len) != memrchr(s, '/', len)) {
		part = last_part(s, &len, &n); /* else it is an axis of that name */
	}
	if (!n)
		return false;
	part = last_part(s, &len, &before);
	return before && strncmp(part, "t=", 2) != 0 && len;
}

/*
 * Cut the next word off *@line, or what stands in quotes, where two quotes mean one; NULL when only a comment is left.
 * A quote that is never closed is a character like others. @quoted: as @line says; may be NULL.
 */
static char *next_word(char **line, bool *quoted)
{
	char *s = *line + strspn(*line, " \t\r"), *end = s + strcspn(s, " \t\r#"), *from = s, *to = s;
	bool closed = *s == '"';

	if (closed)
		for (from++; (from = strchr(from, '"')) && from[1] == '"'; from += 2)
			;
	closed = closed && from;
	if (quoted)
		*quoted = closed;
	if (closed) {
		for (end = from, from = s + 1; from < end; from += *from == '"' ? 2 : 1)
			*to++ = *from;
		*line = end + 1;
		*to = '\0';
		return s;
	}
	if (end == s)
		return NULL;
	*line = *end && *end != '#' ? end + 1 : end;
	*end = '\0';
	return s;
}

static bool index_of(const char *s, const char *const *names, size_t n, size_t *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], s)) {
			*out = i;
			return true;
		}
	}
	return false;
}

struct reading {
	struct assay_manifest m;
	struct assay_name_index index; /* of the entries, by their keys */
	size_t n_cases;                /* of all architectures */
};

/* Where the keys of one line go. */
struct line_keys {
	struct reading *r;
	size_t n;                      /* keys so far */
	struct assay_manifest_entry e; /* the key is filled in from its beginning */
	bool quoted;                   /* the key is what stands in quotes: braces are no list */
	bool counts;                   /* false: the line is of another architecture, and only checked */
};

static int add_key(struct line_keys *l, struct assay_err *err)
{
	struct assay_manifest *m = &l->r->m;
	bool twice;
	size_t at;
	int rc;

	if (!looks_like_key(l->e.key) || (!l->quoted && strchr(l->e.key, '}')))
		return assay_conf_fail(err, m->path, l->e.line,
				       "'%s' is not a key, expected op/variant/axis=value,…/t=N/warm", l->e.key);
	if (++l->n > ASSAY_MANIFEST_LINE_CASES)
		return assay_conf_fail(err, m->path, l->e.line, "more than %d cases in one line",
				       ASSAY_MANIFEST_LINE_CASES);
	if (++l->r->n_cases > MAX_CASES)
		return assay_conf_fail(err, m->path, l->e.line, "more than %d cases in one manifest", MAX_CASES);
	if (!l->counts)
		return 0;
	rc = assay_name_index_put(&l->r->index, l->e.key, m->n_entries, &at, &twice, err);
	if (rc)
		return rc;
	if (twice)
		return assay_conf_fail(err, m->path, l->e.line, "'%s' is already in line %u", l->e.key,
				       m->entries[at].line);
	if (assay_grow(&m->entries, m->n_entries, sizeof(*m->entries)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", m->path);
	m->entries[m->n_entries++] = l->e;
	return 0;
}

static int append(struct line_keys *l, size_t len, const char *s, size_t n, struct assay_err *err)
{
	if (len + n >= sizeof(l->e.key))
		return assay_conf_fail(err, l->r->m.path, l->e.line, "a key has more than %d characters",
				       ASSAY_KEY_MAX - 1);
	memcpy(l->e.key + len, s, n);
	l->e.key[len + n] = '\0';
	return 0;
}

/* Add every key that @pattern stands for, behind the @len characters that are already in the key. */
static int add_keys(struct line_keys *l, size_t len, const char *pattern, struct assay_err *err)
{
	size_t n = strcspn(pattern, "{");
	const char *word = pattern + n + 1, *end;
	int rc = append(l, len, pattern, n, err);

	if (rc || !pattern[n])
		return rc ? rc : add_key(l, err);
	len += n;
	end = word + strcspn(word, "{}");
	if (*end != '}')
		return assay_conf_fail(err, l->r->m.path, l->e.line, "'{%s' is not a list, expected {one,another}",
				       word);
	for (n = strcspn(word, ",}"); !rc; word += n + 1, n = strcspn(word, ",}")) {
		if (!n)
			return assay_conf_fail(err, l->r->m.path, l->e.line, "'%s' has an empty word in a list",
					       pattern);
		rc = append(l, len, word, n, err);
		if (!rc)
			rc = add_keys(l, len + n, end + 1, err);
		if (word[n] == '}')
			break;
	}
	return rc;
}

/* Add what one line names to @m. *@any becomes true unless the line is empty. */
static int parse_line(struct reading *r, unsigned number, char *line, bool *any, struct assay_err *err)
{
	const struct assay_manifest *m = &r->m;
	struct line_keys l = { .r = r, .e.line = number, .counts = true };
	char *word, *pattern, *on, *arch;
	char hint[256];
	size_t i;
	int rc;

	word = next_word(&line, NULL);
	if (!word)
		return 0;
	*any = true;
	if (!index_of(word, demands, N_DEMANDS, &i))
		return assay_conf_fail(err, m->path, number, "unknown word '%s'%s", word,
				       assay_conf_hint(word, demands, N_DEMANDS, hint, sizeof(hint)));
	l.e.demand = (enum assay_manifest_demand)i;
	pattern = next_word(&line, &l.quoted);
	if (pattern && !l.quoted && strpbrk(pattern, "*?[]"))
		return assay_conf_fail(err, m->path, number, "'%s' has a wildcard, expected the cases, as in t={1,all}",
				       pattern);
	on = next_word(&line, NULL);
	if (on) {
		arch = next_word(&line, NULL);
		if (strcmp(on, "on") || !arch || next_word(&line, NULL))
			return assay_conf_fail(err, m->path, number,
					       "'%s' after the key, expected nothing or 'on ARCHITECTURE'", on);
		if (!index_of(arch, arches, N_ARCHES, &i))
			return assay_conf_fail(err, m->path, number, "unknown architecture '%s'%s", arch,
					       assay_conf_hint(arch, arches, N_ARCHES, hint, sizeof(hint)));
		l.counts = !strcmp(arch, assay_arch());
	}
	if (l.quoted && pattern) {
		rc = append(&l, 0, pattern, strlen(pattern), err);
		return rc ? rc : add_key(&l, err);
	}
	return add_keys(&l, 0, pattern ? pattern : "", err);
}

int assay_manifest_load(struct assay_manifest *out, const char *path, struct assay_err *err)
{
	struct reading r = { .n_cases = 0 };
	char *text = NULL, *line, *next;
	unsigned number = 0;
	bool any = false;
	size_t len;
	int rc;

	snprintf(r.m.path, sizeof(r.m.path), "%s", path);
	rc = assay_file_read_as(path, ASSAY_FILE_MANIFEST, &text, &len, err);
	if (!rc && strlen(text) != len)
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' is not a text file", path);
	for (line = text; !rc && line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		rc = parse_line(&r, ++number, line, &any, err);
	}
	/* A manifest that asks for nothing would let everything disappear. */
	if (!rc && !any)
		rc = assay_conf_fail(err, path, number ? number : 1,
				     "the manifest names no case, expected 'required KEY' lines");
	if (!rc) {
		*out = r.m;
		r.m.entries = NULL;
	}
	free(r.m.entries);
	free(text);
	assay_name_index_release(&r.index);
	return rc;
}

void assay_manifest_release(struct assay_manifest *m)
{
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

size_t assay_manifest_names_of(const struct assay_case *c, unsigned all_threads, char names[3][ASSAY_KEY_MAX])
{
	struct assay_case all = *c;
	size_t n = 0;

	memcpy(names[n++], c->key, ASSAY_KEY_MAX);
	assay_case_portable_key(c, names[n]);
	n += strcmp(names[n], names[0]) != 0;
	if (all_threads != 1 || c->threads != 1)
		return n;
	all.all_threads = true;
	assay_case_portable_key(&all, names[n]);
	return n + (strcmp(names[n], names[n - 1]) != 0);
}

bool assay_manifest_names(const struct assay_manifest_entry *e, const struct assay_case *c, unsigned all_threads)
{
	const char *threads = strstr(c->key, "/t=");
	char names[3][ASSAY_KEY_MAX];

	/* the names of a case differ in their threads alone: most entries are of others */
	if (threads && strncmp(e->key, c->key, (size_t)(threads - c->key)))
		return false;
	for (size_t n = assay_manifest_names_of(c, all_threads, names); n > 0; n--)
		if (!strcmp(e->key, names[n - 1]))
			return true;
	return false;
}

bool assay_manifest_matches(const struct assay_manifest_entry *e, const struct assay_case *c)
{
	return assay_manifest_names(e, c, 0);
}

bool assay_manifest_of_variant(const struct assay_manifest_entry *e, const struct assay_case *c)
{
	size_t op = strlen(c->op), variant = strlen(c->variant);

	return !strncmp(e->key, c->op, op) && e->key[op] == '/' && !strncmp(e->key + op + 1, c->variant, variant) &&
	       e->key[op + 1 + variant] == '/';
}

static int is_manifest(const struct dirent *e)
{
	return !fnmatch("?*.manifest", e->d_name, FNM_PERIOD);
}

static int add(struct assay_manifest_list *l, const char *dir, const char *name, struct assay_err *err)
{
	struct assay_manifest **v = realloc(l->v, (l->n + 1) * sizeof(*v));
	struct assay_manifest *m = calloc(1, sizeof(*m));
	char path[4096];
	int rc;

	if (v)
		l->v = v;
	if (!v || !m) {
		free(m);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", dir);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = assay_manifest_load(m, path, err);
	if (rc) {
		free(m);
		return rc;
	}
	l->v[l->n++] = m;
	return 0;
}

int assay_manifest_list_load(struct assay_manifest_list *out, const char *dir, struct assay_err *err)
{
	struct assay_manifest_list l = { 0 };
	struct dirent **names = NULL;
	int n, rc = 0;

	n = scandir(dir, &names, is_manifest, alphasort);
	if (n < 0 && errno != ENOENT)
		return assay_err_set(err, ASSAY_EIO, "cannot read the folder '%s': %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add(&l, dir, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	if (rc)
		assay_manifest_list_release(&l);
	else
		*out = l;
	return rc;
}

void assay_manifest_list_release(struct assay_manifest_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		assay_manifest_release(l->v[i]);
		free(l->v[i]);
	}
	free(l->v);
	memset(l, 0, sizeof(*l));
}
