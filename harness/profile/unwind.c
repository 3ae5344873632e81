/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By elfutils' libdwfl. To unwind takes tens of microseconds and most samples of a kernel have the same callers: what
 * one unwinding read of the stack is kept, and a sample with the same words in the same places has the same stack.
 */
#include "profile/unwind.h"

#include <stdlib.h>
#include <string.h>

#if ASSAY_LIBDW
#include <elfutils/libdwfl.h>

#include "profile/code_places.h"

#define KNOWN_BITS 12
#define MOST_READS (4 * ASSAY_STACK_MAX)

/* One word that was read, by its distance from the stack pointer. */
struct word {
	uint32_t offset;
	uint64_t value;
};

struct known_stack {
	uint64_t ip, sp, fp; /* ip 0: none */
	uint32_t n_reads, n_frames;
	size_t stack_bytes; /* that were copied */
	enum assay_stack_end end;
	uint64_t wanted;
	struct word *reads;
	uint64_t *frames;
};

struct assay_unwinder {
	Dwfl *dwfl;
	pid_t pid;
	struct known_stack *known; /* 1 << KNOWN_BITS */
	/* of the sample that is unwound */
	const struct assay_cpu_sample *sample;
	struct known_stack now; /* has room for the most */
	bool unkept;            /* more was read than can be kept */
};

#if defined(__x86_64__)
enum { N_REGISTERS = 17, FP_NUMBER = 6 };
#elif defined(__aarch64__)
enum { N_REGISTERS = 33, FP_NUMBER = 29 };
#else
enum { N_REGISTERS = 0, FP_NUMBER = 0 };
#endif

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	(void)thread_arg;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

/* Of the copied stack alone: the process has run on. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
	struct assay_unwinder *u = arg;
	const struct assay_cpu_sample *s = u->sample;
	struct known_stack *k = &u->now;

	(void)dwfl;
	if (at < s->sp || at - s->sp + sizeof(*out) > s->stack_bytes) {
		if (at >= s->sp)
			k->wanted = at - s->sp + sizeof(*out);
		return false;
	}
	memcpy(out, s->stack + (at - s->sp), sizeof(*out));
	if (k->n_reads == MOST_READS)
		u->unkept = true;
	else
		k->reads[k->n_reads++] = (struct word){ (uint32_t)(at - s->sp), *out };
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct assay_unwinder *u = arg;
	Dwarf_Word words[ASSAY_SAMPLE_REGISTERS];

	for (unsigned i = 0; i < N_REGISTERS; i++)
		words[i] = u->sample->registers[i];
#if defined(__aarch64__)
	dwfl_thread_state_register_pc(thread, words[32]);
	return dwfl_thread_state_registers(thread, 0, 32, words);
#else
	return dwfl_thread_state_registers(thread, 0, N_REGISTERS, words);
#endif
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

int assay_unwinder_open(struct assay_unwinder **out, struct assay_code_places *places, pid_t pid, struct assay_err *err)
{
	struct assay_unwinder *u = calloc(1, sizeof(*u));

	if (u) {
		u->known = calloc((size_t)1 << KNOWN_BITS, sizeof(*u->known));
		u->now.reads = calloc(MOST_READS, sizeof(*u->now.reads));
		u->now.frames = calloc(ASSAY_STACK_MAX, sizeof(*u->now.frames));
	}
	if (!u || !u->known || !u->now.reads || !u->now.frames) {
		assay_unwinder_close(u);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the stacks of a profile");
	}
	u->dwfl = assay_code_places_dwfl(places);
	u->pid = pid;
	if (!dwfl_attach_state(u->dwfl, NULL, pid, &callbacks, u)) {
		assay_err_set(err, ASSAY_EIO, "cannot unwind stacks: %s", dwfl_errmsg(-1));
		assay_unwinder_close(u);
		return ASSAY_EIO;
	}
	*out = u;
	return 0;
}

void assay_unwinder_close(struct assay_unwinder *u)
{
	if (!u)
		return;
	for (size_t i = 0; u->known && i < (size_t)1 << KNOWN_BITS; i++)
		free(u->known[i].frames);
	free(u->known);
	free(u->now.frames);
	free(u->now.reads);
	free(u);
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct assay_unwinder *u = arg;
	struct known_stack *k = &u->now;
	bool activation = false;
	Dwarf_Addr pc;

	if (k->n_frames == ASSAY_STACK_MAX || !dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	/* where a call returns to may belong to the next line, or to the next function */
	k->frames[k->n_frames++] = activation ? pc : pc - 1;
	return DWARF_CB_OK;
}

static bool same(const struct known_stack *k, const struct assay_cpu_sample *s)
{
	uint64_t value;

	if (k->ip != s->ip || k->sp != s->sp || k->fp != s->registers[FP_NUMBER])
		return false;
	/* a longer copy may have what was cut off */
	if (k->end == ASSAY_STACK_COPIED && k->stack_bytes < s->stack_bytes)
		return false;
	for (uint32_t i = 0; i < k->n_reads; i++) {
		if (k->reads[i].offset + sizeof(value) > s->stack_bytes)
			return false;
		memcpy(&value, s->stack + k->reads[i].offset, sizeof(value));
		if (value != k->reads[i].value)
			return false;
	}
	return true;
}

/* Keep what was unwound in @slot, in one block: frames, then what was read. Without memory nothing is kept. */
static void keep(struct assay_unwinder *u, struct known_stack *slot)
{
	const size_t frames = u->now.n_frames * sizeof(*u->now.frames), reads = u->now.n_reads * sizeof(*u->now.reads);
	uint64_t *block = u->unkept ? NULL : realloc(slot->frames, frames + reads);

	if (!block) {
		slot->ip = 0;
		return;
	}
	*slot = u->now;
	slot->frames = memcpy(block, u->now.frames, frames);
	slot->reads = memcpy(block + u->now.n_frames, u->now.reads, reads);
}

size_t assay_unwind(struct assay_unwinder *u, const struct assay_cpu_sample *s, uint64_t *frames,
		    enum assay_stack_end *end, uint64_t *wanted)
{
	const uint64_t hash = (s->ip ^ s->sp * 0x9e3779b97f4a7c15ull) * 0x9e3779b97f4a7c15ull;
	struct known_stack *slot = &u->known[hash >> (64 - KNOWN_BITS)];

	if (!same(slot, s)) {
		u->sample = s;
		u->unkept = false;
		u->now.ip = s->ip;
		u->now.sp = s->sp;
		u->now.stack_bytes = s->stack_bytes;
		u->now.fp = s->registers[FP_NUMBER];
		u->now.n_reads = u->now.n_frames = 0;
		u->now.wanted = 0;
		/* 0: the outermost frame was reached, or a caller that could not be read, which libdwfl takes for it */
		u->now.end =
			dwfl_getthread_frames(u->dwfl, s->tid, add_frame, u) ? ASSAY_STACK_LOST : ASSAY_STACK_BEGAN;
		if (u->now.wanted)
			u->now.end = ASSAY_STACK_COPIED;
		if (!u->now.n_frames)
			u->now.frames[u->now.n_frames++] = s->ip;
		keep(u, slot);
		slot = &u->now;
	}
	memcpy(frames, slot->frames, slot->n_frames * sizeof(*frames));
	*end = slot->end;
	*wanted = slot->wanted;
	return slot->n_frames;
}

#else

int assay_unwinder_open(struct assay_unwinder **out, struct assay_code_places *places, pid_t pid, struct assay_err *err)
{
	(void)out;
	(void)places;
	(void)pid;
	return assay_code_places_probe(err);
}

void assay_unwinder_close(struct assay_unwinder *u)
{
	(void)u;
}

size_t assay_unwind(struct assay_unwinder *u, const struct assay_cpu_sample *s, uint64_t *frames,
		    enum assay_stack_end *end, uint64_t *wanted)
{
	(void)u;
	frames[0] = s->ip;
	*end = ASSAY_STACK_LOST;
	*wanted = 0;
	return 1;
}
#endif
