/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of every table, by the struct that holds a row. The tables themselves stand in schema/. */
#include "store/profile.h"
#include "store/rows.h"

static const char *status_word(unsigned status)
{
	return assay_status_name((enum assay_status)status);
}

static const char *bound_word(unsigned bound)
{
	return assay_bound_name((enum assay_bound)bound);
}

static const char *cache_word(unsigned cache)
{
	return assay_cache_name((enum assay_cache)cache);
}

const char *const assay_store_side_names[2] = { [ASSAY_BASE] = "base", [ASSAY_HEAD] = "head" };

static const char *control_word(unsigned control)
{
	static const char *const names[] = {
		[ASSAY_CONTROL_NONE] = "none",
		[ASSAY_CONTROL_AA] = "aa",
		[ASSAY_CONTROL_SLOWER] = "slower",
	};

	return names[control];
}

static const char *how_word(unsigned how)
{
	return how == ASSAY_EXACT_STEPPED ? "stepped" : "";
}

static const char *skip_word(unsigned skip)
{
	static const char *const words[ASSAY_N_EXACT_SKIP] = {
		[ASSAY_EXACT_SKIP_OTHER] = "",
		[ASSAY_EXACT_SKIP_UNABLE] = "unable",
		[ASSAY_EXACT_SKIP_SMALLER] = "smaller",
	};

	return words[skip];
}

static const char *frame_kind_word(unsigned kind)
{
	static const char *const words[] = {
		[ASSAY_FRAME_CODE] = "code",
		[ASSAY_FRAME_INLINED] = "inlined",
		[ASSAY_FRAME_LABEL] = "label",
	};

	return words[kind];
}

/* A column that holds an enum assay_status. */
#define STATUS_COLUMN(type, field, column) ASSAY_COLUMN_ENUM(type, field, column, status_word, ASSAY_N_STATUS)

static const struct assay_column machine_list[] = {
	ASSAY_COLUMN(struct assay_fingerprint, id, "id"),
	ASSAY_COLUMN(struct assay_fingerprint, label, "label"),
};
const struct assay_columns assay_store_machine_columns = ASSAY_COLUMNS(machine_list);

static const struct assay_column fact_list[] = {
	ASSAY_COLUMN(struct assay_fact, name, "name"),
	ASSAY_COLUMN(struct assay_fact, value, "value"),
};
const struct assay_columns assay_store_fact_columns = ASSAY_COLUMNS(fact_list);
const struct assay_store_part assay_store_environment = { "fact", "environment", "run", &assay_store_fact_columns,
							  sizeof(struct assay_fact) };

static const struct assay_column build_list[] = {
	ASSAY_COLUMN(struct assay_build, id, "id"),
	ASSAY_COLUMN(struct assay_build, commit, "commit_hash"),
	ASSAY_COLUMN(struct assay_build, dirty, "dirty"),
	ASSAY_COLUMN(struct assay_build, compiler, "compiler"),
	ASSAY_COLUMN(struct assay_build, flags, "flags"),
	ASSAY_COLUMN(struct assay_build, plugins, "plugins"),
	ASSAY_COLUMN(struct assay_build, plugin.hash, "plugin_commit"),
	ASSAY_COLUMN(struct assay_build, plugin.dirty, "plugin_dirty"),
};
const struct assay_columns assay_store_build_columns = ASSAY_COLUMNS(build_list);

static const struct assay_column commit_list[] = {
	ASSAY_COLUMN(struct assay_build, commit, "commit_hash"),
	ASSAY_COLUMN(struct assay_build, dirty, "dirty"),
	ASSAY_COLUMN(struct assay_build, plugin.hash, "plugin_commit"),
	ASSAY_COLUMN(struct assay_build, plugin.dirty, "plugin_dirty"),
};
const struct assay_columns assay_store_commit_columns = ASSAY_COLUMNS(commit_list);

static const struct assay_column case_list[] = {
	ASSAY_COLUMN(struct assay_case, key, "key"),
	ASSAY_COLUMN(struct assay_case, op, "op"),
	ASSAY_COLUMN(struct assay_case, variant, "variant"),
	ASSAY_COLUMN(struct assay_case, threads, "threads"),
	ASSAY_COLUMN_ENUM(struct assay_case, cache, "cache", cache_word, ASSAY_N_CACHE),
};
const struct assay_columns assay_store_case_columns = ASSAY_COLUMNS(case_list);

static const struct assay_column limit_list[] = {
	ASSAY_COLUMN(struct assay_case, all_threads, "all_threads"),
	ASSAY_COLUMN(struct assay_case, budget_ns, "budget_ns"),
	ASSAY_COLUMN(struct assay_case, timeout_ns, "timeout_ns"),
	ASSAY_COLUMN(struct assay_case, memory_bytes, "memory_bytes"),
};
const struct assay_columns assay_store_limit_columns = ASSAY_COLUMNS(limit_list);

static const struct assay_column axis_list[] = {
	ASSAY_COLUMN(struct assay_axis_value, name, "name"),
	ASSAY_COLUMN(struct assay_axis_value, text, "text"),
	ASSAY_COLUMN(struct assay_axis_value, value, "value"),
};
const struct assay_columns assay_store_axis_columns = ASSAY_COLUMNS(axis_list);

static const struct assay_column metric_list[] = {
	ASSAY_COLUMN(struct assay_metric, tag, "tag"),       ASSAY_COLUMN(struct assay_metric, unit, "unit"),
	ASSAY_COLUMN(struct assay_metric, better, "better"), ASSAY_COLUMN(struct assay_metric, value, "value"),
	ASSAY_COLUMN(struct assay_metric, source, "source"), ASSAY_COLUMN(struct assay_metric, estimated, "estimated"),
};
const struct assay_columns assay_store_metric_columns = ASSAY_COLUMNS(metric_list);

static const struct assay_column count_list[] = {
	ASSAY_COLUMN(struct assay_count, name, "name"),
	ASSAY_COLUMN(struct assay_count, source, "source"),
	ASSAY_COLUMN(struct assay_count, value, "value"),
	ASSAY_COLUMN(struct assay_count, how, "how"),
	ASSAY_COLUMN(struct assay_count, per_iteration, "per_iteration"),
	ASSAY_COLUMN(struct assay_count, running_frac, "running_frac"),
};
const struct assay_columns assay_store_count_columns = ASSAY_COLUMNS(count_list);

static const struct assay_column missing_list[] = {
	ASSAY_COLUMN(struct assay_unavailable, name, "name"),
	ASSAY_COLUMN(struct assay_unavailable, source, "source"),
	ASSAY_COLUMN(struct assay_unavailable, reason, "reason"),
};
const struct assay_columns assay_store_missing_columns = ASSAY_COLUMNS(missing_list);

static const struct assay_column run_list[] = {
	ASSAY_COLUMN(struct assay_run, suite, "suite"),
	ASSAY_COLUMN_SEED(struct assay_run, seed, "seed"),
	ASSAY_COLUMN(struct assay_run, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_run, machine.id, "machine"),
	ASSAY_COLUMN(struct assay_run, build.id, "build"),
	ASSAY_COLUMN_NULL(struct assay_run, all_threads, "all_threads"),
	ASSAY_COLUMN_INTS(struct assay_run, all_cpus, n_all_cpus, "all_cpus"),
	ASSAY_COLUMN(struct assay_run, imported.format, "imported"),
	ASSAY_COLUMN(struct assay_run, imported.digest, "import_digest"),
	ASSAY_COLUMN(struct assay_run, label, "label"),
	ASSAY_COLUMN(struct assay_run, started_unknown, "started_unknown"),
	ASSAY_COLUMN(struct assay_run, places, "places"),
};
const struct assay_columns assay_store_run_columns = ASSAY_COLUMNS(run_list);

static const struct assay_column outcome_list[] = {
	STATUS_COLUMN(struct assay_result, status, "status"),
	ASSAY_COLUMN(struct assay_result, reason, "reason"),
	ASSAY_COLUMN(struct assay_result, c.reference, "is_reference"),
	ASSAY_COLUMN(struct assay_result, checked, "checked"),
	ASSAY_COLUMN(struct assay_result, correct, "correct"),
	ASSAY_COLUMN(struct assay_result, digest, "digest"),
	ASSAY_COLUMN_NULL(struct assay_result, max_rel_err, "max_rel_err"),
	ASSAY_COLUMN_ENUM(struct assay_result, roof.bound, "roof_bound", bound_word, ASSAY_N_BOUNDS),
	ASSAY_COLUMN(struct assay_result, roof.op, "roof_op"),
	ASSAY_COLUMN(struct assay_result, roof.name, "roof_name"),
	ASSAY_COLUMN(struct assay_result, roof.in_turn.least_frac, "roof_least_frac"),
	ASSAY_COLUMN(struct assay_result, roof.in_turn.most_frac, "roof_most_frac"),
	ASSAY_COLUMN(struct assay_result, roof.in_turn.reached, "roof_reached"),
	ASSAY_COLUMN(struct assay_result, deviation.edges, "deviates"),
	ASSAY_COLUMN(struct assay_result, deviation.reason, "deviation"),
};
const struct assay_columns assay_store_outcome_columns = ASSAY_COLUMNS(outcome_list);

static const struct assay_column measurement_list[] = {
	ASSAY_COLUMN(struct assay_result, code_hash, "code_hash"),
	ASSAY_COLUMN(struct assay_result, steady, "steady"),
	ASSAY_COLUMN(struct assay_result, converged, "converged"),
	ASSAY_COLUMN(struct assay_result, warmup_ns, "warmup_ns"),
	ASSAY_COLUMN_INTS(struct assay_result, cpus, n_cpus, "cpus"),
	ASSAY_COLUMN(struct assay_result, numa_node, "numa_node"),
	ASSAY_COLUMN(struct assay_result, copies, "copies"),
	ASSAY_COLUMN(struct assay_result, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_result, log, "log"),
	ASSAY_COLUMN_OF_HISTOGRAMS(struct assay_result, histograms, n_histograms, "histograms"),
	ASSAY_COLUMN(struct assay_result, raw_metrics, "raw_metrics"),
};
const struct assay_columns assay_store_measurement_columns = ASSAY_COLUMNS(measurement_list);

static const struct assay_column statistics_list[] = {
	ASSAY_COLUMN(struct assay_result, n_samples, "n_samples"),
	ASSAY_COLUMN(struct assay_result, iterations, "iterations"),
	ASSAY_COLUMN(struct assay_result, median_ns, "median_ns"),
	ASSAY_COLUMN(struct assay_result, ci95_lo_ns, "ci95_lo_ns"),
	ASSAY_COLUMN(struct assay_result, ci95_hi_ns, "ci95_hi_ns"),
	ASSAY_COLUMN(struct assay_result, min_ns, "min_ns"),
	ASSAY_COLUMN(struct assay_result, mad_ns, "mad_ns"),
	ASSAY_COLUMN(struct assay_result, dropped_frac, "dropped_frac"),
	ASSAY_COLUMN(struct assay_result, rounds, "rounds"),
};
const struct assay_columns assay_store_statistics_columns = ASSAY_COLUMNS(statistics_list);

static const struct assay_column point_list[] = {
	ASSAY_COLUMN(struct assay_trend_point, run_id, "run.id"),
	ASSAY_COLUMN(struct assay_trend_point, started_ns, "run.started_ns"),
	ASSAY_COLUMN(struct assay_trend_point, started_unknown, "run.started_unknown"),
	ASSAY_COLUMN(struct assay_trend_point, commit, "b.commit_hash"),
	ASSAY_COLUMN(struct assay_trend_point, dirty, "b.dirty"),
	ASSAY_COLUMN(struct assay_trend_point, plugin.hash, "b.plugin_commit"),
	ASSAY_COLUMN(struct assay_trend_point, plugin.dirty, "b.plugin_dirty"),
	ASSAY_COLUMN(struct assay_trend_point, machine_id, "run.machine"),
};
const struct assay_columns assay_store_point_columns = ASSAY_COLUMNS(point_list);

static const struct assay_column comparison_list[] = {
	ASSAY_COLUMN(struct assay_comparison, base, "base"),
	ASSAY_COLUMN(struct assay_comparison, head, "head"),
	ASSAY_COLUMN(struct assay_comparison, suite, "suite"),
	ASSAY_COLUMN_SEED(struct assay_comparison, seed, "seed"),
	ASSAY_COLUMN(struct assay_comparison, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_comparison, machine.id, "machine"),
	ASSAY_COLUMN(struct assay_comparison, build[ASSAY_BASE].id, "base_build"),
	ASSAY_COLUMN(struct assay_comparison, build[ASSAY_HEAD].id, "head_build"),
	ASSAY_COLUMN(struct assay_comparison, alpha, "alpha"),
	ASSAY_COLUMN(struct assay_comparison, budget_ns, "budget_ns"),
	ASSAY_COLUMN(struct assay_comparison, max_pairs, "max_pairs"),
	ASSAY_COLUMN(struct assay_comparison, family, "family"),
	ASSAY_COLUMN(struct assay_comparison, policy, "policy"),
	ASSAY_COLUMN_NULL(struct assay_comparison, rule, "rule"),
	ASSAY_COLUMN(struct assay_comparison, fitness, "fitness"),
	ASSAY_COLUMN(struct assay_comparison, program.hash, "program_commit"),
	ASSAY_COLUMN(struct assay_comparison, program.dirty, "program_dirty"),
	ASSAY_COLUMN(struct assay_comparison, places, "places"),
};
const struct assay_columns assay_store_comparison_columns = ASSAY_COLUMNS(comparison_list);

static const struct assay_column control_list[] = {
	ASSAY_COLUMN_ENUM(struct assay_comparison_case, control, "control", control_word, ASSAY_CONTROL_SLOWER + 1),
	ASSAY_COLUMN(struct assay_comparison_case, injected_frac, "injected_frac"),
	ASSAY_COLUMN(struct assay_comparison_case, base_variant, "base_variant"),
	ASSAY_COLUMN(struct assay_comparison_case, judged, "judged"),
};
const struct assay_columns assay_store_control_columns = ASSAY_COLUMNS(control_list);

static const struct assay_column presence_list[] = {
	ASSAY_COLUMN(struct assay_comparison_case, in_base, "in_base"),
	ASSAY_COLUMN(struct assay_comparison_case, in_head, "in_head"),
	ASSAY_COLUMN(struct assay_comparison_case, reason, "reason"),
	ASSAY_COLUMN(struct assay_comparison_case, difference, "difference"),
};
const struct assay_columns assay_store_presence_columns = ASSAY_COLUMNS(presence_list);

static const struct assay_column pair_list[] = {
	ASSAY_COLUMN_SEED(struct assay_pair, seed, "seed"),
	ASSAY_COLUMN(struct assay_pair, iterations, "iterations"),
	ASSAY_COLUMN(struct assay_pair, extra_iterations[ASSAY_BASE], "base_extra_iterations"),
	ASSAY_COLUMN(struct assay_pair, extra_iterations[ASSAY_HEAD], "head_extra_iterations"),
	ASSAY_COLUMN(struct assay_pair, n_blocks, "n_blocks"),
	ASSAY_COLUMN(struct assay_pair, steady, "steady"),
	ASSAY_COLUMN(struct assay_pair, wall_ns, "wall_ns"),
};
const struct assay_columns assay_store_pair_columns = ASSAY_COLUMNS(pair_list);

static const struct assay_column side_list[] = {
	STATUS_COLUMN(struct assay_result, status, "status"),
	ASSAY_COLUMN(struct assay_result, reason, "reason"),
	ASSAY_COLUMN(struct assay_result, digest, "digest"),
	ASSAY_COLUMN_NULL(struct assay_result, max_rel_err, "max_rel_err"),
	ASSAY_COLUMN(struct assay_result, code_hash, "code_hash"),
	ASSAY_COLUMN(struct assay_result, log, "log"),
	ASSAY_COLUMN(struct assay_result, raw_metrics, "raw_metrics"),
	ASSAY_COLUMN(struct assay_result, deviation.edges, "deviates"),
	ASSAY_COLUMN(struct assay_result, deviation.reason, "deviation"),
};
const struct assay_columns assay_store_side_columns = ASSAY_COLUMNS(side_list);

static const struct assay_column exact_run_list[] = {
	ASSAY_COLUMN_NULL(struct assay_exact_run, run_id, "run"),
	ASSAY_COLUMN(struct assay_exact_run, suite, "suite"),
	ASSAY_COLUMN_SEED(struct assay_exact_run, seed, "seed"),
	ASSAY_COLUMN(struct assay_exact_run, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_exact_run, build.id, "build"),
	ASSAY_COLUMN(struct assay_exact_run, setting.arch, "arch"),
	ASSAY_COLUMN(struct assay_exact_run, setting.tool, "tool"),
	ASSAY_COLUMN(struct assay_exact_run, setting.libc, "libc"),
	ASSAY_COLUMN(struct assay_exact_run, setting.cache, "cache"),
	ASSAY_COLUMN(struct assay_exact_run, setting.features, "features"),
	ASSAY_COLUMN(struct assay_exact_run, setting.environment, "environment"),
	ASSAY_COLUMN_NULL(struct assay_exact_run, comparison_id, "comparison"),
};
const struct assay_columns assay_store_exact_run_columns = ASSAY_COLUMNS(exact_run_list);

static const struct assay_column exact_case_list[] = {
	ASSAY_COLUMN(struct assay_exact_case, key, "key"),
	STATUS_COLUMN(struct assay_exact_case, status, "status"),
	ASSAY_COLUMN(struct assay_exact_case, reason, "reason"),
	ASSAY_COLUMN(struct assay_exact_case, digest, "digest"),
	ASSAY_COLUMN(struct assay_exact_case, all_threads, "all_threads"),
	ASSAY_COLUMN(struct assay_exact_case, log, "log"),
	ASSAY_COLUMN_ENUM(struct assay_exact_case, how, "how", how_word, ASSAY_N_EXACT_HOW),
	ASSAY_COLUMN(struct assay_exact_case, detail, "detail"),
	ASSAY_COLUMN_ENUM(struct assay_exact_case, skip, "skip", skip_word, ASSAY_N_EXACT_SKIP),
};
const struct assay_columns assay_store_exact_case_columns = ASSAY_COLUMNS(exact_case_list);

static const struct assay_column exact_function_list[] = {
	ASSAY_COLUMN(struct assay_exact_function, name, "name"),
	ASSAY_COLUMN(struct assay_exact_function, object, "object"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_INSTRUCTIONS], "instructions"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_DATA_READS], "data_reads"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_DATA_WRITES], "data_writes"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_I1_MISSES], "i1_misses"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_D1_MISSES], "d1_misses"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_LL_MISSES], "ll_misses"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_BRANCHES], "branches"),
	ASSAY_COLUMN(struct assay_exact_function, counts.v[ASSAY_EXACT_MISPREDICTIONS], "mispredictions"),
};
const struct assay_columns assay_store_exact_function_columns = ASSAY_COLUMNS(exact_function_list);

static const struct assay_column because_list[] = {
	ASSAY_COLUMN(struct assay_because_evidence, seconds, "seconds"),
	ASSAY_COLUMN(struct assay_because_evidence, rate_hz, "rate_hz"),
	ASSAY_COLUMN(struct assay_because_evidence, source, "source"),
	ASSAY_COLUMN(struct assay_because_evidence, unknown, "unknown"),
};
const struct assay_columns assay_store_because_columns = ASSAY_COLUMNS(because_list);

static const struct assay_column because_pair_list[] = {
	ASSAY_COLUMN(struct assay_because_pair, base_ns, "base_ns"),
	ASSAY_COLUMN(struct assay_because_pair, head_ns, "head_ns"),
};
const struct assay_columns assay_store_because_pair_columns = ASSAY_COLUMNS(because_pair_list);

static const char *code_word(unsigned value)
{
	return assay_code_change_name((enum assay_code_change)value);
}

static const struct assay_column because_function_list[] = {
	ASSAY_COLUMN(struct assay_because_function, name, "name"),
	ASSAY_COLUMN(struct assay_because_function, object, "object"),
	ASSAY_COLUMN(struct assay_because_function, file, "file"),
	ASSAY_COLUMN(struct assay_because_function, line, "line"),
	ASSAY_COLUMN(struct assay_because_function, last_line, "last_line"),
	ASSAY_COLUMN_ENUM(struct assay_because_function, code, "code", code_word, ASSAY_CODE_DIFFERS + 1),
	ASSAY_COLUMN_NULL(struct assay_because_function, counted[0], "base_count"),
	ASSAY_COLUMN_NULL(struct assay_because_function, counted[1], "head_count"),
};
const struct assay_columns assay_store_because_function_columns = ASSAY_COLUMNS(because_function_list);

static const struct assay_column profile_list[] = {
	ASSAY_COLUMN(struct assay_profile, kind, "kind"),
	ASSAY_COLUMN(struct assay_profile, name, "name"),
	ASSAY_COLUMN(struct assay_profile, what, "what"),
	ASSAY_COLUMN(struct assay_profile, is_case, "is_case"),
	ASSAY_COLUMN(struct assay_profile, unit, "unit"),
	ASSAY_COLUMN(struct assay_profile, source, "source"),
	ASSAY_COLUMN(struct assay_profile, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_profile, rate_hz, "rate_hz"),
	ASSAY_COLUMN(struct assay_profile, seconds, "seconds"),
	ASSAY_COLUMN(struct assay_profile, lost, "lost"),
	ASSAY_COLUMN(struct assay_profile, truncated, "truncated"),
	ASSAY_COLUMN(struct assay_profile, unresolved, "unresolved"),
	ASSAY_COLUMN_NAN(struct assay_profile, overhead_frac, "overhead_frac"),
	ASSAY_COLUMN(struct assay_profile, timed_weight, "timed_weight"),
	ASSAY_COLUMN_NAN(struct assay_profile, iteration_ns, "iteration_ns"),
	ASSAY_COLUMN(struct assay_profile, machine.id, "machine"),
};
const struct assay_columns assay_store_profile_columns = ASSAY_COLUMNS(profile_list);

static const struct assay_column profile_thread_list[] = {
	ASSAY_COLUMN(struct assay_profile_thread, name, "name"),
	ASSAY_COLUMN(struct assay_profile_thread, weight, "weight"),
};
const struct assay_columns assay_store_profile_thread_columns = ASSAY_COLUMNS(profile_thread_list);

static const struct assay_column profile_frame_list[] = {
	ASSAY_COLUMN_ENUM(struct assay_frame, kind, "kind", frame_kind_word, ASSAY_FRAME_LABEL + 1),
	ASSAY_COLUMN(struct assay_frame, name, "name"),
	ASSAY_COLUMN(struct assay_frame, object, "object"),
	ASSAY_COLUMN(struct assay_frame, file, "file"),
	ASSAY_COLUMN(struct assay_frame, line, "line"),
	ASSAY_COLUMN_SEED(struct assay_frame, offset, "code_offset"),
};
const struct assay_columns assay_store_profile_frame_columns = ASSAY_COLUMNS(profile_frame_list);

/* The numbers of a call site, or of all of them: of @of in struct @type. */
#define SITE_COLUMNS(type, of)                                                                                         \
	ASSAY_COLUMN(type, of blocks, "blocks"), ASSAY_COLUMN(type, of bytes, "bytes"),                                \
		ASSAY_COLUMN(type, of live_blocks, "live_blocks"), ASSAY_COLUMN(type, of live_bytes, "live_bytes"),    \
		ASSAY_COLUMN(type, of most_blocks, "most_blocks"), ASSAY_COLUMN(type, of most_bytes, "most_bytes"),    \
		ASSAY_COLUMN(type, of peak_blocks, "peak_blocks"), ASSAY_COLUMN(type, of peak_bytes, "peak_bytes"),    \
		ASSAY_COLUMN(type, of age_bytes, "age_bytes"), ASSAY_COLUMN(type, of largest_bytes, "largest_bytes"),  \
		ASSAY_COLUMN(type, of samples, "samples")

static const struct assay_column profile_heap_list[] = {
	ASSAY_COLUMN(struct assay_profile_heap, processes, "processes"),
	ASSAY_COLUMN(struct assay_profile_heap, sample_bytes, "sample_bytes"),
	ASSAY_COLUMN(struct assay_profile_heap, peak_clock, "peak_clock"),
	SITE_COLUMNS(struct assay_profile_heap, all.),
};
const struct assay_columns assay_store_profile_heap_columns = ASSAY_COLUMNS(profile_heap_list);

static const struct assay_column profile_site_list[] = { SITE_COLUMNS(struct assay_profile_site, ) };
const struct assay_columns assay_store_profile_site_columns = ASSAY_COLUMNS(profile_site_list);

static const struct assay_column profile_gpu_list[] = { ASSAY_COLUMN(struct assay_profile_gpu, why, "why") };
const struct assay_columns assay_store_profile_gpu_columns = ASSAY_COLUMNS(profile_gpu_list);

static const struct assay_column profile_gpu_device_list[] = {
	ASSAY_COLUMN(struct assay_profile_gpu_device, index, "gpu"),
	ASSAY_COLUMN(struct assay_profile_gpu_device, name, "name"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, busy_frac, "busy_frac"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, memory_busy_frac, "memory_busy_frac"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, mean_watts, "mean_watts"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, most_watts, "most_watts"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, joules, "joules"),
	ASSAY_COLUMN(struct assay_profile_gpu_device, memory_bytes, "memory_bytes"),
	ASSAY_COLUMN(struct assay_profile_gpu_device, most_memory_bytes, "most_memory_bytes"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_device, most_celsius, "most_celsius"),
	ASSAY_COLUMN(struct assay_profile_gpu_device, samples, "samples"),
};
const struct assay_columns assay_store_profile_gpu_device_columns = ASSAY_COLUMNS(profile_gpu_device_list);

static const struct assay_column profile_gpu_work_list[] = {
	ASSAY_COLUMN(struct assay_profile_gpu_work, calls, "calls"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, least_ns, "least_ns"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, most_ns, "most_ns"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, bytes, "bytes"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, registers, "registers"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, block_threads, "block_threads"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, blocks, "blocks"),
	ASSAY_COLUMN(struct assay_profile_gpu_work, shared_bytes, "shared_bytes"),
	ASSAY_COLUMN_NAN(struct assay_profile_gpu_work, occupancy_frac, "occupancy_frac"),
};
const struct assay_columns assay_store_profile_gpu_work_columns = ASSAY_COLUMNS(profile_gpu_work_list);

static const struct assay_column profile_wait_list[] = {
	ASSAY_COLUMN(struct assay_wait_count, waits, "times"),
	ASSAY_COLUMN(struct assay_wait_count, longest_ns, "longest_ns"),
};
const struct assay_columns assay_store_profile_wait_columns = ASSAY_COLUMNS(profile_wait_list);
