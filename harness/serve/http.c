/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread a connection: an answer may wait for a job or read a large database without holding up the others, and a
 * thread that sleeps costs nothing. Connections are limited in number, and those that say nothing are closed.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "reports/emitter.h"

#define CONNECTIONS_MAX 640
#define IDLE_S          10
#define BODY_MAX        (64u << 10)
#define STACK_BYTES     (512u << 10)
#define TOKEN_MIN       16

/* A request while it comes in. */
struct incoming {
	struct assay_text body;
	uint64_t began_ns;
	unsigned status; /* of a request that is refused before its body was read */
};

/* ---- answers ---- */

void assay_http_json(struct assay_http_answer *a, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(14)) : NULL;

	if (text) {
		assay_text_add(&a->text, text);
		assay_text_add(&a->text, "\n");
	} else {
		a->text.failed = true;
	}
	free(text);
	json_decref(o);
}

void assay_http_fail(struct assay_http_answer *a, unsigned status, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_text_release(&a->text);
	a->status = status;
	a->type = a->policy = NULL;
	assay_printable_line(text, sizeof(text));
	assay_http_json(a, json_pack("{s:i,s:s}", "schema", 1, "error", text));
}

void assay_http_fail_err(struct assay_http_answer *a, const struct assay_err *err)
{
	const unsigned status = err->code == ASSAY_EUSAGE         ? 400
				: err->code == ASSAY_ENOTFOUND    ? 404
				: err->code == ASSAY_ELIMIT       ? 409
				: err->code == ASSAY_EUNAVAILABLE ? 501
				: err->code == ASSAY_ESTORE       ? 503
				: err->code == ASSAY_ENOSPACE     ? 507
								  : 500;

	assay_http_fail(a, status, "%s", err->text);
}

void assay_http_fail_job(struct assay_http_answer *a, const struct assay_server_job *job)
{
	/* a limit that the job met is none of other jobs */
	struct assay_err err = { .code = job->code == ASSAY_ELIMIT ? ASSAY_EUSAGE : job->code };

	snprintf(err.text, sizeof(err.text), "%s", job->error);
	if (job->stopped)
		assay_http_fail(a, 409, "it was stopped");
	else
		assay_http_fail_err(a, &err);
}

void assay_http_emit(struct assay_http_answer *a, const struct assay_report *r, const char *format)
{
	struct assay_err err = { 0 };

	if (assay_emit(r, format, NULL, &a->text, &err))
		assay_http_fail_err(a, &err);
}

ssize_t assay_http_send(const struct assay_text *text, size_t *sent, char *buf, size_t max)
{
	const size_t n = text->len - *sent < max ? text->len - *sent : max;

	memcpy(buf, text->s + *sent, n);
	*sent += n;
	return (ssize_t)n;
}

/* ---- parameters ---- */

const char *assay_http_text(const struct assay_http_query *q, const char *name)
{
	const char *v = assay_mhd.lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
	const json_t *j = json_object_get(q->body, name);

	/* something else is not taken for nothing: no name, key or kind looks like this */
	return v ? v : json_is_string(j) ? json_string_value(j) : j && !json_is_null(j) ? "(no text)" : NULL;
}

bool assay_http_number(const struct assay_http_query *q, const char *name, double lo, double hi, double otherwise,
		       double *out, struct assay_http_answer *a)
{
	const json_t *j = json_object_get(q->body, name);
	const char *text = json_is_number(j) ? NULL : assay_http_text(q, name);
	char *end = NULL, shown[32] = "";

	*out = text ? strtod(text, &end) : json_is_number(j) ? json_number_value(j) : otherwise;
	if ((!text || (end != text && !*end)) && *out >= lo && *out <= hi)
		return true;
	snprintf(shown, sizeof(shown), "%.12g", *out);
	assay_http_fail(a, 400, "bad %s '%.64s': expected a number from %.12g to %.12g", name, text ? text : shown, lo,
			hi);
	return false;
}

/* ---- who may ask ---- */

/* In a time that does not depend on where the two differ. */
static bool is_token(const char *token, const char *given)
{
	const size_t n = strlen(token), m = strlen(given);
	unsigned char differs = n != m;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(token[i] ^ given[m ? i % m : 0]);
	return !differs;
}

static bool has_token(const struct assay_server *s, struct MHD_Connection *c)
{
	const char *h = assay_mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	return h && !strncasecmp(h, "Bearer ", 7) && is_token(s->token, h + 7);
}

/* The name in "NAME:PORT" or "[NAME]:PORT". */
static void host_name(const char *host, char *out, size_t size)
{
	const char *colon = host[0] == '[' ? strchr(host, ']') : strrchr(host, ':');
	const size_t n = colon ? (size_t)(colon - host) + (host[0] == '[') : strlen(host);

	snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), host);
}

/*
 * Names that a page of another site cannot have resolved to this machine. A browser sends the name that it looked up,
 * so that a name which a stranger lets point here is refused.
 */
static bool is_host(const struct assay_server *s, const char *host)
{
	static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };
	char name[256];

	host_name(host, name, sizeof(name));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcasecmp(name, own[i]))
			return true;
	if (!strcasecmp(name, s->address))
		return true;
	for (size_t i = 0; s->q->hosts && i < s->q->hosts->n; i++)
		if (!strcasecmp(name, s->q->hosts->v[i]))
			return true;
	return false;
}

/* False, with the answer, unless the request comes from a page of this server or from no page at all. */
static bool may_ask(const struct assay_server *s, struct MHD_Connection *c, struct assay_http_answer *a)
{
	const char *host = assay_mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const char *origin = assay_mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);

	if (!host || !is_host(s, host)) {
		assay_http_fail(a, 403, "the Host '%.100s' is not answered here: allow it with --allow-host",
				host ? host : "");
		return false;
	}
	if (origin &&
	    (strncmp(origin, "http", 4) || !strstr(origin, "://") || strcasecmp(strstr(origin, "://") + 3, host))) {
		assay_http_fail(a, 403, "requests from pages of other sites are refused: Origin is '%.100s'", origin);
		return false;
	}
	return true;
}

/* ---- requests ---- */

static void count(struct assay_server *s, unsigned status, double spent_s)
{
	struct assay_http_counts *n = &s->counts;

	pthread_mutex_lock(&s->lock);
	n->by_class[status / 100 < 6 ? status / 100 : 5]++;
	assay_latencies_add(&n->took, spent_s);
	pthread_mutex_unlock(&s->lock);
}

static void answer_query(struct assay_server *s, struct MHD_Connection *c, const char *path, const char *method,
			 const struct incoming *in, struct assay_http_answer *a, char *allow, size_t size)
{
	struct assay_http_query q = { .server = s, .connection = c, .path = path };
	const struct assay_route *r;
	unsigned refused;
	json_t *body = NULL;

	if (!may_ask(s, c, a))
		return;
	refused = assay_route_find(method, path, &r, allow, size);
	if (refused == 405) {
		a->allow = allow;
		assay_http_fail(a, 405, "%s takes %s", path, allow);
		return;
	}
	if (refused) {
		assay_http_fail(a, refused, "there is no %s: see /profiling/dashboard", path);
		return;
	}
	if ((r->flags & ASSAY_ROUTE_SECRET) && !has_token(s, c)) {
		assay_http_fail(a, 401, "this needs the token of the server: send 'Authorization: Bearer TOKEN'");
		return;
	}
	if (in->status == 413) {
		assay_http_fail(a, 413, "the body is larger than %u KiB", BODY_MAX >> 10);
		return;
	}
	if (in->body.len) {
		json_error_t why;

		body = json_loadb(in->body.s, in->body.len, JSON_REJECT_DUPLICATES, &why);
		if (!json_is_object(body)) {
			assay_http_fail(a, 400, "the body is not a JSON object: %s",
					body ? "it is something else" : why.text);
			json_decref(body);
			return;
		}
	}
	q.body = body;
	q.rest = path + strlen(r->path);
	if (r->flags & ASSAY_ROUTE_READS)
		while (sem_wait(&s->readers) && errno == EINTR)
			;
	r->answer(&q, a);
	if (r->flags & ASSAY_ROUTE_READS)
		sem_post(&s->readers);
	json_decref(body);
}

static enum MHD_Result send_answer(struct MHD_Connection *c, struct assay_http_answer *a)
{
	static const char lost[] = "{\"schema\":1,\"error\":\"out of memory\"}\n";
	struct MHD_Response *r = a->stream;
	enum MHD_Result rc;

	if (!r && a->text.failed) {
		a->status = 500;
		r = assay_mhd.create_response_from_buffer(sizeof(lost) - 1, (void *)(uintptr_t)lost,
							  MHD_RESPMEM_PERSISTENT);
	} else if (!r) {
		const size_t n = a->text.len;

		r = assay_mhd.create_response_from_buffer(n, assay_text_take(&a->text), MHD_RESPMEM_MUST_FREE);
	}
	if (!r)
		return MHD_NO;
	assay_mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type ? a->type : "application/json");
	assay_mhd.add_response_header(r, "Content-Security-Policy",
				      a->policy ? a->policy : "default-src 'none'; frame-ancestors 'none'");
	assay_mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
	assay_mhd.add_response_header(r, "Referrer-Policy", "no-referrer");
	assay_mhd.add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (a->allow)
		assay_mhd.add_response_header(r, MHD_HTTP_HEADER_ALLOW, a->allow);
	if (a->status == 401)
		assay_mhd.add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	rc = assay_mhd.queue_response(c, a->status, r);
	assay_mhd.destroy_response(r);
	return rc;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct assay_server *s = arg;
	struct incoming *in = *state;
	struct assay_http_answer a = { .status = 200 };
	char allow[64] = "";
	enum MHD_Result rc;

	(void)version;
	if (!in) {
		const char *length =
			assay_mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

		in = *state = calloc(1, sizeof(*in));
		if (!in)
			return MHD_NO;
		in->began_ns = assay_monotonic_ns();
		pthread_mutex_lock(&s->lock);
		s->counts.active++;
		pthread_mutex_unlock(&s->lock);
		if (!length || strtoull(length, NULL, 10) <= BODY_MAX)
			return MHD_YES;
		in->status = 413;
	} else if (*upload_size) {
		if (in->body.len + *upload_size > BODY_MAX)
			in->status = 413;
		else
			assay_text_addn(&in->body, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	/* a HEAD is answered as a GET, of which the library sends the headers alone */
	answer_query(s, c, url, strcmp(method, "HEAD") ? method : "GET", in, &a, allow, sizeof(allow));
	count(s, a.status, (double)(assay_monotonic_ns() - in->began_ns) * 1e-9);
	rc = send_answer(c, &a);
	assay_text_release(&a.text);
	return rc;
}

static void on_end(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode how)
{
	struct assay_server *s = arg;
	struct incoming *in = *state;

	(void)c;
	(void)how;
	if (!in)
		return;
	pthread_mutex_lock(&s->lock);
	s->counts.active--;
	pthread_mutex_unlock(&s->lock);
	assay_text_release(&in->body);
	free(in);
	*state = NULL;
}

/* ---- start ---- */

static int read_token(struct assay_server *s, struct assay_err *err)
{
	const char *path = s->q->token_file;
	unsigned char drawn[32];
	struct stat st;
	char *text;
	size_t n;
	int rc;

	if (!path) {
		if (getrandom(drawn, sizeof(drawn), 0) != sizeof(drawn))
			return assay_err_set(err, ASSAY_EIO, "no random numbers for a token: %s", strerror(errno));
		for (size_t i = 0; i < sizeof(drawn); i++)
			snprintf(s->token + 2 * i, 3, "%02x", drawn[i]);
		return 0;
	}
	if (stat(path, &st))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read the token file '%.300s': %s", path,
				     strerror(errno));
	if (st.st_mode & 077)
		return assay_err_set(err, ASSAY_EUSAGE, "the token file '%.300s' can be read by others: 'chmod 600' it",
				     path);
	rc = assay_file_read(path, &text, &n, err);
	if (rc)
		return assay_err_set(err, ASSAY_EUSAGE, "%s", err->text);
	n = strcspn(text, "\r\n");
	text[n] = '\0';
	if (n < TOKEN_MIN || n >= sizeof(s->token) || strspn(text, "\t ") || strchr(text, ' '))
		rc = assay_err_set(
			err, ASSAY_EUSAGE,
			"the token in '%.300s' is not a word of %d to %zu characters: 'openssl rand -hex 32' makes "
			"one",
			path, TOKEN_MIN, sizeof(s->token) - 1);
	else
		snprintf(s->token, sizeof(s->token), "%s", text);
	free(text);
	return rc;
}

static bool is_own(const struct sockaddr *a)
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;

	return a->sa_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
				       : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0;
}

/* The socket that listens; its port in *port. */
static int open_socket(struct assay_server *s, unsigned *port, int *fd, struct assay_err *err)
{
	const char *listen_at = s->q->listen ? s->q->listen : ASSAY_SERVE_LISTEN, *colon = strrchr(listen_at, ':');
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE };
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	struct addrinfo *found = NULL;
	char name[256];
	const int on = 1;
	int rc = 0;

	*fd = -1;
	host_name(listen_at, s->address, sizeof(s->address));
	snprintf(name, sizeof(name), "%s", s->address);
	if (name[0] == '[') {
		memmove(name, name + 1, strlen(name));
		name[strcspn(name, "]")] = '\0';
	}
	if (!colon || !colon[1] || !name[0] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strtoul(colon + 1, NULL, 10) > 65535 || getaddrinfo(name, colon + 1, &hints, &found))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"bad --listen '%.200s': expected an address of this machine and a port, such as %s", listen_at,
			ASSAY_SERVE_LISTEN);
	if (!s->q->token_file && !is_own(found->ai_addr))
		rc = assay_err_set(
			err, ASSAY_EUSAGE,
			"'%.200s' can be reached from other machines: that needs a --token-file, and a proxy in "
			"front of it for encryption",
			listen_at);
	if (!rc) {
		*fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (*fd < 0 || setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		    bind(*fd, found->ai_addr, found->ai_addrlen) || listen(*fd, CONNECTIONS_MAX) ||
		    getsockname(*fd, (struct sockaddr *)&bound, &len))
			rc = assay_err_set(err, ASSAY_EUSAGE, "cannot listen at '%.200s': %s", listen_at,
					   strerror(errno));
	}
	if (!rc)
		*port = ntohs(bound.ss_family == AF_INET ? ((struct sockaddr_in *)&bound)->sin_port
							 : ((struct sockaddr_in6 *)&bound)->sin6_port);
	freeaddrinfo(found);
	if (rc && *fd >= 0)
		close(*fd);
	return rc;
}

/* Messages of the library about broken connections concern nobody. */
static void say_nothing(void *arg, const char *fmt, va_list ap)
{
	(void)arg;
	(void)fmt;
	(void)ap;
}

int assay_http_start(struct assay_server *s, char *url, size_t size, struct assay_err *err)
{
	unsigned port = 0;
	int fd, rc = assay_http_library_load(err);

	if (!rc)
		rc = read_token(s, err);
	if (!rc)
		rc = open_socket(s, &port, &fd, err);
	if (rc)
		return rc;
	snprintf(url, size, "http://%s:%u", s->address, port);
	s->daemon = assay_mhd.start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
						   MHD_USE_POLL | MHD_USE_ERROR_LOG | MHD_USE_ITC,
					   0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
					   MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
					   (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
					   MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
					   MHD_OPTION_NOTIFY_COMPLETED, on_end, s, MHD_OPTION_END);
	if (s->daemon)
		return 0;
	close(fd);
	return assay_err_set(err, ASSAY_EIO, "cannot start to serve: %s", strerror(errno));
}

void assay_http_stop(struct assay_server *s)
{
	if (s->daemon)
		assay_mhd.stop_daemon(s->daemon);
	s->daemon = NULL;
}
