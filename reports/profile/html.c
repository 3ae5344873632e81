/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, or the difference of two, as a page of its own: the flame graph with its tables beside it. */
#include <stdio.h>
#include <string.h>

#include "model/build.h"
#include "reports/page/template.h"
#include "reports/profile/flame_svg.h"
#include "reports/profile/parts.h"
#include "reports/text_parts.h"

static const struct assay_page_file files[] = {
#include "profile_page.h"
	{ NULL, NULL }
};

/* Of @diff where that is not NULL. */
struct shown {
	const struct assay_report_profile *profile;
	const struct assay_profile_diff *diff;
};

/* @breaks: a long key may break behind its separators, as it cannot in the title of a window. */
static void add_title(const struct shown *s, bool breaks, struct assay_text *out)
{
	struct assay_text title = { 0 };

	if (s->diff) {
		assay_profile_label(s->diff->side[1], &title);
		assay_text_add(&title, " against ");
		assay_profile_label(s->diff->side[0], &title);
	} else {
		assay_profile_title(s->profile->p, &title);
	}
	for (const char *p = title.s ? title.s : ""; *p;) {
		size_t n = breaks ? strcspn(p, "/,_") : strlen(p);
		char piece[512];

		n = n + (p[n] != '\0') < sizeof(piece) ? n + (p[n] != '\0') : sizeof(piece) - 1;
		snprintf(piece, sizeof(piece), "%.*s", (int)n, p);
		assay_xml_add(out, piece);
		assay_text_add(out, breaks ? "<wbr/>" : "");
		p += n;
	}
	out->failed |= title.failed;
	assay_text_release(&title);
}

/* When, where and of which build. */
static void add_facts(const struct shown *s, struct assay_text *out)
{
	const struct assay_profile *p = s->diff ? s->diff->side[1] : s->profile->p;
	const struct assay_commit revision = assay_build_revision(&p->build);
	char when[64], commit[96];

	if (!p->machine.id[0])
		return;
	assay_when_text(p->started_ns, when, sizeof(when));
	assay_text_add(out, "<p class=\"muted\">");
	assay_xml_add(out, when);
	assay_text_add(out, ", ");
	assay_xml_add(out, p->machine.label);
	if (p->build.id[0]) {
		assay_text_add(out, ", ");
		assay_commit_text(&revision, commit, sizeof(commit));
		assay_text_add(out, "commit ");
		assay_xml_add(out, commit);
		assay_text_add(out, ", ");
		assay_xml_add(out, p->build.compiler);
	}
	assay_text_add(out, "</p>\n");
}

static bool add_part(const void *of, const char *part, struct assay_text *out)
{
	const struct assay_emit_style style = { .utf8 = true, .verbose = true, .html = true };
	const struct shown *s = of;

	if (!strcmp(part, "title"))
		add_title(s, false, out);
	else if (!strcmp(part, "heading"))
		add_title(s, true, out);
	else if (!strcmp(part, "facts"))
		add_facts(s, out);
	else if (!strcmp(part, "graph") && s->diff)
		assay_flame_svg(NULL, s->diff, true, out);
	else if (!strcmp(part, "graph"))
		assay_profile_svg(s->profile->p, true, out);
	else if (!strcmp(part, "tables") && s->diff)
		assay_profile_diff_tables(s->diff, &style, out);
	else if (!strcmp(part, "tables"))
		assay_profile_tables(s->profile, &style, out);
	else
		return false;
	return true;
}

static void profile_html(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_page_fill(files, add_part, &(struct shown){ .profile = &r->profile }, out);
}

static void profile_diff_html(const struct assay_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	(void)style;
	assay_page_fill(files, add_part, &(struct shown){ .diff = r->profile_diff }, out);
}

ASSAY_EMITTER(profile_html, ASSAY_REPORT_PROFILE, "html", profile_html);
ASSAY_EMITTER(profile_diff_html, ASSAY_REPORT_PROFILE_DIFF, "html", profile_diff_html);
