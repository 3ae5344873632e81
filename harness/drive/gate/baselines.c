/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/gate/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "drive/exact/exact.h"
#include "drive/installed.h"
#include "drive/user_text.h"
#include "machine/clock.h"
#include "store/store.h"

/* There is no baseline to make of a database that is not there: reading says so, writing would make an empty one. */
static int open_to_write(struct assay_store **store, const char *db, struct assay_err *err)
{
	return assay_store_open(store, db, assay_file_exists(db) ? ASSAY_STORE_WRITE : ASSAY_STORE_READ, err);
}

static int newest_finished(struct assay_store *store, const char *db, int64_t *id, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	char measure[ASSAY_INSTALLED_PATH_MAX];
	size_t n = 0;
	int rc = assay_store_runs(store, NULL, 0, &runs, &n, err);

	for (size_t i = 0; i < n && !*id; i++)
		if (runs[i].ended_ns)
			*id = runs[i].id;
	free(runs);
	if (rc || *id)
		return rc;
	assay_command_text(measure, sizeof(measure), "run", NULL, db);
	return assay_err_set(err, ASSAY_EUSAGE, "no finished run is stored in '%s': '%s' makes one", db, measure);
}

int assay_baseline_save(const char *db, const char *name, int64_t *id, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = open_to_write(&store, db, err);

	if (!rc && !*id)
		rc = newest_finished(store, db, id, err);
	if (!rc)
		rc = assay_store_baseline_save(store, name, *id, assay_clock_unix_ns(), err);
	assay_store_close(store);
	return rc;
}

int assay_baseline_drop(const char *db, const char *name, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = open_to_write(&store, db, err);

	if (!rc)
		rc = assay_store_baseline_drop(store, name, err);
	assay_store_close(store);
	return rc;
}

int assay_baseline_list(const char *db, const char *name, struct assay_baseline_info **out, size_t *n,
			struct assay_err *err)
{
	struct assay_store *store = NULL;
	char list[ASSAY_INSTALLED_PATH_MAX];
	size_t all = 0;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = NULL;
	*n = 0;
	if (!rc)
		rc = assay_store_baselines(store, NULL, NULL, out, &all, err);
	for (size_t i = 0; i < all; i++) {
		struct assay_baseline_info b = (*out)[i];

		if (name && strcmp(name, b.name)) {
			free(b.runs);
			continue;
		}
		(*out)[(*n)++] = b;
	}
	assay_store_close(store);
	if (!rc && name && !*n) {
		assay_command_text(list, sizeof(list), "baseline list", NULL, db);
		rc = assay_err_set(err, ASSAY_EUSAGE, "no baseline '%s': '%s' shows all", name, list);
	}
	return rc;
}

int assay_baseline_update(const struct assay_gate_request *q, bool prune, struct assay_baseline_update *out,
			  struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_baseline_update){ 0 };
	if (!rc)
		rc = assay_exact_baseline_update(store, q, prune, out, err);
	assay_store_close(store);
	return rc;
}
