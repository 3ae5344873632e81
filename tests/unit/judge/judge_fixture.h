/* SPDX-License-Identifier: Apache-2.0 */
/* Files from strings and cases from keys, for the tests of the judge. */
#ifndef ASSAY_TESTS_JUDGE_FIXTURE_H
#define ASSAY_TESTS_JUDGE_FIXTURE_H

#include <unistd.h>

#include "unit.h"
#include "model/case.h"

struct text_file {
	char path[32];
};

static inline void text_file_write(struct text_file *t, const char *text)
{
	int fd;

	snprintf(t->path, sizeof(t->path), "/tmp/assay-judge-XXXXXX");
	fd = mkstemp(t->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* An error without the random path before ":line:". */
static inline const char *without_path(const char *text, const struct text_file *t)
{
	return strncmp(text, t->path, strlen(t->path)) ? text : text + strlen(t->path) + 1;
}

/* op/variant/axis=value with one axis at most, at @threads; @all marks t=all. */
static inline struct assay_case make_case(const char *op, const char *variant, int64_t n, unsigned threads, bool all)
{
	struct assay_case c = { .threads = threads, .all_threads = all };

	snprintf(c.op, sizeof(c.op), "%s", op);
	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	if (n) {
		c.n_axes = 1;
		snprintf(c.axes[0].name, sizeof(c.axes[0].name), "n");
		snprintf(c.axes[0].text, sizeof(c.axes[0].text), "%lld", (long long)n);
		c.axes[0].value = n;
	}
	assert_int_equal(assay_case_make_key(&c, NULL), 0);
	return c;
}

#endif
