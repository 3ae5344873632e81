/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the control groups of this process in /proc/self/cgroup and /proc/self/mountinfo, and reads limits of CPU time
 * and memory from them.
 */
#include "machine/host_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Limits at or above this mean "none": v1 writes LONG_MAX rounded down to a page. */
#define NO_MEMORY_LIMIT (UINT64_C(1) << 60)

static bool list_has(const char *list, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list, *end = list + len; p < end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t part = (size_t)((comma ? comma : end) - p);

		if (part == n && !memcmp(p, name, n))
			return true;
		p += part + 1;
	}
	return false;
}

/* Path of the process in the hierarchy that has @controller; lines are "4:memory:/path", v2 is "0::/path". */
static bool find_path(const char *text, const char *controller, int *version, char *path, size_t size)
{
	bool found = false;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *list, *rest, *end;

		line += *line == '\n';
		list = strchr(line, ':');
		rest = list ? strchr(list + 1, ':') : NULL;
		if (!rest)
			break;
		list++;
		end = strchr(rest, '\n');
		if (!end)
			end = rest + strlen(rest);
		if (list_has(list, (size_t)(rest - list), controller))
			*version = 1;
		else if (list == rest && !found)
			*version = 2;
		else
			continue;
		snprintf(path, size, "%.*s", (int)(end - rest - 1), rest + 1);
		found = true;
		if (*version == 1)
			return true;
	}
	return found;
}

/* Where a controller of this process lies; a limit of any folder from `dir` up to `mount` binds. */
struct cgroup {
	int version; /* 1 or 2 */
	char dir[PATH_MAX];
	size_t mount_len;    /* dir[0, mount_len) is the mount point */
	char file[PATH_MAX]; /* of dir, the last that was read */
};

struct mount {
	char root[PATH_MAX], point[PATH_MAX];
};

/* "36 35 98:0 ROOT POINT options [tags] - TYPE source super,options" (proc(5)). */
static bool parse_mount(const char *line, int version, const char *controller, struct mount *m)
{
	const char *tail = strstr(line, " - ");
	char type[32], super[512] = "";

	_Static_assert(PATH_MAX == 4096, "the widths below");
	if (!tail || sscanf(tail, " - %31s %*s %511s", type, super) < 1 ||
	    strcmp(type, version == 2 ? "cgroup2" : "cgroup") ||
	    (version == 1 && !list_has(super, strlen(super), controller)))
		return false;
	return sscanf(line, "%*s %*s %*s %4095s %4095s", m->root, m->point) == 2;
}

static bool find_mount(const char *root, int version, const char *controller, struct mount *m)
{
	char *text = assay_host_text(root, "/proc/self/mountinfo"), *save = NULL;
	bool found = false;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !found; line = strtok_r(NULL, "\n", &save))
		found = parse_mount(line, version, controller, m);
	free(text);
	return found;
}

/*
 * @controller "cpu" or "memory"; for the caller to free, NULL where there is none. On the heap, since workers look at
 * it between samples, and a profiler sees only the top of the stack.
 */
static struct cgroup *find_cgroup(const char *root, const char *controller)
{
	char *text = assay_host_text(root, "/proc/self/cgroup"), *path, *rel;
	struct mount *m = calloc(1, sizeof(*m));
	struct cgroup *cg = calloc(1, sizeof(*cg));
	bool found = false;
	size_t len;

	if (!text || !m || !cg || !find_path(text, controller, &cg->version, cg->file, sizeof(cg->file)) ||
	    !find_mount(root, cg->version, controller, m))
		goto out;
	/* A container without its own cgroup namespace sees the host's path, but only the part below the mount. */
	path = rel = cg->file;
	len = strlen(m->root);
	if (len > 1 && !strncmp(path, m->root, len) && (path[len] == '/' || !path[len]))
		rel = path + len;
	if (!strcmp(rel, "/") || strstr(rel, "/.."))
		rel = path + strlen(path);
	cg->mount_len = strlen(m->point);
	if ((size_t)snprintf(cg->dir, sizeof(cg->dir), "%s%s", m->point, rel) >= sizeof(cg->dir))
		goto out;
	if (!assay_host_exists(root, cg->dir))
		cg->dir[cg->mount_len] = '\0';
	found = true;
out:
	free(text);
	free(m);
	if (found)
		return cg;
	free(cg);
	return NULL;
}

/* Shorten cg->dir by one folder; false at the mount point. */
static bool go_up(struct cgroup *cg)
{
	char *slash = strrchr(cg->dir, '/');

	if (!slash || (size_t)(slash - cg->dir) < cg->mount_len)
		return false;
	*slash = '\0';
	return true;
}

/* cg->file is @file of cg->dir. */
static bool go_to(struct cgroup *cg, const char *file)
{
	return (size_t)snprintf(cg->file, sizeof(cg->file), "%s/%s", cg->dir, file) < sizeof(cg->file);
}

static bool number_in(const char *root, struct cgroup *cg, const char *file, uint64_t *out)
{
	int64_t v;

	if (!go_to(cg, file) || !assay_host_number(root, cg->file, &v) || v < 0)
		return false;
	*out = (uint64_t)v;
	return true;
}

/* CPUs that one level allows, 0 for no limit; cg->file says so. */
static double quota_of_level(const char *root, struct cgroup *cg)
{
	uint64_t quota, period;
	char line[64];

	if (cg->version == 1) {
		if (!number_in(root, cg, "cpu.cfs_period_us", &period) ||
		    !number_in(root, cg, "cpu.cfs_quota_us", &quota))
			return 0;
	} else {
		if (!go_to(cg, "cpu.max") || !assay_host_line(root, cg->file, line, sizeof(line)) ||
		    sscanf(line, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			return 0;
	}
	return period ? (double)quota / (double)period : 0;
}

static void read_throttling(const char *root, struct cgroup *cg, struct assay_cpu_quota *out)
{
	char *text;
	uint64_t t;

	if (!go_to(cg, "cpu.stat"))
		return;
	text = assay_host_text(root, cg->file);
	if (text && assay_host_field(text, "throttled_usec", &t)) {
		out->shows_throttling = true;
		out->throttled_ns = t * 1000;
	} else if (text && assay_host_field(text, "throttled_time", &t)) {
		out->shows_throttling = true;
		out->throttled_ns = t;
	}
	free(text);
}

void assay_cpu_quota_read(const char *root, struct assay_cpu_quota *out)
{
	struct cgroup *cg = find_cgroup(root, "cpu");

	memset(out, 0, sizeof(*out));
	if (!cg) {
		out->hidden = assay_host_exists(root, "/proc/self/cgroup") || !assay_host_exists(root, "/proc/self");
		return;
	}
	read_throttling(root, cg, out);
	do {
		double cpus = quota_of_level(root, cg);

		if (cpus > 0 && (out->cpus == 0 || cpus < out->cpus)) {
			out->cpus = cpus;
			snprintf(out->where, sizeof(out->where), "%s", cg->file);
		}
	} while (go_up(cg));
	free(cg);
}

int assay_cpu_quota_check_at(const char *root, size_t n_threads, struct assay_err *err)
{
	struct assay_cpu_quota q;

	assay_cpu_quota_read(root, &q);
	/* A thousandth of a CPU below the number of threads is rounding of the period, not a limit. */
	if (q.cpus == 0 || q.cpus + 0.001 >= (double)n_threads)
		return 0;
	if (q.cpus >= 1)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "cannot keep %zu threads running: the container's quota allows %.4g CPUs; "
				     "raise '%.200s' or use --threads %d",
				     n_threads, q.cpus, q.where, (int)q.cpus);
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "cannot keep %zu thread%s running: the container's quota allows %.4g CPUs; raise '%.200s'",
			     n_threads, n_threads == 1 ? "" : "s", q.cpus, q.where);
}

int assay_cpu_quota_check(size_t n_threads, struct assay_err *err)
{
	return assay_cpu_quota_check_at("", n_threads, err);
}

/* Page cache that nobody used lately is given back before anything is refused. */
static uint64_t reclaimable(const char *root, struct cgroup *cg)
{
	uint64_t v = 0;
	char *text;

	if (!go_to(cg, "memory.stat"))
		return 0;
	text = assay_host_text(root, cg->file);
	if (text && !assay_host_field(text, "total_inactive_file", &v) && !assay_host_field(text, "inactive_file", &v))
		v = 0;
	free(text);
	return v;
}

void assay_memory_limit_read(const char *root, uint64_t *limit_bytes, uint64_t *available_bytes)
{
	struct cgroup *cg = find_cgroup(root, "memory");

	*limit_bytes = 0;
	*available_bytes = UINT64_MAX;
	if (!cg)
		return;
	do {
		const bool v1 = cg->version == 1;
		uint64_t limit, used = 0, spare, left;

		if (!number_in(root, cg, v1 ? "memory.limit_in_bytes" : "memory.max", &limit) ||
		    limit >= NO_MEMORY_LIMIT)
			continue;
		if (!number_in(root, cg, v1 ? "memory.usage_in_bytes" : "memory.current", &used))
			used = 0;
		spare = reclaimable(root, cg);
		used -= spare < used ? spare : used;
		left = used < limit ? limit - used : 0;
		if (!*limit_bytes || limit < *limit_bytes)
			*limit_bytes = limit;
		if (left < *available_bytes)
			*available_bytes = left;
	} while (go_up(cg));
	free(cg);
}
