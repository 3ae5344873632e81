/* SPDX-License-Identifier: Apache-2.0 */
/* Features and identity from recorded /proc/cpuinfo files, and sanity on this machine. */
#include "assay/isa_table.h"
#include "host_fixture.h"

#include "machine/cpu_features.h"
#include "machine/host_facts.h"

static void load_host(struct assay_cpu_features *f, const char *root)
{
	char *text = assay_host_text(root, "/proc/cpuinfo");

	assert_non_null(text);
	assay_cpu_features_load(f, text);
	free(text);
}

static const struct {
	const char *root, *needs;
	const char *missing; /* NULL: all there */
} needs[] = {
	{ "intel-v2", NULL, NULL },         { "intel-v2", "", NULL },
	{ "intel-v2", "fpu", NULL },        { "intel-v2", "avx2", NULL },
	{ "intel-v2", "avx2,fma", NULL },   { "intel-v2", "avx2, fma , f16c", NULL },
	{ "intel-v2", "amx_int8", NULL },   { "intel-v2", "avx2,avx512_vp2intersect,sve", "avx512_vp2intersect" },
	{ "intel-v2", "avx512", "avx512" }, /* no flag is found by its beginning */
	{ "intel-v2", "nni", "nni" },       { "docker-v1", "asimd,asimddp", NULL },
	{ "docker-v1", "sve,bf16", NULL },  { "docker-v1", "sve2", "sve2" },
	{ "docker-v1", "avx2", "avx2" },
};

TEST(test_needs)
{
	for (size_t i = 0; i < N_OF(needs); i++) {
		struct assay_cpu_features f;
		char missing[64] = "?";
		bool ok;

		load_host(&f, host(needs[i].root));
		ok = assay_cpu_features_has_all(&f, needs[i].needs, missing, sizeof(missing));
		if (ok != !needs[i].missing || strcmp(missing, needs[i].missing ? needs[i].missing : ""))
			fail_msg("row %zu: %d, missing '%s'", i, ok, missing);
	}
}

TEST(test_missing_is_cut_to_size)
{
	struct assay_cpu_features f = { 0 };
	char missing[4];

	assert_false(assay_cpu_features_has_all(&f, "avx512_vnni", missing, sizeof(missing)));
	assert_string_equal(missing, "avx");
	assert_false(assay_cpu_features_has_all(&f, "avx2", NULL, 0));
	assert_true(assay_cpu_features_has_all(&f, NULL, NULL, 0));
}

TEST(test_identity)
{
	struct assay_cpu_features f;
	char list[512];

	load_host(&f, host("intel-v2"));
	assert_string_equal(f.model, "Intel(R) Xeon(R) Platinum 8480+");
	assert_string_equal(f.stepping, "family 6 model 143 stepping 8");
	assert_string_equal(f.microcode, "0x2b000590");
	assay_cpu_features_list(&f, list, sizeof(list));
	assert_string_equal(
		list, "sse4_2,avx,f16c,fma,avx2,avx_vnni,avx512f,avx512bw,avx512dq,avx512vl,avx512_vnni,avx512_bf16,"
		      "avx512_fp16,avx512vbmi,avx512_vpopcntdq,amx_tile,amx_int8,amx_bf16");

	load_host(&f, host("docker-v1"));
	assert_string_equal(f.model, "Arm Neoverse V1");
	assert_string_equal(f.stepping, "variant 0x1 revision 1");
	assert_string_equal(f.microcode, "");
	assay_cpu_features_list(&f, list, sizeof(list));
	assert_string_equal(list, "asimd,asimdhp,asimddp,i8mm,bf16,sve");

	assay_cpu_features_load(&f, "");
	assert_string_equal(f.model, "");
	assert_false(assay_cpu_features_has(&f, "sse2"));
}

TEST(test_drop)
{
	struct assay_cpu_features f;

	assay_cpu_features_load(&f, "flags\t: avx avx2 avx512f\n");
	assay_cpu_features_drop(&f, "avx2");
	assert_string_equal(f.flags, " avx avx512f ");
	assay_cpu_features_drop(&f, "avx2");
	assay_cpu_features_drop(&f, "avx512f");
	assay_cpu_features_drop(&f, "avx");
	assert_string_equal(f.flags, " ");
	assert_false(assay_cpu_features_has(&f, "avx"));
	assert_false(assay_cpu_features_has(&f, ""));
}

TEST(test_isa)
{
	static const struct {
		const char *isa, *needs, *beyond; /* NULL: all within */
	} rows[] = {
		{ "baseline", NULL, NULL },
		{ "baseline", "avx2,fma", "avx2" },
		{ "avx2", "avx2,fma,f16c", NULL },
		{ "avx2", "avx2,avx_vnni", "avx_vnni" },
		{ "avxvnni", "avx2,fma,f16c,avx_vnni", NULL },
		{ "avxvnni", "avx512f", "avx512f" },
		{ "avx512", "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c", NULL },
		{ "avx512", "avx512f,avx512_vnni", "avx512_vnni" },
		{ "avx512", "avx512f,avx512cd,avx512_vbmi2", "avx512_vbmi2" },
		{ "avx512vbmi2", "avx512f,avx2,avx512_vbmi2", NULL },
		{ "avx512vbmi2", "avx512_vnni", "avx512_vnni" },
		{ "avx512vnni", "avx512f,avx512_vnni,avx_vnni,avx2", NULL },
		{ "avx512vnni", "avx512vbmi,avx512_vbmi2,gfni,sse4_2", NULL },
		{ "neon", "asimd,asimddp", "asimddp" },
		{ "dotprod", "asimd,asimddp", NULL },
	};
	struct assay_err err = { 0 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		char beyond[32] = "";

		assert_int_equal(assay_isa_holds(rows[i].isa, rows[i].needs, beyond, sizeof(beyond)), !rows[i].beyond);
		assert_string_equal(beyond, rows[i].beyond ? rows[i].beyond : "");
	}
	assert_null(assay_isa_arch(NULL));
	assert_null(assay_isa_arch(""));
	assert_null(assay_isa_arch("gpu,avx2"));
	assert_null(assay_isa_arch("avx9"));
	assert_string_equal(assay_isa_arch("f16c"), "x86_64");
	assert_string_equal(assay_isa_arch("avx512_vnni,novel"), "x86_64");
	assert_string_equal(assay_isa_arch("asimd,asimddp"), "aarch64");
	assert_string_equal(assay_isa_arch("asimddp"), "aarch64");
	assert_int_equal(assay_isa_vector_bits("baseline"), 128);
	assert_int_equal(assay_isa_vector_bits("avxvnni"), 256);
	assert_int_equal(assay_isa_vector_bits("avx512"), 512);
	assert_int_equal(assay_isa_check("avx512vnni", "--isa", &err), 0);
	assert_int_equal(assay_isa_check("", "--isa", &err), ASSAY_EUSAGE);
}

/* The features that a file may use are within the set that it is named after. */
TEST(test_isa_needs)
{
#define ROW(name, arch, bits, flags, needs, also) { #name, ASSAY_NEEDS(name) },
	const struct {
		const char *isa, *needs;
	} sets[] = { ASSAY_ISA_SETS(ROW) };

	for (size_t i = 0; i < N_OF(sets); i++)
		assert_true(assay_isa_holds(sets[i].isa, sets[i].needs, NULL, 0));
	assert_string_equal(ASSAY_NEEDS(baseline), "");
	assert_string_equal(ASSAY_NEEDS(avx2), "avx2,fma,f16c");
	assert_string_equal(ASSAY_NEEDS(avx512vbmi2),
			    "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,avx512vbmi,avx512_vbmi2");
}

UNIT_GROUP(hosts_make, folder_remove)
