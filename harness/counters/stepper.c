/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler sees the registers as they stand before the instruction that comes next, so it writes that one down, and
 * what became of the one before. The trace is a row of words in memory that is only reserved: what is not reached costs
 * nothing.
 */
#include "counters/stepper.h"

#include <stdlib.h>
#include <string.h>

#include "counters/sanitized.h"

#define MARK_SHIFT 40
#define MARK       (UINT64_C(1) << MARK_SHIFT)
#define TARGET     (UINT64_C(1) << 41)

struct assay_step_entry assay_step_entry_of(uint64_t word)
{
	return (struct assay_step_entry){
		.instruction = (uint32_t)word,
		.is_mark = word & MARK,
		.has_target = word & TARGET,
		.accesses = word >> 32 & 0xff,
		.instructions = word >> 48 & 15,
		.branches = word >> 52 & 15,
		.taken = word >> 56 & 15,
	};
}

size_t assay_step_entry_words(const struct assay_step_entry *e)
{
	return 1 + 2 * (size_t)e->accesses + e->has_target;
}

struct assay_step_access assay_step_entry_access(const uint64_t *words, unsigned i)
{
	const uint64_t *w = words + 1 + 2 * (size_t)i;

	return (struct assay_step_access){
		.address = w[0], .bytes = (uint32_t)w[1], .kind = (uint8_t)(w[1] >> 32), .non_temporal = w[1] >> 40
	};
}

int assay_stepper_probe(struct assay_err *err)
{
	int rc = assay_step_probe(err);

	if (!rc && ASSAY_SANITIZED_HEAP)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE,
				   "a program with the address sanitizer would count what that adds: build without "
				   "SANITIZE");
	return rc;
}

#if defined(__x86_64__)

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100
/* Of the handler: a frame with all vector and tile registers takes 12 KiB, decoding some more. */
#define STACK_BYTES ((size_t)64 << 10)
/* Different addresses that a thread of a kernel reaches. */
#define TABLE_SIZE ((size_t)1 << 16)
/* Words that a step takes: two and a half on average in kernels; eight is a gather in every third. */
#define WORDS_A_STEP 8
#define TRIED_STEPS  4096
/* The most that an entry takes. */
#define ENTRY_WORDS (2 + 2 * ASSAY_STEP_ACCESSES_MAX)

enum refusal {
	REFUSAL_NONE,
	REFUSAL_INSTRUCTION, /* see `step` */
	REFUSAL_FLAGS,
	REFUSAL_TRAP,
	REFUSAL_SIGNAL,
	REFUSAL_THREAD,
	REFUSAL_LOST,
	REFUSAL_SPACE,
};

struct step_thread {
	struct assay_step_table *table;
	uint64_t *words;
	size_t n, most;
	unsigned char *stack;
	stack_t stack_before;
	sigset_t mask_before;
	struct assay_step_regs before;      /* those that the instruction written down last found */
	const struct assay_step_insn *last; /* NULL: none whose end is open */
	size_t last_at;                     /* its entry */
	struct assay_step_mix mix;
	uint64_t steps;
	enum refusal refusal;
	uint64_t refused_at;
	struct assay_step_refusal step;
};

struct assay_stepper {
	struct step_thread *threads;
	unsigned n_threads;
	uint64_t max_steps, limit;
	_Atomic uint64_t total;
	_Atomic uint64_t *progress;
	_Atomic bool stopped; /* no more steps in this pass */
	_Atomic bool limited;
	struct sigaction before;
	uintptr_t code_begin, code_end; /* of this program */
};

/* A handler is told nothing but the signal. */
static struct assay_stepper *active;
static __thread struct step_thread *own;

/* ---- in the handler --------------------------------------------------------------------------------------------- */

static void refuse(struct step_thread *t, enum refusal why, uint64_t address)
{
	if (t->refusal)
		return;
	t->refusal = why;
	t->refused_at = address;
	atomic_store(&active->stopped, true);
}

static bool is_own(const struct assay_stepper *s, uint64_t address)
{
	return address >= s->code_begin && address < s->code_end;
}

/* System calls after which steps would tell nothing, or would end the process. */
static enum refusal refused_call(uint64_t number)
{
	switch (number) {
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		return REFUSAL_THREAD;
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigreturn:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_sigaltstack:
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_ptrace:
		return REFUSAL_SIGNAL;
	default:
		return REFUSAL_NONE;
	}
}

/* What the registers tell of the instruction before, once it is done. */
static void finish_last(struct step_thread *t, const struct assay_step_regs *now)
{
	struct assay_step_outcome o;

	if (!t->last)
		return;
	o = assay_step_outcome(t->last, &t->before, now);
	t->words[t->last_at] |= (uint64_t)o.instructions << 48 | (uint64_t)o.branches << 52 | (uint64_t)o.taken << 56;
	if (t->last->flow == ASSAY_STEP_JUMP_INDIRECT || t->last->flow == ASSAY_STEP_CALL_INDIRECT) {
		t->words[t->last_at] |= TARGET;
		t->words[t->n++] = now->rip;
	}
	t->last = NULL;
}

/* Can the instruction be stepped at all? */
static bool is_steppable(struct step_thread *t, const struct assay_step_insn *i, const struct assay_step_regs *r)
{
	enum refusal why = i->flow == ASSAY_STEP_TRAP          ? REFUSAL_TRAP
			   : i->writes_flags || i->reads_flags ? REFUSAL_FLAGS
			   : i->flow == ASSAY_STEP_SYSCALL     ? refused_call(r->gpr[ASSAY_STEP_RAX])
			   : t->n + ENTRY_WORDS > t->most      ? REFUSAL_SPACE
							       : REFUSAL_NONE;

	if (why)
		refuse(t, why, r->rip);
	return !why;
}

static void write_down(struct step_thread *t, const struct assay_step_regs *r)
{
	const struct assay_step_insn *i = assay_step_table_get(t->table, r->rip, &t->step);
	struct assay_step_accesses acc;
	enum assay_step_status rc;

	if (!i) {
		refuse(t, REFUSAL_INSTRUCTION, r->rip);
		return;
	}
	if (!is_steppable(t, i, r))
		return;
	rc = assay_step_accesses(i, r, &acc);
	if (rc == ASSAY_STEP_OK)
		rc = assay_step_mix_add(&t->mix, i, r, &acc);
	if (rc != ASSAY_STEP_OK) {
		t->step = (struct assay_step_refusal){ .status = rc, .address = r->rip, .length = i->length };
		memcpy(t->step.code, i->code, sizeof(t->step.code));
		refuse(t, REFUSAL_INSTRUCTION, r->rip);
		return;
	}
	t->last = i;
	t->last_at = t->n;
	t->before = *r;
	t->words[t->n++] = assay_step_table_index(t->table, i) | (uint64_t)acc.n << 32;
	for (unsigned a = 0; a < acc.n; a++) {
		t->words[t->n++] = acc.a[a].address;
		t->words[t->n++] =
			acc.a[a].bytes | (uint64_t)acc.a[a].kind << 32 | (uint64_t)acc.a[a].non_temporal << 40;
	}
	t->steps++;
}

/* One more step of all threads, unless that was the last one. */
static bool may_go_on(struct assay_stepper *s)
{
	uint64_t n = atomic_fetch_add_explicit(&s->total, 1, memory_order_relaxed);

	if (n >= s->limit) {
		atomic_store(&s->limited, true);
		atomic_store(&s->stopped, true);
	} else if (s->progress) {
		atomic_store_explicit(s->progress, n, memory_order_relaxed);
	}
	return n < s->limit;
}

/*
 * The kernel returns from a system call so that the instruction behind it runs before the next trap. Most often that
 * one only looks at the result.
 */
static void catch_up(struct step_thread *t, const struct assay_step_regs *now)
{
	const uint64_t missed = t->last->address + t->last->length;
	struct assay_step_regs there = *now;
	const struct assay_step_insn *i;

	there.rip = missed;
	i = assay_step_table_get(t->table, missed, &t->step);
	if (!i || i->n_operands || i->flow != ASSAY_STEP_NEXT || now->rip != missed + i->length) {
		refuse(t, REFUSAL_LOST, missed);
		return;
	}
	finish_last(t, &there);
	write_down(t, &there);
}

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
	struct assay_stepper *s = active;
	struct step_thread *t = own;
	greg_t *flags = &((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL];
	struct assay_step_regs now;

	(void)number;
	if (!t || !s) { /* of a thread that nobody steps */
		*flags &= ~(greg_t)TRAP_FLAG;
		return;
	}
	now.fs_base = t->before.fs_base;
	now.gs_base = t->before.gs_base;
	assay_step_regs_take(&now, ucontext);
	/* a virtual machine may forget to say that it was a step */
	if (info->si_code != TRAP_TRACE && info->si_code != TRAP_BRKPT) {
		refuse(t, REFUSAL_TRAP, now.rip);
	} else if (!atomic_load_explicit(&s->stopped, memory_order_relaxed)) {
		if (t->last && t->last->flow == ASSAY_STEP_SYSCALL && now.rip != t->last->address + t->last->length)
			catch_up(t, &now);
		finish_last(t, &now);
		if (!is_own(s, now.rip) && may_go_on(s))
			write_down(t, &now);
	}
	if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
		*flags &= ~(greg_t)TRAP_FLAG;
}

/* ---- outside ---------------------------------------------------------------------------------------------------- */

/* The red zone of the function that this is inlined into stays as it is. */
static inline void trap_flag_on(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "orq $0x100, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static inline void trap_flag_off(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andq $-257, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

/* The executable part of the first object, which is the program. */
static int find_code(struct dl_phdr_info *info, size_t size, void *to)
{
	struct assay_stepper *s = to;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		s->code_begin = info->dlpi_addr + p->p_vaddr;
		s->code_end = s->code_begin + p->p_memsz;
	}
	return 1;
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void thread_release(struct step_thread *t)
{
	assay_step_table_free(t->table);
	if (t->words)
		munmap(t->words, t->most * sizeof(*t->words));
	if (t->stack)
		munmap(t->stack, STACK_BYTES);
}

int assay_stepper_open(struct assay_stepper **out, const struct assay_stepper_options *o, struct assay_err *err)
{
	struct assay_stepper *s;
	int rc = assay_stepper_probe(err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for steps");
	s->max_steps = o->max_steps;
	s->progress = o->progress;
	s->threads = calloc(o->threads, sizeof(*s->threads));
	for (unsigned i = 0; s->threads && i < o->threads && !rc; i++, s->n_threads++) {
		struct step_thread *t = &s->threads[i];

		t->most = o->max_steps * WORDS_A_STEP + 2 * ENTRY_WORDS;
		t->words = reserve(t->most * sizeof(*t->words));
		t->stack = reserve(STACK_BYTES);
		rc = t->words && t->stack ? assay_step_table_new(&t->table, TABLE_SIZE, err)
					  : assay_err_set(err, ASSAY_ENOMEM, "out of memory for %llu steps",
							  (unsigned long long)o->max_steps);
	}
	if (!s->threads)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for steps");
	if (rc) {
		assay_stepper_close(s);
		return rc;
	}
	dl_iterate_phdr(find_code, s);
	*out = s;
	return 0;
}

void assay_stepper_close(struct assay_stepper *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n_threads; i++)
		thread_release(&s->threads[i]);
	free(s->threads);
	free(s);
}

void assay_stepper_begin(struct assay_stepper *s, uint64_t max_steps)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	for (unsigned i = 0; i < s->n_threads; i++) {
		struct step_thread *t = &s->threads[i];

		t->n = 0;
		t->last = NULL;
		t->mix = (struct assay_step_mix){ 0 };
		t->steps = 0;
		t->refusal = REFUSAL_NONE;
	}
	s->limit = max_steps && max_steps < s->max_steps ? max_steps : s->max_steps;
	atomic_store(&s->total, 0);
	atomic_store(&s->stopped, false);
	atomic_store(&s->limited, false);
	active = s;
	sigaction(SIGTRAP, &sa, &s->before);
}

static void refusal_text(const struct step_thread *t, char *why, size_t size)
{
	static const char *const texts[] = {
		[REFUSAL_FLAGS] = "reads or writes the processor's flags, the trap flag among them",
		[REFUSAL_TRAP] = "raises SIGTRAP or another signal itself",
		[REFUSAL_SIGNAL] = "changes or sends signals",
		[REFUSAL_THREAD] = "starts threads or processes of its own",
		[REFUSAL_LOST] = "cannot be followed after a system call",
		[REFUSAL_SPACE] = "reaches more memory than steps can write down",
	};

	if (t->refusal == REFUSAL_INSTRUCTION)
		assay_step_refusal_text(&t->step, why, size);
	else
		snprintf(why, size, "%s", texts[t->refusal]);
}

enum assay_stepper_end assay_stepper_end(struct assay_stepper *s, uint64_t *at, char *why, size_t size)
{
	sigaction(SIGTRAP, &s->before, NULL);
	active = NULL;
	why[0] = '\0';
	*at = 0;
	for (unsigned i = 0; i < s->n_threads; i++)
		if (s->threads[i].refusal) {
			refusal_text(&s->threads[i], why, size);
			*at = s->threads[i].refused_at;
			return ASSAY_STEPPER_REFUSED;
		}
	return atomic_load(&s->limited) ? ASSAY_STEPPER_LIMIT : ASSAY_STEPPER_WHOLE;
}

void assay_stepper_enter(struct assay_stepper *s, unsigned thread)
{
	struct step_thread *t = &s->threads[thread];
	const stack_t stack = { .ss_sp = t->stack, .ss_size = STACK_BYTES };
	sigset_t trap;

	assay_step_regs_bases(&t->before);
	sigaltstack(&stack, &t->stack_before);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &trap, &t->mask_before);
	own = t;
	if (!atomic_load(&s->stopped))
		trap_flag_on();
}

unsigned assay_stepper_leave(struct assay_stepper *s)
{
	struct step_thread *t = own;

	trap_flag_off();
	own = NULL;
	t->last = NULL;
	pthread_sigmask(SIG_SETMASK, &t->mask_before, NULL);
	sigaltstack(&t->stack_before, NULL);
	return (unsigned)(t - s->threads);
}

void assay_stepper_mark(struct assay_stepper *s, unsigned thread, enum assay_stepper_mark mark)
{
	struct step_thread *t = &s->threads[thread];

	if (t->n < t->most)
		t->words[t->n++] = MARK | mark;
}

struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread)
{
	const struct step_thread *t = &s->threads[thread];

	return (struct assay_step_trace){
		.words = t->words, .n = t->n, .table = t->table, .mix = t->mix, .steps = t->steps
	};
}

int assay_stepper_try(double *step_ns, struct assay_err *err)
{
	/* a library reads these, some ten instructions each */
	static const char digits[] = "0000000000000000000000000000000000000000000000000000000000000000";
	const struct assay_stepper_options o = { .threads = 1, .max_steps = TRIED_STEPS };
	struct assay_stepper *s;
	struct timespec begin, end;
	char why[256];
	uint64_t at;
	int rc = assay_stepper_open(&s, &o, err);

	if (rc)
		return rc;
	assay_stepper_begin(s, 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	assay_stepper_enter(s, 0);
	(void)!strtoul(digits, NULL, 10);
	assay_stepper_leave(s);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (assay_stepper_end(s, &at, why, sizeof(why)) == ASSAY_STEPPER_REFUSED)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "a library cannot be stepped here: %s at 0x%llx", why,
				   (unsigned long long)at);
	else if (!s->threads[0].steps)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "the processor's trap flag has no effect here");
	else
		*step_ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
			   (double)s->threads[0].steps;
	assay_stepper_close(s);
	return rc;
}

#else

/* assay_stepper_open() is all that can be called. */
int assay_stepper_open(struct assay_stepper **out, const struct assay_stepper_options *o, struct assay_err *err)
{
	(void)out;
	(void)o;
	return assay_step_probe(err);
}

void assay_stepper_close(struct assay_stepper *s)
{
	(void)s;
}

void assay_stepper_begin(struct assay_stepper *s, uint64_t max_steps)
{
	(void)s;
	(void)max_steps;
}

enum assay_stepper_end assay_stepper_end(struct assay_stepper *s, uint64_t *at, char *why, size_t size)
{
	(void)s;
	*at = 0;
	if (size)
		why[0] = '\0';
	return ASSAY_STEPPER_WHOLE;
}

void assay_stepper_enter(struct assay_stepper *s, unsigned thread)
{
	(void)s;
	(void)thread;
}

unsigned assay_stepper_leave(struct assay_stepper *s)
{
	(void)s;
	return 0;
}

void assay_stepper_mark(struct assay_stepper *s, unsigned thread, enum assay_stepper_mark mark)
{
	(void)s;
	(void)thread;
	(void)mark;
}

struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread)
{
	(void)s;
	(void)thread;
	return (struct assay_step_trace){ .n = 0 };
}

int assay_stepper_try(double *step_ns, struct assay_err *err)
{
	*step_ns = 0;
	return assay_step_probe(err);
}
#endif
