/* SPDX-License-Identifier: Apache-2.0 */
/* Spots of the outputs, and inputs that change. */
#include "worker/audit/data.h"

#include <math.h>

#include "assay/random.h"
#include "worker/case/device.h"
#include "worker/case/job.h"

/* Of inputs of which single elements change: a call on more takes longer than the samples can pay for. */
#define MOST_VARIED_BYTES (256u << 20)
/* Streams of the generator, away from those of layouts. */
#define STREAM_SPOTS 0x41554401u
#define STREAM_AUDIT 0x41554402u
#define OTHER_SEED   UINT64_C(0x9E3779B97F4A7C15) /* of the inputs that variants are also checked on */

uint64_t assay_audit_draw(struct assay_case_audit *a, uint64_t n)
{
	const struct assay_philox x = assay_random4(a->seed, STREAM_AUDIT, a->draws++);

	return n ? ((uint64_t)x.v[0] << 32 | x.v[1]) % n : 0;
}

/* ---- spots of the outputs ---------------------------------------------------------------------------------------- */

uint64_t assay_audit_elements(const struct assay_case_job *j, uint32_t tensor)
{
	const uint32_t bytes = assay_audit_element_bytes(j, tensor);

	return bytes ? j->tensors[tensor].bytes / bytes : 0;
}

void assay_audit_choose_spots(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t all = 0;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (j->problem.tensors[t].role == ASSAY_OUTPUT)
			all += assay_audit_elements(j, t);
	for (a->n_spots = 0; all && a->n_spots < ASSAY_AUDIT_SPOTS; a->n_spots++) {
		const struct assay_philox x = assay_random4(a->seed, STREAM_SPOTS, a->n_spots);
		uint64_t at = ((uint64_t)x.v[0] << 32 | x.v[1]) % all;

		for (uint32_t t = 0; t < j->problem.n_tensors; t++) {
			if (j->problem.tensors[t].role != ASSAY_OUTPUT)
				continue;
			if (at < assay_audit_elements(j, t)) {
				a->spots[a->n_spots] = (struct assay_audit_spot){ .tensor = t, .element = at };
				break;
			}
			at -= assay_audit_elements(j, t);
		}
	}
}

void assay_audit_learn_spots(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	for (uint32_t i = 0; i < a->n_spots; i++)
		a->spots[i].want[a->other] = assay_audit_load(
			assay_audit_element(j, a->other ? 0 : j->check_from, a->spots[i].tensor, a->spots[i].element),
			assay_audit_element_bytes(j, a->spots[i].tensor));
}

static double as_number(uint64_t v, uint32_t dtype)
{
	double d;
	float f;

	if (dtype == ASSAY_F64) {
		memcpy(&d, &v, sizeof(d));
		return d;
	}
	memcpy(&f, &v, sizeof(f));
	return f;
}

static double finite_size(double x)
{
	return isfinite(x) ? fabs(x) : 0;
}

/*
 * Ops that need not be exact may give other bits in every call. Then a float must lie nearer to the right value than to
 * anything it could hold by accident, and anything else must have been written.
 */
static bool is_right(const struct assay_case_job *j, const struct assay_audit_spot *s, uint64_t got)
{
	const uint32_t dtype = j->problem.tensors[s->tensor].dtype, bytes = assay_audit_element_bytes(j, s->tensor);
	const uint64_t want = s->want[j->audit.other];
	double scale = 0;

	if (got == want)
		return true;
	if (j->op->flags & ASSAY_OP_EXACT)
		return false;
	if (dtype == ASSAY_F32 || dtype == ASSAY_F64) {
		const double is = as_number(got, dtype), right = as_number(want, dtype);

		if (!isfinite(right))
			return isnan(right) ? isnan(is) : is == right;
	}
	if (dtype != ASSAY_F32 && dtype != ASSAY_F64)
		return got != (~want & (UINT64_MAX >> (64 - 8 * bytes)));
	for (uint32_t i = 0; i < j->audit.n_spots; i++)
		if (j->audit.spots[i].tensor == s->tensor)
			scale = fmax(scale, finite_size(as_number(j->audit.spots[i].want[j->audit.other], dtype)));
	if (!(scale > 0)) /* nothing tells what is near to nothing */
		return got != (~want & (UINT64_MAX >> (64 - 8 * bytes)));
	return fabs(as_number(got, dtype) - as_number(want, dtype)) <= 0.01 * scale;
}

struct assay_outcome assay_audit_look(const struct assay_case_job *j, uint64_t copy)
{
	const struct assay_case_audit *a = &j->audit;

	for (uint32_t i = 0; i < a->n_spots; i++) {
		const struct assay_audit_spot *s = &a->spots[i];
		const uint32_t bytes = assay_audit_element_bytes(j, s->tensor);
		const uint64_t got = assay_audit_load(assay_audit_element(j, copy, s->tensor, s->element), bytes);

		if (is_right(j, s, got))
			continue;
		return assay_outcome_set(
			ASSAY_STATUS_WRONG, "between samples, with %s: element %llu of '%s' is 0x%0*llx, want 0x%0*llx",
			a->other ? "other inputs" : "scrambled outputs", (unsigned long long)s->element,
			j->problem.tensors[s->tensor].name, (int)(2 * bytes), (unsigned long long)got, (int)(2 * bytes),
			(unsigned long long)s->want[a->other]);
	}
	return assay_outcome_ok();
}

/* ---- other inputs ------------------------------------------------------------------------------------------------ */

static void reverse(const struct assay_case_job *j, uint32_t tensor)
{
	const uint32_t bytes = assay_audit_element_bytes(j, tensor);
	const uint64_t n = assay_audit_elements(j, tensor);

	for (uint64_t i = 0; i < n / 2; i++) {
		unsigned char *p = assay_audit_element(j, 0, tensor, i),
			      *q = assay_audit_element(j, 0, tensor, n - 1 - i);
		const uint64_t v = assay_audit_load(p, bytes);

		assay_audit_store(p, assay_audit_load(q, bytes), bytes);
		assay_audit_store(q, v, bytes);
	}
}

static bool varies(const struct assay_case_job *j, uint32_t tensor)
{
	const struct assay_tensor_spec *t = &j->problem.tensors[tensor];

	return t->role == ASSAY_INPUT && (t->flags & ASSAY_TENSOR_VARIES);
}

/* Any value of a float or of a signed byte is as good as another; a whole number may be a place or a length. */
static bool takes_any(const struct assay_case_job *j, uint32_t tensor)
{
	const struct assay_tensor_spec *t = &j->problem.tensors[tensor];

	switch (t->dtype) {
	case ASSAY_I8:
	case ASSAY_F16:
	case ASSAY_BF16:
	case ASSAY_F32:
	case ASSAY_F64:
		return t->role == ASSAY_INPUT;
	default:
		return varies(j, tensor);
	}
}

/*
 * What the op says may change is turned round. Of other ops all inputs are made anew from another seed, where what
 * making them leaves behind can be released, and the variant prepares once more.
 */
static enum assay_audit_change change_of(const struct assay_case_job *j)
{
	uint64_t bytes = 0;
	bool any = false;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++) {
		any |= varies(j, t);
		bytes += j->problem.tensors[t].role == ASSAY_INPUT ? j->tensors[t].bytes : 0;
	}
	if (any)
		return ASSAY_AUDIT_REVERSE;
	if (!bytes || ((j->op_state || j->fill_bytes) && !j->op->release))
		return ASSAY_AUDIT_SAME;
	if (bytes > ASSAY_AUDIT_MOST_BYTES)
		return bytes > MOST_VARIED_BYTES || j->variant->prepare || j->op_state ? ASSAY_AUDIT_SAME
										       : ASSAY_AUDIT_ELEMENTS;
	return ASSAY_AUDIT_REFILL;
}

struct assay_outcome assay_audit_inputs_are_kept(const struct assay_case_job *j)
{
	if (strcmp(assay_case_input_digest(j, 0).hex, j->input_digests[0].hex))
		return assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs");
	return assay_outcome_ok();
}

struct assay_outcome assay_audit_make_inputs(struct assay_case_job *j, bool other)
{
	struct assay_case_audit *a = &j->audit;
	struct assay_outcome out = assay_audit_inputs_are_kept(j);
	const struct assay_digest digest = j->input_digests[0];

	a->other = other;
	j->input_digests[0] = a->digest;
	a->digest = digest;
	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (a->change == ASSAY_AUDIT_REFILL) {
		assay_case_job_unprepare(j);
		out = assay_case_job_refill(j, other ? j->spec->settings.seed ^ OTHER_SEED : j->spec->settings.seed);
	}
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (varies(j, t))
			reverse(j, t);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_device_buffers_put(j, 0, ASSAY_INPUT);
	if (out.status == ASSAY_STATUS_OK && a->change == ASSAY_AUDIT_REFILL)
		out = assay_case_job_prepare_again(j);
	return out;
}

bool assay_audit_changes(const struct assay_case_job *j, uint32_t tensor)
{
	return varies(j, tensor) ||
	       (j->audit.change == ASSAY_AUDIT_REFILL && j->problem.tensors[tensor].role == ASSAY_INPUT);
}

uint64_t assay_audit_changed_bytes(const struct assay_case_job *j)
{
	uint64_t bytes = 0;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		bytes += assay_audit_changes(j, t) ? j->tensors[t].bytes : 0;
	return bytes;
}

void assay_audit_keep_inputs(const struct assay_case_job *j, unsigned char *buf)
{
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (assay_audit_changes(j, t)) {
			memcpy(buf, j->tensors[t].data, j->tensors[t].bytes);
			buf += j->tensors[t].bytes;
		}
}

void assay_audit_put_inputs(const struct assay_case_job *j, const unsigned char *buf)
{
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (assay_audit_changes(j, t)) {
			memcpy(j->tensors[t].data, buf, j->tensors[t].bytes);
			buf += j->tensors[t].bytes;
		}
}

/* Behind @buf, the elements of the tensor from @from on, then those before. */
static unsigned char *keep_rotated(const struct assay_case_job *j, uint32_t tensor, uint64_t from, unsigned char *buf)
{
	const struct assay_tensor *t = &j->tensors[tensor];
	const uint64_t head = from * assay_audit_element_bytes(j, tensor);

	memcpy(buf, (const unsigned char *)t->data + head, t->bytes - head);
	memcpy(buf + t->bytes - head, t->data, head);
	return buf + t->bytes;
}

struct assay_outcome assay_audit_draw_inputs(struct assay_case_job *j, unsigned char *buf)
{
	struct assay_outcome out = assay_outcome_ok();
	unsigned char *end = buf;

	if (j->audit.change == ASSAY_AUDIT_REFILL) {
		out = assay_case_job_refill(j, assay_audit_draw(&j->audit, UINT64_MAX));
		j->jobs[0].seed = j->spec->settings.seed;
		assay_audit_keep_inputs(j, buf);
		return out;
	}
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (assay_audit_changes(j, t))
			end = keep_rotated(j, t, assay_audit_draw(&j->audit, assay_audit_elements(j, t)), end);
	assay_audit_put_inputs(j, buf);
	return out;
}

void assay_audit_choose_inputs(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	a->change = change_of(j);
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (takes_any(j, t) && assay_audit_elements(j, t) > 1 &&
		    (varies(j, t) || a->change == ASSAY_AUDIT_REFILL || a->change == ASSAY_AUDIT_ELEMENTS))
			a->changing[a->n_changing++] = t;
	if (a->change == ASSAY_AUDIT_ELEMENTS && !a->n_changing)
		a->change = ASSAY_AUDIT_SAME;
}
