/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approved texts: a file of tests hands every report that it writes to golden(), and ends with GOLDEN_GROUP, whose last
 * test compares all of them with tests/golden/NAME.txt. With ASSAY_GOLDEN in the environment (`make golden`) it is
 * rewritten instead, and its diff is reviewed like code.
 */
#ifndef ASSAY_TESTS_GOLDEN_H
#define ASSAY_TESTS_GOLDEN_H

#include "unit.h"

#include <jansson.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

static struct assay_text golden_texts;

/* Add @text, a whole report, below @title. */
static inline void golden(const char *title, const char *text)
{
	const size_t n = strlen(text);

	assay_text_addf(&golden_texts, "==== %s ====\n%s%s", title, text, n && text[n - 1] == '\n' ? "" : "\n");
}

/* The same of JSON, laid out for a diff: each element of a field's array has a line, and the other fields share one. */
static inline void golden_json(const char *title, const char *text)
{
	const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(12);
	json_t *root = json_loads(text, 0, NULL), *value, *element;
	const char *key;
	void *next;
	char *s;
	size_t i;

	if (!root)
		fail_msg("no JSON: %s", text);
	assay_text_addf(&golden_texts, "==== %s ====\n", title);
	json_object_foreach_safe(root, next, key, value)
	{
		if (!json_is_array(value) || !json_is_object(json_array_get(value, 0)))
			continue;
		assay_text_addf(&golden_texts, "%s:\n", key);
		json_array_foreach(value, i, element)
		{
			s = json_dumps(element, flags);
			assay_text_addf(&golden_texts, "  %s\n", s);
			free(s);
		}
		json_object_del(root, key);
	}
	s = json_dumps(root, flags);
	assay_text_addf(&golden_texts, "%s\n", s);
	free(s);
	json_decref(root);
}

static inline void golden_check(const char *name)
{
	char approved[128], written[] = "/tmp/assay-golden-XXXXXX", command[256];
	bool same;
	int fd;

	snprintf(approved, sizeof(approved), "tests/golden/%s.txt", name);
	assert_non_null(golden_texts.s);
	if (getenv("ASSAY_GOLDEN")) {
		assert_int_equal(assay_file_write(approved, golden_texts.s, golden_texts.len, NULL), 0);
	} else {
		fd = mkstemp(written);
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(assay_file_write(written, golden_texts.s, golden_texts.len, NULL), 0);
		snprintf(command, sizeof(command), "diff -au %s %s >&2", approved, written);
		same = !system(command);
		unlink(written);
		if (!same)
			fail_msg("texts differ from %s; if they should, 'make golden' rewrites it", approved);
	}
	assay_text_release(&golden_texts);
}

#define GOLDEN_GROUP(name, set_up, tear_down)                                                                          \
	TEST(texts_are_as_approved)                                                                                    \
	{                                                                                                              \
		golden_check(name);                                                                                    \
	}                                                                                                              \
	UNIT_GROUP(set_up, tear_down)

#endif
