/* SPDX-License-Identifier: Apache-2.0 */
/* Databases as JSON lines: what was taken and written again reads and writes the same. */
#include <unistd.h>

#include "fuzz.h"
#include "base/file.h"
#include "drive/database_lines.h"
#include "store/store.h"

static const struct assay_watch nobody;

static void clear(void)
{
	unlink("fuzz.db");
	unlink("fuzz.db-wal");
	unlink("fuzz.db-shm");
}

/* The lines of the database that @path makes; NULL where it is refused. */
static char *read_and_write(const char *path, size_t *rows)
{
	struct assay_store *s = NULL;
	struct assay_err err = { 0 };
	char *text = NULL;
	size_t written = 0, len = 0;
	int rc;

	clear();
	rc = assay_database_read(path, "fuzz.db", &nobody, rows, &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return NULL;
	/* an older version is brought to the last one here, which its rows may forbid */
	rc = assay_store_open(&s, "fuzz.db", ASSAY_STORE_READ, &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return NULL;
	FUZZ_CHECK(!assay_database_write(s, "again.jsonl", &nobody, &written, &err));
	assay_store_close(s);
	FUZZ_CHECK(!assay_file_read("again.jsonl", &text, &len, &err));
	*rows = written;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t rows = 0, again = 0;
	char *once, *twice;

	fuzz_write("input.jsonl", data, size);
	once = read_and_write("input.jsonl", &rows);
	if (!once)
		return 0;
	twice = read_and_write("again.jsonl", &again);
	FUZZ_CHECK(twice && rows == again && !strcmp(once, twice));
	free(once);
	free(twice);
	return 0;
}
