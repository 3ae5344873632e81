/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities with units, aligned columns, and what may reach a terminal. */
#include "emit_fixture.h"

#include <math.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/text_parts.h"

TEST(test_quantity)
{
	static const struct {
		double value;
		const char *unit, *utf8, *ascii;
	} cases[] = {
		{ 61.23e-6, "s", "61.2 µs", "61.2 us" },
		{ 0, "s", "0 ns", "0 ns" },
		{ 0.5e-9, "s", "0.50 ns", "0.50 ns" },
		{ 999.4e-9, "s", "999 ns", "999 ns" },
		{ 999.6e-9, "s", "1.00 µs", "1.00 us" },
		{ 9.994e-3, "s", "9.99 ms", "9.99 ms" },
		{ 9.996e-3, "s", "10.0 ms", "10.0 ms" },
		{ 900, "s", "900 s", "900 s" },
		{ 1234, "s", "20.6 min", "20.6 min" },
		{ 90000, "s", "25.0 h", "25.0 h" },
		{ 1, "B", "1 B", "1 B" },
		{ 1023, "B", "1023 B", "1023 B" },
		{ 1024, "B", "1.00 KiB", "1.00 KiB" },
		{ 1.5 * 1024 * 1024, "B", "1.50 MiB", "1.50 MiB" },
		{ 12.34e9, "B/s", "12.3 GB/s", "12.3 GB/s" },
		{ 2.5e12, "op/s", "2.50 TOP/s", "2.50 TOP/s" },
		{ 412, "1/s", "412 /s", "412 /s" },
		{ 0.973, "1", "0.973", "0.973" },
		{ 1, "1", "1", "1" },
		{ -999.6, "1", "-1000", "-1000" },
		{ 45852504900, "1", "45852504900", "45852504900" },
		{ 1.5e17, "1", "1.5e+17", "1.5e+17" },
		{ NAN, "s", "-", "-" },
		{ INFINITY, "B/s", "-", "-" },
	};
	char buf[64];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_quantity_text(cases[i].value, cases[i].unit, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].utf8);
		assay_quantity_text(cases[i].value, cases[i].unit, false, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].ascii);
	}
}

/* The noun of a number of unit "1" or "1/s" follows from its tag. */
TEST(test_metric)
{
	static const struct {
		const char *tag;
		double value;
		const char *unit, *want;
	} cases[] = {
		{ "roof_frac", 0.973, "1", "97.3 %" },
		{ "roof_frac", 1.05, "1", "105 %" },
		{ "roof_frac", 1.13, "1", "113 % wrong" },
		{ "other_frac", 1.13, "1", "113 %" },
		{ "kv_cache_hit_rate", 1, "1", "100 %" },
		{ "change_frac", -0.05, "1", "-5.00 %" },
		{ "checksum", 458525049, "1", "458525049" },
		{ "ratio", 0.5, "1", "0.5" },
		{ "tokens_per_s", 41.7, "1/s", "41.7 tok/s" },
		{ "tokens_per_s", 4480, "1/s", "4.48 ktok/s" },
		{ "tokens_per_ms", 0.0417, "tok/ms", "0.0417 tok/ms" },
		{ "items_per_s", 412, "1/s", "412 items/s" },
		{ "items_per_s", 3040, "1/s", "3.04 k items/s" },
		{ "faults", 412, "1/s", "412 /s" },
		{ "time_s", 61.2e-6, "s", "61.2 µs" },
		{ "roof_frac", NAN, "1", "-" },
		{ "items_per_s", NAN, "1/s", "-" },
	};
	char buf[64];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_metric_text(cases[i].tag, cases[i].value, cases[i].unit, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].want);
	}
}

TEST(test_columns)
{
	struct assay_columns t = { .align = "lrl", .indent = " ", .width = 24 };
	struct assay_text out = { 0 };

	assay_columns_row(&t, (const char *const[]){ "a", "µs", "x" });
	assay_columns_row(&t, (const char *const[]){ ASSAY_BOLD "longer" ASSAY_RESET, "1", NULL });
	assay_columns_tail(&t, (const char *const[]){ "b" }, 1, "one two three four five");
	assay_columns_line(&t, 3, "a line of words that is wrapped");
	assay_columns_print(&t, &out);
	assert_string_equal(out.s, " a       µs  x\n"
				   " " ASSAY_BOLD "longer" ASSAY_RESET "   1\n"
				   " b       one two three\n"
				   "         four five\n"
				   "   a line of words that\n"
				   "     is wrapped\n");
	assert_int_equal(assay_columns_width(ASSAY_RED "±µ" ASSAY_RESET), 2);
	assay_columns_release(&t);
	assay_text_release(&out);
}

TEST(nothing_but_colours_reaches_a_terminal)
{
	static const char hostile[] = "\033[2Jx\x07\r\xc2\x9b"
				      "31m\xe2\x80\xae\xff\ty\r\n" ASSAY_RED "z" ASSAY_RESET "\xef\xb7\x96\n";
	const struct assay_emit_style plain = { 0 }, painted = { .colour = true };
	struct assay_text t = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		assay_text_add(&t, "\033");
		assay_text_addn(&t, hostile, sizeof(hostile)); /* with the zero at its end */
		assay_show(&t, 1, i ? &painted : &plain);
		assert_string_equal(t.s, i ? "\033?[2Jx???31m??\ty\r\n\033[31mz\033[0m?\n?"
					   : "\033?[2Jx???31m??\ty\r\nz?\n?");
		assert_int_equal(t.len, strlen(t.s));
		assay_text_release(&t);
	}
	assay_show(&t, 0, &plain);
	assert_int_equal(t.len, 0);
}

TEST(signs_are_what_a_terminal_shows)
{
	struct assay_text t = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		assay_text_add(&t, "µ" ASSAY_RED "1 → 2 µs" ASSAY_RESET "\n");
		assay_show(&t, strlen("µ"), &(struct assay_emit_style){ .utf8 = i });
		assert_string_equal(t.s, i ? "µ1 → 2 µs\n" : "µ1 -> 2 us\n");
		assert_int_equal(t.len, strlen(t.s));
		assay_text_release(&t);
	}
}

UNIT_GROUP(NULL, NULL)
