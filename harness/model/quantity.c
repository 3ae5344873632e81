/* SPDX-License-Identifier: Apache-2.0 */
/* SI values in base units become three digits and a unit that fits. */
#include "model/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
	double factor;
	const char *utf8, *ascii;
};

static const struct scale seconds[] = {
	{ 1e-9, "ns", "ns" },
	{ 1e-6, "µs", "us" },
	{ 1e-3, "ms", "ms" },
	{ 1, "s", "s" },
};
static const struct scale bytes[] = {
	{ 1, "B", "B" },          { 0x1p10, "KiB", "KiB" }, { 0x1p20, "MiB", "MiB" },
	{ 0x1p30, "GiB", "GiB" }, { 0x1p40, "TiB", "TiB" },
};
/* Rates count in thousands, also for bytes: a bandwidth is compared with data sheets, which do the same. */
static const struct scale thousands[] = {
	{ 1, "", "" }, { 1e3, "k", "k" }, { 1e6, "M", "M" }, { 1e9, "G", "G" }, { 1e12, "T", "T" },
};

/* Three significant digits of 0 <= @v < 1000, or an integer above. */
static int put_digits(double v, char *buf, size_t size)
{
	int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	return snprintf(buf, size, "%.*f", decimals, v);
}

static const struct scale *fit(const struct scale *s, size_t n, double v, double step)
{
	size_t i = 0;

	/* 999.6 ns rounds to 1000, which is 1.00 µs */
	while (i + 1 < n && v / s[i].factor >= step - 0.5)
		i++;
	return &s[i];
}

static void put_scaled(const struct scale *s, size_t n, double step, double value, const char *rest, bool utf8,
		       char *buf, size_t size)
{
	double v = fabs(value);
	const struct scale *unit = fit(s, n, v, step);
	char digits[64];

	if (v == 0)
		snprintf(digits, sizeof(digits), "0");
	else if (unit->factor == 1 && v == floor(v) && v < 1e15)
		snprintf(digits, sizeof(digits), "%.0f", v);
	else
		put_digits(v / unit->factor, digits, sizeof(digits));
	snprintf(buf, size, "%s%s %s%s", value < 0 ? "-" : "", digits, utf8 ? unit->utf8 : unit->ascii, rest);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void assay_quantity_text(double value, const char *unit, bool utf8, char *buf, size_t size)
{
	if (!isfinite(value)) {
		snprintf(buf, size, "-");
	} else if (!strcmp(unit, "s")) {
		put_scaled(seconds, COUNT(seconds), 1000, value, "", utf8, buf, size);
	} else if (!strcmp(unit, "B")) {
		put_scaled(bytes, COUNT(bytes), 1024, value, "", utf8, buf, size);
	} else if (!strcmp(unit, "op/s")) {
		put_scaled(thousands, COUNT(thousands), 1000, value, "OP/s", utf8, buf, size);
	} else if (strstr(unit, "/s")) {
		put_scaled(thousands, COUNT(thousands), 1000, value, unit[0] == '1' ? unit + 1 : unit, utf8, buf, size);
	} else if (!strcmp(unit, "1")) {
		/* six digits would cut a count, and the 17 of a double tell nobody anything */
		snprintf(buf, size, fabs(value) >= 999.5 && fabs(value) < 1e15 ? "%.0f" : "%.3g", value);
	} else {
		put_scaled(thousands, COUNT(thousands), 1000, value, unit, utf8, buf, size);
	}
}

static bool ends_in(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len >= n && !strcmp(s + len - n, end);
}

/* "3.04 k/s" of "requests_per_s" → "3.04 k requests/s"; tokens have a short name of their own. */
static void put_counted(const char *tag, double value, bool utf8, char *buf, size_t size)
{
	int name = (int)(strlen(tag) - strlen("_per_s"));
	char number[64];
	size_t len;

	assay_quantity_text(value, "1/s", utf8, number, sizeof(number));
	len = strlen(number) - strlen("/s");
	if (!strcmp(tag, "tokens_per_s"))
		snprintf(buf, size, "%.*stok/s", (int)len, number);
	else
		snprintf(buf, size, "%.*s%s%.*s/s", (int)len, number, number[len - 1] == ' ' ? "" : " ", name, tag);
}

void assay_metric_text(const char *tag, double value, const char *unit, bool utf8, char *buf, size_t size)
{
	char digits[64];

	if (isfinite(value) && !strcmp(unit, "1") && (ends_in(tag, "_frac") || ends_in(tag, "_rate"))) {
		put_digits(fabs(value) * 100, digits, sizeof(digits));
		snprintf(buf, size, "%s%s %%", value < 0 ? "-" : "", digits);
	} else if (isfinite(value) && !strcmp(unit, "1/s") && ends_in(tag, "_per_s")) {
		put_counted(tag, value, utf8, buf, size);
	} else {
		assay_quantity_text(value, unit, utf8, buf, size);
	}
}

void assay_count_text(const struct assay_count *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s%.10g", c->running_frac < 1 ? "about " : "", c->value);
}

void assay_count_note(const struct assay_count *c, char *buf, size_t size)
{
	char part[48] = "";

	if (c->running_frac < 1)
		snprintf(part, sizeof(part), ", counted nominally %.0f %% of the time", 100 * c->running_frac);
	snprintf(buf, size, "%s%s%s%s%s%s", c->source, c->per_iteration ? ", an iteration" : "", part,
		 c->how[0] ? " (" : "", c->how, c->how[0] ? ")" : "");
}
