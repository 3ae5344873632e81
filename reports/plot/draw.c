/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing: gnuplot runs over the program of a plot in a temporary folder, and the picture moves to its place.
 */
#include "reports/plot/plot.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "reports/emitter.h"
#include "reports/plot/parts.h"
#include "reports/text_parts.h"

#define SCRIPT_NAME  "plot.gp"
#define PICTURE_NAME "picture"
#define TIMEOUT_NS   UINT64_C(60000000000)

static const char *in_folder(const char *folder, const char *name, char *buf)
{
	snprintf(buf, PATH_MAX, "%s/%s", folder, name);
	return buf;
}

/* Start gnuplot in @folder with one argument after -d: no start-up files, which could change the plot or print. */
static int run_gnuplot(const char *argument, const char *folder, const volatile sig_atomic_t *interrupted,
		       struct assay_err *err)
{
	const char *const argv[] = { "gnuplot", "-d", argument, NULL };
	const struct assay_capture c = {
		.argv = argv, .cwd = folder, .timeout_ns = TIMEOUT_NS, .interrupted = interrupted
	};
	char *out = NULL;
	int rc = assay_process_capture(&c, &out, err);

	free(out);
	return rc;
}

/* ASSAY_EUNAVAILABLE names the package that brings gnuplot. */
static int plot_probe(struct assay_err *err)
{
	int rc = run_gnuplot("--version", NULL, NULL, err);

	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "gnuplot is not installed, install the package 'gnuplot-nox' (apt) or 'gnuplot'");
	return rc;
}

/* gnuplot ends well also where its file could not be written. */
static bool is_whole(const char *picture, size_t len)
{
	static const char png_end[] = "IEND\xae\x42\x60\x82", svg_end[] = "</svg>";
	const size_t png = sizeof(png_end) - 1, svg = sizeof(svg_end) - 1;

	while (len && strchr("\n\r ", picture[len - 1]))
		len--;
	return (len >= png && !memcmp(picture + len - png, png_end, png)) ||
	       (len >= svg && !memcmp(picture + len - svg, svg_end, svg));
}

static int unfinished(const char *folder, size_t len, bool *failed, struct assay_err *err)
{
	struct statvfs fs;

	if (!statvfs(folder, &fs) && fs.f_bavail <= 1)
		return assay_err_set(err, ASSAY_EIO, "no space is left in '%s' for gnuplot, free some or set TMPDIR",
				     folder);
	*failed = true;
	return assay_err_set(err, ASSAY_EIO, len ? "gnuplot did not finish the picture" : "gnuplot drew nothing");
}

/* Run gnuplot on @script in @folder: *picture is malloc'ed. @failed says that gnuplot itself did. */
static int run_script(const struct assay_text *script, const char *folder, const volatile sig_atomic_t *interrupted,
		      char **picture, size_t *len, bool *failed, struct assay_err *err)
{
	char name[PATH_MAX];
	int rc = assay_file_write(in_folder(folder, SCRIPT_NAME, name), script->s, script->len, err);

	if (!rc) {
		rc = run_gnuplot(SCRIPT_NAME, folder, interrupted, err);
		*failed = rc == ASSAY_EIO;
	}
	if (!rc && assay_file_read(in_folder(folder, PICTURE_NAME, name), picture, len, NULL))
		*len = 0;
	if (!rc && !is_whole(*picture, *len))
		rc = unfinished(folder, *len, failed, err);
	return rc;
}

/* @keep: where the program of a gnuplot that fails is kept; NULL: nowhere. */
static int draw(const struct assay_plot *p, const struct assay_plot_options *o, bool png, const char *keep,
		char **picture, size_t *len, struct assay_err *err)
{
	struct assay_temporary folder = { 0 };
	struct assay_text script = { 0 };
	bool failed = false;
	int rc = assay_plot_script(p, o, png, PICTURE_NAME, &script, err);

	*picture = NULL;
	if (!rc)
		rc = assay_temporary_make(&folder, "plot", err);
	if (!rc)
		rc = run_script(&script, folder.path, o->interrupted, picture, len, &failed, err);
	if (failed && keep && !assay_file_write(keep, script.s, script.len, NULL)) {
		struct assay_err why = *err;

		assay_err_set(err, rc, "%.300s; its program with the data is kept in '%.120s'", why.text, keep);
	}
	if (rc) {
		free(*picture);
		*picture = NULL;
	}
	assay_temporary_remove(&folder);
	assay_text_release(&script);
	return rc;
}

static void finish(const struct assay_plot *p, const struct assay_plot_options *o, const char *picture,
		   struct assay_text *out)
{
	char about[ASSAY_KEY_MAX + 64];
	const char *key = p->kind == ASSAY_PLOT_TREND          ? p->trend.key
			  : p->kind == ASSAY_PLOT_DISTRIBUTION ? p->distribution.key
							       : NULL;

	snprintf(about, sizeof(about), "%s%s%s", assay_plot_name(p->kind), key ? " of " : "", key ? key : "");
	assay_plot_finish_svg(about, o->theme == ASSAY_THEME_AUTO, picture, out);
}

/*
 * Write @p to the file @path, as PNG or SVG, all or nothing. ASSAY_ENOTFOUND says why there is nothing to draw,
 * ASSAY_EIO what gnuplot said where it failed; its program, with the data, is then kept as "@path.gp".
 */
static int plot_file(const struct assay_plot *p, const struct assay_plot_options *o, bool png, const char *path,
		     struct assay_err *err)
{
	struct assay_text svg = { 0 };
	char *picture = NULL, keep[PATH_MAX];
	size_t len = 0;
	int rc;

	snprintf(keep, sizeof(keep), "%s.gp", path);
	rc = draw(p, o, png, keep, &picture, &len, err);
	if (!rc && png) {
		rc = assay_file_write(path, picture, len, err);
	} else if (!rc) {
		finish(p, o, picture, &svg);
		rc = svg.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for a plot")
				: assay_file_write(path, svg.s ? svg.s : "", svg.len, err);
	}
	if (rc == ASSAY_EIO)
		assay_err_prefix(err, "cannot plot to '%.255s'", path);
	assay_text_release(&svg);
	free(picture);
	return rc;
}

/* ---- svg ---- */

/*
 * gnuplot writes fixed colours and a title of its own. Here colours become one notation, by which a style finds them
 * and turns the picture dark, and the picture gets its title.
 */

static void add_style(struct assay_text *out)
{
	static const char *const properties[] = { "fill", "stroke", "color" };
	struct assay_plot_colour c;

	assay_text_add(out, "<style>\n@media screen and (prefers-color-scheme: dark) {\n");
	for (size_t i = 0; assay_plot_colour(i, &c); i++)
		for (size_t p = 0; p < sizeof(properties) / sizeof(properties[0]); p++)
			assay_text_addf(out, ".assay-plot [%s=\"%s\"] { %s: %s }\n", properties[p], c.light,
					properties[p], c.dark);
	assay_text_add(out, "}\n</style>\n");
}

/* Add the value "rgb( 0, 114, 178)", whose quote is at @s, as "#0072b2". Returns its length, 0 where it is none. */
static size_t add_colour(struct assay_text *out, const char *s)
{
	unsigned r, g, b;
	int len = 0;

	if (sscanf(s + 1, "rgb(%u,%u,%u)%n", &r, &g, &b, &len) != 3 || !len || s[1 + len] != *s)
		return 0;
	assay_text_addf(out, "\"#%02x%02x%02x\"", r & 255, g & 255, b & 255);
	return (size_t)len + 2;
}

/* The root element with the title, in place of gnuplot's, which tells its version. Returns what follows in @s. */
static const char *add_root(const char *about, bool style, const char *s, struct assay_text *out)
{
	const char *end = s + strcspn(s, ">"), *desc = strstr(end, "</desc>");

	assay_text_add(out, "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"no\"?>\n"
			    "<svg class=\"assay-plot\" role=\"img\" aria-label=\"");
	assay_xml_add(out, about);
	assay_text_add(out, "\"");
	assay_text_addn(out, s + strlen("<svg"), (size_t)(end - s) - strlen("<svg"));
	assay_text_add(out, ">\n<title>");
	assay_xml_add(out, about);
	assay_text_add(out, "</title>\n");
	if (style)
		add_style(out);
	return desc ? desc + strlen("</desc>") : *end ? end + 1 : end;
}

void assay_plot_finish_svg(const char *about, bool style, const char *svg, struct assay_text *out)
{
	const char *s = strstr(svg, "<svg");
	bool in_tag = false;

	if (!s)
		return;
	s = add_root(about, style, s, out);
	while (*s) {
		size_t len = in_tag && (*s == '"' || *s == '\'') ? add_colour(out, s) : 0;

		/* colours stand in attributes only: a name in the picture that looks like one stays */
		if (!len) {
			in_tag = *s == '<' || (in_tag && *s != '>');
			len = 1 + strcspn(s + 1, "<>\"'");
			assay_text_addn(out, s, len);
		}
		s += len;
	}
}

/* ---- emit ---- */

/* Pictures as emitters. */

static int draw_svg(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return plot_file(r->plot.plot, &r->plot.options, false, path, err);
}

static int draw_png(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return plot_file(r->plot.plot, &r->plot.options, true, path, err);
}

const struct assay_emitter assay_emitter_plot_svg = {
	.takes = ASSAY_REPORT_PLOT, .format = "svg", .draw = draw_svg, .probe = plot_probe
};

const struct assay_emitter assay_emitter_plot_png = {
	.takes = ASSAY_REPORT_PLOT, .format = "png", .draw = draw_png, .probe = plot_probe
};
