/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the recorder share: what it keeps of the calling thread, and what is recorded at all. */
#ifndef ASSAY_COUNTERS_WAITS_THREAD_SELF_H
#define ASSAY_COUNTERS_WAITS_THREAD_SELF_H

#include <time.h>

#include "counters/waits/thread_file.h"

#define ASSAY_THREAD_SITE_BITS  9
#define ASSAY_THREAD_MOST_DEPTH 64
#define ASSAY_THREAD_TLS        __attribute__((tls_model("initial-exec")))

/* What is private to a thread. Its memory comes from mmap(), because malloc() may be watched, too. */
struct assay_thread_self {
	struct assay_thread_record *record;
	struct assay_thread_chunk *chunk;
	struct assay_known_stacks known;
	uint32_t sites[1 << ASSAY_THREAD_SITE_BITS]; /* by the hash of frames and call */
	uint32_t n_sites;
	const void *object;     /* that it waits for */
	uint64_t asleep_cpu_ns; /* processor time that it had taken when it went to sleep, where that is measured */
	uint64_t sleep_cpu_ns[ASSAY_N_WAIT_CALLS]; /* what a sleep in each call takes of a processor: a moving mean */
	uint32_t measured;                         /* calls whose sleep was measured since the last mark, as bits */
	bool measuring;                            /* that of the wait that goes on is */
	uint32_t holder;                           /* thread that holds the object; 0: not known */
	uint32_t depth;                            /* of open spans */
	struct {
		uint64_t begin_ns;
		uint32_t name;
	} open[ASSAY_THREAD_MOST_DEPTH];
	bool inside; /* its stack is unwound: a wait within that is not recorded */
	int schedstat;
};

struct assay_thread_recording {
	bool on, windows;    /* windows: only what assay_thread_watch() begins and ends is counted */
	uint64_t most_spans; /* 0: none are kept */
};
extern struct assay_thread_recording assay_thread_recording;

/* The calling thread; NULL where it is not known, or ends. */
extern __thread struct assay_thread_self *assay_thread_me ASSAY_THREAD_TLS;
/* The same; recording of a thread that is not known begins. NULL where it cannot. */
struct assay_thread_self *assay_thread_self(void);

uint64_t assay_thread_now_ns(clockid_t clock);
/* Do all threads meet in this kind of wait? */
bool assay_thread_meets(uint32_t call);
/* Read what the kernel knows of @t, the calling thread, unless that was done a short while before @now_ns. */
void assay_thread_mark_if_due(struct assay_thread_self *t, uint64_t now_ns);
/* Keep a span of @t, the calling thread, where spans are kept. */
void assay_thread_keep_span(struct assay_thread_self *t, const struct assay_thread_span *s);

#endif
