/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a case as a picture: gnuplot runs over the program of its plot in a temporary folder, and the picture
 * moves to its place.
 */
#include "reports/trend.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/temporary.h"

#define SCRIPT_NAME  "trend.gp"
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

static int probe(struct assay_err *err)
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

static int unfinished(const char *folder, size_t len, struct assay_err *err)
{
	struct statvfs fs;

	if (!statvfs(folder, &fs) && fs.f_bavail <= 1)
		return assay_err_set(err, ASSAY_EIO, "no space is left in '%s' for gnuplot, free some or set TMPDIR",
				     folder);
	return assay_err_set(err, ASSAY_EIO, len ? "gnuplot did not finish the picture" : "gnuplot drew nothing");
}

/* The picture of @script, made in @folder and put to @path. */
static int run_script(const struct assay_text *script, const char *folder, const char *path,
		      const volatile sig_atomic_t *interrupted, struct assay_err *err)
{
	char name[PATH_MAX];
	char *picture = NULL;
	size_t len = 0;
	int rc;

	rc = assay_file_write(in_folder(folder, SCRIPT_NAME, name), script->s, script->len, err);
	if (!rc)
		rc = run_gnuplot(SCRIPT_NAME, folder, interrupted, err);
	if (!rc)
		rc = assay_file_read(in_folder(folder, PICTURE_NAME, name), &picture, &len, err);
	if (!rc && !is_whole(picture, len))
		rc = unfinished(folder, len, err);
	if (!rc)
		rc = assay_file_write(path, picture, len, err);
	free(picture);
	return rc;
}

static int draw(const struct assay_report_history *h, bool png, const char *path, struct assay_err *err)
{
	struct assay_temporary folder = { 0 };
	struct assay_text script = { 0 };
	int rc = assay_trend_script(h, png, PICTURE_NAME, &script, err);

	if (!rc)
		rc = assay_temporary_make(&folder, "trend", err);
	if (!rc) {
		rc = run_script(&script, folder.path, path, h->interrupted, err);
		if (rc && rc != ASSAY_EINTERRUPTED)
			assay_err_prefix(err, "cannot plot to '%s'", path);
	}
	assay_temporary_remove(&folder);
	assay_text_release(&script);
	return rc;
}

static int draw_svg(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return draw(&r->history, false, path, err);
}

static int draw_png(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return draw(&r->history, true, path, err);
}

const struct assay_emitter assay_emitter_history_svg = {
	.takes = ASSAY_REPORT_HISTORY, .format = "svg", .draw = draw_svg, .probe = probe
};

const struct assay_emitter assay_emitter_history_png = {
	.takes = ASSAY_REPORT_HISTORY, .format = "png", .draw = draw_png, .probe = probe
};

/* Longer names are cut and end in a digest of the key, as a file name has 255 bytes at most. */
#define NAME_KEPT 160
#define NAME_LONG 240

void assay_trend_file_name(const char *key, const char *ending, char *buf)
{
	size_t len = 0;

	for (const char *p = key; *p && len < NAME_LONG; p++) {
		unsigned char c = (unsigned char)*p;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (*p == '/')
			buf[len++] = '~';
		else if (plain || strchr("_=,-", *p) || (*p == '.' && len))
			buf[len++] = *p;
		else
			len += (size_t)snprintf(buf + len, 4, "+%02x", c);
	}
	if (len >= NAME_LONG - 4)
		len = NAME_KEPT + (size_t)snprintf(buf + NAME_KEPT, 40, "~%s", assay_hash(key, strlen(key)).hex);
	snprintf(buf + len, ASSAY_TREND_NAME_MAX - len, "%s", ending);
}
