/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to the server: METHOD PATH, then a line NAME=VALUE for each parameter, then an empty line and the body. It
 * is answered from no database, and a job that it asks for is looked at, not started.
 */
#include "fuzz.h"

#if ASSAY_HTTP

#include <stdlib.h>

#include "serve/http.h"

/* Lines NAME=VALUE of the request at hand, which are headers as well. */
static char *parameters;

static const char *look_up(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name)
{
	const size_t n = strlen(name);

	(void)c;
	for (char *line = parameters; (kind == MHD_GET_ARGUMENT_KIND || kind == MHD_HEADER_KIND) && line && *line;
	     line += strlen(line) + 1)
		if (!strncmp(line, name, n) && line[n] == '=')
			return line + n + 1;
	return NULL;
}

/* Whatever was asked for, an option of the command is one that the server gives. */
static void check_job(const struct assay_strings *argv)
{
	static const char *const valued[] = { "--suite", "--only", "--for", "--name", "--keep",     "--keep-days",
					      "--every", "--rate", "--db",  "--json", "--progress", "--bench-dir" };

	for (size_t i = 0; i < argv->n; i++) {
		bool known = argv->v[i][0] != '-';

		for (size_t k = 0; k < sizeof(valued) / sizeof(valued[0]); k++)
			known |= !strcmp(argv->v[i], valued[k]);
		/* a name may begin with a dash, as the value of its option */
		FUZZ_CHECK(known || (i && !strcmp(argv->v[i - 1], "--name")));
	}
}

static void answer(const struct assay_route *r, const char *path, const json_t *body)
{
	struct assay_request what = { .db = "none.db" };
	const struct assay_serve_request q = { .what = &what, .kinds = "cpu", .model = "tiny" };
	struct assay_server s = { .q = &q };
	struct assay_http_answer a = { .status = 200 };
	const struct assay_http_query query = {
		.server = &s, .path = path, .rest = path + strlen(r->path), .body = body
	};

	FUZZ_CHECK(!assay_jobs_init(&s.jobs, NULL));
	s.jobs.over = true; /* nobody waits for the end of a job */
	/* nor for a model: a good request is answered that it is gone */
	s.chat.in_vain = ASSAY_CHAT_STARTS_MAX;
	s.chat.gone = true;
	r->answer(&query, &a);
	FUZZ_CHECK(a.status >= 200 && a.status < 600);
	/* an error is an object with one line */
	if (a.status >= 400 && !a.text.failed) {
		json_t *o = json_loadb(a.text.s, a.text.len, 0, NULL);

		FUZZ_CHECK(json_string_value(json_object_get(o, "error")));
		FUZZ_CHECK(!strchr(json_string_value(json_object_get(o, "error")), '\n'));
		json_decref(o);
	}
	check_job(&s.jobs.argv);
	assay_text_release(&a.text);
	assay_jobs_release(&s.jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 2), *rest = text, *line, *method, *body = NULL, allow[64] = "";
	const struct assay_route *r;
	unsigned refused;
	json_t *o = NULL;

	FUZZ_CHECK(text);
	memcpy(text, data, size); /* parameters end with an empty one */
	line = strsep(&rest, "\n");
	method = strsep(&line, " ");
	assay_mhd.lookup_connection_value = look_up;
	parameters = rest;
	for (char *p = rest; p && (p = strchr(p, '\n'));) {
		*p++ = '\0';
		if (*p == '\n') {
			*p = '\0';
			body = p + 1;
			p = NULL;
		}
	}
	refused = line ? assay_route_find(method, line, &r, allow, sizeof(allow)) : 404;
	FUZZ_CHECK(refused == 0 || refused == 404 || (refused == 405 && allow[0]));
	if (body)
		o = json_loadb(body, strlen(body), JSON_REJECT_DUPLICATES, NULL);
	/* streams and pages take no parameters, and what the machine does is not of the request */
	if (!refused && r->answer != assay_serve_events && r->answer != assay_serve_metrics)
		answer(r, line, json_is_object(o) ? o : NULL);
	json_decref(o);
	free(text);
	return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}

#endif
