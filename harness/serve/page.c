/* SPDX-License-Identifier: Apache-2.0 */
/* The dashboard: one page for all of its views, with style and script in it, so that nothing else is loaded. */
#include <stdio.h>
#include <string.h>

#include "reports/page/html.h"
#include "serve/http.h"

static const struct {
	const char *name, *text;
} files[] = {
#include "dashboard_page.h"
};

static const char *file(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].name, name))
			return files[i].text;
	return "";
}

static void add_part(const void *of, const char *name, size_t len, struct assay_text *out)
{
	(void)of;
	if (!strncmp(name, "style", len))
		assay_text_add(out, file("page.css"));
	else if (!strncmp(name, "script", len))
		assay_text_add(out, file("page.js"));
}

/* What may run and be drawn is named by its digest, and nothing but this server is asked. */
static char policy[512];

static void make_policy(void)
{
	const char *script = file("page.js.sha256"), *style = file("page.css.sha256");

	snprintf(policy, sizeof(policy),
		 "default-src 'none'; script-src 'sha256-%.*s'; style-src 'sha256-%.*s'; connect-src 'self'; img-src "
		 "blob:; "
		 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		 (int)strcspn(script, "\n"), script, (int)strcspn(style, "\n"), style);
}

void assay_serve_page(const struct assay_http_query *q, struct assay_http_answer *a)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)q;
	pthread_once(&once, make_policy);
	a->type = "text/html; charset=utf-8";
	a->policy = policy;
	assay_page_fill(file("page.html"), add_part, NULL, &a->text);
}
