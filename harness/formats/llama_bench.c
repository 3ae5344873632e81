/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama-bench -o json and -o jsonl, of llama.cpp since b1100 (2023-08): an array of objects, or an object a line. Names
 * are those of test::get_fields() in tools/llama-bench/llama-bench.cpp. A test is a case, each of samples_ns a sample.
 * avg_ns and stddev_ns follow from them; where there are no samples, an average is none. A test that the file has twice
 * has the samples of both. Every build that is named
 * begins a run of its own, so that files may be appended to.
 *
 * Every setting stands in the key, so that no two tests that may differ in speed share one: pp, tg or pg, the model's
 * file and size, and the parameters. A parameter at llama-bench's default is left out, but for flash_attn, whose
 * default became another one. A member that is not known here is taken for a parameter: forks have their own, and
 * later versions add some.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "formats/reader.h"

/* Parameters that go into the key as they are, in this order. */
static const char *const axes[] = { "model_filename", "model_size", "n_prompt",    "n_gen",
				    "n_depth",        "n_batch",    "n_gpu_layers" };
static const char *const short_names[] = { "model", "size", "n_prompt", "n_gen", "n_depth", "n_batch", "ngl" };
#define N_AXES (sizeof(axes) / sizeof(axes[0]))
enum { MODEL_FILE = 0, N_PROMPT = 2, N_GEN = 3, N_DEPTH = 4 };

/* Others go there where their value is none of these defaults. true is 1 and false is 0, as older versions write. */
static const struct {
	const char *name, *shown, *defaults[2];
} others[] = {
	{ "backends", "backend", { NULL } },
	{ "n_ubatch", "ub", { "512" } },
	{ "type_k", "ctk", { "f16" } },
	{ "type_v", "ctv", { "f16" } },
	{ "flash_attn", "fa", { NULL } },
	{ "cpu_mask", "mask", { "0x0" } },
	{ "cpu_strict", "strict", { "0" } },
	{ "poll", "poll", { "50" } },
	{ "split_mode", "sm", { "layer" } },
	{ "main_gpu", "mg", { "0" } },
	{ "no_kv_offload", "nkvo", { "0" } },
	{ "tensor_split", "ts", { "0.00" } },
	{ "use_mmap", "mmap", { "1" } },
	{ "embeddings", "embd", { "0" } },
	{ "n_cpu_moe", "ncmoe", { "0" } },
	{ "no_op_offload", "nopo", { "0" } },
	{ "devices", "dev", { "auto" } },
	{ "tensor_buft_overrides", "ot", { "none" } },
	{ "use_direct_io", "dio", { "0" } },
	{ "no_host", "noh", { "0" } },
	{ "load_mode", "lm", { "auto", "mmap" } },
	{ "lazy_mode", "lzm", { "auto" } },
	{ "repack", "repack", { "1" } },
	{ "mul_mat_q", "mmq", { "1" } },
	{ "fit_target", "fitt", { "0" } },
	{ "fit_min_ctx", "fitc", { "0" } },
};
#define N_OTHERS (sizeof(others) / sizeof(others[0]))

/* The facts about the machine and the build. */
static const char *const facts[] = { "cpu_info", "gpu_info", "build_number" };
#define N_FACTS (sizeof(facts) / sizeof(facts[0]))

/*
 * No parameters: what is read by its name, what describes the model, what follows from the samples, and what the
 * machine can do (before 2024).
 */
static const char *const passed_over[] = { "model_type", "model_n_params", "avg_ns",    "stddev_ns", "stddev_ts",
					   "samples_ts", "cuda",           "opencl",    "vulkan",    "kompute",
					   "metal",      "sycl",           "rpc",       "gpu_blas",  "blas",
					   "test",       "samples_ns",     "n_threads", "avg_ts",    "build_commit",
					   "test_time" };

struct test {
	char axes[N_AXES][1024], commit[65], facts[sizeof(facts) / sizeof(facts[0])][256];
	struct assay_text others; /* parameters that are no axes, "name:value+name:value" */
	double threads;
	struct assay_result r;
};

/* A text, number or truth value as text; "" of what is none of these. */
static void plain(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		snprintf(buf, size, "%s", json_string_value(v));
	else if (json_is_number(v))
		snprintf(buf, size, "%.17g", json_number_value(v));
	else
		snprintf(buf, size, "%s", json_is_true(v) ? "1" : json_is_false(v) ? "0" : "");
}

static bool is_default(size_t i, const char *value)
{
	for (size_t k = 0; k < 2 && others[i].defaults[k]; k++)
		if (!strcmp(others[i].defaults[k], value))
			return true;
	return !value[0];
}

/* Off, on and auto were false and true, then 0, 1 and -1. */
static const char *flash_attn(const char *value)
{
	return !strcmp(value, "0") ? "off" : !strcmp(value, "1") ? "on" : !strcmp(value, "-1") ? "auto" : value;
}

/* A parameter, whether it is known or not. */
static void read_other(struct assay_reading *in, const char *name, const json_t *v, struct test *t)
{
	const char *shown = name;
	char value[1024];
	size_t i = 0;

	while (i < N_OTHERS && strcmp(others[i].name, name) != 0)
		i++;
	plain(v, value, sizeof(value));
	if (json_is_object(v) || json_is_array(v)) {
		if (i < N_OTHERS)
			assay_reading_fail(in, ".%s: expected a text, a number, true or false", name);
		return;
	}
	if (i < N_OTHERS) {
		if (is_default(i, value))
			return;
		shown = others[i].shown;
	}
	assay_text_addf(&t->others, "%s%s:%s", t->others.len ? "+" : "", shown,
			strcmp(shown, "fa") ? value : flash_attn(value));
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void read_test(struct assay_reading *in, const json_t *from, struct test *t)
{
	const json_t *samples = json_object_get(from, "samples_ns"), *v;
	char field[40];
	const char *name;

	for (size_t i = 0; i < N_AXES; i++) {
		plain(json_object_get(from, axes[i]), t->axes[i], sizeof(t->axes[i]));
		/* all but the file's name are counts */
		assay_reading_count(in, from, axes[i], 0);
	}
	for (size_t i = 0; i < N_FACTS; i++)
		plain(json_object_get(from, facts[i]), t->facts[i], sizeof(t->facts[i]));
	plain(json_object_get(from, "build_commit"), t->commit, sizeof(t->commit));
	t->threads = assay_reading_count(in, from, "n_threads", 0);
	for (size_t i = 0; i < json_array_size(samples) && !in->rc; i++) {
		snprintf(field, sizeof(field), "samples_ns[%zu]", i);
		assay_reading_sample(in, &t->r, 1, assay_reading_number(in, json_array_get(samples, i), field), 0);
	}
	json_object_foreach((json_t *)from, name,
			    v) if (!is_one_of(name, axes, N_AXES) && !is_one_of(name, facts, N_FACTS) &&
				   !is_one_of(name, passed_over, sizeof(passed_over) / sizeof(passed_over[0])))
		read_other(in, name, v, t);
	/* what it writes where it was built outside of git */
	if (!strcmp(t->commit, "unknown"))
		t->commit[0] = '\0';
	if (!t->axes[N_PROMPT][0] || !t->axes[N_GEN][0])
		assay_reading_fail(
			in, "a test without 'n_prompt' and 'n_gen': this is not what 'llama-bench -o json' writes");
}

static void name_case(struct test *t, const char *model_type)
{
	const bool prompt = strcmp(t->axes[N_PROMPT], "0") != 0, gen = strcmp(t->axes[N_GEN], "0") != 0;
	struct assay_case *c = &t->r.c;
	char *slash = strrchr(t->axes[MODEL_FILE], '/');

	if (!slash)
		slash = strrchr(t->axes[MODEL_FILE], '\\');

	snprintf(c->op, sizeof(c->op), "%s", prompt && gen ? "pg" : prompt ? "pp" : "tg");
	snprintf(c->variant, sizeof(c->variant), "llama-bench");
	/* where it lies is not what it is; a file without its name is known by its type */
	if (!t->axes[MODEL_FILE][0])
		snprintf(t->axes[MODEL_FILE], sizeof(t->axes[MODEL_FILE]), "%s", model_type);
	else if (slash && slash[1])
		memmove(t->axes[MODEL_FILE], slash + 1, strlen(slash));
	for (size_t i = 0; i < N_AXES; i++)
		if (t->axes[i][0] && (i != N_DEPTH || strcmp(t->axes[i], "0")))
			assay_format_axis(c, short_names[i], t->axes[i]);
	if (t->others.len)
		assay_format_axis(c, "more", t->others.s);
	c->threads = t->threads >= 1 && t->threads < 1e6 ? (unsigned)t->threads : 0;
}

/* The tests of a run, which are handed over together. */
struct tests {
	struct test t; /* the one at hand, or the last */
	bool any;
	struct assay_result *v; /* malloc'ed */
	size_t n;
	struct assay_name_index index; /* their keys */
};

static void put_all(struct assay_reading *in, struct tests *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct assay_result *r = &all->v[i];
		char name[ASSAY_NAME_MAX + 260];

		if (!r->n_samples)
			assay_reading_no_time(r, ASSAY_STATUS_SKIPPED,
					      "it has no samples_ns, and an average is not a sample");
		snprintf(name, sizeof(name), "%.63s of %.250s", r->c.op, r->c.axes[MODEL_FILE].text);
		assay_reading_put(in, r, name);
	}
	all->n = 0;
	assay_name_index_release(&all->index);
}

/* A build, or a machine, that another test had not: the cases of its own. */
static void begin_run(struct assay_reading *in, const struct test *t, const char *when)
{
	assay_reading_new_run(in);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assay_reading_fact(in, facts[i], t->facts[i]);
	assay_reading_commit(in, t->commit);
	assay_reading_started(in, when);
}

/*
 * Add what @r has to a test that the run had before: files are appended to, also by versions that write true where
 * others write 1. It is a process of its own.
 */
static void add_to(struct assay_reading *in, struct assay_result *to, const struct assay_result *r)
{
	const struct assay_metric *speed = assay_result_metric(r, "tokens_per_s");

	if (r->status != ASSAY_STATUS_OK)
		assay_reading_no_time(to, r->status, "%s", r->reason);
	for (size_t i = 0; i < r->n_samples; i++)
		assay_reading_sample(in, to, (double)r->samples[i].iterations, (double)r->samples[i].ns,
				     !i && to->n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0);
	if (speed)
		assay_reading_metric(in, to, speed->tag, speed->unit, speed->better, speed->value);
}

static void keep(struct assay_reading *in, struct tests *all, struct assay_result *r)
{
	struct assay_err why;
	bool found = false;
	size_t at = 0;

	r->c.cache = ASSAY_CACHE_UNKNOWN;
	/* a key that cannot be made is an error when it is handed over */
	if (!assay_case_make_key(&r->c, &why))
		assay_reading_keep(in, assay_name_index_put(&all->index, r->c.key, all->n, &at, &found, in->err));
	if (!in->rc && !found && assay_grow(&all->v, all->n, sizeof(*all->v)))
		assay_reading_no_memory(in);
	if (!in->rc && !found) {
		all->v[all->n++] = *r;
		*r = (struct assay_result){ 0 };
	} else if (!in->rc) {
		add_to(in, &all->v[at], r);
	}
	assay_result_release(r);
}

static void take_test(struct assay_reading *in, const json_t *from, void *arg)
{
	const json_t *speed = json_object_get(from, "avg_ts");
	struct tests *all = arg;
	struct test *t = &all->t;
	char before[65], cpu[256], gpu[256];

	memcpy(before, t->commit, sizeof(before));
	memcpy(cpu, t->facts[0], sizeof(cpu));
	memcpy(gpu, t->facts[1], sizeof(gpu));
	assay_text_release(&t->others);
	memset(t, 0, sizeof(*t));
	read_test(in, from, t);
	if (!in->rc &&
	    (!all->any || strcmp(before, t->commit) || strcmp(cpu, t->facts[0]) || strcmp(gpu, t->facts[1]))) {
		put_all(in, all);
		begin_run(in, t, assay_reading_text(from, "test_time"));
		all->any = true;
	}
	name_case(t, assay_reading_text(from, "model_type"));
	if (json_is_number(speed))
		assay_reading_metric(in, &t->r, "tokens_per_s", "1/s", 1, json_number_value(speed));
	keep(in, all, &t->r);
}

static void read_all(struct assay_reading *in)
{
	const json_t *first = json_array_get(in->values, 0);
	struct tests *all = calloc(1, sizeof(*all));

	if (!all) {
		assay_reading_no_memory(in);
		return;
	}
	/* objects in an array, or one after the other */
	assay_reading_each(in, json_is_array(first) ? first : in->values, "", take_test, all);
	put_all(in, all);
	assay_text_release(&all->t.others);
	free(all->v);
	free(all);
}

/* Lists of sizes (-p, -n) grow by each option that names one, so no test can be chosen after the command's own. */
const struct assay_format assay_format_llama_bench = {
	"llama-bench",
	read_all,
	NULL,
	{ .place = ASSAY_FORMAT_STDOUT, .measure = "-o json -r 1" },
};
