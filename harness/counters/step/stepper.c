/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler sees the registers as they stand before the instruction that comes next, so it writes that one down, and
 * what became of the one before.
 */
#include "counters/step/stepper.h"

#include <stdlib.h>
#include <string.h>

#include "counters/preloaded.h"

int assay_stepper_probe(struct assay_err *err)
{
	int rc = assay_step_probe(err);

	if (!rc && ASSAY_SANITIZED_HEAP)
		rc = assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"a program with the address sanitizer would also count what that adds: build without "
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

#define TRAP_FLAG      0x100
#define SYSCALL_LENGTH 2
/* Of the handler: a frame with all vector and tile registers takes 12 KiB, decoding some more. */
#define STACK_BYTES ((size_t)64 << 10)
/* Different addresses that a thread of a kernel reaches. */
#define TABLE_SIZE  ((size_t)1 << 16)
#define TRIED_STEPS 4096

struct step_thread {
	struct assay_step_table *table;
	struct assay_step_words words;
	unsigned char *stack;
	stack_t stack_before;
	sigset_t mask_before;
	struct assay_step_regs before;      /* those that the instruction written down last found */
	const struct assay_step_insn *last; /* NULL: none whose end is open */
	size_t last_at;                     /* its entry */
	struct assay_step_mix mix;
	uint64_t steps;
	enum assay_step_rule refusal;
	uint64_t refused_at;
	struct assay_step_refusal step;
};

struct assay_stepper {
	struct step_thread *threads;
	unsigned n_threads;
	uint64_t max_steps;
	_Atomic uint64_t total, limit;
	const struct assay_step_range *ranges; /* of which a write ends the pass some steps later */
	size_t n_ranges;
	uint64_t steps_behind;
	_Atomic bool reached;
	_Atomic uint64_t *progress;
	uint64_t passed;      /* steps of the passes before this one */
	_Atomic bool stopped; /* no more steps in this pass */
	_Atomic bool limited;
	struct sigaction before;
	uintptr_t code_begin, code_end; /* of this program */
};

/* A handler is told nothing but the signal. */
static struct assay_stepper *active;
static __thread struct step_thread *own;

/* ---- in the handler --------------------------------------------------------------------------------------------- */

static void refuse(struct step_thread *t, enum assay_step_rule why, uint64_t address)
{
	if (t->refusal)
		return;
	t->refusal = why;
	t->refused_at = address;
	atomic_store(&active->stopped, true);
}

/* Reads from the registers what the previous instruction did, once it is done. */
static void finish_last(struct step_thread *t, const struct assay_step_regs *now)
{
	const struct assay_step_insn *i = t->last;
	struct assay_step_outcome o;

	if (!i)
		return;
	t->last = NULL;
	if (!assay_step_follows(i, &t->before, now)) {
		refuse(t, ASSAY_STEP_RULE_LOST, now->rip);
		return;
	}
	o = assay_step_outcome(i, &t->before, now);
	assay_step_words_end(&t->words, t->last_at, &o);
	if (i->flow == ASSAY_STEP_JUMP_INDIRECT || i->flow == ASSAY_STEP_CALL_INDIRECT)
		assay_step_words_target(&t->words, t->last_at, now->rip);
}

static bool writes_into(const struct assay_step_accesses *acc, const struct assay_step_range *r)
{
	for (unsigned a = 0; a < acc->n; a++)
		if ((acc->a[a].kind == ASSAY_STEP_WRITE || acc->a[a].kind == ASSAY_STEP_MODIFY) &&
		    acc->a[a].address - r->begin < r->bytes)
			return true;
	return false;
}

/* The first write into a range leaves some steps. */
static void watch(struct assay_stepper *s, const struct assay_step_accesses *acc)
{
	const uint64_t now = atomic_load_explicit(&s->total, memory_order_relaxed);

	if (!s->n_ranges || atomic_load_explicit(&s->reached, memory_order_relaxed))
		return;
	for (size_t i = 0; i < s->n_ranges; i++)
		if (writes_into(acc, &s->ranges[i]) && !atomic_exchange(&s->reached, true) &&
		    now + s->steps_behind < atomic_load(&s->limit))
			atomic_store(&s->limit, now + s->steps_behind);
}

/* NULL: the instruction that comes next is refused. */
static const struct assay_step_insn *write_down(struct step_thread *t, const struct assay_step_regs *r)
{
	const struct assay_step_insn *i = assay_step_table_get(t->table, r->rip, &t->step);
	enum assay_step_rule why = i ? assay_step_refused(i, r) : ASSAY_STEP_RULE_INSTRUCTION;
	struct assay_step_accesses acc;
	enum assay_step_status rc;

	if (!why && !assay_step_words_need(&t->words))
		why = ASSAY_STEP_RULE_SPACE;
	if (why) {
		refuse(t, why, r->rip);
		return NULL;
	}
	rc = assay_step_accesses(i, r, &acc);
	if (rc == ASSAY_STEP_OK)
		rc = assay_step_mix_add(&t->mix, i, r, &acc);
	if (rc != ASSAY_STEP_OK) {
		t->step = (struct assay_step_refusal){ .status = rc, .address = r->rip, .length = i->length };
		memcpy(t->step.code, i->code, sizeof(t->step.code));
		refuse(t, ASSAY_STEP_RULE_INSTRUCTION, r->rip);
		return NULL;
	}
	watch(active, &acc);
	t->last = i;
	t->last_at = assay_step_words_add(&t->words, assay_step_table_index(t->table, i), &acc);
	t->before = *r;
	t->steps++;
	return i;
}

/* One more step of all threads, unless that was the last one. */
static bool may_go_on(struct assay_stepper *s)
{
	uint64_t n = atomic_fetch_add_explicit(&s->total, 1, memory_order_relaxed);

	const uint64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);

	if (n >= limit) {
		atomic_store(&s->limited, true);
		atomic_store(&s->stopped, true);
	} else if (s->progress) {
		atomic_store_explicit(s->progress, s->passed + n, memory_order_relaxed);
	}
	return n < limit;
}

/*
 * Make the system call that comes next and go on behind it, in @r and in the registers @to that the thread returns to.
 * The kernel returns from a call that the thread makes itself so that the instruction behind runs before the next trap.
 */
static void make_call(struct assay_step_regs *r, greg_t *to)
{
	register uint64_t fourth __asm__("r10") = r->gpr[10];
	register uint64_t fifth __asm__("r8") = r->gpr[8];
	register uint64_t sixth __asm__("r9") = r->gpr[9];
	uint64_t result = r->gpr[ASSAY_STEP_RAX];

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(r->gpr[ASSAY_STEP_RDI]), "S"(r->gpr[ASSAY_STEP_RSI]), "d"(r->gpr[ASSAY_STEP_RDX]),
			   "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory", "cc");
	r->rip += SYSCALL_LENGTH;
	to[REG_RAX] = (greg_t)(r->gpr[ASSAY_STEP_RAX] = result);
	to[REG_RCX] = (greg_t)(r->gpr[ASSAY_STEP_RCX] = r->rip);
	to[REG_R11] = (greg_t)(r->gpr[11] = r->rflags & ~(uint64_t)TRAP_FLAG);
	to[REG_RIP] = (greg_t)r->rip;
}

/* Write down what the thread does next; it goes on with the registers @to. */
static void follow(struct assay_stepper *s, struct step_thread *t, struct assay_step_regs *now, greg_t *to)
{
	const struct assay_step_insn *next;

	do {
		finish_last(t, now);
		next = !t->refusal && !(now->rip >= s->code_begin && now->rip < s->code_end) && may_go_on(s)
			       ? write_down(t, now)
			       : NULL;
		if (next && next->flow == ASSAY_STEP_SYSCALL)
			make_call(now, to);
	} while (next && next->flow == ASSAY_STEP_SYSCALL);
}

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
	struct assay_stepper *s = active;
	struct step_thread *t = own;
	greg_t *to = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
	struct assay_step_regs now;

	(void)number;
	if (!t || !s) { /* of a thread that nobody steps */
		to[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		return;
	}
	now.fs_base = t->before.fs_base;
	now.gs_base = t->before.gs_base;
	assay_step_regs_take(&now, ucontext);
	/* a virtual machine may forget to say that it was a step */
	if (info->si_code != TRAP_TRACE && info->si_code != TRAP_BRKPT)
		refuse(t, ASSAY_STEP_RULE_TRAP, now.rip);
	else if (!atomic_load_explicit(&s->stopped, memory_order_relaxed))
		follow(s, t, &now, to);
	if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
		to[REG_EFL] &= ~(greg_t)TRAP_FLAG;
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

		t->stack = reserve(STACK_BYTES);
		rc = t->stack ? assay_step_words_open(&t->words, i, err)
			      : assay_err_set(err, ASSAY_ENOMEM, "out of memory for steps");
		if (!rc)
			rc = assay_step_table_new(&t->table, TABLE_SIZE, err);
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
	for (unsigned i = 0; i < s->n_threads; i++) {
		assay_step_table_free(s->threads[i].table);
		assay_step_words_close(&s->threads[i].words);
		if (s->threads[i].stack)
			munmap(s->threads[i].stack, STACK_BYTES);
	}
	free(s->threads);
	free(s);
}

void assay_stepper_begin(struct assay_stepper *s, uint64_t max_steps)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	for (unsigned i = 0; i < s->n_threads; i++) {
		struct step_thread *t = &s->threads[i];

		assay_step_words_empty(&t->words);
		t->last = NULL;
		t->mix = (struct assay_step_mix){ 0 };
		t->steps = 0;
		t->refusal = ASSAY_STEP_RULE_NONE;
	}
	atomic_store(&s->limit, max_steps && max_steps < s->max_steps ? max_steps : s->max_steps);
	s->n_ranges = 0;
	atomic_store(&s->reached, false);
	s->passed += atomic_exchange(&s->total, 0);
	atomic_store(&s->stopped, false);
	atomic_store(&s->limited, false);
	active = s;
	sigaction(SIGTRAP, &sa, &s->before);
}

void assay_stepper_watch(struct assay_stepper *s, const struct assay_step_range *ranges, size_t n, uint64_t steps)
{
	s->ranges = ranges;
	s->n_ranges = n;
	s->steps_behind = steps;
}

enum assay_stepper_end assay_stepper_end(struct assay_stepper *s, uint64_t *at, char *why, size_t size)
{
	sigaction(SIGTRAP, &s->before, NULL);
	active = NULL;
	why[0] = '\0';
	*at = 0;
	for (unsigned i = 0; i < s->n_threads; i++)
		if (s->threads[i].refusal) {
			assay_step_rule_text(s->threads[i].refusal, &s->threads[i].step, why, size);
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
	assay_step_words_mark(&s->threads[thread].words, mark);
}

struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread)
{
	const struct step_thread *t = &s->threads[thread];

	return (struct assay_step_trace){
		.words = t->words.words, .n = t->words.n, .table = t->table, .mix = t->mix, .steps = t->steps
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
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "a library cannot be stepped here: its code at 0x%llx %s",
				   (unsigned long long)at, why);
	else if (!s->threads[0].steps)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "the processor's trap flag has no effect here");
	else
		*step_ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
			   (double)s->threads[0].steps;
	assay_stepper_close(s);
	return rc;
}
#endif

#if !defined(__x86_64__)

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

void assay_stepper_watch(struct assay_stepper *s, const struct assay_step_range *ranges, size_t n, uint64_t steps)
{
	(void)s;
	(void)ranges;
	(void)n;
	(void)steps;
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
