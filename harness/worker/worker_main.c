/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process: takes commands out of the shared page, drives one case, answers. Never prints; its words go to
 * the page.
 */
#include "worker/worker_main.h"

#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/random.h"
#include "base/file.h"
#include "counters/counter_health.h"
#include "machine/scheduling.h"
#include "worker/case_audit.h"
#include "worker/case_check.h"
#include "worker/case_counts.h"
#include "worker/code_hash.h"
#include "worker/confine.h"
#include "worker/inventory_child.h"
#include "worker/protocol.h"
#include "worker/sampling.h"
#include "worker/worker_reply.h"

/* Of what lies in the file of a pair; a huge page. */
#define FILE_ALIGN (2u << 20)
/* Where a side's own memory begins in it, far behind the tensors; it is a sparse file. */
#define OWN_BEGIN(index) ((size_t)((index) + 1) << 42)

struct worker {
	struct assay_page *page;
	struct assay_pair_shared *pair; /* NULL: this worker has no partner */
	int pair_fd;
	unsigned index; /* which side of a pair */
	/* what the page said, and what it will say when the command is over */
	struct assay_order order;
	struct assay_worker_spec spec;
	struct assay_worker_reply reply;
	struct assay_case_job job;
	uint64_t iterations; /* of the last sample */
	double call_ns;      /* the shortest since the last audit */
	double sampled_ns;   /* of samples since then */
	bool checked;        /* the outputs of the last sample, before the partner could write there */
	bool in_turns;       /* scheduled for them */
	uint64_t checks;     /* so far */
	bool offset;         /* the rotation over common copies is half a turn from the partner's */
	char digest[ASSAY_DIGEST_LEN + 1];
	struct assay_case_counts counts;
	struct assay_sampling sampling;
	uint32_t slot, slots; /* of PAIR: the one this side has, and how many there are */
};

/* Of a variant; where its code cannot be told from the rest, of the whole plugin. */
static struct assay_digest variant_hash(const struct assay_loaded_plugin *p, const struct assay_variant *v)
{
	const void *const entries[ASSAY_CODE_ENTRIES] = {
		(const void *)(uintptr_t)v->run,
		(const void *)(uintptr_t)v->prepare,
		(const void *)(uintptr_t)v->release,
		(const void *)(uintptr_t)v->supports,
	};
	struct assay_digest d;

	return assay_code_hash(p->path, p->dl, entries, &d, NULL) ? p->file.code : d;
}

/* Of all code that is timed: a composite op's driver is, besides the variant that it runs on. */
static struct assay_digest code_hash(const struct assay_case_job *j)
{
	struct assay_digest d[2];
	size_t plugin;

	if (!j->kernel)
		return variant_hash(j->code, j->variant);
	d[0] = variant_hash(j->code, j->kernel);
	assay_loader_op(&j->loader, j->op->name, &plugin);
	d[1] = variant_hash(&j->loader.plugins[plugin], j->variant);
	return assay_hash(d, sizeof(d));
}

static struct assay_outcome do_prepare(struct worker *w)
{
	struct assay_worker_reply *r = &w->reply;
	const struct assay_worker_spec *s = &w->spec;
	const struct assay_case_common common = {
		.memory = w->pair ? &w->pair->memory : NULL,
		.file = { .fd = w->pair_fd, .end = (sizeof(*w->pair) + FILE_ALIGN - 1) / FILE_ALIGN * FILE_ALIGN },
		.own = { .fd = s->kept_memory ? w->pair_fd : -1, .end = OWN_BEGIN(w->index) },
	};
	struct assay_outcome out = assay_case_job_init(&w->job, s, s->common ? &common : NULL, &w->page->phase);

	w->job.turn = w->pair ? &w->pair->turn : NULL;
	r->n_threads = s->n_threads;
	for (uint32_t i = 0; i < s->n_threads; i++)
		r->cpus[i] = w->job.cpus[i];
	memcpy(r->core_least, s->core_least, sizeof(r->core_least));
	r->numa_node = w->job.numa_node;
	r->prepare_ns = w->job.prepare_ns;
	r->prepare_bytes = w->job.prepare_bytes;
	r->op_bytes = w->job.tensor_bytes + w->job.alloc_bytes - w->job.prepare_bytes;
	if (w->job.code)
		memcpy(r->code_hash, code_hash(&w->job).hex, sizeof(r->code_hash));
	return out.status == ASSAY_STATUS_OK ? assay_case_counts_open(&w->counts, &w->job) : out;
}

/* Which copies are checked next. Other inputs are those of the first one. */
static void choose_copies(struct worker *w)
{
	struct assay_case_job *j = &w->job;
	const uint64_t draw = w->spec.layout_seed ^ (w->index + 2 * ++w->checks);

	j->check_n = w->spec.few_copies && w->spec.few_copies < j->n_jobs ? w->spec.few_copies : j->n_jobs;
	j->check_from =
		j->check_n < j->n_jobs && !w->spec.other_inputs ? assay_random4(draw, 5, 0).v[0] % j->n_jobs : 0;
}

/*
 * Poison, run every copy that is checked and that a sample of @iterations reaches, compare one with the oracle and the
 * others with that one. @guards: look at guards and inputs as well.
 */
static struct assay_outcome run_and_check(struct worker *w, uint64_t iterations, bool guards)
{
	struct assay_worker_reply *r = &w->reply;
	struct assay_case_job *j = &w->job;
	char first[ASSAY_DIGEST_LEN + 1];
	uint64_t ns, n;
	struct assay_outcome out;

	choose_copies(w);
	if (j->check_n < j->n_jobs && iterations > j->check_n)
		iterations = j->check_n;
	n = iterations < j->check_n ? iterations : j->check_n;
	out = assay_case_job_poison(j);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	j->next_copy = j->check_from;
	assay_heap_case_begin(&j->heap);
	out = assay_case_job_time(j, iterations, &ns);
	assay_heap_case_end(&j->heap, iterations);
	if (out.status == ASSAY_STATUS_OK && guards)
		out = assay_case_job_intact(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_check(j, j->check_from, &r->max_rel_err, r->digest);
	if (n > 1)
		assay_case_job_digest(j, j->check_from, first);
	for (uint64_t i = 1; i < n && out.status == ASSAY_STATUS_OK; i++) {
		const uint64_t c = (j->check_from + i) % j->n_jobs;
		char own[ASSAY_DIGEST_LEN + 1];
		double err = -1;

		out = assay_case_job_fetch(j, c);
		if (out.status != ASSAY_STATUS_OK)
			break;
		assay_case_job_digest(j, c, own);
		if (strcmp(own, first))
			out = assay_case_job_check(j, c, &err, own);
		if (err > r->max_rel_err)
			r->max_rel_err = err;
	}
	return out;
}

/* In a pair guards and inputs can wait for the end, unless an oracle is asked, which looks at them by itself. */
static struct assay_outcome do_verify(struct worker *w)
{
	struct assay_outcome out = run_and_check(w, w->job.n_jobs, !w->spec.common);

	w->reply.call_parts = w->job.call_parts;
	memcpy(w->digest, w->reply.digest, sizeof(w->digest));
	if (out.status == ASSAY_STATUS_OK && w->spec.audit)
		out = assay_case_audit_begin(&w->job);
	w->reply.accepted = w->job.accepted;
	return out;
}

/* The outputs as the last sample left them. */
static struct assay_outcome check_last(struct worker *w)
{
	struct assay_case_job *j = &w->job;
	uint64_t last = (j->next_copy + j->n_jobs - 1) % j->n_jobs;
	struct assay_worker_reply *r = &w->reply;
	char digest[ASSAY_DIGEST_LEN + 1];
	double err = -1;
	struct assay_outcome out = assay_case_job_check(j, last, &err, digest);

	if (err > r->max_rel_err)
		r->max_rel_err = err;
	w->checked = out.status == ASSAY_STATUS_OK;
	return out;
}

/* Of what the samples since the last audit told; @last: there are no more of them. */
static struct assay_outcome audit(struct worker *w, bool last)
{
	struct assay_outcome out = assay_outcome_ok();

	if (w->spec.audit && w->sampled_ns > 0)
		out = assay_case_audit_take(&w->job, w->iterations, w->call_ns, last ? INFINITY : w->sampled_ns);
	w->sampled_ns = 0;
	w->call_ns = INFINITY;
	return out;
}

/*
 * The outputs of the last sample, then, after an audit and a traced run, once more from poison through the timed loop.
 * Only then are guards and inputs looked at, for all that ran: with gigabytes of them that takes long.
 */
static struct assay_outcome do_recheck(struct worker *w)
{
	struct assay_case_job *j = &w->job;
	struct assay_outcome out = assay_case_job_unchanged(j, "a call");
	double err;

	if (out.status == ASSAY_STATUS_OK && !w->checked)
		out = check_last(w);
	err = w->reply.max_rel_err;
	if (out.status == ASSAY_STATUS_OK && w->spec.other_inputs && !w->job.call_parts)
		out = audit(w, true);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_counts_trace(&w->counts, j);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	out = run_and_check(w, w->iterations ? w->iterations : 1, true);
	if (err > w->reply.max_rel_err)
		w->reply.max_rel_err = err;
	if (out.status == ASSAY_STATUS_OK && strcmp(w->digest, w->reply.digest))
		out = assay_outcome_set(ASSAY_STATUS_WRONG,
					"output changed between the first run (%.8s…) and the last (%.8s…)", w->digest,
					w->reply.digest);
	return out;
}

/* The samples that follow are of this order. */
static void begin_samples(struct worker *w)
{
	w->iterations = w->order.args.iterations;
	w->checked = false;
	assay_sampling_begin(&w->sampling, &w->job, &w->order.args, &w->reply, w->counts.counting);
}

/* A sample of the order. */
static struct assay_outcome take_sample(struct worker *w)
{
	struct assay_outcome out = assay_sampling_take(&w->sampling);
	const struct assay_worker_reply *r = &w->reply;

	if (out.status == ASSAY_STATUS_OK) {
		w->sampled_ns += (double)r->samples[r->n_samples - 1].ns;
		w->call_ns = fmin(w->call_ns, (double)r->samples[r->n_samples - 1].ns / (double)w->iterations);
	}
	return out;
}

static struct assay_outcome do_sample(struct worker *w)
{
	uint32_t count = w->order.args.count < ASSAY_PAGE_SAMPLES ? w->order.args.count : ASSAY_PAGE_SAMPLES;
	struct assay_outcome out = assay_outcome_ok();
	uint64_t ns;

	begin_samples(w);
	if (w->order.args.counting) /* samples follow, so that the last outputs to be checked are those of a sample */
		out = audit(w, false);
	/*
	 * the hand-over let the pool fall asleep and the caches cool: one untimed call, but cold cases want them cold
	 */
	if (w->job.n_jobs == 1 && out.status == ASSAY_STATUS_OK)
		out = assay_case_job_time(&w->job, 1, &ns);
	for (uint32_t i = 0; i < count && out.status == ASSAY_STATUS_OK; i++)
		out = take_sample(w);
	return out;
}

/* VmHWM, since ru_maxrss goes on counting from the parent across exec. 0: it cannot be read. */
static uint64_t rss_peak_bytes(void)
{
	unsigned long long kib = 0;
	char *status = NULL;
	const char *at;
	size_t len;

	if (assay_file_read("/proc/self/status", &status, &len, NULL))
		return 0;
	at = strstr(status, "VmHWM:");
	if (at)
		kib = strtoull(at + strlen("VmHWM:"), NULL, 10);
	free(status);
	return kib * 1024;
}

/* Copies in common memory that the partner has just used would not be cold: one side begins half a rotation later. */
static void keep_apart(struct worker *w)
{
	if (w->job.common && !w->offset)
		w->job.next_copy = w->index ? w->job.n_jobs / 2 : 0;
	w->offset = true;
}

/* The next slot of this side behind @slot, UINT32_MAX being the one before the first; w->slots: there is none. */
static uint32_t next_slot(const struct worker *w, uint32_t slot)
{
	while (++slot < w->slots && assay_pair_owner(w->order.args.order_seed, slot) != w->index)
		;
	return slot;
}

static void await_turn(struct worker *w)
{
	assay_case_job_phase(&w->job, ASSAY_PHASE_TURN);
	assay_pair_wait(&w->pair->turn, w->order.args.order_seed, w->slot);
	assay_case_job_phase(&w->job, ASSAY_PHASE_RUN);
}

/* Nothing of this side's pool runs while the partner measures. */
static void end_turn(struct worker *w)
{
	assay_pool_park(w->job.pool);
	assay_pair_give(&w->pair->turn, w->order.args.order_seed, w->slot + 1);
}

/*
 * After a part of a call: whole calls of long kernels would let the machine change between the two sides. The call goes
 * on when this side has the turn again. The last slot takes the rest of its call, however many parts that has.
 */
static void part_done(void *arg)
{
	struct worker *w = arg;
	const struct assay_case_job *j = &w->job;

	if (j->part % w->order.args.turn_parts || j->part == j->call_parts || next_slot(w, w->slot) >= w->slots)
		return;
	assay_sampling_pause(&w->sampling);
	end_turn(w);
	w->slot = next_slot(w, w->slot);
	await_turn(w);
	assay_sampling_resume(&w->sampling);
}

/* A sample, or of a divided call as many as it has turns. Parts are compared one by one, so their number stays. */
static struct assay_outcome take_divided(struct worker *w)
{
	const uint64_t parts = w->job.call_parts;
	struct assay_outcome out = take_sample(w);

	if (out.status == ASSAY_STATUS_OK && w->job.on_part && w->job.call_parts != parts)
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "a call had %llu parts, the one before had %llu",
					(unsigned long long)w->job.call_parts, (unsigned long long)parts);
	return out;
}

/* One of this side's slots, at random, but not the last one. */
static uint32_t drawn_slot(const struct worker *w)
{
	uint32_t left = assay_random4(w->order.args.order_seed, 7 + w->index, 0).v[0] % (w->slots / 2 - 1), slot;

	for (slot = next_slot(w, UINT32_MAX); left; left--)
		slot = next_slot(w, slot);
	return slot;
}

/* Drawn: an audit, of some calls, is to take a tenth of the time of this side's samples at most, on average. */
static bool is_audited(const struct worker *w)
{
	const double calls = (double)(w->slots / 2) * (double)w->order.args.iterations;

	return assay_uniform_f32(assay_random4(w->order.args.order_seed, 9 + w->index, 0).v[0]) <
	       calls / (10 * ASSAY_AUDIT_CALLS);
}

/*
 * Take turns with the partner, sample by sample. Whoever has the turn does one untimed call after a hand-over, since
 * the partner has had the caches.
 */
static struct assay_outcome do_pair(struct worker *w)
{
	const struct assay_worker_args *p = &w->order.args;
	struct assay_pair_turn *turn = &w->pair->turn;
	struct assay_outcome out = assay_outcome_ok();
	uint32_t last = UINT32_MAX, audited;
	uint64_t ns;

	w->slots = 4 * (p->count < ASSAY_PAGE_SAMPLES / 2 ? p->count : ASSAY_PAGE_SAMPLES / 2);
	if (!w->in_turns) {
		assay_schedule_for_turns();
		assay_worker_state_rescheduled(&w->job.state);
		w->in_turns = true;
	}
	keep_apart(w);
	begin_samples(w);
	w->job.on_part = p->turn_parts ? part_done : NULL;
	w->job.on_part_arg = w;
	audited = p->counting && !p->turn_parts && is_audited(w) ? drawn_slot(w) : UINT32_MAX;
	assay_pair_join(turn, p->order_seed);
	for (w->slot = next_slot(w, UINT32_MAX); w->slot < w->slots; w->slot = next_slot(w, w->slot)) {
		await_turn(w);
		if (last + 1 != w->slot && w->job.n_jobs == 1 && !p->long_calls && out.status == ASSAY_STATUS_OK)
			out = assay_case_job_time(&w->job, 1, &ns);
		/* a side that failed keeps handing over, so that its partner comes to its end */
		if (out.status == ASSAY_STATUS_OK)
			out = take_divided(w);
		if (w->slot == audited && out.status == ASSAY_STATUS_OK)
			out = audit(w, false);
		last = w->slot;
		if (w->job.common && p->counting && next_slot(w, w->slot) >= w->slots && out.status == ASSAY_STATUS_OK)
			out = check_last(w);
		end_turn(w);
	}
	w->job.on_part = NULL;
	return out;
}

static struct assay_outcome do_count(struct worker *w)
{
	w->iterations = 1;
	return assay_case_job_count(&w->job, w->order.args.count);
}

static struct assay_outcome do_output(struct worker *w)
{
	struct assay_outcome out = assay_case_job_fetch(&w->job, 0);

	assay_case_job_output(&w->job, w->order.args.iterations, &w->reply);
	return out;
}

static struct assay_outcome do_report(struct worker *w)
{
	struct assay_worker_reply *r = &w->reply;
	struct assay_case_job *j = &w->job;
	struct assay_outcome out = assay_case_job_report(j);

	r->n_metrics = j->n_metrics;
	memcpy(r->metrics, j->metrics, sizeof(r->metrics));
	r->rss_peak_bytes = rss_peak_bytes();
	assay_case_job_retire(j); /* what it leaves behind is part of the report */
	return out.status == ASSAY_STATUS_OK ? assay_case_counts_report(&w->counts, j->state.note, r) : out;
}

static struct assay_outcome obey(struct worker *w)
{
	switch ((enum assay_command)w->order.command) {
	case ASSAY_CMD_PREPARE:
		return do_prepare(w);
	case ASSAY_CMD_VERIFY:
		return do_verify(w);
	case ASSAY_CMD_SAMPLE:
		return do_sample(w);
	case ASSAY_CMD_PAIR:
		return do_pair(w);
	case ASSAY_CMD_COUNT:
		return do_count(w);
	case ASSAY_CMD_RECHECK:
		return do_recheck(w);
	case ASSAY_CMD_OUTPUT:
		return do_output(w);
	case ASSAY_CMD_REPORT:
		return do_report(w);
	case ASSAY_CMD_FINISH:
		assay_case_counts_close(&w->counts);
		assay_case_job_release(&w->job);
		return assay_outcome_ok();
	case ASSAY_CMD_NONE:
	case ASSAY_N_COMMANDS:
		break;
	}
	return assay_outcome_set(ASSAY_STATUS_FAILED, "worker does not know command %u", w->order.command);
}

/* As many as a simulated cache can tell apart. */
#define STACK_PLACES   (1u << 20)
#define PLACES_IN_PAGE 4096u

/*
 * Serve with the stack a little lower: its place, too, is a matter of chance that must not decide a comparison. In a
 * fixed layout it begins at a multiple of STACK_PLACES, whatever arguments and environment lie above it.
 */
static __attribute__((noinline)) void obey_lower(struct worker *w, struct assay_outcome *out)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	size_t drawn = (w->spec.layout_seed >> 8) % 256 * 16;
	size_t lower = w->spec.fixed_layout ? here % STACK_PLACES : (here - drawn) % PLACES_IN_PAGE;
	volatile char *pad = alloca(16 + lower);

	pad[0] = 0;
	*out = obey(w);
}

/* From here on plugins find in the page what every page says while its worker works. */
static void take_order(struct worker *w)
{
	assay_reply_withdraw(&w->page->reply, &w->reply);
	w->reply.n_samples = w->reply.window_bytes = w->reply.n_metrics = w->reply.n_counts = w->reply.n_missing = 0;
	w->order = w->page->order;
	memset(&w->page->order, 0, sizeof(w->page->order));
	if (w->order.command == ASSAY_CMD_PREPARE) {
		w->spec = w->page->spec;
		memset(&w->page->spec, 0, sizeof(w->page->spec));
	}
}

static void answer(struct worker *w, const struct assay_outcome *out)
{
	w->reply.token = w->order.token;
	w->reply.status = (int32_t)out->status;
	memcpy(w->reply.reason, out->reason, sizeof(out->reason));
	assay_reply_publish(&w->page->reply, &w->reply);
	atomic_store_explicit(&w->page->phase, ASSAY_PHASE_IDLE, memory_order_relaxed);
	assay_page_give(w->page, ASSAY_TURN_CONTROLLER);
}

/* @pair_fd 0: this worker has no partner. */
static int serve(int page_fd, int pair_fd, unsigned index)
{
	static _Alignas(ASSAY_LAYOUT_ALIGN) struct worker w; /* too large for the stack */
	bool more = true;

	w.index = index;
	w.call_ns = INFINITY;
	w.pair_fd = pair_fd;
	if (assay_page_attach(&w.page, page_fd, NULL) || close(page_fd))
		return 1;
	if (pair_fd && (assay_pair_attach(&w.pair, pair_fd, NULL) || fcntl(pair_fd, F_SETFD, FD_CLOEXEC)))
		return 1;
	/* a simulator that does not know the system calls says so, in the place of what went wrong */
	if (!w.page->spec.fixed_layout)
		assay_confine_signals();
	while (more) {
		struct assay_outcome out;

		assay_page_wait(w.page, ASSAY_TURN_WORKER, 0);
		take_order(&w);
		more = w.order.command != ASSAY_CMD_FINISH;
		obey_lower(&w, &out);
		answer(&w, &out);
	}
	assay_pair_unmap(w.pair);
	assay_page_unmap(w.page);
	return 0;
}

int assay_worker_is_command(int argc, char **argv)
{
	return (argc == 2 && !strcmp(argv[1], ASSAY_COUNTER_HEALTH_COMMAND)) ||
	       (argc == 5 && !strcmp(argv[1], ASSAY_WORKER_COMMAND)) ||
	       (argc == 3 && !strcmp(argv[1], ASSAY_INVENTORY_COMMAND));
}

/* The hidden command that writes to standard output: whoever started it reads that. */
static int examine_counters(void)
{
	struct assay_text out = { 0 };
	bool failed;

	assay_counter_health_probe(&out);
	failed = out.failed || (out.len && write(STDOUT_FILENO, out.s, out.len) != (ssize_t)out.len);
	assay_text_release(&out);
	return failed;
}

/* The number of an open file; -1 when @text is none. */
static int inherited_file(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	return *end || fd < 3 || fd > INT_MAX || fcntl((int)fd, F_GETFD) < 0 ? -1 : (int)fd;
}

int assay_worker_main(int argc, char **argv)
{
	int fd, pair_fd;

	if (argc == 2)
		return examine_counters();
	fd = inherited_file(argv[2]);
	if (fd < 0)
		return 2;
	/* what a plugin prints before it crashes is worth most */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3) {
		assay_confine_signals();
		return assay_inventory_child(fd);
	}
	pair_fd = !strcmp(argv[3], "0") ? 0 : inherited_file(argv[3]);
	return pair_fd < 0 ? 2 : serve(fd, pair_fd, !strcmp(argv[4], "1"));
}
