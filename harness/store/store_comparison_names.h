/* SPDX-License-Identifier: Apache-2.0 */
/* Names of controls and sides as the tables write them. Inside of the store. */
#ifndef ASSAY_STORE_STORE_COMPARISON_NAMES_H
#define ASSAY_STORE_STORE_COMPARISON_NAMES_H

#include "model/comparison.h"

#define ASSAY_STORE_N_CONTROLS 3

/* By enum assay_control and enum assay_side. */
extern const char *const assay_store_control_names[ASSAY_STORE_N_CONTROLS];
extern const char *const assay_store_side_names[2];

#endif
