/* SPDX-License-Identifier: Apache-2.0 */
/* The time left that the bar shows, by a clock that stands still: what is expected before anything is learnt. */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "base/monotonic.h"
#include "cli/progress.h"

static uint64_t now_ns = 1000000000;

uint64_t assay_monotonic_ns(void)
{
	return now_ns;
}

static void show_share(struct assay_progress *p, double share)
{
	assay_progress_show(p, share, "a");
}

/* The text behind the bar once @tell said how much is done. */
static void shown(struct assay_progress *p, void (*tell)(struct assay_progress *, double), double done, char *buf,
		  size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	char line[512] = "";
	size_t n;

	assert_non_null(file);
	assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	p->on = true; /* whatever standard error is here */
	p->drawn_ns = 0;
	tell(p, done);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	n = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[n] = '\0';
	assert_non_null(strchr(line, ' '));
	snprintf(buf, size, "%.*s", (int)strcspn(strchr(line, ' ') + 1, "\033"), strchr(line, ' ') + 1);
}

TEST(time_left)
{
	/* 0.4 s each beside 1.2 budgets; in turn three times as much */
	static const struct assay_case cases[] = {
		{ .key = "a", .budget_ns = 8000000000 },
		{ .key = "b", .budget_ns = 8000000000 },
		{ .key = "c", .budget_ns = 8000000000, .skip_reason = "no" },
	};
	static const bool none[3], second[] = { false, true, true };
	static const struct {
		unsigned rounds;
		const bool *in_turn;
		size_t at;
		double part;
		const char *want;
	} rows[] = {
		{ 1, none, 0, 0, "1/3  0:20 left  a" },
		{ 1, none, 0, 0.1, "1/3  0:19 left  a" },
		{ 2, none, 0, 0, "round 1/2, 1/3  0:20 left  a" },
		{ 0, none, 0, 0, "1/3  0:00 left  a" },
		{ 1, second, 0, 0, "1/3  0:40 left  a" },
		{ 2, second, 0, 0, "round 1/2, 1/3  0:41 left  a" },
		{ 1, second, 0, 0.2, "1/3  0:38 left  a" },
		/* the case itself is a third of what is left */
		{ 1, second, 1, 0, "2/3  0:30 left  b" },
		{ 1, second, 1, 1, "2/3  0:20 left  b" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_progress p;
		char text[256];

		now_ns = 1000000000;
		assay_progress_begin(&p, cases, 3, rows[i].rounds);
		assay_progress_in_turn(&p, rows[i].in_turn);
		p.on = false;
		for (; p.at < rows[i].at; p.at++)
			p.done += 10e9;
		now_ns += (uint64_t)(p.done + 10e9 * rows[i].part); /* as expected so far */
		shown(&p, assay_progress_part, rows[i].part, text, sizeof(text));
		assert_string_equal(rows[i].want, text);
	}
}

TEST(time_left_of_a_share)
{
	static const struct {
		double expected_ns, took_s, share;
		const char *want;
	} rows[] = {
		{ 100e9, 5, 0.05, "  5 %  1:35 left  a" },
		{ 100e9, 10, 0.05, "  5 %  1:35 left  a" },
		{ 100e9, 40, 0.2, " 20 %  2:40 left  a" },
		/* a guess that did not hold */
		{ 1e9, 3, 0.05, "  5 %  0:57 left  a" },
		{ 1e9, 3, 0, "  0 %  0:01 left  a" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_progress p;
		char text[256];

		now_ns = 1000000000;
		assay_progress_begin_for(&p, rows[i].expected_ns);
		now_ns += (uint64_t)(rows[i].took_s * 1e9);
		shown(&p, show_share, rows[i].share, text, sizeof(text));
		assert_string_equal(rows[i].want, text);
	}
}

UNIT_GROUP(NULL, NULL)
