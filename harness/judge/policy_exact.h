/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the policy file that speaks of exact counts. Inside of the policy's own files. */
#ifndef ASSAY_JUDGE_POLICY_EXACT_H
#define ASSAY_JUDGE_POLICY_EXACT_H

#include "base/conf.h"
#include "judge/policy.h"

/* Take one section exact "GLOB" { allow = {…} }. ASSAY_EUSAGE with "file:line: …". */
int assay_policy_add_exact(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err);
/* The title of a section that is a glob over keys, into @out (ASSAY_KEY_MAX). */
int assay_policy_read_glob(const char *path, const struct assay_conf_section *s, char *out, struct assay_err *err);

#endif
