/* SPDX-License-Identifier: Apache-2.0 */
/* JSON read a value at a time: what it takes, what it refuses, and where it says that is. */
#include <math.h>

#include "unit.h"
#include "base/json_reader.h"

/* A text that comes in pieces of @step bytes. */
struct pieces {
	const char *s;
	size_t step;
};

static ssize_t give(void *arg, char *buf, size_t size, struct assay_err *err)
{
	struct pieces *p = arg;
	size_t n = strnlen(p->s, p->step < size ? p->step : size);

	(void)err;
	memcpy(buf, p->s, n);
	p->s += n;
	return (ssize_t)n;
}

static ssize_t break_down(void *arg, char *buf, size_t size, struct assay_err *err)
{
	(void)arg;
	(void)buf;
	(void)size;
	return assay_err_set(err, ASSAY_EIO, "the disk is gone");
}

static struct pieces pieces;
static struct assay_err err;

static struct assay_json *begin(const char *text, size_t step)
{
	struct assay_json *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	pieces = (struct pieces){ text, step };
	err = (struct assay_err){ 0 };
	*j = (struct assay_json){ .path = "f.json", .source = give, .arg = &pieces, .err = &err };
	return j;
}

static void finish(struct assay_json *j)
{
	assay_json_release(j);
	free(j);
}

/* Whatever the pieces are. */
TEST(values)
{
	static const char text[] =
		"\xef\xbb\xbf {\"a\": [1, -2.5e3, NaN, -Infinity, nan], \"b\\u0041\": "
		"\"x\\n\\u00fc\\ud83d\\ude00\\u0000\\ud800\", \"c\": {\"d\": [true, false, null]}}\n[]";

	for (size_t step = 1; step < 70; step += 17) {
		struct assay_json *j = begin(text, step);
		double v[5];

		assay_json_enter(j, ASSAY_JSON_OBJECT);
		assert_true(assay_json_next(j) && assay_json_is(j, "a"));
		assay_json_enter(j, ASSAY_JSON_ARRAY);
		for (size_t i = 0; i < N_OF(v); i++) {
			assert_true(assay_json_next(j));
			v[i] = assay_json_take_number(j);
		}
		assert_false(assay_json_next(j));
		assert_true(v[0] == 1 && v[1] == -2500 && isnan(v[2]) && isinf(v[3]) && v[3] < 0 && isnan(v[4]));
		assert_true(assay_json_next(j) && assay_json_is(j, "bA"));
		assert_string_equal(assay_json_take_text(j), "x\nü😀?\xef\xbf\xbd");
		assert_true(assay_json_next(j));
		assay_json_enter(j, ASSAY_JSON_OBJECT);
		assert_true(assay_json_next(j));
		assay_json_enter(j, ASSAY_JSON_ARRAY);
		assert_true(assay_json_next(j) && assay_json_take_bool(j));
		assert_true(assay_json_next(j) && !assay_json_take_bool(j));
		assert_true(assay_json_next(j) && assay_json_peek(j) == ASSAY_JSON_NULL);
		assay_json_skip(j);
		assert_false(assay_json_next(j) || assay_json_next(j) || assay_json_next(j));
		assert_int_equal(assay_json_peek(j), ASSAY_JSON_ARRAY);
		assay_json_skip(j);
		assert_int_equal(assay_json_peek(j), ASSAY_JSON_END);
		assert_int_equal(j->rc, 0);
		finish(j);
	}
}

/* Whatever way a number is read, it is the double that is nearest. */
TEST(numbers_are_exact)
{
	static const char *const words[] = { "0",
					     "7",
					     "25.5",
					     "0.1",
					     "0.3",
					     "1.005",
					     "123456789012345",
					     "1234567890123456",
					     "9007199254740993",
					     "0.000000000000001",
					     "3.14159265358979",
					     "2.718281828459045",
					     "1e300",
					     "1.5e-300",
					     "123456.789012345",
					     "-0.1",
					     "007" };

	for (size_t i = 0; i < 2 * N_OF(words); i++) {
		struct assay_json *j = begin(words[i / 2], i % 2 ? 3 : 100);

		assert_true(assay_json_take_number(j) == strtod(words[i / 2], NULL));
		assert_int_equal(j->rc, 0);
		finish(j);
	}
}

TEST(refusals)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "f.json:1: the file ends, expected a value" },
		{ "{\"a\": 1,\n \"b\": [1, {\"c\": }]}", "f.json:2: b[1].c: expected a value" },
		{ "[1 2]", "f.json:1: [0]: expected ',' or the end of an array" },
		{ "[1,", "f.json:1: [1]: the file ends within an array" },
		{ "{\"a\" 1}", "f.json:1: a: expected ':' behind the name of a member" },
		{ "{a: 1}", "f.json:1: expected a text" },
		{ "{\"a\": 1", "f.json:1: a: the file ends within an object" },
		{ "[\"x", "f.json:1: [0]: the file ends within a text" },
		{ "[\"x\n\"]", "f.json:1: [0]: a line ends, or a control character stands, within a text" },
		{ "[\"\\q\"]", "f.json:1: [0]: bad '\\q' in a text" },
		{ "[\"\\u12g4\"]", "f.json:1: [0]: bad \\u in a text: expected four hex digits" },
		{ "[\"\\ud800\\n\"]", "f.json:1: [0]: bad \\u in a text: half of a pair stands alone" },
		{ "[0x10]", "f.json:1: [0]: expected a value" },
		{ "[1.2.3]", "f.json:1: [0]: bad number '1.2.3'" },
		{ "[+1]", "f.json:1: [0]: expected a value" },
		{ "[nul]", "f.json:1: [0]: expected a value" },
		{ "[nanana]", "f.json:1: [0]: expected a value" },
		{ "[truth]", "f.json:1: [0]: expected a value" },
		{ "<html>", "f.json:1: expected a value" },
		{ "\xef\xbb?", "f.json:1: not JSON" },
	};
	struct assay_json *j;
	char deep[100];

	for (size_t i = 0; i < N_OF(cases); i++) {
		j = begin(cases[i].text, 5);

		assay_json_skip(j);
		assert_int_equal(j->rc, ASSAY_EUSAGE);
		assert_string_equal(err.text, cases[i].want);
		/* the first error stays */
		assert_int_equal(assay_json_peek(j), ASSAY_JSON_END);
		assert_false(assay_json_next(j));
		assert_int_equal(assay_json_fail(j, "another"), ASSAY_EUSAGE);
		assert_string_equal(err.text, cases[i].want);
		finish(j);
	}
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	j = begin(deep, 100);
	assay_json_skip(j);
	assert_non_null(strstr(err.text, "more than 32 lists within each other"));
	finish(j);
}

TEST(kinds_are_asked_for)
{
	struct assay_json *j = begin("[1, \"x\"]", 9);

	assay_json_enter(j, ASSAY_JSON_ARRAY);
	assert_true(assay_json_next(j));
	assert_string_equal(assay_json_take_text(j), "");
	assert_string_equal(err.text, "f.json:1: [0]: expected a text");
	finish(j);

	j = begin("", 1);
	assay_json_enter(j, ASSAY_JSON_OBJECT);
	assert_string_equal(err.text, "f.json:1: the file ends, expected an object");
	finish(j);

	j = begin("", 1);
	j->source = break_down;
	assert_int_equal(assay_json_peek(j), ASSAY_JSON_END);
	assert_int_equal(j->rc, ASSAY_EIO);
	assert_string_equal(err.text, "the disk is gone");
	finish(j);
}

UNIT_GROUP(NULL, NULL)
