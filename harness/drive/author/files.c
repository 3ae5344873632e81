/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/author/files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/hints.h"

struct assay_text *assay_new_files_add(struct assay_new_files *f, const char *path, bool folders, struct assay_err *err)
{
	struct assay_new_file *v = realloc(f->v, (f->n + 1) * sizeof(*v));
	char *name = strdup(path);

	if (v)
		f->v = v;
	if (!v || !name) {
		free(name);
		assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		return NULL;
	}
	f->v[f->n] = (struct assay_new_file){ .path = name, .folders = folders };
	return &f->v[f->n++].text;
}

/* Is anything of this name there, also a link that leads nowhere? */
static bool taken(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static bool below(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && path[len] == '/';
}

static int check(const struct assay_new_files *f, struct assay_err *err)
{
	struct assay_text there = { 0 };
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i <= f->n; i++) {
		const char *path = i < f->n ? f->v[i].path : f->fresh;

		if (i < f->n && f->v[i].text.failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		if (path && taken(path) && !(i < f->n && f->fresh && below(f->fresh, path)))
			assay_text_addf(&there, "%s'%s'", n++ ? ", " : "", path);
	}
	if (n && !rc)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s %s there already, and nothing is overwritten",
				   there.s ? there.s : "a file", n > 1 ? "are" : "is");
	assay_text_release(&there);
	return rc;
}

/* The folders on the way to @path, those noted that were not there. */
static int make_folders(struct assay_new_files *f, const char *path, struct assay_err *err)
{
	char part[PATH_MAX];
	int rc = 0;

	for (const char *slash = strchr(path + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (!mkdir(part, 0777))
			rc = assay_strings_add(&f->folders, part, err);
		else if (errno != EEXIST)
			rc = assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': %s", path, strerror(errno));
	}
	return rc;
}

/* Take away the first @n files and the folders that were made for them. */
static void undo(struct assay_new_files *f, size_t n)
{
	while (n)
		unlink(f->v[--n].path);
	for (size_t i = f->folders.n; i > 0; i--)
		rmdir(f->folders.v[i - 1]);
}

int assay_new_files_write(struct assay_new_files *f, struct assay_strings *written, struct assay_err *err)
{
	size_t n = 0;
	int rc = check(f, err);

	while (n < f->n && !rc) {
		const struct assay_new_file *file = &f->v[n];

		if (file->folders)
			rc = make_folders(f, file->path, err);
		if (!rc)
			rc = assay_hint_user_path(
				assay_file_create(file->path, file->text.s ? file->text.s : "", file->text.len, err),
				err);
		n += !rc;
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = assay_strings_add(written, f->v[i].path, err);
	if (rc)
		undo(f, n);
	return rc;
}

void assay_new_files_release(struct assay_new_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].path);
		assay_text_release(&f->v[i].text);
	}
	free(f->v);
	assay_strings_release(&f->folders);
	*f = (struct assay_new_files){ 0 };
}
