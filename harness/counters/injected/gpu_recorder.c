/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object that CUDA's driver loads into a program when the variable CUDA_INJECTION64_PATH names it. It asks CUPTI for
 * the activity of the GPUs and adds it up by kernel. CUPTI is opened at run time: nothing here needs the toolkit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/gpu/records.h"
#include "counters/gpu/cupti_abi.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define INDEX_BITS   14
#define MOST_RECORDS (1u << (INDEX_BITS - 1))
#define SPANS_STEP   UINT64_C(16384) /* that room is made for at a time */

__attribute__((visibility("default"))) int InitializeInjection(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct assay_gpu_header *file; /* NULL: there is none */
static int file_fd = -1;
static uint64_t room_bytes;
static uint32_t by_key[1u << INDEX_BITS]; /* number of a record + 1; 0: none */
static uint32_t n_records;
static struct assay_gpu_spans *spans; /* NULL: no trace is taken */
static int spans_fd = -1;
static uint64_t most_spans, room_spans;

static struct {
	int (*version)(uint32_t *v);
	int (*text)(int result, const char **text);
	int (*callbacks)(cupti_wants_buffer *wants, cupti_gives_buffer *gives);
	int (*enable)(int kind);
	int (*flush)(uint32_t flag);
	int (*next)(uint8_t *buffer, size_t used, void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *n);
	int (*now)(uint64_t *ns); /* for traces alone; NULL: there is none */
} cupti;

static const struct {
	const char *name;
	void *at;
} functions[] = {
	{ "cuptiGetVersion", &cupti.version },
	{ "cuptiGetResultString", &cupti.text },
	{ "cuptiActivityRegisterCallbacks", &cupti.callbacks },
	{ "cuptiActivityEnable", &cupti.enable },
	{ "cuptiActivityFlushAll", &cupti.flush },
	{ "cuptiActivityGetNextRecord", &cupti.next },
	{ "cuptiActivityGetNumDroppedRecords", &cupti.dropped },
};

/* ---- the file ---- */

/* The file of spans beside that of records, @path. Without it, no trace has them. */
static void open_spans(const char *path)
{
	const char *most = getenv(ASSAY_GPU_SPANS);
	char name[4200];
	void *map;

	most_spans = most ? strtoull(most, NULL, 10) : 0;
	if (!most_spans || most_spans > ASSAY_GPU_SPANS_MOST)
		return;
	snprintf(name, sizeof(name), "%sspans", path);
	spans_fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (spans_fd < 0 || posix_fallocate(spans_fd, 0, sizeof(*spans)))
		return;
	map = mmap(NULL, sizeof(*spans) + most_spans * sizeof(spans->v[0]), PROT_READ | PROT_WRITE, MAP_SHARED,
		   spans_fd, 0);
	if (map == MAP_FAILED)
		return;
	spans = map;
	spans->magic = ASSAY_GPU_RECORDS_MAGIC;
}

static void add_span(uint64_t record, uint64_t begin_ns, uint64_t end_ns)
{
	if (!spans || end_ns < begin_ns)
		return;
	if (spans->n == room_spans && room_spans < most_spans) {
		const uint64_t more = most_spans - room_spans < SPANS_STEP ? most_spans - room_spans : SPANS_STEP;

		if (!posix_fallocate(spans_fd, 0, (off_t)(sizeof(*spans) + (room_spans + more) * sizeof(spans->v[0]))))
			room_spans += more;
	}
	if (spans->n == room_spans) {
		spans->lost++;
		return;
	}
	spans->v[spans->n] = (struct assay_gpu_span){ begin_ns, end_ns, record };
	__atomic_store_n(&spans->n, spans->n + 1, __ATOMIC_RELEASE);
}

static bool open_file(void)
{
	const char *dir = getenv(ASSAY_GPU_RECORDS_FOLDER);
	struct assay_gpu_header *h;
	char path[4096];
	int name;

	for (unsigned i = 0; dir && file_fd < 0 && i < 1000; i++) { /* a process may become another program */
		snprintf(path, sizeof(path), "%s/%d.%u" ASSAY_GPU_RECORDS_ENDING, dir, (int)getpid(), i);
		file_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (file_fd < 0 && errno != EEXIST)
			break;
	}
	if (file_fd < 0 || posix_fallocate(file_fd, 0, sizeof(*h)))
		return false;
	h = mmap(NULL, ASSAY_GPU_RECORDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file_fd, 0);
	if (h == MAP_FAILED)
		return false;
	room_bytes = sizeof(*h);
	h->used = sizeof(*h);
	h->bytes = sizeof(struct assay_gpu_record);
	h->pid = getpid();
	name = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	if (name >= 0) {
		ssize_t n = read(name, h->name, sizeof(h->name) - 1);

		h->name[n > 0 ? n - 1 : 0] = '\0'; /* without the newline */
		close(name);
	}
	h->magic = ASSAY_GPU_RECORDS_MAGIC;
	file = h;
	open_spans(path);
	return true;
}

static struct assay_gpu_record *record_at(uint32_t i)
{
	return (struct assay_gpu_record *)(void *)(file + 1) + i;
}

/* The record of @key; NULL where there is no room for another one, which is counted. */
static struct assay_gpu_record *record_of(const struct assay_gpu_key *key)
{
	const unsigned char *bytes = (const void *)key;
	uint64_t h = 14695981039346656037u;
	struct assay_gpu_record *r;
	size_t i;

	for (size_t k = 0; k < sizeof(*key); k++)
		h = (h ^ bytes[k]) * 1099511628211u;
	for (i = h >> (64 - INDEX_BITS); by_key[i]; i = (i + 1) % (1u << INDEX_BITS))
		if (!memcmp(&record_at(by_key[i] - 1)->key, key, sizeof(*key)))
			return record_at(by_key[i] - 1);
	if (n_records == MOST_RECORDS || file->used + sizeof(*r) > ASSAY_GPU_RECORDS_BYTES ||
	    posix_fallocate(file_fd, 0, (off_t)(file->used + sizeof(*r)))) {
		file->lost++;
		return NULL;
	}
	r = record_at(n_records);
	r->key = *key;
	r->least_ns = UINT64_MAX;
	by_key[i] = ++n_records;
	__atomic_store_n(&file->used, file->used + sizeof(*r), __ATOMIC_RELEASE);
	return r;
}

/* ---- what CUPTI tells ---- */

static void add(const struct assay_gpu_key *key, uint64_t start, uint64_t end, uint64_t bytes)
{
	struct assay_gpu_record *r = record_of(key);
	const uint64_t ns = end > start ? end - start : 0;

	if (!r)
		return;
	r->count++;
	r->ns += ns;
	r->bytes += bytes;
	r->least_ns = ns < r->least_ns ? ns : r->least_ns;
	r->most_ns = ns > r->most_ns ? ns : r->most_ns;
	add_span((uint64_t)(r - record_at(0)), start, end);
}

static void add_kernel(const struct cupti_kernel *k)
{
	struct assay_gpu_key key = { .kind = ASSAY_GPU_KERNEL,
				     .device = k->device,
				     .stream = k->stream,
				     .registers = k->registers,
				     .shared_bytes = (uint32_t)(k->static_shared + k->dynamic_shared),
				     .grid = (uint32_t)(k->grid_x * k->grid_y * k->grid_z),
				     .block = (uint32_t)(k->block_x * k->block_y * k->block_z) };

	snprintf(key.name, sizeof(key.name), "%s", k->name ? k->name : "");
	add(&key, k->start, k->end, 0);
}

static void add_device(const struct cupti_device *d)
{
	struct assay_gpu_key key = { .kind = ASSAY_GPU_DEVICE, .device = d->id };
	struct assay_gpu_record *r;

	snprintf(key.name, sizeof(key.name), "%s", d->name ? d->name : "");
	r = record_of(&key);
	if (!r)
		return;
	r->limits = (struct assay_gpu_limits){ .multiprocessors = d->multiprocessors,
					       .warps = d->warps,
					       .blocks = d->blocks,
					       .shared_bytes = d->shared_bytes,
					       .registers = d->registers,
					       .warp_threads = d->warp_threads,
					       .major = d->major,
					       .minor = d->minor };
	memcpy(r->limits.uuid, d->uuid, sizeof(d->uuid));
}

static void add_record(const void *record)
{
	const struct cupti_copy *c = record;
	const struct cupti_set *s = record;

	switch (c->kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		add_kernel(record);
		break;
	case CUPTI_KIND_MEMCPY:
		add(&(struct assay_gpu_key){ .kind = ASSAY_GPU_COPY,
					     .device = c->device,
					     .stream = c->stream,
					     .copy_kind = c->copy_kind },
		    c->start, c->end, c->bytes);
		break;
	case CUPTI_KIND_MEMSET:
		add(&(struct assay_gpu_key){ .kind = ASSAY_GPU_SET, .device = s->device, .stream = s->stream },
		    s->start, s->end, s->bytes);
		break;
	case CUPTI_KIND_DEVICE:
		add_device(record);
		break;
	default:
		break;
	}
}

static void wants_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

/* Both clocks, as close to each other as two calls are. */
static void look_at_clocks(unsigned which)
{
	struct timespec t;
	uint64_t gpu_ns;

	if (!file || !cupti.now || cupti.now(&gpu_ns) || clock_gettime(CLOCK_MONOTONIC, &t))
		return;
	file->clock[which].gpu_ns = gpu_ns;
	file->clock[which].own_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void gives_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	void *record = NULL;
	size_t dropped = 0;

	(void)size;
	pthread_mutex_lock(&lock);
	while (file && !cupti.next(buffer, used, &record))
		add_record(record);
	if (file && !cupti.dropped(context, stream, &dropped))
		file->lost += dropped;
	look_at_clocks(1);
	pthread_mutex_unlock(&lock);
	free(buffer);
}

/* ---- the beginning and the end ---- */

static void *open_cupti(void)
{
	static const char *const names[] = { CUPTI_LIBRARIES };
	void *dl = NULL;

	for (size_t i = 0; !dl && i < sizeof(names) / sizeof(names[0]); i++)
		dl = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return dl;
}

static bool find_functions(void *dl)
{
	void *now;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(dl, functions[i].name);

		if (!f) {
			snprintf(file->why, sizeof(file->why), "CUPTI has no %s: it is too old", functions[i].name);
			return false;
		}
		memcpy(functions[i].at, &f, sizeof(f));
	}
	now = dlsym(dl, "cuptiGetTimestamp");
	memcpy(&cupti.now, &now, sizeof(now));
	look_at_clocks(0);
	look_at_clocks(1);
	return true;
}

static void refuse(const char *what, int result)
{
	const char *text = NULL;

	if (cupti.text(result, &text) || !text)
		text = "it does not say why";
	snprintf(file->why, sizeof(file->why), "CUPTI cannot %s: %s", what, text);
}

static bool start(void)
{
	static const int kinds[] = { CUPTI_KIND_DEVICE, CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,
				     CUPTI_KIND_MEMSET };
	uint32_t version = 0;
	int rc = cupti.version(&version);

	if (!rc && version < CUPTI_LEAST_VERSION) {
		snprintf(file->why, sizeof(file->why), "CUPTI %u is older than CUDA 10's, which is the first known",
			 version);
		return false;
	}
	if (!rc)
		rc = cupti.callbacks(wants_buffer, gives_buffer);
	for (size_t i = 0; !rc && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		rc = cupti.enable(kinds[i]);
	if (rc)
		refuse("watch kernels", rc);
	else
		file->version = version;
	return !rc;
}

static void finish(void)
{
	if (cupti.flush && file)
		cupti.flush(CUPTI_FLUSH_FORCED);
}

/* Called by the driver when CUDA starts; what it gives is no failure of the program in any case. */
int InitializeInjection(void)
{
	void *dl;

	if (file || !open_file())
		return 1;
	dl = open_cupti();
	if (!dl)
		snprintf(file->why, sizeof(file->why),
			 "there is no libcupti.so, which comes with the CUDA toolkit: LD_LIBRARY_PATH may name its "
			 "folder");
	else if (find_functions(dl) && start())
		atexit(finish);
	return 1;
}
