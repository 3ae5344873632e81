/* SPDX-License-Identifier: Apache-2.0 */
/* Files of models: what is found in sound ones, and what hostile ones are refused for. */
#include "unit.h"

#include <unistd.h>

#include "gguf/gguf.h"

/* ---- a file, byte by byte ---- */

static uint8_t file[1 << 16];
static size_t len;

static void put(const void *data, size_t n)
{
	assert_true(len + n <= sizeof(file));
	memcpy(file + len, data, n);
	len += n;
}

static void u32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void u64(uint64_t v)
{
	put(&v, sizeof(v));
}

static void text(const char *s)
{
	u64(strlen(s));
	put(s, strlen(s));
}

static void header(uint64_t n_tensors, uint64_t n_values)
{
	len = 0;
	put("GGUF", 4);
	u32(3);
	u64(n_tensors);
	u64(n_values);
}

static void value_u32(const char *key, uint32_t v)
{
	text(key);
	u32(ASSAY_GGUF_U32);
	u32(v);
}

static void array(const char *key, uint32_t kind, uint64_t n)
{
	text(key);
	u32(ASSAY_GGUF_ARRAY);
	u32(kind);
	u64(n);
}

static void tensor(const char *name, uint32_t type, uint64_t rows, uint64_t cols, uint64_t offset)
{
	text(name);
	u32(2);
	u64(cols);
	u64(rows);
	u32(type);
	u64(offset);
}

static void pad(size_t to)
{
	static const uint8_t zero[256];

	put(zero, (to - len % to) % to);
}

static void sound(void)
{
	header(2, 6);
	value_u32("general.alignment", 64);
	text("general.architecture");
	u32(ASSAY_GGUF_STRING);
	text("llama");
	array("words", ASSAY_GGUF_STRING, 3);
	text("a");
	text("");
	text("bcd");
	array("numbers", ASSAY_GGUF_I16, 2);
	put((const int16_t[]){ -2, 300 }, 4);
	text("yes");
	u32(ASSAY_GGUF_BOOL);
	put("\1", 1);
	text("eps");
	u32(ASSAY_GGUF_F32);
	put(&(float){ 0.5f }, 4);
	tensor("a.weight", 0, 2, 3, 0);
	tensor("b.weight", 8, 1, 32, 64);
	pad(64);
	put((const float[]){ 1, 2, 3, 4, 5, 6 }, 24);
	pad(64);
	put(file, 34);
}

/* ---- sound files ---- */

TEST(values_and_tensors_are_found_by_name)
{
	const struct assay_gguf_value *v;
	struct assay_gguf_string s = { 0 };
	struct assay_reason why = { "" };
	struct assay_gguf g;
	const uint8_t *at;
	int64_t whole = 0;
	double number = 0;
	bool yes = false;

	sound();
	assert_int_equal(assay_gguf_parse(&g, file, len, &why), 0);
	assert_int_equal(g.n_values, 6);
	assert_int_equal(g.n_tensors, 2);
	assert_int_equal(assay_gguf_int(&g, "general.alignment", &whole, &why), 0);
	assert_int_equal(whole, 64);
	assert_int_equal(assay_gguf_text(&g, "general.architecture", &s, &why), 0);
	assert_true(assay_gguf_string_is(s, "llama"));
	assert_int_equal(assay_gguf_bool(&g, "yes", &yes, &why), 0);
	assert_true(yes);
	assert_int_equal(assay_gguf_float(&g, "eps", &number, &why), 0);
	assert_true(number == 0.5);

	assert_int_equal(assay_gguf_array(&g, "words", ASSAY_GGUF_STRING, &v, &why), 0);
	assert_int_equal(v->n, 3);
	at = v->at;
	assert_true(assay_gguf_string_is(assay_gguf_next_string(&at), "a"));
	assert_true(assay_gguf_string_is(assay_gguf_next_string(&at), ""));
	assert_true(assay_gguf_string_is(assay_gguf_next_string(&at), "bcd"));
	assert_int_equal(assay_gguf_array(&g, "numbers", ASSAY_GGUF_I16, &v, &why), 0);
	assert_int_equal(assay_gguf_whole(v, 0), -2);
	assert_true(assay_gguf_number(v, 1) == 300);

	assert_int_equal(assay_gguf_int(&g, "none", &whole, &why), 1);
	assert_int_equal(assay_gguf_int(&g, "eps", &whole, &why), -1);
	assert_string_equal(why.text, "'eps' is f32, expected a whole number");
	assert_int_equal(assay_gguf_array(&g, "words", ASSAY_GGUF_U8, &v, &why), -1);
	assert_string_equal(why.text, "'words' is an array of string, expected an array of u8");

	assert_null(assay_gguf_tensor(&g, "c.weight"));
	assert_non_null(assay_gguf_tensor(&g, "a.weight"));
	assert_int_equal(assay_gguf_tensor(&g, "a.weight")->dims[1], 2);
	assert_memory_equal(assay_gguf_tensor(&g, "a.weight")->data, ((const float[]){ 1, 2, 3, 4, 5, 6 }), 24);
	assert_string_equal(assay_gguf_tensor(&g, "b.weight")->type->name, "q8_0");
	assert_int_equal(assay_gguf_tensor(&g, "b.weight")->bytes, 34);
	assay_gguf_close(&g);
}

/* Every beginning of a sound file ends within something. */
TEST(a_file_that_is_cut_anywhere_is_refused)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;
	const size_t all = (sound(), len);

	for (size_t n = 0; n < all; n++) {
		/* of its own size, so that sanitizers see a read beyond it */
		uint8_t *copy = malloc(n + !n);

		assert_non_null(copy);
		memcpy(copy, file, n);
		assert_int_equal(assay_gguf_parse(&g, copy, n, &why), -1);
		assert_true(strstr(why.text, "file ends within") || strstr(why.text, "not a GGUF file"));
		free(copy);
	}
}

/* ---- hostile files ---- */

static void not_gguf(void)
{
	header(0, 0);
	file[3] = 'g';
}

static void version_1(void)
{
	header(0, 0);
	file[4] = 1;
}

static void big_endian(void)
{
	header(0, 0);
	file[4] = 0;
	file[7] = 3;
}

static void many_values(void)
{
	header(0, UINT64_MAX);
}

static void many_tensors(void)
{
	header(UINT64_C(1) << 61, 0);
}

static void long_key(void)
{
	header(0, 1);
	u64(UINT64_C(1) << 63);
	put("abcdefghijklmnop", 16);
}

static void unknown_kind(void)
{
	header(0, 1);
	text("k");
	u32(13);
	u32(0);
}

static void nested_array(void)
{
	header(0, 1);
	array("k", ASSAY_GGUF_ARRAY, 1);
	u32(ASSAY_GGUF_U8);
	u64(0);
}

/* 2^62 elements of four bytes are none, modulo 2^64. */
static void array_that_overflows(void)
{
	header(0, 1);
	array("k", ASSAY_GGUF_U32, UINT64_C(1) << 62);
}

static void strings_beyond_the_end(void)
{
	header(0, 1);
	array("k", ASSAY_GGUF_STRING, 2);
	text("a");
	u64(UINT64_MAX);
}

static void bool_of_two(void)
{
	header(0, 1);
	text("k");
	u32(ASSAY_GGUF_BOOL);
	put("\2", 1);
}

static void two_keys(void)
{
	header(0, 2);
	value_u32("k", 1);
	value_u32("k", 1);
}

static void five_dimensions(void)
{
	header(1, 0);
	text("t");
	u32(5);
	pad(256);
}

/* A file made by a function, or one with a single key, or one with these tensors and data (0: 64 bytes). */
struct bad {
	void (*make)(void);
	const char *key;
	uint32_t value;
	struct {
		const char *name;
		uint32_t type;
		uint64_t rows, cols, offset;
	} tensors[2];
	size_t data;
	const char *says;
};

static void make(const struct bad *b)
{
	if (b->make) {
		b->make();
	} else if (b->key) {
		header(0, 1);
		value_u32(b->key, b->value);
	} else {
		header(b->tensors[1].name ? 2 : 1, 0);
		for (size_t i = 0; i < N_OF(b->tensors) && b->tensors[i].name; i++)
			tensor(b->tensors[i].name, b->tensors[i].type, b->tensors[i].rows, b->tensors[i].cols,
			       b->tensors[i].offset);
		pad(32);
		put(file, b->data ? b->data : 64);
	}
}

TEST(hostile_files_are_refused_by_name)
{
	static const struct bad bad[] = {
		{ .make = not_gguf, .says = "it is not a GGUF file" },
		{ .make = version_1, .says = "it is of GGUF version 1, expected 2 or 3" },
		{ .make = big_endian, .says = "it is in big-endian byte order, expected little-endian" },
		{ .make = many_values,
		  .says = "the file ends within its metadata: it has 18446744073709551615 of them and 0 bytes are "
			  "left" },
		{ .make = many_tensors,
		  .says = "the file ends within its list of tensors: it has 2305843009213693952 of them" },
		{ .make = long_key,
		  .says = "the file ends within its metadata: 9223372036854775808 bytes are needed and 16 are left" },
		{ .key = "", .says = "a key has a name of 0 bytes, expected 1 to 65535" },
		{ .key = "a\nb", .says = "the name of a key has the byte 10, expected printable ASCII" },
		{ .make = unknown_kind, .says = "'k' has a value of kind 13, expected one below 13" },
		{ .make = nested_array,
		  .says = "'k' is an array of arrays, expected one of numbers, bools or strings" },
		{ .make = array_that_overflows,
		  .says = "the file ends within 'k': it has 4611686018427387904 elements" },
		{ .make = strings_beyond_the_end,
		  .says = "the file ends within its metadata: 18446744073709551615 bytes are needed" },
		{ .make = bool_of_two, .says = "'k' has a bool that is 2, expected 0 or 1" },
		{ .make = two_keys, .says = "there are two keys 'k'" },
		{ .key = "general.alignment",
		  .value = 48,
		  .says = "'general.alignment' is 48, expected a power of two up to 1048576" },
		{ .key = "general.alignment",
		  .value = 0,
		  .says = "'general.alignment' is 0, expected a power of two up to 1048576" },
		{ .tensors = { { "t", 0, 1, 8, 0 }, { "t", 0, 1, 8, 32 } }, .says = "there are two tensors 't'" },
		{ .tensors = { { "t", 99, 1, 8, 0 } }, .says = "tensor 't' is of the unknown type 99" },
		{ .make = five_dimensions, .says = "tensor 't' has 5 dimensions, expected 1 to 4" },
		{ .tensors = { { "t", 0, 0, 8, 0 } },
		  .says = "tensor 't' has a dimension that is 0, or more than 2^63 values" },
		/* CVE-2026-33298: a product of dimensions that is small modulo 2^64 */
		{ .tensors = { { "t", 0, UINT64_C(1) << 32, UINT64_C(1) << 32, 0 } },
		  .says = "tensor 't' has a dimension that is 0, or more than 2^63 values" },
		/* 2^62 values of four bytes each */
		{ .tensors = { { "t", 0, UINT64_C(1) << 31, UINT64_C(1) << 31, 0 } },
		  .says = "tensor 't' is larger than any file" },
		{ .tensors = { { "t", 8, 2, 16, 0 } },
		  .says = "tensor 't' has rows of 16 values, expected a multiple of 32 for q8_0" },
		{ .tensors = { { "t", 0, 1, 8, UINT64_MAX - 15 } },
		  .says = "tensor 't' begins at 18446744073709551600, expected 0" },
		{ .tensors = { { "t", 0, 1, 8, 0 }, { "u", 0, 1, 8, 0 } },
		  .says = "tensor 'u' begins at 0, expected 32, where the one before it ends" },
		{ .tensors = { { "t", 0, 4, 8, 0 } },
		  .data = 96,
		  .says = "the file ends within tensor 't': it has 128 bytes from" },
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct assay_reason why = { "" };
		struct assay_gguf g;
		uint8_t *copy;

		make(&bad[i]);
		copy = malloc(len);
		assert_non_null(copy);
		memcpy(copy, file, len);
		assert_int_equal(assay_gguf_parse(&g, copy, len, &why), -1);
		if (!strstr(why.text, bad[i].says))
			fail_msg("'%s', expected '%s'", why.text, bad[i].says);
		free(copy);
	}
}

TEST(what_is_no_file_is_refused)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;

	assert_int_equal(assay_gguf_open(&g, "/nowhere/x.gguf", &why), -1);
	assert_string_equal(why.text, "No such file or directory");
	assert_int_equal(assay_gguf_open(&g, "/", &why), -1);
	assert_string_equal(why.text, "it is not a regular file, expected a GGUF file");
}

UNIT_GROUP(NULL, NULL)
