/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes manifests. A line that cannot be understood is an error: a typing error must not excuse a benchmark.
 */
#include "judge/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/conf.h"
#include "base/file.h"

static const char *const demands[] = {
	[ASSAY_MANIFEST_REQUIRED] = "required",
	[ASSAY_MANIFEST_MAY_SKIP] = "may-skip",
	[ASSAY_MANIFEST_OPTIONAL] = "optional",
};

#define N_DEMANDS (sizeof(demands) / sizeof(demands[0]))

static const char *const arches[] = { "x86_64", "aarch64", "riscv64", "ppc64", "s390x", "other" };

#define N_ARCHES (sizeof(arches) / sizeof(arches[0]))

/* op/variant/axes/t=N/warm|cold */
static bool looks_like_key(const char *s)
{
	const char *part = s;
	int n = 0;

	if (strlen(s) >= ASSAY_KEY_MAX)
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

/* Understand one line; *@counts is false for empty ones and those of another architecture. */
static int parse_line(const char *path, unsigned number, char *line, struct assay_manifest_entry *e, bool *counts,
		      struct assay_err *err)
{
	char *comment = strchr(line, '#');
	char *word, *key, *on, *arch;
	char hint[256];
	size_t i;

	*counts = false;
	if (comment)
		*comment = '\0';
	word = next_word(&line);
	if (!word)
		return 0;
	if (!index_of(word, demands, N_DEMANDS, &i))
		return assay_conf_fail(err, path, number, "unknown word '%s'%s", word,
				       assay_conf_hint(word, demands, N_DEMANDS, hint, sizeof(hint)));
	e->demand = (enum assay_manifest_demand)i;
	e->line = number;
	key = next_word(&line);
	if (!key || !looks_like_key(key))
		return assay_conf_fail(err, path, number, "'%s' is no key, expected op/variant/axis=value,…/t=N/warm",
				       key ? key : "");
	snprintf(e->key, sizeof(e->key), "%s", key);

	*counts = true;
	on = next_word(&line);
	if (!on)
		return 0;
	arch = next_word(&line);
	if (strcmp(on, "on") || !arch || next_word(&line))
		return assay_conf_fail(err, path, number, "'%s' behind the key, expected nothing or 'on ARCHITECTURE'",
				       on);
	if (!index_of(arch, arches, N_ARCHES, &i))
		return assay_conf_fail(err, path, number, "unknown architecture '%s'%s", arch,
				       assay_conf_hint(arch, arches, N_ARCHES, hint, sizeof(hint)));
	*counts = !strcmp(arch, assay_arch());
	return 0;
}

static int add_entry(struct assay_manifest *m, const struct assay_manifest_entry *e, struct assay_err *err)
{
	struct assay_manifest_entry *v;

	for (size_t i = 0; i < m->n_entries; i++)
		if (!strcmp(m->entries[i].key, e->key))
			return assay_conf_fail(err, m->path, e->line, "'%s' stands in line %u already", e->key,
					       m->entries[i].line);
	v = realloc(m->entries, (m->n_entries + 1) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", m->path);
	m->entries = v;
	v[m->n_entries++] = *e;
	return 0;
}

int assay_manifest_load(struct assay_manifest *out, const char *path, struct assay_err *err)
{
	struct assay_manifest m = { 0 };
	char *text = NULL, *line, *next;
	unsigned number = 0;
	bool any = false;
	size_t len;
	int rc;

	snprintf(m.path, sizeof(m.path), "%s", path);
	rc = assay_file_read(path, &text, &len, err);
	if (!rc && strlen(text) != len)
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' is no text file", path);
	for (line = text; !rc && line && *line; line = next) {
		struct assay_manifest_entry e;
		bool counts;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		memset(&e, 0, sizeof(e));
		rc = parse_line(path, ++number, line, &e, &counts, err);
		any = any || e.line;
		if (!rc && counts)
			rc = add_entry(&m, &e, err);
	}
	/* A manifest that asks for nothing would let everything disappear. */
	if (!rc && !any)
		rc = assay_conf_fail(err, path, number ? number : 1,
				     "the manifest names no case, expected 'required KEY' lines");
	if (!rc) {
		*out = m;
		m.entries = NULL;
	}
	free(m.entries);
	free(text);
	return rc;
}

void assay_manifest_release(struct assay_manifest *m)
{
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

bool assay_manifest_matches(const struct assay_manifest_entry *e, const struct assay_case *c)
{
	char portable[ASSAY_KEY_MAX];

	if (!strcmp(e->key, c->key))
		return true;
	assay_case_portable_key(c, portable);
	return !strcmp(e->key, portable);
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

/* *arch gets where the line counts: CPU features belong to one architecture; NULL: everywhere. */
static enum assay_manifest_demand demand_of(const struct assay_case *c, const struct assay_catalog *cat,
					    const char **arch)
{
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	const struct assay_catalog_variant *v[2] = { assay_catalog_variant(cat, c->op, c->variant), NULL };
	bool optional = false, skippable = c->threads > 1 && !c->all_threads;

	/* A variant of a composite op depends on what the kernel inside depends on. */
	if (op && op->composes)
		v[1] = assay_catalog_variant(cat, op->composes, c->variant);
	*arch = NULL;
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
	return *arch || skippable ? ASSAY_MANIFEST_MAY_SKIP : ASSAY_MANIFEST_REQUIRED;
}

int assay_manifest_format(const char *suite, const struct assay_case *cases, size_t n, const struct assay_catalog *cat,
			  struct assay_text *out, struct assay_err *err)
{
	assay_text_addf(out,
			"# What suite '%s' must measure; a case that is missing fails the gate.\n"
			"# required: must be measured; may-skip: may be skipped with a reason; optional: its plugin "
			"may be missing;\n"
			"# on ARCH: counts on that architecture only.\n",
			suite);
	for (size_t i = 0; i < n; i++) {
		char key[ASSAY_KEY_MAX];
		const char *arch;
		enum assay_manifest_demand d = demand_of(&cases[i], cat, &arch);

		if (cases[i].between_threads)
			continue;
		assay_case_portable_key(&cases[i], key);
		assay_text_addf(out, "%s %s%s%s\n", demands[d], key, arch ? " on " : "", arch ? arch : "");
	}
	if (out->failed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory writing the manifest of suite '%s'", suite);
	return 0;
}
