/* SPDX-License-Identifier: Apache-2.0 */
/* Which profile is asked for. */
#ifndef ASSAY_DRIVE_PROFILE_REQUEST_H
#define ASSAY_DRIVE_PROFILE_REQUEST_H

#include "drive/request.h"

#define ASSAY_PROFILE_FOR_NS  5000000000u
#define ASSAY_TRACE_FOR_NS    100000000u /* of a trace, whose size is that of what happens */
#define ASSAY_PROFILE_RATE_HZ 997        /* a prime, so that it is not in step with any timer */
#define ASSAY_PROFILE_MOST_HZ 10000

struct assay_profile_request {
	const struct assay_request *what;
	const char *kind;           /* one of those that assay_profile_kind_check() knows */
	const char *key;            /* of the case: its key, or what selects it alone; NULL: a program */
	const char *const *command; /* of a program, NULL-terminated */
	uint64_t sample_bytes;      /* of the heap: mean bytes from sample to sample; 0: every allocation */
	unsigned rate_hz;           /* 0: ASSAY_PROFILE_RATE_HZ */
	const char *name;           /* under which it is stored in what->db; NULL: it is not */
	size_t keep;                /* of that name: so many of the newest stay; 0: that is not said */
	unsigned keep_days;         /* of that name: what is younger stays; 0: that is not said */
	uint64_t for_ns; /* 0: ASSAY_PROFILE_FOR_NS or ASSAY_TRACE_FOR_NS of a case, and a program to its end */
};

#endif
