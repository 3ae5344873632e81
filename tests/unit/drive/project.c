/* SPDX-License-Identifier: Apache-2.0 */
/* Which repository a command finds around itself, and what it takes from there. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/author/author.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "unit.h"

static char root[] = "/tmp/assay-project-XXXXXX";

#define CONF "build = \"make all\"\nplugins = \"out\"\nbench = \"b\"\nbaselines = \"base/lines\"\n"

static void put(const char *path, const char *text)
{
	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
}

static void folder(const char *path)
{
	assert_int_equal(assay_file_mkdirs(path, NULL), 0);
}

/* A repository with all that its assay.conf names, and the folder `sub`, in which the test is. */
static int fresh(void **state)
{
	assert_int_equal(chdir(root), 0);
	if (system("rm -rf top assay.conf"))
		fail_msg("cannot remove 'top'");
	folder("top/.git");
	folder("top/b");
	folder("top/base/lines");
	folder("top/out");
	folder("top/sub");
	put("top/out/one.so", "");
	put("top/assay.conf", CONF);
	assert_int_equal(chdir("top/sub"), 0);
	return 0;
}

/* The folder of benches is @want below @root; "": it is the program's. */
static void assert_bench(const char *want)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], path[ASSAY_INSTALLED_PATH_MAX];
	struct assay_err err = { 0 };

	if (want[0])
		snprintf(path, sizeof(path), "%s/%s", root, want);
	else
		assert_int_equal(assay_installed_bench_dir(path, sizeof(path), NULL), 0);
	if (assay_project_bench_dir(dir, sizeof(dir), &err))
		fail_msg("%s", err.text);
	assert_string_equal(dir, path);
}

static void refused(const char *want)
{
	char dir[ASSAY_INSTALLED_PATH_MAX];
	struct assay_err err = { 0 };

	assert_int_equal(assay_project_bench_dir(dir, sizeof(dir), &err), ASSAY_EUSAGE);
	if (!strstr(err.text, want))
		fail_msg("want '%s', got '%s'", want, err.text);
}

TEST_WITH(folders_are_the_repositorys, fresh, NULL)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], build[64], path[ASSAY_INSTALLED_PATH_MAX];
	struct assay_strings plugins = { 0 };

	assert_bench("top/b");
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(assay_project_bench_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, "b");
	assert_int_equal(assay_project_baseline_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, "base/lines");
	assert_int_equal(assay_project_plugin_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, "out");
	assert_int_equal(assay_project_plugins(&plugins, build, sizeof(build), NULL), 0);
	assert_int_equal(plugins.n, 1);
	assert_string_equal(plugins.v[0], "out/one.so");
	assert_string_equal(build, "make all");
	assay_strings_release(&plugins);
	/* groups: the program's until there are others */
	assert_int_equal(assay_installed_bench_dir(path, sizeof(path) - 8, NULL), 0);
	strcat(path, "/groups");
	assert_int_equal(assay_project_group_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, path);
	folder("b/groups");
	assert_int_equal(assay_project_group_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, "b/groups");
}

TEST_WITH(what_a_repository_does_not_name_is_the_programs, fresh, NULL)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], build[64], path[ASSAY_INSTALLED_PATH_MAX];
	struct assay_strings plugins = { 0 };

	put("../assay.conf", "build = \"make\"\nplugins = \"out\"\n");
	assert_bench("");
	assert_int_equal(assay_installed_plugin_dir(path, sizeof(path), NULL), 0);
	assert_int_equal(assay_project_plugin_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, path);
	assert_int_equal(assay_project_plugins(&plugins, build, sizeof(build), NULL), 0);
	assert_int_equal(plugins.n, 0);
	assert_string_equal(build, "");
}

TEST_WITH(a_bad_file_is_refused, fresh, NULL)
{
	put("../assay.conf", "build = \"make\"\nplugins = \"out\"\nbench = \"../b\"\n");
	refused("/top/assay.conf:3: bench '../b' must lie inside the checkout");
	put("../assay.conf", "build = \"make\"\nplugins = \"out\"\nbench = \"none\"\n");
	refused("/top/assay.conf' names the folder 'none', which is not there");
	put("../assay.conf", "build = \"make\"\nplugins = \"out\"\nbenches = \"b\"\n");
	refused("did you mean 'bench'?");
	put("../assay.conf", "plugins = \"out\"\n");
	refused("/top/assay.conf' has no build = ");
	put("../assay.conf", "build = \"make\"\n");
	refused("/top/assay.conf' has no plugins = ");
}

/* In a folder that all may write to, anybody may leave a file that names what is run. */
TEST_WITH(a_file_of_another_user_above_is_not_believed, fresh, NULL)
{
	char dir[ASSAY_INSTALLED_PATH_MAX];

	if (chown("../assay.conf", 12345, 12345))
		skip(); /* no root, or in a namespace that has no such user */
	refused("belongs to another user");
	/* a checkout of another user as a whole is what was meant, and so is the folder itself */
	assert_int_equal(chown(".", 12345, 12345), 0);
	assert_bench("top/b");
	assert_int_equal(chown(".", 0, 0), 0);
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(assay_project_bench_dir(dir, sizeof(dir), NULL), 0);
	assert_string_equal(dir, "b");
}

static int set_up(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return chdir("/") || system(command) ? -1 : 0;
}

/* ---- template ---- */

/* Filling in templates: keys, and blocks that stay only where a tag is set. */

static char *tags[] = { (char *)"a.b", (char *)"new" };

TEST(keys_and_blocks)
{
	static const char *const keys[] = { "OP", "EMPTY" };
	static const struct {
		const char *text, *want; /* NULL: a key without a value */
	} cases[] = {
		{ "x @OP@ y\n", "x some.op y\n" },
		{ "@EMPTY@\nx@EMPTY@\n", "x\n" },
		{ "no newline @OP@", "no newline some.op" },
		{ "@only new\nnew\n@end\n@only old\nold\n@end\nall\n", "new\nall\n" },
		{ "@only old a.b\nin\n@end\n@only a\nout\n@end\n", "in\n" },
		/* what is inside of a block that is left out is left out, whatever its own tag */
		{ "@only old\n@only new\nout\n@end\nout\n@end\n@only new\n@only old\nout\n@end\nin\n@end\n", "in\n" },
		/* a key that is not there matters only where it stays */
		{ "@only old\n@NONE@\n@end\n", "" },
		{ "@NONE@\n", NULL },
		{ "a@b\n", NULL },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_text values[2] = { 0 }, out = { 0 };
		struct assay_template_values v = { .keys = keys, .values = values, .n = 2, .tags = { tags, 2 } };
		struct assay_err err = { 0 };

		assay_text_add(&values[0], "some.op");
		assert_int_equal(cases[i].want ? 0 : ASSAY_EINTERNAL,
				 assay_template_fill(cases[i].text, &v, &out, &err));
		if (cases[i].want)
			assert_string_equal(cases[i].want, out.s ? out.s : "");
		assay_text_release(&values[0]);
		assay_text_release(&out);
	}
}

UNIT_GROUP(set_up, tear_down)
