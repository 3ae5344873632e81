/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of a newer ABI. */
#define BAD_MAJOR 2
#define BAD_MINOR 0
#include "bad_abi.h"
