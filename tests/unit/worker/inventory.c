/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory of plugins: good ones, refused ones, and the facts of their cases. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "measure_world.h"
#include "worker/inventory/inventory.h"

TEST(inventory_describes)
{
	struct world *w = *state;
	const struct assay_catalog *cat = assay_inventory_catalog(w->inv);
	const struct assay_catalog_op *op = assay_catalog_op(cat, "example.scale");
	const struct assay_catalog_variant *v;

	assert_int_equal(5, cat->n_plugins);
	for (size_t i = 0; i < cat->n_plugins; i++)
		assert_null(cat->plugins[i].error);
	assert_string_equal("example-op", cat->plugins[0].name);
	assert_int_equal(40, strlen(cat->plugins[0].build_id));
	assert_non_null(op);
	assert_true(op->exact);
	assert_int_equal(1, op->n_axes);
	assert_string_equal("n", op->axes[0].name);
	assert_int_equal(4, op->axes[0].min);
	assert_true(op->axes[0].def == INT64_MIN);
	assert_int_equal(1, op->n_metrics);
	assert_string_equal("example_last", op->metrics[0].tag);
	assert_true(op->metrics[0].hi == 4e9);
	assert_int_equal(1, op->counters.n);

	v = assay_catalog_variant(cat, "example.scale", "ref");
	assert_non_null(v);
	assert_true(v->reference);
	assert_null(v->unavailable);
	assert_true(assay_catalog_variant(cat, "example.scale", "doubled")->one_thread);
	assert_string_equal("this CPU has no avx9001",
			    assay_catalog_variant(cat, "example.scale", "needy")->unavailable);
	assert_non_null(
		strstr(assay_catalog_variant(cat, "example.scale", "on_gpu")->unavailable, "no plugin provides"));
	assert_null(assay_catalog_variant(cat, "example.scale", "mock")->unavailable);
	assert_null(assay_catalog_variant(cat, "example.scale", "newer_b")->unavailable);
}

TEST(inventory_refuses_bad_plugins)
{
	static const struct {
		const char *plugin, *reason;
	} cases[] = {
		{ "bad_abi_older", "was built for plugin ABI 0.9, this program takes 1.x (1.0)" },
		{ "bad_abi_newer", "was built for plugin ABI 2.0, this program takes 1.x (1.0)" },
		{ "bad_no_symbol", "no symbol 'assay_plugin_v1'" },
		{ "bad_magic", "has magic 0xdeadbeef, expected 0x59415341" },
		{ "bad_measures", "op 'bad.measures'" },
		{ "bad_null_run", "variant 'null' of op 'example.scale'" },
		{ "bad_crash", "signal 11" },
		{ "bad_twice", "variant 'two' of op 'example.scale' is twice in" },
		{ "bad_many", "offers 0 ops, 4000000000 variants and 0 devices, at most 1024, 4096 and 64 are taken" },
		{ "not_there", "not_there.so'" },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	const struct assay_catalog *cat;
	struct assay_inventory *inv;

	add_plugin(&plugins, w->dir, "example_op");
	for (size_t i = 0; i < N_OF(cases); i++)
		add_plugin(&plugins, w->dir, cases[i].plugin);
	add_plugin(&plugins, w->dir, "example_variant");
	assert_int_equal(0, assay_inventory_open(&inv, &plugins, NULL, &w->host, NULL));
	cat = assay_inventory_catalog(inv);
	assert_int_equal(N_OF(cases) + 2, cat->n_plugins);
	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *error = cat->plugins[i + 1].error;

		if (!error || !strstr(error, cases[i].reason))
			fail_msg("%s: '%s' does not say '%s'", cases[i].plugin, error ? error : "(loaded)",
				 cases[i].reason);
	}
	/* what is good is there all the same, before and after the bad ones */
	assert_non_null(assay_catalog_op(cat, "example.scale"));
	assert_non_null(assay_catalog_variant(cat, "example.scale", "doubled"));
	assert_null(assay_catalog_variant(cat, "example.scale", "null"));
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

/* The size that cold inputs exceed: eight times the last-level cache, at most 512 MiB, but twice the cache at least. */
static uint64_t cold_bytes(const struct world *w)
{
	const uint64_t llc = w->host.llc_bytes, eight = 8 * llc < 512u << 20 ? 8 * llc : 512u << 20;

	return eight > 2 * llc ? eight : 2 * llc;
}

TEST(describe_gives_facts)
{
	struct world *w = *state;
	struct assay_case warm = make_case("ref", 1024, 1, ASSAY_CACHE_WARM),
			  cold = make_case("ref", 65536, 1, ASSAY_CACHE_COLD);
	struct assay_case tiny = make_case("ref", 4, 1, ASSAY_CACHE_COLD);
	struct assay_case odd = make_case("ref", 1022, 1, ASSAY_CACHE_WARM),
			  refused = make_case("refuses", 64, 1, ASSAY_CACHE_WARM);
	struct assay_case_facts f;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_inventory_describe(w->inv, &warm, 1, &f, &err));
	assert_true(f.supported);
	assert_true(f.cost.ops == 2048 && f.cost.bytes_read == 4096 && f.cost.items == 1024);
	assert_string_equal("elements", f.item_name);
	assert_int_equal(8192, f.tensor_bytes);
	assert_int_equal(1, f.copies);
	assert_true(f.rotated_bytes == 0);
	assert_int_equal(0, assay_inventory_describe(w->inv, &cold, 1, &f, &err));
	assert_true(f.copies * 262144 > cold_bytes(w) && (f.copies - 2) * 262144 <= cold_bytes(w));
	assert_true(f.copies % 2 == 0);
	assert_true(f.rotated_bytes == (double)f.copies * 262144);
	assert_true(f.timed);
	/* too small to be cold beside the caches of most machines, but not to be counted */
	assert_int_equal(0, assay_inventory_describe(w->inv, &tiny, 1, &f, &err));
	assert_true(f.supported);
	assert_int_equal(cold_bytes(w) / 16 / 2 * 2 + 2, f.copies);
	assert_true(f.bytes >=
		    f.copies * (2 * 128 + sizeof(struct assay_job))); /* each tensor of 16 bytes with its canary */
	assert_int_equal(f.copies <= 1 << 20, f.timed);
	assert_true(f.timed == !strstr(f.reason, "so small that it needs"));
	assert_int_equal(ASSAY_EUSAGE, assay_inventory_describe(w->inv, &odd, 1, &f, &err));
	assert_non_null(strstr(err.text, "n is 1022, expected a multiple of 4"));
	assert_int_equal(0, assay_inventory_describe(w->inv, &refused, 1, &f, &err));
	assert_false(f.supported || f.timed);
	assert_string_equal("cannot do 64 elements", f.reason);
}

static struct assay_inventory *open_with(struct world *w, const char *const *names, size_t n)
{
	struct assay_strings plugins = { 0 };
	struct assay_inventory *inv = NULL;
	struct assay_err err = { 0 };

	for (size_t i = 0; i < n; i++)
		add_plugin(&plugins, w->dir, names[i]);
	if (assay_inventory_open(&inv, &plugins, NULL, &w->host, &err))
		fail_msg("%s", err.text);
	assay_strings_release(&plugins);
	return inv;
}

/* The packed size of a variant decides the number of copies that fill memory, and its limit. */
TEST(what_a_variant_really_reads)
{
	static const char *const names[] = { "example_op", "packs_half" };
	struct world *w = *state;
	struct assay_inventory *inv = open_with(w, names, N_OF(names));
	struct assay_case half = make_case("half", 65536, 1, ASSAY_CACHE_COLD),
			  nonsense = make_case("negative", 65536, 1, ASSAY_CACHE_COLD);
	struct assay_case_facts f;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_inventory_describe(inv, &half, 1, &f, &err));
	assert_true(f.cost.bytes_read == 131072);
	assert_true(f.copies * 131072 > cold_bytes(w) && (f.copies - 2) * 131072 <= cold_bytes(w));
	assert_true(f.rotated_bytes == (double)f.copies * 131072);
	assert_int_equal(0, assay_inventory_describe(inv, &nonsense, 1, &f, &err));
	assert_true(f.failed);
	assert_non_null(strstr(f.reason, "has a variant that reads negative bytes"));
	assay_inventory_close(inv);
}

/* A plugin that writes to the harness by itself is refused, and costs the others nothing. */
TEST(hostile_loading)
{
	static const char *const names[] = { "example_op", "hostile_load", "example_variant" };
	static const struct {
		const char *how, *reason;
	} cases[] = {
		{ "endless line", "wrote a line of more than 4 MiB" },
		{ "foreign lines", "wrote to the harness by itself" },
		{ "old question", "wrote to the harness by itself" },
		{ "no JSON", "wrote to the harness by itself" },
		{ "deep", "wrote to the harness by itself" },
		{ "many lines", "wrote to the harness by itself" },
		{ "no object", "wrote to the harness by itself" },
		{ "bad names", "described what cannot be in a plugin that loads" },
		{ "no names", "described what cannot be in a plugin that loads" },
		{ "bad device", "described what cannot be in a plugin that loads" },
		{ "many axes", "described what cannot be in a plugin that loads" },
		{ "own answer", "wrote to the harness by itself" },
		{ "drip", "no answer within 10 s" },
		{ "abort", "killed by signal 6 (SIGABRT): ?[31mlast ? words" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_catalog *cat;
		struct assay_inventory *inv;
		char want[128];

		setenv("HOSTILE", cases[i].how, 1);
		inv = open_with(*state, names, N_OF(names));
		unsetenv("HOSTILE");
		cat = assay_inventory_catalog(inv);
		snprintf(want, sizeof(want), "hostile_load.so': %s", cases[i].reason);
		if (!cat->plugins[1].error || !strstr(cat->plugins[1].error, want))
			fail_msg("%s: '%s' does not say '%s'", cases[i].how,
				 cat->plugins[1].error ? cat->plugins[1].error : "(loaded)", cases[i].reason);
		assert_null(cat->plugins[0].error);
		assert_null(cat->plugins[2].error);
		assert_int_equal(1, cat->n_ops);
		assert_non_null(assay_catalog_variant(cat, "example.scale", "doubled"));
		assert_null(assay_catalog_variant(cat, "example.scale", "hostile"));
		assay_inventory_close(inv);
	}
}

/* A process that a constructor leaves behind in its own session ends with the child, each time it is loaded. */
TEST(daemons_end_with_the_inventory)
{
	static const char *const names[] = { "example_op", "hostile_load" };
	struct assay_case c = make_case("hostile", 64, 1, ASSAY_CACHE_WARM);
	struct assay_case_facts facts;
	struct assay_inventory *inv;
	char path[] = "/tmp/assay-daemons-XXXXXX";
	int fd = mkstemp(path), pid, n = 0;
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	setenv("STRAYS", path, 1);
	setenv("HOSTILE", "daemon", 1);
	inv = open_with(*state, names, N_OF(names));
	assert_int_equal(0, assay_inventory_describe(inv, &c, 1, &facts, NULL));
	assert_true(facts.timed);
	unsetenv("HOSTILE");
	unsetenv("STRAYS");
	f = fopen(path, "r");
	assert_non_null(f);
	for (; fscanf(f, "%d", &pid) == 1; n++) {
		assert_int_equal(-1, kill(pid, 0));
		assert_int_equal(ESRCH, errno);
	}
	assert_int_equal(2, n);
	fclose(f);
	unlink(path);
	assert_string_equal("an escape ?[31m and a mark ?",
			    assay_catalog_variant(assay_inventory_catalog(inv), "example.scale", "hostile")->help);
	assay_inventory_close(inv);
}

TEST(declarations_are_checked)
{
	static const char *const names[] = { "example_op", "bad_declares" };
	static const struct {
		const char *op, *reason;
	} cases[] = {
		{ "metric_twice", "metric 'same' is declared twice" },
		{ "metric_null", "metric 0 has the tag ''" },
		{ "metric_odd", "metric 0 has the tag 'time?[31m'" },
		{ "metric_long", "expected up to 47 of a-z" },
		{ "metric_own", "metric 'time_s' is one of the harness's own" },
		{ "unit_null", "metric 'bad_tag' has the unit ''" },
		{ "unit_odd", "metric 'bad_tag' has the unit 'one two'" },
		{ "unit_long", "metric 'bad_tag' has the unit 'furlongs/fortnight'" },
		{ "better", "metric 'bad_tag' has 7 for what is better" },
		{ "range", "metric 'bad_tag' has the range 2 to 1" },
		{ "range_nan", "metric 'bad_tag' has the range nan to 1" },
		{ "counter_twice", "counter 'same' is declared twice" },
		{ "counter_null", "counter 0 has the name ''" },
		{ "counter_odd", "counter 0 has the name 'one,two'" },
		{ "counter_own", "counter 'page_faults' is one of the harness's own" },
		{ "axis_bounds", "axis 'n' goes from 9 to 1" },
		{ "axis_default", "axis 'n' has the default 10, expected 1 to 9" },
		{ "axis_twice", "axis 'n' is declared twice" },
		{ "axis_symbol", "axis 'n' has the default 2, expected 0 to 1" },
		{ "axis_symbols_twice", "axis 'n' has the symbol 'one' twice" },
		{ "axis_symbols_odd", "symbol 1 of axis 'n' is 'a/b'" },
		{ "axis_work", "keys do not name the default of its last axis, expected that to be 0" },
		{ "axis_no_work", "keys do not name the default of its last axis" },
		{ "axis_model", "its first axis is a model, expected a whole number 'model' with the default 0" },
		{ "sound", NULL },
	};
	struct assay_inventory *inv = open_with(*state, names, N_OF(names));
	const struct assay_catalog *cat = assay_inventory_catalog(inv);
	struct assay_case_facts facts;
	struct assay_err err = { 0 };

	assert_null(cat->plugins[1].error);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_case c = { .variant = "ref", .threads = 1 };
		const struct assay_catalog_op *op;

		snprintf(c.op, sizeof(c.op), "bad.%s", cases[i].op);
		op = assay_catalog_op(cat, c.op);
		assert_non_null(op);
		if (!op->defect != !cases[i].reason || (op->defect && !strstr(op->defect, cases[i].reason)))
			fail_msg("%s: '%s' does not say '%s'", op->name, op->defect ? op->defect : "(sound)",
				 cases[i].reason ? cases[i].reason : "(sound)");
		assert_int_equal(0, assay_inventory_describe(inv, &c, 1, &facts, &err));
		assert_int_equal(op->defect != NULL, facts.failed);
		assert_int_equal(op->defect == NULL, facts.timed);
		if (op->defect)
			assert_string_equal(op->defect, facts.reason);
	}
	assert_non_null(strstr(assay_catalog_variant(cat, "bad.sound", "device")->defect, "a device of kind 99"));
	assert_non_null(strstr(assay_catalog_variant(cat, "bad.sound", "needs")->defect, "it needs 'avx2;?[31m'"));
	assert_null(assay_catalog_variant(cat, "bad.sound", "ref")->defect);
	assay_inventory_close(inv);
}

/* One case after the other: what a plugin does when it is asked costs that case alone. */
TEST(hostile_answers)
{
	static const char *const names[] = { "example_op", "hostile_ask" };
	static const struct {
		const char *variant, *reason;
	} cases[] = {
		{ "ref", NULL },
		{ "ask_crash", "asking its plugin what it takes: killed by signal 11 (SIGSEGV)" },
		{ "ask_crash", "asking its plugin what it takes: killed by signal 11 (SIGSEGV)" },
		{ "ask_crash", "asking its plugin what it takes: killed by signal 11 (SIGSEGV)" },
		{ "ask_crash", "asking its plugin what other cases take: killed by signal 11 (SIGSEGV)" },
		{ "ask_flood", "asking its plugin what it takes: wrote a line of more than 4 MiB" },
		{ "ask_forge", "asking its plugin what it takes: wrote to the harness by itself" },
		{ "ask_twice", "asking its plugin what it takes: wrote to the harness by itself" },
		{ "ask_hang", "asking its plugin what it takes: no answer within 10 s" },
		{ "ref", NULL },
	};
	static const char *const faults[] = {
		NULL,
		"describes more tensors than there may be",
		"describes a tensor that is neither input, output nor scratch",
		"describes a tensor without a name or a type",
		"describes a tensor with too many dimensions",
		"describes a cost that is negative or no number",
		"describes a cost in arithmetic that this harness does not know",
		"describes a tensor without a name or a type",
		"killed by signal 6 (SIGABRT)",
	};
	struct assay_case all[N_OF(cases) + N_OF(faults)], escape = make_case("ask_escape", 64, 1, 0);
	struct assay_inventory *inv = open_with(*state, names, N_OF(names));
	struct assay_case_facts f[N_OF(all)];
	struct assay_err err = { 0 };

	for (size_t i = 0; i < N_OF(cases); i++)
		all[i] = make_case(cases[i].variant, 64, 1, ASSAY_CACHE_WARM);
	for (size_t i = 0; i < N_OF(faults); i++)
		all[N_OF(cases) + i] = (struct assay_case){ .op = "hostile.describe",
							    .variant = "ref",
							    .threads = 1,
							    .n_axes = 1,
							    .axes = { { .name = "kind", .value = (int64_t)i } } };
	if (assay_inventory_describe(inv, all, N_OF(all), f, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < N_OF(all); i++) {
		const char *want = i < N_OF(cases) ? cases[i].reason : faults[i - N_OF(cases)];

		if (f[i].failed != (want != NULL) || (want && !strstr(f[i].reason, want)))
			fail_msg("case %zu: '%s' does not say '%s'", i, f[i].reason, want ? want : "(sound)");
		assert_int_equal(want == NULL, f[i].timed);
		assert_int_equal(want == NULL, f[i].supported);
	}
	assert_int_equal(0, assay_inventory_describe(inv, &escape, 1, f, &err));
	assert_false(f[0].failed || f[0].supported);
	assert_memory_equal("?[31mred?? aaaa", f[0].reason, 15);
	assert_int_equal(strlen(f[0].reason), strspn(f[0].reason + 11, "a") + 11);
	/* a shape that the op refuses is the user's fault, as before */
	all[0] = all[N_OF(cases)];
	all[0].axes[0].value = 9;
	assert_int_equal(ASSAY_EUSAGE, assay_inventory_describe(inv, all, 1, f, &err));
	assert_non_null(strstr(err.text, "is refused: bbbb"));
	assay_inventory_close(inv);
}

/* In keys it would stand for the device of the case. */
TEST(an_axis_may_not_be_called_device)
{
	char name[] = "device", own_threads[] = "own_threads", why[256] = "";
	struct assay_catalog_axis axis = { .name = name, .max = 9, .def = 0 };
	struct assay_catalog_op op = { .axes = &axis, .n_axes = 1 };

	assert_false(assay_declared_op(&op, why, sizeof(why)));
	assert_string_equal(why, "axis 'device' has the name of the one that keys have for devices");
	axis.name = own_threads;
	assert_false(assay_declared_op(&op, why, sizeof(why)));
	axis.name = name;
	strcpy(name, "depth");
	assert_true(assay_declared_op(&op, why, sizeof(why)));
}

MEASURE_GROUP
