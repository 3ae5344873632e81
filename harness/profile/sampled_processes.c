/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process has its own files mapped and its own unwinder, made with its first sample. An address stands for the
 * same frames as long as the process runs one program, so that its debug information is asked once.
 */
#include "profile/sampled_processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/monotonic.h"
#include "profile/unwind.h"

#define MOST_INLINED  32
#define CACHE_BITS    14
#define LOOK_AGAIN_NS 20000000u /* after which maps are read again, where code was mapped meanwhile */

struct mapping {
	uint64_t start, bytes, file_offset;
	char *path;
};

struct known_address {
	uint64_t address; /* 0: none */
	bool leaf, named;
	uint32_t n, frames[MOST_INLINED]; /* outermost first */
};

struct assay_sampled_process {
	pid_t pid;
	struct mapping *maps;
	size_t n_maps, n_reported; /* known to @places */
	uint64_t looked_ns;        /* when its maps were read */
	struct assay_code_places *places;
	struct assay_unwinder *unwinder;
	struct known_address *known; /* 1 << CACHE_BITS */
};

static void no_memory(struct assay_sampled_processes *p)
{
	if (!p->err.code)
		assay_err_set(&p->err, ASSAY_ENOMEM, "out of memory for the samples of a profile");
}

static void forget_program(struct assay_sampled_process *k)
{
	assay_unwinder_close(k->unwinder);
	assay_code_places_close(k->places);
	for (size_t i = 0; i < k->n_maps; i++)
		free(k->maps[i].path);
	free(k->maps);
	free(k->known);
	*k = (struct assay_sampled_process){ .pid = k->pid };
}

static struct assay_sampled_process *find(const struct assay_sampled_processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i]->pid == pid)
			return p->v[i];
	return NULL;
}

static struct assay_sampled_process *process_of(struct assay_sampled_processes *p, pid_t pid)
{
	struct assay_sampled_process *k = find(p, pid);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k || assay_grow(&p->v, p->n, sizeof(struct assay_sampled_process *))) {
		free(k);
		no_memory(p);
		return NULL;
	}
	k->pid = pid;
	p->v[p->n++] = k;
	return k;
}

static void add_mapping(struct assay_sampled_processes *p, pid_t pid, const struct mapping *m)
{
	struct assay_sampled_process *k = process_of(p, pid);
	char *path = strdup(m->path);

	for (size_t i = 0; k && path && i < k->n_maps; i++)
		if (k->maps[i].start == m->start && !strcmp(k->maps[i].path, m->path)) {
			free(path);
			return;
		}
	if (!k || !path || assay_grow(&k->maps, k->n_maps, sizeof(*k->maps))) {
		free(path);
		no_memory(p);
		return;
	}
	k->maps[k->n_maps] = *m;
	k->maps[k->n_maps++].path = path;
}

void assay_sampled_mapped(struct assay_sampled_processes *p, pid_t pid, const char *path, uint64_t start,
			  uint64_t bytes, uint64_t file_offset)
{
	add_mapping(p, pid, &(struct mapping){ start, bytes, file_offset, (char *)path });
}

void assay_sampled_executed(struct assay_sampled_processes *p, pid_t pid)
{
	struct assay_sampled_process *k = process_of(p, pid);

	if (k)
		forget_program(k);
}

void assay_sampled_forked(struct assay_sampled_processes *p, pid_t parent, pid_t child)
{
	const struct assay_sampled_process *from = find(p, parent);

	for (size_t i = 0; from && i < from->n_maps; i++)
		add_mapping(p, child, &from->maps[i]);
}

void assay_sampled_look(struct assay_sampled_processes *p, pid_t pid)
{
	char path[64], *text = NULL, *next;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (assay_file_read(path, &text, &len, NULL))
		return;
	for (char *line = text; line && *line; line = next) {
		uint64_t start, end, offset;
		char mode[5];
		int at = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, mode, &offset,
			   &at) >= 4 &&
		    mode[2] == 'x' && at && line[at] == '/')
			add_mapping(p, pid, &(struct mapping){ start, end - start, offset, line + at });
	}
	free(text);
}

/* Ready to unwind; false where nothing is mapped that could be. */
static bool ready(struct assay_sampled_processes *p, struct assay_sampled_process *k)
{
	if (!k->known)
		k->known = calloc((size_t)1 << CACHE_BITS, sizeof(*k->known));
	if (!k->places && assay_code_places_open_empty(&k->places, NULL))
		k->places = NULL;
	if (!k->places || !k->known) {
		no_memory(p);
		return false;
	}
	for (; k->n_reported < k->n_maps; k->n_reported++) {
		const struct mapping *m = &k->maps[k->n_reported];

		assay_code_places_map(k->places, m->path, m->start, m->file_offset);
	}
	if (!k->unwinder && assay_unwinder_open(&k->unwinder, k->places, k->pid, NULL))
		k->unwinder = NULL;
	return k->unwinder != NULL;
}

/* ---- frames ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct mapping *mapping_at(const struct assay_sampled_process *k, uint64_t address)
{
	for (size_t i = k->n_maps; i-- > 0;)
		if (address - k->maps[i].start < k->maps[i].bytes)
			return &k->maps[i];
	return NULL;
}

static const char *object_at(const struct assay_sampled_process *k, uint64_t address)
{
	const struct mapping *m = mapping_at(k, address);

	return m ? file_name(m->path) : "";
}

static void look_up(struct assay_sampled_processes *p, struct assay_sampled_process *k, uint64_t address, bool leaf,
		    struct known_address *out)
{
	struct assay_code_place places[MOST_INLINED] = { { "", "", "", 0 } };
	uint64_t offset = address;
	size_t n = k->places ? assay_code_places_inlined(k->places, address, places, MOST_INLINED, &offset) : 1;

	*out = (struct known_address){ .address = address, .leaf = leaf, .named = n && places[0].function[0] };
	for (size_t i = n; i-- > 0;) {
		const char *object = file_name(places[n - 1].object);
		const struct assay_frame f = { .kind = i + 1 < n ? ASSAY_FRAME_INLINED : ASSAY_FRAME_CODE,
					       .name = places[i].function,
					       .object = object[0] ? object : object_at(k, address),
					       .file = places[i].file,
					       .line = places[i].line,
					       .offset = leaf && !i ? offset : 0 };

		if (assay_stack_table_frame(p->table, &f, &out->frames[out->n++], &p->err))
			return;
	}
}

static const struct known_address *known(struct assay_sampled_processes *p, struct assay_sampled_process *k,
					 uint64_t address, bool leaf)
{
	struct known_address *a = &k->known[address * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)];

	if (a->address != address || a->leaf != leaf)
		look_up(p, k, address, leaf, a);
	return a;
}

/* Nobody told of this code: it was mapped before, or by a process that timers sample. */
static void look_for(struct assay_sampled_processes *p, struct assay_sampled_process *k, uint64_t address)
{
	const uint64_t now = assay_monotonic_ns();

	if (mapping_at(k, address) || (k->looked_ns && now - k->looked_ns < LOOK_AGAIN_NS))
		return;
	k->looked_ns = now;
	assay_sampled_look(p, k->pid);
}

struct assay_sampled_stack assay_sampled_frames(struct assay_sampled_processes *p, const struct assay_cpu_sample *s,
						uint32_t *frames, uint32_t *n, uint32_t most)
{
	struct assay_sampled_process *k = process_of(p, s->pid);
	struct assay_sampled_stack out = { .end = ASSAY_STACK_LOST };
	uint64_t addresses[ASSAY_STACK_MAX] = { s->ip };
	size_t n_addresses = 1;

	if (!k)
		return out;
	look_for(p, k, s->ip);
	if (ready(p, k) && s->sp)
		n_addresses = assay_unwind(k->unwinder, s, addresses, &out.end, &out.wanted);
	for (size_t i = n_addresses; i-- > 0 && k->known;) {
		const struct known_address *a = known(p, k, addresses[i], !i);

		for (uint32_t f = 0; f < a->n && *n < most; f++)
			frames[(*n)++] = a->frames[f];
		out.named = a->named;
	}
	return out;
}

pid_t assay_sampled_pid(const struct assay_sampled_processes *p, size_t i)
{
	return p->v[i]->pid;
}

void assay_sampled_processes_release(struct assay_sampled_processes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		forget_program(p->v[i]);
		free(p->v[i]);
	}
	free(p->v);
	*p = (struct assay_sampled_processes){ .table = p->table };
}
