/* SPDX-License-Identifier: Apache-2.0 */
/* What a host shows between two polls, from files of a made-up host. */
#include "base/file.h"
#include "folder_fixture.h"
#include "machine/environment.h"
#include "model/result.h"
#include "unit.h"

#define STAT      "proc/stat"
#define PRESSURE  "proc/pressure/cpu"
#define FREQUENCY "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq"

static void put(const char *path, const char *text)
{
	char full[256], *slash;

	snprintf(full, sizeof(full), "%s/%s", folder, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(0, assay_file_mkdirs(full, NULL));
	*slash = '/';
	assert_int_equal(0, assay_file_write(full, text, strlen(text), NULL));
}

/* user nice system idle iowait irq softirq steal */
static const char *const before_stat = "cpu  9 0 9 9 0 0 0 5\ncpu0 1 0 1 1 0 0 0 2\ncpu1 1 0 1 1 0 0 0 3\n";

TEST(polls_see_changes)
{
	static const struct {
		const char *name, *path, *text;
		uint32_t flags, ticks;
	} cases[] = {
		{ "nothing", STAT, "cpu  9 0 9 9 0 0 0 5\ncpu0 1 0 1 1 0 0 0 2\ncpu1 9 0 9 9 0 0 0 3\n", 0, 0 },
		{ "steal of another CPU", STAT, "cpu  9 0 9 9 0 0 0 9\ncpu0 1 0 1 1 0 0 0 6\ncpu1 1 0 1 1 0 0 0 3\n", 0,
		  0 },
		{ "steal of ours", STAT, "cpu  9 0 9 9 0 0 0 9\ncpu0 1 0 1 1 0 0 0 2\ncpu1 1 0 1 1 0 0 0 7\n",
		  ASSAY_DISTURB_STEAL, 4 },
		{ "pressure", PRESSURE, "some avg10=0.00 avg60=0.00 avg300=0.00 total=101\n", ASSAY_DISTURB_PRESSURE,
		  0 },
		{ "frequency hunts", FREQUENCY, "2960000\n", 0, 0 },
		{ "frequency drops", FREQUENCY, "2400000\n", ASSAY_DISTURB_FREQUENCY, 0 },
	};
	const int cpus[] = { 1 };

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_disturbance d;
		uint32_t flags, ticks;

		put(STAT, before_stat);
		put(PRESSURE, "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n");
		put(FREQUENCY, "3000000\n");
		assay_disturbance_begin(&d, folder, cpus, 1);
		assert_int_equal(0, assay_disturbance_poll(&d, &ticks));
		put(cases[i].path, cases[i].text);
		flags = assay_disturbance_poll(&d, &ticks);
		if (flags != cases[i].flags || ticks != cases[i].ticks)
			fail_msg("%s: flags %x, ticks %u", cases[i].name, flags, ticks);
		/* what was told once is not told again */
		assert_int_equal(0, assay_disturbance_poll(&d, &ticks));
		assert_int_equal(0, ticks);
	}
}

/* A host that shows nothing is not a disturbed one. */
TEST(hidden_counters_flag_nothing)
{
	const int cpus[] = { 0 };
	struct assay_disturbance d;
	uint32_t ticks;

	assay_disturbance_begin(&d, "/nonexistent", cpus, 1);
	assert_false(d.steal_known || d.quota_known || d.pressure_known || d.frequency_khz);
	assert_int_equal(0, assay_disturbance_poll(&d, &ticks));
}

UNIT_GROUP(folder_make, folder_remove)
