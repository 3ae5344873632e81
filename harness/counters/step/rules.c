/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that would escape from the steps, end them, or notice them. */
#include "counters/step/stepper.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <sys/syscall.h>

/* System calls after which steps would tell nothing, or would end the process. */
static enum assay_step_rule refused_call(uint64_t number)
{
	switch (number) {
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		return ASSAY_STEP_RULE_THREAD;
	case SYS_alarm:
	case SYS_kill:
	case SYS_pidfd_send_signal:
	case SYS_ptrace:
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_sigreturn:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
	case SYS_rt_tgsigqueueinfo:
	case SYS_setitimer:
	case SYS_sigaltstack:
	case SYS_tgkill:
	case SYS_timer_create:
	case SYS_tkill:
		return ASSAY_STEP_RULE_SIGNAL;
	default:
		return ASSAY_STEP_RULE_NONE;
	}
}
#else
static enum assay_step_rule refused_call(uint64_t number)
{
	(void)number;
	return ASSAY_STEP_RULE_NONE;
}
#endif

enum assay_step_rule assay_step_refused(const struct assay_step_insn *i, const struct assay_step_regs *r)
{
	return i->flow == ASSAY_STEP_TRAP          ? ASSAY_STEP_RULE_TRAP
	       : i->flow == ASSAY_STEP_OLD_CALL    ? ASSAY_STEP_RULE_OLD_CALL
	       : i->writes_flags || i->reads_flags ? ASSAY_STEP_RULE_FLAGS
	       : i->flow == ASSAY_STEP_SYSCALL     ? refused_call(r->gpr[ASSAY_STEP_RAX])
						   : ASSAY_STEP_RULE_NONE;
}

bool assay_step_follows(const struct assay_step_insn *i, const struct assay_step_regs *before,
			const struct assay_step_regs *now)
{
	const uint64_t next = i->address + i->length;

	switch ((enum assay_step_flow)i->flow) {
	case ASSAY_STEP_CONDITIONAL:
		return now->rip == next || now->rip == i->target;
	case ASSAY_STEP_JUMP:
	case ASSAY_STEP_CALL:
		return now->rip == i->target;
	case ASSAY_STEP_RETURN:
		/* what it took from the stack still stands there */
		return now->rip == *(const uint64_t *)(uintptr_t)before->gpr[ASSAY_STEP_RSP];
	case ASSAY_STEP_JUMP_INDIRECT:
	case ASSAY_STEP_CALL_INDIRECT:
		return true;
	default:
		return now->rip == next || (i->rep && now->rip == i->address);
	}
}

void assay_step_rule_text(enum assay_step_rule rule, const struct assay_step_refusal *more, char *buf, size_t size)
{
	static const char *const texts[] = {
		[ASSAY_STEP_RULE_NONE] = "can be stepped",
		[ASSAY_STEP_RULE_FLAGS] = "reads or writes the processor's flags, the trap flag among them",
		[ASSAY_STEP_RULE_TRAP] = "raises SIGTRAP or another signal itself",
		[ASSAY_STEP_RULE_OLD_CALL] = "calls the system as programs of 32 bits do",
		[ASSAY_STEP_RULE_SIGNAL] = "changes or sends signals, as starting a thread does",
		[ASSAY_STEP_RULE_THREAD] = "starts threads or processes of its own",
		[ASSAY_STEP_RULE_LOST] =
			"is not where the instruction before it leads: code in between was not stepped",
		[ASSAY_STEP_RULE_SPACE] = "comes after more steps than there is memory for",
	};

	if (rule == ASSAY_STEP_RULE_INSTRUCTION)
		assay_step_refusal_text(more, buf, size);
	else
		snprintf(buf, size, "%s", texts[rule]);
}
