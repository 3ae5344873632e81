/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "drive/project.h"
#include "drive/show/show.h"
#include "drive/user_text.h"
#include "judge/policy.h"
#include "machine/clock.h"

static bool holds(const struct assay_alert *a, double value)
{
	return a->below ? value < a->limit : value > a->limit;
}

static int ask_case(const struct assay_history *h, const struct assay_case *c, size_t at,
		    struct assay_alert_report *out, struct assay_err *err)
{
	const struct assay_alert *a = &out->alerts[at];
	const bool time = !strcmp(a->metric, "time_s");
	struct assay_trend_point *v = NULL;
	char unit[ASSAY_METRIC_UNIT_MAX];
	size_t n = 0, first;
	struct assay_alert_case *one;

	/* a case without the metric has nothing to tell */
	if (assay_history_points(h, c, time ? NULL : a->metric, &v, &n, unit, NULL))
		n = 0;
	for (first = n; first && holds(a, time ? v[first - 1].median_ns * 1e-9 : v[first - 1].value); first--)
		;
	if (first < n) {
		if (assay_grow(&out->cases, out->n_cases, sizeof(*one))) {
			free(v);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
		one = &out->cases[out->n_cases++];
		*one = (struct assay_alert_case){ .alert = at,
						  .value = time ? v[n - 1].median_ns * 1e-9 : v[n - 1].value,
						  .since_ns = v[first].started_ns };
		memcpy(one->key, c->key, sizeof(one->key));
	}
	free(v);
	return 0;
}

int assay_alerts(const char *named, const char *db, struct assay_alert_report *out, struct assay_err *err)
{
	char path[ASSAY_POLICY_PATH_MAX];
	struct assay_history h = { 0 };
	struct assay_policy p;
	int rc = named ? 0 : assay_project_baseline_dir(path, ASSAY_INSTALLED_PATH_MAX, NULL);

	*out = (struct assay_alert_report){ .now_ns = assay_clock_unix_ns() };
	if (rc)
		return 0;
	if (!named)
		strcat(path, "/policy.conf");
	rc = assay_policy_load(&p, named ? named : path, err);
	if (rc)
		return rc == ASSAY_ENOTFOUND && !named ? 0 : assay_user_path_error(rc, err);
	out->alerts = p.alerts;
	out->n_alerts = p.n_alerts;
	p.alerts = NULL;
	assay_policy_release(&p);
	if (!db || !out->n_alerts || access(db, F_OK) || assay_history_open(&h, db, NULL, NULL))
		h.n = 0;
	for (size_t a = 0; a < out->n_alerts && !rc; a++)
		for (size_t i = 0; i < h.n && !rc; i++)
			if (assay_policy_selects(out->alerts[a].cases, &h.cases[i]))
				rc = ask_case(&h, &h.cases[i], a, out, err);
	assay_history_close(&h);
	return rc;
}

void assay_alerts_release(struct assay_alert_report *r)
{
	free(r->alerts);
	free(r->cases);
	*r = (struct assay_alert_report){ 0 };
}
