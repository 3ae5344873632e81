/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of cases. */
#include "model/case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_AXIS   "device="
#define DEVICE_DIGITS 4 /* of a number */
#define OWN_THREADS   "own_threads=yes"

const char *assay_cache_name(enum assay_cache c)
{
	static const char *const names[ASSAY_N_CACHE] = { "warm", "cold", "", "-" };

	return names[c];
}

/* The key with @threads behind "t="; false when it does not fit. */
static bool render_key(const struct assay_case *c, const char *threads, char *buf)
{
	size_t len = 0;

	const bool device = c->device[0] != '\0';
	const unsigned n_axes = c->n_axes + device + c->own_threads;

	for (unsigned i = 0; i <= n_axes + 1; i++) {
		size_t room = ASSAY_KEY_MAX - len;
		int n;

		if (i == 0)
			n = snprintf(buf, room, "%s/%s/%s", c->op, c->variant, n_axes ? "" : "-");
		else if (i == 1 && c->cache == ASSAY_CACHE_NONE && !strcmp(c->axes[0].name, ASSAY_BENCHMARK_AXIS))
			n = snprintf(buf + len, room, "%s", c->axes[0].text);
		else if (i <= c->n_axes)
			n = snprintf(buf + len, room, "%s%s=%s", i > 1 ? "," : "", c->axes[i - 1].name,
				     c->axes[i - 1].text);
		else if (i <= c->n_axes + device)
			n = snprintf(buf + len, room, "%s" DEVICE_AXIS "%s", i > 1 ? "," : "", c->device);
		else if (i <= n_axes)
			n = snprintf(buf + len, room, "%s" OWN_THREADS, i > 1 ? "," : "");
		else
			n = snprintf(buf + len, room, "%s%s%s%s", c->threads ? "/t=" : "", c->threads ? threads : "",
				     c->cache != ASSAY_CACHE_UNKNOWN ? "/" : "", assay_cache_name(c->cache));
		if (n < 0 || (size_t)n >= room)
			return false;
		len += (size_t)n;
	}
	return true;
}

bool assay_device_read(const char *text, char name[ASSAY_NAME_MAX], unsigned *number)
{
	const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const char *digits = text + n + 1;
	const size_t n_digits = text[n] == ':' ? strspn(digits, "0123456789") : 0;

	if (!n || n >= ASSAY_NAME_MAX || !n_digits || n_digits > DEVICE_DIGITS || digits[n_digits] ||
	    (n_digits > 1 && digits[0] == '0'))
		return false;
	snprintf(name, ASSAY_NAME_MAX, "%.*s", (int)n, text);
	*number = (unsigned)strtoul(digits, NULL, 10);
	return true;
}

void assay_case_read_key(struct assay_case *c)
{
	const char *at = strstr(c->key, DEVICE_AXIS), *own = strstr(c->key, OWN_THREADS "/"), *from;
	char name[ASSAY_NAME_MAX];
	unsigned number;

	c->own_threads = own && own > c->key && strchr("/,", own[-1]);
	c->device[0] = '\0';
	if (!at || at == c->key || !strchr("/,", at[-1]))
		return;
	from = at + strlen(DEVICE_AXIS);
	snprintf(c->device, sizeof(c->device), "%.*s", (int)strcspn(from, "/,"), from);
	if (!assay_device_read(c->device, name, &number))
		c->device[0] = '\0';
}

int assay_case_make_key(struct assay_case *c, struct assay_err *err)
{
	char threads[16], portable[ASSAY_KEY_MAX];

	snprintf(threads, sizeof(threads), "%u", c->threads);
	/* The portable key may be the longer one; refusing it here means that it always fits later. */
	if (!render_key(c, threads, c->key) || (c->all_threads && !render_key(c, "all", portable))) {
		c->key[0] = '\0';
		return assay_err_set(err, ASSAY_ELIMIT,
				     "the key of a case of '%.100s/%s' is longer than %d bytes, use shorter names",
				     c->op, c->variant, ASSAY_KEY_MAX - 1);
	}
	return 0;
}

void assay_case_portable_key(const struct assay_case *c, char *buf)
{
	const char *cache = strrchr(c->key, '/'), *threads = cache;

	while (threads && threads > c->key && *--threads != '/')
		;
	if (!c->all_threads || !threads || strncmp(threads, "/t=", 3) ||
	    snprintf(buf, ASSAY_KEY_MAX, "%.*s/t=all%s", (int)(threads - c->key), c->key, cache) >= ASSAY_KEY_MAX)
		memcpy(buf, c->key, sizeof(c->key));
}

/* The part of @key that ends at @end, and where the part before it ends; 0: none is before it. */
static const char *part_before(const char *key, size_t *end)
{
	size_t at = *end;

	while (at && key[at - 1] != '/')
		at--;
	*end = at ? at - 1 : 0;
	return key + at;
}

size_t assay_key_op_length(const char *key)
{
	size_t end = strlen(key), before = end;

	/* "t=4" or "t=4/warm" stands behind the axes, where these are known */
	if (!strncmp(part_before(key, &before), "t=", 2)) {
		end = before;
	} else if (before && !strncmp(part_before(key, &before), "t=", 2)) {
		end = before;
	}
	part_before(key, &end); /* axes */
	part_before(key, &end); /* variant */
	return end ? end : strcspn(key, "/");
}

bool assay_key_is_program(const char *key)
{
	const size_t len = strlen(key);

	return len > 1 && !strcmp(key + len - 2, "/-");
}

bool assay_case_same_shape(const struct assay_case *a, const struct assay_case *b)
{
	if (strcmp(a->op, b->op) || a->cache != b->cache || a->n_axes != b->n_axes)
		return false;
	for (unsigned i = 0; i < a->n_axes; i++)
		if (strcmp(a->axes[i].text, b->axes[i].text))
			return false;
	return true;
}

bool assay_case_same_but_variant(const struct assay_case *a, const struct assay_case *b)
{
	return a->threads == b->threads && assay_case_same_shape(a, b);
}
