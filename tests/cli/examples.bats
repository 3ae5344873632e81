#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The repositories in tests/examples, from a clone to a red and a green pull request.
load helpers
load gate_helpers

setup_file() {
	install_assay
}

setup() {
	begin
	export HOME=$BATS_TEST_TMPDIR
}

# proposed EXAMPLE: a repository elsewhere has it on main, with its gate, and a branch that is slower. The commands are those of
# its README.
proposed() {
	local command commands

	git init -q --bare -b main hub.git
	git clone -q hub.git work 2>clone.log
	cp -a "$ASSAY_SOURCE/tests/examples/$1/." work
	cd work || return 1
	git add . && git commit -qm "$1" && git push -q origin HEAD:main
	mapfile -t commands < <(sed -n "/^## $1\$/,/^## /s/^    //p" "$ASSAY_SOURCE/tests/examples/README.md")
	[ "${#commands[@]}" -ge 4 ]
	for command in "${commands[@]}"; do
		run -0 --separate-stderr bash -c "$command"
		# how fine a gate is and how long it takes is tried elsewhere
		[[ $command != *"assay init"* ]] || coarse
	done
}

# A margin that no busy machine reaches, and a small shape.
coarse() {
	sed -i 's/paired = "1%"/paired = "20%"/; s/"10s"/"5s"/' ./*/policy.conf assay/*/policy.conf 2>/dev/null || true
	sed -i 's/n=1048576/n=16384/' bench/*.bench baselines/*.manifest 2>/dev/null || true
}

# remark FILE BEFORE: a branch with nothing but a remark.
remark() {
	git switch -qc remark main
	sed -i "1s|^|$2 a remark\n|" "$1"
	git commit -qam remark && git push -q origin remark
}

# job BRANCH: what the workflow that 'assay init' wrote does for a pull request of it. Ends with the status of the gate.
job() {
	local command status=0

	rm -rf ../job && git clone -q ../hub.git ../job
	cd ../job || return 70
	git switch -q "$1"
	while IFS= read -r command; do
		# why it is slower takes seconds, and is asked elsewhere
		[[ $command != assay-gate* ]] || command+=' --profile no'
		GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=$PWD/summary bash -e -c "$command" || status=$?
	done < <(sed -n "s/^        run: '\{0,1\}\([^|']*\)'\{0,1\}\$/\1/p" .github/workflows/assay.yml)
	cd ../work || return 70
	return "$status"
}

# red and green: the gate failed for the time of a case; and it did not, whatever disturbed the machine.
red() {
	run -1 --separate-stderr job slower
	jq -e '.verdict == "REGRESSED" and any(.cases[]; .verdict == "REGRESSED" and .metric == "time_s")' ../job/build/gate/report.json
	grep -q REGRESSED ../job/summary
}

green() {
	run --separate-stderr job remark
	[[ $status == [06] ]] || { printf '%s\n' "$status" "$output" "$stderr"; return 1; }
	jq -e 'all(.cases[]; .verdict == "PASS" or .verdict == "IMPROVED" or .verdict == "INCONCLUSIVE")' ../job/build/gate/report.json
}

@test "a program" {
	proposed program
	red
	remark count.c '//'
	green
}

@test "a plugin in C" {
	proposed plugin
	red
	remark dequantize.c '//'
	green
}

@test "a plugin in CUDA" {
	command -v nvcc || [ -e /usr/local/cuda/bin/nvcc ] || skip "there is no nvcc"
	proposed cuda
	[ "$(ls build)" = dequantize.so ]
	if assay list variants | grep '^dequantize.q8_0/mine .*not here: no cuda device'; then
		run -2 --separate-stderr job slower
		[[ $stderr == *"nothing to compare: no case of suite 'quick' runs a variant of 'working tree' here"* ]]
		grep -q 'no verdict' ../job/summary
		skip "no cuda device to measure on"
	fi
	red
	remark dequantize.cu '//'
	green
}
