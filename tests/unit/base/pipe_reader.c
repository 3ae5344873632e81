/* SPDX-License-Identifier: Apache-2.0 */
/* What was written into a pipe: the beginning is kept, the rest is counted, and nothing is waited for. */
#include "base/process.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

TEST(the_beginning_is_kept)
{
	struct assay_pipe p;

	assert_int_equal(assay_pipe_open(&p, 5, NULL), 0);
	assert_int_equal(assay_pipe_drain(&p), 0);
	assert_int_equal(write(p.write_fd, "abc", 3), 3);
	assert_int_equal(assay_pipe_drain(&p), 3);
	assert_int_equal(write(p.write_fd, "defgh", 5), 5);
	assert_int_equal(assay_pipe_drain(&p), 5);
	assert_int_equal(write(p.write_fd, "ij", 2), 2);
	assay_pipe_started(&p);
	assert_int_equal(assay_pipe_drain(&p), 2);
	assert_string_equal(p.text.s, "abcde");
	assert_int_equal(p.left_out, 5);
	assert_int_equal(p.read_fd, -1);
	assert_int_equal(assay_pipe_drain(&p), 0);
	assay_pipe_release(&p);
}

/* A file that never ends is one that is always written faster than it is read. */
TEST(a_flood_comes_in_parts)
{
	struct assay_pipe p = { .read_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), .write_fd = -1, .most = 100 };
	size_t taken = assay_pipe_drain(&p);

	assert_true(taken > 100 && taken <= (size_t)16 << 20);
	assert_int_equal(p.text.len, 100);
	assert_int_equal(p.left_out, taken - 100);
	assay_pipe_release(&p);
}

TEST(the_last_line)
{
	static const struct {
		const char *s, *want;
	} cases[] = {
		{ "", "" },
		{ "\n \n", "" },
		{ "one", "one" },
		{ "one\n\t two  \n\n", "two" },
		{ "a line that does not fit", "a line that" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_text t = { 0 };
		char line[12];

		assay_text_add(&t, cases[i].s);
		assay_text_last_line(&t, line, sizeof(line));
		assert_string_equal(line, cases[i].want);
		assay_text_release(&t);
	}
}

UNIT_GROUP(NULL, NULL)
