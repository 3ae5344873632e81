/* SPDX-License-Identifier: Apache-2.0 */
/* Both ways to count are tried once, when a setting is taken; each case is then held against what they can do. */
#include "measure/exact.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "counters/callgrind/callgrind.h"
#include "counters/step/stepper.h"
#include "machine/cpu_features.h"
#include "profile/code_places.h"

static void take_means(struct assay_exact_means *m, enum assay_exact_source source, char *tool, size_t size)
{
	struct assay_err why = { 0 };

	*m = (struct assay_exact_means){ .source = source };
	if (assay_callgrind_probe(tool, size, &why))
		snprintf(m->no_callgrind, sizeof(m->no_callgrind), "%.383s", why.text);
	if (assay_stepper_probe(&why) || assay_code_places_probe(&why))
		snprintf(m->no_steps, sizeof(m->no_steps), "%.383s", why.text);
}

const char *assay_exact_unavailable(const struct assay_exact_means *m)
{
	const char *why = m->source == ASSAY_EXACT_SOURCE_STEPPED ? m->no_steps : m->no_callgrind;

	return why[0] ? why : NULL;
}

int assay_exact_setting_take(const struct assay_topology *t, const char *model, enum assay_exact_source source,
			     struct assay_cache_model *cache, struct assay_exact_setting *out,
			     struct assay_exact_means *means, struct assay_err *err)
{
	struct assay_cpu_identity cpu;
	struct utsname u;
	int rc = 0;

	*out = (struct assay_exact_setting){ .arch = "" };
	if (!strcmp(model, "host"))
		rc = assay_topology_cache_model(t, cache, err);
	else if (!assay_cache_model_find(model, cache))
		rc = assay_err_set(err, ASSAY_EUSAGE, "unknown cache model '%s', expected canon or host", model);
	if (rc)
		return rc;
	if (!uname(&u))
		snprintf(out->arch, sizeof(out->arch), "%.31s", u.machine);
	if (!confstr(_CS_GNU_LIBC_VERSION, out->libc, sizeof(out->libc)))
		out->libc[0] = '\0';
	assay_cache_model_text(cache, out->cache, sizeof(out->cache));
	assay_cpu_identity(&cpu);
	assay_callgrind_cap(cpu.features, out->features, sizeof(out->features));
	assay_callgrind_environment(out->environment, sizeof(out->environment));
	take_means(means, source, out->tool, sizeof(out->tool));
	return 0;
}

/* Why no callgrind can count it; "" where one can. */
static void callgrind_reason(const struct assay_case *c, const struct assay_catalog_variant *v, const char *tool,
			     char *why, size_t size)
{
	char unknown[ASSAY_NAME_MAX];

	why[0] = '\0';
	if (c->threads != 1)
		snprintf(why, size, "%s counts one thread, but the case has %u", tool, c->threads);
	else if (v && !assay_callgrind_knows(v->needs, unknown, sizeof(unknown)))
		snprintf(why, size, "needs %s, which %s does not simulate", unknown, tool);
}

/*
 * Which way can it be counted? Otherwise the status is set. What callgrind could count is not stepped because there is
 * none here: its counts would not be those of other machines.
 */
static void choose_how(const struct assay_exact_means *m, const char *tool, const struct assay_case *c,
		       const struct assay_catalog_variant *v, struct assay_exact_case *out)
{
	const bool asked = m->source == ASSAY_EXACT_SOURCE_STEPPED;
	char why[512];

	callgrind_reason(c, v, tool[0] ? tool : "valgrind", why, sizeof(why));
	out->how =
		asked || (m->source == ASSAY_EXACT_SOURCE_AUTO && why[0]) ? ASSAY_EXACT_STEPPED : ASSAY_EXACT_CALLGRIND;
	if (out->how == ASSAY_EXACT_CALLGRIND)
		snprintf(out->reason, sizeof(out->reason), "%s", m->no_callgrind[0] ? m->no_callgrind : why);
	else if (m->no_steps[0] && asked)
		snprintf(out->reason, sizeof(out->reason), "%s", m->no_steps);
	else if (m->no_steps[0])
		snprintf(out->reason, sizeof(out->reason), "%.250s; nor can it be stepped: %.230s", why, m->no_steps);
	out->status = out->reason[0] ? ASSAY_STATUS_SKIPPED : ASSAY_STATUS_OK;
}

bool assay_exact_means_choose(const struct assay_exact_means *m, const char *tool, const struct assay_case *c,
			      const struct assay_catalog *cat, const struct assay_case_facts *facts,
			      struct assay_exact_case *out)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(cat, c->op, c->variant);

	if (facts->failed) {
		out->status = ASSAY_STATUS_FAILED;
		memcpy(out->reason, facts->reason, sizeof(facts->reason));
		return false;
	}
	out->status = ASSAY_STATUS_SKIPPED;
	out->skip = c->skip_reason[0] ? ASSAY_EXACT_SKIP_UNABLE : ASSAY_EXACT_SKIP_OTHER;
	if (c->cache == ASSAY_CACHE_NONE)
		snprintf(out->reason, sizeof(out->reason), "a program has no call that could be counted");
	else if (v && v->device_kind != ASSAY_DEVICE_CPU)
		snprintf(out->reason, sizeof(out->reason), ASSAY_EXACT_ON_DEVICE);
	else if (c->skip_reason[0])
		snprintf(out->reason, sizeof(out->reason), "%s", c->skip_reason);
	else if (!facts->supported)
		snprintf(out->reason, sizeof(out->reason), "%s", facts->reason);
	else
		choose_how(m, tool, c, v, out);
	return out->status == ASSAY_STATUS_OK;
}
