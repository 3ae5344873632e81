/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a call, told from its first stretch and the outputs that this filled. */
#include "unit.h"

#include "worker/case/step_counts.h"

#define OUTPUT ((uint64_t)1 << 32)
#define INPUT  ((uint64_t)1 << 33)

/* A kernel: @before steps, then tiles of the outputs, each @work steps and then @stores of 16 bytes. */
struct kernel {
	const char *name;
	unsigned before, tiles, work, stores;
	unsigned passes; /* over all outputs */
};

static unsigned steps_of(const struct kernel *k)
{
	return k->before + k->passes * k->tiles * (k->work + k->stores);
}

static void put(struct assay_step_words *w, bool write, uint64_t address)
{
	static const struct assay_step_outcome done = { .instructions = 1 };
	const struct assay_step_accesses acc = {
		.n = 1, .a = { { .address = address, .bytes = 16, .kind = write ? ASSAY_STEP_WRITE : ASSAY_STEP_READ } }
	};

	assert_true(assay_step_words_need(w));
	assay_step_words_end(w, assay_step_words_add(w, 0, &acc), &done);
}

/* The first @n steps of tiles @from, @from + @every, … */
static void write_stretch(const struct kernel *k, unsigned n, unsigned from, unsigned every, struct assay_step_words *w)
{
	unsigned done = 0;

	assay_step_words_mark(w, ASSAY_STEPPER_FORK);
	for (; done < k->before && done < n; done++)
		put(w, false, INPUT + 64 * done);
	for (unsigned pass = 0; pass < k->passes; pass++)
		for (unsigned tile = from; tile < k->tiles; tile += every) {
			for (unsigned i = 0; i < k->work && done < n; i++, done++)
				put(w, false, INPUT + 64 * i);
			for (unsigned i = 0; i < k->stores && done < n; i++, done++)
				put(w, true, OUTPUT + 16 * (tile * k->stores + i));
		}
}

static struct assay_step_outputs outputs_of(const struct kernel *k)
{
	const uint64_t bytes = 16 * k->tiles * k->stores;

	/* two tensors that touch each other */
	return (struct assay_step_outputs){ .v = { { OUTPUT, bytes / 4 }, { OUTPUT + bytes / 4, bytes - bytes / 4 } },
					    .n = 2,
					    .bytes = bytes };
}

/* With every thread a share of the tiles; 0: the outputs tell nothing. */
static double expect(const struct kernel *k, unsigned stretch, unsigned threads)
{
	const struct assay_step_outputs o = outputs_of(k);
	struct assay_step_words words[2];
	struct assay_step_trace traces[2];
	double expected;

	for (unsigned i = 0; i < threads; i++) {
		assert_int_equal(assay_step_words_open(&words[i], 50 + i, NULL), 0);
		write_stretch(k, stretch / threads, i, threads, &words[i]);
		traces[i] = (struct assay_step_trace){ .words = words[i].words, .n = words[i].n };
	}
	expected = assay_step_outputs_expect(&o, traces, threads);
	for (unsigned i = 0; i < threads; i++)
		assay_step_words_close(&words[i]);
	return expected;
}

TEST(outputs_tell_how_far_it_is)
{
	static const struct kernel kernels[] = {
		{ "writes all the time", 0, 4000, 20, 1, 1 },
		{ "reads all before", 40000, 4000, 20, 1, 1 },
		{ "fills tiles in bursts", 0, 100, 900, 16, 1 },
		{ "packs, then fills tiles", 7000, 60, 900, 16, 1 },
		{ "stores alone", 5, 9000, 0, 8, 1 },
	};

	for (size_t i = 0; i < N_OF(kernels); i++)
		for (unsigned threads = 1; threads <= 2; threads++) {
			const struct kernel *k = &kernels[i];
			const double all = steps_of(k) + (threads - 1) * k->before;
			const double expected = expect(k, threads * (k->before + 3000), threads);

			if (!(expected > all / 1.05 && expected < all * 1.05))
				fail_msg("%s, %u threads: %g instead of %g", k->name, threads, expected, all);
		}
}

TEST(outputs_that_tell_nothing_say_so)
{
	static const struct {
		struct kernel k;
		unsigned stretch;
	} cases[] = {
		{ { "nothing is written yet", 5000, 100, 20, 1, 1 }, 3000 },
		{ { "one burst alone", 0, 100, 900, 16, 1 }, 1000 },
		{ { "all is written, and will be again", 0, 10, 20, 1, 50 }, 3000 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const double expected = expect(&cases[i].k, cases[i].stretch, 1);

		if (expected != 0)
			fail_msg("%s: %g", cases[i].k.name, expected);
	}
}

UNIT_GROUP(NULL, NULL)
