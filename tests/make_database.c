/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of any size: make_database FILE [RUNS [CASES [SEED]]]. It is written by the store's own functions, so that
 * lists and indexes are what a real one has. Says how many results a second were stored.
 *
 * Levels, noise, counts and metrics are those of the suite "quick" on a virtual machine: some ninety samples, a dozen
 * metrics and twenty counts, most of them 0. A case changes its level every few hundred builds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/summary.h"
#include "store/store.h"

#define MACHINES     3
#define CASES_MOST   400
#define RUNS_A_BUILD 5
#define STARTED_NS   1700000000000000000u
#define EVERY_NS     1800000000000u /* between two runs */
#define LEVEL_RUNS   900            /* about so many of all runs between two changes of a case */
#define MOST_FRAC    0.08           /* of a change */
#define MACHINE_AT   1000003u       /* numbers of draws that belong together lie apart by these */
#define DRAWS_A_RUN  1000033u

/* splitmix64: draw number @n of @seed. */
static uint64_t draw(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* From 0 up to 1. */
static double share(uint64_t seed, uint64_t n)
{
	return (double)(draw(seed, n) >> 11) / 9007199254740992.0;
}

static void hex(char *out, size_t size, uint64_t seed, uint64_t n)
{
	snprintf(out, size, "%016llx%016llx", (unsigned long long)draw(seed, n), (unsigned long long)draw(~seed, n));
}

/* Run number @at is by this machine and of this build. */
static unsigned machine_of(unsigned at)
{
	return at % MACHINES;
}

static unsigned build_of(unsigned at)
{
	return at / MACHINES / RUNS_A_BUILD;
}

/* Run number @at of all, from 0; its arrays are static. Runs take turns on the machines. */
static void made_run(struct assay_run *run, uint64_t seed, unsigned at)
{
	static struct assay_fact environment[] = {
		{ "governor", "performance" },
		{ "aslr", "2" },
		{ "load", "0.07 0.11 0.09" },
		{ "clock", "CLOCK_MONOTONIC_RAW, 25 ns" },
		{ "cgroup", "no limit" },
		{ "placement", "compact, one thread a core, all = 2 threads on CPUs 0,1" },
	};
	static int cpus[] = { 0, 1 };
	struct assay_fingerprint *m = &run->machine;
	const unsigned machine = machine_of(at), build = build_of(at);

	memset(run, 0, sizeof(*run));
	strcpy(run->suite, "quick");
	run->seed = 42;
	run->started_ns = STARTED_NS + at * EVERY_NS;
	hex(m->id, sizeof(m->id), seed, machine);
	snprintf(m->label, sizeof(m->label), "made machine %u, 2 cores, 24 GiB", machine);
	m->n_facts = 3;
	strcpy(m->facts[0].name, "cpu");
	snprintf(m->facts[0].value, sizeof(m->facts[0].value), "Made CPU %u @ 2.90GHz", machine);
	strcpy(m->facts[1].name, "caches");
	strcpy(m->facts[1].value, "L1d 32 KiB, L2 1 MiB, L3 32 MiB");
	strcpy(m->facts[2].name, "kernel");
	strcpy(m->facts[2].value, "6.1.0");
	snprintf(run->build.commit, sizeof(run->build.commit), "%016llx%016llx%08x",
		 (unsigned long long)draw(seed, 7u * MACHINE_AT + build), (unsigned long long)draw(~seed, build),
		 build);
	strcpy(run->build.compiler, "gcc 12.2.0");
	strcpy(run->build.flags, "-O2 -g | plugins -O2 -g -O3 -ffp-contract=off -fno-math-errno");
	hex(run->build.plugins, sizeof(run->build.plugins), seed, 8u * MACHINE_AT + build);
	hex(run->build.id, sizeof(run->build.id), seed, 9u * MACHINE_AT + build);
	run->environment = environment;
	run->n_environment = sizeof(environment) / sizeof(environment[0]);
	run->all_threads = 2;
	run->all_cpus = cpus;
	run->n_all_cpus = 2;
}

static void name_case(struct assay_case *c, unsigned i)
{
	static const char *const ops[] = { "matmul.ternary", "matmul.f32", "quantize.q8_0", "dequantize.q8_0",
					   "stream.copy" };
	static const char *const variants[] = { "ref", "avx2", "avx512vnni", "openblas" };
	const unsigned shape = i / 40, threads = 1 + i / 20 % 2;

	snprintf(c->op, sizeof(c->op), "%s", ops[i % 5]);
	snprintf(c->variant, sizeof(c->variant), "%s", variants[i / 5 % 4]);
	c->n_axes = 2;
	strcpy(c->axes[0].name, "m");
	c->axes[0].value = 64 << shape;
	snprintf(c->axes[0].text, sizeof(c->axes[0].text), "%d", 64 << shape);
	strcpy(c->axes[1].name, "k");
	c->axes[1].value = 256;
	strcpy(c->axes[1].text, "256");
	c->threads = threads;
	c->all_threads = threads == 2;
	c->budget_ns = 50000000;
	c->timeout_ns = 120000000000;
	snprintf(c->key, sizeof(c->key), "%s/%s/m=%d,k=256/t=%u/warm", c->op, c->variant, 64 << shape, threads);
}

/* Time of an iteration without noise: that of case and machine, changed by each of the builds since the first. */
static double level_ns(uint64_t seed, unsigned at, unsigned i)
{
	const unsigned build = build_of(at), every = LEVEL_RUNS / MACHINES / RUNS_A_BUILD;
	double level = 2000 * exp(7 * share(seed, 11u * MACHINE_AT + i)) * (1 + 0.2 * machine_of(at));

	for (unsigned k = 1; k <= build / every; k++) {
		const uint64_t n = 12u * MACHINE_AT + (uint64_t)i * 1009 + k;

		if (build >= k * every + draw(seed, n) % every)
			level *= 1 + MOST_FRAC * (2 * share(~seed, n) - 1);
	}
	return level;
}

static int add_samples(struct assay_result *r, uint64_t seed, uint64_t first, double level)
{
	const double of_run = 1 + 0.01 * (share(seed, first) + share(seed, first + 1) - 1);

	r->n_samples = 60 + draw(seed, first + 2) % 61;
	r->samples = calloc(r->n_samples, sizeof(*r->samples));
	if (!r->samples)
		return ASSAY_ENOMEM;
	for (size_t k = 0; k < r->n_samples; k++) {
		struct assay_sample *s = &r->samples[k];
		const uint64_t n = first + 3 + k;
		const double noise = share(seed, n) + share(~seed, n) - 0.8;

		s->iterations = level < 500000 ? (uint64_t)(500000 / level) + 1 : 1;
		s->ns = (uint64_t)((double)s->iterations * level * of_run * (1 + 0.01 * noise));
		s->flags = ASSAY_SAMPLE_WAIT_TOLD;
		if (draw(seed, n) % 64 == 0) {
			s->flags |= ASSAY_DISTURB_SWITCH;
			s->switches = 1;
			s->waited_ns = draw(~seed, n) % 200000;
			s->ns += s->waited_ns;
		}
	}
	return 0;
}

static int add_metrics(struct assay_result *r)
{
	const double s = r->median_ns * 1e-9;
	const struct assay_metric v[] = {
		{ "op_bytes", "B", 0, 1048640, "", false, 0 },
		{ "prepare_s", "s", -1, s / 3, "", false, 0 },
		{ "prepare_bytes", "B", -1, 0, "", false, 0 },
		{ "time_s", "s", -1, s, "", false, 0 },
		{ "ops_per_s", "op/s", 1, 33554432 / s, "", false, 0 },
		{ "bytes_per_s", "B/s", 1, 1048640 / s, "", false, 0 },
		{ "arith_intensity", "op/B", 0, 33554432.0 / 1048640, "", false, 0 },
		{ "items_per_s", "1/s", 1, 64 / s, "", false, 0 },
		{ "rss_peak_bytes", "B", -1, 5648384, "", false, 0 },
		{ "machine_total_bytes", "B", 0, 25276502016.0, "", false, 0 },
		{ "machine_used_bytes", "B", 0, 539992064, "", false, 0 },
		{ "roof_frac", "1", 1, 0.5 + s, "assay", false, 0 },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]) && !rc; i++)
		rc = assay_result_put_metric(r, &v[i]);
	return rc;
}

static int add_counts(struct assay_result *r)
{
	static const char *const rusage = "getrusage";
	const struct assay_count v[] = {
		{ "minor_faults", "os", "getrusage", 0, true, 0, 1 },
		{ "major_faults", "os", "getrusage", 0, true, 0, 1 },
		{ "voluntary_switches", "os", "getrusage", 0, true, 0, 1 },
		{ "context_switches", "os", "getrusage", 1 / r->median_ns, true, 0, 1 },
		{ "migrations", "os", "perf_event_open", 0, true, 0, 1 },
		{ "task_clock_ns", "os", "clock_gettime, CPU time of the thread", r->median_ns * 1.01, true, 0, 1 },
		{ "kv_hits", "sde", "libsde", 128, true, 0, 1 },
		{ "kv_misses", "sde", "libsde", 0.5, true, 0, 1 },
		{ "fallbacks", "sde", "libsde", 0, true, 0, 1 },
	};
	static const struct {
		const char *name, *source, *how;
	} own[] = {
		{ "disturbed_samples", "assay", "" },
		{ "involuntary_switches", "os", "getrusage" },
		{ "page_faults", "os", "getrusage" },
		{ "steal_samples", "os", "/proc/stat" },
		{ "migrated_samples", "os", "sched_getcpu" },
		{ "throttled_samples", "os", "cgroup" },
		{ "pressure_samples", "os", "/proc/pressure/cpu" },
		{ "slow_core_samples", "os", "a loop of known length" },
		{ "roof_ns", "assay", "stream.read at l3" },
		{ "waited_ns", "os", "/proc/self/schedstat" },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]) && !rc; i++)
		rc = assay_counters_add(&r->counters, &v[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !rc; i++)
		rc = assay_result_set_count(r, own[i].name, own[i].source, own[i].how,
					    own[i].how == rusage ? (double)r->n_samples
					    : i == 8             ? r->median_ns / 2
								 : 0);
	return rc ? rc
		  : assay_counters_add_missing(&r->counters, "frequency_samples", "os", "this host has no cpufreq");
}

/* The result of case number @i; release it. About one in a hundred did not end well. 0 or ASSAY_ENOMEM. */
static int made_result(struct assay_result *r, const struct assay_run *run, uint64_t seed, unsigned at, unsigned i,
		       struct assay_err *err)
{
	const uint64_t first = 13u * MACHINE_AT + (uint64_t)at * DRAWS_A_RUN + i * 211u;
	int rc;

	memset(r, 0, sizeof(*r));
	name_case(&r->c, i);
	r->started_ns = run->started_ns + i * 60000000u;
	r->max_rel_err = -1;
	hex(r->code_hash, sizeof(r->code_hash), seed, 14u * MACHINE_AT + i * 1009u + build_of(at) / 40);
	if (draw(seed, first) % 100 == 0) {
		r->status = ASSAY_STATUS_TIMEOUT;
		strcpy(r->reason, "took longer than 120 s");
		return 0;
	}
	r->status = ASSAY_STATUS_OK;
	r->checked = r->correct = true;
	hex(r->digest, sizeof(r->digest), seed, 15u * MACHINE_AT + i / 5);
	r->steady = r->converged = true;
	r->warmup_ns = 20000000 + draw(seed, first + 200) % 1000000;
	r->cpus = malloc(2 * sizeof(*r->cpus));
	r->n_cpus = r->cpus ? (size_t)r->c.threads : 0;
	for (size_t k = 0; k < r->n_cpus; k++)
		r->cpus[k] = (int)k;
	r->copies = 1;
	r->roof.bound = ASSAY_BOUND_BANDWIDTH;
	strcpy(r->roof.op, "stream.read");
	strcpy(r->roof.name, "l3");
	rc = r->cpus ? add_samples(r, seed, first, level_ns(seed, at, i)) : ASSAY_ENOMEM;
	if (!rc)
		rc = assay_summary_fill(r, err);
	if (!rc)
		rc = add_metrics(r);
	if (!rc)
		rc = add_counts(r);
	return rc;
}

/* ---- storing them ---- */

/*
 * A database of any size: make_database FILE [RUNS [CASES [SEED]]]. It is written by the store's own functions, so that
 * lists, indexes and seals are what a real one has. Says how many results a second were stored.
 */

#define RUNS_AT_ONCE 100 /* in one transaction */

/* Spent in the store, of all: the time that passed, and of processors. */
static double store_s, store_cpu_s;

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Count from here on. */
static void start_watch(void)
{
	store_s -= clock_s(CLOCK_MONOTONIC);
	store_cpu_s -= clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void stop_watch(void)
{
	store_s += clock_s(CLOCK_MONOTONIC);
	store_cpu_s += clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

/* Run number @at; its results are made first, so that the time is the store's. */
static int add_run(struct assay_store *s, uint64_t seed, unsigned at, struct assay_result *v, unsigned n,
		   struct assay_err *err)
{
	struct assay_run run;
	unsigned made = 0;
	int rc = 0;

	made_run(&run, seed, at);
	for (; made < n && !rc; made++)
		rc = made_result(&v[made], &run, seed, at, made, err);
	start_watch();
	if (!rc)
		rc = assay_store_run_begin(s, &run, err);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = assay_store_result_add(s, run.id, &v[i], err);
	if (!rc)
		rc = assay_store_run_end(s, run.id, run.started_ns + 60000000000u, err);
	stop_watch();
	for (unsigned i = 0; i < made; i++)
		assay_result_release(&v[i]);
	return rc;
}

/* Runs from @from on, up to @to, in one transaction. */
static int add_runs(struct assay_store *s, uint64_t seed, unsigned from, unsigned to, unsigned n_cases,
		    struct assay_err *err)
{
	static struct assay_result results[CASES_MOST];
	int rc = assay_store_bulk_begin(s, err);

	if (rc)
		return rc;
	for (unsigned at = from; at < to && !rc; at++)
		rc = add_run(s, seed, at, results, n_cases, err);
	start_watch();
	rc = assay_store_bulk_end(s, rc, err);
	stop_watch();
	return rc;
}

/* Run 1 and the last as named baselines. */
static int add_baselines(struct assay_store *s, uint64_t seed, unsigned runs, struct assay_err *err)
{
	struct assay_run last;
	int rc = assay_store_baseline_save(s, "first", 1, 1800000000000000000u, err);

	made_run(&last, seed, runs - 1);
	return rc ? rc : assay_store_baseline_save(s, "release", runs, last.started_ns, err);
}

int main(int argc, char **argv)
{
	uint64_t runs = 10000, cases = 100, seed = 42;
	struct assay_err err = { 0 };
	struct assay_store *s = NULL;
	int rc = argc >= 2 && argc <= 5 && argv[1][0] != '-'
			 ? 0
			 : assay_err_set(&err, ASSAY_EUSAGE, "usage: make_database FILE [RUNS [CASES [SEED]]]");

	if (!rc && argc > 2)
		rc = assay_parse_u64(argv[2], "RUNS", 1, 1000000, &runs, &err);
	if (!rc && argc > 3)
		rc = assay_parse_u64(argv[3], "CASES", 1, CASES_MOST, &cases, &err);
	if (!rc && argc > 4)
		rc = assay_parse_u64(argv[4], "SEED", 0, UINT64_MAX, &seed, &err);
	if (!rc)
		rc = assay_store_open(&s, argv[1], ASSAY_STORE_WRITE, &err);
	for (unsigned at = 0; at < runs && !rc; at += RUNS_AT_ONCE)
		rc = add_runs(s, seed, at, at + RUNS_AT_ONCE < runs ? at + RUNS_AT_ONCE : (unsigned)runs,
			      (unsigned)cases, &err);
	if (!rc)
		rc = add_baselines(s, seed, (unsigned)runs, &err);
	assay_store_close(s);
	if (rc) {
		fprintf(stderr, "make_database: %s\n", err.text);
		return 1;
	}
	printf("%llu results in %.3f s: %.0f a second, %.0f a second of processors\n",
	       (unsigned long long)(runs * cases), store_s, (double)(runs * cases) / store_s,
	       (double)(runs * cases) / store_cpu_s);
	return 0;
}
