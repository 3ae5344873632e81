/* SPDX-License-Identifier: Apache-2.0 */
/* As it lies in memory: both ends are the same program. */
#include "drive/exact/packet.h"

#include <stdlib.h>
#include <string.h>

/* Detail, log and functions follow in this order. */
struct head {
	struct assay_exact_case c;
	enum assay_exact_end end;
	size_t n_detail, n_log; /* with their NUL; 0: NULL */
};

void assay_exact_pack(const struct assay_exact_case *c, enum assay_exact_end end, struct assay_text *out)
{
	const struct head h = { .c = *c,
				.end = end,
				.n_detail = c->detail ? strlen(c->detail) + 1 : 0,
				.n_log = c->log ? strlen(c->log) + 1 : 0 };

	assay_text_addn(out, (const char *)&h, sizeof(h));
	if (c->detail)
		assay_text_addn(out, c->detail, h.n_detail);
	if (c->log)
		assay_text_addn(out, c->log, h.n_log);
	if (c->n_functions)
		assay_text_addn(out, (const char *)c->functions, c->n_functions * sizeof(*c->functions));
}

/* NULL, too, where there are none. */
static void *copy(const char *from, size_t n, bool *failed)
{
	void *to = n ? malloc(n) : NULL;

	*failed |= n && !to;
	return to ? memcpy(to, from, n) : NULL;
}

int assay_exact_unpack(const char *bytes, size_t n, struct assay_exact_case *c, enum assay_exact_end *end,
		       struct assay_err *err)
{
	bool failed = false;
	struct head h;
	size_t functions;

	*c = (struct assay_exact_case){ .key = "" };
	if (n < sizeof(h))
		return assay_err_set(err, ASSAY_EINTERNAL, "the counts of a case are cut short");
	memcpy(&h, bytes, sizeof(h));
	functions = h.c.n_functions * sizeof(*h.c.functions);
	if (n != sizeof(h) + h.n_detail + h.n_log + functions)
		return assay_err_set(err, ASSAY_EINTERNAL, "the counts of '%s' are cut short", h.c.key);
	bytes += sizeof(h);
	*c = h.c;
	*end = h.end;
	c->detail = copy(bytes, h.n_detail, &failed);
	c->log = copy(bytes + h.n_detail, h.n_log, &failed);
	c->functions = copy(bytes + h.n_detail + h.n_log, functions, &failed);
	if (!c->functions)
		c->n_functions = 0;
	return failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for the counts of '%s'", c->key) : 0;
}
