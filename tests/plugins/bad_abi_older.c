/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of an older ABI. */
#define BAD_MAJOR 0
#define BAD_MINOR 9
#include "bad_abi.h"
