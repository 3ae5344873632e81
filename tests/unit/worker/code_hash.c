/* SPDX-License-Identifier: Apache-2.0 */
/* One shared object, built over and over with one thing changed: which changes does the digest of a function see? */

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
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

UNIT_GROUP(NULL, NULL)
