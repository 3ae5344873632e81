/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol is there, what lies behind it is not a descriptor. */
#include <assay/plugin.h>

ASSAY_EXPORT extern const uint32_t assay_plugin_v1[8];
ASSAY_EXPORT const uint32_t assay_plugin_v1[8] = { 0xdeadbeef };
