/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variant of generate.file that computes as the fastest of another plugin does, and appends the logits after every
 * token that it reads to the file $ASSAY_LOGITS, as floats. bench/llama_agreement.sh builds it; $ASSAY_LOGITS_OF is the
 * other plugin.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/op_generate_file.h"

static void (*other_step)(struct assay_job *job, const int32_t *tokens, int64_t n, int64_t pos, int want_logits);
static FILE *out;

static void step(struct assay_job *job, const int32_t *tokens, int64_t n, int64_t pos, int want_logits)
{
	const struct assay_tensor *logits = &job->tensors[ASSAY_FILE_T_LOGITS];

	(void)want_logits;
	for (int64_t i = 0; i < n; i++) {
		other_step(job, tokens + i, 1, pos + i, 1);
		fwrite(logits->data, 1, logits->bytes, out);
	}
	fflush(out);
}

/* Variants are listed from the plainest on; the names of the instruction sets are those of the compiler. */
static int runs_here(const char *name)
{
#if defined(__x86_64__)
	if (!strcmp(name, "avx512vnni"))
		return __builtin_cpu_supports("avx512vnni");
	if (!strcmp(name, "avx512"))
		return __builtin_cpu_supports("avx512vl");
	if (!strcmp(name, "avx2"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return !strcmp(name, "ref");
}

static int prepare(struct assay_job *job)
{
	const char *of = getenv("ASSAY_LOGITS_OF"), *to = getenv("ASSAY_LOGITS");
	void *dl = of ? dlopen(of, RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct assay_plugin *p = dl ? dlsym(dl, "assay_plugin_v1") : NULL;
	struct assay_file_state *s = job->op_state;

	out = to ? fopen(to, "ab") : NULL;
	if (!p || !out)
		return job->host->fail(job, "ASSAY_LOGITS and ASSAY_LOGITS_OF name a file and a plugin");
	for (uint32_t i = p->n_variants; i-- > 0;)
		if (runs_here(p->variants[i].name)) {
			int rc = p->variants[i].prepare(job);

			other_step = s->step;
			s->step = step;
			return rc;
		}
	return job->host->fail(job, "no variant of '%s' runs here", of);
}

static int run(struct assay_job *job)
{
	const struct assay_file_state *s = job->op_state;

	return s->play(job);
}

static const struct assay_variant variants[] = {
	{ .op = "generate.file", .name = "logits", .help = "writes all logits", .prepare = prepare, .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "logits", .version = "1", .variants = variants, .n_variants = 1,
};
