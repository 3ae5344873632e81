#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bisect: the commit that changed a time, in a made repository whose commits are known.
load compare_helpers

# repository WHICH...: a commit for each word, whose plugin is compare_WHICH.so; "broken" does not build.
repository() {
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	mkdir repo && cd repo || return 1
	# shellcheck disable=SC2016
	printf 'build = "mkdir -p out && cp %s/compare_$(cat which).so out/side.so"\nplugins = "out"\n' "$PLUGINS" >assay.conf
	echo /out/ >.gitignore
	git init -q -b main
	for which in "$@"; do
		echo "$which" >which
		date +%N >>count
		git add .
		git -c user.name=Ada -c user.email=a@b commit -qm "use $which"
	done
}

bisect() {
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" bisect $SELECT --policy ../wide.conf --budget 20s --db ../assay.db --case lenient.triple/work "$@"
}

nothing_is_left() {
	[ -z "$(git status --porcelain)" ]
	[ "$(git worktree list | wc -l)" = 1 ]
	[ "$(git symbolic-ref --short HEAD)" = main ]
}

@test "where what does not build hides the commit, the range is named" {
	repository base base broken double double
	bisect --good HEAD~4
	[ "$status" = 6 ]
	[[ $output == *"no single commit: it is one of 2 commits from $(git rev-parse --short=12 HEAD~2) to $(git rev-parse --short=12 HEAD~1)"* ]]
	[[ $output == *"skipped: cannot build "* ]]
	nothing_is_left
}

@test "a commit that made it faster is found among some that do not build, beside a bisection of the user's" {
	repository double broken double base base
	git bisect start HEAD HEAD~4 >/dev/null
	git checkout -q main
	bisect --good HEAD~4 --json
	[ "$status" = 0 ]
	is ".schema == 1 and .exit == 0 and .end == \"found\" and .commit == \"$(git rev-parse main~1)\""
	is '.ratio < 0.8 and .ci[1] < 1 and .ci[0] <= .ratio and .ratio <= .ci[1] and .comparisons == (.steps | map(select(.skipped | not)) | length)'
	is '.subject | startswith("use base (Ada, ")'
	is '.reason == null and .commits == 4 and .whole.ratio < 0.8 and .range == [.commit, .commit]'
	[ "$(git rev-parse refs/bisect/bad)" = "$(git rev-parse main)" ]
	nothing_is_left
}

@test "git bisect run takes --step" {
	repository base base double
	# shellcheck disable=SC2086
	git bisect start HEAD HEAD~2 >/dev/null
	# shellcheck disable=SC2086
	run git bisect run "$ASSAY" bisect --step $SELECT --policy "$PWD/../wide.conf" --budget 20s --db ../assay.db --good main~2 --case lenient.triple/work
	[ "$status" = 0 ]
	[[ $output == *"$(git rev-parse main) is the first bad commit"* ]]
	git bisect reset >/dev/null 2>&1
	# an answer of git's is none where nothing was asked
	run --separate-stderr "$ASSAY" bisect --step --good main --case x --bad y
	[ "$status" = 130 ] && [[ $stderr == *"drop --bad"* ]]
	run --separate-stderr "$ASSAY" bisect --step --good nothing --case x
	[ "$status" = 130 ] && [[ $stderr == *"unknown revision 'nothing'"* ]]
}

@test "what cannot be bisected is one line" {
	fails 2 "no --good given" bisect
	fails 2 "no --case given" bisect --good x
	fails 2 "drop --only" bisect --good x --case y --only z
	fails 2 "unexpected argument 'main'" bisect main
	export GIT_CEILING_DIRECTORIES=$PWD
	fails 2 "no git repository here" bisect --good x --case y
	repository base base
	fails 2 "unknown revision 'nothing'" bisect --good nothing --case y
	fails 2 "good and bad are the same commit" bisect --good HEAD --case y
	fails 2 "is not an ancestor of bad" bisect --good HEAD --bad HEAD~1 --case y
	bisect --good HEAD~1
	[ "$status" = 6 ] && [[ $output == *"no single commit: good and bad do not differ by more than the margin: same machine code"* ]]
	bisect --good HEAD~1 --case nothing
	[ "$status" = 2 ] && [[ ${stderr_lines[-1]} == "assay: "*nothing* ]]
	nothing_is_left
}

@test "an interrupt leaves no worktree behind" {
	repository base base double
	# shellcheck disable=SC2086
	TMPDIR=$PWD/.. "$ASSAY" bisect $SELECT --policy ../wide.conf --budget 60s --db ../assay.db --good HEAD~2 --case lenient.triple/work \
		>../out 2>../err &
	pid=$!
	for ((i = 0; i < 1200; i++)); do
		[ "$(git worktree list | wc -l)" = 3 ] && break
		sleep 0.1
	done
	[ "$(git worktree list | wc -l)" = 3 ]
	kill -INT $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 130 ]
	nothing_is_left
	[ -z "$(find .. -maxdepth 1 -name 'assay-bisect-*')" ]
}
