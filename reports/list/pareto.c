/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codecs of a run, as text and for scripts: {"schema":1,"run","data":[{"data","codecs":[{"key","name","front",
 * "compressed_frac","compress_bytes_per_s","decompress_bytes_per_s"}],"links":[{"link","bytes_per_s","best","total_s",
 * "ci95_s","uncompressed_s","unclear"}]}]}, where a best of null is to send the data as they are.
 */
#include <math.h>
#include <stdio.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

static void rate_text(double bytes, double s, bool utf8, char *buf, size_t size)
{
	if (isfinite(s))
		assay_metric_text("bytes_per_s", bytes / s, "B/s", utf8, buf, size);
	else
		snprintf(buf, size, "-");
}

static void add_codec(const struct assay_codec *c, const struct assay_emit_style *style, struct assay_columns *t)
{
	char frac[32], compress[64], decompress[64];

	snprintf(frac, sizeof(frac), "%.1f %%", 100 * c->compressed_bytes / c->bytes);
	rate_text(c->bytes, c->compress.s, style->utf8, compress, sizeof(compress));
	rate_text(c->bytes, c->decompress.s, style->utf8, decompress, sizeof(decompress));
	assay_columns_row(t, (const char *const[]){ c->front ? "*" : "", c->name, frac, compress, decompress });
}

static void add_choice(const struct assay_link *link, const struct assay_link_choice *v,
		       const struct assay_emit_style *style, struct assay_columns *t)
{
	char line[512], total[64], plain[64], interval[128] = "", lo[48], hi[48];

	assay_metric_text("time_s", v->total.s, "s", style->utf8, total, sizeof(total));
	assay_metric_text("time_s", v->plain_s, "s", style->utf8, plain, sizeof(plain));
	if (!v->best) {
		snprintf(line, sizeof(line), "%s: uncompressed, %s; no codec takes less", link->name, plain);
		assay_columns_line(t, 2, line);
		return;
	}
	if (isfinite(v->total.lo) && isfinite(v->total.hi)) {
		assay_metric_text("time_s", v->total.lo, "s", style->utf8, lo, sizeof(lo));
		assay_metric_text("time_s", v->total.hi, "s", style->utf8, hi, sizeof(hi));
		snprintf(interval, sizeof(interval), " (95 %%: %s to %s)", lo, hi);
	} else {
		snprintf(interval, sizeof(interval), " (no interval: --budget or --rounds gives one)");
	}
	snprintf(line, sizeof(line), "%s: %s%s%s, %s%s against %s uncompressed%s%s", link->name,
		 assay_paint(style, ASSAY_BOLD), v->best->name, assay_paint(style, ASSAY_RESET), total, interval, plain,
		 v->unclear ? "; indistinguishable from " : "", v->unclear ? v->unclear->name : "");
	assay_columns_line(t, 2, line);
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_pareto *p = r->pareto;
	const struct assay_codec *end = p->codecs + p->n, *next;

	for (const struct assay_codec *first = p->codecs; first < end; first = next) {
		struct assay_columns t = { .align = "llrrr", .indent = "  ", .width = style->width };
		struct assay_link_choice v;

		next = assay_pareto_same_data(first, end);
		assay_text_addf(out, "%s%s\n", first == p->codecs ? "" : "\n", first->data);
		assay_columns_row(&t, (const char *const[]){ "", "codec", "size", "compress", "decompress" });
		for (const struct assay_codec *c = first; c < next; c++)
			add_codec(c, style, &t);
		for (size_t i = 0; i < p->n_links; i++) {
			assay_pareto_choose(first, next, &p->links[i], &v);
			add_choice(&p->links[i], &v, style, &t);
		}
		assay_columns_print(&t, out);
		assay_columns_release(&t);
	}
	assay_text_addf(out, "\n  *     no other codec is both faster and smaller\n"
			     "  link  least time to compress, send and decompress, one after the other\n");
}

static json_t *codec_json(const struct assay_codec *c)
{
	return json_pack("{s:o,s:o,s:b,s:o,s:o,s:o}", "key", assay_json_text(c->key), "name", assay_json_text(c->name),
			 "front", c->front, "compressed_frac", assay_json_number(c->compressed_bytes / c->bytes),
			 "compress_bytes_per_s", assay_json_number(c->bytes / c->compress.s), "decompress_bytes_per_s",
			 assay_json_number(c->bytes / c->decompress.s));
}

static json_t *link_json(const struct assay_link *link, const struct assay_link_choice *v)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:[o,o],s:o,s:o}", "link", assay_json_text(link->name), "bytes_per_s",
			 assay_json_number(link->bytes_per_s), "best",
			 v->best ? assay_json_text(v->best->key) : json_null(), "total_s",
			 assay_json_number(v->total.s), "ci95_s", assay_json_number(v->total.lo),
			 assay_json_number(v->total.hi), "uncompressed_s", assay_json_number(v->plain_s), "unclear",
			 v->unclear ? assay_json_text(v->unclear->key) : json_null());
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_pareto *p = r->pareto;
	const struct assay_codec *end = p->codecs + p->n, *next;
	json_t *data = json_array();

	(void)style;
	for (const struct assay_codec *first = p->codecs; first < end; first = next) {
		json_t *codecs = json_array(), *links = json_array();
		struct assay_link_choice v;

		next = assay_pareto_same_data(first, end);
		for (const struct assay_codec *c = first; c < next; c++)
			json_array_append_new(codecs, codec_json(c));
		for (size_t i = 0; i < p->n_links; i++) {
			assay_pareto_choose(first, next, &p->links[i], &v);
			json_array_append_new(links, link_json(&p->links[i], &v));
		}
		json_array_append_new(data, json_pack("{s:o,s:o,s:o}", "data", assay_json_text(first->data), "codecs",
						      codecs, "links", links));
	}
	assay_json_print(json_pack("{s:i,s:I,s:o}", "schema", 1, "run", (json_int_t)p->run, "data", data), out);
}

ASSAY_EMITTER(pareto_text, ASSAY_REPORT_PARETO, "text", write_text);
ASSAY_EMITTER(pareto_json, ASSAY_REPORT_PARETO, "json", write_json);
