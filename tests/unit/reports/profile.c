/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with weights, what is summed over them, and how they are shown. */
#include "emit_fixture.h"
#include "golden.h"

#include <math.h>

#include "model/profile.h"
#include "reports/profile/flame_svg.h"
#include "reports/profile/parts.h"

static const struct assay_frame labels[] = { { .kind = ASSAY_FRAME_LABEL, .name = "phase: prepare" },
					     { .kind = ASSAY_FRAME_LABEL, .name = ASSAY_PROFILE_TIMED } };
static const struct assay_frame code[] = {
	{ .name = "outer", .object = "a.so", .file = "a.c", .line = 10 },
	{ .kind = ASSAY_FRAME_INLINED,
	  .name = "in<script>",
	  .object = "a.so",
	  .file = "a.h",
	  .line = 7,
	  .offset = 0x40 },
	{ .name = "leaf;x", .object = "a.so", .file = "a.c", .line = 30, .offset = 0x80 },
	{ .name = "leaf;x", .object = "a.so", .file = "a.c", .line = 28, .offset = 0x84 },
	{ .name = "", .object = "libc.so.6", .offset = 0x99 },
};

/* Of numbers of @code behind a label; each a digit. */
static void add(struct assay_profile *p, const struct assay_frame *label, const char *frames, uint64_t weight)
{
	uint32_t v[16], n = 0;

	assert_int_equal(assay_stack_table_frame(&p->stacks, label, &v[n++], NULL), 0);
	for (; *frames; frames++)
		assert_int_equal(assay_stack_table_frame(&p->stacks, &code[*frames - '0'], &v[n++], NULL), 0);
	assert_int_equal(assay_stack_table_add(&p->stacks, v, n, weight, NULL), 0);
	if (label == &labels[1])
		p->timed_weight += weight;
}

static struct assay_profile make(void)
{
	struct assay_profile p = { .kind = "cpu",
				   .what = "op/ref/t=1/warm",
				   .is_case = true,
				   .unit = "samples",
				   .source = "a test",
				   .rate_hz = 997,
				   .seconds = 2,
				   .lost = 3,
				   .truncated = 2,
				   .unresolved = 10,
				   .overhead_frac = 0.004,
				   .iteration_ns = 1000 };

	add(&p, &labels[0], "0", 10);
	add(&p, &labels[1], "01", 40);
	add(&p, &labels[1], "02", 20);
	add(&p, &labels[1], "02", 5);   /* the same once more */
	add(&p, &labels[1], "023", 15); /* calls itself */
	add(&p, &labels[1], "04", 10);
	return p;
}

TEST(functions_have_a_time_with_an_interval)
{
	struct assay_profile p = make();
	struct assay_profile_function *f;
	struct assay_interval ci;
	size_t n;

	assert_int_equal(assay_profile_functions(&p, &f, &n, NULL), 0);
	/* 40 of 90 timed samples of 1000 ns; the interval by bisection of the binomial distribution */
	assert_float_equal(assay_profile_function_ns(&p, &f[1], &ci), 444.444, 0.001);
	assert_float_equal(ci.lo, 339.6, 0.1);
	assert_float_equal(ci.hi, 553.0, 0.1);
	assert_int_equal(f[3].timed_self, 0);
	assert_int_equal(f[3].timed_total, 90);
	p.iteration_ns = NAN;
	assert_true(isnan(assay_profile_function_ns(&p, &f[1], &ci)) && isnan(ci.lo));
	free(f);
	assay_profile_release(&p);
}

/* Functions of a variant's timed iterations, and of the harness around its calls. */
TEST(functions_of_the_kernel_and_of_the_harness)
{
	enum { LOOP, CLOCK, KERNEL, COPY, CHECK, N };
	static const struct assay_frame frames[N] = {
		[LOOP] = { .name = "loop", .object = "assay" },
		[CLOCK] = { .name = "clock_gettime", .object = "libc.so.6" },
		[KERNEL] = { .name = "kernel", .object = "mine.so" },
		[COPY] = { .name = "memcpy", .object = "libc.so.6" },
		[CHECK] = { .name = "check", .object = "mine.so" },
	};
	static const struct {
		const struct assay_frame *label, *leaf[3];
		uint64_t weight;
	} rows[] = {
		{ &labels[0], { &frames[LOOP], &frames[CHECK], &frames[COPY] }, 4 },
		{ &labels[1], { &frames[LOOP], &frames[CLOCK] }, 3 },
		{ &labels[1], { &frames[LOOP], &frames[KERNEL] }, 80 },
		{ &labels[1], { &frames[LOOP], &frames[KERNEL], &frames[COPY] }, 13 },
	};
	const struct assay_emit_style style = { .utf8 = true };
	struct assay_profile p = { .is_case = true, .kind = "cpu", .unit = "samples", .iteration_ns = 960 };
	struct assay_profile_function *f;
	struct assay_report_profile r = { .p = &p };
	struct assay_text out = { 0 };
	size_t n;

	for (size_t i = 0; i < N_OF(rows); i++) {
		uint32_t v[4], k = 0;

		assert_int_equal(assay_stack_table_frame(&p.stacks, rows[i].label, &v[k++], NULL), 0);
		for (size_t d = 0; d < N_OF(rows[i].leaf) && rows[i].leaf[d]; d++)
			assert_int_equal(assay_stack_table_frame(&p.stacks, rows[i].leaf[d], &v[k++], NULL), 0);
		assert_int_equal(assay_stack_table_add(&p.stacks, v, k, rows[i].weight, NULL), 0);
		p.timed_weight += i ? rows[i].weight : 0;
	}
	assert_int_equal(assay_profile_functions(&p, &f, &n, NULL), 0);
	assert_int_equal(n, N);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(f[i].kernel, !strcmp(f[i].name, "kernel") || !strcmp(f[i].name, "memcpy"));
	free(f);
	assay_profile_tables(&r, &style, &out);
	golden("functions of the kernel and of the harness", out.s);
	assay_text_release(&out);
	assay_profile_release(&p);
}

TEST(a_tree_merges_frames_of_one_name)
{
	struct assay_profile p = make();
	struct assay_flame_tree t;

	assert_int_equal(assay_flame_tree_make(&t, &p.stacks, NULL, false, NULL), 0);
	assert_int_equal(t.nodes[0].weight, 100);
	assert_int_equal(t.n, 9); /* root, 2 phases, outer below each, 3 below one of them, and one that calls itself */
	assert_int_equal(t.depth, 4);
	for (size_t i = 1; i < t.n; i++) {
		uint64_t sum = 0;

		for (uint32_t c = t.nodes[i].child; c; c = t.nodes[c].next) {
			assert_int_equal(t.nodes[c].parent, i);
			sum += t.nodes[c].weight;
		}
		assert_true(sum <= t.nodes[i].weight);
	}
	assay_flame_tree_release(&t);
	assay_profile_release(&p);
}

static char *write_as(const struct assay_profile *p, const char *format, bool lines)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = p, .lines = lines } };
	struct assay_text out = { 0 };

	assert_int_equal(assay_emit(&r, format, NULL, &out, NULL), 0);
	return assay_text_take(&out);
}

TEST(text_folded_and_json)
{
	struct assay_profile p = make();
	char *text = write_as(&p, "text", true), *folded = write_as(&p, "folded", false),
	     *json = write_as(&p, "json", true);

	golden("text", text);
	golden("folded", folded);
	golden_json("json", json);
	free(text);
	free(folded);
	free(json);
	assay_profile_release(&p);
}

TEST(a_picture_escapes_names)
{
	struct assay_profile p = make();
	char *text = write_as(&p, "svg", false), *at = text;
	size_t scripts = 0, frames = 0;

	for (const char *s = text; (s = strstr(s, "<script")); s++)
		scripts++;
	while ((at = strstr(at, "<g class=\"f\" data-p="))) {
		at++;
		frames++;
	}
	assert_int_equal(scripts, 1); /* its own */
	assert_int_equal(frames, 9);
	has(text, "data-n=\"in&lt;script&gt;\"");
	has(text, "<title>in&lt;script&gt; (inlined, a.so, a.h:7)&#10;40.00 % of 100 samples</title>");
	free(text);
	assay_profile_release(&p);
}

TEST(clones_are_functions_of_the_source)
{
	static const struct {
		const char *symbol;
		size_t length;
	} v[] = { { "tile", 4 },
		  { "tile.constprop.0", 4 },
		  { "tile.isra.0.constprop.3", 4 },
		  { "tile.part.2.cold", 4 },
		  { "tile.cold", 4 },
		  { "tile.lto_priv.7", 4 },
		  { "tile.llvm.123", 4 },
		  { "tile.partial", 12 },
		  { ".cold", 5 },
		  { "a.b", 3 },
		  { "", 0 } };

	for (size_t i = 0; i < N_OF(v); i++)
		if (assay_function_name_length(v[i].symbol) != v[i].length)
			fail_msg("%s", v[i].symbol);
}

/* A head in which 40 samples more lie in a clone of the leaf, whose iteration takes 1500 ns. */
static struct assay_profile make_head(void)
{
	static const struct assay_frame clone = {
		.name = "leaf;x.constprop.0", .object = "b.so", .file = "a.c", .line = 31, .offset = 0x99
	};
	struct assay_profile p = make();
	uint32_t v[2];

	assert_int_equal(assay_stack_table_frame(&p.stacks, &labels[1], &v[0], NULL), 0);
	assert_int_equal(assay_stack_table_frame(&p.stacks, &clone, &v[1], NULL), 0);
	assert_int_equal(assay_stack_table_add(&p.stacks, v, 2, 40, NULL), 0);
	p.timed_weight += 40;
	p.iteration_ns = 1300;
	snprintf(p.name, sizeof(p.name), "after");
	return p;
}

TEST(a_difference_of_profiles)
{
	struct assay_profile base = make(), head = make_head(), heap = { .kind = "heap", .unit = "bytes" };
	struct assay_profile_diff d;
	struct assay_err err = { 0 };
	double sum = 0;

	assert_int_equal(assay_profile_diff_make(&d, &base, &head, NULL), 0);
	assert_true(d.per_iteration && d.sampled && !strcmp(d.unit, "ns"));
	assert_int_equal(d.weight[0], 90);
	assert_int_equal(d.weight[1], 130);
	/* the clone is the function, whose lines are the head's; prepare does not count */
	assert_int_equal(d.n, 3);
	assert_string_equal(d.v[0].name, "leaf;x");
	assert_int_equal(d.v[0].length, strlen("leaf;x"));
	assert_int_equal(d.v[0].line, 28);
	assert_int_equal(d.v[0].last_line, 31);
	assert_int_equal(d.v[0].self[0], 40);
	assert_int_equal(d.v[0].self[1], 80);
	assert_float_equal(d.v[0].change, 80 * 10.0 - 40 * 1000.0 / 90, 1e-9);
	assert_true(d.v[0].ci.lo > 150 && d.v[0].ci.lo < d.v[0].change && d.v[0].ci.hi < 550);
	for (size_t i = 0; i < d.n; i++)
		sum += d.v[i].change;
	assert_float_equal(sum, 300, 1e-9);
	assay_profile_diff_release(&d);
	assert_int_equal(assay_profile_diff_make(&d, &base, &heap, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "take two of a kind"));
	assay_profile_diff_release(&d);
	assay_profile_release(&base);
	assay_profile_release(&head);
}

TEST(a_difference_is_shown)
{
	struct assay_profile base = make(), head = make_head();
	struct assay_profile_diff d;
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE_DIFF, .profile_diff = &d };
	char *text;

	/* the base calls itself, the head does not any more */
	for (size_t i = 0; i < head.stacks.n_stacks; i++)
		if (head.stacks.stacks[i].weight == 15)
			head.stacks.stacks[i].n--;
	assert_int_equal(assay_profile_diff_make(&d, &base, &head, NULL), 0);
	golden("difference", emit(&r, "text", NULL));
	golden_json("difference, json", emit(&r, "json", NULL));
	text = emit(&r, "svg", NULL);
	has(text, "data-diff=\"1\"");
	has(text, "; vanished</title>");
	has(text, "; not in the base</title>");
	has(text, "<g class=\"f off\"");
	assay_profile_diff_release(&d);
	assay_profile_release(&base);
	assay_profile_release(&head);
}

TEST(weights_of_a_picture_have_a_unit)
{
	const struct {
		const char *unit, *whole;
	} rows[] = { { "ns", " % of 5.43 s<" },
		     { "bytes", " % of 5.05 GiB<" },
		     { "samples", " % of 5425370938 samples<" } };
	struct assay_profile p = make();

	p.stacks.weight = 5425370938;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		snprintf(p.unit, sizeof(p.unit), "%s", rows[i].unit);
		text = write_as(&p, "svg", false);
		has(text, rows[i].whole);
		free(text);
	}
	assay_profile_release(&p);
}

TEST(an_empty_profile_is_shown)
{
	struct assay_profile p = {
		.kind = "cpu", .what = "x", .unit = "samples", .overhead_frac = NAN, .iteration_ns = NAN
	};
	char *text = write_as(&p, "text", false);

	has(text, "  0 samples in 0 ns");
	free(text);
	text = write_as(&p, "svg", false);
	has(text, "data-n=\"all\"");
	free(text);
}

GOLDEN_GROUP("profile", NULL, NULL)
