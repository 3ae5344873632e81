/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers on a device. A guard keeps the alignment that the device gives, which is at most so much. */
#include "worker/case/device.h"

#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 512
#define GUARD_BYTE  0xC5
/* Of what is compared at a time. */
#define PIECE_BYTES ((uint64_t)4 << 20)

static struct assay_tensor *on_device(const struct assay_case_job *j, uint64_t copy)
{
	return j->device_tensors + copy * j->problem.n_tensors;
}

static const struct assay_tensor *on_host(const struct assay_case_job *j, uint64_t copy)
{
	return j->tensors + copy * j->problem.n_tensors;
}

static int write_guards(const struct assay_case_job *j, unsigned char *at, uint64_t bytes, struct assay_reason *why)
{
	unsigned char guard[GUARD_BYTES];
	int rc;

	memset(guard, GUARD_BYTE, sizeof(guard));
	rc = j->device->upload(j->device_handle, at - GUARD_BYTES, guard, sizeof(guard), why);
	return rc ? rc : j->device->upload(j->device_handle, at + bytes, guard, sizeof(guard), why);
}

static uint64_t bytes_of_all(const struct assay_case_job *j)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		bytes += assay_tensor_bytes(&j->problem.tensors[i]) + 2 * GUARD_BYTES;
	return bytes * j->n_jobs;
}

/* Below this, a copy is as quick as a kernel that makes the same. */
#define LEAST_MADE_BYTES ((uint64_t)16 << 10)

/* Inputs that the device can fill are made there. That they are the host's is checked after the last sample. */
static int put_input(struct assay_case_job *j, const struct assay_tensor *d, const struct assay_tensor *h,
		     struct assay_reason *why)
{
	int rc = 1;

	if (j->device->make && h->spec->filled != ASSAY_FILLED_BY_OP && h->bytes >= LEAST_MADE_BYTES)
		rc = j->device->make(j->device_handle, d->data, d->bytes, h->spec, j->jobs[0].seed, why);
	j->device_made_bytes += rc ? 0 : h->bytes;
	return rc > 0 ? j->device->upload(j->device_handle, d->data, h->data, h->bytes, why) : rc;
}

static struct assay_outcome open_tensor(struct assay_case_job *j, struct assay_tensor *d, const struct assay_tensor *h)
{
	struct assay_reason why = { "" };
	void *block = NULL;

	if (j->device->alloc(j->device_handle, h->bytes + 2 * GUARD_BYTES, &block, &why))
		return assay_device_failed(j, "allocating", &why);
	*d = (struct assay_tensor){ .data = (unsigned char *)block + GUARD_BYTES, .bytes = h->bytes, .spec = h->spec };
	if (write_guards(j, d->data, d->bytes, &why) || put_input(j, d, h, &why))
		return assay_device_failed(j, "uploading", &why);
	return assay_outcome_ok();
}

struct assay_outcome assay_device_buffers_open(struct assay_case_job *j)
{
	const uint64_t total = j->n_jobs * j->problem.n_tensors;
	const struct assay_device_memory *m = &j->device_memory;
	struct assay_outcome out = assay_outcome_ok();

	if (!j->device)
		return out;
	j->device_bytes = bytes_of_all(j);
	if (m->known && j->device_bytes > m->total - m->before)
		return assay_device_is_full(j, "allocating", "");
	j->device_tensors = calloc(total + 1, sizeof(*j->device_tensors));
	if (!j->device_tensors)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for %llu copies",
					 (unsigned long long)j->n_jobs);
	for (uint64_t i = 0; i < total && out.status == ASSAY_STATUS_OK; i++)
		out = open_tensor(j, &j->device_tensors[i], &j->tensors[i]);
	return out;
}

void assay_device_buffers_close(struct assay_case_job *j)
{
	for (uint64_t i = 0; j->device_tensors && i < j->n_jobs * j->problem.n_tensors; i++)
		if (j->device_tensors[i].data)
			j->device->release(j->device_handle, (unsigned char *)j->device_tensors[i].data - GUARD_BYTES);
	free(j->device_tensors);
	j->device_tensors = NULL;
}

struct assay_outcome assay_device_buffers_put(struct assay_case_job *j, uint64_t copy, enum assay_role role)
{
	struct assay_reason why = { "" };

	for (uint32_t i = 0; j->device && i < j->problem.n_tensors; i++) {
		const struct assay_tensor *d = &on_device(j, copy)[i], *h = &on_host(j, copy)[i];

		if (h->spec->role == role && j->device->upload(j->device_handle, d->data, h->data, h->bytes, &why))
			return assay_device_failed(j, "uploading", &why);
	}
	return assay_outcome_ok();
}

struct assay_outcome assay_device_buffers_get(struct assay_case_job *j, uint64_t copy, enum assay_role role)
{
	struct assay_reason why = { "" };

	for (uint32_t i = 0; j->device && i < j->problem.n_tensors; i++) {
		const struct assay_tensor *d = &on_device(j, copy)[i], *h = &on_host(j, copy)[i];

		if (h->spec->role == role && j->device->download(j->device_handle, h->data, d->data, h->bytes, &why))
			return assay_device_failed(j, "downloading", &why);
	}
	return assay_outcome_ok();
}

struct assay_outcome assay_device_buffers_poison(struct assay_case_job *j, uint64_t copy, uint8_t pattern)
{
	struct assay_reason why = { "" };

	if (!j->device || !j->device->fill) /* what lies in host memory is the pattern already */
		return assay_device_buffers_put(j, copy, ASSAY_OUTPUT);
	for (uint32_t i = 0; i < j->problem.n_tensors; i++) {
		const struct assay_tensor *d = &on_device(j, copy)[i];

		if (d->spec->role == ASSAY_OUTPUT &&
		    j->device->fill(j->device_handle, d->data, pattern, d->bytes, &why))
			return assay_device_failed(j, "filling", &why);
	}
	return assay_outcome_ok();
}

static struct assay_outcome guard_intact(struct assay_case_job *j, const struct assay_tensor *d, int64_t from)
{
	unsigned char guard[GUARD_BYTES];
	struct assay_reason why = { "" };

	if (j->device->download(j->device_handle, guard, (unsigned char *)d->data + from, sizeof(guard), &why))
		return assay_device_failed(j, "downloading", &why);
	for (int64_t i = 0; i < GUARD_BYTES; i++)
		if (guard[i] != GUARD_BYTE)
			return assay_outcome_set(ASSAY_STATUS_WRONG,
						 "wrote outside of '%s': byte %lld of a buffer of %llu bytes",
						 d->spec->name, (long long)(from + i), (unsigned long long)d->bytes);
	return assay_outcome_ok();
}

/* @piece: memory for a part of them. */
static struct assay_outcome input_intact(struct assay_case_job *j, const struct assay_tensor *d,
					 const struct assay_tensor *h, void *piece)
{
	struct assay_reason why = { "" };

	for (uint64_t at = 0; at < d->bytes; at += PIECE_BYTES) {
		const uint64_t n = d->bytes - at < PIECE_BYTES ? d->bytes - at : PIECE_BYTES;

		if (j->device->download(j->device_handle, piece, (unsigned char *)d->data + at, n, &why))
			return assay_device_failed(j, "downloading", &why);
		if (memcmp(piece, (const unsigned char *)h->data + at, n))
			return assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs: '%s' on the device",
						 d->spec->name);
	}
	return assay_outcome_ok();
}

struct assay_outcome assay_device_buffers_intact(struct assay_case_job *j)
{
	struct assay_outcome out = assay_outcome_ok();
	void *piece;

	if (!j->device)
		return out;
	for (uint64_t i = 0; i < j->n_jobs * j->problem.n_tensors && out.status == ASSAY_STATUS_OK; i++) {
		const struct assay_tensor *d = &j->device_tensors[i];

		out = guard_intact(j, d, -GUARD_BYTES);
		if (out.status == ASSAY_STATUS_OK)
			out = guard_intact(j, d, (int64_t)d->bytes);
	}
	piece = malloc(PIECE_BYTES);
	if (!piece)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory to check inputs");
	for (uint64_t k = 0; k < j->check_n; k++) {
		const uint64_t c = (j->check_from + k) % j->n_jobs;

		for (uint32_t i = 0; i < j->problem.n_tensors && c < j->n_filled; i++)
			if (out.status == ASSAY_STATUS_OK && on_host(j, c)[i].spec->role == ASSAY_INPUT)
				out = input_intact(j, &on_device(j, c)[i], &on_host(j, c)[i], piece);
	}
	free(piece);
	return out;
}
