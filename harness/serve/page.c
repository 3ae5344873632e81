/* SPDX-License-Identifier: Apache-2.0 */
/* The dashboard: one page for all of its views, with style and script in it, so that nothing else is loaded. */
#include <stdio.h>
#include <string.h>

#include "reports/page/template.h"
#include "serve/http.h"

static const struct assay_page_file files[] = {
#include "dashboard_page.h"
	{ NULL, NULL }
};

/* Only scripts and styles of these digests may run, and the page may ask no other server. */
static char policy[512];

static void make_policy(void)
{
	const char *script = assay_page_file_text(files, "page.js.sha256");
	const char *style = assay_page_file_text(files, "page.css.sha256");

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
	assay_page_fill(files, NULL, NULL, &a->text);
}
