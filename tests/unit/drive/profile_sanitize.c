/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles without paths and names: what is cut, and what stays. */
#include <string.h>
#include <unistd.h>

#include "drive/profile/kinds.h"
#include "unit.h"

TEST(paths_and_names_are_cut)
{
	static const struct {
		const char *text;
		bool command;
		const char *want;
	} cases[] = {
		{ "/home/me/x/server --port 80", true, "server --port 80" },
		{ "./bin/run --config=/etc/a/b.conf '../in dir/f'", true, "run --config=b.conf 'in f'" },
		{ "run data/set.bin /tmp/", true, "run set.bin tmp/" },
		{ "build/plugins/a.so:lib/b.so", true, "a.so:b.so" },
		{ "quantize.q8_0/ref/n=4/t=1/warm", false, "quantize.q8_0/ref/n=4/t=1/warm" },
		{ "quantize.q8_0/ref", false, "quantize.q8_0/ref" },
		{ "there is no '/opt/cuda/lib/libcupti.so'", false, "there is no 'libcupti.so'" },
		{ "operator/", false, "operator/" },
		{ "~/x/y", false, "y" },
		{ "ssh box7 -l alice2", true, "ssh HOST -l USER" },
		{ "box7 box78 abox7 box7.local box7_x", false, "HOST box78 abox7 HOST.local box7_x" },
		{ "process: alice2", false, "process: USER" },
		{ "", true, "" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s", cases[i].text);
		assay_text_sanitize(text, sizeof(text), cases[i].command, "box7", "alice2");
		assert_string_equal(text, cases[i].want);
	}
}

/* HOST is longer than "box", and no text grows beyond its room. */
TEST(texts_stay_in_their_room)
{
	char text[12] = "box box box", same[12] = "box box box";

	assay_text_sanitize(text, sizeof(text), false, "box", "");
	assert_true(strlen(text) < sizeof(text));
	assert_string_equal(text, "HOST HOST b");
	/* names of a letter or two are words of everything */
	assay_text_sanitize(same, sizeof(same), false, "b", "bo");
	assert_string_equal(same, "box box box");
}

TEST(all_texts_of_a_profile)
{
	struct assay_profile p = { .what = "/a/b/prog", .source = "CUPTI of /opt/x", .machine = { .label = "CPU" } };
	char host[200] = "", object[256], want[256];
	uint32_t at;
	size_t name;

	gethostname(host, sizeof(host) - 1);
	snprintf(object, sizeof(object), "/lib/%s/libx.so", host);
	snprintf(want, sizeof(want), "%s", "libx.so");
	assert_int_equal(assay_stack_table_frame(
				 &p.stacks,
				 &(struct assay_frame){ .name = "f", .object = object, .file = "/src/f.c", .line = 3 },
				 &at, NULL),
			 0);
	/* what the file of a trace has of its own */
	assert_int_equal(assay_trace_name(&p.trace, object, &name, NULL), 0);
	assert_int_equal(assay_trace_add_track(&p.trace,
					       &(struct assay_trace_track){ .name = "/opt/t", .device = "/d/g" }, NULL),
			 0);
	p.threads = calloc(1, sizeof(*p.threads));
	assert_non_null(p.threads);
	p.n_threads = 1;
	snprintf(p.threads[0].name, sizeof(p.threads[0].name), "/usr/bin/x");
	assert_int_equal(assay_profile_sanitize(&p, NULL), 0);
	assert_string_equal(p.what, "prog");
	assert_string_equal(p.source, "CUPTI of x");
	assert_string_equal(p.machine.label, "CPU");
	assert_string_equal(p.threads[0].name, "x");
	assert_string_equal(p.stacks.frames[0].object, want);
	assert_string_equal(p.stacks.frames[0].file, "f.c");
	assert_string_equal(p.stacks.frames[0].name, "f");
	assert_string_equal(p.trace.names[0], want);
	assert_string_equal(p.trace.tracks[0].name, "t");
	assert_string_equal(p.trace.tracks[0].device, "g");
	assay_profile_release(&p);
}

UNIT_GROUP(NULL, NULL)
