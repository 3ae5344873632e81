/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include <string.h>

#include "plan/benchfile.h"
#include "plan/options.h"

/* "model=a.gguf,pp=64" of shapes, "model=a.gguf,b.gguf" of a sweep. */
static int scan_text(const char *text, struct assay_strings *files, struct assay_err *err)
{
	static const char ending[] = ".gguf";
	struct assay_strings parts = { 0 };
	bool model = false;
	int rc = text[0] ? assay_strings_split(&parts, text, ',', err) : 0;

	for (size_t i = 0; i < parts.n && !rc; i++) {
		const char *eq = strchr(parts.v[i], '='), *value = eq ? eq + 1 : parts.v[i];
		const size_t n = strlen(value), end = strlen(ending);

		model = eq ? !strncmp(parts.v[i], "model=", 6) : model;
		if (model && n > end && !strcmp(value + n - end, ending) && !assay_strings_has(files, value))
			rc = assay_strings_add(files, value, err);
	}
	assay_strings_release(&parts);
	return rc;
}

static int scan_fields(const struct assay_conf_entry *const *field, struct assay_strings *files, struct assay_err *err)
{
	static const enum assay_bench_field of_axes[] = { ASSAY_BENCH_SHAPES, ASSAY_BENCH_SWEEP };
	int rc = 0;

	for (size_t f = 0; f < 2; f++)
		for (size_t i = 0; field[of_axes[f]] && i < field[of_axes[f]]->n && !rc; i++)
			rc = scan_text(field[of_axes[f]]->values[i].text, files, err);
	return rc;
}

/* Files that cannot be read say so when they are planned. */
int assay_plan_model_files(const char *bench_dir, struct assay_strings *files, struct assay_err *err)
{
	struct assay_benches benches = { 0 };
	struct assay_strings names = { 0 };
	int rc = 0;

	if (!assay_benches_load(&benches, bench_dir, NULL))
		for (size_t i = 0; i < benches.n && !rc; i++)
			rc = scan_fields(benches.v[i].field, files, err);
	assay_benches_release(&benches);
	if (rc || assay_plan_suites(bench_dir, &names, NULL))
		return rc;
	for (size_t i = 0; i < names.n && !rc; i++) {
		struct assay_suite suite = { 0 };

		if (assay_suite_load(&suite, bench_dir, names.v[i], NULL))
			continue;
		for (size_t u = 0; u < suite.n_uses && !rc; u++)
			rc = scan_fields(suite.uses[u].field, files, err);
		assay_suite_release(&suite);
	}
	assay_strings_release(&names);
	return rc;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_file(struct assay_strings *symbols, const char *path, struct assay_err *err)
{
	const char *name = name_of(path);

	if (strlen(name) >= ASSAY_NAME_MAX || strpbrk(name, " \t\r\n,/={}*?[]\\\"'"))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "'%s' cannot stand in the key of a case: expected a name of less than %d letters, "
				     "digits and '_.+-'; a link can give it one",
				     name, ASSAY_NAME_MAX);
	if (assay_strings_has(symbols, name))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "two models are called '%s', and keys of cases could not tell them apart; a link "
				     "can give one another name",
				     name);
	return assay_strings_add(symbols, name, err);
}

int assay_plan_models(struct assay_catalog *cat, const struct assay_strings *files, size_t n_named,
		      struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < cat->n_ops && !rc; i++) {
		struct assay_strings *symbols;

		if (!cat->ops[i].model_axis || cat->ops[i].axes[0].symbols.n)
			continue;
		symbols = &cat->ops[i].axes[0].symbols;
		cat->ops[i].n_models = n_named;
		rc = assay_strings_add(symbols, "none", err);
		for (size_t k = 0; k < files->n && !rc; k++)
			rc = add_file(symbols, files->v[k], err);
	}
	return rc;
}
