/* SPDX-License-Identifier: Apache-2.0 */
/* What a program that drives measurements must do first, because the program is also its own worker. */
#ifndef ASSAY_DRIVE_ENTRY_H
#define ASSAY_DRIVE_ENTRY_H

#include <stdbool.h>

/* To be called at the start of main(). True: it was a worker, has done its work, and *status is to be returned. */
bool assay_drive_entry(int argc, char **argv, int *status);

#endif
