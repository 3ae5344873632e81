/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins of bench/peers: which libraries do they take for ggml and ik_llama.cpp? */
#include "mini_host.h"

static const struct assay_plugin *peers(const char *plugin, char *standin, size_t size)
{
	char folder[3800], path[4096];
	void *dl;

	mini_plugin_folder(folder, sizeof(folder));
	snprintf(standin, size, "%s/../tests/plugins/ggml_standin.so", folder);
	snprintf(path, sizeof(path), "%s/../peers/%s", folder, plugin);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!dl)
		fail_msg("cannot load '%s': %s", path, dlerror());
	return dlsym(dl, ASSAY_PLUGIN_SYMBOL);
}

TEST(test_peers_refuse)
{
	static const struct {
		const char *file, *version, *refused; /* file NULL: the stand-in; refused NULL: it is taken */
	} cases[] = {
		{ "", "0.9.4 8", "ASSAY_GGML is not set" },
		{ "/nowhere.so", "0.9.4 8", "/nowhere.so: cannot open shared object file" },
		{ "libm.so.6", "0.9.4 8", "libm.so.6 lacks a function of ggml-cpu.h" },
		{ NULL, "1.0.0 8", "is ggml 1.0.0 8, expected version 0" },
		{ NULL, "0.9.4 2", "has another table of types" },
		{ NULL, "0.9.4 8", NULL },
	};
	char standin[4096];
	const struct assay_plugin *p = peers("ggml.so", standin, sizeof(standin));
	const struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .axis = { 1, 32, 1 } };

	assert_string_equal(p->variants[0].op, "matmul.q8_0");
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_reason why = { "" };

		setenv("ASSAY_GGML", cases[i].file ? cases[i].file : standin, 1);
		setenv("STANDIN_GGML", cases[i].version, 1);
		assert_int_equal(p->variants[0].supports(&shape, &why), cases[i].refused ? -1 : 0);
		if (cases[i].refused && !strstr(why.text, cases[i].refused))
			fail_msg("'%s' is not about '%s'", why.text, cases[i].refused);
	}
	unsetenv("ASSAY_GGML");
	unsetenv("STANDIN_GGML");
}

TEST(test_ternary_peers_refuse)
{
	static const struct {
		int64_t m, k;
		const char *file, *refused;
	} cases[] = {
		{ 32, 256, "", "no library: name the library in ASSAY_" },
		{ 32, 256, "/nowhere.so", "/nowhere.so: cannot open shared object file" },
		{ 32, 256, "libm.so.6", "libm.so.6 lacks ggml_type_name()" },
		{ 24, 256, "", "m must be a multiple of 16, and k of 256" },
		{ 32, 384, "", "m must be a multiple of 16, and k of 256" },
	};
	static const char *const variables[] = { "ASSAY_GGML", "ASSAY_IK_GGML" };
	char standin[4096];
	const struct assay_plugin *p = peers("ternary.so", standin, sizeof(standin));

	assert_int_equal(p->n_variants, N_OF(variables));
	for (size_t i = 0; i < N_OF(cases) * N_OF(variables); i++) {
		const size_t at = i / N_OF(variables), v = i % N_OF(variables);
		const struct assay_shape shape = { .size = sizeof(shape),
						   .n_threads = 1,
						   .axis = { cases[at].m, cases[at].k, 1 } };
		struct assay_reason why = { "" };

		setenv(variables[v], cases[at].file, 1);
		assert_int_equal(p->variants[v].supports(&shape, &why), -1);
		if (!strstr(why.text, cases[at].refused))
			fail_msg("'%s' is not about '%s'", why.text, cases[at].refused);
		unsetenv(variables[v]);
	}
}

UNIT_GROUP(NULL, NULL)
