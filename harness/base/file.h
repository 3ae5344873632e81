/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out, and paths relative to the running program. */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* The kind of a file decides how large it may be; its name and the limit appear in messages. */
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
 * Read all of @path; *out is malloc'ed and NUL-terminated after *len bytes. Works for /proc and /sys. The kind and size
 * are checked before anything is read: ASSAY_EUSAGE for pipes and for devices other than /dev/null, ASSAY_ELIMIT for
 * more bytes than its kind may have.
 */
int assay_file_read_as(const char *path, enum assay_file_kind kind, char **out, size_t *len, struct assay_err *err);
/* The same for a file of any kind. */
int assay_file_read(const char *path, char **out, size_t *len, struct assay_err *err);
/*
 * Map all of the plugin @path for reading; @data is NULL for an empty file. The file must not become shorter meanwhile.
 */
int assay_file_map(const char *path, const void **data, size_t *len, struct assay_err *err);
void assay_file_unmap(const void *data, size_t len);
/* First line of a small file without its newline, false when it cannot be read. Never an error: for /proc and /sys. */
bool assay_file_line(const char *path, char *buf, size_t size);
/* Write through a temporary file in the same folder and rename, so that readers see all or nothing. */
int assay_file_write(const char *path, const void *data, size_t len, struct assay_err *err);
/* Would that be possible? If not, ASSAY_EIO with the same message. Nothing stays behind. */
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
/*
 * Block the signals of the terminal and those that ask the program to end; pthread_sigmask() with @old unblocks them.
 */
void assay_file_hold_interrupts(sigset_t *old);
/* mkdir -p. */
int assay_file_mkdirs(const char *path, struct assay_err *err);
bool assay_file_exists(const char *path);
/*
 * The names of the files in @dir that end in @ending, without the ending, in the order of their bytes. ASSAY_ENOTFOUND
 * if there is no such folder, ASSAY_EUSAGE if it cannot be read or something other than a file has such a name.
 */
int assay_file_list(const char *dir, const char *ending, struct assay_strings *out, struct assay_err *err);

/* Folder that holds the running executable, without a trailing slash. */
int assay_file_exe_dir(char *buf, size_t size, struct assay_err *err);

/* ---- temporary ---- */

/*
 * Temporary folders that carry their owner in their name: assay-WHAT-PID-START-XXXXXX, where START is when the process
 * began, so that a later process with the same number is not taken for it. They are in $TMPDIR, or in /tmp.
 */

/* All-zero is none. */
struct assay_temporary {
	char path[PATH_MAX - 64]; /* absolute; short enough for the names of files in it */
	int fd;                   /* holds a lock on the folder for as long as it is used */
};

/* Make a new, empty folder. ASSAY_EUSAGE if none can be made, which the user can remedy. */
int assay_temporary_make(struct assay_temporary *t, const char *what, struct assay_err *err);
/* Does its disk have room for @bytes? If not, ASSAY_EUSAGE with what to do. */
int assay_temporary_room(const struct assay_temporary *t, uint64_t bytes, struct assay_err *err);
/* Remove it with all that is in it. */
void assay_temporary_remove(struct assay_temporary *t);
/* Remove the folders of this user's processes that are gone because they were killed. */
void assay_temporary_sweep(void);

#endif
