/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's side of the inventory. One child loads all plugins; when it dies or hangs at one of them, that
 * plugin is given up with the reason and a fresh child loads the others.
 */
#include "worker/inventory.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"
#include "machine/isa.h"
#include "worker/inventory_catalog.h"
#include "worker/plugin_loader.h"

#define ANSWER_TIMEOUT_MS 10000

struct assay_inventory {
	struct assay_catalog cat;
	const char *parts; /* only while it is being opened */
	struct assay_host_info host;
	struct assay_process child;
	int fd;
	char *buf; /* bytes read and not yet used */
	size_t len, cap;
};

static int start_child(struct assay_inventory *inv, struct assay_err *err)
{
	char number[16];
	const char *argv[] = { "/proc/self/exe", ASSAY_INVENTORY_COMMAND, number, NULL };
	struct assay_process_options o = { .argv = argv, .stdout_fd = STDERR_FILENO, .stderr_fd = -1 };
	int fds[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return assay_err_set(err, ASSAY_EIO, "cannot make a socket for the inventory: %s", strerror(errno));
	snprintf(number, sizeof(number), "%d", fds[1]);
	o.keep_fd = fds[1];
	rc = assay_process_start(&inv->child, &o, err);
	close(fds[1]);
	if (rc) {
		close(fds[0]);
		return rc;
	}
	inv->fd = fds[0];
	inv->len = 0;
	return 0;
}

static void stop_child(struct assay_inventory *inv)
{
	if (inv->fd >= 0)
		close(inv->fd);
	inv->fd = -1;
	if (inv->child.pid)
		assay_process_kill(&inv->child);
	inv->child = (struct assay_process){ .pidfd = -1 };
}

static int send_line(struct assay_inventory *inv, json_t *msg, struct assay_err *err)
{
	char *line = json_dumps(msg, JSON_COMPACT);
	size_t len, sent = 0;
	int rc = 0;

	json_decref(msg);
	if (!line)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while asking the inventory");
	len = strlen(line);
	line[len++] = '\n'; /* in place of the terminator */
	while (sent < len && !rc) {
		ssize_t n = send(inv->fd, line + sent, len - sent, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno != EINTR)
			rc = assay_err_set(err, ASSAY_EWORKER, "the inventory process is gone");
	}
	free(line);
	return rc;
}

/* The next line of the child as JSON; NULL with @err when it died (its end described) or kept silent. */
static json_t *receive(struct assay_inventory *inv, struct assay_err *err)
{
	for (;;) {
		char *nl = inv->len ? memchr(inv->buf, '\n', inv->len) : NULL;
		struct pollfd p = { .fd = inv->fd, .events = POLLIN };
		char how[128];
		ssize_t n;

		if (nl) {
			json_t *msg = json_loadb(inv->buf, (size_t)(nl - inv->buf), 0, NULL);

			inv->len -= (size_t)(nl + 1 - inv->buf);
			memmove(inv->buf, nl + 1, inv->len);
			if (!msg)
				assay_err_set(err, ASSAY_EINTERNAL, "the inventory process sent no JSON");
			return msg;
		}
		if (inv->cap - inv->len < 65536) {
			char *grown = realloc(inv->buf, inv->cap + 262144);

			if (!grown) {
				assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
				return NULL;
			}
			inv->buf = grown;
			inv->cap += 262144;
		}
		n = poll(&p, 1, ANSWER_TIMEOUT_MS);
		if (n == 0) {
			assay_err_set(err, ASSAY_EWORKER, "no answer within %d s", ANSWER_TIMEOUT_MS / 1000);
			return NULL;
		}
		n = n < 0 ? n : read(inv->fd, inv->buf + inv->len, inv->cap - inv->len);
		if (n > 0) {
			inv->len += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			assay_process_wait(&inv->child, 1000000000u);
			if (inv->child.reaped)
				assay_process_describe(&inv->child, how, sizeof(how));
			assay_err_set(err, ASSAY_EWORKER, "%s", inv->child.reaped ? how : "closed its socket");
			return NULL;
		}
	}
}

/* ---- loading ---- */

static json_t *load_request(const struct assay_inventory *inv)
{
	json_t *paths = json_array();

	for (size_t i = 0; i < inv->cat.n_plugins; i++)
		json_array_append_new(paths, inv->cat.plugins[i].error
						     ? json_null()
						     : json_sprintf("%c%s", inv->parts ? inv->parts[i] : ASSAY_PART_ALL,
								    inv->cat.plugins[i].path));
	return json_pack("{s:o,s:{s:I,s:I,s:I,s:I,s:I,s:I}}", "plugins", paths, "host", "n_cores",
			 (json_int_t)inv->host.n_cores, "l1d_bytes", (json_int_t)inv->host.l1d_bytes, "l2_bytes",
			 (json_int_t)inv->host.l2_bytes, "llc_bytes", (json_int_t)inv->host.llc_bytes, "memory_bytes",
			 (json_int_t)inv->host.memory_bytes, "vector_bits", (json_int_t)inv->host.vector_bits);
}

/* What a child said of its plugins is kept only when it reached the end. */
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

/*
 * One child, all plugins that were not given up. 1: it died at plugin *culprit, whose error is set; try again without.
 */
static int load_once(struct assay_inventory *inv, struct assay_err *err)
{
	struct assay_err why = { 0 };
	size_t at = SIZE_MAX;
	int rc;

	rc = start_child(inv, err);
	if (!rc)
		rc = send_line(inv, load_request(inv), err);
	while (!rc) {
		json_t *msg = receive(inv, &why), *field;

		if (!msg && (why.code != ASSAY_EWORKER || at == SIZE_MAX))
			return assay_err_set(err, why.code, "cannot ask the plugins: %s", why.text);
		if (!msg) {
			char text[640];

			snprintf(text, sizeof(text), "loading '%s': %s", inv->cat.plugins[at].path, why.text);
			inv->cat.plugins[at].error = strdup(text);
			inv->cat.plugins[at].error_code = ASSAY_EPLUGIN;
			return inv->cat.plugins[at].error ? 1 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
		field = json_object_get(msg, "loading");
		if (field)
			at = (size_t)json_integer_value(field);
		field = json_object_get(msg, "plugin");
		if (field && (size_t)json_integer_value(field) < inv->cat.n_plugins)
			rc = assay_catalog_take_plugin(&inv->cat, (size_t)json_integer_value(field), msg, err);
		if (json_object_get(msg, "loaded")) {
			if (!rc)
				rc = assay_catalog_expand_composites(&inv->cat, err);
			if (!rc)
				rc = assay_catalog_mark_unavailable(&inv->cat, json_object_get(msg, "devices"), err);
			json_decref(msg);
			return rc;
		}
		json_decref(msg);
	}
	return rc;
}

int assay_inventory_open(struct assay_inventory **out, const struct assay_strings *plugins, const char *parts,
			 const struct assay_host_info *host, struct assay_err *err)
{
	struct assay_inventory *inv = calloc(1, sizeof(*inv));
	int rc = 0;

	if (!inv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	inv->fd = -1;
	inv->parts = parts;
	inv->host = *host;
	inv->child.pidfd = -1;
	for (size_t i = 0; i < plugins->n && !rc; i++) {
		struct assay_catalog_plugin *p =
			assay_catalog_grow((void **)&inv->cat.plugins, &inv->cat.n_plugins, sizeof(*p));

		if (p)
			p->path = strdup(plugins->v[i]);
		if (!p || !p->path)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the inventory");
	}
	for (bool again = true; again && !rc;) {
		rc = load_once(inv, err);
		again = rc == 1;
		if (again) {
			stop_child(inv);
			forget(&inv->cat);
			rc = 0;
		}
	}
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
	stop_child(inv);
	assay_catalog_release(&inv->cat);
	free(inv->buf);
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

int assay_inventory_worker_bytes(struct assay_inventory *inv, uint64_t *bytes, struct assay_err *err)
{
	struct assay_err why = { 0 };
	json_t *answer;
	int rc = send_line(inv, json_pack("{s:b}", "place", 1), err);

	if (rc)
		return rc;
	answer = receive(inv, &why);
	if (!answer)
		return assay_err_set(err, why.code, "cannot find out what a worker takes: %s", why.text);
	json_decref(answer);
	*bytes = assay_process_rss_bytes(&inv->child);
	return 0;
}

/* ---- cases ---- */

static int take_facts(const struct assay_case *c, const json_t *j, struct assay_case_facts *f, struct assay_err *err)
{
	const char *refused = json_string_value(json_object_get(j, "refused"));
	const char *reason = json_string_value(json_object_get(j, "reason"));
	const char *item = json_string_value(json_object_get(j, "item_name"));

	if (refused)
		return assay_err_set(err, ASSAY_EUSAGE, "case '%s' is refused: %s", c->key, refused);
	*f = (struct assay_case_facts){
		.supported = json_is_true(json_object_get(j, "supported")),
		.timed = json_is_true(json_object_get(j, "timed")),
		.measures = (uint32_t)json_integer_value(json_object_get(j, "measures")),
		.cost = {
			.ops = json_number_value(json_object_get(j, "ops")),
			.bytes_read = json_number_value(json_object_get(j, "bytes_read")),
			.bytes_written = json_number_value(json_object_get(j, "bytes_written")),
			.items = json_number_value(json_object_get(j, "items")),
			.arith = (uint32_t)json_integer_value(json_object_get(j, "arith")),
		},
		.tensor_bytes = (uint64_t)json_integer_value(json_object_get(j, "tensor_bytes")),
		.bytes = (uint64_t)json_integer_value(json_object_get(j, "bytes")),
		.copies = (uint64_t)json_integer_value(json_object_get(j, "copies")),
	};
	snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
	snprintf(f->item_name, sizeof(f->item_name), "%s", item ? item : "");
	return 0;
}

int assay_inventory_describe(struct assay_inventory *inv, const struct assay_case *cases, size_t n,
			     struct assay_case_facts *out, struct assay_err *err)
{
	struct assay_err why = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct assay_case *c = &cases[i];
		json_t *axes = json_array(), *answer;
		int rc;

		for (unsigned k = 0; k < c->n_axes; k++)
			json_array_append_new(axes, json_integer(c->axes[k].value));
		rc = send_line(inv,
			       json_pack("{s:{s:s,s:s,s:o,s:I,s:b}}", "case", "op", c->op, "variant", c->variant,
					 "axes", axes, "threads", (json_int_t)c->threads, "cold",
					 c->cache == ASSAY_CACHE_COLD),
			       err);
		if (rc)
			return rc;
		answer = receive(inv, &why);
		if (!answer)
			return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' failed to describe '%s': %s", c->op, c->key,
					     why.text);
		rc = take_facts(c, answer, &out[i], err);
		json_decref(answer);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_shape(const struct assay_catalog_op *op, const json_t *j, struct assay_shape_facts *f,
		      struct assay_err *err)
{
	const char *refused = json_string_value(json_object_get(j, "refused"));
	const json_t *tensors = json_object_get(j, "tensors");

	if (refused)
		return assay_err_set(err, ASSAY_EUSAGE, "op '%s' refuses a shape: %s", op->name, refused);
	if (json_array_size(tensors) > ASSAY_MAX_TENSORS)
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' describes too many tensors", op->name);
	*f = (struct assay_shape_facts){
		.n_tensors = (uint32_t)json_array_size(tensors),
		.ops = json_number_value(json_object_get(j, "ops")),
		.bytes_read = json_number_value(json_object_get(j, "bytes_read")),
		.bytes_written = json_number_value(json_object_get(j, "bytes_written")),
	};
	for (uint32_t i = 0; i < f->n_tensors; i++) {
		const json_t *from = json_array_get(tensors, i), *dims = json_object_get(from, "dims");
		const char *name = json_string_value(json_object_get(from, "name"));
		struct assay_shape_tensor *t = &f->tensors[i];

		snprintf(t->name, sizeof(t->name), "%s", name ? name : "");
		t->role = (uint32_t)json_integer_value(json_object_get(from, "role"));
		t->dtype = (uint32_t)json_integer_value(json_object_get(from, "dtype"));
		for (; t->rank < json_array_size(dims) && t->rank < ASSAY_MAX_RANK; t->rank++)
			t->dims[t->rank] = json_integer_value(json_array_get(dims, t->rank));
	}
	return 0;
}

int assay_inventory_shape(struct assay_inventory *inv, const struct assay_catalog_op *op, const int64_t *axes,
			  unsigned n_threads, struct assay_shape_facts *out, struct assay_err *err)
{
	struct assay_err why = { 0 };
	json_t *values = json_array(), *answer;
	int rc;

	for (size_t i = 0; i < op->n_axes; i++)
		json_array_append_new(values, json_integer(axes[i]));
	rc = send_line(inv,
		       json_pack("{s:{s:s,s:o,s:I}}", "shape", "op", op->name, "axes", values, "threads",
				 (json_int_t)n_threads),
		       err);
	if (rc)
		return rc;
	answer = receive(inv, &why);
	if (!answer)
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' failed to describe a shape: %s", op->name, why.text);
	rc = take_shape(op, answer, out, err);
	json_decref(answer);
	return rc;
}
