/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/project.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/profile/request.h"
#include "drive/user_text.h"
#include "drive/installed.h"

static const char *const names[] = { "assay.conf", ".assay.conf", "ci/assay.conf" };

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* "bench" of "." is "bench": what messages and commands name is what a person types. */
static void join(char *buf, size_t size, const char *top, const char *name)
{
	if (strcmp(top, ".") != 0)
		snprintf(buf, size, "%s/%s", top, name);
	else
		snprintf(buf, size, "%s", name);
}

/* ---- the file ---- */

static int folder_value(const struct assay_project_conf *c, const char *name, const char **out, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(&c->conf.root, name);
	const char *v = e ? e->values[0].text : NULL;

	*out = v;
	if (v && (!v[0] || v[0] == '/' || !strcmp(v, "..") || !strncmp(v, "../", 3) || strstr(v, "/..")))
		return assay_conf_fail(err, e->path, e->values[0].line, "%s '%s' must lie inside the checkout", name,
				       v);
	return 0;
}

static int missing(const struct assay_project_conf *c, const char *name, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE, "'%s' has no %s = \"…\"", c->conf.path, name);
}

static const struct assay_profiling_conf profiling_default = {
	.cpu_rate_hz = ASSAY_PROFILE_RATE_HZ,
	.cpu_for_ns = ASSAY_PROFILE_FOR_NS,
	.memory_sample_bytes = 1,
	.memory_for_ns = ASSAY_PROFILE_FOR_NS,
	.gpu_for_ns = ASSAY_PROFILE_FOR_NS,
	.flamegraph_rate_hz = ASSAY_PROFILE_RATE_HZ,
	.flamegraph_for_ns = ASSAY_PROFILE_FOR_NS,
	.busy_frac = 0.90,
	.full_frac = 0.95,
	.keep_profiles = 1000,
	.keep_days = 30,
};

static int a_number(const char *s, uint64_t most, void *out)
{
	return assay_parse_u64(s, "", 1, most, out, NULL);
}

static int a_duration(const char *s, uint64_t most, void *out)
{
	return assay_parse_duration_ns(s, "", out, NULL) || !*(uint64_t *)out || *(uint64_t *)out > most;
}

static int a_size(const char *s, uint64_t most, void *out)
{
	return assay_parse_bytes(s, "", out, NULL) || !*(uint64_t *)out || *(uint64_t *)out > most;
}

static int a_share(const char *s, uint64_t most, void *out)
{
	return assay_parse_frac(s, "", 0, (double)most, out, NULL);
}

#define HOUR_NS    UINT64_C(3600000000000)
#define AT(member) offsetof(struct assay_profiling_conf, member)
#define A_RATE     "a number of samples a second, from 1 to 10000"
#define A_TIME     "a time such as 5s, up to an hour"

/* The keys of the sections, in the order of the sections. */
static const struct profiling_key {
	const char *section, *name, *expected;
	int (*read)(const char *s, uint64_t most, void *out); /* 0, and the value in *out, where it is one */
	uint64_t most;
	size_t at;
} profiling_keys[] = {
	{ "cpu", "rate", A_RATE, a_number, ASSAY_PROFILE_MOST_HZ, AT(cpu_rate_hz) },
	{ "cpu", "duration", A_TIME, a_duration, HOUR_NS, AT(cpu_for_ns) },
	{ "memory", "sample", "a size such as 512KiB", a_size, INT64_MAX, AT(memory_sample_bytes) },
	{ "memory", "duration", A_TIME, a_duration, HOUR_NS, AT(memory_for_ns) },
	{ "gpu", "duration", A_TIME, a_duration, HOUR_NS, AT(gpu_for_ns) },
	{ "flamegraph", "rate", A_RATE, a_number, ASSAY_PROFILE_MOST_HZ, AT(flamegraph_rate_hz) },
	{ "flamegraph", "duration", A_TIME, a_duration, HOUR_NS, AT(flamegraph_for_ns) },
	{ "bottleneck", "cpu", "a share such as 90%", a_share, 1, AT(busy_frac) },
	{ "bottleneck", "memory", "a share such as 95%", a_share, 1, AT(full_frac) },
	{ "storage", "profiles", "a number from 1 to 1000000", a_number, 1000000, AT(keep_profiles) },
	{ "storage", "days", "a number from 1 to 18000", a_number, 18000, AT(keep_days) },
};

static int take_profiling(struct assay_project_conf *c, struct assay_err *err)
{
	const struct assay_conf_section *root = &c->conf.root;

	c->profiling = profiling_default;
	for (size_t i = 0; i < root->n_sections; i++) {
		const struct assay_conf_section *s = &root->sections[i];

		for (size_t k = 0; k < i; k++)
			if (!strcmp(root->sections[k].name, s->name))
				return assay_conf_fail(err, c->conf.path, s->line, "section '%s' appears twice",
						       s->name);
		for (size_t k = 0; k < sizeof(profiling_keys) / sizeof(profiling_keys[0]); k++) {
			const struct profiling_key *key = &profiling_keys[k];
			const struct assay_conf_entry *e =
				strcmp(key->section, s->name) ? NULL : assay_conf_entry(s, key->name);

			if (e && key->read(e->values[0].text, key->most, (char *)&c->profiling + key->at))
				return assay_conf_fail(err, e->path, e->values[0].line, "%s of %s is '%s', expected %s",
						       key->name, s->name, e->values[0].text, key->expected);
		}
	}
	return 0;
}

static int take_values(struct assay_project_conf *c, struct assay_err *err)
{
	const struct assay_conf_entry *build = assay_conf_entry(&c->conf.root, "build");
	int rc = take_profiling(c, err);

	c->build = build ? build->values[0].text : NULL;
	if (rc || (!c->conf.root.n_entries && c->conf.root.n_sections))
		return rc;
	if (!c->build || !c->build[0])
		return missing(c, "build", err);
	rc = folder_value(c, "plugins", &c->plugins, err);
	/* a repository of programs alone has its benches */
	if (!rc && !c->plugins && !assay_conf_entry(&c->conf.root, "bench"))
		return missing(c, "plugins", err);
	if (!rc)
		rc = folder_value(c, "bench", &c->bench, err);
	return rc ? rc : folder_value(c, "baselines", &c->baselines, err);
}

/* As assay_project_conf_read(), but of a file that has the sections of profiling alone @c->build is NULL. */
static int read_conf(struct assay_project_conf *c, const char *top, struct assay_err *err)
{
	static const struct assay_conf_option of_cpu[] = { { .name = "rate" },
							   { .name = "duration" },
							   { .name = NULL } };
	static const struct assay_conf_option of_memory[] = { { .name = "sample" },
							      { .name = "duration" },
							      { .name = NULL } };
	static const struct assay_conf_option of_gpu[] = { { .name = "duration" }, { .name = NULL } };
	static const struct assay_conf_option of_load[] = { { .name = "cpu" }, { .name = "memory" }, { .name = NULL } };
	static const struct assay_conf_option of_storage[] = { { .name = "profiles" },
							       { .name = "days" },
							       { .name = NULL } };
	static const struct assay_conf_grammar sections[] = { { .name = "cpu", .options = of_cpu },
							      { .name = "memory", .options = of_memory },
							      { .name = "gpu", .options = of_gpu },
							      { .name = "flamegraph", .options = of_cpu },
							      { .name = "bottleneck", .options = of_load },
							      { .name = "storage", .options = of_storage },
							      { .name = NULL } };
	static const struct assay_conf_option options[] = { { .name = "build" },
							    { .name = "plugins" },
							    { .name = "bench" },
							    { .name = "baselines" },
							    { .name = NULL } };
	static const struct assay_conf_grammar grammar = { .options = options, .sections = sections };
	char path[ASSAY_INSTALLED_PATH_MAX + 32];
	struct assay_err why = { 0 };
	int rc = ASSAY_ENOTFOUND;

	*c = (struct assay_project_conf){ .profiling = profiling_default };
	for (size_t i = 0; i < N_NAMES && rc == ASSAY_ENOTFOUND; i++) {
		join(path, sizeof(path), top, names[i]);
		why = (struct assay_err){ 0 };
		rc = assay_conf_load(&c->conf, path, &grammar, &why);
	}
	/* where a later name is there, nothing is wrong */
	if (rc && err)
		*err = why;
	return rc ? rc : take_values(c, err);
}

int assay_project_conf_read(struct assay_project_conf *c, const char *top, struct assay_err *err)
{
	const int rc = read_conf(c, top, err);

	return !rc && !c->build ? missing(c, "build", err) : rc;
}

void assay_project_conf_release(struct assay_project_conf *c)
{
	assay_conf_release(&c->conf);
	*c = (struct assay_project_conf){ 0 };
}

/* ---- the repository around the current folder ---- */

static bool has(const char *dir, const char *name, struct stat *st)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !stat(path, st);
}

/*
 * A file above the current folder is believed only where its owner is root, this user, or whose the current folder is:
 * in /tmp anybody may leave one, and it names code that is run.
 */
static int check_owner(const char *dir, const char *name, const struct stat *conf, struct assay_err *err)
{
	struct stat here;

	if (!conf->st_uid || conf->st_uid == geteuid() || (!stat(".", &here) && here.st_uid == conf->st_uid))
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE,
			     "'%s/%s' belongs to another user than this folder: it names what is run, so it is not "
			     "used; go to the folder that it lies in",
			     strcmp(dir, "/") != 0 ? dir : "", name);
}

/* Is @dir, which is cut, or a folder above it the top of a git repository? */
static bool is_in_repository(char *dir)
{
	struct stat st;

	for (char *slash;; slash[slash == dir] = '\0') {
		if (has(dir, ".git", &st))
			return true;
		slash = strrchr(dir, '/');
		if (!slash || !dir[1])
			return false;
	}
}

/*
 * The nearest folder with an assay.conf, in the current folder or above it in the same git repository;
 * ASSAY_ENOTFOUND, without a word, for none.
 */
static int find_top(char top[PATH_MAX], struct assay_err *err)
{
	char dir[PATH_MAX], *slash;
	bool above = false;
	struct stat st;

	if (!getcwd(dir, sizeof(dir)))
		return ASSAY_ENOTFOUND;
	for (;; above = true) {
		for (size_t i = 0; i < N_NAMES; i++) {
			if (!has(dir, names[i], &st))
				continue;
			strcpy(top, above ? dir : ".");
			if (!above)
				return 0;
			return is_in_repository(dir) ? check_owner(top, names[i], &st, err) : ASSAY_ENOTFOUND;
		}
		slash = strrchr(dir, '/');
		if (has(dir, ".git", &st) || !dir[1] || !slash)
			return ASSAY_ENOTFOUND;
		slash[slash == dir] = '\0';
	}
}

/* Read the file of the repository at hand. ASSAY_ENOTFOUND where there is none. Release in either case. */
static int open_conf(struct assay_project_conf *c, char top[PATH_MAX], struct assay_err *err)
{
	int rc = find_top(top, err);

	*c = (struct assay_project_conf){ 0 };
	return rc ? rc : read_conf(c, top, err);
}

int assay_project_profiling(struct assay_profiling_conf *out, struct assay_err *err)
{
	struct assay_project_conf c;
	char top[PATH_MAX];
	int rc = open_conf(&c, top, err);

	*out = rc ? profiling_default : c.profiling;
	assay_project_conf_release(&c);
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

void assay_project_top(char *buf, size_t size)
{
	char top[PATH_MAX];

	snprintf(buf, size, "%s", find_top(top, NULL) ? "" : top);
}

typedef int installed_fn(char *buf, size_t size, struct assay_err *err);

enum folder { BENCH, BASELINES, PLUGINS };

static int folder(enum folder which, installed_fn *installed, char *buf, size_t size, struct assay_err *err)
{
	struct assay_project_conf c;
	char top[PATH_MAX];
	const char *own;
	int rc = open_conf(&c, top, err);

	own = which == BENCH ? c.bench : which == BASELINES ? c.baselines : c.bench ? c.plugins : NULL;
	if (rc == ASSAY_ENOTFOUND || (!rc && !own)) {
		rc = installed(buf, size, err);
	} else if (!rc) {
		join(buf, size, top, own);
		if (!assay_file_exists(buf))
			rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' names the folder '%s', which is not there",
					   c.conf.path, own);
	}
	assay_project_conf_release(&c);
	return rc;
}

int assay_project_bench_dir(char *buf, size_t size, struct assay_err *err)
{
	return folder(BENCH, assay_installed_bench_dir, buf, size, err);
}

int assay_project_baseline_dir(char *buf, size_t size, struct assay_err *err)
{
	return folder(BASELINES, assay_installed_baseline_dir, buf, size, err);
}

int assay_project_plugin_dir(char *buf, size_t size, struct assay_err *err)
{
	return folder(PLUGINS, assay_installed_plugin_dir, buf, size, err);
}

int assay_project_group_dir(char *buf, size_t size, struct assay_err *err)
{
	char bench[ASSAY_INSTALLED_PATH_MAX];
	int rc = assay_project_bench_dir(bench, sizeof(bench), err);

	if (rc)
		return rc;
	snprintf(buf, size, "%.4000s/groups", bench);
	if (assay_file_exists(buf))
		return 0;
	rc = assay_installed_bench_dir(bench, sizeof(bench), err);
	snprintf(buf, size, "%.4000s/groups", bench);
	return rc;
}

int assay_project_plugins(struct assay_strings *out, char *build, size_t size, struct assay_err *err)
{
	char top[PATH_MAX], dir[2 * PATH_MAX];
	struct assay_project_conf c;
	int rc = open_conf(&c, top, err);

	build[0] = '\0';
	if (!rc && c.bench && c.plugins) {
		snprintf(build, size, "%s", c.build);
		join(dir, sizeof(dir), top, c.plugins);
		/* a folder that is not there yet has none */
		rc = assay_installed_list(dir, out, err);
		rc = rc == ASSAY_EIO ? 0 : rc;
	}
	assay_project_conf_release(&c);
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

/* ---- policy file ---- */

int assay_policy_file_load(struct assay_policy *p, const char *named, char *path, struct assay_err *err)
{
	int rc;

	if (named) {
		snprintf(path, ASSAY_POLICY_PATH_MAX, "%s", named);
	} else {
		rc = assay_project_baseline_dir(path, ASSAY_INSTALLED_PATH_MAX, err);
		if (rc)
			return rc;
		strcat(path, "/policy.conf");
	}
	rc = assay_policy_load(p, path, err);
	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no policy '%s': write one, an empty file takes the defaults, or name one with "
				     "--policy",
				     path);
	return assay_user_path_error(rc, err);
}
