/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in templates: keys, and blocks that stay only where a tag is set. */
#include "unit.h"
#include "drive/author/template.h"

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

TEST(templates_are_there)
{
	assert_non_null(assay_template_text("variant.c"));
	assert_null(assay_template_text("variant"));
}

UNIT_GROUP(NULL, NULL)
