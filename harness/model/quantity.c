/* SPDX-License-Identifier: Apache-2.0 */
/* SI values in base units become three digits and a unit that fits; such a unit becomes a factor and the base unit. */
#include "model/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
	double factor;
	const char *utf8, *ascii;
};

static const struct scale seconds[] = {
	{ 1e-9, "ns", "ns" }, { 1e-6, "µs", "us" }, { 1e-3, "ms", "ms" },
	{ 1, "s", "s" },      { 60, "min", "min" }, { 3600, "h", "h" },
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
	} else if (!strcmp(unit, "tok/ms")) {
		snprintf(buf, size, "%.3g %s", value, unit);
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

/* The noun of a rate: "requests" of "requests_per_s", "tok" of "tokens_per_s"; "" where the tag does not say. */
static void counted_name(const char *tag, char *buf, size_t size)
{
	if (!strcmp(tag, "tokens_per_s"))
		snprintf(buf, size, "tok");
	else
		snprintf(buf, size, "%.*s", ends_in(tag, "_per_s") ? (int)(strlen(tag) - strlen("_per_s")) : 0, tag);
}

/* "3.04 k/s" of "requests_per_s" → "3.04 k requests/s"; tokens have a short name of their own. */
static void put_counted(const char *tag, double value, bool utf8, char *buf, size_t size)
{
	char number[64], name[ASSAY_METRIC_TAG_MAX];
	size_t len;

	assay_quantity_text(value, "1/s", utf8, number, sizeof(number));
	len = strlen(number) - strlen("/s");
	counted_name(tag, name, sizeof(name));
	snprintf(buf, size, "%.*s%s%s/s", (int)len, number, number[len - 1] == ' ' || !strcmp(name, "tok") ? "" : " ",
		 name);
}

void assay_metric_text(const char *tag, double value, const char *unit, bool utf8, char *buf, size_t size)
{
	char digits[64];

	if (isfinite(value) && !strcmp(unit, "1") && (ends_in(tag, "_frac") || ends_in(tag, "_rate"))) {
		put_digits(fabs(value) * 100, digits, sizeof(digits));
		snprintf(buf, size, "%s%s %%%s", value < 0 ? "-" : "", digits,
			 strcmp(tag, "roof_frac") ? "" : assay_limit_mark(value));
	} else if (isfinite(value) && !strcmp(unit, "1/s") && ends_in(tag, "_per_s")) {
		put_counted(tag, value, utf8, buf, size);
	} else {
		assay_quantity_text(value, unit, utf8, buf, size);
	}
}

static bool is_one_of(const struct scale *s, size_t n, const char *text, size_t len, double *factor)
{
	for (size_t i = 0; i < n; i++)
		if ((strlen(s[i].ascii) == len && !strncmp(s[i].ascii, text, len)) ||
		    (strlen(s[i].utf8) == len && !strncmp(s[i].utf8, text, len))) {
			*factor = s[i].factor;
			return true;
		}
	return false;
}

/* Is it a rate of what @tag counts? "1/s" and "/s" are of any. */
static bool is_rate_of(const char *tag, const char *text)
{
	char name[ASSAY_METRIC_TAG_MAX];
	size_t len = strlen(text);

	if (!ends_in(text, "/s"))
		return false;
	len -= 2;
	counted_name(tag, name, sizeof(name));
	return !len || (len == 1 && text[0] == '1') || (strlen(name) == len && !strncmp(name, text, len));
}

bool assay_unit_read(const char *tag, const char *text, double *factor, char unit[ASSAY_METRIC_UNIT_MAX])
{
	static const struct scale greek = { 1e-6, "\xce\xbcs", "us" }; /* a mu, where tables write a micro sign */
	size_t len = strlen(text);
	const char *base = NULL;

	if (!strcmp(text, "%")) {
		*factor = 0.01;
		base = "1";
	} else if (is_one_of(seconds, COUNT(seconds), text, len, factor) || is_one_of(&greek, 1, text, len, factor)) {
		base = "s";
	} else if (is_one_of(bytes, COUNT(bytes), text, len, factor)) {
		base = "B";
	} else if (ends_in(text, "B/s") && is_one_of(bytes, COUNT(bytes), text, len - 2, factor)) {
		base = "B/s";
	} else if (text[0] && text[1] && is_one_of(thousands, COUNT(thousands), text, 1, factor)) {
		text += 1 + strspn(text + 1, " ");
	} else {
		*factor = 1;
	}
	if (!base)
		base = is_rate_of(tag, text) ? "1/s" : !strcmp(text, "OP/s") ? "op/s" : text;
	return snprintf(unit, ASSAY_METRIC_UNIT_MAX, "%s", base) < ASSAY_METRIC_UNIT_MAX;
}

bool assay_unit_is_counted(const char *unit)
{
	return !strcmp(unit, "B") || !strcmp(unit, "1");
}

void assay_unit_choice(const char *tag, const char *unit, char *buf, size_t size)
{
	static const struct {
		const char *unit, *choice;
	} known[] = {
		{ "s", "ns, us, ms or s" },
		{ "B", "B, KiB, MiB or GiB" },
		{ "B/s", "MB/s or GB/s" },
		{ "op/s", "MOP/s or GOP/s" },
	};
	char name[ASSAY_METRIC_TAG_MAX];

	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(unit, known[i].unit)) {
			snprintf(buf, size, "%s", known[i].choice);
			return;
		}
	counted_name(tag, name, sizeof(name));
	if (!strcmp(unit, "1/s"))
		snprintf(buf, size, "%s/s or k %s/s", name, name);
	else if (strcmp(unit, "1"))
		snprintf(buf, size, "%s or k%s", unit, unit);
	else
		snprintf(buf, size, ends_in(tag, "_frac") || ends_in(tag, "_rate") ? "%%" : "no unit");
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
	snprintf(buf, size, "%s%s%s%s%s%s", c->source, c->per_iteration ? ", per call" : "", part,
		 c->how[0] ? " (" : "", c->how, c->how[0] ? ")" : "");
}
