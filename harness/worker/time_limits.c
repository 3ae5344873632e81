/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/time_limits.h"

#include <math.h>

/* Neighbours may slow a machine down by so much, and hold it up for so long, without that anything hangs. */
#define FACTOR   20
#define FLOOR_NS UINT64_C(10000000000)
/*
 * The limit for a command that was never done before: at least this share of the timeout, and the time that work takes
 * at so many operations and bytes a second.
 */
#define FIRST_SHARE       4
#define FIRST_UNITS_PER_S 2e7
/* Counting one call takes about so many of what checking it takes under the simulator. */
#define COUNT_FACTOR 10
/* A step, where the hypervisor takes the trap. */
#define STEP_NS 20e3
/* A time that the machine stood still counts as so many looks. */
#define SLICES 2

/* Calls of the command itself; a hand-over brings one more. */
static double calls_of(const struct assay_timeout_history *p, enum assay_command cmd, const struct assay_worker_args *a)
{
	double each = (double)a->iterations + (double)a->extra_iterations + 1;

	if (cmd == ASSAY_CMD_SAMPLE)
		return (double)a->iterations * a->count + 1;
	if (a->turn_parts && p->call_parts)
		return 2.0 * a->count * a->turn_parts / (double)p->call_parts + 2;
	return 2.0 * a->count * each * (1 + a->stretch_frac);
}

/* The time that a command took, on this side or on the other; 0: this one never had it. */
static double most_taken(const struct assay_timeout_history *p, enum assay_command cmd)
{
	const uint64_t own = p->took_ns[cmd], others = p->other ? p->other->took_ns[cmd] : 0;

	return own ? fmax((double)own, (double)others) : 0;
}

/* 0: unknown. */
static double expect(const struct assay_timeout_history *p, enum assay_command cmd, const struct assay_worker_args *a)
{
	const double verify = most_taken(p, ASSAY_CMD_VERIFY), prepare = most_taken(p, ASSAY_CMD_PREPARE);
	double derived = 0;

	switch (cmd) {
	case ASSAY_CMD_SAMPLE:
	case ASSAY_CMD_PAIR:
		/* a command of its kind may have been shorter */
		return p->calls > 0 ? p->call_ns * calls_of(p, cmd, a) : verify * calls_of(p, cmd, a);
	case ASSAY_CMD_RECHECK: /* the last outputs, and once more all that a sample does */
		derived = 2 * verify + p->call_ns * (double)p->iterations;
		break;
	case ASSAY_CMD_COUNT:
		derived = COUNT_FACTOR * verify;
		break;
	case ASSAY_CMD_STEP: /* both calls; a first stretch tells nothing of all of them */
		return 2 * STEP_NS * (double)a->max_steps;
	case ASSAY_CMD_OUTPUT:
		derived = verify;
		break;
	case ASSAY_CMD_REPORT:
	case ASSAY_CMD_FINISH:
		derived = prepare + verify;
		break;
	default:
		break;
	}
	return fmax(derived, most_taken(p, cmd));
}

static double first_ns(const struct assay_timeout_history *p, const struct assay_case_facts *f, uint64_t timeout_ns)
{
	const double share = p->first_ns ? (double)p->first_ns : (double)timeout_ns / FIRST_SHARE;
	double units;

	if (!f)
		return share;
	units = (f->cost.ops + f->cost.bytes_read + f->cost.bytes_written) * (double)f->copies + (double)f->bytes;
	return fmax(share, units / FIRST_UNITS_PER_S * 1e9);
}

static uint64_t most_of(const struct assay_timeout_history *p, double ns)
{
	return (uint64_t)fmin(9e18, fmax((double)(p->floor_ns ? p->floor_ns : FLOOR_NS), ns));
}

struct assay_timeout_limit assay_timeout_limit(const struct assay_timeout_history *p, enum assay_command cmd,
					       const struct assay_worker_args *args,
					       const struct assay_case_facts *facts, uint64_t timeout_ns)
{
	const double expected = expect(p, cmd, args);

	return (struct assay_timeout_limit){
		.expected_ns = (uint64_t)fmin(9e18, ceil(expected)),
		.most_ns = most_of(p, expected > 0 ? FACTOR * expected : first_ns(p, facts, timeout_ns)),
	};
}

struct assay_timeout_limit assay_timeout_history_sum(const struct assay_timeout_history *p,
						     struct assay_timeout_limit a, struct assay_timeout_limit b)
{
	const double expected = (double)a.expected_ns + (double)b.expected_ns;

	return (struct assay_timeout_limit){ .expected_ns = (uint64_t)fmin(9e18, expected),
					     .most_ns = most_of(p, FACTOR * expected) };
}

void assay_timeout_history_learn(struct assay_timeout_history *p, enum assay_command cmd,
				 const struct assay_worker_args *args, uint64_t took_ns)
{
	if (took_ns > p->took_ns[cmd])
		p->took_ns[cmd] = took_ns;
	if (cmd == ASSAY_CMD_SAMPLE || cmd == ASSAY_CMD_PAIR) {
		const double calls = calls_of(p, cmd, args), call_ns = (double)took_ns / calls;

		p->iterations = args->iterations;
		if (calls < p->calls)
			return;
		p->call_ns = calls > p->calls ? call_ns : fmax(p->call_ns, call_ns);
		p->calls = calls;
	}
}

uint64_t assay_timeout_history_counted(uint64_t passed_ns, uint64_t slice_ns)
{
	return passed_ns < SLICES * slice_ns ? passed_ns : SLICES * slice_ns;
}
