/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out, and paths relative to the running program. */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* What a file is decides how large it may be; name and bytes stand in messages. */
#define ASSAY_FILE_KINDS(X)                                                                                            \
	X(ANY, "a file", 256)                                                                                          \
	X(CONF, "a configuration file", 16)                                                                            \
	X(MANIFEST, "a manifest", 64)                                                                                  \
	X(EXACT, "a file of exact counts", 64)                                                                         \
	X(PLUGIN, "a plugin", 1024)
enum assay_file_kind {
#define X(kind, name, mib) ASSAY_FILE_##kind,
	ASSAY_FILE_KINDS(X)
#undef X
};

/*
 * Read all of @path; *out is malloc'ed and NUL-terminated behind *len bytes. Works for /proc and /sys. Kind and size
 * are looked at before anything is read: ASSAY_EUSAGE for pipes and for devices other than /dev/null, ASSAY_ELIMIT for
 * more than its kind may have.
 */
int assay_file_read_as(const char *path, enum assay_file_kind kind, char **out, size_t *len, struct assay_err *err);
/* The same of a file of any kind. */
int assay_file_read(const char *path, char **out, size_t *len, struct assay_err *err);
/* Map all of the plugin @path to be read; @data is NULL for an empty file. For files that nobody shortens meanwhile. */
int assay_file_map(const char *path, const void **data, size_t *len, struct assay_err *err);
void assay_file_unmap(const void *data, size_t len);
/* First line of a small file without its newline, false when it cannot be read. Never an error: for /proc and /sys. */
bool assay_file_line(const char *path, char *buf, size_t size);
/* Write through a temporary file in the same folder and rename, so that readers see all or nothing. */
int assay_file_write(const char *path, const void *data, size_t len, struct assay_err *err);
/* Would that be possible? ASSAY_EIO with the same words where it would not; nothing stays behind. */
int assay_file_write_check(const char *path, struct assay_err *err);
/*
 * Write a file that is not there yet. ASSAY_EUSAGE where something of that name is, which stays as it is; on any other
 * error there is no such file.
 */
int assay_file_create(const char *path, const void *data, size_t len, struct assay_err *err);
/*
 * Create a file in the folder of @path that is to be renamed to it; its name into @name. The descriptor, or -1 with
 * errno. The caller holds interrupts until the file has its name or is gone.
 */
int assay_file_open_temporary(const char *path, char *name, size_t size);
/* Signals of the terminal and to end wait; pthread_sigmask() with @old lets them through. */
void assay_file_hold_interrupts(sigset_t *old);
/* mkdir -p. */
int assay_file_mkdirs(const char *path, struct assay_err *err);
bool assay_file_exists(const char *path);
/*
 * Names of the files in @dir that end in @ending, without it, in the order of their bytes. ASSAY_ENOTFOUND where there
 * is no such folder, ASSAY_EUSAGE where it cannot be read or has something else of such a name.
 */
int assay_file_list(const char *dir, const char *ending, struct assay_strings *out, struct assay_err *err);

/* Folder that holds the running executable, without a trailing slash. */
int assay_file_exe_dir(char *buf, size_t size, struct assay_err *err);

#endif
