#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The cases that a comparison of revisions must have: those that a manifest names, and those of which the policy demands something.
load compare_helpers

WORK=lenient.triple/work/n=1024/t=1/warm

# An installation whose suite names one variant for counts, and a repository with two revisions of a plugin.
setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	wide_policy
	mkdir -p home/plugins home/share/assay/baselines repo/baselines
	cp -r "$ASSAY_BUILD/bin" home/
	cp "$PLUGINS/compare_op.so" home/plugins/
	cp -r "$ASSAY_SOURCE/tests/fixtures/compare" home/share/assay/bench
	printf 'suite "quick" {\n summary = "s"\n use "triple" { }\n exact "canon" { cases = {"*/work/*"} }\n}\n' \
		>home/share/assay/bench/suites/quick.suite
	ASSAY=$PWD/home/bin/assay
	cd repo || return 1
	printf 'build = "mkdir -p out && cp %s/compare_$(cat which).so out/side.so"\nplugins = "out"\n' "$PLUGINS" >assay.conf
	printf '/out/\n' >.gitignore
	echo base >which
	git init -q -b main
}

# commits: what is there, as the base
commits() {
	git add .
	git -c user.name=a -c user.email=a@b commit -qm first
}

# comparison STATUS OPTION...: of main and the working tree, as JSON
comparison() {
	local want=$1
	shift
	run --separate-stderr "$ASSAY" compare --policy ../wide.conf --budget 100ms --db ../assay.db main --json "$@"
	[ "$status" = "$want" ] || { echo "want status $want, got $status: $output $stderr"; return 1; }
}

# An event that cannot be counted here is NOT_MEASURED in each of its cases.
needs_counts() {
	"$ASSAY" run --evidence exact --plugin "$PLUGINS/compare_base.so" --db ../counts.db --json 2>/dev/null |
		jq -e '.cases[0].status == "ok"' || skip "nothing can be counted here"
}

# manifest LINE...: of the installation
manifest() {
	printf '%s\n' "$@" >../home/share/assay/baselines/quick.manifest
}

# replayed: is the verdict from the store that of $output?
replayed() {
	local first=$output
	run --separate-stderr "$ASSAY" compare --replay last --db ../assay.db --json
	[ "$(jq -S . <<<"$first")" = "$(jq -S . <<<"$output")" ] || { diff <(jq -S . <<<"$first") <(jq -S . <<<"$output"); return 1; }
}

@test "a benchmark that the manifest demands and nobody plans is NOT_MEASURED by times and by counts" {
	commits
	manifest "required $WORK" "required lenient.triple/gone/n=1024/t=1/warm"
	for evidence in paired exact all; do
		comparison 4 --evidence "$evidence"
		is '[.cases[] | select(.key == "lenient.triple/gone/n=1024/t=1/warm")] | length == 1 and
			.[0].verdict == "NOT_MEASURED" and (.[0].reason | contains("the manifest requires it, but the suite no longer has it"))'
		replayed
	done
}

@test "by counts alone, a demand binds on cases that the suite does not name for counts" {
	echo two >which
	commits
	printf 'limit "*/extra/*" { require = {"exact_instructions <= 1"} }\n' >../wide.conf
	comparison 4 --evidence exact
	is '[.cases[] | select(.key | contains("/extra/"))] | map([.metric, .verdict]) | contains([["exact_instructions", "NOT_MEASURED"]])'
	is '[.cases[] | select(.metric == "exact_instructions")][0].reason | contains("the suite does not name the case for exact counts")'
	replayed
	# the head has it no more
	echo base >which
	comparison 4 --evidence exact
	is '[.cases[] | select(.key | contains("/extra/"))] | length == 1 and (.[0] | .verdict == "NOT_MEASURED" and (.reason | contains("no such case any more")))'
	replayed
	: >../wide.conf
	echo two >which
	run --separate-stderr "$ASSAY" compare --policy ../wide.conf --db ../assay.db main --json --evidence exact
	is '[.cases[] | select(.key | contains("/extra/"))] == []'
}

@test "what neither side runs is NOT_MEASURED where the policy requires something of it, and nothing otherwise" {
	commits
	compares() {
		ASSAY=$ASSAY_BUILD/bin/assay
		cd "$BATS_TEST_TMPDIR" || return 1
		compare refuses refuses --json "$@"
	}
	printf 'limit "*/work/*" { where_counted = {"items_per_s >= 1"} }\n' >../wide.conf
	compares
	[ "$status" = 2 ]
	[[ $stderr == *"nothing to compare"* ]]
	printf 'limit "*/work/*" { require = {"items_per_s >= 1"} }\n' >wide.conf
	for evidence in paired exact all; do
		compares --evidence "$evidence"
		[ "$status" = 4 ]
		is '.cases | length > 0 and all(.key == "lenient.triple/work/n=1024/t=1/warm" and .verdict == "NOT_MEASURED")'
		is '.cases[0].reason | contains("neither side runs it here, and the policy sets a limit for it, which no manifest excuses in a comparison: ")
			and endswith("cannot do 1024 elements")'
	done
}

@test "optional cases are demanded where their variant takes part" {
	needs_counts
	commits
	manifest "required $WORK" "optional lenient.triple/work/n=7/t=1/warm" "optional lenient.triple/absent/n=7/t=1/warm"
	comparison 4 --evidence exact
	is '[.cases[] | select(.verdict == "NOT_MEASURED") | .key] == ["lenient.triple/work/n=7/t=1/warm"]'
}

@test "on one core only the case with t=1 stands for t=all" {
	needs_counts
	commits
	manifest "required lenient.triple/work/n=1024/t=all/warm" "required lenient.triple/work/n=7/t=all/warm"
	run --separate-stderr taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$ASSAY" compare --policy ../wide.conf --db ../assay.db \
		main --evidence exact --json
	[ "$status" = 4 ]
	is '[.cases[] | select(.verdict == "NOT_MEASURED") | .key] == ["lenient.triple/work/n=7/t=all/warm"]'
}

@test "the manifest of the base's checkout counts, too; one that cannot be read is a warning" {
	needs_counts
	printf 'required lenient.triple/gone/n=1024/t=1/warm\n' >baselines/quick.manifest
	commits
	echo "maybe $WORK" >baselines/quick.manifest
	comparison 4 --evidence exact
	is '[.cases[] | select(.verdict == "NOT_MEASURED") | .key] == ["lenient.triple/gone/n=1024/t=1/warm"]'
	git -c user.name=a -c user.email=a@b commit -qam second
	comparison 0 --evidence exact
	[[ $stderr == *"the comparison is not checked against a manifest: "*"quick.manifest:1: unknown word 'maybe'"* ]]
}
