#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# assay-gate in a repository that 'assay init' made: the ways to a base, or to none, and the ends. The last test of init.bats has
# changes that are slower and that are none.
load helpers
load gate_helpers

setup_file() {
	install_assay
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR begin
	mkdir made && cd made
	git init -q -b main
	assay init >/dev/null
	small_shapes
	git add . && git commit -q -m first
}

setup() {
	begin
	cp -a "$BATS_FILE_TMPDIR/made" mine
	cd mine || return 1
}

# gates STATUS [ARGUMENT...]: what assay-gate ends with.
gates() {
	local want=$1
	shift
	run --separate-stderr assay-gate "$@"
	[ "$status" = "$want" ] || { printf '%s instead of %s\n' "$status" "$want" "$output" "$stderr"; return 1; }
	[[ $stderr == *"gate: exit status $want" ]]
	[ -s build/gate/report.md ]
}

# change NAME COMMAND...: a branch off main with what the command changes.
change() {
	git checkout -q -b "$1" main
	shift
	"$@"
	git commit -q -a --allow-empty -m "$*"
}

wrong() {
	sed -i 's/copysign(0.5, v)/0/' mine.c
}

broken() {
	echo 'int oops = "text' >>mine.c
}

@test "the first commit: its own cases alone, by manifest, limits and counts" {
	gates 0
	[[ $stderr == *"the first commit; judging by manifest, limits and recorded counts"*"building working tree: make"* ]]
	[[ $stderr == *"no exact counts are recorded; record them with 'assay baseline update --exact'"* || $stderr == *valgrind* ]]
	# what it counted lies ready to be recorded
	[[ $stderr == *valgrind* ]] || jq -e '.builds[0].cases | keys == ["quantize.q8_0/mine/n=4096/t=1/warm"]' build/gate/exact.json
	jq -e '[.cases[].key] | unique == ["quantize.q8_0/mine/n=4096/t=1/warm"]' build/gate/report.json
	jq -e '[.cases[].verdict] | unique == ["INCOMPARABLE", "PASS"]' build/gate/report.json
	# a case that is gone
	sed -i 's/variants = {"mine"}/variants = {"other"}/' bench/suites/quick.suite
	sed -i 's/\.name = "mine",$/.name = "other",/' mine.c
	git commit -q -a --amend -m first
	gates 4
	jq -e '.cases[] | select(.key == "quantize.q8_0/mine/n=4096/t=1/warm").verdict == "NOT_MEASURED"' build/gate/report.json
	git checkout -q 'HEAD@{1}' -- . && git commit -q -a --amend -m first
	rm assay.db
	# a limit
	sed -i 's/^\tjob->host->parallel(job, work, job);/\tvoid *p = malloc(100000);\n\tmemset(p, 1, 100000);\n\tfree(p);\n&/
		s/^#include <math.h>/&\n#include <stdlib.h>/' mine.c
	git commit -q -a --amend -m first
	CFLAGS='-O1 -fno-builtin' gates 1
	jq -e '[.cases[] | select(.verdict == "REGRESSED").metric] | any(startswith("heap_allocations"))' build/gate/report.json
}

@test "the first commit: recorded counts" {
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	make >/dev/null
	assay run >/dev/null
	assay baseline update --exact >/dev/null
	git add . && git commit -q --amend -m first
	gates 0
	[ ! -e build/gate/exact.json ]
	jq -e '[.cases[] | select(.evidence == "exact").verdict] | length > 0 and all(. == "PASS")' build/gate/report.json
	slower
	git commit -q -a --amend -m first
	gates 1
	jq -e '[.cases[] | select(.evidence == "exact" and .verdict == "REGRESSED").metric] | any(startswith("exact_instructions"))' build/gate/report.json
}

@test "a branch: wrong, not building" {
	change wrong wrong
	gates 3
	[[ $stderr == *"(the merge base with main)"* ]]
	jq -e '.verdict == "WRONG_RESULT" and ([.cases[].key] | unique == ["quantize.q8_0/mine/n=4096/t=1/warm"])' build/gate/report.json
	grep -q WRONG_RESULT build/gate/report.md
	change broken broken
	gates 2
	[[ $stderr == *"missing terminating"*"cannot build 'working tree': 'make' exited with status 2"* ]]
	grep -q "no verdict" build/gate/report.md
}

@test "what never built: wrong and broken first commits, and a broken base" {
	wrong
	git commit -q -a --amend -m first
	gates 3
	broken
	git commit -q -a --amend -m first
	gates 2
	[[ $stderr == *"missing terminating"*"cannot build 'working tree'"* ]]
	change repaired git checkout -q "$(git rev-list -g main | tail -n 1)" -- mine.c
	gates 2
	[[ $stderr == *"cannot build '$(git rev-parse main)'"* ]]
}

@test "a merge request in a clone: GitHub, GitLab, and a shallow one" {
	git branch -q -m main stable
	git checkout -q -b work
	wrong
	git commit -q -a -m work
	git clone -q "file://$PWD" ../clone
	cd ../clone
	# nothing here says what to compare with but the environment
	git remote set-head origin -d
	GITHUB_BASE_REF=stable gates 3
	[[ $stderr == *"the merge base with origin/stable"* ]]
	CI_MERGE_REQUEST_TARGET_BRANCH_NAME=stable CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD~1) CI_MERGE_REQUEST_IID=3 gates 3
	[[ $stderr == *"the base of merge request 3"* ]]
	# the base is elsewhere, and that is no pass
	git clone -q --depth 1 --branch stable "file://$BATS_TEST_TMPDIR/mine" ../shallow
	cd ../shallow
	GITHUB_BASE_REF=main gates 5
	[[ $stderr == *"there is no branch 'main' here, and this clone is shallow: fetch the whole history"* ]]
	jq -e '.verdict == "INCOMPARABLE"' build/gate/report.json
}

@test "a benchmark that both suite and manifest lose is missed all the same" {
	# wherever the base keeps its demands
	git mv baselines demands
	sed -i 's/"baselines"/"demands"/' assay.conf
	git commit -q -a --amend -m first
	git checkout -q -b lost
	cat bench/mine.bench <(sed 's/"mine"/"other"/; s/n=4096/n=8192/' bench/mine.bench) >both
	mv both bench/mine.bench
	sed -i 's/^    use "mine" /    use "other" /' bench/suites/quick.suite
	git mv demands baselines
	sed -i 's/"demands"/"baselines"/' assay.conf
	sed -i 's/n=4096/n=8192/' baselines/quick.manifest
	git commit -q -a -m lost
	gates 4
	jq -e '.cases[] | select(.key == "quantize.q8_0/mine/n=4096/t=1/warm").verdict == "NOT_MEASURED"' build/gate/report.json
}

@test "bad input is one line before anything is built" {
	for branch in first second; do
		run --separate-stderr assay-gate --suite quikc
		[ "$status" = 2 ]
		[[ $stderr == *"assay: unknown suite 'quikc', did you mean 'quick'?"* ]]
		[[ $stderr != *building* ]]
		run --separate-stderr assay-gate --policy none.conf
		[ "$status" = 2 ]
		[ "$stderr" = "gate: no policy 'none.conf'" ]
		git checkout -q -b $branch && git commit -q --allow-empty -m work
	done
	[ ! -e build/mine.so ]
}
