/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plugin at all. */
#include <assay/plugin.h>

ASSAY_EXPORT extern const int something_else;
ASSAY_EXPORT const int something_else = 1;
