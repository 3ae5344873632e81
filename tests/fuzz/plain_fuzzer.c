/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer where there is no clang, and takes its options: PROGRAM [-seed=N] [-runs=N]
 * [-max_total_time=SECONDS] FOLDER... . Tries every file of the folders, then copies of them that are changed at
 * random. What it tries lies in ./crash-plain meanwhile, so that it is there after a crash.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_MAX ((size_t)1 << 20)

struct seed {
	uint8_t *data;
	size_t size;
};

static struct seed *seeds;
static size_t n_seeds;
static uint64_t state = 1;
static unsigned long tried;
static int current; /* the file of the input that is tried */

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545f4914f6cdd1d) % below;
}

static void read_seed(const char *path)
{
	FILE *f = fopen(path, "r");
	struct seed *s;

	seeds = realloc(seeds, (n_seeds + 1) * sizeof(*seeds));
	FUZZ_CHECK(f && seeds);
	s = &seeds[n_seeds++];
	s->data = malloc(INPUT_MAX);
	FUZZ_CHECK(s->data);
	s->size = fread(s->data, 1, INPUT_MAX, f);
	fclose(f);
}

static void read_seeds(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);

	FUZZ_CHECK(n >= 0);
	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			read_seed(path);
		free(names[i]);
	}
	free(names);
}

/* On the heap and exactly as long as it is, so that a sanitizer sees what reads past its end. */
static void try_input(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	FUZZ_CHECK(copy);
	memcpy(copy, data, size);
	FUZZ_CHECK(pwrite(current, data, size, 0) == (ssize_t)size && !ftruncate(current, (off_t)size));
	LLVMFuzzerTestOneInput(copy, size);
	tried++;
	free(copy);
}

/* Flip bits, write bytes that often matter, cut out, repeat, or take a piece of another seed. */
static size_t change(uint8_t *p, size_t size)
{
	static const uint8_t edges[] = { 0, 1, 0x7f, 0x80, 0xff, '"', '{', '}', '(', '\n', '-', '9' };
	const struct seed *other = &seeds[draw(n_seeds)];
	size_t at = size ? draw(size) : 0, len = size ? 1 + draw(size - at) : 0, from;

	switch (draw(5)) {
	case 0:
		if (size)
			p[at] ^= (uint8_t)(1u << draw(8));
		return size;
	case 1:
		if (size)
			p[at] = edges[draw(sizeof(edges))];
		return size;
	case 2:
		memmove(p + at, p + at + len, size - at - len);
		return size - len;
	case 3:
		if (size + len > INPUT_MAX)
			return size;
		memmove(p + at + len, p + at, size - at);
		return size + len;
	default:
		if (!other->size)
			return size;
		from = draw(other->size);
		len = 1 + draw(other->size - from);
		if (at + len > INPUT_MAX)
			return size;
		memcpy(p + at, other->data + from, len);
		return at + len > size ? at + len : size;
	}
}

int main(int argc, char **argv)
{
	unsigned long runs = 0;
	long seconds = 0;
	uint8_t *input = malloc(INPUT_MAX);
	time_t end;

	FUZZ_CHECK(input);
	for (int i = 1; i < argc; i++) {
		unsigned long long seed;

		if (sscanf(argv[i], "-seed=%llu", &seed) == 1)
			state = seed * 2 + 1;
		else if (sscanf(argv[i], "-runs=%lu", &runs) != 1 &&
			 sscanf(argv[i], "-max_total_time=%ld", &seconds) != 1 && argv[i][0] != '-')
			read_seeds(argv[i]);
	}
	FUZZ_CHECK(n_seeds);
	current = open("crash-plain", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FUZZ_CHECK(current >= 0);

	for (size_t i = 0; i < n_seeds; i++)
		try_input(seeds[i].data, seeds[i].size);
	end = time(NULL) + seconds;
	while (tried < runs || time(NULL) < end) {
		const struct seed *s = &seeds[draw(n_seeds)];
		size_t size = s->size;

		memcpy(input, s->data, size);
		for (uint64_t changes = 1 + draw(4); changes; changes--)
			size = change(input, size);
		try_input(input, size);
	}
	unlink("crash-plain");
	close(current);
	for (size_t i = 0; i < n_seeds; i++)
		free(seeds[i].data);
	free(seeds);
	free(input);
	fprintf(stderr, "Done %lu runs\n", tried);
	return 0;
}
