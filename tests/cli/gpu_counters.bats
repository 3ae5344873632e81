#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Counts of a GPU: the emulated runtime is the GPU, and libraries stand in the places of NVML, CUPTI and the driver.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins
EMULATED=$ASSAY_BUILD/tests/cuda

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -e "$EMULATED/assay_cuda.so" ] || skip "no emulated plugin: make found no C++ compiler"
	mkdir lib suites
	ln -s "$ASSAY_SOURCE/bench/groups" groups
	ln -s "$PLUGINS/nvml_standin.so" lib/libnvidia-ml.so.1
	ln -s "$PLUGINS/cupti_standin.so" lib/libcupti.so.13
	ln -s "$PLUGINS/cupti_standin.so" lib/libcuda.so.1
	cat >codes.bench <<-'END'
		bench "codes" { op = "quantize.q8_0" shapes = {"n=4352"} budget = "20ms" threads = {"1"} variants = {"cuda", "ref"} timeout = "120s" }
	END
	echo 'suite "quick" { use "codes" { } }' >suites/quick.suite
	export CUPTI_STANDIN=whole NVML_STANDIN=cool
}

PLUGIN_OPTIONS="--no-default-plugins --plugin $EMULATED/assay_cuda.so --plugin $EMULATED/ops.so --plugin $EMULATED/quantize.so --bench-dir ."

# count VAR=VALUE... -- OPTION...: a run of both cases; what it told is in counted.json.
count() {
	local vars=()

	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "${vars[@]}" "$ASSAY" run $PLUGIN_OPTIONS "$@" --json
	echo "$stderr"
	[ "$status" = 0 ]
	echo "$output" >counted.json
}

# is JQ: of the case on the GPU
is() {
	jq -e ".cases[] | select(.variant == \"cuda\") | $1" counted.json
}

@test "kernels, occupancy, DRAM and L2 of a call are counted in runs of their own" {
	count -- --counters gpu
	is '.counters | .gpu_kernels.value == 102 and .gpu_kernel_ns.value == 90000 and .gpu_occupancy.value == 0.625
		and .gpu_dram_read_bytes.value == 1048576 and .gpu_dram_written_bytes.value == 4096 and .gpu_l2_hit_rate.value == 0.875'
	is '[.counters | .gpu_kernels, .gpu_l2_hit_rate | .source] == ["pmu", "pmu"]'
	is '.metrics.gpu_dram_bytes.value == 1052672 and .metrics.gpu_dram_bytes_per_s.value > 1.16e10 and .metrics.gpu_dram_bytes_per_s.value < 1.18e10'
	is '.digest as $d | .status == "ok" and ($d | length) == 32'
	"$ASSAY" show 1 cuda >text
	grep 'gpu_kernel_ns .*CUPTI 130000, an untimed call: 101 gemv<float> 66000 ns, 1 softmax 24000 ns' text
	grep 'gpu_dram_read_bytes .*dram__bytes_read.sum of gh100, 2 untimed calls' text
	# a case of the CPU says why it has none
	jq -e '.cases[] | select(.variant == "ref") | [.. | strings] | any(. == "the case runs on no GPU of NVIDIA'"'"'s")' counted.json
}

@test "what the driver forbids, and what CUPTI lacks, is unavailable with what to do" {
	reasons() {
		jq -r '.cases[] | select(.variant == "cuda") | .. | strings' counted.json
	}
	count CUPTI_STANDIN=forbidden -- --counters gpu
	is '.counters.gpu_kernel_ns.value == 90000 and (.counters.gpu_occupancy.value | not)'
	reasons | grep 'ERR_NVGPUCTRPERM: the driver shows GPU counters to administrators only. Load its module with NVreg_RestrictProfilingToAdminUsers=0, run as root'
	# one line names a case that could have it, and not one of the CPU
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" CUPTI_STANDIN=forbidden "$ASSAY" run $PLUGIN_OPTIONS --counters gpu
	[[ $stderr == *"counters of 'quantize.q8_0/cuda/"*"' unavailable here, such as gpu_occupancy: ERR_NVGPUCTRPERM: "* ]]
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$ASSAY" run $PLUGIN_OPTIONS --counters gpu --only ref
	[[ $stderr == *"counters of 'quantize.q8_0/ref/"*"' unavailable here, such as gpu_kernels: the case runs on no GPU of NVIDIA's"* ]]
	count CUPTI_STANDIN=lacks -- --counters gpu
	is '.counters.gpu_dram_read_bytes.value == 1048576 and (.counters.gpu_l2_hit_rate.value | not)'
	reasons | grep 'CUPTI cannot count it on this GPU'
	ln -sf "$PLUGINS/cupti_older_standin.so" lib/libcupti.so.13
	count -- --counters gpu
	is '.counters.gpu_kernels.value == 102 and (.counters.gpu_occupancy.value | not)'
	reasons | grep "CUPTI 130000 does not count in ranges: CUDA 12.6's is the first"
	ln -sf "$PLUGINS/cupti_standin.so" lib/libcupti.so.13
	while IFS=: read -r how reason; do
		count CUPTI_STANDIN="$how" -- --counters gpu --only cuda
		reasons | grep "$reason"
	done <<-'END'
		late:ERR_NVGPUCTRPERM: the driver shows GPU counters to administrators only
		vgpu:the host of this virtual GPU does not let it count
		endless:CUPTI asked for more than 64 passes
		drops:CUPTI dropped 1 ranges
		dropping:CUPTI lost 2 records of kernels
		no-context:the CUDA driver has no context in this thread
		old:CUPTI 9 is older than CUDA 10's, which is the first known
	END
	rm lib/libcupti.so.13
	ldconfig -p | grep -q libcupti || [ -e /usr/local/cuda/lib64/libcupti.so ] || {
		count -- --counters gpu
		reasons | grep 'there is no libcupti.so, which comes with the CUDA toolkit: LD_LIBRARY_PATH may name its folder'
	}
}

@test "a call that fails while it is counted fails its case, and the run goes on" {
	# all launches up to the first counter are well; what comes then finds a kernel that faulted
	count -- --counters gpu --only cuda
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" EMULATED_FAULT=700 EMULATED_FAULT_AT=20 "$ASSAY" run $PLUGIN_OPTIONS --counters gpu --json
	[ "$status" = 4 ]
	jq -e '[.cases[] | [.variant, .status]] | sort == [["cuda", "failed"], ["ref", "ok"]]' <<<"$output"
}

@test "use, power, heat, clock, memory, throttling and energy are told beside samples" {
	count -- --counters gpu_state,energy
	is '.counters | .gpu_busy_frac.value == 0.75 and .gpu_memory_busy_frac.value == 0.2 and .gpu_mean_watts.value == 350.5 and .gpu_most_celsius.value == 61
		and .gpu_least_core_hz.value == 1.5e9 and .gpu_most_used_bytes.value == 1073741824 and .gpu_throttled_frac.value == 0 and .gpu_energy_mj.value > 0'
	is '.metrics.device_clock_hz.value == 1.5e9 and .counters.device_throttled_samples.value == 0'
	# with a throttle reason all samples are disturbed, and there is a result all the same
	count NVML_STANDIN=hot -- --counters gpu_state
	is '.counters.gpu_throttled_frac.value == 1 and .counters.device_throttled_samples.value == .samples and .median_ns > 0'
	"$ASSAY" show 2 cuda | grep 'gpu_throttled_frac .*looks between samples, power, heat'
}

@test "doctor says what can be counted of GPUs" {
	export LD_LIBRARY_PATH=$PWD/lib
	row() {
		"$ASSAY" doctor --json | jq -r '.findings[] | select(.name == "counters_cupti") | .health + " " + .value + " | " + .advice'
	}
	# a driver that keeps counters from users is believed, where there is one
	row | tee said
	grep -E '^ok CUPTI 130000 counts kernels( alone|, occupancy, DRAM and L2) ' said
	ln -sf "$PLUGINS/cupti_older_standin.so" lib/libcupti.so.13
	row | grep "^ok CUPTI 130000 counts kernels alone | CUPTI 130000 does not count in ranges: CUDA 12.6's is the first"
	# without any GPU the finding "gpu" says so, once
	NVML_STANDIN=none row >said
	[ -e /proc/driver/nvidia/version ] || [ ! -s said ]
}
