/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which share of what the machine can do a case reached: the roofline of Williams, Waterman and Patterson (CACM 2009),
 * with limits that the run measured. Internal to this folder.
 */
#ifndef ASSAY_MEASURE_ROOF_H
#define ASSAY_MEASURE_ROOF_H

#include "model/catalog.h"
#include "model/result.h"

enum assay_limit {
	ASSAY_LIMIT_READ, /* reading at the level where the data of the case lies, bytes a second */
	ASSAY_LIMIT_COPY, /* copying there */
	ASSAY_LIMIT_PEAK, /* the arithmetic of its op, operations a second */
	ASSAY_N_LIMITS,
};

struct assay_limits {
	const char *level;              /* where the data of the case lies: "l1" to "dram", or "2xllc" */
	size_t at[ASSAY_N_LIMITS];      /* result of the run that it comes from */
	const char *op[ASSAY_N_LIMITS]; /* of that result */
	double rate[ASSAY_N_LIMITS];    /* 0: the run has none that the case could be held against */
	bool measured[ASSAY_N_LIMITS];  /* does the run have a result of it, be it without an interval? */
};

/* The least time of a case, and what bounds it. */
struct assay_roof {
	double seconds;            /* 0: there is nothing to hold the case against */
	double of[ASSAY_N_LIMITS]; /* seconds that each limit adds to moving data, and those of the arithmetic */
	struct assay_result_roof what;
	struct assay_err why;
};

/*
 * Find the best of the run for each limit of case @c, with as many threads. @facts are those of the results of the run,
 * @f that of the case.
 */
void assay_limits_find(const struct assay_run *run, const struct assay_case_facts *facts, const struct assay_case *c,
		       const struct assay_case_facts *f, const struct assay_host_info *host, struct assay_limits *out);
void assay_roof_find(const struct assay_limits *l, const struct assay_case *c, const struct assay_case_facts *f,
		     struct assay_roof *out);

/* If both were measured interleaved, widen the interval of @r so that it also contains that of @round. */
void assay_roof_widen(struct assay_result *r, const struct assay_result *round);

/* Does @r have its share already, from an interleaved measurement? */
bool assay_roof_has(const struct assay_result *r);
/* Add the share of @roof and the time that it allows, or the reason why there is none. Non-zero: out of memory. */
int assay_roof_add(struct assay_result *r, const struct assay_roof *roof);
/* The same with the limits of the run. @facts are those of its results, @f is that of @r. */
int assay_roof_add_of_run(const struct assay_run *run, const struct assay_case_facts *facts,
			  const struct assay_case_facts *f, const struct assay_host_info *host, struct assay_result *r);
/* Add metric @tag, or the reason why @value is not a number that it may have. Non-zero: out of memory. */
int assay_roof_add_share(struct assay_result *r, const char *tag, double value);

#endif
