/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The repository around the current folder, as its `assay.conf` describes it: how a revision is built, and which
 * benches, manifests and policy are its own. If it names none, those of the program are used.
 */
#ifndef ASSAY_DRIVE_PROJECT_H
#define ASSAY_DRIVE_PROJECT_H

#include <stddef.h>

#include "base/conf.h"
#include "base/text.h"
#include "drive/installed.h"
#include "judge/policy.h"

/*
 * How profiles are taken and kept, and which load is noted. The sections of assay.conf, of which each key may be left
 * out; these are the defaults:
 *     cpu        { rate = "997" duration = "5s" }    # samples a second, and for how long a case is sampled
 *     memory     { sample = "1B" duration = "5s" }   # about one allocation in so many bytes is seen; 1B: each
 *     gpu        { duration = "5s" }
 *     flamegraph { rate = "997" duration = "5s" }    # of a flame graph that the server is asked for
 *     bottleneck { cpu = "90%" memory = "95%" }      # above it the load of the machine is noted beside a case
 *     storage    { profiles = "1000" days = "30" }   # which the server lets stay of each name: what either keeps
 */
struct assay_profiling_conf {
	uint64_t cpu_rate_hz, cpu_for_ns;
	uint64_t memory_sample_bytes, memory_for_ns;
	uint64_t gpu_for_ns;
	uint64_t flamegraph_rate_hz, flamegraph_for_ns;
	double busy_frac, full_frac;
	uint64_t keep_profiles, keep_days;
};

/* `assay.conf`, `.assay.conf` or `ci/assay.conf` at the top of a working tree. Strings live as long as it does. */
struct assay_project_conf {
	struct assay_conf conf;
	const char *build;     /* a command for sh at the top */
	const char *plugins;   /* the folder that it then has *.so in; NULL: it has programs alone */
	const char *bench;     /* folder of bench files; NULL: that of the program */
	const char *baselines; /* folder of manifests and the policy; NULL: that of the program */
	struct assay_profiling_conf profiling;
};

/*
 * Read the file of @top. ASSAY_ENOTFOUND where there is none; ASSAY_EUSAGE for a bad one: all folders lie inside the
 * checkout. Release in either case.
 */
int assay_project_conf_read(struct assay_project_conf *c, const char *top, struct assay_err *err);
void assay_project_conf_release(struct assay_project_conf *c);

/*
 * Profiling settings of the assay.conf that is used here, or the defaults. It may have these sections alone, and then
 * describes no repository. ASSAY_EUSAGE for one that cannot be used; then *out has the defaults.
 */
int assay_project_profiling(struct assay_profiling_conf *out, struct assay_err *err);

/* The folder of the assay.conf that is used here; "" where there is none. */
void assay_project_top(char *buf, size_t size);
/*
 * The folders for this command: the repository's own, or else those beside the program. The repository is looked for
 * from the current folder up to the one that holds .git. ASSAY_EUSAGE for an assay.conf that cannot be used,
 * ASSAY_ENOTFOUND if the program has none either. @size is at least ASSAY_INSTALLED_PATH_MAX.
 */
int assay_project_bench_dir(char *buf, size_t size, struct assay_err *err);
int assay_project_baseline_dir(char *buf, size_t size, struct assay_err *err);
/* The folder with the plugins of a repository that has benches of its own, else with those of the program. */
int assay_project_plugin_dir(char *buf, size_t size, struct assay_err *err);
/* The folder of counter groups: as above, and that of the program also where the repository's benches have none. */
int assay_project_group_dir(char *buf, size_t size, struct assay_err *err);
/*
 * Append the plugins of a repository that has benches of its own; none otherwise. @build (@size bytes) gets the command
 * that makes them, or "".
 */
int assay_project_plugins(struct assay_strings *out, char *build, size_t size, struct assay_err *err);

/* ---- policy file ---- */

/* Which policy a gate or a comparison uses. */

#define ASSAY_POLICY_PATH_MAX (ASSAY_INSTALLED_PATH_MAX + 16)

/*
 * Load the policy @named, or for NULL the one in the folder of baselines. @path[ASSAY_POLICY_PATH_MAX] gets its path.
 * ASSAY_EUSAGE if there is none or it cannot be read: judging by the defaults instead would check no limit.
 */
int assay_policy_file_load(struct assay_policy *p, const char *named, char *path, struct assay_err *err);

#endif
