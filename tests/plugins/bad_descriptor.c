/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that are no plugin of this ABI, each built from this source with PLUGIN_<name> defined. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include <assay/plugin.h>

#if defined(PLUGIN_bad_no_symbol)
/* a shared object that is no plugin at all */
ASSAY_EXPORT extern const int something_else;
ASSAY_EXPORT const int something_else = 1;

#elif defined(PLUGIN_bad_magic)
/* The symbol is there, but what lies behind it is not a descriptor. */
ASSAY_EXPORT extern const uint32_t assay_plugin_v1[8];
ASSAY_EXPORT const uint32_t assay_plugin_v1[8] = { 0xdeadbeef };

#elif defined(PLUGIN_bad_abi_newer) || defined(PLUGIN_bad_abi_older)
/* A plugin of another ABI. Its constructor must never run. */
struct other_plugin {
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint32_t size, reserved;
	const char *something_else;
};

__attribute__((constructor)) static void must_not_run(void)
{
	abort();
}

ASSAY_EXPORT extern const struct other_plugin assay_plugin_v1;
#ifdef PLUGIN_bad_abi_newer
ASSAY_EXPORT const struct other_plugin assay_plugin_v1 = { ASSAY_PLUGIN_MAGIC,          2, 0,
							   sizeof(struct other_plugin), 0, "other" };
#else
ASSAY_EXPORT const struct other_plugin assay_plugin_v1 = { ASSAY_PLUGIN_MAGIC,          0, 9,
							   sizeof(struct other_plugin), 0, "other" };
#endif

#else
#if defined(PLUGIN_bad_null_run)
/* a variant without a run function */
#define NAME "null"
#define RUN  NULL
#else
#define NAME "two"
#define RUN  run
static int run(struct assay_job *job)
{
	return 0;
}
#endif

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = NAME, .help = "the one", .run = RUN },
#ifdef PLUGIN_bad_twice
	/* the same variant again: no case could say which it measures */
	{ .op = "example.scale", .name = NAME, .help = "the other", .run = RUN },
#endif
};

#ifdef PLUGIN_bad_crash
__attribute__((constructor)) static void crash(void)
{
	raise(SIGSEGV);
}
#endif

#ifdef PLUGIN_bad_many
/* claims more variants than any table holds */
#define N_VARIANTS 4000000000u
#else
#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))
#endif
ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-descriptor", .version = "1", .variants = variants, .n_variants = N_VARIANTS,
};
#endif
