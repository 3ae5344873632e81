#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# assay-gate: which revision it compares with, what it hands to assay, and what it makes of the answer. gate_repository.bats has
# the same with the real program.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset ASSAY_DB BASE SUITE STRICT SUSPECTS GATE_DIR GITHUB_BASE_REF GITHUB_STEP_SUMMARY CI_DEFAULT_BRANCH CI_MERGE_REQUEST_IID \
		CI_MERGE_REQUEST_DIFF_BASE_SHA CI_MERGE_REQUEST_TARGET_BRANCH_NAME "${!GIT_@}"
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES=$PWD
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	# notes its arguments, writes what it is asked for unless told not to, and ends with the status asked for
	cat >fake-assay <<-'END'
		#!/bin/bash
		echo "$*" >>"$FAKE_LOG"
		command=$1
		while [ $# -gt 0 ]; do
			case $1 in
			--markdown | --junit | --json-file) [ -n "${FAKE_SILENT-}" ] || echo "written for $1" >"$2" ;;
			esac
			shift
		done
		status=FAKE_$command
		exit "${!status:-0}"
	END
	chmod +x fake-assay
	export ASSAY=$PWD/fake-assay FAKE_LOG=$PWD/log
	mkdir -p repo/ci
	cp "$ASSAY_SOURCE/ci/gate.sh" repo/ci/
	echo /build/ >repo/.gitignore
	printf 'build = "make"\nplugins = "build"\nbench = "bench"\nbaselines = "baselines"\n' >repo/assay.conf
	cd repo || return 1
}

# A history: 'first' and 'second' on main.
history() {
	git init -q -b main
	git add .
	git commit -qm first
	git commit -qm second --allow-empty
}

sha() {
	git rev-parse "$1"
}

gate() {
	run --separate-stderr ci/gate.sh "$@"
}

# compared BASE [MORE]: the only call was a comparison with BASE
compared() {
	local want="compare $1 --suite quick --markdown build/gate/report.md --junit build/gate/junit.xml --json-file build/gate/report.json --suspects fail${2:+ $2}"

	[ "$(cat "$FAKE_LOG")" = "$want" ] || { printf 'want %s\ngot  %s\n%s\n' "$want" "$(cat "$FAKE_LOG")" "$stderr"; return 1; }
}

# alone [MORE [BUILD]]: the tree was measured and judged by itself
alone() {
	local want="run${2- --build} --suite quick
gate --suite quick --markdown build/gate/report.md --junit build/gate/junit.xml --json-file build/gate/report.json --suspects fail${1:+ $1}"

	# where there is nothing to be held against, counts are kept
	[[ ${1-} != *--allow-no-baseline* ]] || want+="
baseline update --exact --suite quick --exact-file build/gate/exact.json"
	[ "$(cat "$FAKE_LOG")" = "$want" ] || { printf 'want %s\ngot  %s\n%s\n' "$want" "$(cat "$FAKE_LOG")" "$stderr"; return 1; }
}

@test "on a branch the base is the merge base with main" {
	history
	base=$(sha main)
	git checkout -qb topic
	git commit -qm work --allow-empty
	git checkout -q main
	git commit -qm 'main goes on' --allow-empty
	git checkout -q topic
	gate
	[ "$status" = 0 ]
	[ -z "$output" ]
	compared "$base"
	[[ $stderr == *"comparing with $base (the merge base with main)"* ]]
	[[ $stderr == *"wrote build/gate/report.md"*"wrote build/gate/junit.xml"*"wrote build/gate/report.json"*"exit status 0"* ]]
	[ "$(cat build/gate/report.md)" = "written for --markdown" ]
}

@test "origin/main is preferred to a main that lags behind" {
	history
	git branch topic
	git update-ref refs/remotes/origin/main "$(sha main)"
	git reset -q --hard HEAD~1
	git checkout -q topic
	git commit -qm work --allow-empty
	gate
	compared "$(sha topic~1)"
	[[ $stderr == *"the merge base with origin/main"* ]]
}

@test "on main itself the base is the commit before, or HEAD for what is not committed" {
	history
	gate
	compared "$(sha HEAD~1)"
	[[ $stderr == *"the commit before HEAD, which is on main"* ]]
	rm "$FAKE_LOG"
	echo more >>.gitignore
	gate
	compared "$(sha HEAD)"
	[[ $stderr == *"what is not committed is compared with it"* ]]
}

@test "BASE and the first argument are taken as they are, the argument first; the rest is handed on" {
	history
	BASE=HEAD~1 gate
	compared HEAD~1
	rm "$FAKE_LOG"
	BASE=nonsense gate "a folder/of.so" --only 'matmul*'
	compared "a folder/of.so" "--only matmul*"
	rm "$FAKE_LOG"
	BASE=main gate --only x
	compared main "--only x"
	rm "$FAKE_LOG"
	BASE=main gate ""
	compared main
}

@test "a GitHub change is compared with the merge base with its target, not with main" {
	history
	git update-ref refs/remotes/origin/stable "$(sha HEAD~1)"
	git update-ref refs/remotes/origin/main "$(sha HEAD)"
	git commit -qm work --allow-empty
	GITHUB_BASE_REF=stable gate
	compared "$(sha HEAD~2)"
	[[ $stderr == *"the merge base with origin/stable"* ]]
}

@test "a target that is not here is never replaced by a guess" {
	history
	git checkout -qb topic
	git commit -qm work --allow-empty
	GITHUB_BASE_REF=stable gate
	alone
	[[ $stderr == *"there is no branch 'stable' here"*"judging by manifest"* ]]
}

@test "a GitLab change is compared with the base that GitLab names, else with its target" {
	history
	git commit -qm third --allow-empty
	export CI_MERGE_REQUEST_TARGET_BRANCH_NAME=release CI_MERGE_REQUEST_IID=7
	git update-ref refs/remotes/origin/release "$(sha HEAD~1)"
	CI_MERGE_REQUEST_DIFF_BASE_SHA=$(sha HEAD~2) gate
	compared "$(sha HEAD~2)"
	[[ $stderr == *"the base of merge request 7"* ]]
	rm "$FAKE_LOG"
	CI_MERGE_REQUEST_DIFF_BASE_SHA=0123456789012345678901234567890123456789 gate
	compared "$(sha HEAD~1)"
	[[ $stderr == *"the merge base with origin/release"* ]]
}

@test "the first commit is judged alone, which is said, and needs no baseline" {
	for branch in main trunk; do
		rm -rf .git "$FAKE_LOG"
		git init -q -b $branch
		git add .
		git commit -qm first
		gate
		[ "$status" = 0 ]
		alone --allow-no-baseline
		[[ $stderr == *" and is the first commit; judging by manifest, limits and recorded counts"* ]]
	done
	# without a branch of a known name the commit before is what there is
	git commit -qm second --allow-empty
	rm "$FAKE_LOG"
	gate
	compared "$(sha HEAD~1)"
}

@test "a base that has no assay.conf yet is none" {
	git init -q -b main
	git commit -qm 'before assay' --allow-empty
	git checkout -qb topic
	git add .
	git commit -qm work
	gate
	alone --allow-no-baseline
	[[ $stderr == *"the merge base with main has no assay.conf yet"* ]]
	# one that is asked for is compared with, whatever it has
	rm "$FAKE_LOG"
	gate main
	compared main
}

@test "what is judged alone must be this repository's" {
	printf 'build = "make"\nplugins = "build"\n' >assay.conf
	git init -q -b main
	git add .
	git commit -qm first
	gate
	[ "$status" = 2 ]
	[ ! -e "$FAKE_LOG" ]
	[[ $stderr == *"first commit, and 'assay.conf' names no 'bench' and 'baselines' to judge it by alone: 'assay init' shows how"* ]]
	grep -q "no verdict" build/gate/report.md
	git rm -q assay.conf
	git commit -q --amend -m first
	gate
	[ "$status" = 2 ]
	[[ $stderr == *"there is no assay.conf in '$PWD'"* ]]
	# a program that was built here is this repository's, and so are its benches
	mkdir bin
	cp "$ASSAY" bin/assay
	ASSAY=bin/assay gate
	alone --allow-no-baseline ''
}

@test "without a base, what is meant for a comparison is left out, and that is said" {
	git init -q -b main
	gate --only x --suite other --strict --policy assay.conf --db d --margin 1%
	[ "$(cat "$FAKE_LOG")" = "run --build --suite other --db d
gate --suite other --db d --policy assay.conf --markdown build/gate/report.md --junit build/gate/junit.xml --json-file build/gate/report.json \
--strict --suspects fail --allow-no-baseline
baseline update --exact --suite other --db d --exact-file build/gate/exact.json" ]
	[[ $stderr == *"left out, since nothing is compared: --only x --margin 1%"* ]]
}

@test "it works in any folder of a repository, and its results are at the top" {
	history
	mkdir sub
	cd sub
	run --separate-stderr ../ci/gate.sh
	[ "$(cat "$FAKE_LOG")" = "compare $(sha HEAD~1) --suite quick --db $BATS_TEST_TMPDIR/repo/assay.db --markdown $BATS_TEST_TMPDIR/repo/build/gate/report.md \
--junit $BATS_TEST_TMPDIR/repo/build/gate/junit.xml --json-file $BATS_TEST_TMPDIR/repo/build/gate/report.json --suspects fail" ]
	rm "$FAKE_LOG"
	ASSAY_DB=d run --separate-stderr ../ci/gate.sh --out o
	[ "$(cat "$FAKE_LOG")" = "compare $(sha HEAD~1) --suite quick --markdown o/report.md --junit o/junit.xml --json-file o/report.json --suspects fail" ]
}

@test "a shallow clone is named as the reason" {
	history
	git commit -qm third --allow-empty
	git clone -q --depth 1 "file://$PWD" ../shallow
	cd ../shallow
	gate
	alone
	[[ $stderr == *"this clone is shallow"*"fetch-depth: 0"* ]]
}

@test "without git, without commits and without a common commit it falls back as well" {
	gate
	# a base may be anywhere but here, so that the lack of a baseline fails
	alone '' ''
	[[ $stderr == *"git says: fatal: not a git repository"* ]]
	rm "$FAKE_LOG"
	git init -q -b main
	gate
	alone --allow-no-baseline
	[[ $stderr == *"there is no commit yet"* ]]
	rm "$FAKE_LOG"
	git add .
	git commit -qm first
	git checkout -q --orphan other
	git commit -qm unrelated
	gate
	alone
	[[ $stderr == *"HEAD and main have no common commit"* ]]
}

@test "the exit status of a comparison is kept, whatever it is" {
	history
	for want in 0 1 2 3 4 5 6 70 139; do
		FAKE_compare=$want gate
		[ "$status" = "$want" ]
		[[ $stderr == *"exit status $want"* ]]
	done
}

@test "falling back, the graver of run and gate counts, and a failed run is not judged" {
	git init -q
	# run, gate, the graver
	for row in "0 0 0" "0 5 5" "3 1 3" "3 4 3" "4 0 4" "4 1 4" "4 2 2" "4 3 3" "3 5 3" "0 6 6" "4 70 70" "0 139 139" "3 139 139"; do
		read -r ran judged want <<<"$row"
		FAKE_run=$ran FAKE_gate=$judged gate
		[ "$status" = "$want" ] || { echo "run $ran, gate $judged: $status instead of $want"; return 1; }
	done
	rm "$FAKE_LOG"
	FAKE_run=2 gate
	[ "$status" = 2 ]
	[ "$(cat "$FAKE_LOG")" = "run --build --suite quick" ]
	grep -q "exit status 2" build/gate/report.md
	grep -qF -- '<!-- assay-gate -->' build/gate/report.md
}

@test "suite, strictness, folder and program come from the environment" {
	history
	SUITE=full STRICT=1 GATE_DIR=../out gate
	[ "$(cat "$FAKE_LOG")" = "compare $(sha HEAD~1) --suite full --markdown ../out/report.md --junit ../out/junit.xml --json-file ../out/report.json --strict --suspects fail" ]
	[ -s ../out/junit.xml ]
	rm "$FAKE_LOG"
	STRICT=0 gate
	compared "$(sha HEAD~1)"
	STRICT=yes gate
	[ "$status" = 2 ]
	[[ $stderr == *"STRICT is 'yes'"* ]]
	BASE=--help gate
	[ "$status" = 2 ]
	[[ $stderr == *"BASE is '--help', expected a revision"* ]]
	ASSAY=build/bin/assay gate
	[ "$status" = 2 ]
	[[ $stderr == *"no program 'build/bin/assay'"* ]]
	ASSAY=no-such-assay gate
	[ "$status" = 2 ]
	[[ $stderr == *"no program 'no-such-assay' in PATH"* ]]
	rm "$FAKE_LOG"
	PATH=$PATH:$BATS_TEST_TMPDIR ASSAY=fake-assay gate
	[ "$status" = 0 ]
}

@test "options win over the environment; a bad one is one line" {
	history
	SUITE=full STRICT=0 GATE_DIR=out gate --suite=smoke --strict --out ../out2
	[ "$(cat "$FAKE_LOG")" = "compare $(sha HEAD~1) --suite smoke --markdown ../out2/report.md --junit ../out2/junit.xml \
--json-file ../out2/report.json --strict --suspects fail" ]
	rm "$FAKE_LOG"
	SUSPECTS=pass gate
	[[ $(cat "$FAKE_LOG") == *" --suspects pass" ]]
	FAKE_compare=6 gate --strict
	[[ $stderr != *"let it pass"* ]]
	FAKE_compare=6 gate
	[ "$status" = 6 ]
	[[ $stderr == *"a case looks slower, without proof"*"let it pass with --suspects pass"* ]]
	rm "$FAKE_LOG"
	SUSPECTS=pass gate --suspects=fail
	[[ $(cat "$FAKE_LOG") == *" --suspects fail" ]]
	gate --suite
	[ "$status" = 2 ]
	[ "$stderr" = "gate: option '--suite' needs a value" ]
	for value in maybe ''; do
		gate --suspects "$value"
		[ "$status" = 2 ]
		[ "$stderr" = "gate: suspects is '$value', expected fail or pass" ]
	done
	gate --help
	[ "$status" = 0 ] && [ -z "$stderr" ]
	[[ $output == "Usage: assay-gate "*"example:"* ]]
}

@test "it takes the program beside it, then that of the tree, then the one in PATH" {
	history
	unset ASSAY
	mkdir ../bin ../other
	cp ../fake-assay ../bin/assay
	PATH=$BATS_TEST_TMPDIR/bin:$PATH gate
	[ "$status" = 0 ]
	mkdir -p build/bin
	printf '#!/bin/sh\nexit 70\n' >build/bin/assay
	chmod +x build/bin/assay
	PATH=$BATS_TEST_TMPDIR/bin:$PATH gate
	[ "$status" = 70 ]
	cp ci/gate.sh ../other/assay-gate
	cp ../fake-assay ../other/assay
	run --separate-stderr ../other/assay-gate
	[ "$status" = 0 ]
}

@test "no report is not a pass, and an old report does not outlive its run" {
	history
	gate
	[ "$status" = 0 ]
	FAKE_SILENT=1 gate
	[ "$status" = 70 ]
	[[ $stderr == *"wrote no report, so this is not a pass"* ]]
	[ ! -e build/gate/report.json ]
	[ ! -e build/gate/junit.xml ]
	grep -q "no verdict" build/gate/report.md
	FAKE_SILENT=1 FAKE_compare=2 gate
	[ "$status" = 2 ]
}

@test "on GitHub the report is added to the summary of the job" {
	history
	echo before >../summary
	GITHUB_STEP_SUMMARY=../summary FAKE_compare=1 gate
	[ "$status" = 1 ]
	[ "$(cat ../summary)" = "before
written for --markdown" ]
}

@test "the templates run the script on the whole history, keep what it writes, and know its comment" {
	local templates=$ASSAY_SOURCE/ci/templates marker
	marker=$(sed -n 's/^#define MARKER "\(.*\)"$/\1/p' "$ASSAY_SOURCE/reports/gate/markdown.c")
	[ -n "$marker" ]
	for file in "$templates"/github-actions.yml "$templates"/gitlab-ci.yml "$ASSAY_SOURCE/ci/gate.sh"; do
		grep -qF -- "$marker" "$file" || { echo "no '$marker' in $file"; return 1; }
	done
	for file in "$templates"/*.yml; do
		grep -qE '(run:|-) make$' "$file"
		grep -qE '(run:|-) assay-gate$' "$file"
		grep -qE '(path:|-) build/gate/$' "$file"
	done
	grep -q 'fetch-depth: 0$' "$templates/github-actions.yml"
	grep -q 'GIT_DEPTH: "0"$' "$templates/gitlab-ci.yml"
	# results of a red gate stay, too; each action is named by its commit
	grep -A 1 'name: Keep the results' "$templates/github-actions.yml" | grep -q 'if: always()'
	grep -q 'when: always' "$templates/gitlab-ci.yml"
	! grep 'uses:' "$templates/github-actions.yml" | grep -vE '@[0-9a-f]{40} # v'
}

@test "the GitHub template replaces its own comment, and only that" {
	command -v node >/dev/null || skip "there is no node"
	{
		cat <<-'END'
			const core = { info: console.log }, context = { repo: { owner: 'o', repo: 'r' }, issue: { number: 7 } };
			const note = kind => async of => console.log(kind, JSON.stringify(of));
			const issues = { listComments: 0, updateComment: note('update'), createComment: note('create') };
			const github = { rest: { issues }, paginate: async () => JSON.parse(process.env.COMMENTS) };
			(async () => {
		END
		sed -n '/^          script: |$/,$s/^            //p' "$ASSAY_SOURCE/ci/templates/github-actions.yml"
		echo '})();'
	} >comment.js
	COMMENTS='[]' node comment.js | grep -q 'no report'
	mkdir -p build/gate && printf '<!-- assay-gate -->\nred' >build/gate/report.md
	export COMMENTS='[{"id": 1, "user": {"type": "User"}, "body": "<!-- assay-gate -->"}, {"id": 2, "user": {"type": "Bot"}, "body": "hello"}]'
	[ "$(node comment.js)" = 'create {"owner":"o","repo":"r","issue_number":7,"body":"<!-- assay-gate -->\nred"}' ]
	COMMENTS=${COMMENTS%]}', {"id": 3, "user": {"type": "Bot"}, "body": "<!-- assay-gate -->\\ngreen"}]'
	[ "$(node comment.js)" = 'update {"owner":"o","repo":"r","comment_id":3,"body":"<!-- assay-gate -->\nred"}' ]
}

# The steps of a template on a runner without assay, as a script.
install_step() {
	case $1 in
	github) sed -n '/run: |$/,/^ *fi$/{/run: |$/d; s/^          //p}' "$ASSAY_SOURCE/ci/templates/github-actions.yml" ;;
	gitlab) sed -n '/if ! command -v/,/^ *fi$/s/^      //p' "$ASSAY_SOURCE/ci/templates/gitlab-ci.yml" | sed "s|/tmp/assay|$RUNNER_TEMP/assay|" ;;
	esac
}

@test "a runner without assay installs it from where the templates are told" {
	history
	git rm -rq ci
	git commit -qm 'no assay'
	# stands for assay itself
	mkdir -p ../upstream/ci
	touch ../upstream/ci/gate.sh
	printf '#!/bin/sh\necho "deps $*" >>"$FAKE_LOG"\n' >../upstream/ci/deps.sh
	chmod +x ../upstream/ci/deps.sh
	printf 'install:\n\techo "make install $(PREFIX)" >>"$(FAKE_LOG)"\n' >../upstream/Makefile
	git -C ../upstream init -q
	git -C ../upstream add .
	git -C ../upstream commit -qm assay
	export HOME=/home/runner GITHUB_PATH=$BATS_TEST_TMPDIR/path ASSAY_URL
	for job in github gitlab; do
		export RUNNER_TEMP=$BATS_TEST_TMPDIR/$job
		install_step $job >../install.sh
		[ "$(wc -l <../install.sh)" -gt 4 ]
		ASSAY_URL=''
		run bash -e ../install.sh
		[ "$status" = 2 ]
		[[ $output == *"no assay in '.': set the variable ASSAY_URL to the address it is cloned from"* ]]
		rm -rf "$RUNNER_TEMP"
		ASSAY_URL=$BATS_TEST_TMPDIR/upstream
		bash -e ../install.sh
		[ "$(sed -n 1p "$FAKE_LOG")" = "deps build run" ]
		[[ $(sed -n 2p "$FAKE_LOG") == "make install /"* ]]
		rm "$FAKE_LOG"
		# one that has it takes nothing
		printf '#!/bin/sh\n' >../assay-gate
		chmod +x ../assay-gate
		PATH=$BATS_TEST_TMPDIR:$PATH bash -e ../install.sh
		[ ! -e "$FAKE_LOG" ]
		rm ../assay-gate
	done
	[ "$(cat "$GITHUB_PATH")" = /home/runner/.local/bin ]
}

@test "the GitLab template replaces its own comment, and only that" {
	history
	# the block of shell below after_script, without its indentation
	sed -n '/^  after_script:/,/^  artifacts:/{/^      /s/^      //p}' "$ASSAY_SOURCE/ci/templates/gitlab-ci.yml" >../after.sh
	[ "$(wc -l <../after.sh)" -gt 10 ]
	mkdir ../bin
	cat >../bin/curl <<-'END'
		#!/bin/bash
		case $* in
		*/user) echo '{"id": 5}' ;;
		*per_page*) cat "$FAKE_NOTES" ;;
		*) echo "$*" >>"$FAKE_LOG" ;;
		esac
	END
	chmod +x ../bin/curl
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH FAKE_NOTES=$BATS_TEST_TMPDIR/notes CI_API_V4_URL=api CI_PROJECT_ID=1
	mkdir -p build/gate
	echo report >build/gate/report.md
	run sh ../after.sh
	[[ $output == "no comment: "* ]]
	[ ! -e "$FAKE_LOG" ]
	export ASSAY_BOT_TOKEN=t CI_MERGE_REQUEST_IID=7
	echo '[{"id": 1, "author": {"id": 6}, "body": "<!-- assay-gate -->"}, {"id": 2, "author": {"id": 5}, "body": "hello"}]' >"$FAKE_NOTES"
	sh ../after.sh
	[[ $(cat "$FAKE_LOG") == *"--request POST"*" api/projects/1/merge_requests/7/notes" ]]
	rm "$FAKE_LOG"
	echo '[{"id": 2, "author": {"id": 5}, "body": "hello"}, {"id": 3, "author": {"id": 5}, "body": "<!-- assay-gate -->\n"}]' >"$FAKE_NOTES"
	sh ../after.sh
	[[ $(cat "$FAKE_LOG") == *"--request PUT"*" api/projects/1/merge_requests/7/notes/3" ]]
}
