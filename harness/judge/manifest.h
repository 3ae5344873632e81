/* SPDX-License-Identifier: Apache-2.0 */
/* The committed cases that a suite must measure: a benchmark that silently disappears fails the gate. */
#ifndef ASSAY_JUDGE_MANIFEST_H
#define ASSAY_JUDGE_MANIFEST_H

#include "base/text.h"
#include "model/case.h"
#include "model/catalog.h"

/*
 * File format, '#' opens a comment:
 *     required quantize.{i2_s,tq2_0}/ref/n={4096,1048576}/t={1,all}/{warm,cold}
 *     may-skip quantize.i2_s/avx2/n=1048576/t=all/warm on x86_64
 *     optional matmul.f32/openblas/m=512,n=512,k=512/t=1/warm
 * A line with lists in braces names a case for each combination of their words. There are no wildcards: a line that
 * stood for whatever the bench files plan could not tell what they no longer plan.
 * `required`: must be measured. `may-skip`: status skipped is allowed (a CPU feature, a number of threads). `optional`:
 * its plugin may be missing as a whole, because it needs a package or a device's compiler; a variant of which any case
 * was planned must have all of them. `on ARCH`: the line counts on that architecture only. t=all stands for the number
 * of threads that `all` meant in the run.
 */
/* The strictest first. */
enum assay_manifest_demand {
	ASSAY_MANIFEST_REQUIRED,
	ASSAY_MANIFEST_MAY_SKIP,
	ASSAY_MANIFEST_OPTIONAL, /* may be skipped, too */
};
/* The word in the file. */
const char *assay_manifest_demand_name(enum assay_manifest_demand d);

/* So many cases at most are in one line. */
#define ASSAY_MANIFEST_LINE_CASES 10000

/* One case. */
struct assay_manifest_entry {
	char key[ASSAY_KEY_MAX];
	enum assay_manifest_demand demand;
	unsigned line;
};

/* Lines for other architectures are checked and then left out. */
struct assay_manifest {
	char path[512];
	struct assay_manifest_entry *entries;
	size_t n_entries;
};

/*
 * ASSAY_ENOTFOUND when the file is absent, ASSAY_EUSAGE with "file:line: …" when it is malformed, names a case twice or
 * names none at all. On error @m is unchanged.
 */
int assay_manifest_load(struct assay_manifest *m, const char *path, struct assay_err *err);
void assay_manifest_release(struct assay_manifest *m);

/*
 * All manifests of a folder, in order of their names: what the policy may name (assay_gate_input.other_manifests). A
 * folder that does not exist has none. On error nothing is kept.
 */
struct assay_manifest_list {
	struct assay_manifest **v;
	size_t n;
};
int assay_manifest_list_load(struct assay_manifest_list *l, const char *dir, struct assay_err *err);
void assay_manifest_list_release(struct assay_manifest_list *l);

/*
 * Write the manifest of a planned suite: optional what comes from a plugin that is only built where a package is found
 * (its file is named FAMILY-PACKAGE.so) or runs on a device; may-skip what needs CPU features or more threads than one;
 * required all others. Cases that differ in one word of their keys are written as one line with a list.
 */
int assay_manifest_format(const char *suite, const struct assay_case *cases, size_t n, const struct assay_catalog *cat,
			  struct assay_text *out, struct assay_err *err);

/* Does the entry's key (also with t=all) name this case? */
bool assay_manifest_matches(const struct assay_manifest_entry *e, const struct assay_case *c);
/* The same where `all` threads are @all_threads: on one core t=all and t=1 are one case, planned as t=1. */
bool assay_manifest_names(const struct assay_manifest_entry *e, const struct assay_case *c, unsigned all_threads);
/* The keys of entries that name @c so, the first @names of them; up to 3. */
size_t assay_manifest_names_of(const struct assay_case *c, unsigned all_threads, char names[3][ASSAY_KEY_MAX]);
/* Is the entry's case of the op and variant of @c? */
bool assay_manifest_of_variant(const struct assay_manifest_entry *e, const struct assay_case *c);

#endif
