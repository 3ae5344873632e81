/* SPDX-License-Identifier: Apache-2.0 */
/* Five functions of compare_five.c, of which the third takes a quarter more. */
#define FIVE_SLOW    3
#define FIVE_PERCENT 25
#include "five_parts.h"
