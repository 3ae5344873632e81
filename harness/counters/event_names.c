/* SPDX-License-Identifier: Apache-2.0 */
/* The presets are those of PAPI's manual; whether a machine has one is asked there. */
#include "counters/event_names.h"

#include <stdlib.h>
#include <string.h>

static const char *const presets[] = {
	"PAPI_L1_DCM",  "PAPI_L1_ICM",  "PAPI_L2_DCM",  "PAPI_L2_ICM",  "PAPI_L3_DCM",  "PAPI_L3_ICM",  "PAPI_L1_TCM",
	"PAPI_L2_TCM",  "PAPI_L3_TCM",  "PAPI_CA_SNP",  "PAPI_CA_SHR",  "PAPI_CA_CLN",  "PAPI_CA_INV",  "PAPI_CA_ITV",
	"PAPI_L3_LDM",  "PAPI_L3_STM",  "PAPI_BRU_IDL", "PAPI_FXU_IDL", "PAPI_FPU_IDL", "PAPI_LSU_IDL", "PAPI_TLB_DM",
	"PAPI_TLB_IM",  "PAPI_TLB_TL",  "PAPI_L1_LDM",  "PAPI_L1_STM",  "PAPI_L2_LDM",  "PAPI_L2_STM",  "PAPI_BTAC_M",
	"PAPI_PRF_DM",  "PAPI_L3_DCH",  "PAPI_TLB_SD",  "PAPI_CSR_FAL", "PAPI_CSR_SUC", "PAPI_CSR_TOT", "PAPI_MEM_SCY",
	"PAPI_MEM_RCY", "PAPI_MEM_WCY", "PAPI_STL_ICY", "PAPI_FUL_ICY", "PAPI_STL_CCY", "PAPI_FUL_CCY", "PAPI_HW_INT",
	"PAPI_BR_UCN",  "PAPI_BR_CN",   "PAPI_BR_TKN",  "PAPI_BR_NTK",  "PAPI_BR_MSP",  "PAPI_BR_PRC",  "PAPI_FMA_INS",
	"PAPI_TOT_IIS", "PAPI_TOT_INS", "PAPI_INT_INS", "PAPI_FP_INS",  "PAPI_LD_INS",  "PAPI_SR_INS",  "PAPI_BR_INS",
	"PAPI_VEC_INS", "PAPI_RES_STL", "PAPI_FP_STAL", "PAPI_TOT_CYC", "PAPI_LST_INS", "PAPI_SYC_INS", "PAPI_L1_DCH",
	"PAPI_L2_DCH",  "PAPI_L1_DCA",  "PAPI_L2_DCA",  "PAPI_L3_DCA",  "PAPI_L1_DCR",  "PAPI_L2_DCR",  "PAPI_L3_DCR",
	"PAPI_L1_DCW",  "PAPI_L2_DCW",  "PAPI_L3_DCW",  "PAPI_L1_ICH",  "PAPI_L2_ICH",  "PAPI_L3_ICH",  "PAPI_L1_ICA",
	"PAPI_L2_ICA",  "PAPI_L3_ICA",  "PAPI_L1_ICR",  "PAPI_L2_ICR",  "PAPI_L3_ICR",  "PAPI_L1_TCH",  "PAPI_L2_TCH",
	"PAPI_L3_TCH",  "PAPI_L1_TCA",  "PAPI_L2_TCA",  "PAPI_L3_TCA",  "PAPI_L1_TCR",  "PAPI_L2_TCR",  "PAPI_L3_TCR",
	"PAPI_L1_TCW",  "PAPI_L2_TCW",  "PAPI_L3_TCW",  "PAPI_FML_INS", "PAPI_FAD_INS", "PAPI_FDV_INS", "PAPI_FSQ_INS",
	"PAPI_FNV_INS", "PAPI_FP_OPS",  "PAPI_SP_OPS",  "PAPI_DP_OPS",  "PAPI_VEC_SP",  "PAPI_VEC_DP",  "PAPI_REF_CYC",
};
const char *const assay_counter_system_events[] = {
	"minor_faults",     "major_faults", "voluntary_switches", "forced_switches",
	"context_switches", "migrations",   "task_clock_ns",      NULL,
};
const char *const assay_counter_run_events[] = {
	"heap_allocations", "heap_bytes", "heap_peak_bytes", "heap_largest_bytes", "heap_leaked_bytes",
	"syscalls",         NULL,
};

static int add_all(struct assay_strings *l, const char *const *names, size_t n, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = assay_strings_add(l, names[i], err);
	return rc;
}

static bool is_native(const char *name)
{
	return name[0] && strpbrk(name, ":-") && strlen(name) < ASSAY_NAME_MAX;
}

/* What something counts by this name: presets, events of the operating system and of whole runs, and @published. */
static int add_counted(struct assay_strings *known, const struct assay_strings *published, struct assay_err *err)
{
	int rc = add_all(known, presets, sizeof(presets) / sizeof(presets[0]), err);

	for (size_t i = 0; assay_counter_system_events[i] && !rc; i++)
		rc = assay_strings_add(known, assay_counter_system_events[i], err);
	for (size_t i = 0; assay_counter_run_events[i] && !rc; i++)
		rc = assay_strings_add(known, assay_counter_run_events[i], err);
	return rc ? rc : add_all(known, (const char *const *)published->v, published->n, err);
}

static int check_name(const char *name, const struct assay_strings *known, struct assay_err *err)
{
	const char *near;

	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "event '%.60s' has a blank or a control character in its name", name);
	if (is_native(name) || assay_strings_has(known, name))
		return 0;
	near = assay_nearest(name, (const char *const *)known->v, known->n);
	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "unknown event '%s', did you mean '%s'?", name, near);
	/* there are too many to name them all */
	return assay_err_set(err, ASSAY_EUSAGE, "unknown event '%s', 'assay list groups' shows what can be counted",
			     name);
}

int assay_counter_event_check(const char *name, const struct assay_counter_groups *g,
			      const struct assay_strings *published, struct assay_err *err)
{
	struct assay_strings known = { 0 };
	int rc = add_counted(&known, published, err);

	for (size_t i = 0; i < g->n && !rc; i++)
		for (size_t k = 0; k < g->v[i].n_events && !rc; k++)
			rc = assay_strings_add(&known, g->v[i].events[k].name, err);
	if (!rc)
		rc = check_name(name, &known, err);
	assay_strings_release(&known);
	return rc;
}

int assay_counter_choice_check(const struct assay_counter_choice *choice, const struct assay_strings *published,
			       struct assay_err *err)
{
	struct assay_strings known = { 0 };
	int rc = add_counted(&known, published, err);

	for (size_t i = 0; i < choice->n_groups && !rc; i++)
		for (size_t k = 0; k < choice->groups[i]->n_events && !rc; k++) {
			const struct assay_group_event *e = &choice->groups[i]->events[k];

			for (size_t a = e->n_native; a < e->names.n && !rc; a++) {
				rc = check_name(e->names.v[a], &known, err);
				if (rc)
					assay_err_prefix(err, "%s:%u", e->path, e->line);
			}
		}
	assay_strings_release(&known);
	return rc;
}

static int add_pair(struct assay_strings *names, struct assay_strings *groups, const char *name, const char *group,
		    struct assay_err *err)
{
	int rc = assay_strings_add(names, name, err);

	return rc ? rc : assay_strings_add(groups, group, err);
}

int assay_counter_names(struct assay_strings *names, struct assay_strings *groups, const struct assay_counter_groups *g,
			struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < g->v[i].n_metrics && !rc; k++)
			rc = add_pair(names, groups, g->v[i].metrics[k].tag, g->v[i].name, err);
		for (size_t k = 0; k < g->v[i].n_events && !rc; k++)
			rc = add_pair(names, groups, g->v[i].events[k].name, g->v[i].name, err);
	}
	for (size_t i = 0; assay_counter_run_events[i] && !rc; i++)
		rc = add_pair(names, groups, assay_counter_run_events[i], "", err);
	return rc;
}
