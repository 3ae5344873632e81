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
#include "reports/plot/program.h"

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

int assay_plot_probe(struct assay_err *err)
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

/* What gnuplot makes of @script in @folder: *picture is malloc'ed. @failed says that gnuplot itself did. */
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

int assay_plot_file(const struct assay_plot *p, const struct assay_plot_options *o, bool png, const char *path,
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
