/* SPDX-License-Identifier: Apache-2.0 */
/* Writes manifests: what is demanded of each case, and few lines for many cases. */
#include "judge/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/hash.h"

/* Needs a package that may be missing, to be built or to run: its file is named so. */
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

/* The common part of patterns that may be merged at the current word: all but that word. */
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
		if (!rc && found && v[at].n_cases + v[i].n_cases <= ASSAY_MANIFEST_LINE_CASES) {
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
		assay_text_addf(out, "%s %s%s%s\n", assay_manifest_demand_name(v[i].demand), v[i].text,
				*v[i].arch ? " on " : "", v[i].arch);
		free(v[i].text);
		assay_text_release(&v[i].words);
	}
	free(v);
	if (failed || out->failed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory writing the manifest of suite '%s'", suite);
	return 0;
}
