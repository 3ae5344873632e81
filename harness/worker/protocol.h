/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a controller shares with one worker, and the hand-over of the turn. One side owns the page at a time:
 * `turn` says which, and a futex wakes the other. Everything that varies in how a worker is launched stays outside it.
 *
 * A plugin can find the page, read it and write to it. So the worker takes what it needs out of the page before it runs
 * plugin code, and answers when that code has ended; meanwhile the page says nothing. The controller believes nothing
 * that is in it, see worker/reply.h.
 */
#ifndef ASSAY_WORKER_PROTOCOL_H
#define ASSAY_WORKER_PROTOCOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

#include "base/err.h"
#include "machine/clock.h"
#include "model/case.h"
#include "model/counter.h"
#include "model/exact.h"
#include "model/histogram.h"
#include "model/result.h"
#include "worker/case/thread_pool.h"

#define ASSAY_PAGE_MAGIC   0x45474150u /* "PAGE" */
#define ASSAY_PAGE_VERSION 15u
#define ASSAY_PAGE_SAMPLES 4096
#define ASSAY_PAGE_METRICS 96 /* of the op and of its device */
#define ASSAY_PAGE_COUNTS  192
#define ASSAY_PAGE_EVENTS  32768
#define ASSAY_PAGE_CPUS    1024
#define ASSAY_PAGE_PATHS   65536
#define ASSAY_PAGE_WINDOW  65536
#define ASSAY_PAGE_TOKENS  4096

#define ASSAY_PAGE_COUNTS_PATH 4096

enum assay_turn {
	ASSAY_TURN_CONTROLLER = 0,
	ASSAY_TURN_WORKER = 1,
};

enum assay_command {
	ASSAY_CMD_NONE,
	ASSAY_CMD_PREPARE, /* load the plugins unless LOAD did so, pin, allocate, fill, prepare the variant */
	ASSAY_CMD_VERIFY,  /* poison the outputs, run, compare with the oracle */
	ASSAY_CMD_SAMPLE,  /* `count` samples of `iterations` */
	ASSAY_CMD_PAIR,    /* `count` blocks of four samples, in turn with the partner */
	ASSAY_CMD_COUNT,   /* one counted run after `count` others, under the simulator */
	ASSAY_CMD_STEP,    /* step through a call: `count`, after one other; at most `max_steps` */
	ASSAY_CMD_RECHECK, /* after the last sample: timed outputs, guards and inputs */
	ASSAY_CMD_OUTPUT,  /* a window of the outputs, from byte `iterations` on */
	ASSAY_CMD_REPORT, /* the variant gives back what it prepared; metrics and counters of the op; no run after it */
	ASSAY_CMD_FINISH, /* release everything and exit */
	ASSAY_CMD_LOAD,   /* the first part of PREPARE, so that the sides of a pair can do it at once */
	ASSAY_CMD_RESPOND, /* continue the prompt of `iterations` tokens by `count` more */
	ASSAY_N_COMMANDS,
};

/* The worker's present activity, so that the reason for a death can name it. */
enum assay_phase {
	ASSAY_PHASE_START,
	ASSAY_PHASE_LOAD,
	ASSAY_PHASE_ALLOCATE,
	ASSAY_PHASE_FILL,
	ASSAY_PHASE_PREPARE,
	ASSAY_PHASE_RUN,
	ASSAY_PHASE_CHECK,
	ASSAY_PHASE_REPORT,
	ASSAY_PHASE_RELEASE,
	ASSAY_PHASE_TURN, /* the partner of the pair has it */
	ASSAY_PHASE_IDLE,
	ASSAY_N_PHASES,
};

const char *assay_phase_name(enum assay_phase p);

/* The tensors of a pair that both sides map. */
enum assay_common {
	ASSAY_COMMON_NONE,
	ASSAY_COMMON_INPUTS, /* for calls that are divided: each side is in the middle of its own */
	ASSAY_COMMON_ALL,
};

/*
 * Digests of inputs and outputs that the oracle accepted: with the inputs of the case, and with those of its audits. If
 * the same bits come again, they are right, and the oracle is not asked.
 */
struct assay_accepted {
	char digest[2][ASSAY_DIGEST_LEN + 1]; /* "": none so far */
	double max_rel_err[2];
	struct assay_deviation deviation[2]; /* of these outputs */
};

/* How a command measures: from its options to the page of each worker. All-zero is the default of all but the seed. */
struct assay_worker_settings {
	uint64_t seed;
	uint64_t layout_seed; /* draws the places of buffers, code and stacks; 0: they lie where they always do */
	bool multiplex;       /* count all events at once, each for a share of the time */
	bool even_if_wrong;   /* a wrong kernel goes on all the same, and `wrong` of the reply says why it is */
};

/* The checks of a worker besides those of its first and last outputs. */
struct assay_worker_checks {
	uint32_t few_copies; /* check only this many copies, drawn anew each time; 0: all */
	bool all;            /* also check other inputs, and once more from poison after the last sample */
	bool other_late;     /* check other inputs after sampling: checking before would reveal them to the kernel */
	bool audit;          /* make calls between samples, on data that changes: see audit/audit.h */
};

/* The order to measure; written before the first command to the worker. */
struct assay_worker_spec {
	struct assay_worker_settings settings;
	struct assay_worker_checks checks;
	struct assay_case c;
	int32_t cpus[ASSAY_PAGE_CPUS];
	uint64_t copies;
	uint32_t fixed_layout; /* 1: buffers and the stack are at addresses that nothing outside the case influences */
	struct assay_clock clock;
	bool try_pace;                        /* of the threads' cores, see machine/core_pace.h */
	uint64_t core_least[ASSAY_PAGE_CPUS]; /* the least ticks known, by thread; 0: none */
	struct assay_host_info host;
	char events[ASSAY_PAGE_EVENTS]; /* what to count, as assay_counter_choice_text() writes it */
	bool cells_from_memory;         /* read counters of the op without PAPI, which takes 1 ms to start */
	uint32_t common;                /* enum assay_common; those tensors lie in the file of the pages */
	bool kept_memory; /* the file is that of earlier pairs and also has what variants prepare, for each side */
	struct assay_accepted accepted;
	struct assay_cache_model cache_model;     /* of STEP */
	char counts_path[ASSAY_PAGE_COUNTS_PATH]; /* the file that STEP writes */
	/* A part letter and a path for each plugin, followed by a newline: see enum assay_plugin_part. */
	char plugins[ASSAY_PAGE_PATHS];
};

/* Does the worker draw where everything lies? */
static inline bool assay_worker_spec_draws(const struct assay_worker_spec *s)
{
	return s->settings.layout_seed && !s->fixed_layout;
}

struct assay_page_metric {
	char tag[ASSAY_METRIC_TAG_MAX];
	double value;
};

/* The values of one histogram of the op that were observed while samples were taken. */
struct assay_page_histogram {
	char tag[ASSAY_METRIC_TAG_MAX];
	uint64_t n[ASSAY_HISTOGRAM_BUCKETS];
};

/* The numbers that go with a command; those that a command does not use are ignored. */
struct assay_worker_args {
	uint64_t iterations;
	uint64_t extra_iterations; /* done and timed, but not counted: a slowdown of known size, for controls */
	double stretch_frac;       /* the same for kernels too slow for that: time spun, as a share of the sample's */
	/*
	 * SAMPLE, PAIR: these samples are kept; count the events of the spec, and watch threads, around them.
	 * STEP: write the counts.
	 */
	bool counting;
	bool long_calls; /* PAIR: no untimed call after a hand-over */
	uint32_t count;
	uint32_t turn_parts; /* PAIR: parts of a call that are a sample, or, without slices, a turn; 0: all */
	/*
	 * STEP: the most steps of one call. Without `counting` it is the first stretch of a call, which ends `count`
	 * steps after the first write into an output, unless that is 0.
	 */
	uint64_t max_steps;
	uint64_t order_seed; /* PAIR: draws ABBA or BAAB for every block */
	/*
	 * PAIR: one call of each side is under way at any time, cut into slices of this length, which take turns; 0:
	 * turns are samples. With parts, turn_parts of them are a sample.
	 */
	uint64_t slice_ns;
	bool swap_copies; /* in slices: two calls on one of two copies, then two on the other, which the partner had */
};

struct assay_order {
	uint32_t command; /* enum assay_command */
	uint64_t token;   /* drawn for this order; the answer has to carry it */
	struct assay_worker_args args;
};

/* The results of stepping a call. */
struct assay_step_reply {
	uint64_t steps; /* of the last call */
	uint64_t ns;    /* of processor time that they took */
	/*
	 * Estimates of all steps of the call, from the rate at which these filled the outputs, did the operations that
	 * the op states, or accessed as much memory; 0: there is no estimate.
	 */
	double by_outputs, by_work, by_memory;
	uint32_t whole; /* 1: these are all steps of the call */
};

/*
 * The worker's answer to a command. The numbers say how many entries of the arrays at its end are valid. The members
 * before them keep what earlier commands reported.
 */
struct assay_worker_reply {
	uint64_t token;                    /* of the order */
	uint64_t begun_ticks, ended_ticks; /* when the order came, and when this was written */
	int32_t status;                    /* enum assay_status: OK, or WRONG, FAILED, SKIPPED with the reason */
	char reason[512];

	/* PREPARE */
	uint32_t n_threads;
	int32_t numa_node;
	uint64_t prepare_ns;            /* of the variant's prepare, all copies */
	uint64_t prepare_bytes;         /* what it took with host->alloc */
	uint64_t first_ns, first_bytes; /* of these, the first copy; 0: there is nothing to prepare */
	uint64_t op_bytes;              /* tensors of all copies, and what the op took with host->alloc */
	uint64_t input_bytes;           /* of them, those of inputs */
	uint64_t own_bytes;             /* on the device, and by host->alloc: memory that no partner shares */
	char code_hash[ASSAY_DIGEST_LEN + 1];

	/* VERIFY, RECHECK */
	double max_rel_err;
	char digest[ASSAY_DIGEST_LEN + 1];
	char wrong[512];                  /* with even_if_wrong: why it is; "": it is right so far */
	struct assay_deviation deviation; /* of all outputs that were checked so far */
	struct assay_accepted accepted;
	uint64_t call_parts; /* of a call, see assay_part(); 0: it has none */

	/* SAMPLE, PAIR */
	uint32_t n_samples;
	double device_least_hz, device_most_hz; /* clocks that its device was seen at meanwhile; 0: unknown */

	/* STEP */
	struct assay_step_reply step;

	/* OUTPUT */
	uint64_t output_bytes; /* of all outputs together */
	uint32_t window_bytes;
	char output_name[ASSAY_NAME_MAX]; /* the tensor in which the window begins */
	uint64_t element;                 /* of it, and where the element begins in all outputs */
	uint64_t element_at;
	uint32_t element_bytes;

	/* RESPOND */
	uint64_t n_known;  /* tokens of the prompt that the cache had */
	char refused[256]; /* why this prompt cannot be continued; "": it was */

	/* REPORT */
	uint32_t n_metrics, n_counts, n_missing, n_histograms;
	uint64_t rss_peak_bytes; /* 0: unknown */

	int32_t cpus[ASSAY_PAGE_CPUS];        /* n_threads; read back */
	uint64_t core_least[ASSAY_PAGE_CPUS]; /* n_threads; what is known of their pace now */
	struct assay_sample samples[ASSAY_PAGE_SAMPLES];
	unsigned char window[ASSAY_PAGE_WINDOW];
	struct assay_page_metric metrics[ASSAY_PAGE_METRICS];
	struct assay_count counts[ASSAY_PAGE_COUNTS];
	struct assay_unavailable missing[ASSAY_PAGE_COUNTS];
	struct assay_page_histogram histograms[ASSAY_MAX_HISTOGRAMS];
};

/* RESPOND: the prompt, and the tokens that follow it while they are generated. */
struct assay_page_tokens {
	int32_t prompt[ASSAY_PAGE_TOKENS];
	uint32_t enough;    /* set by the parent while they come: no more are wanted */
	_Atomic uint32_t n; /* of the next two */
	int32_t tokens[ASSAY_PAGE_TOKENS];
	uint64_t at_ns[ASSAY_PAGE_TOKENS]; /* CLOCK_MONOTONIC, when each was known */
};

struct assay_page {
	uint32_t magic, version, size;
	_Atomic uint32_t turn;         /* enum assay_turn; the futex */
	_Atomic uint32_t phase;        /* enum assay_phase */
	_Atomic uint64_t steps;        /* of the call that is stepped; to be shown, no more */
	struct assay_order order;      /* zeros once the worker has taken it */
	struct assay_worker_spec spec; /* zeros once the worker has begun to load or prepare */
	struct assay_worker_reply reply;
	struct assay_page_tokens tokens;
};

/*
 * Two partners hand the turn over between them, without the controller. `slot`, `ready` and `slice` tell a plugin
 * nothing: they start at random values and have another value in each series of calls, timed or not, see
 * assay_pair_randomize_slot(). What slices need besides does tell something, but the outputs of each such call are
 * scrambled before it.
 */
struct assay_pair_turn {
	_Atomic uint32_t slot;  /* the futex: the sample that may be taken; odd: none */
	_Atomic uint32_t ready; /* odd: one side waits for the other */
	/*
	 * For calls in slices: the futex, whose lowest bits are the side that may run; and the call that a side has
	 * had.
	 */
	_Atomic uint32_t slice;
	_Atomic uint32_t finished[2];
	_Atomic uint64_t
		ring[2]; /* what one signal of the timer costs, as each side measured it, in ticks of the clock */
};

/* Messages between the sides of a pair about the tensors that they share. */
struct assay_common_memory {
	_Atomic uint32_t filled; /* the inputs are there, and making them left nothing else behind */
	uint64_t end;            /* of the last tensor in the file */
	char input_digest[ASSAY_DIGEST_LEN + 1];
};

#define ASSAY_PAIR_WORDS_ALIGN 4096

/* The start of the file that both workers of a pair map; the tensors that they share lie behind it. */
struct assay_pair_shared {
	struct assay_pair_turn turn;
	struct assay_common_memory memory;
	/*
	 * The words on which the pool of the side that has the turn waits. No controller touches their page, so it
	 * stays near the cores of the workers. They tell a plugin how many regions there were, and so that it is in a
	 * turn, but not whether its call is timed or audited.
	 */
	_Alignas(ASSAY_PAIR_WORDS_ALIGN) struct assay_pool_words pool;
};

/*
 * Create the page in an anonymous file that nobody can resize, before @text (NULL: none); *fd is to be inherited by the
 * worker and closed afterwards by the caller.
 */
int assay_page_create(struct assay_page **page, const char *text, int *fd, struct assay_err *err);
/* The text behind the page in file @fd; NULL where there is none, or no memory for it. The caller frees it. */
char *assay_page_text(int fd);
/* The worker's view. ASSAY_EABI when magic, version or size differ. */
int assay_page_attach(struct assay_page **page, int fd, struct assay_err *err);
void assay_page_unmap(struct assay_page *page);

/* Create it in a file that can grow but not shrink, so that what is mapped of it stays there. */
int assay_pair_create(struct assay_pair_shared **pair, int *fd, struct assay_err *err);
/* Reset it for other workers, as if it had just been created. */
void assay_pair_reset(struct assay_pair_shared *pair);
int assay_pair_attach(struct assay_pair_shared **pair, int fd, struct assay_err *err);
void assay_pair_unmap(struct assay_pair_shared *pair);

/* A number that no plugin can guess. */
uint64_t assay_token_draw(void);

/* Whose sample is number @slot of a block-wise ABBA or BAAB order? 0 or 1. */
unsigned assay_pair_owner(uint64_t order_seed, uint32_t slot);
/* Call this before both sides get the order: no slot may begin. */
void assay_pair_hold(struct assay_pair_turn *turn, uint64_t order_seed);
/* This side is ready. Once both are, the first slot may begin, or the first call in slices. */
void assay_pair_join(struct assay_pair_turn *turn, uint64_t order_seed, bool slices);
/* Tell the partner that slot @slot may begin. */
void assay_pair_give(struct assay_pair_turn *turn, uint64_t order_seed, uint32_t slot);
/* Sleep until @slot may begin. */
void assay_pair_wait(struct assay_pair_turn *turn, uint64_t order_seed, uint32_t slot);

/*
 * For calls in slices. await() waits until @side may run, which is not before both sides are ready; pass() lets
 * @side run; finish() says that @side has ended call @call, counted from 0, and finished() asks whether it has;
 * beginner() is the side that begins the call.
 */
void assay_pair_await(struct assay_pair_turn *turn, unsigned side);
void assay_pair_pass(struct assay_pair_turn *turn, unsigned side);
void assay_pair_finish(struct assay_pair_turn *turn, uint64_t order_seed, unsigned side, uint32_t call);
bool assay_pair_finished(struct assay_pair_turn *turn, uint64_t order_seed, unsigned side, uint32_t call);
unsigned assay_pair_beginner(uint64_t order_seed, uint32_t call);
/*
 * The time of CLOCK_MONOTONIC at which the next slice of @side begins, at least a quarter of a slice away. Slices lie
 * on a grid of this clock and belong to the sides in the order of the Thue-Morse sequence. So whatever comes every
 * millisecond, or with any other period of 2^n slices, such as timer interrupts, comes to both sides equally often.
 */
uint64_t assay_pair_slice_ns(uint64_t order_seed, unsigned side, uint64_t now_ns, uint64_t slice_ns);

/* While this side has the turn, put a meaningless value into `slot`, the one that @seed gives for @n. */
void assay_pair_randomize_slot(struct assay_pair_turn *turn, uint64_t seed, uint64_t n);

/* Give the turn to the other side and wake it. */
void assay_page_give(struct assay_page *page, enum assay_turn to);
/* Wait until it is @mine or @timeout_ns have passed (0: for ever); true when it is. */
bool assay_page_wait(struct assay_page *page, enum assay_turn mine, uint64_t timeout_ns);

#endif
