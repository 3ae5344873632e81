/* SPDX-License-Identifier: Apache-2.0 */
/* Runs plugin code only to ask: what is there, what would this case take. */
#include "worker/inventory/inventory.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "machine/topology.h"
#include "worker/case/memory.h"
#include "worker/plugin/loader.h"

struct child {
	FILE *in, *out;
	struct assay_loader loader;
	struct assay_host_info host;
	struct assay_topology *topology; /* NULL until asked for */
};

/* Takes the reference of @msg. */
static void say(struct child *c, json_t *question, json_t *msg)
{
	json_object_set(msg, "question", question);
	json_dumpf(msg, c->out, JSON_COMPACT);
	fputc('\n', c->out);
	fflush(c->out);
	json_decref(msg);
}

/* Nobody reads more of a name or a line of help, and what has no end is cut. */
#define TEXT_MAX 1024

/* JSON takes UTF-8 alone. */
static json_t *text(const char *s)
{
	char buf[TEXT_MAX];

	if (!s)
		return json_null();
	snprintf(buf, sizeof(buf), "%.*s", TEXT_MAX - 1, s);
	assay_printable_line(buf, sizeof(buf));
	return json_string(buf);
}

static json_t *describe_axes(const struct assay_op *op)
{
	json_t *axes = json_array();

	for (uint32_t i = 0; i < op->n_axes; i++) {
		const struct assay_axis *a = assay_op_axis(op, i);
		json_t *symbols = json_array();

		/* one more than is allowed tells that there are too many */
		for (uint32_t k = 0; a->symbols && a->symbols[k] && k <= ASSAY_MAX_SYMBOLS; k++)
			json_array_append_new(symbols, text(a->symbols[k]));
		json_array_append_new(axes, json_pack("{s:o,s:o,s:o,s:I,s:I,s:I}", "name", text(a->name), "help",
						      text(a->help), "symbols", symbols, "min", (json_int_t)a->min,
						      "max", (json_int_t)a->max, "def", (json_int_t)a->def));
	}
	return axes;
}

/* Bounds may be infinite, which JSON cannot write: hexadecimal text keeps them, and every bit of the others. */
static json_t *number(double v)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%a", v);
	return json_string(buf);
}

static json_t *describe_op(const struct assay_op *op)
{
	json_t *metrics = json_array(), *counters = json_array();

	for (uint32_t i = 0; i < op->n_metrics; i++) {
		const struct assay_metric_def *m = assay_op_metric(op, i);

		json_array_append_new(metrics,
				      json_pack("{s:o,s:o,s:o,s:i,s:i,s:o,s:o}", "tag", text(m->tag), "unit",
						text(m->unit), "help", text(m->help), "better", (int)m->better, "kind",
						(int)m->kind, "lo", number(m->lo), "hi", number(m->hi)));
	}
	for (uint32_t i = 0; i < op->n_counters; i++)
		json_array_append_new(counters, text(op->counters[i]));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:b,s:b,s:o}", "name", text(op->name), "help", text(op->help),
			 "axes", describe_axes(op), "metrics", metrics, "counters", counters, "exact",
			 (op->flags & ASSAY_OP_EXACT) != 0, "work_axis", (op->flags & ASSAY_OP_WORK_AXIS) != 0,
			 "model_axis", (op->flags & ASSAY_OP_MODEL_AXIS) != 0, "composes", text(op->composes));
}

static json_t *describe_variant(const struct assay_variant *v)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:I,s:b,s:b}", "op", text(v->op), "name", text(v->name), "help",
			 text(v->help), "needs", text(v->needs), "device", (json_int_t)v->device_kind, "one_thread",
			 (v->flags & ASSAY_VARIANT_ONE_THREAD) != 0, "reference",
			 (v->flags & ASSAY_VARIANT_REFERENCE) != 0);
}

/* One device's description of itself; null: none. */
static json_t *describe_info(const struct assay_device_ops *d, int ordinal)
{
	struct assay_device_info i = { .size = sizeof(i) };
	struct assay_reason why = { "" };

	if (!d->info || d->info(ordinal, &i, &why))
		return json_null();
	i.name[sizeof(i.name) - 1] = i.uuid[sizeof(i.uuid) - 1] = i.pci[sizeof(i.pci) - 1] = '\0';
	i.arch[sizeof(i.arch) - 1] = i.driver[sizeof(i.driver) - 1] = i.runtime[sizeof(i.runtime) - 1] = '\0';
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "name", text(i.name),
			 "uuid", text(i.uuid), "pci", text(i.pci), "arch", text(i.arch), "driver", text(i.driver),
			 "runtime", text(i.runtime), "compute_units", (json_int_t)i.compute_units, "memory_bytes",
			 (json_int_t)i.memory_bytes, "l2_bytes", (json_int_t)i.l2_bytes, "core_hz_max",
			 (json_int_t)i.core_hz_max, "memory_hz_max", (json_int_t)i.memory_hz_max, "memory_bits",
			 (json_int_t)i.memory_bits, "ecc", (json_int_t)i.ecc, "mig", (json_int_t)i.mig,
			 "pcie_generation", (json_int_t)i.pcie_generation, "pcie_lanes", (json_int_t)i.pcie_lanes);
}

static json_t *describe_devices(const struct assay_loaded_plugin *p)
{
	json_t *devices = json_array();

	for (uint32_t k = 0; k < p->desc.n_devices; k++) {
		const struct assay_device_ops *d = &p->devices[k];
		struct assay_reason why = { "" };
		int count = d->count ? d->count(&why) : 0;
		json_t *infos = json_array();

		why.text[sizeof(why.text) - 1] = '\0';
		for (int i = 0; i < count && i < ASSAY_MAX_DEVICES; i++)
			json_array_append_new(infos, describe_info(d, i));
		json_array_append_new(devices, json_pack("{s:o,s:I,s:i,s:o,s:o}", "name", text(d->name), "kind",
							 (json_int_t)d->device_kind, "count", count, "reason",
							 text(why.text), "infos", infos));
	}
	return devices;
}

static json_t *describe_plugin(const struct assay_loaded_plugin *p)
{
	json_t *ops = json_array(), *variants = json_array();

	for (uint32_t k = 0; k < p->desc.n_ops; k++)
		json_array_append_new(ops, describe_op(&p->ops[k]));
	for (uint32_t k = 0; k < p->desc.n_variants; k++)
		json_array_append_new(variants, describe_variant(&p->variants[k]));
	return json_pack("{s:o,s:o,s:s,s:i,s:i,s:o,s:o,s:o}", "name", text(p->desc.name), "version",
			 text(p->desc.version), "build_id", p->file.build_id, "abi_major", (int)p->file.abi_major,
			 "abi_minor", (int)p->file.abi_minor, "ops", ops, "variants", variants, "devices",
			 describe_devices(p));
}

/* @path: a part letter before it. */
static json_t *do_load(struct child *c, const char *path, const json_t *host)
{
	struct assay_err err = { 0 };

	c->host = (struct assay_host_info){
		.size = sizeof(c->host),
		.n_cores = (uint32_t)json_integer_value(json_object_get(host, "n_cores")),
		.l1d_bytes = (uint64_t)json_integer_value(json_object_get(host, "l1d_bytes")),
		.l2_bytes = (uint64_t)json_integer_value(json_object_get(host, "l2_bytes")),
		.llc_bytes = (uint64_t)json_integer_value(json_object_get(host, "llc_bytes")),
		.memory_bytes = (uint64_t)json_integer_value(json_object_get(host, "memory_bytes")),
		.vector_bits = (uint32_t)json_integer_value(json_object_get(host, "vector_bits")),
	};
	if (assay_loader_add(&c->loader, path + 1, (enum assay_plugin_part) * path, &err))
		return json_pack("{s:o,s:i}", "error", text(err.text), "code", err.code);
	return describe_plugin(&c->loader.plugins[c->loader.n_plugins - 1]);
}

/*
 * Copies that a worker can hold. Each buffer that is allocated while they are made is two mappings, of which a process
 * has 65530 on Linux unless told otherwise: room for eight buffers a copy.
 */
#define MAX_COPIES           (1 << 20)
#define MAX_ALLOCATED_COPIES 4000

/* More than any machine has, and little enough that what is added to it, or a signed number, does not overflow. */
#define MOST_BYTES (UINT64_C(1) << 62)

static uint64_t add_bytes(uint64_t a, uint64_t b)
{
	return a < MOST_BYTES && b < MOST_BYTES - a ? a + b : MOST_BYTES;
}

static uint64_t times_bytes(uint64_t n, uint64_t bytes)
{
	return !bytes || n < MOST_BYTES / bytes ? n * bytes : MOST_BYTES;
}

/*
 * Of twice the last-level cache part still lay in it, so that cold cases ended above the bandwidth of memory; eight
 * times is as much as stream.* goes through at level=dram (bench/stream.c). More than 512 MiB takes long to fill.
 */
#define COLD_TIMES      8
#define LEAST_TIMES     2
#define COLD_BYTES_MOST (UINT64_C(512) << 20)

static uint64_t cold_bytes_of_host(const struct child *c)
{
	const uint64_t llc = c->host.llc_bytes, least = times_bytes(LEAST_TIMES, llc),
		       most = times_bytes(COLD_TIMES, llc) < COLD_BYTES_MOST ? times_bytes(COLD_TIMES, llc)
									     : COLD_BYTES_MOST;

	return most > least ? most : least;
}

/*
 * A device's cache keeps what was written as well, and not always the newest: between two calls on the same copy so
 * many times its size is read.
 */
#define DEVICE_COLD_TIMES 4

/* 0: nobody knows the size of its L2. */
static uint64_t cold_bytes_of_device(const struct child *c, uint32_t kind, const char *device)
{
	const struct assay_device_ops *d = assay_loader_device(&c->loader, kind);
	struct assay_device_info info = { .size = sizeof(info) };
	struct assay_reason why = { "" };
	char name[ASSAY_NAME_MAX];
	unsigned number = 0;

	if (device[0] && !assay_device_read(device, name, &number))
		return 0;
	return d && d->info && !d->info((int)number, &info, &why) ? times_bytes(DEVICE_COLD_TIMES, info.l2_bytes) : 0;
}

static uint64_t input_bytes(const struct assay_problem *p)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < p->n_tensors; i++)
		if (p->tensors[i].role == ASSAY_INPUT)
			bytes = add_bytes(bytes, assay_tensor_bytes(&p->tensors[i]));
	return bytes;
}

/*
 * Copies of @each bytes that a cold case needs, so that all of them, used in turn, exceed @want. Their number is even:
 * the sides of a pair are half of them apart, and who came a shorter way behind the other found more in the caches.
 */
static uint64_t cold_copies(uint64_t each, uint64_t want)
{
	const uint64_t least = each && each <= want ? want / each + 1 : 1;

	return least > 1 ? least + least % 2 : 1;
}

/* @unsupported: why the variant cannot run this; @untimed: why it can, but not cold. NULL: it can. */
static json_t *facts(const struct assay_op *op, const struct assay_problem *p, uint64_t copies, const char *unsupported,
		     const char *untimed)
{
	uint64_t tensors = 0, copy = add_bytes(sizeof(struct assay_job), p->extra_bytes);

	for (uint32_t i = 0; i < p->n_tensors; i++) {
		uint64_t bytes = assay_tensor_bytes(&p->tensors[i]);

		tensors = add_bytes(tensors, bytes);
		copy = add_bytes(copy, bytes < MOST_BYTES ? assay_arena_stride(bytes) + sizeof(struct assay_tensor)
							  : MOST_BYTES);
	}
	return json_pack("{s:b,s:b,s:i,s:o,s:f,s:f,s:f,s:f,s:o,s:i,s:I,s:I,s:I,s:f}", "supported", !unsupported,
			 "timed", !unsupported && !untimed, "measures", (int)op->measures, "reason",
			 text(unsupported ? unsupported : untimed), "ops", p->cost.ops, "bytes_read",
			 p->cost.bytes_read, "bytes_written", p->cost.bytes_written, "items", p->cost.items,
			 "item_name", text(p->cost.item_name), "arith", (int)p->cost.arith, "tensor_bytes",
			 (json_int_t)tensors, "bytes", (json_int_t)times_bytes(copies, copy), "copies",
			 (json_int_t)copies, "rotated_bytes", 0.0);
}

static bool cost_ok(const struct assay_cost *c)
{
	const double v[] = { c->ops, c->bytes_read, c->bytes_written, c->items };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (!isfinite(v[i]) || v[i] < 0)
			return false;
	return true;
}

/* The op, not the shape, is at fault. */
static json_t *broken(const char *why)
{
	return json_pack("{s:s}", "broken", why);
}

/* Why the description of a tensor cannot be; NULL: it can. */
static const char *tensor_fault(const struct assay_tensor_spec *t)
{
	uint64_t bytes;

	if (!t->name || !assay_dtype_bytes(t->dtype))
		return "describes a tensor without a name or a type";
	if (t->role < ASSAY_INPUT || t->role > ASSAY_SCRATCH)
		return "describes a tensor that is neither input, output nor scratch";
	if (!assay_tensor_size(t, &bytes))
		return "describes a tensor with too many dimensions, or with one that is out of range";
	return NULL;
}

/* Let the op of the question @q describe its shape; NULL, or why it is refused or broken. */
static json_t *describe_shape(const struct child *c, const json_t *q, const struct assay_op **op,
			      struct assay_shape *shape, struct assay_problem *p)
{
	const json_t *axes = json_object_get(q, "axes");
	struct assay_reason why = { "" };

	*op = assay_loader_op(&c->loader, json_string_value(json_object_get(q, "op")), NULL);
	*shape = (struct assay_shape){ .size = sizeof(*shape), .host = &c->host };
	*p = (struct assay_problem){ .size = sizeof(*p) };
	if (!*op)
		return broken("is not loaded any more");
	for (size_t i = 0; i < json_array_size(axes) && i < ASSAY_MAX_AXES; i++)
		shape->axis[i] = json_integer_value(json_array_get(axes, i));
	shape->n_threads = (uint32_t)json_integer_value(json_object_get(q, "threads"));
	if ((*op)->describe(shape, p, &why)) {
		why.text[sizeof(why.text) - 1] = '\0';
		return json_pack("{s:o}", "refused", text(why.text));
	}
	if (p->n_tensors > ASSAY_MAX_TENSORS)
		return broken("describes more tensors than there may be");
	for (uint32_t i = 0; i < p->n_tensors; i++)
		if (tensor_fault(&p->tensors[i]))
			return broken(tensor_fault(&p->tensors[i]));
	if (p->cost.arith > ASSAY_ARITH_TERNARY)
		return broken("describes a cost in arithmetic that this harness does not know");
	return cost_ok(&p->cost) ? NULL : broken("describes a cost that is negative or no number");
}

static json_t *do_case(struct child *c, const json_t *q)
{
	const struct assay_op *op;
	struct assay_shape shape;
	struct assay_problem p;
	struct assay_reason why = { "" };
	const bool cold = json_is_true(json_object_get(q, "cold"));
	const struct assay_variant *v, *kernel;
	uint64_t copies, each, want = cold_bytes_of_host(c);
	json_t *refused = describe_shape(c, q, &op, &shape, &p), *answer;

	if (refused)
		return refused;
	kernel = assay_loader_case_variant(&c->loader, op, json_string_value(json_object_get(q, "variant")), NULL);
	v = kernel && strcmp(kernel->op, op->name) ? op->driver : kernel;
	if (v && v->supports && v->supports(&shape, &why)) {
		why.text[sizeof(why.text) - 1] = '\0';
		return facts(op, &p, 1, why.text, NULL);
	}
	each = input_bytes(&p);
	if (v && v->bytes_read)
		p.cost.bytes_read = v->bytes_read(&shape);
	if (!cost_ok(&p.cost))
		return broken("has a variant that reads negative bytes, or no number of them");
	if (cold && kernel && kernel->device_kind != ASSAY_DEVICE_CPU) {
		want = cold_bytes_of_device(c, kernel->device_kind, json_string_value(json_object_get(q, "device")));
		if (!want)
			return facts(
				op, &p, 1, NULL,
				"its device does not report the size of its L2: nothing there is known to be cold");
	}
	/* of its inputs it may read a part, and a variant what it has made of them */
	if (p.cost.bytes_read > 0 && (p.cost.bytes_read < (double)each || (v && v->bytes_read)))
		each = (uint64_t)fmin(p.cost.bytes_read, (double)MOST_BYTES);
	copies = cold ? cold_copies(each, want) : 1;
	if (copies > (p.extra_bytes || (v && v->prepare) ? MAX_ALLOCATED_COPIES : MAX_COPIES)) {
		snprintf(why.text, sizeof(why.text),
			 "so small that it needs %llu copies to be cold on this machine: choose a larger shape, or "
			 "cache = warm",
			 (unsigned long long)copies);
		return facts(op, &p, copies, NULL, why.text);
	}
	answer = facts(op, &p, copies, NULL, NULL);
	if (cold && answer)
		json_object_set_new(answer, "rotated_bytes", json_real((double)times_bytes(copies, each)));
	return answer;
}

/* The files that a worker opens besides the plugins. */
static json_t *do_place(struct child *c)
{
	if (!c->topology)
		assay_topology_open(&c->topology, NULL, NULL);
	return json_pack("{s:b}", "placed", c->topology != NULL);
}

static json_t *answer(struct child *c, const json_t *msg)
{
	const char *path = json_string_value(json_object_get(msg, "load"));
	const json_t *of_case = json_object_get(msg, "case");

	return path                            ? do_load(c, path, json_object_get(msg, "host"))
	       : json_object_get(msg, "place") ? do_place(c)
	       : of_case                       ? do_case(c, of_case)
					       : json_object();
}

int assay_inventory_child(int fd)
{
	struct child c = { .in = fdopen(fd, "r"), .out = fdopen(fd, "w") };
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!c.in || !c.out)
		return 1;
	while ((n = getline(&line, &cap, c.in)) > 0) {
		json_t *msg = json_loadb(line, (size_t)n, 0, NULL);

		if (!msg)
			return 1;
		say(&c, json_object_get(msg, "question"), answer(&c, msg));
		json_decref(msg);
	}
	assay_topology_close(c.topology);
	free(line);
	return 0;
}
