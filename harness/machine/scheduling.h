/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernel schedules a process that hands its CPU to a partner. */
#ifndef ASSAY_MACHINE_SCHEDULING_H
#define ASSAY_MACHINE_SCHEDULING_H

/*
 * For the calling thread, which will take turns with another process on its CPU: who wakes the partner goes on and
 * falls asleep, instead of being preempted while awake and coming back in the middle of the partner's sample
 * (SCHED_BATCH, sched(7)). Others preempt it less often (a slice of 10 ms, sched_setattr(2), Linux 6.12). Changes
 * nothing where the kernel refuses.
 */
void assay_schedule_for_turns(void);

#endif
