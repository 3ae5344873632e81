/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/gating.h"

#include <inttypes.h>
#include <stdio.h>

#include "drive/exact_gate.h"
#include "drive/gate_input.h"
#include "drive/hints.h"
#include "drive/installed.h"

/* What to do so that the next gate can judge speed. */
static int advise(const struct assay_gate_files *f, const char *db, char **out, struct assay_err *err)
{
	char measure[ASSAY_INSTALLED_PATH_MAX], save[ASSAY_INSTALLED_PATH_MAX], number[64];
	struct assay_text text = { 0 };

	assay_command_text(measure, sizeof(measure), "run", f->run.suite, db);
	snprintf(number, sizeof(number), "baseline save main --run %" PRId64, f->run.id);
	assay_command_text(save, sizeof(save), number, NULL, db);
	if (!f->run.ended_ns)
		assay_text_addf(&text,
				"speed was not judged: no baseline on this machine yet, and run %" PRId64
				" cannot become one, since it did not finish; measure a whole one with '%s'",
				f->run.id, measure);
	else if (f->base_is_itself)
		assay_text_addf(&text,
				"speed was not judged: the baseline holds only run %" PRId64
				" itself; measure another run with '%s' and judge that",
				f->run.id, measure);
	else
		assay_text_addf(&text, "speed was not judged: no baseline on this machine yet; save one with '%s'",
				save);
	*out = assay_text_take(&text);
	return *out ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int judge_files(const struct assay_gate_files *f, const struct assay_gate_request *q,
		       struct assay_gate_report *report, struct assay_err *err)
{
	const struct assay_gate_input in = {
		.run = &f->run,
		.manifest = &f->manifest,
		.policy = &f->policy,
		.base = f->base_list,
		.n_base = f->n_base,
		.base_name = f->base_name[0] ? f->base_name : NULL,
		.no_base_reason = f->no_base_reason[0] ? f->no_base_reason : NULL,
		.allow_no_baseline = q->allow_no_baseline,
		.strict = q->strict,
		.other_manifests = (const struct assay_manifest *const *)f->other.v,
		.n_other_manifests = f->other.n,
		.countable = &f->countable,
		.all_threads = f->run.all_threads,
	};

	return assay_gate_judge(&in, report, err);
}

static int judge_run(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_store *store,
		     struct assay_gate_report *report, struct assay_err *err)
{
	struct assay_gate_files f = { 0 };
	int rc = assay_gate_files_load(&f, store, q, err);

	if (!rc)
		rc = judge_files(&f, q, report, err);
	if (!rc && q->take == ASSAY_TAKE_ALL)
		rc = f.run.exact ? assay_exact_gate_beside(f.run.exact, &f.policy, q, w, report, err)
				 : assay_exact_gate_none(&f.run, q, w, err);
	if (!rc && !f.n_base)
		rc = advise(&f, q->db, &report->advice, err);
	assay_gate_files_release(&f);
	return rc;
}

/* An option that the evidence has no use for would be believed to bind. */
static int check_options(const struct assay_gate_request *q, struct assay_err *err)
{
	const char *of_times = q->manifest            ? "--manifest"
			       : q->baseline          ? "--baseline"
			       : q->allow_no_baseline ? "--allow-no-baseline"
						      : NULL;

	if (q->take == ASSAY_TAKE_COUNTS && of_times)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is for times, and --evidence exact judges counts alone: drop one", of_times);
	if (q->take == ASSAY_TAKE_TIMES && q->exact_file)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--exact-file is for counts, and --evidence stored judges none: drop one");
	return 0;
}

int assay_gate(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_gate_report *report,
	       struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = check_options(q, err);

	if (!rc)
		rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);
	if (!rc)
		rc = q->take == ASSAY_TAKE_COUNTS ? assay_exact_gate_alone(store, q, report, err)
						  : judge_run(q, w, store, report, err);
	assay_store_close(store);
	return rc;
}
