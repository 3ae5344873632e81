/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from text, each field checked where its meaning is known. */
#include "drive/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpu_features.h"
#include "model/exact.h"
#include "plan/plan.h"

struct assay_request assay_request_default(void)
{
	return (struct assay_request){ .db = ASSAY_DEFAULT_DB, .settings.seed = ASSAY_DEFAULT_SEED };
}

void assay_request_release(struct assay_request *q)
{
	assay_strings_release(&q->plan.only);
	assay_strings_release(&q->plan.models);
	assay_strings_release(&q->plugins);
	assay_strings_release(&q->events);
	assay_strings_release(&q->plan.devices);
	free(q->plan.threads);
	free((void *)q->placement.cpus);
	*q = (struct assay_request){ 0 };
}

/* "1,all,8" → {1, ASSAY_THREADS_ALL, 8} */
int assay_request_set_threads(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	struct assay_strings parts = { 0 };
	unsigned *v = NULL;
	int rc = assay_strings_split(&parts, text, ',', err);

	if (rc)
		goto out;
	v = calloc(parts.n ? parts.n : 1, sizeof(*v));
	if (!v) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < parts.n; i++)
		if (!assay_plan_threads_parse(parts.v[i], &v[i])) {
			rc = assay_err_set(err, ASSAY_EUSAGE,
					   "%s is '%s', expected a list of " ASSAY_THREADS_EXPECTED ", such as 1,all",
					   what, text);
			goto out;
		}
	free(q->plan.threads);
	q->plan.threads = v;
	q->plan.n_threads = parts.n;
	v = NULL;
out:
	free(v);
	assay_strings_release(&parts);
	return rc;
}

int assay_request_set_devices(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	struct assay_strings parts = { 0 };
	int rc = assay_strings_split(&parts, text, ',', err);
	char name[ASSAY_NAME_MAX];
	unsigned number;

	for (size_t i = 0; i < parts.n && !rc; i++)
		if (!assay_device_read(parts.v[i], name, &number))
			rc = assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected devices such as cuda:0,cuda:1",
					   what, text);
	if (!rc && !parts.n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected devices such as cuda:0,cuda:1", what, text);
	if (rc) {
		assay_strings_release(&parts);
		return rc;
	}
	assay_strings_release(&q->plan.devices);
	q->plan.devices = parts;
	return 0;
}

int assay_request_set_cpus(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	size_t n = 0;
	int *cpus = NULL;
	int rc = assay_parse_cpu_list(text, what, &cpus, &n, err);

	if (rc)
		return rc;
	free((void *)q->placement.cpus);
	q->placement.cpus = cpus;
	q->placement.n_cpus = n;
	return 0;
}

int assay_request_set_placement(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	if (!strcmp(text, "compact"))
		q->placement.policy = ASSAY_PLACE_COMPACT;
	else if (!strcmp(text, "scatter"))
		q->placement.policy = ASSAY_PLACE_SCATTER;
	else
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected compact or scatter", what, text);
	return 0;
}

int assay_request_set_isa(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	int rc = assay_isa_check(text, what, err);

	if (!rc)
		q->isa = text;
	return rc;
}

int assay_request_set_shard(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	unsigned shard, n;
	char end;

	if (text[strspn(text, "0123456789/")] || sscanf(text, "%6u/%6u%c", &shard, &n, &end) != 2 || !shard ||
	    shard > n)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%s', expected a part and the number of parts, such as 1/3", what, text);
	q->plan.shard = shard;
	q->plan.n_shards = n;
	return 0;
}

int assay_request_set_rounds(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	uint64_t n;
	int rc = assay_parse_u64(text, what, 1, ASSAY_MAX_ROUNDS, &n, err);

	if (!rc)
		q->plan.rounds = (unsigned)n;
	return rc;
}

/* A limit of nothing is no limit anybody means. */
int assay_request_set_memory(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	uint64_t bytes;
	int rc = assay_parse_bytes(text, what, &bytes, err);

	if (rc)
		return rc;
	if (!bytes)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected a size above 0, such as 512MiB or 2G",
				     what, text);
	q->plan.memory_bytes = bytes;
	return 0;
}

int assay_request_set_cache_model(struct assay_request *q, const char *text, struct assay_err *err)
{
	struct assay_cache_model fixed;

	if (!assay_cache_model_find(text, &fixed) && strcmp(text, "host"))
		return assay_err_set(err, ASSAY_EUSAGE, "unknown cache model '%s', expected canon or host", text);
	q->cache_model = text;
	return 0;
}

int assay_request_set_counter_source(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	static const char *const names[] = {
		[ASSAY_EXACT_SOURCE_AUTO] = "auto",
		[ASSAY_EXACT_SOURCE_CALLGRIND] = "callgrind",
		[ASSAY_EXACT_SOURCE_STEPPED] = "stepped",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			q->counter_source = (enum assay_exact_source)i;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected callgrind, stepped or auto", what, text);
}

int assay_request_set_steps(struct assay_request *q, const char *text, const char *what, struct assay_err *err)
{
	return assay_parse_u64(text, what, ASSAY_EXACT_STEPS_LEAST, ASSAY_EXACT_STEPS_MOST, &q->max_steps, err);
}
