/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that are right and lie to the controller in the page that it shares with their worker. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "side.h"
#include "page_finder.h"
#include "worker/protocol.h"

typedef void (*spoil_fn)(struct assay_worker_reply *reply);

/* The controller sees `page`; the worker sees `mine`, which lies where the page lay before. */
static struct assay_page *page, *mine;
static size_t page_bytes;
static spoil_fn spoil;

static void give(struct assay_page *p, enum assay_turn to)
{
	atomic_store(&p->turn, (uint32_t)to);
	syscall(SYS_futex, &p->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *between(void *arg)
{
	(void)arg;
	for (;;) {
		while (atomic_load(&mine->turn) != ASSAY_TURN_CONTROLLER)
			usleep(50);
		page->reply = mine->reply;
		spoil(&page->reply);
		give(page, ASSAY_TURN_CONTROLLER);
		while (atomic_load(&page->turn) != ASSAY_TURN_WORKER)
			usleep(50);
		mine->order = page->order;
		give(mine, ASSAY_TURN_WORKER);
	}
	return NULL;
}

/* Put memory of this process in the place of the page, so that every answer of the worker comes by here. */
static int come_between(struct assay_job *job, spoil_fn how)
{
	pthread_t thread;
	void *there;

	if (spoil)
		return side_scale(job);
	spoil = how;
	mine = find_shared("assay-page", &page_bytes);
	if (!mine)
		return job->host->fail(job, "there is no page");
	there = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page = mremap(mine, page_bytes, page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there);
	if (page == MAP_FAILED || mmap(mine, page_bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (void *)mine)
		return job->host->fail(job, "cannot take the page away: %s", strerror(errno));
	memcpy(mine, page, sizeof(*mine));
	if (pthread_create(&thread, NULL, between, NULL))
		return job->host->fail(job, "cannot start a thread");
	return side_scale(job);
}

static void spoil_status(struct assay_worker_reply *r)
{
	r->status = 77;
}

static int status_run(struct assay_job *job)
{
	return come_between(job, spoil_status);
}

static void spoil_n_counts(struct assay_worker_reply *r)
{
	r->n_counts = UINT32_MAX;
}

static int n_counts_run(struct assay_job *job)
{
	return come_between(job, spoil_n_counts);
}

static void spoil_n_samples(struct assay_worker_reply *r)
{
	r->n_samples = 1u << 30;
}

static int n_samples_run(struct assay_job *job)
{
	return come_between(job, spoil_n_samples);
}

static void spoil_samples(struct assay_worker_reply *r)
{
	for (uint32_t i = 0; i < r->n_samples; i++)
		r->samples[i].ns = UINT64_MAX;
}

static int samples_run(struct assay_job *job)
{
	return come_between(job, spoil_samples);
}

/* Answer before the worker does. */
static int forged_run(struct assay_job *job)
{
	page = find_shared("assay-page", &page_bytes);
	if (!page)
		return job->host->fail(job, "there is no page");
	page->reply.status = ASSAY_STATUS_OK;
	give(page, ASSAY_TURN_CONTROLLER);
	sleep(5); /* until the controller has looked */
	return side_scale(job);
}

/* Take the page away under the controller's feet. */
static int resize_run(struct assay_job *job)
{
	char path[80];
	int fd;

	page = find_shared("assay-page", &page_bytes);
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)page,
		 (unsigned long)page + page_bytes);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return job->host->fail(job, "cannot open the page: %s", strerror(errno));
	if (!ftruncate(fd, 0)) {
		sleep(5); /* until the controller looks */
		return 0;
	}
	return job->host->fail(job, "cannot shrink the page: %s", strerror(errno));
}

/* Random bytes at random places, for as long as the process lives; the word that tells whose turn it is stays. */
static void *scribble(void *arg)
{
	const size_t first = offsetof(struct assay_page, phase), n = sizeof(*page) - first;
	uint64_t state = (uint64_t)time(NULL) | 1;

	for (;;) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		((volatile unsigned char *)arg)[first + state % (state >> 63 ? n : 1200)] =
			(unsigned char)(state >> 40);
	}
	return NULL;
}

static int scribble_run(struct assay_job *job)
{
	pthread_t thread;

	if (page)
		return side_scale(job);
	page = find_shared("assay-page", &page_bytes);
	if (!page || pthread_create(&thread, NULL, scribble, page))
		return job->host->fail(job, "cannot write into the page");
	return side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE_THREADS("resize", NULL, resize_run),     SCALE_THREADS("status", NULL, status_run),
	SCALE_THREADS("n_counts", NULL, n_counts_run), SCALE_THREADS("n_samples", NULL, n_samples_run),
	SCALE_THREADS("samples", NULL, samples_run),   SCALE_THREADS("forged", NULL, forged_run),
	SCALE_THREADS("scribble", NULL, scribble_run),
};

SIDE_PLUGIN("hostile-page", variants);
