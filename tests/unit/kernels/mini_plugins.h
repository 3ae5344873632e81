/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built plugins, their ops and variants, for unit tests without the harness. They are looked for in
 * $ASSAY_TEST_PLUGINS, else in ../plugins beside the test program.
 */
#ifndef ASSAY_TESTS_MINI_PLUGINS_H
#define ASSAY_TESTS_MINI_PLUGINS_H

#include "unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

#include "assay/plugin.h"

#if defined(TEST_EMULATED)
#include <sys/auxv.h>

#include "assay/isa_table.h"
#else
#include "machine/cpu_features.h"
#endif

#define MINI_MAX_PLUGINS  32
#define MINI_MAX_VARIANTS 64

static inline void mini_plugin_folder(char *path, size_t size)
{
	const char *env = getenv("ASSAY_TEST_PLUGINS");
	ssize_t len;
	char *slash;

	if (env && *env) {
		snprintf(path, size, "%s", env);
		return;
	}
	len = readlink("/proc/self/exe", path, size - 1);
	assert_true(len > 0);
	path[len] = '\0';
	slash = strrchr(path, '/');
	assert_non_null(slash);
	snprintf(slash, size - (size_t)(slash - path), "/../plugins");
}

struct mini_plugins {
	const struct assay_plugin *v[MINI_MAX_PLUGINS];
	size_t n;
};

static inline int mini_is_plugin(const struct dirent *e)
{
	const char *end = strrchr(e->d_name, '.');

	return end && !strcmp(end, ".so");
}

/* The descriptors of all plugins in the folder by the names of their files, loaded once and kept. */
static inline const struct mini_plugins *mini_plugins(void)
{
	static struct mini_plugins p;
	char folder[3800], path[4096];
	struct dirent **files;
	int n;

	if (p.n)
		return &p;
	mini_plugin_folder(folder, sizeof(folder));
	n = scandir(folder, &files, mini_is_plugin, alphasort);
	if (n <= 0)
		fail_msg("no plugins in '%s'", folder);
	for (int i = 0; i < n; i++) {
		void *dl;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
		free(files[i]);
		dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!dl)
			fail_msg("cannot load '%s': %s", path, dlerror());
		assert_true(p.n < MINI_MAX_PLUGINS);
		p.v[p.n] = dlsym(dl, ASSAY_PLUGIN_SYMBOL);
		assert_non_null(p.v[p.n]);
		p.n++;
	}
	free(files);
	return &p;
}

/* NULL where there is none. */
static inline const struct assay_op *mini_op(const char *name)
{
	const struct mini_plugins *all = mini_plugins();

	for (size_t k = 0; k < all->n; k++)
		for (uint32_t i = 0; i < all->v[k]->n_ops; i++)
			if (!strcmp(all->v[k]->ops[i].name, name))
				return &all->v[k]->ops[i];
	return NULL;
}

/* Likewise. */
static inline const struct assay_variant *mini_variant(const char *op, const char *name)
{
	const struct mini_plugins *all = mini_plugins();

	for (size_t k = 0; k < all->n; k++)
		for (uint32_t i = 0; i < all->v[k]->n_variants; i++)
			if (!strcmp(all->v[k]->variants[i].op, op) && !strcmp(all->v[k]->variants[i].name, name))
				return &all->v[k]->variants[i];
	return NULL;
}

struct mini_names {
	const char *v[MINI_MAX_VARIANTS];
	size_t n;
};

/* All names that a variant of any op has, each once, in the order of the plugins. */
static inline const struct mini_names *mini_variant_names(void)
{
	const struct mini_plugins *all = mini_plugins();
	static struct mini_names names;

	if (names.n)
		return &names;
	for (size_t k = 0; k < all->n; k++)
		for (uint32_t i = 0; i < all->v[k]->n_variants; i++) {
			const char *name = all->v[k]->variants[i].name;
			size_t at = 0;

			while (at < names.n && strcmp(names.v[at], name))
				at++;
			assert_true(at < MINI_MAX_VARIANTS);
			names.v[at] = name;
			names.n += at == names.n;
		}
	return &names;
}

/* Has this CPU all features of a `needs` list? Under emulation there is no harness, and /proc/cpuinfo is the host's. */
static inline bool mini_cpu_has(const char *needs)
{
#if defined(TEST_EMULATED)
	return !needs || !*needs || !strcmp(needs, ASSAY_NEEDS(neon)) ||
	       (!strcmp(needs, ASSAY_NEEDS(dotprod)) && getauxval(AT_HWCAP) & HWCAP_ASIMDDP);
#else
	struct assay_cpu_features cpu;

	assay_cpu_features_load(&cpu, NULL);
	return assay_cpu_features_has_all(&cpu, needs, NULL, 0);
#endif
}

/* Variants of devices run where ASSAY_TEST_PLUGINS has them emulated, which ASSAY_TEST_EMULATED says. */
static inline bool mini_has_device(const struct assay_variant *v)
{
	return v->device_kind == ASSAY_DEVICE_CPU || getenv("ASSAY_TEST_EMULATED");
}

/* Whether there is such a variant, and this machine can run it. */
static inline bool mini_can_run(const char *op, const char *variant)
{
	const struct assay_variant *v = mini_variant(op, variant);
	struct assay_reason why;
	const struct assay_host_info info = { .size = sizeof(info), .n_cores = 1 };
	const struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .host = &info };

	return v && mini_has_device(v) && mini_cpu_has(v->needs) && !(v->supports && v->supports(&shape, &why));
}

#endif
