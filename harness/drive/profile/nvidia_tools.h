/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's profilers, which run instead of assay's own: Nsight Systems and Nsight Compute. */
#ifndef ASSAY_DRIVE_PROFILE_NVIDIA_TOOLS_H
#define ASSAY_DRIVE_PROFILE_NVIDIA_TOOLS_H

#include "drive/profile/request.h"
#include "drive/watch.h"

/* ASSAY_EUSAGE with the tools that exist. */
int assay_profile_tool_check(const char *tool, struct assay_err *err);
/* Can @tool write @path, judging by its ending? ASSAY_EUSAGE says which ending it must have. */
int assay_profile_tool_output(const char *tool, const char *path, struct assay_err *err);
/*
 * Run @tool on the case or the program of @q; its report becomes @path.
 * ASSAY_EUNAVAILABLE where it is not installed, ASSAY_EWORKER where it fails.
 */
int assay_profile_tool_run(const char *tool, const struct assay_profile_request *q, const struct assay_watch *w,
			   const char *path, struct assay_err *err);

#endif
