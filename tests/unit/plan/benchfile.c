/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax that readers of bench and suite files accept, the lines they remember, and messages about errors. */
#include "plan_fixture.h"

#include "plan/benchfile.h"

TEST(test_folder)
{
	static const struct {
		const char *name, *file, *op;
		unsigned line;
	} want[] = {
		{ "plain", "a-plain.bench", "plain", 1 },
		{ "toy-gemv", "b-toy.bench", "toy.matmul", 2 },
		{ "toy-cold", "b-toy.bench", "toy.matmul", 12 },
	};
	struct assay_benches b;
	struct assay_err err = { 0 };
	const struct assay_conf_entry *sweep;

	if (assay_benches_load(&b, GOOD, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b.n, N_OF(want));
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_string_equal(b.v[i].name, want[i].name);
		assert_non_null(strstr(b.v[i].path, want[i].file));
		assert_int_equal(b.v[i].line, want[i].line);
		assert_string_equal(b.v[i].field[ASSAY_BENCH_OP]->values[0].text, want[i].op);
	}
	assert_null(b.v[0].field[ASSAY_BENCH_SHAPES]);
	assert_null(b.v[2].field[ASSAY_BENCH_BUDGET]);
	sweep = b.v[2].field[ASSAY_BENCH_SWEEP];
	assert_int_equal(sweep->n, 2);
	assert_string_equal(sweep->values[1].text, "level=l1,dram");
	assert_int_equal(sweep->values[1].line, 15);
	assay_benches_release(&b);
}

TEST(test_suite)
{
	struct assay_suite s;
	struct assay_err err = { 0 };

	if (assay_suite_load(&s, GOOD, "some", &err))
		fail_msg("%s", err.text);
	assert_string_equal(s.name, "some");
	assert_string_equal(s.summary, "a part of it");
	assert_int_equal(s.rounds, 3);
	/* The same glob twice is two uses. */
	assert_int_equal(s.n_uses, 2);
	assert_string_equal(s.uses[0].glob, s.uses[1].glob);
	assert_int_equal(s.uses[0].line, 3);
	assert_int_equal(s.uses[1].line, 8);
	assert_int_equal(s.uses[0].only->n, 2);
	assert_string_equal(s.uses[0].only->values[1].text, "*t=all*");
	assert_string_equal(s.uses[0].skip->values[0].text, "*/cuda/*");
	assert_null(s.uses[1].only);
	assert_string_equal(s.uses[1].field[ASSAY_BENCH_SHAPES]->values[0].text, "m=256");
	assay_suite_release(&s);
}

/* Text of a bench file, and what is said of it. NULL: nothing, it is right. */
static const struct {
	const char *text, *want;
} files[] = {
	{ "bench a { op = b shapes = one }", NULL },
	{ "bench \"a\" { op = 'b' shapes = {\"x\", # why\n\"y\" /* } */, \"z\"} shapes += {\"u\"} }", NULL },
	{ "// nothing\nbench \"a#b\" { op = \"b//c\" }", NULL },
	{ "bench \"a\" {\n\top = \"x\"\n\n\tshape = {\"m\"}\n}", "4: unknown key 'shape', did you mean 'shapes'?" },
	{ "bnch \"a\" { }", "1: unknown key 'bnch', did you mean 'bench'?" },
	{ "\nsuite \"a\" { }", "2: unknown key 'suite', expected bench" },
	{ "bench \"a\" {\n\tshapes = {\"m\" \"k\"}\n}",
	  "2: unexpected token 'k', expected name = \"value\", name = {\"value\", …} or a closing brace" },
	{ "bench \"a\" {\n\top = {\"x\"}\n}",
	  "2: unexpected token '{', expected name = \"value\", name = {\"value\", …} or a closing brace" },
	{ "bench \"a\" {\n\top \"x\"\n}", "2: missing equal sign after option 'op'" },
	{ "bench {\n}", "1: missing title for section 'bench', expected a name in quotes before the brace" },
	{ "bench \"a\"\n\top = \"x\"\n", "2: missing opening brace for section 'bench'" },
	{ "bench \"a\" {\n\top = \"x\"\n\n", "1: brace is not closed, expected }" },
	{ "bench \"a\" {\n\top = \"x\"\n}\n}", "4: closing brace without an opening one" },
	{ "bench \"a\" {\n\top = \"x\n}", "2: string is not closed, expected \" before the end of the line" },
	{ "bench \"a\" {\n\top = 'x", "2: string is not closed, expected ' before the end of the line" },
	{ "bench \"a\" {\n/* \n", "2: comment is not closed, expected */" },
	{ "bench \"a\" {\n\top = x\n\n\top = y\n}", "4: 'op' is set twice, first in line 2" },
	{ "bench \"a\" {\n\tshapes = {\"x\"}\n\tshapes = {\"y\"}\n}",
	  "3: 'shapes' is set twice, first in line 2; += appends" },
	{ "bench \"a\" {\n\top = x\n\tbudget += 1s\n}", "3: attempt to append to non-list option 'budget'" },
	{ "bench \"a\" {\n\n\tshapes = {}\n}", "1: 'shapes' is an empty list, expected at least one value" },
	{ "bench \"a\" {\n\tbudget = 1s\n}",
	  "1: bench 'a' names no op, expected op = \"…\", or command = \"…\" of a program" },
	{ "bench \"a\" { op = x }\n\nbench \"a\" { op = x }", "3: bench 'a' is already defined in x.bench:1" },
	{ "bench \"a b\" { op = x }", "1: bad bench name 'a b', expected one without blanks, '/', '*', '?' and '['" },
	{ "bench \"\" { op = x }", "1: bad bench name '', expected one without blanks, '/', '*', '?' and '['" },
	{ "bench \"a\" { op = x }\n\002", "2: control character 0x02, expected text" },
	{ "bench", "1: premature end of file" },
};

TEST(test_syntax)
{
	static const char *const name = "x.bench";

	for (size_t i = 0; i < N_OF(files); i++) {
		struct assay_benches b = { 0 };
		struct assay_err err = { 0 };
		struct bench_dir d;
		char cwd[PATH_MAX], want[256];
		int rc;

		bench_dir_make(&d);
		bench_dir_write(&d, name, files[i].text);
		assert_non_null(getcwd(cwd, sizeof(cwd)));
		assert_int_equal(chdir(d.path), 0);
		rc = assay_benches_load(&b, ".", &err);
		assert_int_equal(chdir(cwd), 0);
		bench_dir_remove(&d, &name, 1);

		if (!files[i].want) {
			assert_string_equal(err.text, "");
			assert_int_equal(rc, 0);
			assert_int_equal(b.n, 1);
			assay_benches_release(&b);
			continue;
		}
		snprintf(want, sizeof(want), "./x.bench:%s", files[i].want);
		/* The path inside a message has the folder too. */
		if (strstr(want, "defined in "))
			snprintf(want, sizeof(want), "./x.bench:3: bench 'a' is already defined in ./x.bench:1");
		assert_string_equal(err.text, want);
		assert_int_equal(rc, ASSAY_EUSAGE);
		assert_null(b.v);
	}
}

/* Names are never cut off, however little room there is for them. */
TEST(test_hints)
{
	static const char *const known[] = { "generate-tiny-prefill", "ternary-gemv-2b4t", "dequantize" };
	static const struct {
		size_t n, size;
		const char *want;
	} rows[] = {
		{ 0, 80, ", there are none" },
		{ 1, 80, ", expected generate-tiny-prefill" },
		{ 3, 80, ", expected one of generate-tiny-prefill, ternary-gemv-2b4t, dequantize" },
		{ 3, 76, ", expected one of generate-tiny-prefill, ternary-gemv-2b4t, dequantize" },
		{ 3, 75, ", expected one of generate-tiny-prefill, ternary-gemv-2b4t, …" },
		{ 3, 50, ", expected one of generate-tiny-prefill, …" },
		{ 3, 30, ", expected one of …" },
	};
	char buf[80];

	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(assay_conf_hint("xyz", known, rows[i].n, buf, rows[i].size), rows[i].want);
}

TEST(test_values_keep_their_lines)
{
	static const char *const name = "x.bench";
	struct assay_benches b = { 0 };
	struct bench_dir d;
	const struct assay_conf_entry *e;

	bench_dir_make(&d);
	bench_dir_write(&d, name,
			"\n/* two\nlines */ bench \"a\"\n{\n\top = x\n\tshapes = {\"1\", \"2\", # "
			"c\n\n\t\"3\"}\n\tshapes += {\n\"4\"}\n}\n");
	assert_int_equal(assay_benches_load(&b, d.path, NULL), 0);
	bench_dir_remove(&d, &name, 1);
	assert_int_equal(b.v[0].line, 4); /* of its brace */
	e = b.v[0].field[ASSAY_BENCH_SHAPES];
	assert_int_equal(e->n, 4);
	assert_int_equal(e->values[0].line, 6);
	assert_int_equal(e->values[1].line, 6);
	assert_int_equal(e->values[2].line, 8);
	assert_int_equal(e->values[3].line, 10);
	assert_string_equal(e->values[3].text, "4");
	assay_benches_release(&b);
}

TEST(test_backslashes)
{
	static const char *const name = "x.bench";
	static const struct {
		const char *written, *read;
	} texts[] = {
		{ "\"a\\(b\\.c\"", "a\\(b\\.c" }, { "\"a\\\\(\"", "a\\(" }, { "\"a\\tb\\\"c\"", "a\tb\"c" },
		{ "'a\\(b'", "a\\(b" },           { "'\"\\('", "\"\\(" },   { "\"'\\('\"", "'\\('" },
	};

	for (size_t i = 0; i < N_OF(texts); i++) {
		struct assay_benches b = { 0 };
		char text[128];
		struct bench_dir d;

		snprintf(text, sizeof(text), "bench \"a\" { op = %s }", texts[i].written);
		bench_dir_make(&d);
		bench_dir_write(&d, name, text);
		assert_int_equal(assay_benches_load(&b, d.path, NULL), 0);
		bench_dir_remove(&d, &name, 1);
		assert_string_equal(b.v[0].field[ASSAY_BENCH_OP]->values[0].text, texts[i].read);
		assay_benches_release(&b);
	}
}

UNIT_GROUP(NULL, NULL)
