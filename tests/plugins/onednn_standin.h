/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ONEDNN_STANDIN_H
#define ONEDNN_STANDIN_H

#include <stdint.h>

struct onednn_standin {
	struct {
		int major, minor, patch;
		const char *hash;
		unsigned cpu_runtime;
	} version;
	int isa, fails;
};

#endif
