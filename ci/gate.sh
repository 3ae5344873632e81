#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The gating job: compares the working tree with the revision it branched off and exits with the verdict (0 pass, 1 regressed,
# 3 wrong, 4 not measured, 5 incomparable, 6 inconclusive with STRICT=1, 2 usage, 70 internal). Where there is no such revision
# it measures the tree and judges it against the stored baseline.
#
#   ci/gate.sh [BASE] [ARGUMENT...]     arguments are handed to `assay compare`, or to `assay gate` when it falls back
#
# Environment: BASE a revision, plugin file or folder to compare with, as it is (default: the merge base of a GitHub or GitLab
# change with its target, else with the main branch, else on the main branch itself the commit before); SUITE (quick); STRICT=1;
# ASSAY the program (build/bin/assay); GATE_DIR where report.md, junit.xml and report.json go (build/gate).
set -u

cd "$(dirname "$0")/.." || exit 70

suite=${SUITE:-quick}
assay=${ASSAY:-build/bin/assay}
out=${GATE_DIR:-build/gate}
base='' why=''

case ${1-} in
'' | -*) base=${BASE-} ;;
*) base=$1 && shift ;;
esac
[ "${1-}" = '' ] && [ $# -gt 0 ] && shift

say() {
	printf 'gate: %s\n' "$*" >&2
}

die() {
	say "$1"
	exit 2
}

# A commit by its name, in full; nothing when there is none.
commit() {
	git rev-parse --verify --quiet "$1^{commit}"
}

# The branch that changes go to: the one named, or else the main one.
target() {
	for ref in ${1:+"origin/$1" "$1"} ${CI_DEFAULT_BRANCH:+"origin/$CI_DEFAULT_BRANCH"} \
		"$(git symbolic-ref --quiet --short refs/remotes/origin/HEAD)" origin/main main origin/master master; do
		if [ -n "$ref" ] && commit "$ref" >/dev/null; then
			echo "$ref"
			return
		fi
		# a named target that is not here must not be replaced by a guess
		[ -n "${1-}" ] && [ "$ref" = "$1" ] && return 1
	done
	return 1
}

shallow() {
	[ "$(git rev-parse --is-shallow-repository)" = true ]
}

# Sets base and why; base stays empty where there is none, and why says so.
find_base() {
	branch=${GITHUB_BASE_REF:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME-}}
	hint=''

	if ! problem=$(git rev-parse --git-dir 2>&1 >/dev/null); then
		why="git says: $(printf '%s\n' "$problem" | head -n 1)"
		return
	fi
	shallow && hint=', and this clone is shallow: fetch the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: "0" on GitLab)'
	if ! head=$(commit HEAD); then
		why='there is no commit yet'
		return
	fi
	if [ -n "${CI_MERGE_REQUEST_DIFF_BASE_SHA-}" ]; then
		if base=$(commit "$CI_MERGE_REQUEST_DIFF_BASE_SHA"); then
			why="the base of merge request ${CI_MERGE_REQUEST_IID:-?}"
			return
		fi
	fi
	if ! onto=$(target "$branch"); then
		why="there is no branch '${branch:-main}' here$hint"
		return
	fi
	if ! base=$(git merge-base HEAD "$onto"); then
		why="HEAD and $onto have no common commit$hint"
		base=''
		return
	fi
	why="the merge base with $onto"
	[ "$base" = "$head" ] || return
	git diff --quiet HEAD --
	if [ $? = 1 ]; then
		why="HEAD, which is on $onto: what is not committed is compared with it"
	elif base=$(commit HEAD~1); then
		why="the commit before HEAD, which is on $onto"
	elif [ -n "$hint" ]; then
		why="HEAD is on $onto and the commit before it is not here$hint"
	else
		why="HEAD is on $onto and is the first commit"
	fi
}

judge_stored() {
	"$assay" run --suite "$suite"
	ran=$?
	case $ran in
	0 | 3 | 4) ;;
	*) return "$ran" ;;
	esac
	"$assay" gate --suite "$suite" --markdown "$out/report.md" --junit "$out/junit.xml" --json-file "$out/report.json" \
		${STRICT:+--strict} "$@"
	judged=$?
	# the graver of both; a status that is none of ours is the gravest
	case "$ran $judged" in
	'3 '[01456] | '4 '[0156]) return "$ran" ;;
	*) return "$judged" ;;
	esac
}

# Where no report was written the reader of the job's page must not see an old one, or none.
report_failure() {
	cat >"$out/report.md" <<-END
		<!-- assay-gate -->
		## assay: no verdict

		The gate ended with exit status $1 before it had judged anything; the log of the job says why.
	END
}

case ${STRICT-} in
'' | 0) STRICT='' ;;
1) ;;
*) die "STRICT is '$STRICT', expected 0 or 1" ;;
esac
case $assay in
*/*) [ -x "$assay" ] || die "no program '$assay': build it with 'make', or name another with ASSAY=" ;;
*) command -v "$assay" >/dev/null || die "no program '$assay' in PATH: install it, or name it with ASSAY=" ;;
esac
# an unknown suite is told before anything is built for it; arguments may name another folder of suites
[ $# -gt 0 ] || "$assay" list --suite "$suite" >/dev/null || exit
mkdir -p "$out" || exit 70
rm -f "$out/report.md" "$out/junit.xml" "$out/report.json" || exit 70

if [ -n "$base" ]; then
	why='as asked for'
else
	find_base
fi

if [ -n "$base" ]; then
	say "comparing with $base ($why)"
	"$assay" compare "$base" --suite "$suite" --markdown "$out/report.md" --junit "$out/junit.xml" \
		--json-file "$out/report.json" ${STRICT:+--strict} "$@"
	status=$?
else
	say "no revision to compare with: $why; judging against the stored baseline"
	judge_stored "$@"
	status=$?
fi

if [ ! -s "$out/report.json" ] && [ "$status" = 0 ]; then
	say "'$assay' ended with 0 but wrote no report: that is no pass"
	status=70
fi
[ -s "$out/report.md" ] || report_failure "$status"
[ -n "${GITHUB_STEP_SUMMARY-}" ] && cat "$out/report.md" >>"$GITHUB_STEP_SUMMARY"
for file in report.md junit.xml report.json; do
	[ -s "$out/$file" ] && say "wrote $out/$file"
done
say "exit status $status"
exit "$status"
