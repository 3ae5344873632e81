/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded apart for each configuration of a kernel is one piece of work here; its configuration is the one
 * that took most time. The file is input: a process may have ended while it wrote, and its counts are checked.
 */
#include "profile/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

#define MOST_PROCESSES_SHOWN 1 /* with more, each has a frame of its own */

struct reading {
	struct assay_profile *into;
	const struct assay_gpu_header *file;
	const struct assay_gpu_record *records;
	size_t n;
	bool named;
	uint64_t *most_ns; /* of the configuration that a piece of work shows, one a stack */
	struct assay_err *err;
};

static uint64_t round_up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

double assay_gpu_occupancy(const struct assay_gpu_key *k, const struct assay_gpu_limits *l)
{
	const uint64_t system_bytes = l->major >= 8 ? 1024 : 0;
	uint64_t warps, blocks, shared, registers;

	if (!l->warps || !l->blocks || !l->warp_threads || !l->registers || !k->block)
		return NAN;
	warps = (k->block + l->warp_threads - 1) / l->warp_threads;
	blocks = l->warps / warps;
	if (blocks > l->blocks)
		blocks = l->blocks;
	registers = round_up((uint64_t)k->registers * l->warp_threads, 256) * warps;
	if (registers && l->registers / registers < blocks)
		blocks = l->registers / registers;
	shared = round_up(k->shared_bytes + system_bytes, 128);
	if (l->shared_bytes && k->shared_bytes && l->shared_bytes / shared < blocks)
		blocks = l->shared_bytes / shared;
	return (double)(blocks * warps) / l->warps;
}

/* ---- names ---- */

static const char *copy_name(uint32_t kind)
{
	/* by CUPTI's numbers */
	static const char *const names[] = { "copy",
					     "copy host to device",
					     "copy device to host",
					     "copy host to array",
					     "copy array to host",
					     "copy array to array",
					     "copy array to device",
					     "copy device to array",
					     "copy within device",
					     "copy host to host",
					     "copy device to device" };

	return names[kind < sizeof(names) / sizeof(names[0]) ? kind : 0];
}

void assay_gpu_work_name(const struct assay_gpu_key *k, char *buf, size_t size)
{
	if (k->kind == ASSAY_GPU_KERNEL)
		snprintf(buf, size, "%.*s", ASSAY_GPU_NAME - 1, k->name);
	else
		snprintf(buf, size, "%s", k->kind == ASSAY_GPU_COPY ? copy_name(k->copy_kind) : "set memory");
	assay_printable_line(buf, size);
}

static const struct assay_gpu_record *device_of(const struct reading *r, uint32_t device)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->records[i].key.kind == ASSAY_GPU_DEVICE && r->records[i].key.device == device)
			return &r->records[i];
	return NULL;
}

/* ---- stacks ---- */

static int label(struct reading *r, const char *text, uint32_t *frames, uint32_t *n)
{
	const struct assay_frame f = { .kind = ASSAY_FRAME_LABEL, .name = text };

	return assay_stack_table_frame(&r->into->stacks, &f, &frames[(*n)++], r->err);
}

static int put_stack(struct reading *r, const struct assay_gpu_key *k, size_t *at)
{
	const struct assay_gpu_record *d = device_of(r, k->device);
	char name[ASSAY_GPU_NAME + 64], text[ASSAY_GPU_NAME + 64];
	uint32_t frames[4], n = 0;
	int rc = 0;

	if (r->named) {
		snprintf(text, sizeof(text), "process: %.31s", r->file->name);
		assay_printable_line(text, sizeof(text));
		rc = label(r, text, frames, &n);
	}
	snprintf(text, sizeof(text), "GPU %" PRIu32 "%s%.*s", k->device, d ? ": " : "", ASSAY_GPU_NAME - 1,
		 d ? d->key.name : "");
	assay_printable_line(text, sizeof(text));
	if (!rc)
		rc = label(r, text, frames, &n);
	snprintf(text, sizeof(text), "stream %" PRIu32, k->stream);
	if (!rc)
		rc = label(r, text, frames, &n);
	assay_gpu_work_name(k, name, sizeof(name));
	if (!rc)
		rc = assay_stack_table_frame(
			&r->into->stacks,
			&(struct assay_frame){ .kind = ASSAY_FRAME_CODE,
					       .name = name,
					       .object = k->kind == ASSAY_GPU_KERNEL ? "kernel" : "memory" },
			&frames[n++], r->err);
	return rc ? rc : assay_stack_table_put(&r->into->stacks, frames, n, at, r->err);
}

/* Room for the numbers of stack @at. */
static int grow(struct reading *r, size_t at, size_t before)
{
	struct assay_profile_gpu *g = &r->into->gpu;
	const size_t n = r->into->stacks.n_stacks;
	struct assay_profile_gpu_work *work;
	uint64_t *most;

	if (n == before && g->work)
		return 0;
	work = realloc(g->work, n * sizeof(*work));
	if (work)
		g->work = work;
	most = work ? realloc(r->most_ns, n * sizeof(*most)) : NULL;
	if (!most)
		return assay_err_set(r->err, ASSAY_ENOMEM, "out of memory for the kernels of a profile");
	r->most_ns = most;
	work[at] = (struct assay_profile_gpu_work){ .least_ns = UINT64_MAX, .occupancy_frac = NAN };
	most[at] = 0;
	return 0;
}

static int add_record(struct reading *r, const struct assay_gpu_record *x)
{
	struct assay_stack_table *t = &r->into->stacks;
	const size_t before = t->n_stacks;
	const struct assay_gpu_record *d = device_of(r, x->key.device);
	struct assay_profile_gpu_work *w;
	size_t at = 0;
	int rc = put_stack(r, &x->key, &at);

	if (!rc)
		rc = grow(r, at, before);
	if (rc)
		return rc;
	w = &r->into->gpu.work[at];
	w->calls += x->count;
	w->bytes += x->bytes;
	w->least_ns = x->least_ns < w->least_ns ? x->least_ns : w->least_ns;
	w->most_ns = x->most_ns > w->most_ns ? x->most_ns : w->most_ns;
	t->stacks[at].weight += x->ns;
	t->weight += x->ns;
	if (x->key.kind == ASSAY_GPU_KERNEL && (x->ns > r->most_ns[at] || !w->block_threads)) {
		r->most_ns[at] = x->ns;
		w->registers = x->key.registers;
		w->block_threads = x->key.block;
		w->blocks = x->key.grid;
		w->shared_bytes = x->key.shared_bytes;
		w->occupancy_frac = d ? assay_gpu_occupancy(&x->key, &d->limits) : NAN;
	}
	return 0;
}

/* ---- files ---- */

static bool is_work(const struct assay_gpu_record *x)
{
	return x->count &&
	       (x->key.kind == ASSAY_GPU_KERNEL || x->key.kind == ASSAY_GPU_COPY || x->key.kind == ASSAY_GPU_SET);
}

static int read_file(struct reading *r, const char *text, size_t len)
{
	struct assay_profile_gpu *g = &r->into->gpu;
	const struct assay_gpu_header *h = (const void *)text;
	int rc = 0;

	if (len < sizeof(*h) || h->magic != ASSAY_GPU_RECORDS_MAGIC || h->bytes != sizeof(*r->records) ||
	    h->used > len || h->used < sizeof(*h))
		return 0; /* its process ended while it made it */
	r->file = h;
	r->records = (const void *)(h + 1);
	r->n = (h->used - sizeof(*h)) / sizeof(*r->records);
	if (!h->version)
		snprintf(g->why, sizeof(g->why), "%.*s", (int)sizeof(h->why) - 1, h->why);
	else
		snprintf(r->into->source, sizeof(r->into->source), "NVML, CUPTI %" PRIu32, h->version);
	r->into->lost += h->lost;
	for (size_t i = 0; i < r->n && !rc; i++)
		if (is_work(&r->records[i]))
			rc = add_record(r, &r->records[i]);
	return rc;
}

int assay_gpu_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err)
{
	struct reading r = { .into = into, .err = err };
	struct assay_strings names = { 0 };
	char path[8192], *text;
	size_t len;
	int rc;

	snprintf(into->kind, sizeof(into->kind), "gpu");
	snprintf(into->unit, sizeof(into->unit), "ns");
	snprintf(into->source, sizeof(into->source), "NVML");
	into->overhead_frac = NAN;
	rc = assay_file_list(dir, ASSAY_GPU_RECORDS_ENDING, &names, err);
	r.named = names.n > MOST_PROCESSES_SHOWN;
	for (size_t i = 0; i < names.n && !rc; i++) {
		snprintf(path, sizeof(path), "%s/%s" ASSAY_GPU_RECORDS_ENDING, dir, names.v[i]);
		rc = assay_file_read(path, &text, &len, err);
		if (rc)
			break;
		rc = read_file(&r, text, len);
		free(text);
	}
	if (into->gpu.work)
		into->gpu.why[0] = '\0'; /* another process was watched */
	else if (!rc && !names.n)
		snprintf(into->gpu.why, sizeof(into->gpu.why), "nothing started CUDA");
	assay_strings_release(&names);
	free(r.most_ns);
	return rc;
}
