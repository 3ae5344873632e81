/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay new` works out: formulas of dimensions from an op's answers, and a source that always compiles. */
#include "unit.h"
#include "drive/author/template.h"
#include "drive/author/variant.h"
#include "drive/author/op_shape.h"

static struct assay_catalog_axis number(const char *name, int64_t min, int64_t max)
{
	return (struct assay_catalog_axis){ .name = (char *)name, .min = min, .max = max, .def = INT64_MIN };
}

static void tensor(struct assay_shape_facts *f, const char *name, uint32_t role, int64_t a, int64_t b)
{
	struct assay_shape_tensor *t = &f->tensors[f->n_tensors++];

	*t = (struct assay_shape_tensor){ .role = role, .dtype = ASSAY_F32, .rank = b ? 2 : 1, .dims = { a, b } };
	snprintf(t->name, sizeof(t->name), "%s", name);
}

/* An op of axes k (a multiple of 32), n and kind, with every sort of dimension there is. */
static int describe(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
		    struct assay_shape_facts *out, struct assay_err *err)
{
	int64_t k = axes[0], n = axes[1], kind = axes[2];

	++*(int *)arg;
	assert_true(k >= op->axes[0].min && k <= op->axes[0].max && n >= 1 && n <= op->axes[1].max && kind <= 2);
	if (k % 32)
		return assay_err_set(err, ASSAY_EUSAGE, "k is no multiple of 32");
	*out = (struct assay_shape_facts){ .ops = 2.0 * (double)(k * n), .bytes_read = 100, .bytes_written = 200 };
	tensor(out, "w", ASSAY_INPUT, n, k / 4);
	tensor(out, "blocks", ASSAY_INPUT, k / 32, 34);
	tensor(out, "product", ASSAY_OUTPUT, 2 * k * n, 0);
	tensor(out, "of_threads", ASSAY_SCRATCH, n_threads, 8);
	tensor(out, "rounded_up", ASSAY_SCRATCH, (k + 4095) / 4096, 0);
	tensor(out, "sum", ASSAY_SCRATCH, k + n, 0);
	tensor(out, "by_kind", ASSAY_SCRATCH, 100 * (kind + 1), 0);
	return 0;
}

static char *kinds[] = { (char *)"small", (char *)"medium", (char *)"large" };

static struct assay_catalog_op op_of(struct assay_catalog_axis *axes)
{
	axes[0] = number("k", 32, 1 << 20);
	axes[1] = number("n", 1, 3000);
	axes[2] = (struct assay_catalog_axis){ .name = (char *)"kind", .symbols = { kinds, 3 }, .def = INT64_MIN };
	return (struct assay_catalog_op){
		.name = (char *)"some.op", .help = (char *)"does */ something ?\?/", .axes = axes, .n_axes = 3
	};
}

TEST(dimensions_become_formulas)
{
	static const struct {
		uint32_t tensor, dim;
		const char *want;
	} cases[] = {
		{ 0, 0, "n" },       { 0, 1, "k/4" }, { 1, 0, "k/32" }, { 1, 1, "34" }, { 2, 0, "2*k*n" },
		{ 3, 0, "threads" }, { 3, 1, "8" },   { 4, 0, "" },     { 5, 0, "" },   { 6, 0, "" },
	};
	static const int64_t multiple_of_4096[] = { 8192, 10, 1 };
	struct assay_catalog_axis axes[3];
	struct assay_catalog_op op = op_of(axes);
	struct assay_op_shape *shape = malloc(sizeof(*shape));
	const int64_t *from[] = { NULL, multiple_of_4096 };

	for (size_t f = 0; f < 2; f++) {
		struct assay_text text = { 0 };
		int asked = 0;

		assert_int_equal(0, assay_op_shape_find(shape, &op, from[f], describe, &asked, NULL));
		assert_in_range(asked, 8, 64);
		for (size_t i = 0; i < N_OF(cases); i++)
			assert_string_equal(cases[i].want, shape->formula[cases[i].tensor][cases[i].dim]);
		assay_op_shape_text(&op, shape->axes, &text);
		assert_string_equal(f ? "k=8192,n=10,kind=medium" : "k=1024,n=1024,kind=small", text.s);
		assay_text_release(&text);
	}
	free(shape);
}

static int refuse(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
		  struct assay_shape_facts *out, struct assay_err *err)
{
	return assay_err_set(err, *(int *)arg, "no");
}

TEST(an_op_that_refuses_all_is_said)
{
	struct assay_catalog_axis axes[3];
	struct assay_catalog_op op = op_of(axes);
	struct assay_op_shape *shape = malloc(sizeof(*shape));
	struct assay_err err = { 0 };
	int code = ASSAY_EUSAGE;

	assert_int_equal(ASSAY_EUSAGE, assay_op_shape_find(shape, &op, NULL, refuse, &code, &err));
	assert_non_null(strstr(err.text, "op 'some.op' refuses every shape"));
	code = ASSAY_EPLUGIN; /* as of a plugin that crashed */
	assert_int_equal(ASSAY_EPLUGIN, assay_op_shape_find(shape, &op, NULL, refuse, &code, &err));
	assert_string_equal("no", err.text);
	free(shape);
}

/* Names that are keywords, macros, equal, of the template itself or no C names, and texts that would end a comment. */
static int describe_names(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
			  struct assay_shape_facts *out, struct assay_err *err)
{
	static const char *const names[] = { "int", "job", "linux", "int", "2nd", "a-b", "a_b", "größe", "k", "dims" };

	*out = (struct assay_shape_facts){ 0 };
	for (size_t i = 0; i < N_OF(names); i++)
		tensor(out, names[i], i < 5 ? ASSAY_INPUT : ASSAY_OUTPUT, axes[0], 0);
	return 0;
}

TEST(odd_names_compile)
{
	struct assay_strings headers = { 0 };
	struct assay_catalog_axis axes[3];
	struct assay_catalog_op op = op_of(axes);
	char *counted[] = { (char *)"hits", (char *)"mis*/ses" };
	struct assay_catalog_variant needy = { .op = (char *)"some.op",
					       .name = (char *)"fast",
					       .needs = (char *)"avx2,*/" };
	struct assay_catalog catalog = { .ops = &op, .n_ops = 1, .variants = &needy, .n_variants = 1 };
	struct assay_op_shape *shape = malloc(sizeof(*shape));
	struct assay_new_variant v = { .catalog = &catalog,
				       .op = &op,
				       .shape = shape,
				       .name = "mine",
				       .headers = &headers,
				       .compile = "cc 'a/*b'",
				       .verify = "v",
				       .run = "r" };
	struct assay_text out = { 0 };
	FILE *cc;

	axes[0].help = (char *)"length /* of */ all";
	op.counters = (struct assay_strings){ counted, 2 };
	assert_int_equal(0, assay_op_shape_find(shape, &op, NULL, describe_names, NULL, NULL));
	assert_int_equal(0, assay_new_variant_source(&v, &out, NULL));
	assert_non_null(strstr(out.s, "const float *int_ = job->tensors[TENSOR_INT].data; /* input [k] */"));
	assert_non_null(strstr(out.s, "const float *int__ = job->tensors[TENSOR_INT_].data;"));
	assert_non_null(strstr(out.s, "float *k_ = job->tensors[TENSOR_K].data; /* output [k] */"));
	assert_non_null(strstr(out.s, "0 hits, 1 mis* /ses"));
	assert_non_null(strstr(out.s, "fast has \"avx2,* /\""));
	assert_null(strchr(out.s, '@'));
	cc = popen("${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iharness/include -fsyntax-only -x c -", "w");
	assert_non_null(cc);
	assert_int_equal(1, fwrite(out.s, out.len, 1, cc));
	assert_int_equal(0, pclose(cc));
	assay_text_release(&out);
	free(shape);
}

static int describe_no_output(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
			      struct assay_shape_facts *out, struct assay_err *err)
{
	*out = (struct assay_shape_facts){ 0 };
	tensor(out, "x", ASSAY_INPUT, axes[0], 0);
	return 0;
}

TEST(an_op_without_outputs_is_refused)
{
	struct assay_strings headers = { 0 };
	struct assay_catalog_axis axes[3];
	struct assay_catalog_op op = op_of(axes);
	struct assay_catalog catalog = { .ops = &op, .n_ops = 1 };
	struct assay_op_shape *shape = malloc(sizeof(*shape));
	struct assay_new_variant v = {
		.catalog = &catalog, .op = &op, .shape = shape, .name = "mine", .headers = &headers
	};
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_op_shape_find(shape, &op, NULL, describe_no_output, NULL, NULL));
	assert_int_equal(ASSAY_EUSAGE, assay_new_variant_source(&v, &out, &err));
	assert_string_equal("op 'some.op' has no output that a variant could write", err.text);
	assert_null(out.s);
	free(shape);
}

TEST(templates_want_every_key)
{
	static const struct assay_template_value values[] = {
		{ "OP", "a.b" }, { "PLUGIN", "" }, { "EXACT", "" }, { "OWN", "" }
	};
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_template_fill("quick.suite", values, 4, &out, &err));
	assert_non_null(strstr(out.s, "    summary = \"a.b\"\n    use \"\" { }\n}\n"));
	assert_int_equal(ASSAY_EINTERNAL, assay_template_fill("quick.suite", values, 3, &out, &err));
	assert_int_equal(ASSAY_EINTERNAL, assay_template_fill("nothing", values, 2, &out, &err));
	assay_text_release(&out);
}

UNIT_MAIN(NULL, NULL)
