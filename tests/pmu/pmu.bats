# SPDX-License-Identifier: Apache-2.0
# PAPI on the driver of a real PMU: an emulated arm64 machine is booted with one and without, and what the program said there is
# checked here. `make test-pmu` runs it. Such a machine says nothing about speed.
bats_require_minimum_version 1.5.0

: "${ASSAY_SOURCE:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${ASSAY_BUILD:=$ASSAY_SOURCE/build}"
MACHINE=$ASSAY_BUILD/pmu

# Without the packages there is a reason to skip all tests, and no machine.
setup_file() {
	local status=0

	"$ASSAY_SOURCE/tests/pmu/build_guest.sh" "$MACHINE" >"$BATS_FILE_TMPDIR/built" 2>&1 || status=$?
	case $status in
	0)
		"$ASSAY_SOURCE/tests/pmu/boot.sh" "$MACHINE" on
		"$ASSAY_SOURCE/tests/pmu/boot.sh" "$MACHINE" off
		"$ASSAY_SOURCE/tests/pmu/boot.sh" "$MACHINE" native
		;;
	77) tail -n 1 "$BATS_FILE_TMPDIR/built" >"$BATS_FILE_TMPDIR/missing" ;;
	*)
		cat "$BATS_FILE_TMPDIR/built"
		return 1
		;;
	esac
}

setup() {
	[ ! -e "$BATS_FILE_TMPDIR/missing" ] || skip "$(cat "$BATS_FILE_TMPDIR/missing")"
}

# found on|off NAME: what try NAME of the machine said; it must have ended with 0.
found() {
	cat "$MACHINE/$1/$2.err"
	[ "$(cat "$MACHINE/$1/$2.status")" = 0 ] || return 1
	output=$(cat "$MACHINE/$1/$2.out")
}

# finding NAME: what the doctor of the try last found says of it.
finding() {
	jq -r --arg name "$1" '.findings[] | select(.name == $name) | "\(.health) \(.value) \(.advice)"' <<<"$output"
}

@test "the doctor finds the PMU, and its test believes the counters that count" {
	found on doctor
	[[ $(finding pmu) == "ok counts cycles of user code"* ]]
	[[ $(finding counters_papi) == "ok PAPI "*" hardware counters at once"* ]]
	[[ $(finding PAPI_TOT_INS) == "ok it counts 5.0"*" a turn of the test loop, which has 5"* ]]
	[[ $(finding PAPI_TOT_CYC) == "ok it counts "* ]]
	[[ $(finding counters_papi_cost) == "ok 2 hardware events take "* ]]
}

@test "counters that are listed and read zero are refused with the reason" {
	found on doctor
	for event in L1_DCM BR_MSP L1_DCA L1_DCW L1_ICA L1_ICM L2_DCW L2_DCH VEC_INS; do
		[[ $(finding PAPI_$event) == "none it reads zero in a loop that must count "* ]]
	done
	found on base
	jq -e '.cases[0] | .counters as $counters | .unavailable as $not | ["PAPI_L1_DCM", "PAPI_BR_MSP", "PAPI_L1_DCA"]
		| all($counters[.] == null and ($not[.].reason | contains("cannot be trusted: it reads zero")))' <<<"$output"
}

@test "a run of the suite smoke stores instructions and cycles of every case" {
	found on smoke
	jq -e '[.cases[] | select(.status == "ok")] | length > 20 and all([.counters.PAPI_TOT_INS, .counters.PAPI_TOT_CYC]
		| all(.source == "pmu" and .value > 1000))' <<<"$output"
	jq -e '[.cases[] | select(.status != "ok")] | all(.status == "skipped")' <<<"$output"
}

@test "instructions of a loop of known length are right within 1 %" {
	found on base
	jq -e '.cases[0].counters.PAPI_TOT_INS.value / 1e6 - 1 | fabs < 0.01' <<<"$output"
	found on slow
	jq -e '.cases[0].counters.PAPI_TOT_INS.value / 1.05e6 - 1 | fabs < 0.01' <<<"$output"
}

@test "with --multiplex more events than counters count at once, and are estimates" {
	found on many
	jq -e '.cases[0].counters | with_entries(select(.value.source == "pmu")) | length == 8
		and all(.running_frac == 0.75 and (.how | contains("multiplexed")) and (.value / 1e6 - 1 | fabs < 0.25))' <<<"$output"
}

@test "a limit on instructions fails a slower kernel with exit 1" {
	found on gate_base
	jq -e '.cases | any(.metric == "PAPI_TOT_INS" and .evidence == "pmu" and .verdict == "PASS")' <<<"$output"
	[ "$(cat "$MACHINE/on/gate_slow.status")" = 1 ]
	jq -e '.cases | any(.metric == "PAPI_TOT_INS" and .evidence == "pmu" and .verdict == "REGRESSED")' "$MACHINE/on/gate_slow.out"
}

@test "what counts another mode than the user's is counted so, or not at all" {
	found on modes
	jq -e '.cases[0] | .counters as $counters | .unavailable as $not
		| (["perf::INSTRUCTIONS:k", "perf::INSTRUCTIONS:u:k", "perf::INSTRUCTIONS:k=1"]
			| all($counters[.] == null and ($not[.].reason | startswith("PAPI would count user code for "))))
		and $counters["perf::INSTRUCTIONS:u"].value > 1e6
		and $counters["perf::INSTRUCTIONS:u=0:k=1"].value < 1e5 and $counters["perf::INSTRUCTIONS:u=0:k=1"].value > 0' <<<"$output"
}

@test "kernel.perf_event_paranoid of 3 turns PAPI off until it is 2, and the doctor says so" {
	found on doctor_paranoid
	[[ $(finding counters_papi) == "none "*"kernel.perf_event_paranoid is 3, 2 or lower is needed"* ]]
	[[ $(finding counters_papi) == *" sudo sysctl kernel.perf_event_paranoid=2" ]]
	found on paranoid
	jq -e '.cases[0] | .counters.PAPI_TOT_INS == null
		and (.unavailable.PAPI_TOT_INS.reason | contains("kernel.perf_event_paranoid is 3, 2 or lower is needed"))' <<<"$output"
}

@test "without a PMU the doctor says so of PAPI, too, and nothing is counted" {
	found off doctor
	[[ $(finding pmu) == "none no PMU exposed by the hypervisor or kernel "* ]]
	[[ $(finding counters_papi) == "none PAPI knows the processor and counts none of PAPI_TOT_CYC, PAPI_TOT_INS and "* ]]
	[ -z "$(finding PAPI_TOT_INS)" ]
	[[ $(finding counters_papi_cost) == "ok "*" software-defined events take "* ]]
	found off base
	jq -e '.cases[0] | .status == "ok" and ([.counters[].source] | all(. != "pmu"))
		and (.unavailable.PAPI_TOT_INS.reason | startswith("PAPI knows the processor and counts none of "))' <<<"$output"
}

@test "where PAPI has native events alone the doctor names them, and they count" {
	found native doctor
	[[ $(finding counters_papi) == "ok PAPI "*" hardware counters at once"* ]]
	[[ $(finding papi_presets) == "none PAPI has no presets for this processor, but native events name these, such as --events "* ]]
	[ -z "$(finding PAPI_TOT_INS)" ]
	[[ $(finding counters_papi_cost) == "ok 2 hardware events take "* ]]
	found native base
	jq -e '.cases[0].unavailable.PAPI_TOT_INS.reason == "PAPI does not have '"'PAPI_TOT_INS'"' on this machine"' <<<"$output"
	found native native
	jq -e '.cases[0].counters["perf::INSTRUCTIONS"].value / 1e6 - 1 | fabs < 0.01' <<<"$output"
}
