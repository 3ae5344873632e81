#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# assay-gate: what a change must pass. Compares the working tree with the revision it branched off and exits with the verdict.
# Where there is no such revision it measures the tree and judges it by manifest, limits and recorded counts.
set -u

usage() {
	cat <<'END'
Usage: assay-gate [BASE] [OPTION...]
Compare the working tree with the revision it branched off, write a report, and exit with the verdict.

BASE is a revision, plugin file or folder (default: the merge base of a GitHub or GitLab change with its
target, else with the main branch, else on the main branch itself the commit before). Without one, as on
a first commit, the tree is measured alone and judged by manifest, limits and recorded exact counts.

      --db FILE             Database of results (default assay.db at the top of the repository)
      --out DIR             Write report.md, junit.xml and report.json here (default build/gate)
      --policy FILE         Margins and limits (default: the repository's)
      --strict              INCONCLUSIVE fails, too
      --suite NAME          Suite of benches (default quick)
      --suspects fail|pass  What becomes of a case that looks slower than its margin without proof
                            (default fail)
  -h, --help                Print this help

All other options go to 'assay compare'. Without a base they are left out, which is said.

Environment: BASE, ASSAY_DB, GATE_DIR, STRICT=1, SUITE and SUSPECTS stand for the above; ASSAY names the
program (default: the one beside assay-gate).

The exit status is 0 when all is well, 1 REGRESSED, 2 bad usage or a build that fails, 3 WRONG_RESULT,
4 NOT_MEASURED, 5 INCOMPARABLE, or a base that is not in this clone, 6 INCONCLUSIVE or suspect, 70
internal error.

example:
  assay-gate main --suspects pass
END
}

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

# The names that assay.conf may have, at the top of a tree.
conf_names='assay.conf .assay.conf ci/assay.conf'

# Sets base and why. Where there is none, base is empty, why says so, and nothing is 1 if the history proves that there is nothing
# to compare with; else the base is merely not here.
find_base() {
	branch=${GITHUB_BASE_REF:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME-}}
	hint=''

	if [ -n "$problem" ]; then
		why="git says: $(printf '%s\n' "$problem" | head -n 1)"
		return
	fi
	shallow && hint=', and this clone is shallow: fetch the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: "0" on GitLab)'
	if ! head=$(commit HEAD); then
		why='there is no commit yet' nothing=1
		return
	fi
	if [ -n "${CI_MERGE_REQUEST_DIFF_BASE_SHA-}" ]; then
		if base=$(commit "$CI_MERGE_REQUEST_DIFF_BASE_SHA"); then
			why="the base of merge request ${CI_MERGE_REQUEST_IID:-?}"
			return
		fi
	fi
	if ! onto=$(target "$branch"); then
		if [ -n "$branch$hint" ]; then
			why="there is no branch '${branch:-main}' here$hint"
			return
		fi
		onto='a branch of its own'
		base=$head
	elif ! base=$(git merge-base HEAD "$onto"); then
		why="HEAD and $onto have no common commit$hint"
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
		why="HEAD is on $onto and is the first commit" nothing=1
	fi
}

# A base from before the repository knew of assay cannot be built.
drop_foreign_base() {
	for name in $conf_names; do
		git cat-file -e "$base:$name" 2>/dev/null && return
	done
	why="$why has no assay.conf yet"
	base='' nothing=1
}

# What is judged alone must be this repository's, which its assay.conf says; a program that was built here knows it by itself.
check_own() {
	case $(readlink -f "$program") in
	"$top"/*) return 0 ;;
	esac
	for name in $conf_names; do
		[ -f "$top/$name" ] || continue
		if grep -q '^[[:space:]]*bench[[:space:]]*=' "$top/$name" && grep -q '^[[:space:]]*baselines[[:space:]]*=' "$top/$name"; then
			[ -n "$problem" ] || build=1
			return 0
		fi
		say "$why, and '$name' names no 'bench' and 'baselines' to judge it by alone: 'assay init' shows how"
		return 2
	done
	say "$why, and there is no assay.conf in '$top': 'assay init' in a repository of its own shows what it takes"
	return 2
}

# A first commit has no recorded counts to be held against. Its own lie beside the reports, to be committed.
keep_counts() {
	for name in $conf_names; do
		[ -f "$top/$name" ] || continue
		baselines=$(sed -n 's/^[[:space:]]*baselines[[:space:]]*=[[:space:]]*"\([^"]*\)".*/\1/p' "$top/$name")
		break
	done
	: "${baselines:=baselines}"
	[ -e "$top/$baselines/exact/$suite.json" ] && return
	"$program" baseline update --exact --suite "$suite" ${db:+--db "$db"} --exact-file "$out/exact.json" >/dev/null 2>&1 &&
		say "wrote this commit's exact counts to $out/exact.json: as $baselines/exact/$suite.json they are judged by from now on"
}

judge_alone() {
	"$program" run ${build:+--build} --suite "$suite" ${db:+--db "$db"}
	ran=$?
	case $ran in
	0 | 3 | 4) ;;
	*) return "$ran" ;;
	esac
	"$program" gate --suite "$suite" ${db:+--db "$db"} ${policy:+--policy "$policy"} --markdown "$out/report.md" \
		--junit "$out/junit.xml" --json-file "$out/report.json" ${strict:+--strict} --suspects "$suspects" \
		${nothing:+--allow-no-baseline}
	judged=$?
	[ -z "$nothing" ] || keep_counts
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

# take OPTION VALUE
take() {
	case $1 in
	--db) db=$2 ;;
	--out) out=$2 ;;
	--policy) policy=$2 ;;
	--suite | -s) suite=$2 ;;
	--suspects) suspects=$2 ;;
	esac
}

suite=${SUITE:-quick} strict=${STRICT-} suspects=${SUSPECTS:-fail} out=${GATE_DIR-}
db='' policy='' base='' why='' nothing='' build=''

case ${1-} in
'' | -*) base=${BASE-} ;;
*) base=$1 && shift ;;
esac
[ "${1-}" = '' ] && [ $# -gt 0 ] && shift
# what is not taken here is put behind what is left to look at
left=$#
while [ "$left" -gt 0 ]; do
	arg=$1
	shift
	left=$((left - 1))
	case $arg in
	--db | --out | --policy | --suite | -s | --suspects)
		[ "$left" -gt 0 ] || die "option '$arg' needs a value"
		take "$arg" "$1"
		shift
		left=$((left - 1))
		;;
	--db=* | --out=* | --policy=* | --suite=* | --suspects=*) take "${arg%%=*}" "${arg#*=}" ;;
	--strict) strict=1 ;;
	-h | --help) usage && exit ;;
	*) set -- "$@" "$arg" ;;
	esac
done
case $base in
-*) die "BASE is '$base', expected a revision, a plugin file or a folder" ;;
esac
case $strict in
'' | 0) strict='' ;;
1) ;;
*) die "STRICT is '$strict', expected 0 or 1" ;;
esac
case $suspects in
fail | pass) ;;
*) die "suspects is '$suspects', expected fail or pass" ;;
esac

[ -z "$policy" ] || [ -e "$policy" ] || die "no policy '$policy'"

here=$(dirname "$0")
if [ -z "${ASSAY-}" ]; then
	for program in "$here/assay" "$here/../build/bin/assay" assay; do
		command -v "$program" >/dev/null && break
	done
else
	program=$ASSAY
fi
case $program in
*/*) [ -x "$program" ] || die "no program '$program': build it with 'make', or name another with ASSAY=" ;;
*) program=$(command -v "$program") || die "no program '${ASSAY:-assay}' in PATH: install it, or name it with ASSAY=" ;;
esac

problem=$(git rev-parse --git-dir 2>&1 >/dev/null) && problem=''
top=$([ -n "$problem" ] || git rev-parse --show-toplevel)
: "${top:=$(pwd -P)}"
if [ "$top" = "$(pwd -P)" ]; then
	: "${out:=build/gate}"
else
	: "${out:=$top/build/gate}"
	[ -n "$db${ASSAY_DB-}" ] || db=$top/assay.db
fi

mkdir -p "$out" || exit 70
rm -f "$out/report.md" "$out/junit.xml" "$out/report.json" "$out/exact.json" || exit 70

if [ -n "$base" ]; then
	why='as asked for'
else
	find_base
	[ -z "$base" ] || drop_foreign_base
fi

if [ -n "$base" ]; then
	say "comparing with $base ($why)"
	"$program" compare "$base" --suite "$suite" ${db:+--db "$db"} ${policy:+--policy "$policy"} --markdown "$out/report.md" \
		--junit "$out/junit.xml" --json-file "$out/report.json" ${strict:+--strict} --suspects "$suspects" "$@"
	status=$?
elif check_own; then
	say "no revision to compare with: $why; judging by manifest, limits and recorded counts"
	[ $# = 0 ] || say "left out, since nothing is compared: $*"
	judge_alone
	status=$?
else
	status=2
fi

if [ ! -s "$out/report.json" ] && [ "$status" = 0 ]; then
	say "'$program' ended with 0 but wrote no report, so this is not a pass"
	status=70
fi
[ -s "$out/report.md" ] || report_failure "$status"
[ -n "${GITHUB_STEP_SUMMARY-}" ] && cat "$out/report.md" >>"$GITHUB_STEP_SUMMARY"
for file in report.md junit.xml report.json; do
	[ -s "$out/$file" ] && say "wrote $out/$file"
done
[ "$status$strict$suspects" = 6fail ] &&
	say 'a case looks slower, without proof: measure it on a quieter machine, or let it pass with --suspects pass'
say "exit status $status"
exit "$status"
