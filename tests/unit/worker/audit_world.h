/* SPDX-License-Identifier: Apache-2.0 */
/* The expected findings of audits about variants that do less when they are timed, and about honest ones. */
#ifndef ASSAY_TESTS_AUDIT_WORLD_H
#define ASSAY_TESTS_AUDIT_WORLD_H

#include "sides_world.h"

#include "counters/preloaded.h"

#define N 4096

/* With a sanitizer, or under an emulator (make test-arm64), to compare blocks takes as long as the work. */
static inline bool comparing_is_slow(void)
{
	return ASSAY_SANITIZED_HEAP || getenv("ASSAY_TEST_QEMU");
}

/* Some audits miss a kernel that compares its inputs or its outputs with what it keeps, a good part of the work. */
static inline int tries_of(const char *variant, const char *reason)
{
	return reason && (!strcmp(variant, "memo") || !strcmp(variant, "peek")) ? 6 : 1;
}

/* The head's variant, alone: WRONG for @reason, or right where that is NULL. */
static inline void check_alone(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
			       unsigned threads, const char *reason)
{
	struct assay_result r = { .status = ASSAY_STATUS_OK };

	for (int i = tries_of(variant, reason); i && r.status == ASSAY_STATUS_OK; i--) {
		assay_result_release(&r);
		measure_alone(s, variant, n, cache, threads, &r);
	}
	if (r.status != (reason ? ASSAY_STATUS_WRONG : ASSAY_STATUS_OK) || (reason && !strstr(r.reason, reason)))
		fail_msg("'%s': %s, '%s'", r.c.key, assay_status_name(r.status), r.reason);
	assert_int_equal(r.n_samples > 0, !reason);
	assay_result_release(&r);
}

/* Likewise, in a pair with the base, which is right. */
static inline void check_in_pair(struct sides *s, const char *variant, int64_t n, const char *reason)
{
	struct assay_pair p = { 0 };
	const struct assay_result *head = &p.side[ASSAY_HEAD];

	for (int i = tries_of(variant, reason); i && head->status == ASSAY_STATUS_OK; i--) {
		assay_pair_release(&p);
		measure_in_pair(s, variant, n, &p);
	}
	if (p.side[ASSAY_BASE].status != ASSAY_STATUS_OK ||
	    head->status != (reason ? ASSAY_STATUS_WRONG : ASSAY_STATUS_OK) ||
	    (reason && !strstr(head->reason, reason)))
		fail_msg("'%s': base '%s', head '%s'", variant, p.side[ASSAY_BASE].reason, head->reason);
	assay_pair_release(&p);
}

#endif
