/* SPDX-License-Identifier: Apache-2.0 */
/* A device in one line for people and for fingerprints: what decides its speed. */
#ifndef ASSAY_MODEL_DEVICE_TEXT_H
#define ASSAY_MODEL_DEVICE_TEXT_H

#include <stddef.h>

#include "assay/plugin.h"

/*
 * "NVIDIA H200, sm_90, 132 units, 1980 MHz, 139 GiB, L2 60 MiB, ECC on, MIG off, PCIe 5 x16, driver 570.86.15",
 * without what is unknown. It names no piece: two of a kind have the same text.
 */
void assay_device_text(const struct assay_device_info *i, char *buf, size_t size);

#endif
