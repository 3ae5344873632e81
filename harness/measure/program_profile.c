/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a case, profiled on both sides. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/profile.h"
#include "measure/program.h"

struct side {
	const struct assay_case *c;
	const struct assay_measure_options *o;
	char path[PATH_MAX];               /* of the program */
	const struct assay_format *format; /* that it writes its benchmarks in; NULL: it has none */
	struct assay_program_runner runner;
	struct assay_program_sampling sampling;
	struct assay_profile *out;
	struct assay_profile_end *end;
};

static void fail(struct assay_profile_end *end, enum assay_status status, const char *why)
{
	end->status = status;
	snprintf(end->reason, sizeof(end->reason), "%.400s", why);
}

/* The time of the benchmark, as the program wrote it. */
static int read_benchmark(struct side *s, const struct assay_program_asking *asking, double *ns, struct assay_err *err)
{
	struct assay_text text = { 0 };
	struct assay_result r = { 0 };
	char why[ASSAY_PROGRAM_WHY_MAX];
	int rc = assay_program_kept(&s->runner, 0, &text, err);

	if (!rc)
		rc = assay_program_asking_read(asking, &text, &r, why, err);
	if (!rc && why[0])
		fail(s->end, ASSAY_STATUS_FAILED, why);
	*ns = r.median_ns;
	assay_result_release(&r);
	assay_text_release(&text);
	return rc;
}

static int sample_words(struct side *s, const struct assay_strings *words, double *ns, struct assay_err *err)
{
	const char **argv = calloc(words->n + 1, sizeof(*argv));
	struct assay_process p = { 0 };
	struct assay_err why = { 0 };
	uint64_t wall_ns = 0;
	bool in_time;
	char how[128];
	int rc;

	if (!argv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < words->n; i++)
		argv[i] = words->v[i];
	argv[0] = s->path;
	s->sampling.process.argv = argv;
	s->sampling.process.stdout_fd = s->runner.keep[0];
	s->sampling.process.stderr_fd = s->runner.keep[1];
	rc = assay_program_sample(&s->sampling, &p, s->out, &wall_ns, &why);
	free(argv);
	if (rc == ASSAY_EUSAGE || rc == ASSAY_EUNAVAILABLE) {
		fail(s->end, ASSAY_STATUS_FAILED, why.text);
		return 0;
	}
	if (rc)
		return assay_err_set(err, rc, "%s", why.text);
	*ns = (double)wall_ns;
	in_time = assay_process_ended(&p);
	if (!in_time)
		assay_process_kill(&p);
	if (s->o->worker.interrupted && *s->o->worker.interrupted)
		return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
	assay_process_describe(&p, how, sizeof(how));
	if (!in_time)
		fail(s->end, ASSAY_STATUS_TIMEOUT, "it ran into the limit of its bench while it was profiled");
	else if (p.status)
		fail(s->end, ASSAY_STATUS_FAILED, how);
	return 0;
}

static int sample_side(struct side *s, const struct assay_strings *command, double *ns, struct assay_err *err)
{
	struct assay_program_asking asking = { .format = s->format, .benchmark = s->c->benchmark };
	int rc = assay_program_keep(&s->runner, true, err);

	if (!rc && s->format)
		rc = assay_program_asking_begin(&asking, ASSAY_ASK_MEASURE, command, err);
	if (!rc)
		rc = sample_words(s, s->format ? &asking.words : command, ns, err);
	if (!rc && s->end->status == ASSAY_STATUS_OK && s->format)
		rc = read_benchmark(s, &asking, ns, err);
	assay_program_asking_end(&asking);
	assay_program_runner_release(&s->runner);
	return rc;
}

void assay_program_path(const char *folder, const struct assay_strings *words, char *path, size_t size)
{
	const bool in_folder = folder && words->v[0][0] != '/' && strchr(words->v[0], '/');

	snprintf(path, size, "%s%s%s", in_folder ? folder : "", in_folder ? "/" : "", words->v[0]);
}

int assay_program_profile_pair(const struct assay_case *c, const struct assay_catalog_op *op,
			       const struct assay_measure_options *o, const struct assay_profile_pair_options *p,
			       struct assay_profile_pair *out, struct assay_profile_end *end, struct assay_err *err)
{
	const struct assay_format *format = NULL;
	struct assay_strings words = { 0 };
	cpu_set_t set;
	int *cpus = NULL;
	int rc = op->program->reads ? assay_format_find(op->program->reads, &format, err) : 0;

	*end = (struct assay_profile_end){ .status = ASSAY_STATUS_OK };
	if (!rc)
		rc = assay_program_words(op, c, &words, err);
	if (!rc)
		rc = assay_program_place(c, o, &cpus, &set, err);
	/* the order changes from pair to pair, so that neither side always comes first */
	for (unsigned i = 0; i < 2 && !rc && end->status == ASSAY_STATUS_OK; i++) {
		const unsigned which = (i + p->layout_seed) % 2;
		struct side s = { .c = c,
				  .o = o,
				  .format = format,
				  .sampling = { .process = { .cwd = p->folders[which],
							     .keep_fd = -1,
							     .interrupted = o->worker.interrupted },
						.how = p->sampling[which],
						.op = c->op,
						.cpus = &set,
						.for_ns = c->timeout_ns,
						.interrupted = o->worker.interrupted },
				  .out = &out->side[which],
				  .end = end };

		assay_program_path(p->folders[which], &words, s.path, sizeof(s.path));
		rc = sample_side(&s, &words, &out->iteration_ns[which], err);
	}
	free(cpus);
	assay_strings_release(&words);
	return rc;
}
