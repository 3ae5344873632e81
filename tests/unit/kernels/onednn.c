/* SPDX-License-Identifier: Apache-2.0 */
/* The variant by oneDNN with a stand-in for the library, which is found by its name once it is loaded. */
#include "matmul_fixture.h"

#include "../../plugins/onednn_standin.h"

static struct onednn_standin *standin(void)
{
	static struct onednn_standin *found;
	char folder[3800], path[4096];
	void *dl;

	if (found)
		return found;
	/* a real one that another test has loaded would be found in its place */
	if (dlopen("libdnnl.so.3", RTLD_NOW | RTLD_NOLOAD))
		skip();
	mini_plugin_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/../tests/plugins/onednn_standin.so", folder);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!dl)
		fail_msg("cannot load '%s': %s", path, dlerror());
	found = dlsym(dl, "onednn_standin");
	assert_non_null(found);
	return found;
}

TEST(test_onednn_versions)
{
	static const struct {
		int major;
		unsigned runtime;
		const char *refused; /* NULL: it is not */
	} cases[] = {
		{ 1, 2, "is oneDNN 1.6.2, expected version 2 or 3" },
		{ 4, 2, "is oneDNN 4.6.2, expected version 2 or 3" },
		{ 3, 4, "libdnnl.so starts threads of its own, expected a build with OpenMP or without any" },
		{ 2, 1, NULL },
		{ 2, 2, NULL },
		{ 3, 2, NULL },
	};
	const struct assay_variant *v = mini_variant("matmul.f32", "onednn");
	struct onednn_standin *s = standin();
	struct assay_host_info host = { .size = sizeof(host), .n_cores = 1 };
	const struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .host = &host };

	assert_non_null(v);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_reason why = { "" };

		s->version.major = cases[i].major;
		s->version.cpu_runtime = cases[i].runtime;
		assert_int_equal(v->supports(&shape, &why), cases[i].refused ? -1 : 0);
		if (cases[i].refused && !strstr(why.text, cases[i].refused))
			fail_msg("'%s' is not about '%s'", why.text, cases[i].refused);
	}
	host.vector_bits = 256;
	assert_int_equal(v->supports(&shape, &(struct assay_reason){ "" }), 0);
	assert_int_equal(s->isa, 0x7);
	host.vector_bits = 128;
	assert_int_equal(v->supports(&shape, &(struct assay_reason){ "" }), 0);
	assert_int_equal(s->isa, 0x1);
}

/* Each thread asks for its own rows, computed by itself alone. */
TEST(test_onednn_rows)
{
	static const uint32_t threads[] = { 1, 3 };
	struct onednn_standin *s = standin();

	for (size_t i = 0; i < N_OF(threads); i++) {
		struct mini_case *c = new_case("matmul.f32", "onednn", 70, 300, 5, threads[i]);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		s->fails = 1;
		assert_int_equal(mini_try_run(c), -1);
		assert_string_equal(c->reason.text, "dnnl_sgemm() fails");
		s->fails = 0;
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
