/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/time/time.h"

#include <string.h>

int assay_parameter_read(const char *text, const char *what, struct assay_parameter *out, struct assay_err *err)
{
	const char *equals = strchr(text, '=');
	const size_t len = equals ? (size_t)(equals - text) : 0;

	*out = (struct assay_parameter){ 0 };
	if (!len || len >= sizeof(out->name) || !equals[1])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%.200s', expected a name and its values, such as n 1,2,4", what, text);
	memcpy(out->name, text, len);
	return assay_strings_split(&out->values, equals + 1, ',', err);
}

size_t assay_parameters_count(const struct assay_parameter *p, size_t n)
{
	size_t all = 1;

	for (size_t i = 0; i < n; i++)
		all *= p[i].values.n;
	return all;
}

const char *assay_parameters_value(const struct assay_parameter *p, size_t i, size_t at)
{
	for (size_t k = 0; k < i; k++)
		at /= p[k].values.n;
	return p[i].values.v[at % p[i].values.n];
}

struct combination {
	const struct assay_parameter *p;
	size_t n, at;
};

static const char *value_of(const void *arg, const char *name)
{
	const struct combination *c = arg;

	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->p[i].name, name))
			return assay_parameters_value(c->p, i, c->at);
	return NULL;
}

char *assay_parameters_fill(const char *text, const struct assay_parameter *p, size_t n, size_t at)
{
	return assay_words_fill(text, value_of, &(struct combination){ p, n, at });
}
