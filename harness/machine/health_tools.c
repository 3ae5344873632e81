/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the programs and libraries of optional parts by their files; loads and runs none of them. */
#include "machine/health.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/host_files.h"
#include "machine/host_gpu.h"

static bool find_program(const char *name, const char *extra_dir, char *out, size_t size)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");

		snprintf(out, size, "%.*s/%s", (int)len, p, name);
		if (len && !access(out, X_OK))
			return true;
		p += len + (p[len] == ':');
	}
	snprintf(out, size, "%s/%s", extra_dir ? extra_dir : "", name);
	return extra_dir && !access(out, X_OK);
}

/* Where the loaders of the usual distributions look, LD_LIBRARY_PATH first. */
static bool find_library(const char *root, const char *name, char *out, size_t size)
{
	static const char *const dirs[] = {
#if defined(__x86_64__)
		"/usr/lib/x86_64-linux-gnu",
		"/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"/usr/lib/aarch64-linux-gnu",
		"/lib/aarch64-linux-gnu",
#endif
		"/usr/lib64",
		"/usr/lib",
		"/lib64",
		"/lib",
		"/usr/local/lib",
		"/usr/local/lib64",
		"/usr/lib/wsl/lib",
	};
	const char *env = getenv("LD_LIBRARY_PATH");

	while (env && *env) {
		size_t len = strcspn(env, ":");

		snprintf(out, size, "%.*s/%s", (int)len, env, name);
		if (len && assay_host_exists(root, out))
			return true;
		env += len + (env[len] == ':');
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(out, size, "%s/%s", dirs[i], name);
		if (assay_host_exists(root, out))
			return true;
	}
	return false;
}

static const struct {
	const char *name, *file, *extra_dir;
	bool library;
	const char *without; /* what is lost */
	const char *advice;
} tools[] = {
	{ "gnuplot", "gnuplot", NULL, false, "no plots", "install gnuplot-nox" },
	{ "openblas", "libopenblas.so.0", NULL, true, "no `openblas` variants",
	  "install libopenblas-dev (to build them) or libopenblas0-pthread (to run them)" },
	{ "nvcc", "nvcc", "/usr/local/cuda/bin", false, "CUDA variants are not built",
	  "install NVIDIA's CUDA Toolkit (cuda-toolkit) and put nvcc into PATH" },
};

static void add_gpu(struct assay_findings *l, const char *root)
{
	char models[160], driver[64], path[PATH_MAX], value[256];

	assay_gpu_models(root, models, sizeof(models));
	assay_gpu_driver(root, driver, sizeof(driver));
	if (!strcmp(models, "none") && !strcmp(driver, "none")) {
		assay_findings_add(l, "gpu", ASSAY_HEALTH_MISSING,
				   "no NVIDIA GPU or no driver: CUDA variants cannot run", "");
		return;
	}
	snprintf(value, sizeof(value), "%s, driver %s", models, driver);
	if (find_library(root, "libcuda.so.1", path, sizeof(path)))
		assay_findings_add(l, "gpu", ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(
			l, "gpu", ASSAY_HEALTH_WARN, value,
			"libcuda.so.1 is missing: install libcuda1, or start the container with its GPUs (--gpus all)");
}

void assay_findings_add_tools(struct assay_findings *l, const char *root)
{
	char path[PATH_MAX], value[256];

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		bool found = tools[i].library ? find_library(root, tools[i].file, path, sizeof(path))
					      : find_program(tools[i].file, tools[i].extra_dir, path, sizeof(path));

		if (found) {
			snprintf(value, sizeof(value), "%.250s", path);
			assay_findings_add(l, tools[i].name, ASSAY_HEALTH_GOOD, value, "");
			continue;
		}
		snprintf(value, sizeof(value), "not found: %s", tools[i].without);
		assay_findings_add(l, tools[i].name, ASSAY_HEALTH_MISSING, value, tools[i].advice);
	}
	add_gpu(l, root);
}
