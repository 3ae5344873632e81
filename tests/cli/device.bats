#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Devices: which there are, which is chosen, what becomes of their cases. The mock of tests/plugins stands for one.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins
MOCK="--no-default-plugins --plugin $PLUGINS/example_op.so --plugin $PLUGINS/mock_cheat.so --bench-dir ."

# mock_bench VARIANT [CACHE]: a suite of that variant alone.
mock_bench() {
	mkdir -p suites
	echo "bench \"mock\" { op = \"example.scale\" shapes = {\"n=4096\"} variants = {\"$1\"} budget = \"20ms\" cache = {\"${2:-warm}\"} }" >mock.bench
	echo 'suite "quick" { use "mock" { } }' >suites/quick.suite
}

@test "a device is chosen by an option or the environment and stands in the key" {
	mock_bench mock_honest
	"$ASSAY" run $MOCK --json >first.json
	jq -e '.cases[0] | .key == "example.scale/mock_honest/n=4096,device=mock:0/t=1/warm" and .axes == {"n": 4096, "device": "mock:0"} and .status == "ok"' first.json
	ASSAY_DEVICE=mock:1 "$ASSAY" run $MOCK --json | jq -e '[.cases[].axes.device] == ["mock:1"]'
	ASSAY_DEVICE=mock:1 "$ASSAY" run $MOCK --device mock:1,mock:0 --json | jq -e '[.cases[].axes.device] == ["mock:1", "mock:0"]'
	# what is stored says the same
	"$ASSAY" show 1 --json | jq -e --slurpfile was first.json '[.cases[] | {key, axes}] == [$was[0].cases[] | {key, axes}]'
}

@test "a device that is not there is an error that names those that are" {
	mock_bench mock_honest
	fails 2 "the device (--device, ASSAY_DEVICE) is 'mock:2', expected one of the devices of this machine: mock:0, mock:1" run $MOCK --device mock:2
	fails 2 "the device (--device, ASSAY_DEVICE) is 'rocm:0', expected one of the devices of this machine: mock:0, mock:1" run $MOCK --device rocm:0
	MOCK_DEVICES=0 fails 2 "is 'mock:0', but there is no mock device: the mock driver is not loaded" run $MOCK --device mock:0
	fails 2 "--device is 'mock', expected devices such as cuda:0,cuda:1" run $MOCK --device mock
	ASSAY_DEVICE=0 fails 2 "ASSAY_DEVICE is '0', expected devices such as cuda:0,cuda:1" run $MOCK
	fails 2 "is 'mock:0', but no plugin provides a device" run --no-default-plugins --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/example_variant.so" --device mock:0 --bench-dir "$ASSAY_SOURCE/tests/fixtures/bench" --suite quick
}

@test "without a device its cases are skipped with the reason, never run on the CPU" {
	mock_bench mock_honest
	MOCK_DEVICES=0 run -4 --separate-stderr "$ASSAY" run $MOCK --json
	jq -e '.cases[0] | .status == "skipped" and .reason == "no mock device: the mock driver is not loaded" and .axes.device == "mock:0"' <<<"$output"
	# it is stored with that, and has no history to show
	KEEP_DB=1 fails 2 "'example.scale/mock_honest/n=4096,device=mock:0/t=1/warm' has no time in its 1 run on this machine; in the last it was skipped: no mock device" history mock_honest
}

@test "a call that falls back to the CPU fails its case, and the gate of its manifest" {
	mock_bench mock_falls_back
	run -4 --separate-stderr "$ASSAY" run $MOCK --json
	jq -e '.cases[0] | .status == "failed" and (.reason | startswith("fell back from device '"'mock:0'"' to the CPU "))' <<<"$output"
	echo 'required example.scale/mock_falls_back/n=4096,device=mock:0/t=1/warm' >quick.manifest
	run --separate-stderr "$ASSAY" gate --run 1 --manifest quick.manifest --policy /dev/null --allow-no-baseline --json
	echo "$output$stderr"
	[ "$status" = 4 ]
	jq -e '.verdict == "NOT_MEASURED" and ([.cases[] | select(.verdict == "NOT_MEASURED").reason | contains("fell back from device")] == [true])' <<<"$output"
}

@test "a device that throttles makes a comparison inconclusive with the reason, never empty" {
	for variant in mock_throttles mock_crawls; do
		mock_bench $variant
		run --separate-stderr "$ASSAY" compare "$PLUGINS/mock_cheat.so" "$PLUGINS/mock_cheat.so" --no-default-plugins --plugin "$PLUGINS/example_op.so" \
			--bench-dir . --margin 20% --budget 300ms --json
		echo "$output"
		[ "$status" = 0 ]
		jq -e '.cases | length == 1 and (.[0] | .verdict == "INCONCLUSIVE" and .dropped_frac == 1 and (.reason | contains("throttling of the device")))' <<<"$output"
	done
}

@test "two builds that bring variants and their device are compared on it" {
	mock_bench mock_honest
	run --separate-stderr "$ASSAY" compare "$PLUGINS/mock_cheat.so" "$PLUGINS/mock_cheat.so" --no-default-plugins --plugin "$PLUGINS/example_op.so" \
		--bench-dir . --device mock:1 --margin 20% --budget 10s --json
	[ "$status" = 0 ]
	jq -e '.cases | length == 1 and .[0].key == "example.scale/mock_honest/n=4096,device=mock:1/t=1/warm" and .[0].pairs > 0' <<<"$output"
}

@test "a run says what its devices are, doctor and the fingerprint what NVML tells" {
	mock_bench mock_honest
	"$ASSAY" run $MOCK --device mock:1 --db one.db >text
	grep -q 'Mock B, mock_1, 4 units, 1000 MHz, 96 MiB, L2 1 MiB, ECC on, driver 1.0' <("$ASSAY" show 1 --db one.db --json)
	"$ASSAY" doctor --json | jq -e '[.findings[] | select(.name == "nvml" or .name == "gpu")] | length >= 1'
	mkdir lib
	ln -s "$PLUGINS/nvml_standin.so" lib/libnvidia-ml.so.1
	LD_LIBRARY_PATH=$PWD/lib "$ASSAY" doctor --json |
		jq -e '[.findings[] | select(.name == "nvml") | .value] | .[0] == "Standin, sm_90, 1980 MHz, 80 GiB, memory 2619 MHz, ECC on, MIG off, PCIe 5 x16, driver 570.1" and length == 2'
	LD_LIBRARY_PATH=$PWD/lib NVML_STANDIN=broken "$ASSAY" doctor --json |
		jq -e '.findings[] | select(.name == "nvml") | .health == "none" and (.value | startswith("NVML cannot start: Driver Not Loaded"))'
	LD_LIBRARY_PATH=$PWD/lib "$ASSAY" run $MOCK --db two.db --json >two.json
	"$ASSAY" show 1 --db two.db --json | jq -e '[.. | strings] | any(startswith("Standin, sm_90, 1980 MHz"))'
}

@test "a composite op has variants of its own on devices, and its driver on the CPU" {
	mkdir suites
	echo 'bench "whole" { op = "example.whole" shapes = {"n=4096"} budget = "20ms" threads = {"1"} }' >whole.bench
	echo 'suite "quick" { use "whole" { } }' >suites/quick.suite
	run -4 --separate-stderr "$ASSAY" run --no-default-plugins --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/mock_composite.so" --bench-dir . --json
	jq -e '[.cases[] | [.key, .status]] | sort == [
		["example.whole/mock_whole/n=4096,device=mock:0/t=1/warm", "ok"],
		["example.whole/own_cpu/n=4096/t=1/warm", "failed"],
		["example.whole/ref/n=4096/t=1/warm", "ok"]]' <<<"$output"
	jq -e '[.cases[] | select(.status == "ok").digest] | unique | length == 1' <<<"$output"
	jq -e '.cases[] | select(.variant == "own_cpu").reason | contains("on the CPU example.whole runs the variants of example.scale")' <<<"$output"
}
