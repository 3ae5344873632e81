/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, writing by replacement, folders, and the place of the program. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
#include "folder_fixture.h"

static size_t entries(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

TEST(writes_and_reads)
{
	struct assay_err err = { 0 };
	size_t len, big = 300000;
	char *data = malloc(big), *got;
	struct stat st;
	mode_t mask = umask(0022);

	for (size_t i = 0; i < big; i++)
		data[i] = (char)(i * 7 + (i >> 8));
	assert_int_equal(assay_file_write(in_folder("a"), data, big, &err), 0);
	assert_int_equal(assay_file_read(in_folder("a"), &got, &len, &err), 0);
	assert_int_equal(len, big);
	assert_memory_equal(got, data, big);
	assert_int_equal(got[len], 0);
	free(got);
	free(data);
	assert_int_equal(stat(in_folder("a"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	umask(mask);

	/* Shorter than before, and empty: nothing of the old one remains, and no temporary file. */
	assert_int_equal(assay_file_write(in_folder("a"), "xyz", 3, &err), 0);
	assert_int_equal(assay_file_read(in_folder("a"), &got, &len, &err), 0);
	assert_string_equal(got, "xyz");
	free(got);
	assert_int_equal(assay_file_write(in_folder("a"), NULL, 0, &err), 0);
	assert_int_equal(assay_file_read(in_folder("a"), &got, &len, &err), 0);
	assert_int_equal(len, 0);
	assert_string_equal(got, "");
	free(got);
	assert_int_equal(entries(folder), 1);
}

TEST(follows_links_and_spares_devices)
{
	struct assay_err err = { 0 };
	struct stat st;
	size_t len;
	char *got;

	assert_int_equal(assay_file_write(in_folder("target"), "old", 3, &err), 0);
	assert_int_equal(symlink("target", in_folder("link")), 0);
	assert_int_equal(assay_file_write(in_folder("link"), "new", 3, &err), 0);
	assert_int_equal(lstat(in_folder("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(assay_file_read(in_folder("target"), &got, &len, &err), 0);
	assert_string_equal(got, "new");
	free(got);

	assert_int_equal(assay_file_write("/dev/null", "gone", 4, &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

TEST(reads_proc)
{
	struct assay_err err = { 0 };
	char line[64], tiny[4];
	size_t len;
	char *got;

	assert_int_equal(assay_file_read("/proc/self/status", &got, &len, &err), 0);
	assert_memory_equal(got, "Name:", 5);
	assert_true(len > 100);
	free(got);

	assert_true(assay_file_line("/proc/sys/kernel/ostype", line, sizeof(line)));
	assert_string_equal(line, "Linux");
	assert_true(assay_file_line("/proc/sys/kernel/ostype", tiny, sizeof(tiny)));
	assert_string_equal(tiny, "Lin");
	assert_false(assay_file_line(in_folder("none"), line, sizeof(line)));
	assert_false(assay_file_line("/proc", line, sizeof(line)));
}

TEST(refuses_with_a_reason)
{
	struct assay_err err = { 0 };
	size_t len;
	char *got, want[600];

	assert_int_equal(assay_file_read(in_folder("none"), &got, &len, &err), ASSAY_ENOTFOUND);
	snprintf(want, sizeof(want), "cannot read '%s': No such file or directory", in_folder("none"));
	assert_string_equal(err.text, want);
	assert_int_equal(assay_file_read(folder, &got, &len, &err), ASSAY_EIO);
	assert_int_equal(assay_file_write(folder, "x", 1, &err), ASSAY_EIO);
	assert_non_null(strstr(err.text, "it is a folder"));
	assert_int_equal(assay_file_write(in_folder("no/such/folder"), "x", 1, &err), ASSAY_EIO);
	assert_non_null(strstr(err.text, "No such file"));
}

TEST(what_can_be_written_is_known_before)
{
	const char *before = in_folder("before");
	char text[512], path[4200], name[400];
	struct assay_err err = { 0 };

	/* in the words of who writes */
	memset(name, 'n', 255);
	name[255] = '\0';
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (size_t i = 0; i < 3; i++) {
		const char *bad = i == 0 ? folder : i == 1 ? in_folder("no/such/folder") : path;

		assert_int_equal(assay_file_write(bad, "x", 1, &err), ASSAY_EIO);
		snprintf(text, sizeof(text), "%s", err.text);
		err = (struct assay_err){ 0 };
		assert_int_equal(assay_file_write_check(bad, &err), ASSAY_EIO);
		assert_string_equal(err.text, text);
	}
	/* nothing is made, and what is there stays */
	assert_int_equal(assay_file_write_check(before, &err), 0);
	assert_false(assay_file_exists(before));
	assert_int_equal(assay_file_write(before, "x", 1, &err), 0);
	assert_int_equal(assay_file_write_check(before, &err), 0);
	assert_true(assay_file_line(before, text, sizeof(text)));
	assert_string_equal(text, "x");
	assert_int_equal(assay_file_write_check("/dev/null", &err), 0);
}

TEST(creates_only_what_is_not_there)
{
	const char *path = in_folder("created");
	struct assay_err err = { 0 };
	char *text;
	size_t len;

	assert_int_equal(0, assay_file_create(path, "first", 5, &err));
	assert_int_equal(ASSAY_EUSAGE, assay_file_create(path, "second", 6, &err));
	assert_non_null(strstr(err.text, "created' is there already"));
	assert_int_equal(0, assay_file_read(path, &text, &len, NULL));
	assert_string_equal("first", text);
	free(text);
	assert_int_equal(ASSAY_EIO, assay_file_create(in_folder("none/file"), "x", 1, &err));
	/* a link to nowhere is something, too */
	assert_int_equal(0, symlink("nowhere", in_folder("dangling")));
	assert_int_equal(ASSAY_EUSAGE, assay_file_create(in_folder("dangling"), "x", 1, &err));
	assert_false(assay_file_exists(in_folder("nowhere")));
}

TEST(finds_the_program)
{
	struct assay_err err = { 0 };
	char exe[4096], path[4096], tiny[3];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(n > 0);
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	assert_int_equal(assay_file_exe_dir(path, sizeof(path), &err), 0);
	assert_string_equal(path, exe);
	assert_int_equal(assay_file_exe_dir(tiny, sizeof(tiny), &err), ASSAY_ELIMIT);
}

/* A file that has no end or is too large is refused before a byte of it is read. */
TEST(kind_and_size_come_first)
{
	const char *path = in_folder("large");
	struct assay_err err = { 0 };
	const void *data;
	char *text = NULL;
	size_t len;
	struct stat st;

	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	assert_int_equal(assay_file_read_as(in_folder("pipe"), ASSAY_FILE_CONF, &text, &len, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "pipe': it is a pipe, expected a configuration file"));
	assert_int_equal(assay_file_map(in_folder("pipe"), &data, &len, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "it is a pipe, expected a plugin"));
	assert_int_equal(assay_file_read("/dev/zero", &text, &len, &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "cannot read '/dev/zero': it is a device, expected a file");
	assert_int_equal(assay_file_map("/dev/zero", &data, &len, &err), ASSAY_EUSAGE);
	assert_int_equal(assay_file_read("/dev/null", &text, &len, &err), 0);
	assert_int_equal(len, 0);
	free(text);

	assert_int_equal(assay_file_write(path, "", 0, NULL), 0);
	assert_int_equal(truncate(path, (off_t)16 << 20), 0);
	assert_int_equal(assay_file_read_as(path, ASSAY_FILE_CONF, &text, &len, &err), 0);
	assert_int_equal(len, 16 << 20);
	free(text);
	assert_int_equal(truncate(path, ((off_t)16 << 20) + 1), 0);
	assert_int_equal(assay_file_read_as(path, ASSAY_FILE_CONF, &text, &len, &err), ASSAY_ELIMIT);
	assert_non_null(strstr(err.text, "large': it is too large: a configuration file may have at most 16 MiB"));
	assert_int_equal(truncate(path, (off_t)4 << 30), 0);
	assert_int_equal(assay_file_read(path, &text, &len, &err), ASSAY_ELIMIT);
	assert_non_null(strstr(err.text, "too large: a file may have at most 256 MiB"));
	assert_int_equal(assay_file_map(path, &data, &len, &err), ASSAY_ELIMIT);
	assert_non_null(strstr(err.text, "too large: a plugin may have at most 1024 MiB"));
	assert_true(!data && !len);
	/* nothing of it was written or kept */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_blocks, 0);
}

UNIT_GROUP(folder_make, folder_remove)
