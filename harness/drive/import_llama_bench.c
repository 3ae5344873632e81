/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama-bench -o json and -o jsonl, of llama.cpp since b1100 (2023-08): an array of objects, or an object a line. Names
 * are those of test::get_fields() in tools/llama-bench/llama-bench.cpp. A test is a case, each of samples_ns a sample.
 * avg_ns and stddev_ns follow from them; where there are no samples, an average is none. Every build that is named
 * begins a run of its own, so that files may be appended to.
 *
 * What a test is made of stands in its key: pp, tg or pg, the model, and its parameters. Those that few people change
 * stand there only where they are not llama-bench's default, so that a parameter that a later version adds changes no
 * key.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/importing.h"

/* Parameters that go into the key as they are, in this order. */
static const char *const axes[] = {
	"model_type", "n_prompt", "n_gen", "n_depth", "n_batch", "n_gpu_layers", "backends"
};
static const char *const short_names[] = { "model", "n_prompt", "n_gen", "n_depth", "n_batch", "ngl", "backend" };
#define N_AXES (sizeof(axes) / sizeof(axes[0]))
enum { N_PROMPT = 1, N_GEN = 2, N_DEPTH = 3 };

/* Those that go there where their value is none of these defaults. */
static const struct {
	const char *name, *shown, *defaults[3];
} others[] = {
	{ "n_ubatch", "ub", { "512" } },
	{ "type_k", "ctk", { "f16" } },
	{ "type_v", "ctv", { "f16" } },
	{ "flash_attn", "fa", { "no", "-1", "0" } },
	{ "split_mode", "sm", { "layer" } },
	{ "main_gpu", "mg", { "0" } },
	{ "no_kv_offload", "nkvo", { "no" } },
	{ "tensor_split", "ts", { "0.00" } },
	{ "use_mmap", "mmap", { "yes" } },
	{ "embeddings", "embd", { "no" } },
	{ "n_cpu_moe", "ncmoe", { "0" } },
	{ "no_op_offload", "nopo", { "0", "no" } },
	{ "devices", "dev", { "auto" } },
	{ "tensor_buft_overrides", "ot", { "none" } },
	{ "use_direct_io", "dio", { "no", "0" } },
	{ "no_host", "nohost", { "no", "0" } },
	{ "load_mode", "lm", { "auto", "mmap" } },
	{ "lazy_mode", "lzm", { "auto" } },
	{ "repack", "repack", { "yes", "1" } },
	{ "mul_mat_q", "mmq", { "yes", "1" } },
};
#define N_OTHERS (sizeof(others) / sizeof(others[0]))

/* What is said of machine and build. */
static const char *const facts[] = { "cpu_info", "gpu_info",   "build_number", "model_filename",
				     "cpu_mask", "cpu_strict", "poll" };

struct test {
	char axes[N_AXES][256], others[N_OTHERS][64], commit[65], when[40],
		facts[sizeof(facts) / sizeof(facts[0])][256];
	double threads, avg_ts;
	struct assay_result r;
};

/* A text, number or truth value as text. */
static void read_plain(struct assay_json *j, char *buf, size_t size)
{
	switch (assay_json_peek(j)) {
	case ASSAY_JSON_TEXT:
		snprintf(buf, size, "%s", assay_json_take_text(j));
		break;
	case ASSAY_JSON_NUMBER:
		snprintf(buf, size, "%.12g", assay_json_take_number(j));
		break;
	case ASSAY_JSON_BOOL:
		snprintf(buf, size, "%s", assay_json_take_bool(j) ? "yes" : "no");
		break;
	default:
		assay_json_skip(j);
	}
}

static bool read_named(struct assay_json *j, struct test *t)
{
	for (size_t i = 0; i < N_AXES; i++)
		if (assay_json_is(j, axes[i])) {
			read_plain(j, t->axes[i], sizeof(t->axes[i]));
			return true;
		}
	for (size_t i = 0; i < N_OTHERS; i++)
		if (assay_json_is(j, others[i].name)) {
			read_plain(j, t->others[i], sizeof(t->others[i]));
			return true;
		}
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (assay_json_is(j, facts[i])) {
			read_plain(j, t->facts[i], sizeof(t->facts[i]));
			return true;
		}
	return false;
}

static void read_samples(struct assay_importing *im, struct test *t)
{
	assay_json_enter(im->j, ASSAY_JSON_ARRAY);
	while (assay_json_next(im->j))
		assay_importing_sample(im, &t->r, 1, assay_json_take_number(im->j), 0);
}

static void read_test(struct assay_importing *im, struct test *t)
{
	struct assay_json *j = im->j;

	assay_json_enter(j, ASSAY_JSON_OBJECT);
	while (assay_json_next(j)) {
		if (read_named(j, t))
			continue;
		if (assay_json_is(j, "samples_ns"))
			read_samples(im, t);
		else if (assay_json_is(j, "n_threads"))
			t->threads = assay_json_take_number(j);
		else if (assay_json_is(j, "avg_ts") && assay_json_peek(j) == ASSAY_JSON_NUMBER)
			t->avg_ts = assay_json_take_number(j);
		else if (assay_json_is(j, "build_commit"))
			read_plain(j, t->commit, sizeof(t->commit));
		else if (assay_json_is(j, "test_time"))
			read_plain(j, t->when, sizeof(t->when));
		else
			assay_json_skip(j);
	}
	/* what it writes where it was built outside of git */
	if (!strcmp(t->commit, "unknown"))
		t->commit[0] = '\0';
	if (!t->axes[N_PROMPT][0] || !t->axes[N_GEN][0])
		assay_json_fail(j,
				"a test without 'n_prompt' and 'n_gen': this is not what 'llama-bench -o json' writes");
}

static bool is_default(size_t i, const char *value)
{
	for (size_t k = 0; k < 3 && others[i].defaults[k]; k++)
		if (!strcmp(others[i].defaults[k], value))
			return true;
	return !value[0];
}

static void name_case(struct test *t)
{
	const bool prompt = strcmp(t->axes[N_PROMPT], "0") != 0, gen = strcmp(t->axes[N_GEN], "0") != 0;
	struct assay_case *c = &t->r.c;
	struct assay_text more = { 0 };

	snprintf(c->op, sizeof(c->op), "%s", prompt && gen ? "pg" : prompt ? "pp" : "tg");
	snprintf(c->variant, sizeof(c->variant), "llama-bench");
	for (size_t i = 0; i < N_AXES; i++)
		if (t->axes[i][0] && (i != N_DEPTH || strcmp(t->axes[i], "0")))
			assay_importing_axis(c, short_names[i], t->axes[i]);
	for (size_t i = 0; i < N_OTHERS; i++)
		if (!is_default(i, t->others[i]))
			assay_text_addf(&more, "%s%s:%s", more.len ? "+" : "", others[i].shown, t->others[i]);
	if (more.len)
		assay_importing_axis(c, "more", more.s);
	assay_text_release(&more);
	c->threads = t->threads >= 1 && t->threads < 1e6 ? (unsigned)t->threads : 0;
}

/* A build, or a machine, that another test had not: the cases of its own. */
static void begin_run(struct assay_importing *im, const struct test *t)
{
	assay_importing_end_run(im);
	im->run.n_environment = 0;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assay_importing_fact(im, facts[i], t->facts[i]);
	assay_importing_commit(im, t->commit);
	assay_importing_started(im, t->when);
}

/* Objects in an array, or one after the other. */
static void each(struct assay_importing *im, void (*one)(struct assay_importing *im, struct test *t), struct test *t)
{
	while (assay_json_peek(im->j) != ASSAY_JSON_END) {
		if (assay_json_peek(im->j) != ASSAY_JSON_ARRAY) {
			one(im, t);
			continue;
		}
		assay_json_enter(im->j, ASSAY_JSON_ARRAY);
		while (assay_json_next(im->j))
			one(im, t);
	}
}

static void pass_over(struct assay_importing *im, struct test *t)
{
	(void)t;
	assay_json_skip(im->j);
}

static void head(struct assay_importing *im)
{
	each(im, pass_over, NULL);
}

static void put_test(struct assay_importing *im, struct test *t)
{
	const bool begun = im->run.id != 0;
	char before[65], cpu[256], gpu[256], name[ASSAY_NAME_MAX + 260];

	memcpy(before, t->commit, sizeof(before));
	memcpy(cpu, t->facts[0], sizeof(cpu));
	memcpy(gpu, t->facts[1], sizeof(gpu));
	memset(t, 0, sizeof(*t));
	t->avg_ts = NAN;
	read_test(im, t);
	if (!im->j->rc && (!begun || strcmp(before, t->commit) || strcmp(cpu, t->facts[0]) || strcmp(gpu, t->facts[1])))
		begin_run(im, t);
	name_case(t);
	if (isfinite(t->avg_ts))
		assay_importing_metric(im, &t->r, "tokens_per_s", "1/s", 1, t->avg_ts);
	if (!t->r.n_samples)
		assay_importing_no_time(&t->r, ASSAY_STATUS_SKIPPED,
					"the file has no samples_ns of it, and an average is no sample");
	snprintf(name, sizeof(name), "%s of %s", t->r.c.op, t->axes[0]);
	assay_importing_put(im, &t->r, name);
}

static void benchmarks(struct assay_importing *im)
{
	struct test *t = calloc(1, sizeof(*t));

	if (!t) {
		im->j->rc = assay_err_set(im->err, ASSAY_ENOMEM, "out of memory");
		return;
	}
	each(im, put_test, t);
	free(t);
}

const struct assay_import_format assay_import_llama_bench = { "llama-bench", head, benchmarks };
