/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's side of the inventory. One child loads all plugins; when it ends, hangs or talks nonsense at one of
 * them, that plugin is given up with the reason and a fresh child loads the others. No child is left when cases are
 * measured: it could disturb them.
 */
#include "worker/inventory/inventory.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpu_features.h"
#include "worker/plugin/loader.h"

/* Each time costs a fresh child, and ten seconds where it hung. */
#define MOST_TRIES 3

/* An op and variant whose cases a child did not survive; after some the rest is not asked for. */
struct broken {
	char op[ASSAY_NAME_MAX], variant[ASSAY_NAME_MAX], why[512];
	unsigned tries;
};

struct assay_inventory {
	struct assay_catalog cat;
	char *parts; /* NULL: all of everything */
	bool names_only;
	struct assay_host_info host;
	struct assay_inventory_process child; /* has loaded all plugins that load */
	bool *given_up;                       /* by plugin: not loaded any more */
	struct broken *broken;
	size_t n_broken;
};

/* ---- loading ---- */

static json_t *load_request(const struct assay_inventory *inv, size_t i)
{
	const struct assay_host_info *h = &inv->host;

	return json_pack("{s:o,s:{s:I,s:I,s:I,s:I,s:I,s:I}}", "load",
			 json_sprintf("%c%s", inv->parts ? inv->parts[i] : ASSAY_PART_ALL, inv->cat.plugins[i].path),
			 "host", "n_cores", (json_int_t)h->n_cores, "l1d_bytes", (json_int_t)h->l1d_bytes, "l2_bytes",
			 (json_int_t)h->l2_bytes, "llc_bytes", (json_int_t)h->llc_bytes, "memory_bytes",
			 (json_int_t)h->memory_bytes, "vector_bits", (json_int_t)h->vector_bits);
}

/* The answers of a child about its plugins are kept only if it reached the end. */
static void forget(struct assay_catalog *cat)
{
	struct assay_catalog keep = { 0 };

	for (size_t i = 0; i < cat->n_plugins; i++) {
		free(cat->plugins[i].name);
		free(cat->plugins[i].version);
		cat->plugins[i].name = cat->plugins[i].version = NULL;
	}
	keep.plugins = cat->plugins;
	keep.n_plugins = cat->n_plugins;
	cat->plugins = NULL;
	cat->n_plugins = 0;
	assay_catalog_release(cat);
	*cat = keep;
}

/* One question and its answer; the reference of @msg is taken. */
static json_t *exchange(struct assay_inventory *inv, json_t *msg, struct assay_err *err)
{
	return assay_inventory_process_ask(&inv->child, msg, err) ? NULL
								  : assay_inventory_process_answer(&inv->child, err);
}

/*
 * Have plugin @i loaded; @first: the catalog gets what it brings. Then the child must answer as it always does: lines
 * that the plugin wrote meanwhile come before that and are its fault, not that of the next one.
 */
static int load_plugin(struct assay_inventory *inv, size_t i, bool first, struct assay_err *err)
{
	json_t *msg = exchange(inv, load_request(inv, i), err);
	int rc = 0;

	if (!msg)
		return err->code;
	if (first)
		rc = assay_catalog_take_plugin(&inv->cat, i, msg, err);
	json_decref(msg);
	msg = rc ? NULL : exchange(inv, json_pack("{s:b}", "ready", 1), err);
	json_decref(msg);
	return msg ? 0 : err->code;
}

static int finish_catalog(struct assay_inventory *inv, struct assay_err *err)
{
	int rc = assay_catalog_expand_composites(&inv->cat, err);

	return rc ? rc : assay_catalog_mark_unavailable(&inv->cat, err);
}

/* One child, all plugins that were not given up. ASSAY_EWORKER with *at: it is the fault of that plugin. */
static int load_once(struct assay_inventory *inv, bool first, size_t *at, struct assay_err *err)
{
	int rc = assay_inventory_process_start(&inv->child, inv->names_only, err);

	*at = SIZE_MAX;
	for (size_t i = 0; i < inv->cat.n_plugins && !rc; i++)
		if (!inv->given_up[i])
			rc = load_plugin(inv, *at = i, first, err);
	return rc || !first ? rc : finish_catalog(inv, err);
}

static int give_up(struct assay_inventory *inv, size_t at, bool first, const struct assay_err *why,
		   struct assay_err *err)
{
	struct assay_catalog_plugin *p = &inv->cat.plugins[at];
	char text[1024];

	inv->given_up[at] = true;
	if (!first)
		return 0;
	snprintf(text, sizeof(text), "loading '%s': %s", p->path, why->text);
	free(p->error);
	p->error = strdup(text);
	p->error_code = ASSAY_EPLUGIN;
	return p->error ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/* @first: fill the catalog. Later it stays as it is, and what a plugin offers that no longer loads is not there. */
static int load(struct assay_inventory *inv, bool first, struct assay_err *err)
{
	for (;;) {
		struct assay_err why = { 0 };
		size_t at;
		int rc = load_once(inv, first, &at, &why);

		if (!rc)
			return 0;
		assay_inventory_process_stop(&inv->child);
		if (rc != ASSAY_EWORKER || at == SIZE_MAX)
			return assay_err_set(err, rc, "cannot ask the plugins: %s", why.text);
		if (first)
			forget(&inv->cat);
		rc = give_up(inv, at, first, &why, err);
		if (rc)
			return rc;
	}
}

static int add_plugins(struct assay_inventory *inv, const struct assay_strings *plugins, struct assay_err *err)
{
	inv->given_up = calloc(plugins->n + 1, sizeof(*inv->given_up));
	for (size_t i = 0; i < plugins->n && inv->given_up; i++) {
		struct assay_catalog_plugin *p =
			assay_catalog_grow((void **)&inv->cat.plugins, &inv->cat.n_plugins, sizeof(*p));

		if (p)
			p->path = strdup(plugins->v[i]);
		if (!p || !p->path)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	}
	return inv->given_up ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
}

int assay_inventory_open(struct assay_inventory **out, const struct assay_strings *plugins, const char *parts,
			 const struct assay_host_info *host, struct assay_err *err)
{
	struct assay_inventory *inv = calloc(1, sizeof(*inv));
	int rc;

	if (!inv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	inv->names_only = !host;
	if (host)
		inv->host = *host;
	rc = add_plugins(inv, plugins, err);
	if (!rc && parts && !(inv->parts = strndup(parts, plugins->n)))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	if (!rc)
		rc = load(inv, true, err);
	assay_inventory_process_stop(&inv->child);
	if (rc) {
		assay_inventory_close(inv);
		return rc;
	}
	*out = inv;
	return 0;
}

void assay_inventory_close(struct assay_inventory *inv)
{
	if (!inv)
		return;
	assay_inventory_process_stop(&inv->child);
	assay_catalog_release(&inv->cat);
	free(inv->parts);
	free(inv->given_up);
	free(inv->broken);
	free(inv);
}

int assay_inventory_cap(struct assay_inventory *inv, const char *isa, struct assay_err *err)
{
	for (size_t i = 0; i < inv->cat.n_variants; i++) {
		struct assay_catalog_variant *v = &inv->cat.variants[i];
		char why[256], beyond[ASSAY_NAME_MAX];

		if (v->unavailable || assay_isa_holds(isa, v->needs, beyond, sizeof(beyond)))
			continue;
		snprintf(why, sizeof(why), "--isa %s leaves out %s", isa, beyond);
		v->unavailable = strdup(why);
		if (!v->unavailable)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	}
	return 0;
}

const struct assay_catalog *assay_inventory_catalog(const struct assay_inventory *inv)
{
	return &inv->cat;
}

struct assay_catalog *assay_inventory_extend(struct assay_inventory *inv)
{
	return &inv->cat;
}

/* ---- questions ---- */

/* To a child with all plugins, started if there is none. @msg: its reference is taken. */
static json_t *ask(struct assay_inventory *inv, json_t *msg, struct assay_err *err)
{
	json_t *answer;

	if (!inv->child.process.pid && load(inv, false, err)) {
		json_decref(msg);
		return NULL;
	}
	answer = exchange(inv, msg, err);
	if (!answer)
		assay_inventory_process_stop(&inv->child);
	return answer;
}

int assay_inventory_worker_bytes(struct assay_inventory *inv, uint64_t *bytes, struct assay_err *err)
{
	struct assay_err why = { 0 };
	json_t *answer;

	assay_inventory_process_stop(&inv->child);
	answer = ask(inv, json_pack("{s:b}", "place", 1), &why);
	if (!answer)
		return assay_err_set(err, why.code, "cannot find out what a worker takes: %s", why.text);
	json_decref(answer);
	*bytes = assay_process_rss_bytes(&inv->child.process);
	assay_inventory_process_stop(&inv->child);
	return 0;
}

/* Why nothing is known of a case, for which its plugin is to blame. */
__attribute__((format(printf, 2, 3))) static int fail_case(struct assay_case_facts *f, const char *fmt, ...)
{
	va_list ap;

	*f = (struct assay_case_facts){ .failed = true };
	va_start(ap, fmt);
	vsnprintf(f->reason, sizeof(f->reason), fmt, ap);
	va_end(ap);
	return 0;
}

static struct broken *find_broken(const struct assay_inventory *inv, const struct assay_case *c)
{
	for (size_t i = 0; i < inv->n_broken; i++)
		if (!strcmp(inv->broken[i].op, c->op) && !strcmp(inv->broken[i].variant, c->variant))
			return &inv->broken[i];
	return NULL;
}

static int note_broken(struct assay_inventory *inv, const struct assay_case *c, const char *why, struct assay_err *err)
{
	struct broken *b = find_broken(inv, c);

	if (!b)
		b = assay_catalog_grow((void **)&inv->broken, &inv->n_broken, sizeof(*b));
	if (!b)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	memcpy(b->op, c->op, sizeof(b->op));
	memcpy(b->variant, c->variant, sizeof(b->variant));
	snprintf(b->why, sizeof(b->why), "%s", why);
	b->tries++;
	return 0;
}

/* The defect that makes all cases of the op or the variant fail; NULL: none is known. */
static const char *defect_of(const struct assay_inventory *inv, const struct assay_case *c)
{
	const struct assay_catalog_op *op = assay_catalog_op(&inv->cat, c->op);
	const struct assay_catalog_variant *v = assay_catalog_variant(&inv->cat, c->op, c->variant);

	return op && op->defect ? op->defect : v ? v->defect : NULL;
}

static json_t *case_question(const struct assay_case *c)
{
	json_t *axes = json_array();

	for (unsigned k = 0; k < c->n_axes; k++)
		json_array_append_new(axes, json_integer(c->axes[k].value));
	return json_pack("{s:{s:s,s:s,s:o,s:I,s:b,s:s}}", "case", "op", c->op, "variant", c->variant, "axes", axes,
			 "threads", (json_int_t)c->threads, "cold", c->cache == ASSAY_CACHE_COLD, "device", c->device);
}

static int describe(struct assay_inventory *inv, const struct assay_case *c, struct assay_case_facts *f,
		    struct assay_err *err)
{
	const struct assay_catalog_op *op = assay_catalog_op(&inv->cat, c->op);
	const struct broken *known = find_broken(inv, c);
	const char *defect = defect_of(inv, c), *refused;
	struct assay_err why = { 0 };
	json_t *answer;
	int rc = 0;

	if (op && op->program) {
		*f = (struct assay_case_facts){ .supported = true, .timed = true };
		return 0;
	}
	if (defect)
		return fail_case(f, "%s", defect);
	if (known && known->tries >= MOST_TRIES)
		return fail_case(f, "asking its plugin what other cases take: %s", known->why);
	answer = ask(inv, case_question(c), &why);
	if (!answer && why.code != ASSAY_EWORKER)
		return assay_err_set(err, why.code, "%s", why.text);
	if (!answer) {
		rc = note_broken(inv, c, why.text, err);
		return rc ? rc : fail_case(f, "asking its plugin what it takes: %s", why.text);
	}
	refused = json_string_value(json_object_get(answer, "refused"));
	if (refused)
		rc = assay_err_set(err, ASSAY_EUSAGE, "case '%s' is refused: %s", c->key, refused);
	else if (assay_catalog_take_facts(answer, f, &why))
		fail_case(f, "op '%s' %s", c->op, why.text);
	json_decref(answer);
	return rc;
}

int assay_inventory_describe(struct assay_inventory *inv, const struct assay_case *cases, size_t n,
			     struct assay_case_facts *out, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = describe(inv, &cases[i], &out[i], err);
	assay_inventory_process_stop(&inv->child);
	return rc;
}
