/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a profile: which files each has mapped, and which frames an address or a sample of it stands for. */
#ifndef ASSAY_PROFILE_SAMPLED_PROCESSES_H
#define ASSAY_PROFILE_SAMPLED_PROCESSES_H

#include "model/profile.h"
#include "profile/sample_ring.h"
#include "profile/unwind.h"

struct assay_sampled_process;

struct assay_sampled_processes {
	struct assay_sampled_process **v;
	size_t n;
	struct assay_stack_table *table; /* that frames are added to; borrowed */
	struct assay_err err;            /* the first that happened */
};

void assay_sampled_processes_release(struct assay_sampled_processes *p);
/* Number @i of them. */
pid_t assay_sampled_pid(const struct assay_sampled_processes *p, size_t i);

/* Events that the kernel reports of them. */
void assay_sampled_mapped(struct assay_sampled_processes *p, pid_t pid, const char *path, uint64_t start,
			  uint64_t bytes, uint64_t file_offset);
void assay_sampled_forked(struct assay_sampled_processes *p, pid_t parent, pid_t child);
void assay_sampled_executed(struct assay_sampled_processes *p, pid_t pid);
/* Read the present mappings, for those that were made before any event. */
void assay_sampled_look(struct assay_sampled_processes *p, pid_t pid);

/* The frames of @s, outermost first, behind the *n that @frames (of @most) has already. */
struct assay_sampled_stack {
	enum assay_stack_end end;
	uint64_t wanted; /* bytes of the stack, where it ends at its copy */
	bool named;      /* its innermost function has a name */
};
struct assay_sampled_stack assay_sampled_frames(struct assay_sampled_processes *p, const struct assay_cpu_sample *s,
						uint32_t *frames, uint32_t *n, uint32_t most);

#endif
