/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/entry.h"

#include "worker/main.h"

bool assay_drive_entry(int argc, char **argv, int *status)
{
	if (!assay_worker_is_command(argc, argv))
		return false;
	*status = assay_worker_main(argc, argv);
	return true;
}
