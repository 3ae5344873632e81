/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the server, the machine and the newest results are: for Prometheus, for health checks, and once a second for the
 * dashboard. A request here is one to this server, and a job is one command that it was asked for.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "drive/show/show.h"
#include "machine/clock.h"
#include "machine/environment.h"
#include "reports/emitter.h"
#include "serve/http.h"

#define STREAMS_MAX 32

static void look(const struct assay_server *s, struct assay_system_state *out)
{
	const char *slash = strrchr(s->q->what->db, '/');
	char folder[4096] = ".";

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - s->q->what->db) + 1, s->q->what->db);
	assay_system_state("", folder, out);
}

/* How busy the GPUs are, as the mean of those that tell, and their memory. False: @why says why that is not known. */
static bool look_at_gpus(const struct assay_server *s, struct assay_nvml_use *all, struct assay_err *why)
{
	const unsigned n = s->gpus ? assay_nvml_count(s->gpus) : 0;
	unsigned n_known = 0;
	double sum = 0;

	*all = (struct assay_nvml_use){ 0 };
	*why = s->no_gpus;
	for (unsigned i = 0; i < n; i++) {
		struct assay_nvml_use u;

		if (assay_nvml_use(s->gpus, i, &u, why))
			continue;
		all->used_bytes += u.used_bytes;
		all->memory_bytes += u.memory_bytes;
		n_known += !isnan(u.busy_frac);
		sum += isnan(u.busy_frac) ? 0 : u.busy_frac;
	}
	if (n && !n_known && !why->code)
		assay_err_set(why, ASSAY_EUNAVAILABLE, "the driver does not report how busy the GPU is");
	all->busy_frac = n_known ? sum / n_known : NAN;
	return n_known;
}

static struct assay_http_counts counts_of(struct assay_server *s)
{
	struct assay_http_counts n;

	pthread_mutex_lock(&s->lock);
	n = s->counts;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static uint64_t total(const struct assay_http_counts *n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= ASSAY_LATENCY_BUCKETS; i++)
		sum += n->took.buckets[i];
	return sum;
}

/* The end of the bucket in which the quantile lies, in seconds; 0 without requests. */
static double quantile_s(const struct assay_http_counts *n, double q)
{
	const double want = q * (double)total(n);
	double le = ASSAY_LATENCY_LEAST_S;
	uint64_t sum = 0;

	if (!(want > 0))
		return 0;
	for (size_t i = 0; i < ASSAY_LATENCY_BUCKETS; i++, le *= 2) {
		sum += n->took.buckets[i];
		if ((double)sum >= want)
			return le;
	}
	return le;
}

/* When the database was written last: its file, and the log in front of it. */
static void written_at(const char *db, struct timespec at[2])
{
	char wal[4096];
	struct stat st;

	snprintf(wal, sizeof(wal), "%s-wal", db);
	at[0] = stat(db, &st) ? (struct timespec){ 0 } : st.st_mtim;
	at[1] = stat(wal, &st) ? (struct timespec){ 0 } : st.st_mtim;
}

/* ---- health ---- */

/*
 * Can the database be read? One that is not there yet can. It is opened again only when it was written to, because
 * that takes long beside many clients who read it.
 */
static bool can_read(struct assay_server *s, struct assay_err *err)
{
	struct assay_run_info *v = NULL;
	struct timespec at[2];
	size_t n = 0;
	bool known;

	written_at(s->q->what->db, at);
	if (access(s->q->what->db, F_OK))
		return true;
	pthread_mutex_lock(&s->lock);
	known = !memcmp(at, s->read_at, sizeof(at));
	pthread_mutex_unlock(&s->lock);
	if (known && !access(s->q->what->db, R_OK))
		return true;
	if (assay_stored_runs(s->q->what->db, 1, &v, &n, err))
		return false;
	free(v);
	pthread_mutex_lock(&s->lock);
	memcpy(s->read_at, at, sizeof(at));
	pthread_mutex_unlock(&s->lock);
	return true;
}

/* Can it be read, and is the model there that was asked for? */
static bool is_ready(struct assay_server *s, struct assay_err *err)
{
	return can_read(s, err) && (!s->q->model || !assay_chat_gone(&s->chat, err));
}

void assay_serve_healthz(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const struct assay_http_counts n = counts_of(q->server);
	const uint64_t all = total(&n);
	struct assay_system_state m;
	struct assay_err err = { 0 }, why;
	struct assay_nvml_use gpus;
	const bool ok = is_ready(q->server, &err), known = look_at_gpus(q->server, &gpus, &why);
	struct assay_err not_pruned;

	look(q->server, &m);
	pthread_mutex_lock(&q->server->lock);
	not_pruned = q->server->not_pruned;
	pthread_mutex_unlock(&q->server->lock);
	a->status = ok ? 200 : 503;
	assay_http_json(a,
			json_pack("{s:i,s:s,s:s*,s:s?,s:s?,s:f,s:f,s:f,s:o,s:s?,s:f,s:f}", "schema", 1, "status",
				  ok ? "ok" : "unhealthy", "error", ok ? NULL : err.text, "reason",
				  ok ? NULL : err.text, "storage_error", not_pruned.text[0] ? not_pruned.text : NULL,
				  "latency_p50", quantile_s(&n, 0.5), "latency_p95", quantile_s(&n, 0.95),
				  "memory_usage_mb", (double)m.process_bytes / 1e6, "gpu_utilization",
				  known ? json_real(gpus.busy_frac) : json_null(), "gpu_utilization_reason",
				  known ? NULL : why.text, "error_rate", all ? (double)n.by_class[5] / (double)all : 0,
				  "uptime_s", (double)(assay_monotonic_ns() - q->server->began_ns) * 1e-9));
}

void assay_serve_readyz(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_err err = { 0 };

	if (is_ready(q->server, &err))
		assay_http_json(a, json_pack("{s:i,s:s}", "schema", 1, "status", "ready"));
	else
		assay_http_fail(a, 503, "%s", err.text);
}

/* ---- metrics ---- */

/* A text of metrics: OpenMetrics 1.0 or, as all scrapers read it, version 0.0.4 of Prometheus' format. */
struct metrics {
	struct assay_text *text;
	bool open;
};

/* OpenMetrics calls a counter NAME, and its value NAME_total. */
static void add_family(const struct metrics *t, const char *name, const char *type, const char *help)
{
	const size_t n = strlen(name) - (t->open && !strcmp(type, "counter") ? strlen("_total") : 0);

	assay_text_addf(t->text, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)n, name, help, (int)n, name, type);
}

static void add_number(const struct metrics *t, const char *name, const char *type, const char *help, double v)
{
	add_family(t, name, type, help);
	assay_text_addf(t->text, "%s %.12g\n", name, v);
}

static void add_latencies(const struct metrics *t, const char *name, const char *help, const struct assay_latencies *l)
{
	double le = ASSAY_LATENCY_LEAST_S;
	uint64_t sum = 0;

	add_family(t, name, "histogram", help);
	for (size_t i = 0; i < ASSAY_LATENCY_BUCKETS; i++, le *= 2) {
		sum += l->buckets[i];
		assay_text_addf(t->text, "%s_bucket{le=\"%.12g\"} %" PRIu64 "\n", name, le, sum);
	}
	sum += l->buckets[ASSAY_LATENCY_BUCKETS];
	assay_text_addf(t->text, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9g\n%s_count %" PRIu64 "\n", name, sum,
			name, l->sum_s, name, sum);
}

static void add_requests(const struct metrics *t, const struct assay_http_counts *n, const struct assay_server_job *job)
{
	add_family(t, "assay_requests_total", "counter", "Requests that were answered, by the class of the status");
	for (unsigned i = 2; i < 6; i++)
		assay_text_addf(t->text, "assay_requests_total{status=\"%uxx\"} %" PRIu64 "\n", i, n->by_class[i]);
	add_latencies(t, "assay_request_duration_seconds", "Time from the head of a request to its answer", &n->took);
	add_number(t, "assay_active_requests", "gauge", "Requests that are being answered", n->active);
	add_number(t, "assay_jobs_started_total", "counter", "Jobs that were started since the server was",
		   (double)job->id);
	add_number(t, "assay_job_running", "gauge", "1 while a job is under way", job->state == ASSAY_JOB_RUNNING);
}

/* Of the model, which there need not be. */
static void add_chat(const struct metrics *t, const struct assay_chat_counts *n)
{
	add_number(t, "assay_tokens_per_second", "gauge",
		   "Tokens of the newest answer, per second since its request came", n->tokens_per_s);
	add_family(t, "assay_tokens_total", "counter", "Tokens that were read and generated");
	assay_text_addf(t->text,
			"assay_tokens_total{kind=\"prompt\"} %" PRIu64
			"\nassay_tokens_total{kind=\"generated\"} %" PRIu64 "\n",
			n->prompt, n->generated);
	add_number(t, "assay_model_up", "gauge", "1 while the process of the model runs", n->up);
	add_number(t, "assay_model_starts_total", "counter", "Starts of the process of the model", (double)n->starts);
	add_number(t, "assay_kv_cache_hits_total", "counter",
		   "Tokens of prompts whose keys and values were in the cache", (double)n->known);
	add_number(t, "assay_kv_cache_misses_total", "counter", "Tokens of prompts whose keys and values were not",
		   (double)(n->prompt - n->known));
	add_latencies(t, "assay_time_to_first_token_seconds", "From a request to the first token of its answer",
		      &n->first);
	add_latencies(t, "assay_time_per_output_token_seconds", "From a token of an answer to the next", &n->next);
	add_family(t, "assay_errors_total", "counter", "Requests to the model that got no answer, by kind");
	assay_text_addf(t->text,
			"assay_errors_total{kind=\"refused\"} %" PRIu64 "\nassay_errors_total{kind=\"failed\"} %" PRIu64
			"\n",
			n->refused, n->failed);
}

static void add_system(const struct metrics *t, const struct assay_system_state *m)
{
	const struct {
		const char *name, *type, *help;
		double v;
	} rows[] = {
		{ "assay_memory_usage_bytes", "gauge", "Resident memory of the server", (double)m->process_bytes },
		{ "assay_system_cpu_busy_seconds_total", "counter", "Time that all CPUs together were busy",
		  m->cpu_busy_s },
		{ "assay_system_cpu_seconds_total", "counter", "Time of all CPUs together", m->cpu_s },
		{ "assay_system_threads", "gauge", "Threads of all processes", m->threads },
		{ "assay_system_threads_running", "gauge", "Threads that run or could run", m->threads_running },
		{ "assay_system_load1", "gauge", "Runnable threads, mean of a minute", m->load },
		{ "assay_system_memory_bytes", "gauge", "Memory of the machine, or of the container",
		  (double)m->memory_bytes },
		{ "assay_system_memory_used_bytes", "gauge", "Memory that is in use", (double)m->memory_used_bytes },
		{ "assay_system_disk_bytes", "gauge", "Size of the file system of the database",
		  (double)m->disk_bytes },
		{ "assay_system_disk_used_bytes", "gauge", "Bytes in use on that file system",
		  (double)m->disk_used_bytes },
		{ "assay_system_disk_read_bytes_total", "counter", "Bytes that were read from all disks",
		  (double)m->disk_read_bytes },
		{ "assay_system_disk_written_bytes_total", "counter", "Bytes that were written to all disks",
		  (double)m->disk_written_bytes },
		{ "assay_system_network_receive_bytes_total", "counter", "Bytes that came in, without the loopback",
		  (double)m->network_in_bytes },
		{ "assay_system_network_transmit_bytes_total", "counter", "Bytes that went out, without the loopback",
		  (double)m->network_out_bytes },
		{ "assay_system_uptime_seconds", "gauge", "Time since the machine was started", m->uptime_s },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_number(t, rows[i].name, rows[i].type, rows[i].help, rows[i].v);
}

/* A GPU that is not there has no utilisation, but a reason. */
static void add_gpus(const struct metrics *t, const struct assay_server *s)
{
	struct assay_nvml_use gpus;
	struct assay_err why;

	if (look_at_gpus(s, &gpus, &why)) {
		add_number(t, "assay_gpu_utilization_ratio", "gauge", "Share of the time in which the GPUs were busy",
			   gpus.busy_frac);
		add_number(t, "assay_gpu_memory_bytes", "gauge", "Memory of the GPUs", (double)gpus.memory_bytes);
		add_number(t, "assay_gpu_memory_used_bytes", "gauge", "Memory of the GPUs that is in use",
			   (double)gpus.used_bytes);
		return;
	}
	for (char *c = why.text; (c = strpbrk(c, "\\\"\n"));)
		*c = ' ';
	add_family(t, "assay_gpu_utilization_known", "gauge", "0: it is not known how busy a GPU is, for this reason");
	assay_text_addf(t->text, "assay_gpu_utilization_known{reason=\"%s\"} 0\n", why.text);
}

/* Append what an emitter writes, without the end that stands once in the whole. */
static void add_report(struct assay_text *t, const struct assay_report *r)
{
	struct assay_text one = { 0 };

	if (!assay_emit(r, "openmetrics", NULL, &one, NULL) && one.s) {
		char *end = strstr(one.s, "# EOF\n");

		assay_text_addn(t, one.s, end ? (size_t)(end - one.s) : one.len);
	}
	assay_text_release(&one);
}

/* The newest run, the newest result of each case, and what the newest comparison came to. None may be there. */
static void add_results(struct assay_text *t, const char *db)
{
	const struct assay_watch nobody = { 0 };
	struct assay_compare_outcome o = { 0 };
	struct assay_err nothing = { 0 };
	struct assay_run_totals totals;
	struct assay_run run;

	if (!assay_stored_run(db, 0, NULL, &run, &nothing)) {
		const bool told = !assay_stored_totals(db, &run, &totals, &nothing);
		struct assay_newest_result *newest;
		size_t n;

		assay_stored_newest_results(db, run.machine.id, &newest, &n, &nothing);
		add_report(t, &(struct assay_report){ .kind = ASSAY_REPORT_RUN,
						      .run = { .run = &run,
							       .totals = told ? &totals : NULL,
							       .newest = newest,
							       .n_newest = n } });
		free(newest);
	}
	assay_run_release(&run);
	if (!assay_stored_verdicts(db, 0, NULL, &nobody, &o, &nothing))
		add_report(t, &(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = { .gate = &o.report } });
	assay_compare_outcome_release(&o);
}

void assay_serve_metrics(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_server *s = q->server;
	const struct assay_http_counts n = counts_of(s);
	const struct assay_server_job job = assay_jobs_look(&s->jobs);
	const char *accept = assay_mhd.lookup_connection_value(q->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const struct metrics t = { &a->text, accept && strstr(accept, "application/openmetrics-text") };
	struct assay_err nothing = { 0 };
	struct assay_system_state m;
	struct timespec at[2];

	look(s, &m);
	add_requests(&t, &n, &job);
	if (s->chat.q && s->q->model) {
		const struct assay_chat_counts tokens = assay_chat_look(&s->chat);

		add_chat(&t, &tokens);
	}
	add_system(&t, &m);
	add_gpus(&t, s);
	written_at(s->q->what->db, at);
	pthread_mutex_lock(&s->results_lock);
	if (memcmp(at, s->results_at, sizeof(at))) {
		assay_text_release(&s->results);
		add_results(&s->results, s->q->what->db);
		assay_alerts_release(&s->alerts);
		if (assay_alerts(s->q->policy, s->q->what->db, &s->alerts, &nothing))
			assay_alerts_release(&s->alerts);
		memcpy(s->results_at, at, sizeof(at));
	}
	assay_text_addn(&a->text, s->results.s ? s->results.s : "", s->results.len);
	s->alerts.now_ns = assay_clock_unix_ns();
	add_report(&a->text, &(struct assay_report){ .kind = ASSAY_REPORT_ALERTS, .alerts = &s->alerts });
	pthread_mutex_unlock(&s->results_lock);
	if (t.open)
		assay_text_add(&a->text, "# EOF\n");
	a->type = t.open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			 : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- the state, for the dashboard ---- */

json_t *assay_serve_state(struct assay_server *s)
{
	const struct assay_server_job job = assay_jobs_look(&s->jobs);
	struct assay_system_state m;
	struct assay_nvml_use gpus;
	struct assay_err why;
	const bool known = look_at_gpus(s, &gpus, &why);
	struct timespec at[2];
	json_t *o;

	look(s, &m);
	written_at(s->q->what->db, at);
	o = json_pack("{s:f,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:i,s:i,s:o,s:s?,s:I,s:I}", "cpu_busy_s",
		      m.cpu_busy_s, "cpu_s", m.cpu_s, "load", m.load, "memory_bytes", (json_int_t)m.memory_bytes,
		      "memory_used_bytes", (json_int_t)m.memory_used_bytes, "process_bytes",
		      (json_int_t)m.process_bytes, "disk_bytes", (json_int_t)m.disk_bytes, "disk_used_bytes",
		      (json_int_t)m.disk_used_bytes, "network_in_bytes", (json_int_t)m.network_in_bytes,
		      "network_out_bytes", (json_int_t)m.network_out_bytes, "uptime_s", m.uptime_s, "threads",
		      (int)m.threads, "threads_running", (int)m.threads_running, "gpu_utilization",
		      known ? json_real(gpus.busy_frac) : json_null(), "gpu_utilization_reason",
		      known ? NULL : why.text, "gpu_memory_bytes", (json_int_t)gpus.memory_bytes,
		      "gpu_memory_used_bytes", (json_int_t)gpus.used_bytes);
	return json_pack("{s:i,s:s,s:o,s:o,s:f}", "schema", 1, "event", "state", "job", assay_server_job_json(&job),
			 "system", o, "written_s",
			 fmax((double)at[0].tv_sec + (double)at[0].tv_nsec * 1e-9,
			      (double)at[1].tv_sec + (double)at[1].tv_nsec * 1e-9));
}

/* ---- events ---- */

struct stream {
	struct assay_server *s;
	uint64_t seen, told_ns;
	struct assay_text left; /* not sent yet */
	size_t sent;
};

/* The next events, or at once and then once a second the state; waits for them in the thread of the connection. */
static ssize_t read_events(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct stream *t = arg;

	(void)pos;
	while (t->sent == t->left.len) {
		char *line = assay_jobs_event(&t->s->jobs, &t->seen, t->told_ns ? 200 : 0);

		assay_text_release(&t->left);
		t->left = (struct assay_text){ 0 };
		t->sent = 0;
		if (*t->s->q->interrupted)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (!line && assay_monotonic_ns() - t->told_ns >= 1000000000u) {
			json_t *o = assay_serve_state(t->s);

			line = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(14)) : NULL;
			json_decref(o);
			t->told_ns = assay_monotonic_ns();
		}
		if (line)
			assay_text_addf(&t->left, "data: %s\n\n", line);
		free(line);
		if (t->left.failed)
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	return assay_http_send(&t->left, &t->sent, buf, max);
}

static void end_events(void *arg)
{
	struct stream *t = arg;

	pthread_mutex_lock(&t->s->lock);
	t->s->counts.streams--;
	pthread_mutex_unlock(&t->s->lock);
	assay_text_release(&t->left);
	free(t);
}

void assay_serve_events(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_server *s = q->server;
	struct stream *t;
	bool room;

	pthread_mutex_lock(&s->lock);
	room = s->counts.streams < STREAMS_MAX;
	s->counts.streams += room;
	pthread_mutex_unlock(&s->lock);
	if (!room) {
		assay_http_fail(a, 429, "%d pages are watching already: close one", STREAMS_MAX);
		return;
	}
	t = calloc(1, sizeof(*t));
	if (t)
		*t = (struct stream){ .s = s, .seen = assay_jobs_newest(&s->jobs) };
	a->stream =
		t ? assay_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_events, t, end_events) : NULL;
	a->type = "text/event-stream";
	if (a->stream)
		return;
	pthread_mutex_lock(&s->lock);
	s->counts.streams--;
	pthread_mutex_unlock(&s->lock);
	free(t);
	a->text.failed = true;
}
