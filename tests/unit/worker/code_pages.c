/* SPDX-License-Identifier: Apache-2.0 */
/* Code of a loaded plugin on pages of this process, at the addresses and under the name that it had. */
#include "unit.h"

#include <dlfcn.h>
#include <link.h>

#include "assay/plugin.h"
#include "base/file.h"
#include "worker/case/code_pages.h"

/* Read-only mappings of @path in /proc/self/smaps: their bytes, those on pages of this process, and executable ones. */
struct mapped {
	unsigned long kib, own_kib, executable_kib;
};

static struct mapped look(const char *path)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	struct mapped m = { 0 };
	char line[8192], perms[8] = "";
	bool here = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long kib;

		if (sscanf(line, "%*x-%*x %7s", perms) == 1)
			here = strstr(line, path) && perms[1] != 'w';
		else if (here && sscanf(line, "Size: %lu", &kib) == 1) {
			m.kib += kib;
			m.executable_kib += perms[2] == 'x' ? kib : 0;
		} else if (here && sscanf(line, "Anonymous: %lu", &kib) == 1)
			m.own_kib += kib;
	}
	fclose(f);
	return m;
}

/* As if AddressSanitizer kept the first bytes of pages of @dl free between constants: chance puts them there. */
static void forbid_first_bytes(void *dl)
{
	void (*forbid)(const volatile void *, size_t);
	struct link_map *map = NULL;

	*(void **)&forbid = dlsym(RTLD_DEFAULT, "__asan_poison_memory_region");
	assert_int_equal(0, dlinfo(dl, RTLD_DI_LINKMAP, &map));
	if (forbid)
		forbid((void *)map->l_addr, 8);
}

TEST(code_gets_pages_of_its_own)
{
	char dir[4096], path[8192];
	struct mapped before, after;
	const struct assay_plugin *p;
	const struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .axis = { 1024 } };
	struct assay_problem problem = { .size = sizeof(problem) };
	struct assay_reason why = { "" };
	void *dl;

	assert_int_equal(0, assay_file_exe_dir(dir, sizeof(dir), NULL));
	snprintf(path, sizeof(path), "%s/plugins/example_op.so", dir);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(dl);
	p = dlsym(dl, ASSAY_PLUGIN_SYMBOL);
	assert_non_null(p);
	before = look("example_op.so");
	forbid_first_bytes(dl);
	assay_code_pages_draw(dl);
	after = look("example_op.so");
	assert_true(before.kib && before.executable_kib && after.kib == before.kib);
	assert_int_equal(after.executable_kib, before.executable_kib);
	/* what was relocated and made read-only has pages of its own already */
	assert_true(before.own_kib < before.kib && after.own_kib == after.kib);
	assert_string_equal(p->ops[0].name, "example.scale");
	assert_int_equal(0, p->ops[0].describe(&shape, &problem, &why)); /* it runs */
	assert_true(problem.n_tensors > 0);
	dlclose(dl);
}

UNIT_GROUP(NULL, NULL)
