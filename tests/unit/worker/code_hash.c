/* SPDX-License-Identifier: Apache-2.0 */
/* One shared object, built over and over with one thing changed: which changes does the digest of a function see? */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include "assay/plugin.h"
#include "base/file.h"
#include "unit.h"
#include "worker/case/memory.h"
#include "worker/plugin/code_hash.h"

static int hash_of(const char *name, struct assay_digest *d, struct assay_err *err)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];
	void *dl;
	int rc;

	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/%s.so", exe, name);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!dl)
		fail_msg("%s", dlerror());
	rc = assay_code_hash(path, dl,
			     (const void *const[ASSAY_CODE_ENTRIES]){ dlsym(dl, "probe_run"), NULL,
								      dlsym(dl, "probe_release"), NULL },
			     d, err);
	dlclose(dl);
	return rc;
}

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "base", "base", true },
	{ "base", "unrelated", true },
	{ "base", "renamed", true },
	{ "base", "callee", false },
	{ "base", "constant", false },
	{ "base", "table", false },
	{ "base", "pointer", false },
	{ "base", "pointed", false },
	{ "base", "jumps", false },
	{ "base", "data", false },
	{ "base", "string", false },
	{ "base", "import", false },
	{ "base", "constructor", false },
	/* without sections of their own for functions, calls within a file leave no trace: all of it must count */
	{ "coarse-base", "coarse-callee", false },
	{ "coarse-base", "coarse-pointed", false },
	{ "coarse-base", "coarse-unrelated", false },
	{ "coarse-base", "coarse-renamed", true },
};

TEST(test_sees_what_is_reached)
{
	for (size_t i = 0; i < N_OF(pairs); i++) {
		struct assay_digest a = { "" }, b = { "" };
		struct assay_err err = { 0 };

		if (hash_of(pairs[i].a, &a, &err) || hash_of(pairs[i].b, &b, &err))
			fail_msg("%s, %s: %s", pairs[i].a, pairs[i].b, err.text);
		assert_int_equal(strlen(a.hex), ASSAY_DIGEST_LEN);
		if (!strcmp(a.hex, b.hex) != pairs[i].same)
			fail_msg("%s and %s: %s %s", pairs[i].a, pairs[i].b, a.hex, b.hex);
	}
}

TEST(test_entries_have_places)
{
	struct assay_digest as_run = { "" }, as_prepare = { "" };
	char exe[PATH_MAX], path[PATH_MAX + 64];
	const void *run;
	void *dl;

	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/base.so", exe);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(dl);
	run = dlsym(dl, "probe_run");
	assert_int_equal(assay_code_hash(path, dl, (const void *const[ASSAY_CODE_ENTRIES]){ run }, &as_run, NULL), 0);
	assert_int_equal(
		assay_code_hash(path, dl, (const void *const[ASSAY_CODE_ENTRIES]){ NULL, run }, &as_prepare, NULL), 0);
	assert_string_not_equal(as_run.hex, as_prepare.hex);
	dlclose(dl);
}

TEST(test_says_when_it_cannot_tell)
{
	struct assay_digest d = { "" };
	struct assay_err err = { 0 };
	char exe[PATH_MAX], path[PATH_MAX + 64];
	void *dl;

	assert_int_equal(hash_of("stripped", &d, &err), ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "stripped.so' apart: it was not linked with --emit-relocs, or was stripped"));
	assert_int_equal(hash_of("bare", &d, &err), ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "--emit-relocs"));
	assert_string_equal(d.hex, "");

	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/base.so", exe);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(dl);
	assert_int_equal(
		assay_code_hash(path, dl, (const void *const[ASSAY_CODE_ENTRIES]){ dlsym(dl, "snprintf") }, &d, &err),
		ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "in another file"));
	dlclose(dl);
}

/* Bytes of the file turned over one by one may change the answer, but never end in a read outside the file. */
TEST(test_survives_damage)
{
	char exe[PATH_MAX], path[PATH_MAX + 64], copy[] = "/tmp/assay-code-XXXXXX";
	int fd = mkstemp(copy);
	const void *run;
	char *data;
	size_t len;
	void *dl;

	assert_true(fd >= 0);
	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/base.so", exe);
	assert_int_equal(assay_file_read(path, &data, &len, NULL), 0);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(dl);
	run = dlsym(dl, "probe_run");
	for (size_t at = 0; at < len; at += at < 64 || at > len - 6000 ? 3 : 211) {
		struct assay_digest d;

		data[at] ^= (char)0xff;
		assert_int_equal(pwrite(fd, data, len, 0), (ssize_t)len);
		assay_code_hash(copy, dl, (const void *const[ASSAY_CODE_ENTRIES]){ run }, &d, NULL);
		data[at] ^= (char)0xff;
	}
	free(data);
	dlclose(dl);
	close(fd);
	unlink(copy);
}

/* ---- code pages ---- */

/* Code of a loaded plugin on pages of this process, at the addresses and under the name that it had. */

/* Read-only mappings of @path in /proc/self/smaps: their bytes, those on pages of this process, and executable ones. */
struct mapped {
	unsigned long kib, own_kib, executable_kib;
};

/* ---- function code ---- */

/* One shared object, built over and over with one thing changed: which functions' digests see it? */

static const char *const functions[] = { "callee", "step_one",  "step_two",     "step_three",
					 "choose", "probe_run", "probe_release" };

static int read_codes(const char *name, struct assay_function_codes *c, struct assay_err *err)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];

	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/%s.so", exe, name);
	return assay_function_codes_read(c, path, err);
}

TEST(only_what_changed_differs)
{
	static const struct {
		const char *name;
		const char *differ[4];
	} rows[] = {
		{ "base", { NULL } },           { "unrelated", { NULL } }, /* everything lies elsewhere */
		{ "callee", { "callee" } },     { "constant", { "callee" } },  { "table", { "probe_run" } },
		{ "pointer", { "probe_run" } }, { "pointed", { "step_two" } }, { "jumps", { "choose" } },
		{ "data", { "probe_run" } },    { "string", { "probe_run" } }, { "import", { "probe_run" } },
	};
	struct assay_function_codes base;

	assert_int_equal(read_codes("base", &base, NULL), 0);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_function_codes other;

		assert_int_equal(read_codes(rows[i].name, &other, NULL), 0);
		for (size_t f = 0; f < N_OF(functions); f++) {
			const uint64_t a = assay_function_codes_find(&base, functions[f]);
			const uint64_t b = assay_function_codes_find(&other, functions[f]);
			bool differs = false;

			for (size_t k = 0; k < N_OF(rows[i].differ) && rows[i].differ[k]; k++)
				differs |= !strcmp(rows[i].differ[k], functions[f]);
			assert_true(a && b);
			if ((a != b) != differs)
				fail_msg("%s of '%s' %s", functions[f], rows[i].name,
					 differs ? "is the same" : "differs");
		}
		assay_function_codes_release(&other);
	}
	assert_int_equal(assay_function_codes_find(&base, "none"), 0);
	assert_true(assay_function_codes_find(&base, "callee.constprop.0") ==
		    assay_function_codes_find(&base, "callee"));
	assay_function_codes_release(&base);
}

/* Without relocations nothing that changed passes for the same. */
TEST(a_file_without_relocations)
{
	struct assay_function_codes bare, again;

	assert_int_equal(read_codes("bare", &bare, NULL), 0);
	assert_int_equal(read_codes("bare", &again, NULL), 0);
	for (size_t f = 0; f < N_OF(functions); f++) {
		assert_true(assay_function_codes_find(&bare, functions[f]) != 0);
		assert_true(assay_function_codes_find(&bare, functions[f]) ==
			    assay_function_codes_find(&again, functions[f]));
	}
	assay_function_codes_release(&bare);
	assay_function_codes_release(&again);
}

TEST(a_file_without_symbols)
{
	struct assay_function_codes c;
	struct assay_err err = { 0 };

	assert_int_equal(read_codes("stripped", &c, &err), ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "has no symbols"));
	assay_function_codes_release(&c);
	assert_true(read_codes("none", &c, &err) < 0);
	assay_function_codes_release(&c);
}

UNIT_GROUP(NULL, NULL)
