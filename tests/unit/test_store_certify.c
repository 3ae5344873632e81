/* SPDX-License-Identifier: Apache-2.0 */
/* Certifications in the store. */
#include "store_comparison_fixture.h"

static void make_certify(struct assay_certify_record *r, const char *machine, uint64_t false_alarms)
{
	struct assay_comparison cmp;

	memset(r, 0, sizeof(*r));
	make_comparison(&cmp, machine);
	r->machine = cmp.machine;
	assay_comparison_release(&cmp);
	r->started_ns = 1700000000000000001u;
	r->ended_ns = 1700000000000000002u;
	r->gates = 1000;
	r->false_alarms = false_alarms;
	r->settings = strdup("{\"alpha\":0.01}");
	r->result = strdup("{\"power\":[{\"slowdown\":0.01,\"detected\":99,\"of\":100}]}");
	assert_true(r->settings && r->result);
}

STORE_TEST(test_certifications)
{
	struct fixture *f = *state;
	struct assay_certify_record r, got;
	struct assay_store *s;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	assert_error(f, assay_store_certify_latest(s, "m1", &got, &f->err), ASSAY_ENOTFOUND,
		     "no certification of this machine");
	for (unsigned i = 0; i < 4; i++) {
		make_certify(&r, i == 3 ? "m2" : "m1", i);
		assert_ok(f, assay_store_certify_add(s, &r, &f->err));
		assert_int_equal(r.id, 1 + i);
		assay_certify_record_release(&r);
	}
	make_certify(&r, "m3", 1001);
	assert_error(f, assay_store_certify_add(s, &r, &f->err), ASSAY_ESTORE, "cannot store certification of 'm3'");
	r.false_alarms = 0;
	free(r.result);
	r.result = NULL;
	assert_error(f, assay_store_certify_add(s, &r, &f->err), ASSAY_ESTORE, "cannot store certification of 'm3'");
	assert_int_equal(r.id, 0);
	assay_certify_record_release(&r);

	assert_ok(f, assay_store_certify_latest(s, "m1", &got, &f->err));
	make_certify(&r, "m1", 2);
	assert_int_equal(got.id, 3);
	same_machine(&got.machine, &r.machine);
	assert_true(got.started_ns == r.started_ns && got.ended_ns == r.ended_ns);
	assert_true(got.gates == 1000 && got.false_alarms == 2);
	assert_string_equal(got.settings, r.settings);
	assert_string_equal(got.result, r.result);
	assay_certify_record_release(&r);
	assay_certify_record_release(&got);

	assert_ok(f, assay_store_certify_latest(s, NULL, &got, &f->err));
	assert_string_equal(got.machine.id, "m2");
	assay_certify_record_release(&got);
	assert_error(f, assay_store_certify_latest(s, "m3", &got, &f->err), ASSAY_ENOTFOUND, "'assay certify'");
	assay_store_close(s);
}

UNIT_MAIN(NULL, NULL)
