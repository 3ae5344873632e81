/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process: takes commands out of the shared page, drives one case, answers. Never prints; its words go to
 * the page.
 */
#include "worker/main.h"

#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "counters/callgrind/callgrind.h"
#include "counters/provider.h"
#include "worker/audit/audit.h"
#include "worker/case/job.h"
#include "worker/case/device.h"
#include "worker/case/exact_call.h"
#include "worker/case/step_counts.h"
#include "worker/inventory/inventory.h"
#include "worker/case/served.h"
#include "worker/plugin/code_hash.h"
#include "worker/reply.h"

/* Of what lies in the file of a pair; a huge page. */
#define FILE_ALIGN (2u << 20)
/* Where the sides' own memory begins in it, far behind the tensors; it is a sparse file. */
#define OWN_BEGIN ((size_t)1 << 42)

/* Of a variant; where its code cannot be told from the rest, of the whole plugin. */
static struct assay_digest variant_hash(const struct assay_loaded_plugin *p, const struct assay_variant *v)
{
	const void *const entries[ASSAY_CODE_ENTRIES] = {
		(const void *)(uintptr_t)v->run,
		(const void *)(uintptr_t)v->prepare,
		(const void *)(uintptr_t)v->release,
		(const void *)(uintptr_t)v->supports,
	};
	struct assay_digest d = { 0 };

	if (assay_code_hash(p->path, p->dl, entries, &d, NULL))
		assay_plugin_file_code(p->path, &d, NULL);
	return d;
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

static struct assay_outcome do_load(struct assay_served *w)
{
	const struct assay_worker_spec *s = &w->spec;
	struct assay_worker_reply *r = &w->reply;

	r->n_threads = s->c.threads;
	for (uint32_t i = 0; i < s->c.threads; i++)
		r->cpus[i] = -1;
	memcpy(r->core_least, s->core_least, sizeof(r->core_least));
	if (assay_worker_spec_draws(s))
		assay_layout_shift(s->settings.layout_seed);
	w->loaded = true;
	return assay_case_job_load(&w->job, s, &w->page->phase);
}

static struct assay_outcome do_prepare(struct assay_served *w)
{
	struct assay_worker_reply *r = &w->reply;
	const struct assay_worker_spec *s = &w->spec;
	const struct assay_case_common common = {
		.memory = w->pair ? &w->pair->memory : NULL,
		.file = { .fd = w->pair_fd, .end = (sizeof(*w->pair) + FILE_ALIGN - 1) / FILE_ALIGN * FILE_ALIGN },
		.own = { .fd = s->kept_memory ? w->pair_fd : -1,
			 .end = OWN_BEGIN,
			 .dealt_from = OWN_BEGIN,
			 .seed = s->settings.layout_seed,
			 .side = w->index },
	};
	struct assay_outcome out = w->loaded ? assay_outcome_ok() : do_load(w);

	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_init(&w->job, s->common ? &common : NULL);
	w->job.turn = w->pair ? &w->pair->turn : NULL;
	for (uint32_t i = 0; i < s->c.threads; i++)
		r->cpus[i] = w->job.cpus[i];
	r->numa_node = w->job.numa_node;
	r->prepare_ns = w->job.prepare_ns;
	r->prepare_bytes = w->job.prepare_bytes;
	r->first_ns = w->job.first_ns;
	r->first_bytes = w->job.first_bytes;
	r->input_bytes = w->job.input_bytes;
	r->own_bytes = w->job.alloc_bytes + w->job.device_bytes;
	r->op_bytes = w->job.tensor_bytes + w->job.alloc_bytes - w->job.prepare_bytes;
	if (w->job.code && !s->fixed_layout) /* a simulator takes long for it, and counts tell by themselves */
		memcpy(r->code_hash, code_hash(&w->job).hex, sizeof(r->code_hash));
	return out.status == ASSAY_STATUS_OK ? assay_case_counts_open(&w->counts, &w->job) : out;
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

/* Counted calls have the first inputs; a variant that keeps its answer for those gives it for other inputs as well. */
static struct assay_outcome check_other_inputs(struct assay_served *w, struct assay_outcome out)
{
	return out.status == ASSAY_STATUS_OK ? assay_case_audit_other(&w->job) : out;
}

static struct assay_outcome do_count(struct assay_served *w)
{
	w->iterations = 1;
	return check_other_inputs(w, assay_exact_call_simulate(&w->job, w->order.args.count));
}

static struct assay_outcome do_step(struct assay_served *w)
{
	const struct assay_worker_args *p = &w->order.args;

	w->iterations = 1;
	if (!p->counting)
		return assay_step_counts_try(&w->job, p->max_steps, p->count, &w->reply.step);
	return check_other_inputs(
		w, assay_step_counts_take(&w->job, p->count, p->max_steps, &w->page->steps, &w->reply.step));
}

static struct assay_outcome do_output(struct assay_served *w)
{
	struct assay_outcome out = assay_device_buffers_get(&w->job, 0, ASSAY_OUTPUT);

	assay_case_job_output(&w->job, w->order.args.iterations, &w->reply);
	return out;
}

static struct assay_outcome do_report(struct assay_served *w)
{
	struct assay_worker_reply *r = &w->reply;
	struct assay_case_job *j = &w->job;
	struct assay_outcome out = assay_case_job_report(j);

	assay_device_metrics_time(j);
	r->rss_peak_bytes = rss_peak_bytes();
	assay_case_job_retire(j); /* what it leaves behind is part of the report */
	assay_device_metrics_memory(j);
	r->n_metrics = j->n_metrics;
	memcpy(r->metrics, j->metrics, sizeof(r->metrics));
	r->n_histograms = assay_case_observed_take(j, r->histograms);
	return out.status == ASSAY_STATUS_OK ? assay_case_counts_report(&w->counts, j->state.note, r) : out;
}

/* @arg: the tokens of the page. */
static void tell_token(void *arg, int32_t token)
{
	struct assay_page_tokens *t = arg;
	const uint32_t n = atomic_load_explicit(&t->n, memory_order_relaxed);

	if (n >= ASSAY_PAGE_TOKENS)
		return;
	t->tokens[n] = token;
	t->at_ns[n] = assay_monotonic_ns();
	atomic_store_explicit(&t->n, n + 1, memory_order_release);
}

static struct assay_outcome do_respond(struct assay_served *w)
{
	static int32_t prompt[ASSAY_PAGE_TOKENS];
	struct assay_case_job *j = &w->job;
	struct assay_prompt p = {
		.size = sizeof(p),
		.tokens = prompt,
		.n_tokens = (int64_t)w->order.args.iterations,
		.n_wanted = w->order.args.count,
		.emit = tell_token,
		.arg = &w->page->tokens,
		.enough = &w->page->tokens.enough,
	};
	int rc;

	w->reply.refused[0] = '\0';
	w->reply.n_known = 0;
	if (!j->op->respond || j->device)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "'%s/%s' cannot continue a prompt", w->spec.c.op,
					 w->spec.c.variant);
	if (p.n_tokens > ASSAY_PAGE_TOKENS)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "a prompt may have %d tokens", ASSAY_PAGE_TOKENS);
	memcpy(prompt, w->page->tokens.prompt, (size_t)p.n_tokens * sizeof(*prompt));
	atomic_store_explicit(&w->page->tokens.n, 0, memory_order_relaxed);
	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	rc = j->op->respond(&j->jobs[0], &p);
	if (rc < 0)
		return assay_case_job_failed(j, "continuing a prompt");
	if (rc)
		snprintf(w->reply.refused, sizeof(w->reply.refused), "%s",
			 j->failure[0] ? j->failure : "the op gave no reason");
	else
		w->reply.n_known = (uint64_t)p.n_known;
	j->failure[0] = '\0';
	return assay_outcome_ok();
}

static struct assay_outcome obey(struct assay_served *w)
{
	switch ((enum assay_command)w->order.command) {
	case ASSAY_CMD_PREPARE:
		return do_prepare(w);
	case ASSAY_CMD_VERIFY:
		return assay_served_verify(w);
	case ASSAY_CMD_SAMPLE:
		return assay_served_sample(w);
	case ASSAY_CMD_PAIR:
		return assay_served_take_turns(w);
	case ASSAY_CMD_COUNT:
		return do_count(w);
	case ASSAY_CMD_STEP:
		return do_step(w);
	case ASSAY_CMD_RECHECK:
		return assay_served_recheck(w);
	case ASSAY_CMD_OUTPUT:
		return do_output(w);
	case ASSAY_CMD_REPORT:
		return do_report(w);
	case ASSAY_CMD_FINISH:
		assay_case_counts_close(&w->counts);
		assay_case_job_release(&w->job);
		return assay_outcome_ok();
	case ASSAY_CMD_LOAD:
		return do_load(w);
	case ASSAY_CMD_RESPOND:
		return do_respond(w);
	case ASSAY_CMD_NONE:
	case ASSAY_N_COMMANDS:
		break;
	}
	return assay_outcome_set(ASSAY_STATUS_FAILED, "worker does not know command %u", w->order.command);
}

#define PLACES_IN_PAGE 4096u
#define STACK_PAGES    64

/* Serve with the stack a little lower: its place, too, is a matter of chance that must not decide a comparison. */
static __attribute__((noinline)) void obey_lower(struct assay_served *w, struct assay_outcome *out)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	size_t drawn = (w->spec.settings.layout_seed >> 8) % 256 * 16,
	       pages = (w->spec.settings.layout_seed >> 16) % STACK_PAGES;
	volatile char *pad = alloca(16 + (here - drawn) % PLACES_IN_PAGE + pages * PLACES_IN_PAGE);

	pad[0] = 0;
	*out = obey(w);
}

/* Outputs that were found to be wrong are told, and the case goes on where that was asked for. */
static void forgive(struct assay_served *w, struct assay_outcome *out)
{
	const bool checked = w->order.command == ASSAY_CMD_VERIFY || w->order.command == ASSAY_CMD_RECHECK;

	if (!w->spec.settings.even_if_wrong || !checked || out->status != ASSAY_STATUS_WRONG)
		return;
	if (!w->reply.wrong[0])
		memcpy(w->reply.wrong, out->reason, sizeof(w->reply.wrong));
	*out = assay_outcome_ok();
}

static void answer(struct assay_served *w, const struct assay_outcome *out)
{
	w->reply.token = w->order.token;
	w->reply.ended_ticks = assay_clock_ticks(&w->spec.clock);
	w->reply.status = (int32_t)out->status;
	memcpy(w->reply.reason, out->reason, sizeof(out->reason));
	w->reply.deviation = w->job.deviation;
	assay_reply_publish(&w->page->reply, &w->reply);
	atomic_store_explicit(&w->page->phase, ASSAY_PHASE_IDLE, memory_order_relaxed);
	assay_page_give(w->page, ASSAY_TURN_CONTROLLER);
}

/* @pair_fd 0: this worker has no partner. */
static int serve(int page_fd, int pair_fd, unsigned index)
{
	static _Alignas(ASSAY_LAYOUT_ALIGN) struct assay_served w; /* too large for the stack */
	char *machine_text;
	bool more = true;

	w.index = index;
	w.call_ns = INFINITY;
	w.pair_fd = pair_fd;
	if (assay_page_attach(&w.page, page_fd, NULL))
		return 1;
	machine_text = assay_page_text(page_fd);
	w.job.machine_text = machine_text;
	close(page_fd);
	if (pair_fd && (assay_pair_attach(&w.pair, pair_fd, NULL) || fcntl(pair_fd, F_SETFD, FD_CLOEXEC)))
		return 1;
	/* a simulator that does not know the system calls says so, in the place of what went wrong */
	if (!assay_callgrind_inside())
		assay_confine_signals();
	while (more) {
		struct assay_outcome out;

		assay_page_wait(w.page, ASSAY_TURN_WORKER, 0);
		/* From here on plugins find in the page what every page says while its worker works. */
		assay_reply_withdraw(&w.page->reply, &w.reply);
		w.reply.n_samples = w.reply.window_bytes = w.reply.n_metrics = w.reply.n_counts = w.reply.n_missing = 0;
		w.reply.n_histograms = 0;
		w.order = w.page->order;
		memset(&w.page->order, 0, sizeof(w.page->order));
		if (!w.loaded && (w.order.command == ASSAY_CMD_LOAD || w.order.command == ASSAY_CMD_PREPARE)) {
			w.spec = w.page->spec;
			memset(&w.page->spec, 0, sizeof(w.page->spec));
		}
		w.reply.begun_ticks = assay_clock_ticks(&w.spec.clock);
		more = w.order.command != ASSAY_CMD_FINISH;
		obey_lower(&w, &out);
		forgive(&w, &out);
		answer(&w, &out);
	}
	free(machine_text);
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

	if (argc == 2) {
		/* The hidden command that writes to standard output: whoever started it reads that. */
		struct assay_text out = { 0 };
		bool failed;

		assay_counter_health_probe(&out);
		failed = out.failed || (out.len && write(STDOUT_FILENO, out.s, out.len) != (ssize_t)out.len);
		assay_text_release(&out);
		return failed;
	}
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
