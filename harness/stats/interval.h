/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_INTERVAL_H
#define ASSAY_STATS_INTERVAL_H

struct assay_interval {
	double lo, hi;
};

#endif
