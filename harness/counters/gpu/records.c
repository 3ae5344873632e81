/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/gpu/records.h"

#include <stdio.h>

#include "base/file.h"

int assay_gpu_library(char *path, size_t size, struct assay_err *err)
{
	char dir[4096];
	int rc = assay_file_exe_dir(dir, sizeof(dir), err);

	if (rc)
		return rc;
	snprintf(path, size, "%s/../lib/assay/assay-gpu.so", dir);
	if (!assay_file_exists(path))
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "there is no '%s': make builds it, make install installs it", path);
	return 0;
}
