/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix of a fleet as text, JSON and page, of few machines and of many. With ASSAY_PAGE_FILE in the environment a
 * page of twelve machines, one of them with a hostile name, is written there for a browser.
 */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

#include "base/file.h"

#define HOSTILE "</script><script>document.title='taken'</script>\"'&"
#define MOST    12
#define CASES   40

static struct assay_fleet_machine machines[MOST];
static struct assay_fleet_cell cells[CASES * MOST];
static char keys[CASES][ASSAY_KEY_MAX];

/*
 * @n machines with times of 1, 2, 3, … µs for each case; the second one is lost. Of a gate: with changes of 1, 2, … %.
 */
static struct assay_fleet_report made(size_t n, size_t n_cases, bool gate)
{
	struct assay_fleet_report f = { .suite = "quick",
					.partition = "cpu",
					.started_ns = 1769860800000000000u,
					.alpha = 0.01,
					.verdict = ASSAY_NOT_MEASURED,
					.exit = ASSAY_EXIT_NOT_MEASURED,
					.machines = machines,
					.n_machines = n,
					.keys = keys,
					.n_cases = n_cases,
					.cells = cells };

	snprintf(f.base, sizeof(f.base), "%s", gate ? "main" : "");
	snprintf(f.head, sizeof(f.head), "%s", gate ? "work" : "");
	for (size_t k = 0; k < n; k++) {
		struct assay_fleet_machine *m = &machines[k];

		*m = (struct assay_fleet_machine){ .verdict = k == 1 ? ASSAY_NOT_MEASURED : ASSAY_PASS };
		snprintf(m->name, sizeof(m->name), "%s%zu", k == 3 ? HOSTILE : "n", k + 1);
		snprintf(k == 1 ? m->reason : m->machine, sizeof(m->machine), "%s",
			 k == 1 ? "Slurm ended job 2 (NODE_FAIL)" : "a machine");
		*(gate ? &m->comparison : &m->run) = k == 1 ? 0 : (int64_t)k + 7;
	}
	for (size_t i = 0; i < n_cases; i++) {
		snprintf(keys[i], sizeof(keys[i]), "op/v%zu/-/t=1/warm", i);
		for (size_t k = 0; k < n; k++) {
			const double ratio = 1 + 0.01 * (double)(k + 1);

			*assay_fleet_cell_at(&f, i, k) = (struct assay_fleet_cell){
				.there = true,
				.verdict = k == 1 ? ASSAY_NOT_MEASURED : ASSAY_PASS,
				.median_ns = k == 1 || gate ? NAN : 1000.0 * (double)(k + 1),
				.ratio = k == 1 || !gate ? NAN : ratio,
				.ci_lo = k == 1 || !gate ? NAN : ratio - 0.002,
				.ci_hi = k == 1 || !gate ? NAN : ratio + 0.002,
			};
		}
	}
	return f;
}

static char *emit_fleet(const struct assay_fleet_report *f, const char *format)
{
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_FLEET, .fleet = f }, format, NULL);
}

static json_t *data_of(const char *page)
{
	static const char tag[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(page, tag) + strlen(tag);
	json_t *j = json_loadb(from, (size_t)(strstr(from, "</script>") - from), 0, NULL);

	assert_non_null(j);
	return j;
}

TEST(a_gate_has_changes_and_its_promise)
{
	const struct assay_fleet_report f = made(3, 1, true);
	char *s = emit_fleet(&f, "text");
	json_t *j = json_loads(emit_fleet(&f, "json"), 0, NULL), *cell;

	has(s, ", work against main\n");
	assert_true(has_line(s, "  +1.00 %  NOT_MEASURED  +3.00 %  op/v0/", ""));
	has(s, "  1 % is the chance that unchanged code fails on any of these machines\n");
	assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
	assert_int_equal(json_integer_value(json_object_get(j, "exit")), 4);
	assert_string_equal(json_string_value(json_object_get(j, "started")), "2026-01-31T12:00:00Z");
	cell = json_array_get(json_object_get(json_array_get(json_object_get(j, "cases"), 0), "machines"), 2);
	assert_true(json_number_value(json_object_get(cell, "ratio")) == 1.03);
	assert_int_equal(json_array_size(json_object_get(cell, "ci")), 2);
	assert_null(json_object_get(cell, "median_ns"));
	json_decref(j);
}

/* A shard that nobody measured has no cell. */
TEST(a_case_without_machines)
{
	struct assay_fleet_report f = made(2, 1, false);
	json_t *j, *first;

	for (size_t k = 0; k < 2; k++)
		cells[k].there = false;
	cells[0].median_ns = NAN;
	j = json_loads(emit_fleet(&f, "json"), 0, NULL);
	first = json_array_get(json_object_get(j, "cases"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "verdict")), "NOT_MEASURED");
	assert_int_equal(json_array_size(json_object_get(first, "machines")), 0);
	json_decref(j);
	assert_true(has_line(emit_fleet(&f, "text"), "   -   -  op/v0/", ""));
}

TEST(a_page_begins_with_the_verdict_and_carries_the_matrix)
{
	const struct assay_fleet_report f = made(MOST, CASES, false);
	const char *file = getenv("ASSAY_PAGE_FILE");
	char *page = emit_fleet(&f, "html");
	json_t *j = data_of(page);

	has(page, "<title>Suite quick on 12 machines of cpu</title>");
	has(page,
	    "<span class=\"badge NOT_MEASURED\">NOT_MEASURED</span> NOT_MEASURED on n2; PASS on 11 machines.</h1>");
	has(page, "<p class=\"headline\">n2: Slurm ended job 2 (NODE_FAIL).</p>");
	has(page, "The same command measures what is missing");
	assert_null(strstr(page, HOSTILE));
	assert_int_equal(json_array_size(json_object_get(j, "machines")), MOST);
	assert_int_equal(json_array_size(json_object_get(j, "cases")), CASES);
	json_decref(j);
	if (file)
		assert_int_equal(assay_file_write(file, page, strlen(page), NULL), 0);
	/* the same fleet is the same bytes */
	assert_string_equal(page, emit_fleet(&f, "html"));
}

UNIT_GROUP(NULL, NULL)
