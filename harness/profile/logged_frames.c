/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/logged_frames.h"

#include <string.h>

#define MOST_INLINED 32

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int assay_logged_frames(struct assay_code_places *p, struct assay_stack_table *t, uint64_t address,
			struct assay_logged_list *list, bool *known, struct assay_err *err)
{
	struct assay_code_place places[MOST_INLINED] = { { "", "", "", 0 } };
	uint64_t offset = 0;
	const size_t found = assay_code_places_inlined(p, address, places, MOST_INLINED, &offset);
	int rc = 0;

	for (size_t i = found; i-- > 0 && !rc && list->n < list->most;) {
		const struct assay_frame f = { .kind = i + 1 < found ? ASSAY_FRAME_INLINED : ASSAY_FRAME_CODE,
					       .name = places[i].function,
					       .object = file_name(places[found - 1].object),
					       .file = places[i].file,
					       .line = places[i].line };

		rc = assay_stack_table_frame(t, &f, &list->v[list->n], err);
		list->n++;
	}
	*known = places[0].function[0];
	return rc;
}

int assay_logged_label(struct assay_stack_table *t, const char *text, struct assay_logged_list *list,
		       struct assay_err *err)
{
	if (list->n == list->most)
		return 0;
	return assay_stack_table_frame(t, &(struct assay_frame){ .kind = ASSAY_FRAME_LABEL, .name = text },
				       &list->v[list->n++], err);
}
