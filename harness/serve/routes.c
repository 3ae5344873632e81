/* SPDX-License-Identifier: Apache-2.0 */
/* All paths of the server, one row each. */
#include <stdio.h>
#include <string.h>

#include "serve/http.h"

static const struct assay_route routes[] = {
	{ "GET", "/metrics", false, false, assay_serve_metrics },
	{ "GET", "/healthz", false, false, assay_serve_healthz },
	{ "GET", "/readyz", false, false, assay_serve_readyz },

	{ "GET", "/", false, false, assay_serve_page },
	{ "GET", "/profiling/dashboard", false, false, assay_serve_page },
	{ "GET", "/profiling/cpu", false, false, assay_serve_page },
	{ "GET", "/profiling/memory", false, false, assay_serve_page },
	{ "GET", "/profiling/gpu", false, false, assay_serve_page },

	{ "GET", "/api/events", false, false, assay_serve_events },
	{ "GET", "/api/status", false, false, assay_serve_status },
	{ "GET", "/api/suites", false, false, assay_serve_suites },
	{ "GET", "/api/runs", true, false, assay_serve_runs },
	{ "GET", "/api/cases", false, false, assay_serve_cases },
	{ "GET", "/api/history", false, false, assay_serve_history },
	{ "GET", "/api/comparisons", true, false, assay_serve_comparisons },
	{ "GET", "/api/diff", false, false, assay_serve_diff },
	{ "GET", "/api/profiles", true, true, assay_serve_profiles },
	{ "POST", "/api/runs", false, true, assay_serve_run },
	{ "DELETE", "/api/job", false, true, assay_serve_stop },

	{ "POST", "/admin/profile/start", false, true, assay_serve_profile_start },
	{ "POST", "/admin/profile/stop", false, true, assay_serve_stop },
	{ "POST", "/admin/profile/cpu", false, true, assay_serve_profile_wait },
	{ "POST", "/admin/profile/memory", false, true, assay_serve_profile_wait },
	{ "POST", "/admin/profile/gpu", false, true, assay_serve_profile_wait },
	{ "POST", "/admin/profile/flamegraph", false, true, assay_serve_profile_wait },
	{ "POST", "/admin/profile/continuous", false, true, assay_serve_profile_start },
	{ "GET", "/admin/profile/status", false, true, assay_serve_status },
	{ "GET", "/admin/profile/bottlenecks", false, true, assay_serve_bottlenecks },
	{ "GET", "/admin/profile/compare", false, true, assay_serve_profile_compare },
	{ "GET", "/admin/profile/last", false, true, assay_serve_profile_last },
};

static bool is_of(const struct assay_route *r, const char *path)
{
	const size_t n = strlen(r->path);

	return !strcmp(r->path, path) || (r->below && !strncmp(r->path, path, n) && path[n] == '/' && path[n + 1]);
}

unsigned assay_route_find(const char *method, const char *path, const struct assay_route **out, char *allow,
			  size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (!is_of(&routes[i], path))
			continue;
		*out = &routes[i];
		if (!strcmp(routes[i].method, method))
			return 0;
		used += (size_t)snprintf(allow + used, size - used, "%s%s", used ? ", " : "", routes[i].method);
	}
	return used ? 405 : 404;
}
