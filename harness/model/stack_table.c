/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and stacks are found again by text: that of a frame has all its members, that of a stack its frames. */
#include "model/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

static int out_of_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the stacks of a profile");
}

/* Symbols and names of files may be anything, and all that a profile shows of them comes from here. */
static char *copy(const char *s)
{
	char *own = strdup(s ? s : "");

	if (own)
		assay_printable_line(own, strlen(own) + 1);
	return own;
}

static int add_frame(struct assay_stack_table *t, const struct assay_frame *f, struct assay_err *err)
{
	struct assay_frame own = *f;

	own.name = copy(f->name);
	own.object = copy(f->object);
	own.file = copy(f->file);
	if (own.name && own.object && own.file && !assay_grow(&t->frames, t->n_frames, sizeof(*t->frames))) {
		t->frames[t->n_frames++] = own;
		return 0;
	}
	free((char *)own.name);
	free((char *)own.object);
	free((char *)own.file);
	return out_of_memory(err);
}

int assay_stack_table_frame(struct assay_stack_table *t, const struct assay_frame *f, uint32_t *out,
			    struct assay_err *err)
{
	struct assay_text key = { 0 };
	size_t at = 0;
	bool found;
	int rc;

	assay_text_addf(&key, "%d\n%s\n%s\n%s\n%u\n%" PRIx64, (int)f->kind, f->name ? f->name : "",
			f->object ? f->object : "", f->file ? f->file : "", f->line, f->offset);
	rc = key.failed ? out_of_memory(err)
			: assay_name_index_put(&t->frame_index, key.s, t->n_frames, &at, &found, err);
	assay_text_release(&key);
	if (!rc && !found)
		rc = add_frame(t, f, err);
	*out = (uint32_t)at;
	return rc;
}

static int add_stack(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, struct assay_err *err)
{
	if (t->n_order + n > t->cap_order) {
		const size_t cap = 2 * (t->n_order + n);
		uint32_t *grown = realloc(t->order, cap * sizeof(*grown));

		if (!grown)
			return out_of_memory(err);
		t->order = grown;
		t->cap_order = cap;
	}
	if (assay_grow(&t->stacks, t->n_stacks, sizeof(*t->stacks)))
		return out_of_memory(err);
	if (n)
		memcpy(t->order + t->n_order, frames, n * sizeof(*frames));
	t->stacks[t->n_stacks++] = (struct assay_stack){ .first = t->n_order, .n = n };
	t->n_order += n;
	return 0;
}

int assay_stack_table_put(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, size_t *at,
			  struct assay_err *err)
{
	static const char digits[] = "0123456789abcdef";
	struct assay_text key = { 0 };
	bool found;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		char word[9];

		for (unsigned d = 0; d < 8; d++)
			word[d] = digits[frames[i] >> (4 * d) & 15];
		assay_text_addn(&key, word, 8);
	}
	rc = key.failed ? out_of_memory(err)
			: assay_name_index_put(&t->stack_index, n ? key.s : "", t->n_stacks, at, &found, err);
	assay_text_release(&key);
	if (!rc && !found)
		rc = add_stack(t, frames, n, err);
	return rc;
}

int assay_stack_table_add(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, uint64_t weight,
			  struct assay_err *err)
{
	size_t at = 0;
	int rc = assay_stack_table_put(t, frames, n, &at, err);

	if (rc)
		return rc;
	t->stacks[at].weight += weight;
	t->weight += weight;
	return 0;
}

void assay_stack_table_release(struct assay_stack_table *t)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		free((char *)t->frames[i].name);
		free((char *)t->frames[i].object);
		free((char *)t->frames[i].file);
	}
	free(t->frames);
	free(t->stacks);
	free(t->order);
	assay_name_index_release(&t->frame_index);
	assay_name_index_release(&t->stack_index);
	*t = (struct assay_stack_table){ 0 };
}

/* Does it start programs and threads: the C library or the loader, or code of no file? */
static bool starts(const char *object)
{
	return !object[0] || !strncmp(object, "libc.so", strlen("libc.so")) || !strncmp(object, "ld-", strlen("ld-")) ||
	       !strncmp(object, "libpthread", strlen("libpthread"));
}

uint32_t assay_stack_harness(const struct assay_stack_table *t, const struct assay_stack *s, uint32_t *from)
{
	uint32_t d = 0, end;

	while (d < s->n && t->frames[t->order[s->first + d]].kind == ASSAY_FRAME_LABEL)
		d++;
	for (*from = end = d; d < s->n; d++) {
		const char *object = t->frames[t->order[s->first + d]].object;

		if (!strcmp(object, "assay"))
			end = d + 1;
		else if (!starts(object))
			break;
	}
	return end;
}

bool assay_stack_leaves_harness(const struct assay_stack_table *t, const struct assay_stack *s, uint32_t d)
{
	for (; d < s->n; d++)
		if (!starts(t->frames[t->order[s->first + d]].object))
			return true;
	return false;
}
