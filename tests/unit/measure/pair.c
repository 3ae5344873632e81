/* SPDX-License-Identifier: Apache-2.0 */
/* Process pairs: what their sides have in common, what they learn, and who is called wrong. */
#include "pair_world.h"

#include "counters/preloaded.h"

#include <sys/types.h>
#include <unistd.h>

/* Both sides map the same tensors, as long as both are right with it; who is wrong is told by memory of its own. */
TEST(tensors_are_common)
{
	static const struct {
		const char *side[2];
		enum assay_status status[2];
		bool own_memory;
	} rows[] = {
		{ { "compare_base", "compare_keeps" }, { ASSAY_STATUS_OK, ASSAY_STATUS_OK }, false },
		{ { "compare_scratch", "compare_scratch" }, { ASSAY_STATUS_OK, ASSAY_STATUS_OK }, true },
		{ { "compare_base", "compare_spoils" }, { ASSAY_STATUS_OK, ASSAY_STATUS_WRONG }, true },
		{ { "compare_spoils", "compare_base" }, { ASSAY_STATUS_WRONG, ASSAY_STATUS_OK }, true },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_pair_lessons lessons = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, rows[i].side, &m);
		o = options_of(*state, &m);
		take_pair(&o, &lessons, &m);
		if (m.pair.side[0].status != rows[i].status[0] || m.pair.side[1].status != rows[i].status[1] ||
		    lessons.own_memory != rows[i].own_memory)
			fail_msg("row %zu: '%s', '%s', own memory %d", i, m.pair.side[0].reason, m.pair.side[1].reason,
				 lessons.own_memory);
		release(&m);
	}
}

/* Pairs behind the first leave out checks; that common inputs were changed, and by whom, is told all the same. */
TEST(spoiled_inputs_are_told_later)
{
	static const char *const rows[2][2] = { { "compare_spoils", "compare_base" },
						{ "compare_base", "compare_spoils" } };

	for (int bad = 0; bad < 2; bad++) {
		struct assay_pair_lessons first = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", "compare_base" }, &m);
		o = options_of(*state, &m);
		take_pair(&o, &first, &m);
		assert_ok(&m);
		release(&m);
		plan(*state, rows[bad], &m);
		o = options_of(*state, &m);
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct assay_pair_lessons lessons = first;

			take_pair_as(&o, (struct assay_pair_options){ .pair_seed = seed }, &lessons, &m);
			assert_int_equal(m.pair.side[bad].status, ASSAY_STATUS_WRONG);
			assert_int_equal(m.pair.side[!bad].status, ASSAY_STATUS_OK);
		}
		release(&m);
	}
}

/* A pair learns which output is right, and the oracle is not asked about it again; about other inputs it is. */
TEST(lessons_are_kept)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	struct assay_accepted first;
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	first = lessons.accepted;
	assert_true(first.digest[0][0] && first.max_rel_err[0] == -1);
	assert_true(first.digest[1][0] && strcmp(first.digest[0], first.digest[1])); /* of the audit */
	/* an error that no oracle found comes back only if none is asked */
	lessons.accepted.max_rel_err[0] = 0.125;
	take_pair(&o, &lessons, &m);
	assert_true(m.pair.side[0].max_rel_err == 0.125 && m.pair.side[1].max_rel_err == 0.125);
	o.seed = 43;
	take_pair(&o, &lessons, &m);
	assert_true(m.pair.side[0].max_rel_err == -1 && m.pair.side[1].max_rel_err == -1);
	assert_string_not_equal(first.digest[0], lessons.accepted.digest[0]);
	release(&m);
}

/* Code that is the same is checked on both sides, and timed only where that is wanted. */
TEST(the_same_code_takes_no_samples)
{
	static const struct {
		const char *head;
		bool changed_only, samples;
	} rows[] = {
		{ "compare_base", true, false },
		{ "compare_base", false, true },
		{ "compare_slower", true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct assay_pair_lessons lessons = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", rows[i].head }, &m);
		o = options_of(*state, &m);
		take_pair_as(&o, (struct assay_pair_options){ .changed_only = rows[i].changed_only }, &lessons, &m);
		for (int side = 0; side < 2; side++) {
			assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
			assert_true(m.pair.side[side].digest[0] != '\0');
			assert_true(side_value(&m.pair.side[side], "op_bytes") > 0);
		}
		assert_int_equal(m.pair.n_blocks > 0, rows[i].samples);
		release(&m);
	}
}

/* Where the part of the file begins that the sides share out; tensors end far before. */
#define OWN_PARTS ((off_t)1 << 42)

/* What another case left in the file. */
static void soil(const struct assay_kept_memory *kept)
{
	const off_t page = sysconf(_SC_PAGESIZE), begin = (off_t)sizeof(*kept->shared) + page - 1;
	unsigned char junk[4096];
	size_t n = 0;

	assert_true(page % (off_t)sizeof(junk) == 0);
	memset(junk, 0x5A, sizeof(junk));
	/* from the start of a page on, so that no write reaches into a hole */
	for (off_t at = lseek(kept->fd, begin - begin % page, SEEK_DATA); at >= 0;
	     at = lseek(kept->fd, at + (off_t)sizeof(junk), SEEK_DATA), n++)
		assert_true(pwrite(kept->fd, junk, sizeof(junk), at) == (ssize_t)sizeof(junk));
	assert_true(n > 0);
}

/* Bytes that the file has from @from on, and before @to. */
static off_t bytes_between(const struct assay_kept_memory *kept, off_t from, off_t to)
{
	off_t sum = 0, end;

	for (off_t at = lseek(kept->fd, from, SEEK_DATA); at >= 0 && at < to; at = lseek(kept->fd, end, SEEK_DATA)) {
		end = lseek(kept->fd, at, SEEK_HOLE);
		sum += (end < to ? end : to) - at;
	}
	return sum;
}

/* Pairs that use the same memory one after the other give what others give, whatever the one before left there. */
TEST(memory_is_kept)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_kept_memory kept = { 0 };
	struct assay_measure_options o;
	struct assay_pair_shared *shared;
	char digest[ASSAY_DIGEST_LEN + 1];
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	memcpy(digest, m.pair.side[0].digest, sizeof(digest));
	take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &lessons, &m);
	shared = kept.shared;
	assert_non_null(shared);
	soil(&kept);
	take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &lessons, &m);
	assert_ptr_equal(kept.shared, shared);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
		assert_string_equal(m.pair.side[side].digest, digest);
	}
	assay_kept_memory_release(&kept);
	assert_null(kept.shared);
	release(&m);
}

/*
 * What variants prepare of the size of huge pages lies in the kept file, too: apart for the two sides, and zero
 * whatever was there. The pairs after the first use it again.
 */
TEST(prepared_memory_is_kept)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_kept_memory kept = { 0 };
	struct assay_measure_options o;
	struct measured m;
	off_t had = 0, has;

	plan(*state, (const char *const[2]){ "compare_hoards", "compare_hoards" }, &m);
	m.facts.copies = 3;
	o = options_of(*state, &m);
	for (int i = 0; i < 3; i++) {
		take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &lessons, &m);
		assert_ok(&m);
		assert_false(lessons.own_memory);
		has = bytes_between(&kept, OWN_PARTS, 2 * OWN_PARTS);
		assert_true(has >= 2 * 3 * (3 << 20));
		assert_true(!i || has == had);
		had = has;
		soil(&kept);
	}
	assay_kept_memory_release(&kept);
	release(&m);
}

/*
 * A fill that leaves more than tensors behind has to be done by each side and for each copy, on zeros: common memory
 * may have anything there.
 */
TEST(a_fill_with_state)
{
	for (uint64_t copies = 1; copies <= 3; copies += 2) {
		struct assay_pair_lessons lessons = { 0 };
		struct assay_kept_memory kept = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan_of(*state, "stateful.triple", (const char *const[2]){ "compare_state", "compare_state" }, &m);
		m.facts.copies = copies;
		o = options_of(*state, &m);
		for (int i = 0; i < 2; i++) {
			take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &lessons, &m);
			assert_ok(&m);
			assert_false(lessons.own_memory);
			/* the oracle was not asked about what it accepted: forget that */
			lessons.accepted = (struct assay_accepted){ 0 };
			soil(&kept);
		}
		assay_kept_memory_release(&kept);
		release(&m);
	}
}

/* A control does what it says: whole iterations of the head that are as much of its work as was asked for. */
TEST(injected_work_is_as_asked)
{
	static const struct {
		double frac;
		uint64_t iterations, of, extra;
	} rows[] = { { 0.8, 1, 5, 4 }, { 0.25, 3, 4, 1 }, { 1.5, 1, 2, 3 }, { 0.5, 2, 2, 1 } };

	if (ASSAY_SANITIZED_HEAP) /* so slow calls are stretched by time instead */
		skip();
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", "compare_base" }, &m);
		o = options_of(*state, &m);
		/* a sample that was disturbed takes too long for more work */
		for (int k = 0; k < 20 && !m.pair.extra_iterations[ASSAY_HEAD]; k++)
			take_pair_as(&o,
				     (struct assay_pair_options){ .iterations = rows[i].iterations,
								  .injected_frac = rows[i].frac },
				     &(struct assay_pair_lessons){ 0 }, &m);
		assert_ok(&m);
		assert_int_equal(m.pair.iterations, rows[i].of);
		assert_int_equal(m.pair.extra_iterations[ASSAY_HEAD], rows[i].extra);
		assert_int_equal(m.pair.extra_iterations[ASSAY_BASE], 0);
		release(&m);
	}
}

/* What is wrong once, and right when it is tried again, was wrong. */
TEST(wrong_once_is_wrong)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	char path[] = "/tmp/assay-once-XXXXXX";
	struct measured m;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	setenv("ASSAY_TEST_ONCE", path, 1);
	plan(*state, (const char *const[2]){ "compare_base", "compare_once" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	assert_int_equal(m.pair.side[ASSAY_BASE].status, ASSAY_STATUS_OK);
	assert_int_equal(m.pair.side[ASSAY_HEAD].status, ASSAY_STATUS_WRONG);
	assert_false(lessons.own_memory);
	release(&m);
	unsetenv("ASSAY_TEST_ONCE");
	unlink(path);
}

MEASURE_GROUP
