/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions and system calls may be stepped, whether one instruction can have followed another, and the
 * messages for why not. All but the texts are async-signal-safe.
 */
#ifndef ASSAY_COUNTERS_STEP_RULES_H
#define ASSAY_COUNTERS_STEP_RULES_H

#include "counters/step/decode.h"

enum assay_step_rule {
	ASSAY_STEP_RULE_NONE,
	ASSAY_STEP_RULE_INSTRUCTION, /* struct assay_step_refusal says more */
	ASSAY_STEP_RULE_FLAGS,
	ASSAY_STEP_RULE_TRAP,
	ASSAY_STEP_RULE_OLD_CALL,
	ASSAY_STEP_RULE_SIGNAL,
	ASSAY_STEP_RULE_THREAD,
	ASSAY_STEP_RULE_LOST,
	ASSAY_STEP_RULE_SPACE,
};

/* Why @i, before which the registers are @r, must not be stepped. */
enum assay_step_rule assay_step_refused(const struct assay_step_insn *i, const struct assay_step_regs *r);

/*
 * Can @now be the instruction after @i, before which the registers were @before? If not, other code ran between the
 * two: the handler of a signal, which changed where its thread goes on, or instructions for which the processor did not
 * trap.
 */
bool assay_step_follows(const struct assay_step_insn *i, const struct assay_step_regs *before,
			const struct assay_step_regs *now);

/* "changes or sends signals", "changed while it ran: 90 c3", …: what is said of the code at an address. */
void assay_step_rule_text(enum assay_step_rule rule, const struct assay_step_refusal *more, char *buf, size_t size);

#endif
