/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals: digests over what rows held when they were stored. SQLite notices pages that make no sense, but not a bit that
 * flips in a number. A seal is a chain over the values of a row and of those that belong to it, made when they are
 * stored and again when they are loaded, so that nothing but a change in between makes a difference. Inside of the
 * store.
 */
#ifndef ASSAY_STORE_STORE_SEAL_H
#define ASSAY_STORE_STORE_SEAL_H

#include "store/store_db.h"

/* What was taken so far; all-zero: nothing. */
struct assay_seal {
	char hex[ASSAY_DIGEST_LEN + 1];
};

/*
 * Take the value of @column, which is called @name. One that is NULL, 0 or empty does not take part: so a column that
 * is added at the end of a list, empty in older rows, leaves their seals as they are.
 */
void assay_store_seal_value(struct assay_seal *seal, struct assay_row *row, int column, const char *name);
/* The same of a value that is to be stored, or was taken out of a blob. 0 or ASSAY_ENOMEM. */
int assay_store_seal_int(struct assay_seal *seal, const char *name, int64_t v);
int assay_store_seal_real(struct assay_seal *seal, const char *name, double v);
int assay_store_seal_text(struct assay_seal *seal, const char *name, const char *v);
/* Take @len bytes of SQLite's type @type that are called @name; none of them is no value. 0 or ASSAY_ENOMEM. */
int assay_store_seal_add(struct assay_seal *seal, const char *name, int type, const void *bytes, size_t len);
/* Take @len bytes, also none of them. 0 or ASSAY_ENOMEM. */
int assay_store_seal_bytes(struct assay_seal *seal, const void *bytes, size_t len);

/* Is @seal the one that was @stored? Rows without one, of older versions, are taken as they are. */
bool assay_store_seal_holds(const struct assay_seal *seal, const struct assay_seal *stored);
/* ASSAY_ESTORE: @what, such as "result of 'KEY' in run 3", is not what was stored. */
int assay_store_seal_broken(const struct assay_store *s, const char *what, struct assay_err *err);

/* Store the @n seals of a row that was just written: @sql has a parameter for each and for @id. */
int assay_store_put_seals(struct assay_store *s, const char *sql, const struct assay_seal *seals, size_t n, int64_t id,
			  struct assay_err *err);

#endif
