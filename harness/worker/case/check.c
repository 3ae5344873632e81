/* SPDX-License-Identifier: Apache-2.0 */
/* Poison, oracle, digests, canaries, unchanged inputs. */
#include "worker/case/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/case/device.h"
#include "worker/case/state.h"

#define POISON 0x7Bu /* as float 1.3e36, as int8 123, as I2_S code pairs that include 3 */

static struct assay_tensor *tensors_of(const struct assay_case_job *j, uint64_t copy)
{
	return j->tensors + copy * j->problem.n_tensors;
}

static void hash_role(struct assay_hasher *h, const struct assay_case_job *j, uint64_t copy, uint32_t role)
{
	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (j->problem.tensors[i].role == role)
			assay_hasher_add(h, tensors_of(j, copy)[i].data, tensors_of(j, copy)[i].bytes);
}

static struct assay_digest digest_role(const struct assay_case_job *j, uint64_t copy, uint32_t role)
{
	struct assay_hasher *h = assay_hasher_new();

	if (!h)
		return (struct assay_digest){ "" };
	hash_role(h, j, copy, role);
	return assay_hasher_finish(h);
}

/*
 * Of what variants make, @output being that of the outputs: a cache that lies in scratch is a result as well. The op's
 * own state is not theirs.
 */
static struct assay_digest digest_of_result(const struct assay_case_job *j, uint64_t copy, const char *output)
{
	struct assay_hasher *h = assay_hasher_new();

	if (!h)
		return (struct assay_digest){ "" };
	assay_hasher_add(h, j->input_digests[copy].hex, ASSAY_DIGEST_LEN);
	assay_hasher_add(h, output, ASSAY_DIGEST_LEN);
	hash_role(h, j, copy, ASSAY_SCRATCH);
	return assay_hasher_finish(h);
}

struct assay_digest assay_case_input_digest(const struct assay_case_job *j, uint64_t copy)
{
	return digest_role(j, copy, ASSAY_INPUT);
}

void assay_case_job_digest(const struct assay_case_job *j, uint64_t i, char *digest)
{
	memcpy(digest, digest_role(j, i, ASSAY_OUTPUT).hex, ASSAY_DIGEST_LEN + 1);
}

void assay_case_job_output(const struct assay_case_job *j, uint64_t from, struct assay_worker_reply *r)
{
	r->output_bytes = 0;
	r->window_bytes = 0;
	for (uint32_t i = 0; i < j->problem.n_tensors; i++) {
		const struct assay_tensor *t = &tensors_of(j, 0)[i];
		uint64_t start = r->output_bytes, lo, n;

		if (t->spec->role != ASSAY_OUTPUT)
			continue;
		r->output_bytes += t->bytes;
		if (from >= r->output_bytes || r->window_bytes == sizeof(r->window))
			continue;
		lo = from - start;
		if (!r->window_bytes) {
			snprintf(r->output_name, sizeof(r->output_name), "%s", t->spec->name);
			r->element_bytes = (uint32_t)assay_dtype_bytes(t->spec->dtype);
			r->element = lo / r->element_bytes;
			r->element_at = start + r->element * r->element_bytes;
		}
		n = t->bytes - lo < sizeof(r->window) - r->window_bytes ? t->bytes - lo
									: sizeof(r->window) - r->window_bytes;
		memcpy(r->window + r->window_bytes, (const unsigned char *)t->data + lo, n);
		r->window_bytes += (uint32_t)n;
		from += n;
	}
}

struct assay_outcome assay_case_job_poison(struct assay_case_job *j)
{
	struct assay_outcome out = assay_outcome_ok();

	for (uint64_t k = 0; k < j->check_n && out.status == ASSAY_STATUS_OK; k++) {
		const uint64_t c = (j->check_from + k) % j->n_jobs;

		for (uint32_t i = 0; i < j->problem.n_tensors; i++)
			if (tensors_of(j, c)[i].spec->role == ASSAY_OUTPUT)
				memset(tensors_of(j, c)[i].data, POISON, tensors_of(j, c)[i].bytes);
		out = assay_device_buffers_poison(j, c, POISON);
	}
	return out;
}

struct assay_outcome assay_case_job_ask(struct assay_case_job *j, uint64_t i, double *max_rel_err)
{
	struct assay_check check = { .size = sizeof(check), .max_rel_err = -1, .first_bad = -1 };
	int rc;

	assay_case_job_aim(j, i, false);
	rc = j->op->check(&j->jobs[i], &check);
	assay_case_job_aim(j, i, true);
	if (rc)
		return assay_case_job_failed(j, "the oracle");
	if (!check.correct) {
		if (check.first_bad >= 0)
			return assay_outcome_set(ASSAY_STATUS_WRONG, "element %lld of '%s': %s",
						 (long long)check.first_bad, check.tensor ? check.tensor : "output",
						 check.reason.text);
		return assay_outcome_set(ASSAY_STATUS_WRONG, "%s",
					 check.reason.text[0] ? check.reason.text
							      : "the oracle says so and gives no reason");
	}
	if (!isfinite(check.max_rel_err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "the oracle calls it correct with an error of %g",
					 check.max_rel_err);
	j->asked = (struct assay_deviation){ .edges = check.deviates & ASSAY_EDGES };
	snprintf(j->asked.reason, sizeof(j->asked.reason), "%s", j->asked.edges ? check.deviation.text : "");
	assay_deviation_add(&j->deviation, &j->asked);
	*max_rel_err = check.max_rel_err;
	return assay_outcome_ok();
}

struct assay_outcome assay_case_job_check(struct assay_case_job *j, uint64_t i, double *max_rel_err, char *digest)
{
	char *accepted = j->accepted.digest[j->audit.other];
	double *error = &j->accepted.max_rel_err[j->audit.other];
	struct assay_deviation *deviation = &j->accepted.deviation[j->audit.other];
	struct assay_digest result;
	struct assay_outcome out;
	char output[ASSAY_DIGEST_LEN + 1];

	assay_case_job_phase(j, ASSAY_PHASE_CHECK);
	out = assay_device_buffers_get(j, i, ASSAY_OUTPUT);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_device_buffers_get(j, i, ASSAY_SCRATCH);
	assay_device_memory_look(j, NULL);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	assay_case_job_digest(j, i, output);
	result = digest_of_result(j, i, output);
	if (!result.hex[0] || strcmp(result.hex, accepted)) {
		/* an oracle must not be led astray by inputs that somebody changed */
		out = assay_case_job_intact(j);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		out = assay_case_job_ask(j, i, error);
		memcpy(accepted, result.hex, sizeof(result.hex));
		if (out.status != ASSAY_STATUS_OK) {
			accepted[0] = '\0';
			return out;
		}
		*deviation = j->asked;
	}
	assay_deviation_add(&j->deviation, deviation);
	*max_rel_err = *error;
	digest[0] = '\0';
	/* the bits that deviate are those of no other variant */
	if (j->op->flags & ASSAY_OP_EXACT && !deviation->edges)
		memcpy(digest, output, sizeof(output));
	return assay_outcome_ok();
}

struct assay_outcome assay_case_job_intact(struct assay_case_job *j)
{
	uint64_t copy;
	int64_t where;
	size_t bytes;

	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (!assay_arena_intact(&j->arenas[i], &copy, &where))
			return assay_outcome_set(ASSAY_STATUS_WRONG,
						 "wrote outside of '%s': byte %lld of a buffer of %zu bytes",
						 j->problem.tensors[i].name, (long long)where, j->arenas[i].bytes);
	if (!assay_case_services_intact(j, &where, &bytes))
		return assay_outcome_set(ASSAY_STATUS_WRONG,
					 "wrote outside of what it allocated: byte %lld of a buffer of %zu bytes",
					 (long long)where, bytes);
	for (uint64_t k = 0; k < j->check_n; k++) {
		const uint64_t c = (j->check_from + k) % j->n_jobs;

		if (c < j->n_filled && strcmp(assay_case_input_digest(j, c).hex, j->input_digests[c].hex))
			return assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs");
	}
	return assay_device_buffers_intact(j);
}

struct assay_outcome assay_case_job_report(struct assay_case_job *j)
{
	struct assay_outcome out;

	assay_case_job_phase(j, ASSAY_PHASE_REPORT);
	out = assay_case_observed_check(j);
	if (!j->op->report || out.status != ASSAY_STATUS_OK)
		return out;
	j->n_metrics = 0;
	if (j->op->report(&j->jobs[0]))
		return assay_case_job_failed(j, "reporting metrics");
	if (j->bad_metric[0])
		return assay_outcome_set(ASSAY_STATUS_FAILED,
					 "op '%s' published metric '%s' twice, or without declaring it", j->spec->c.op,
					 j->bad_metric);
	return assay_outcome_ok();
}
