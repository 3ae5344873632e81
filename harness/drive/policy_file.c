/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/policy_file.h"

#include <stdio.h>
#include <string.h>

#include "drive/hints.h"
#include "drive/project.h"

int assay_policy_file_load(struct assay_policy *p, const char *named, char *path, struct assay_err *err)
{
	int rc;

	if (named) {
		snprintf(path, ASSAY_POLICY_PATH_MAX, "%s", named);
	} else {
		rc = assay_project_baseline_dir(path, ASSAY_INSTALLED_PATH_MAX, err);
		if (rc)
			return rc;
		strcat(path, "/policy.conf");
	}
	rc = assay_policy_load(p, path, err);
	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no policy '%s': write one, an empty file takes the defaults, or name one with "
				     "--policy",
				     path);
	return assay_hint_user_path(rc, err);
}
