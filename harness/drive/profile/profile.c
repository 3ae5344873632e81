/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/profile/profile.h"

#include <stdio.h>
#include <string.h>

#include "drive/profile/kinds.h"
#include "drive/project.h"
#include "drive/read_back.h"

static const struct kind {
	const char *name;
	int (*of_case)(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_profile *out,
		       struct assay_err *err);
	int (*of_program)(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_profile *out,
			  struct assay_err *err);
} kinds[] = {
	{ "cpu", assay_profile_cpu_case, assay_profile_cpu_program },
	{ "heap", assay_profile_heap_case, assay_profile_heap_program },
	{ "gpu", assay_profile_gpu_case, assay_profile_gpu_program },
	{ "threads", assay_profile_threads_case, assay_profile_threads_program },
	{ "trace", assay_profile_trace_case, assay_profile_trace_program },
};

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

const char *assay_profile_kind(size_t i)
{
	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i].name : NULL;
}

bool assay_profile_kinds_have(const char *list, const char *kind)
{
	const size_t n = strlen(kind);

	for (const char *s = list; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (!strncmp(s, kind, n) && (!s[n] || s[n] == ','))
			return true;
	return !strcmp(list, "all");
}

int assay_profile_kinds_check(const char *list, struct assay_err *err)
{
	char kind[32];
	int rc = 0;

	for (const char *s = list; s && !rc; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(s, ","), s);
		rc = assay_profile_kind_check(kind, err);
	}
	return rc;
}

int assay_profile_kind_check(const char *kind, struct assay_err *err)
{
	struct assay_text all = { 0 };
	int rc = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assay_text_addf(&all, "%s%s", i ? ", " : "", kinds[i].name);
	if (!find(kind))
		rc = assay_err_set(err, ASSAY_EUSAGE, "no kind of profile is called '%s', expected %s", kind,
				   all.s ? all.s : "");
	assay_text_release(&all);
	return rc;
}

/* Settings that @q leaves open come from assay.conf. */
static int fill_in(struct assay_profile_request *q, struct assay_err *err)
{
	struct assay_profiling_conf conf;
	int rc = assay_project_profiling(&conf, err);
	const uint64_t for_ns = !strcmp(q->kind, "cpu")     ? conf.cpu_for_ns
				: !strcmp(q->kind, "heap")  ? conf.memory_for_ns
				: !strcmp(q->kind, "gpu")   ? conf.gpu_for_ns
				: !strcmp(q->kind, "trace") ? ASSAY_TRACE_FOR_NS
							    : ASSAY_PROFILE_FOR_NS;

	if (!q->rate_hz)
		q->rate_hz = (unsigned)conf.cpu_rate_hz;
	if (!q->sample_bytes && conf.memory_sample_bytes > 1)
		q->sample_bytes = conf.memory_sample_bytes;
	if (q->key && !q->for_ns)
		q->for_ns = for_ns;
	return rc;
}

int assay_profile_take(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_profile *out,
		       struct assay_err *unkept, struct assay_err *err)
{
	struct assay_profile_request own = *q;
	const struct kind *k = find(q->kind);
	struct assay_store *store = NULL;
	int rc;

	*out = (struct assay_profile){ 0 };
	if (!k)
		return assay_profile_kind_check(q->kind, err);
	rc = fill_in(&own, err);
	if (rc)
		return rc;
	rc = q->name ? assay_profile_store_open(&store, q, err) : 0;
	if (!rc)
		rc = q->key ? k->of_case(&own, w, out, err) : k->of_program(&own, w, out, err);
	if (!rc && store)
		unkept->code = assay_profile_store_keep(store, q, out, unkept);
	assay_profile_store_close(store);
	if (!rc && store)
		unkept->code = assay_read_back(unkept->code, q->what->db, q->key ? q->key : q->name, unkept);
	return rc;
}
