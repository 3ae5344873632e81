/* SPDX-License-Identifier: Apache-2.0 */
/* Five functions of compare_five.c, of which the third takes eleven times as long, and all together three times. */
#define FIVE_SLOW    3
#define FIVE_PERCENT 1000
#include "five_parts.h"
