/* SPDX-License-Identifier: Apache-2.0 */
/* What a child writes, read from a pipe without ever waiting for it. */
#ifndef ASSAY_BASE_PIPE_READER_H
#define ASSAY_BASE_PIPE_READER_H

#include "base/text.h"

struct assay_pipe {
	int read_fd, write_fd; /* -1: closed. The child gets the second */
	struct assay_text text;
	size_t most;       /* bytes that are kept */
	uint64_t left_out; /* bytes behind them */
};

/* Keep up to @most bytes. ASSAY_EIO. Release it in any case. */
int assay_pipe_open(struct assay_pipe *p, size_t most, struct assay_err *err);
/* Call this once the child has its end; otherwise the end of the pipe would never be seen. */
void assay_pipe_started(struct assay_pipe *p);
/*
 * Take what is there, but no more than a few megabytes at once, because a child may write faster than this reads.
 * Returns the number of bytes taken. At its end the pipe is closed.
 */
size_t assay_pipe_drain(struct assay_pipe *p);
void assay_pipe_release(struct assay_pipe *p);

/* The last line with something in it, cut to @size, to quote in a message; "" where there is none. */
void assay_text_last_line(const struct assay_text *t, char *out, size_t size);

#endif
