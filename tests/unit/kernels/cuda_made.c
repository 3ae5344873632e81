/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs made on the emulated device are the host's bit for bit: all kinds, sizes that end within a unit, planted
 * values included. What the host makes does not move either: digests of it are written down here.
 */
#include "emulated_fixture.h"

#include "assay/inputs.h"

#define GUARD 64

static const struct assay_device_ops *device(void)
{
	const struct mini_plugins *p = mini_plugins();

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i]->n_devices)
			return p->v[i]->devices;
	return NULL;
}

static uint64_t hash(uint64_t h, const unsigned char *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

/* Make tensor @t beside the host's; a digest of both. */
static uint64_t make(const struct mini_case *c, const struct assay_tensor *t, uint64_t h)
{
	struct assay_reason why = { "" };
	unsigned char *mine = NULL;

	assert_int_equal(posix_memalign((void **)&mine, 256, t->bytes + GUARD), 0);
	memset(mine, MINI_POISON, t->bytes + GUARD);
	if (device()->make(NULL, mine, t->bytes, t->spec, c->job.seed, &why))
		fail_msg("'%s' of %s: %s", t->spec->name, c->op->name, why.text);
	for (uint64_t i = 0; i < t->bytes; i++)
		if (mine[i] != ((const unsigned char *)t->data)[i])
			fail_msg("'%s' of %s: byte %llu of %llu differs", t->spec->name, c->op->name,
				 (unsigned long long)i, (unsigned long long)t->bytes);
	for (uint64_t i = 0; i < GUARD; i++)
		assert_int_equal(mine[t->bytes + i], MINI_POISON);
	h = hash(h, mine, t->bytes);
	free(mine);
	return h;
}

/* Of each case: which inputs a device makes, and a digest of what the host has made of all seeds. */
static const struct {
	const char *op, *axes, *made;
	uint64_t digest;
} cases[] = {
	{ "stream.copy", "level=l1", "a ", 0x59678264a81c2a59u },
	{ "stream.triad", "level=l2", "b c ", 0xb1d483aec9fed519u },
	{ "stream.p2p", "bytes=12288", "a ", 0xb4f0f32b8948b6d0u },
	{ "quantize.q8_0", "n=32", "x ", 0xe2a03ddbc9c41a5du },
	{ "quantize.q8_0", "n=4128", "x ", 0x688b8f1a5c352e63u },
	{ "quantize.tq2_0", "n=69888", "x ", 0xf72b0e0e07d770adu },
	{ "quantize.i2_s", "n=128", "x ", 0xd47cbfd8df492ba7u },
	{ "quantize.i2_s", "n=8064", "x ", 0x84a11453b1c9ac0cu },
	{ "quantize.i2_s", "n=69888", "x ", 0x894f6502d6492debu },
	{ "quantize.i8_token", "tokens=1,dim=1", "x ", 0xf1ce4fab2e9fc5c5u },
	{ "quantize.i8_token", "tokens=3,dim=1023", "x ", 0x4bafca6ee6172f64u },
	{ "quantize.i8_token", "tokens=20,dim=1028", "x ", 0x3aab4af8ac00a8f2u },
	{ "dequantize.q8_0", "n=4128", "q ", 0x880f39acfb3dbb59u },
	{ "dequantize.tq2_0", "n=69888", "q ", 0x83270fd76c969a57u },
	{ "dequantize.i2_s", "n=4352", "q ", 0x6bb0850fb076f429u },
	{ "dequantize.i8_token", "tokens=5,dim=31", "q scale ", 0x1a8137780eef508fu },
	{ "dequantize.i8_token", "tokens=21,dim=1028", "q scale ", 0xe5eff362cb0132b3u },
	{ "matmul.ternary", "m=1,k=128,n=1", "w x ", 0x117572a1da9f3061u },
	{ "matmul.ternary", "m=2,k=256,n=2", "w x ", 0x862c96d4c408ed92u },
	{ "matmul.ternary", "m=70,k=640,n=5", "w x ", 0x9beedca58bf5eb11u },
	{ "matmul.f32", "m=7,k=13,n=3", "w x ", 0x71dcfb14e5a7e5bdu },
	{ "generate.prefill", "model=nano,pp=3", "weights embedding ", 0x6c990071afe94bd9u },
};

/* An op that runs on devices alone has no reference. */
static struct mini_case *open_case(const char *op, const char *axes, uint64_t seed)
{
	const char *variant = strcmp(op, "stream.p2p") ? "ref" : "cuda";
	struct mini_case *c = mini_new(op, variant, axes, &(struct mini_options){ .seed = seed });

	mini_fill(c);
	return c;
}

TEST(test_made_is_the_hosts)
{
	static const char *const orders[] = { "first", "last" };

	needs_emulated();
	setenv("EMULATED_DEVICES", "2", 1);
	assert_non_null(device());
	assert_non_null(device()->make);
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t h = 14695981039346656037u;
		char made[64] = "";

		for (uint64_t seed = 1; seed <= 2; seed++) {
			struct mini_case *c = open_case(cases[i].op, cases[i].axes, seed);

			setenv("ASSAY_EMULATOR_ORDER", orders[seed - 1], 1);
			for (uint32_t t = 0; t < c->problem.n_tensors; t++) {
				if (c->problem.tensors[t].filled == ASSAY_FILLED_BY_OP)
					continue;
				assert_int_equal(c->problem.tensors[t].role, ASSAY_INPUT);
				h = make(c, &c->tensors[t], h);
				if (seed == 1) {
					strcat(made, c->problem.tensors[t].name);
					strcat(made, " ");
				}
			}
			mini_free(c);
		}
		assert_string_equal(made, cases[i].made);
		if (h != cases[i].digest)
			fail_msg("%s %s: 0x%llxu", cases[i].op, cases[i].axes, (unsigned long long)h);
	}
}

TEST(test_what_nobody_makes_is_uploaded)
{
	static const uint32_t unknown[] = { ASSAY_FILLED_BY_OP, ASSAY_FILLED_LAST + 1 };
	struct assay_reason why = { "" };
	uint32_t word[4] = { 1, 2, 3, 4 };

	needs_emulated();
	for (size_t i = 0; i < N_OF(unknown); i++) {
		const struct assay_tensor_spec spec = { .rank = 1, .dims = { 4 }, .filled = unknown[i] };

		assert_true(device()->make(NULL, word, sizeof(word), &spec, 1, &why) > 0);
		assert_int_equal(word[0], 1);
	}
}

UNIT_GROUP(use_emulated, NULL)
