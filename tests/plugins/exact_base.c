/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel as it was recorded. */
#define LONGER      0
#define EXTRA_LINES 0
#include "exact_kernel.h"
