/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, durations, sizes and CPU lists as people write them. Independent of the locale, and nothing is read past. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 60
#define CPU_MAX   65535

/* The quotation of a value in a message: one line, and short enough that the expectation behind it is never cut off. */
struct shown {
	char s[SHOWN_MAX + 4];
};

static struct shown shown(const char *s)
{
	struct shown q;
	size_t i;

	for (i = 0; s[i] && i < SHOWN_MAX; i++)
		q.s[i] = (unsigned char)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i];
	memcpy(q.s + i, s[i] ? "..." : "", s[i] ? 4 : 1);
	return q;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at *s in base @base, at least one; *s moves behind them. False when there are none or they overflow. */
static bool take_u64(const char **s, unsigned base, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;

	for (;; p++) {
		unsigned d;

		if (is_digit(*p))
			d = (unsigned)(*p - '0');
		else if (base == 16 && *p >= 'a' && *p <= 'f')
			d = (unsigned)(*p - 'a') + 10;
		else if (base == 16 && *p >= 'A' && *p <= 'F')
			d = (unsigned)(*p - 'A') + 10;
		else
			break;
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	if (p == *s)
		return false;
	*s = p;
	*out = v;
	return true;
}

/* "12", "1.5": *mantissa / 10^*digits. At most 18 digits in all, so that nothing overflows. */
static bool take_decimal(const char **s, uint64_t *mantissa, unsigned *digits)
{
	const char *p = *s;
	unsigned n = 0;
	uint64_t v = 0;

	*digits = 0;
	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++, n++)
		v = v * 10 + (uint64_t)(*p - '0') * (n < 18);
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return false;
		for (; is_digit(*p); p++, n++, (*digits)++)
			v = v * 10 + (uint64_t)(*p - '0') * (n < 18);
	}
	if (n > 18)
		return false;
	*s = p;
	*mantissa = v;
	return true;
}

static uint64_t power_of_ten(unsigned n)
{
	uint64_t v = 1;

	while (n--)
		v *= 10;
	return v;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/*
 * A decimal number and one of @units (the last one has no name). The result is rounded to a whole number; false when it
 * does not fit, or when something that is not zero became zero.
 */
static bool parse_with_unit(const char *s, const struct unit *units, uint64_t *out)
{
	unsigned __int128 v;
	uint64_t mantissa, scale;
	unsigned digits;

	if (!take_decimal(&s, &mantissa, &digits))
		return false;
	for (; units->name; units++)
		if (!strcmp(s, units->name))
			break;
	if (!units->name)
		return false;

	scale = power_of_ten(digits);
	v = ((unsigned __int128)mantissa * units->factor + scale / 2) / scale;
	if (v > UINT64_MAX || (v == 0 && mantissa))
		return false;
	*out = (uint64_t)v;
	return true;
}

int assay_parse_u64(const char *s, const char *what, uint64_t lo, uint64_t hi, uint64_t *out, struct assay_err *err)
{
	const char *p = s;
	uint64_t v;

	if (!take_u64(&p, 10, &v) || *p || v < lo || v > hi)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected a whole number from %llu to %llu", what,
				     shown(s).s, (unsigned long long)lo, (unsigned long long)hi);
	*out = v;
	return 0;
}

int assay_parse_seed(const char *s, const char *what, uint64_t *out, struct assay_err *err)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *p = hex ? s + 2 : s;
	uint64_t v;

	if (!take_u64(&p, hex ? 16 : 10, &v) || *p)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected a whole number from 0 to %llu, or 0x...",
				     what, shown(s).s, (unsigned long long)UINT64_MAX);
	*out = v;
	return 0;
}

int assay_parse_duration_ns(const char *s, const char *what, uint64_t *out, struct assay_err *err)
{
	static const struct unit units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "\302\265s", 1000 }, /* U+00B5 and U+03BC both look like the micro sign */
		{ "\316\274s", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", UINT64_C(60000000000) },
		{ "m", UINT64_C(60000000000) },
		{ "h", UINT64_C(3600000000000) },
		{ "", 1000000000 },
		{ NULL, 0 },
	};

	uint64_t ns;

	if (!parse_with_unit(s, units, &ns))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%s', expected a duration such as 250ms, 2s, 1.5min or 1h (units ns, us, "
				     "ms, s, min or m, h; a bare number is seconds)",
				     what, shown(s).s);
	if (!ns)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected a time above 0 such as 500ms or 2s", what,
				     shown(s).s);
	*out = ns;
	return 0;
}

int assay_parse_bytes(const char *s, const char *what, uint64_t *out, struct assay_err *err)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "K", UINT64_C(1) << 10 },
		{ "KiB", UINT64_C(1) << 10 },
		{ "M", UINT64_C(1) << 20 },
		{ "MiB", UINT64_C(1) << 20 },
		{ "G", UINT64_C(1) << 30 },
		{ "GiB", UINT64_C(1) << 30 },
		{ "T", UINT64_C(1) << 40 },
		{ "TiB", UINT64_C(1) << 40 },
		{ NULL, 0 },
	};

	if (!parse_with_unit(s, units, out))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%s', expected a size such as 4096, 512MiB or 2G (units K, M, G, T or KiB, "
				     "MiB, GiB, TiB, powers of 1024; a bare number is bytes)",
				     what, shown(s).s);
	return 0;
}

int assay_parse_frac(const char *s, const char *what, double lo, double hi, double *out, struct assay_err *err)
{
	const char *p = s;
	bool negative = *p == '-';
	uint64_t mantissa = 0;
	unsigned digits = 0;
	bool ok;

	p += negative;
	ok = take_decimal(&p, &mantissa, &digits);
	if (ok && *p == '%') {
		digits += 2;
		p++;
	}
	if (ok && !*p) {
		/* Both exact below 2^53 and 10^22: one rounding, so that 0.5% and 0.005 are the same number. */
		double v = (double)mantissa /
			   (digits > 18 ? 1e18 * (double)power_of_ten(digits - 18) : (double)power_of_ten(digits));

		v = negative ? -v : v;
		if (v >= lo && v <= hi) {
			*out = v;
			return 0;
		}
	}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected a share from %g to %g, such as 0.005 or 0.5%%",
			     what, shown(s).s, lo, hi);
}

/* One part, "4" or "4-7", and what follows it: ',' or the end. */
static bool take_cpu_range(const char **s, uint64_t *first, uint64_t *last)
{
	if (!take_u64(s, 10, first) || *first > CPU_MAX)
		return false;
	*last = *first;
	if (**s == '-') {
		(*s)++;
		if (!take_u64(s, 10, last) || *last > CPU_MAX || *last < *first)
			return false;
	}
	return **s == ',' || **s == '\0';
}

int assay_parse_cpu_list(const char *s, const char *what, int **out, size_t *n, struct assay_err *err)
{
	unsigned char seen[(CPU_MAX + 8) / 8] = { 0 };
	size_t count = 0, cap = 0;
	int *v = NULL;
	const char *p = s;

	for (;;) {
		uint64_t first, last;

		if (!take_cpu_range(&p, &first, &last)) {
			free(v);
			return assay_err_set(err, ASSAY_EUSAGE,
					     "%s is '%s', expected CPU numbers from 0 to %d and ranges such as 0,2,4-7",
					     what, shown(s).s, CPU_MAX);
		}
		for (uint64_t cpu = first; cpu <= last; cpu++) {
			if (seen[cpu / 8] & 1u << cpu % 8) {
				free(v);
				return assay_err_set(err, ASSAY_EUSAGE,
						     "%s is '%s', which names CPU %d twice, name each once", what,
						     shown(s).s, (int)cpu);
			}
			seen[cpu / 8] |= (unsigned char)(1u << cpu % 8);
			if (count == cap) {
				int *grown;

				cap = cap ? cap * 2 : 16;
				grown = realloc(v, cap * sizeof(*v));
				if (!grown) {
					free(v);
					return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu CPU numbers",
							     cap);
				}
				v = grown;
			}
			v[count++] = (int)cpu;
		}
		if (!*p)
			break;
		p++;
	}
	*out = v;
	*n = count;
	return 0;
}
