/* SPDX-License-Identifier: Apache-2.0 */
/* Which policy a gate or a comparison uses. */
#ifndef ASSAY_DRIVE_POLICY_FILE_H
#define ASSAY_DRIVE_POLICY_FILE_H

#include "drive/installed.h"
#include "judge/policy.h"

#define ASSAY_POLICY_PATH_MAX (ASSAY_INSTALLED_PATH_MAX + 16)

/*
 * Load the policy @named, or for NULL the one in the folder of baselines. @path[ASSAY_POLICY_PATH_MAX] gets its path.
 * ASSAY_EUSAGE if there is none or it cannot be read: judging by the defaults instead would check no limit.
 */
int assay_policy_file_load(struct assay_policy *p, const char *named, char *path, struct assay_err *err);

#endif
