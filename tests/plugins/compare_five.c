/* SPDX-License-Identifier: Apache-2.0 */
/* Five functions that take the same. */
#define FIVE_SLOW    0
#define FIVE_PERCENT 0
#include "five_parts.h"
