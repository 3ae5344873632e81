/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes manifests. A line that cannot be understood is an error: a typing error must not excuse a benchmark.
 */
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
#include "base/name_index.h"

static const char *const demands[] = {
	[ASSAY_MANIFEST_REQUIRED] = "required",
	[ASSAY_MANIFEST_MAY_SKIP] = "may-skip",
	[ASSAY_MANIFEST_OPTIONAL] = "optional",
};

#define N_DEMANDS (sizeof(demands) / sizeof(demands[0]))

static const char *const arches[] = { "x86_64", "aarch64", "riscv64", "ppc64", "s390x", "other" };

#define N_ARCHES (sizeof(arches) / sizeof(arches[0]))

/* A few lists can stand for more cases than anybody measures. */
#define MAX_LINE_CASES 10000
#define MAX_CASES      100000

/* op/variant/axes/t=N/warm|cold */
static bool looks_like_key(const char *s)
{
	const char *part = s;
	int n = 0;

	if (strchr(s, '}'))
		return false;
	for (const char *slash; (slash = strchr(part, '/')); part = slash + 1, n++) {
		if (slash == part || (n == 3 && strncmp(part, "t=", 2)))
			return false;
		if (n == 3 && strncmp(part, "t=all/", 6) &&
		    strspn(part + 2, "0123456789") != (size_t)(slash - part - 2))
			return false;
		if (n == 3 && slash == part + 2)
			return false;
	}
	return n == 4 && (!strcmp(part, "warm") || !strcmp(part, "cold"));
}

/* Cut the next word off *@line; NULL when there is none. */
static char *next_word(char **line)
{
	char *s = *line + strspn(*line, " \t\r");
	char *end = s + strcspn(s, " \t\r");

	if (!*s)
		return NULL;
	*line = *end ? end + 1 : end;
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
	bool counts;                   /* false: the line is of another architecture, and only checked */
};

static int add_key(struct line_keys *l, struct assay_err *err)
{
	struct assay_manifest *m = &l->r->m;
	bool twice;
	size_t at;
	int rc;

	if (!looks_like_key(l->e.key))
		return assay_conf_fail(err, m->path, l->e.line,
				       "'%s' is no key, expected op/variant/axis=value,…/t=N/warm", l->e.key);
	if (++l->n > MAX_LINE_CASES)
		return assay_conf_fail(err, m->path, l->e.line, "more than %d cases in one line", MAX_LINE_CASES);
	if (++l->r->n_cases > MAX_CASES)
		return assay_conf_fail(err, m->path, l->e.line, "more than %d cases in one manifest", MAX_CASES);
	if (!l->counts)
		return 0;
	rc = assay_name_index_put(&l->r->index, l->e.key, m->n_entries, &at, &twice, err);
	if (rc)
		return rc;
	if (twice)
		return assay_conf_fail(err, m->path, l->e.line, "'%s' stands in line %u already", l->e.key,
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
		return assay_conf_fail(err, l->r->m.path, l->e.line, "'{%s' is no list, expected {one,another}", word);
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
	char *comment = strchr(line, '#');
	char *word, *pattern, *on, *arch;
	char hint[256];
	size_t i;

	if (comment)
		*comment = '\0';
	word = next_word(&line);
	if (!word)
		return 0;
	*any = true;
	if (!index_of(word, demands, N_DEMANDS, &i))
		return assay_conf_fail(err, m->path, number, "unknown word '%s'%s", word,
				       assay_conf_hint(word, demands, N_DEMANDS, hint, sizeof(hint)));
	l.e.demand = (enum assay_manifest_demand)i;
	pattern = next_word(&line);
	if (pattern && strpbrk(pattern, "*?[]"))
		return assay_conf_fail(err, m->path, number, "'%s' has a wildcard, expected the cases, as in t={1,all}",
				       pattern);
	on = next_word(&line);
	if (on) {
		arch = next_word(&line);
		if (strcmp(on, "on") || !arch || next_word(&line))
			return assay_conf_fail(err, m->path, number,
					       "'%s' behind the key, expected nothing or 'on ARCHITECTURE'", on);
		if (!index_of(arch, arches, N_ARCHES, &i))
			return assay_conf_fail(err, m->path, number, "unknown architecture '%s'%s", arch,
					       assay_conf_hint(arch, arches, N_ARCHES, hint, sizeof(hint)));
		l.counts = !strcmp(arch, assay_arch());
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
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' is no text file", path);
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

/* Built only where a package is found: its file is named after the package. */
static bool from_optional_plugin(const struct assay_catalog *cat, const struct assay_catalog_variant *v)
{
	const char *path, *slash;

	if (v->plugin >= cat->n_plugins)
		return false;
	path = cat->plugins[v->plugin].path;
	slash = strrchr(path, '/');
	return strchr(slash ? slash + 1 : path, '-') != NULL;
}

/* *arch gets where the line counts: CPU features belong to one architecture; "": everywhere. */
static enum assay_manifest_demand demand_of(const struct assay_case *c, const struct assay_catalog *cat,
					    const char **arch)
{
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	const struct assay_catalog_variant *v[2] = { assay_catalog_variant(cat, c->op, c->variant), NULL };
	bool optional = false, skippable = c->threads > 1 && !c->all_threads;

	/* A variant of a composite op depends on what the kernel inside depends on. */
	if (op && op->composes)
		v[1] = assay_catalog_variant(cat, op->composes, c->variant);
	*arch = "";
	for (int i = 0; i < 2; i++) {
		if (!v[i])
			continue;
		optional |= v[i]->device_kind != ASSAY_DEVICE_CPU || from_optional_plugin(cat, v[i]);
		if (v[i]->needs && v[i]->needs[0])
			*arch = v[i]->other_arch ? v[i]->other_arch : assay_arch();
		skippable |= v[i]->one_thread && c->threads > 1;
	}
	if (optional)
		return ASSAY_MANIFEST_OPTIONAL;
	return **arch || skippable ? ASSAY_MANIFEST_MAY_SKIP : ASSAY_MANIFEST_REQUIRED;
}

/* A line that is being written. */
struct pattern {
	enum assay_manifest_demand demand;
	const char *arch; /* "" everywhere */
	char *text;
	size_t n_cases;          /* that it stands for */
	size_t at, len;          /* the word of @text that is looked at; len 0: it has none there */
	struct assay_text words; /* those that are to stand there, where they are several */
};

/* Find word @k of the pattern. Words stand between the characters "./,="; a list in braces is one word. */
static void find_word(struct pattern *p, size_t k)
{
	p->at = 0;
	for (;; k--) {
		const char *word = p->text + p->at;

		p->len = *word == '{' ? strcspn(word, "}") + 1 : strcspn(word, "./,=");
		if (!k)
			return;
		if (!word[p->len])
			break;
		p->at += p->len + 1;
	}
	p->len = 0;
}

/* The word that was found, without the braces of a list. */
static const char *inner(const struct pattern *p, int *len)
{
	bool list = p->text[p->at] == '{';

	*len = (int)p->len - (list ? 2 : 0);
	return p->text + p->at + list;
}

static void add_word(struct pattern *to, const struct pattern *from)
{
	int len;
	const char *word = inner(from, &len);

	assay_text_addf(&to->words, "%s%.*s", to->words.len ? "," : "", len, word);
}

/* Make @a stand for what @b does as well, which differs from it in the word that is looked at alone. */
static void merge(struct pattern *a, struct pattern *b)
{
	if (!a->words.len)
		add_word(a, a);
	add_word(a, b);
	a->n_cases += b->n_cases;
	free(b->text);
}

/* What patterns have in common that may be merged at the word that is looked at: all but that word. */
static char *merge_key(const struct pattern *p)
{
	char *key;

	return asprintf(&key, "%d %s %.*s{}%s", (int)p->demand, p->arch, (int)p->at, p->text,
			p->text + p->at + p->len) < 0
		       ? NULL
		       : key;
}

/* Write the words that were collected into the text. */
static int put_words(struct pattern *p)
{
	char *text;

	if (!p->words.len)
		return 0;
	if (p->words.failed ||
	    asprintf(&text, "%.*s{%s}%s", (int)p->at, p->text, p->words.s, p->text + p->at + p->len) < 0)
		return ASSAY_ENOMEM;
	free(p->text);
	p->text = text;
	assay_text_release(&p->words);
	return 0;
}

/* Merge the patterns that differ in word @k alone, each into the first of them; *n becomes how many are left. */
static int merge_word(struct pattern *v, size_t *n, size_t k, struct assay_err *err)
{
	struct assay_name_index first = { 0 };
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < *n; i++) {
		char *key = NULL;
		size_t at = kept;
		bool found = false;

		find_word(&v[i], k);
		if (v[i].len && !rc) {
			key = merge_key(&v[i]);
			rc = key ? assay_name_index_put(&first, key, kept, &at, &found, err) : ASSAY_ENOMEM;
		}
		if (!rc && found && v[at].n_cases + v[i].n_cases <= MAX_LINE_CASES) {
			merge(&v[at], &v[i]);
		} else {
			if (!rc && found)
				assay_name_index_set(&first, key, kept);
			v[kept++] = v[i];
		}
		free(key);
	}
	*n = kept;
	for (size_t i = 0; i < kept && !rc; i++)
		rc = put_words(&v[i]);
	assay_name_index_release(&first);
	return rc;
}

static size_t count_words(const char *text)
{
	size_t n = 1;

	while (*(text += strcspn(text, "./,="))) {
		text++;
		n++;
	}
	return n;
}

/* Merge from the last words to the first. */
static int merge_all(struct pattern *v, size_t *n, struct assay_err *err)
{
	size_t words = 0;
	int rc = 0;

	for (size_t i = 0; i < *n; i++) {
		size_t has = count_words(v[i].text);

		words = has > words ? has : words;
	}
	while (words-- > 0 && !rc)
		rc = merge_word(v, n, words, err);
	return rc;
}

int assay_manifest_format(const char *suite, const struct assay_case *cases, size_t n, const struct assay_catalog *cat,
			  struct assay_text *out, struct assay_err *err)
{
	struct pattern *v = calloc(n + 1, sizeof(*v));
	size_t n_lines = 0;
	bool failed = !v;

	for (size_t i = 0; !failed && i < n; i++) {
		struct pattern *p = &v[n_lines];
		char key[ASSAY_KEY_MAX];

		if (cases[i].between_threads)
			continue;
		p->demand = demand_of(&cases[i], cat, &p->arch);
		assay_case_portable_key(&cases[i], key);
		/* On one core t=all may stand for t=1, too, and a line of t=all alone would demand less elsewhere. */
		p->n_cases = 1;
		p->text = strdup(cases[i].threads > 1 ? key : cases[i].key);
		failed = !p->text;
		n_lines += !failed;
	}
	failed = failed || merge_all(v, &n_lines, err);
	assay_text_addf(
		out,
		"# What suite '%s' must measure; a case that is missing fails the gate. {a,b} stands for a case each.\n"
		"# required: must be measured; may-skip: may be skipped with a reason; optional: its plugin "
		"may be missing;\n"
		"# on ARCH: counts on that architecture only.\n",
		suite);
	for (size_t i = 0; i < n_lines; i++) {
		assay_text_addf(out, "%s %s%s%s\n", demands[v[i].demand], v[i].text, *v[i].arch ? " on " : "",
				v[i].arch);
		free(v[i].text);
		assay_text_release(&v[i].words);
	}
	free(v);
	if (failed || out->failed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory writing the manifest of suite '%s'", suite);
	return 0;
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
