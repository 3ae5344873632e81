/* SPDX-License-Identifier: Apache-2.0 */
/* NVML, by a library that stands in its place: a link of its name in a folder that the loader is told of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "counters/provider.h"
#include "machine/nvml.h"
#include "model/catalog.h"
#include "unit.h"

/* The loader reads its path when a program starts: the test begins anew with it. */
static int start_again(char *program)
{
	char name[] = "nvml", *argv[] = { program, name, NULL };
	char dir[4096], to[8192], from[8192], path[5000];

	assay_file_exe_dir(dir, sizeof(dir), NULL);
	snprintf(path, sizeof(path), "%s/nvml-standin", dir);
	if (assay_file_mkdirs(path, NULL))
		return 1;
	snprintf(to, sizeof(to), "%s/plugins/nvml_standin.so", dir);
	snprintf(from, sizeof(from), "%s/" ASSAY_NVML_LIBRARY, path);
	unlink(from);
	if (symlink(to, from) || setenv("LD_LIBRARY_PATH", path, 1) || setenv("NVML_TEST", "1", 1))
		return 1;
	execv("/proc/self/exe", argv);
	return 1;
}

TEST(what_gpus_tell)
{
	struct assay_device_info i;
	struct assay_nvml *n;
	struct assay_err err = { 0 };
	char text[256];

	if (assay_nvml_open(&n, &err))
		fail_msg("%s", err.text);
	assert_int_equal(assay_nvml_count(n), 2);
	assert_int_equal(assay_nvml_info(n, 0, &i, NULL), 0);
	assay_device_text(&i, text, sizeof(text));
	assert_string_equal(text, "Standin, sm_90, 1980 MHz, 80 GiB, memory 2619 MHz, ECC on, MIG off, PCIe 5 x16, "
				  "driver 570.1");
	assert_int_equal(assay_nvml_info(n, 1, &i, NULL), 0);
	assay_device_text(&i, text, sizeof(text));
	assert_string_equal(text, "Standin Lite, driver 570.1");
	assert_int_equal(assay_nvml_info(n, 2, &i, &err), ASSAY_EUNAVAILABLE);
	assert_string_equal(err.text, "NVML cannot tell of a GPU: Unknown Error");
	assay_nvml_close(n);
}

TEST(how_gpus_are)
{
	struct assay_device_state s;
	struct assay_nvml *n;
	unsigned index = 9;

	assert_int_equal(assay_nvml_open(&n, NULL), 0);
	assert_false(assay_nvml_find(n, "", &index));
	assert_false(assay_nvml_find(n, "0000:05:00.0", &index));
	assert_true(assay_nvml_find(n, "0000:3b:00.0", &index));
	assert_int_equal(index, 1);
	assert_int_equal(assay_nvml_state(n, 0, &s, NULL), 0);
	assert_true(s.core_hz == 1500000000 && s.memory_hz == 2619000000);
	assert_int_equal(s.throttle, ASSAY_THROTTLE_POWER | ASSAY_THROTTLE_THERMAL);
	assert_true(s.celsius == 61 && s.watts == 350.5);
	/* idle and limited by its user */
	assert_int_equal(assay_nvml_state(n, 1, &s, NULL), 0);
	assert_true(s.core_hz == 1500000000 && s.memory_hz == 0 && s.throttle == 0 && s.celsius == 0);
	assay_nvml_close(n);
}

/* The stand-in uses 2 J from question to question. */
TEST(energy_is_counted)
{
	static const struct {
		const char *pci, *why;
	} refused[] = {
		{ NULL, "the case runs on no GPU" },
		{ "", "the case runs on no GPU" },
		{ "0000:99:00.0", "NVML knows no GPU at 0000:99:00.0" },
	};
	const struct assay_counter_provider *p = &assay_provider_nvml;
	struct assay_counter_context ctx = { .device_pci = "0000:17:00.0" };
	struct assay_counter_probe probe;
	uint64_t before[8], after[8];
	struct assay_err why = { 0 };
	bool per_iteration = true;
	double value = 2000;
	void *set = NULL;

	assert_string_equal(p->events[0], "gpu_energy_mj");
	assert_int_equal(p->open(&ctx, &set, NULL), 0);
	assert_int_equal(p->read(set, before), 0);
	assert_int_equal(p->read(set, after), 0);
	assert_int_equal(after[0] - before[0], 2000);
	for (size_t i = 1; p->events[i]; i++)
		assert_int_equal(after[i], 0);
	p->close(set);
	assert_int_equal(p->total(&ctx, 0, &value, &per_iteration, NULL), 0);
	assert_true(value == 2000 && per_iteration); /* what was counted stays */
	ctx.device_pci = "0000:3b:00.0";
	assert_int_equal(p->total(&ctx, 0, &value, &per_iteration, &why), ASSAY_EUNAVAILABLE);
	assert_string_equal(why.text, "the GPU does not count its energy");
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct assay_err err = { 0 };

		ctx.device_pci = refused[i].pci;
		assert_int_equal(p->open(&ctx, &set, &err), ASSAY_EUNAVAILABLE);
		assert_string_equal(err.text, refused[i].why);
	}
	p->probe(&ctx, &probe);
	assert_true(probe.works);
	assert_string_equal(probe.value, "1 of 2 GPUs tell their energy");
	setenv("NVML_STANDIN", "broken", 1);
	p->probe(&ctx, &probe);
	assert_false(probe.works);
	assert_string_equal(probe.value, "NVML cannot start: Driver Not Loaded");
	assert_true(probe.advice[0]);
	unsetenv("NVML_STANDIN");
}

/* The levels that the worker saw between samples. The second GPU of the stand-in tells of its clock alone. */
TEST(levels_between_samples)
{
	static const struct {
		const char *event;
		double value[2]; /* NAN: it is not told */
		const char *how;
	} rows[] = {
		{ "gpu_busy_frac", { 0.75, NAN }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_memory_busy_frac", { 0.2, NAN }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_mean_watts", { 350.5, NAN }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_most_celsius", { 61, NAN }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_least_core_hz", { 1.5e9, 1.5e9 }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_most_used_bytes", { 1 << 30, NAN }, "NVML, of the whole GPU, at 2 looks between samples" },
		{ "gpu_throttled_frac", { 1, 0 }, "NVML, of the whole GPU, at 2 looks between samples, power, heat" },
	};
	const struct assay_counter_provider *p = &assay_provider_nvml;
	struct assay_err why = { 0 };
	struct assay_nvml *n;
	bool per_iteration;
	char how[160];
	double value;

	assert_int_equal(assay_nvml_open(&n, NULL), 0);
	for (unsigned gpu = 0; gpu < 2; gpu++) {
		struct assay_gpu_levels levels = { 0 };
		const struct assay_counter_context ctx = { .levels = &levels };

		assert_int_equal(p->total(&ctx, 1, &value, &per_iteration, &why), ASSAY_EUNAVAILABLE);
		assert_string_equal(why.text, "the GPU was not read between samples");
		for (int look = 0; look < 2; look++) {
			struct assay_device_state s;
			struct assay_nvml_use u;

			assert_int_equal(assay_nvml_state(n, gpu, &s, NULL), 0);
			assert_int_equal(assay_nvml_use(n, gpu, &u, NULL), 0);
			assay_gpu_levels_add(&levels, &s, &u);
		}
		for (size_t i = 0; i < N_OF(rows); i++) {
			const int rc = p->total(&ctx, i + 1, &value, &per_iteration, &why);

			assert_string_equal(p->events[i + 1], rows[i].event);
			assert_int_equal(rc, isfinite(rows[i].value[gpu]) ? 0 : ASSAY_EUNAVAILABLE);
			assert_true(rc || (value == rows[i].value[gpu] && !per_iteration));
			p->how(&ctx, rows[i].event, how, sizeof(how));
			if (!gpu)
				assert_string_equal(how, rows[i].how);
		}
	}
	assay_nvml_close(n);
}

TEST(a_driver_that_does_not_run)
{
	struct assay_err err = { 0 };
	struct assay_nvml *n;

	setenv("NVML_STANDIN", "broken", 1);
	assert_int_equal(assay_nvml_open(&n, &err), ASSAY_EUNAVAILABLE);
	assert_null(n);
	assert_string_equal(err.text, "NVML cannot start: Driver Not Loaded");
	unsetenv("NVML_STANDIN");
}

static int run(char **argv)
{
	return getenv("NVML_TEST") ? UNIT_RUN(NULL, NULL) : start_again(argv[0]);
}

UNIT_GROUP_WITH(NULL, NULL, run, NULL)
