/* SPDX-License-Identifier: Apache-2.0 */
/* One line in a thousand more to read. */
#define LONGER      0
#define EXTRA_LINES 1
#include "exact_kernel.h"
