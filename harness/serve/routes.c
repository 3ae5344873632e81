/* SPDX-License-Identifier: Apache-2.0 */
/* All paths of the server, one row each. */
#include <stdio.h>
#include <string.h>

#include "serve/http.h"

#define BELOW  ASSAY_ROUTE_BELOW
#define SECRET ASSAY_ROUTE_SECRET
#define READS  ASSAY_ROUTE_READS

static const struct assay_route routes[] = {
	{ "GET", "/metrics", 0, assay_serve_metrics },
	{ "GET", "/healthz", 0, assay_serve_healthz },
	{ "GET", "/readyz", 0, assay_serve_readyz },

	{ "GET", "/", 0, assay_serve_page },
	{ "GET", "/profiling/dashboard", 0, assay_serve_page },
	{ "GET", "/profiling/cpu", 0, assay_serve_page },
	{ "GET", "/profiling/memory", 0, assay_serve_page },
	{ "GET", "/profiling/gpu", 0, assay_serve_page },

	{ "GET", "/api/events", 0, assay_serve_events },
	{ "GET", "/api/status", 0, assay_serve_status },
	{ "GET", "/api/suites", 0, assay_serve_suites },
	{ "GET", "/api/runs", BELOW | READS, assay_serve_runs },
	{ "GET", "/api/cases", READS, assay_serve_cases },
	{ "GET", "/api/history", READS, assay_serve_history },
	{ "GET", "/api/comparisons", BELOW | READS, assay_serve_comparisons },
	{ "GET", "/api/alerts", READS, assay_serve_alerts },
	{ "GET", "/api/diff", READS, assay_serve_diff },
	{ "GET", "/api/profiles", BELOW | SECRET | READS, assay_serve_profiles },
	{ "POST", "/api/runs", SECRET, assay_serve_run },
	{ "DELETE", "/api/job", SECRET, assay_serve_stop },

	{ "POST", "/v1/chat/completions", SECRET, assay_serve_completions },
	{ "GET", "/v1/models", BELOW, assay_serve_models },

	{ "POST", "/admin/profile/start", SECRET, assay_serve_profile_start },
	{ "POST", "/admin/profile/stop", SECRET, assay_serve_stop },
	{ "POST", "/admin/profile/cpu", SECRET, assay_serve_profile_wait },
	{ "POST", "/admin/profile/memory", SECRET, assay_serve_profile_wait },
	{ "POST", "/admin/profile/gpu", SECRET, assay_serve_profile_wait },
	{ "POST", "/admin/profile/flamegraph", SECRET, assay_serve_profile_wait },
	{ "POST", "/admin/profile/continuous", SECRET, assay_serve_profile_start },
	{ "GET", "/admin/profile/status", SECRET, assay_serve_status },
	{ "GET", "/admin/profile/bottlenecks", SECRET | READS, assay_serve_bottlenecks },
	{ "GET", "/admin/profile/compare", SECRET | READS, assay_serve_profile_compare },
	{ "GET", "/admin/profile/last", SECRET | READS, assay_serve_profile_last },
};

static bool is_of(const struct assay_route *r, const char *path)
{
	const size_t n = strlen(r->path);

	return !strcmp(r->path, path) ||
	       ((r->flags & BELOW) && !strncmp(r->path, path, n) && path[n] == '/' && path[n + 1]);
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
