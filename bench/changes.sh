#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Made repositories whose changes are known: how often 'assay bisect' names the right commit, and how often
# 'assay history --confirm' confirms a change that the code did not make. Takes long: for figures, not for tests.
# usage: bench/changes.sh bisect|confirm [TRIES [FIRST_SEED]]   at the top of the tree, after 'make all unit-tests'
set -eu

what=${1:?bisect or confirm}
tries=${2:-10}
seed=${3:-1}
tree=$(pwd)
assay=${ASSAY:-$tree/build/bin/assay}
plugins=$tree/build/tests/plugins
margin=${MARGIN:-0.5%}
budget=${BUDGET:-10s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$work/cache" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
key=lenient.triple/work

# Options of all commands: the op, and a case that takes half a millisecond.
select_case() {
	set -- --no-default-plugins --plugin "$plugins/compare_op.so" --bench-dir "$tree/tests/fixtures/compare" --db "$work/results.db"
	echo "$@"
}

# random MOST: the next number from 1 to MOST, by the seed
random() {
	drawn=$((drawn + 1))
	number=$(echo "$seed $drawn" | sha256sum | cut -c1-7)
	number=$((0x$number % $1 + 1))
}

# kernel ROUNDS NUMBER: a kernel of so many rounds; NUMBER changes its code, and neither its layout nor its time
kernel() {
	printf '#include "side.h"\nstatic int run(struct assay_job *job)\n{\n\t__asm__ volatile("" ::"r"(%s));\n' $((1000000 + $2))
	printf '\tside_triple(job, %s);\n\treturn 0;\n}\nstatic const struct assay_variant variants[] = { TRIPLE("work", run) };\n' "$1"
	printf 'SIDE_PLUGIN("side", variants);\n'
}

# commit ROUNDS NUMBER: one more in the stream that git imports
commit() {
	printf 'commit refs/heads/main\ncommitter bench <b@b> 1700000000 +0000\ndata <<.\nrounds %s, number %s\n.\n' "$1" "$2"
	printf 'M 100644 inline side.c\ndata <<.\n'
	kernel "$1" "$2"
	printf '.\nM 100644 inline assay.conf\ndata <<.\nbuild = "sh %s/build.sh"\nplugins = "out"\n.\n' "$work"
	printf 'M 100644 inline .gitignore\ndata <<.\n/out/\n.\n'
}

# Build a commit: each source is compiled once for all tries.
write_build() {
	mkdir "$work/built"
	cat >"$work/build.sh" <<-EOF
		set -e
		made=$work/built/\$(sha256sum <side.c | cut -c1-64).so
		[ -e "\$made" ] || cc -O2 -shared -fPIC -I$tree/harness/include -I$tree/tests/plugins -o "\$made" side.c
		mkdir -p out
		cp "\$made" out/side.so
	EOF
}

# begin_repository FOLDER: of the commits on stdin
begin_repository() {
	rm -rf "$1"
	git init -q -b main "$1"
	git -C "$1" fast-import --quiet
	git -C "$1" checkout -q -f main
	cd "$1"
}

# 64 commits, one of them 2 % slower, three that do not build.
try_bisect() {
	random 64
	culprit=$number
	random 64 && broken=" $number "
	random 64 && broken="$broken$number "
	random 64 && broken="$broken$number "
	for i in $(seq 0 64); do
		rounds=$((i < culprit ? 1000 : 1020))
		case $broken in
		*" $i "*) [ "$i" = "$culprit" ] || [ "$i" = 64 ] || rounds=broken ;;
		esac
		commit $rounds "$i"
	done >"$work/stream"
	begin_repository "$work/repo" <"$work/stream"
	rm -f "$work/results.db"
	want=$(git rev-parse "HEAD~$((64 - culprit))")
	# shellcheck disable=SC2046
	"$assay" bisect $(select_case) --good HEAD~64 --case $key --margin "$margin" --budget "$budget" --json >"$work/out.json" 2>"$work/err" || :
	if [ ! -s "$work/out.json" ]; then
		cat "$work/err" >&2
		exit 2
	fi
	got=$(jq -r '.commit // .end' "$work/out.json")
	n=$(jq -r '.comparisons' "$work/out.json")
	counts="$counts$n
"
	# a commit before it that does not build could be it as well
	if [ "$got" = "$want" ] || { [ "$got" = range ] && [ "$(jq -r '.range[1]' "$work/out.json")" = "$want" ]; }; then
		right=$((right + 1))
	fi
	echo "seed $seed: culprit $culprit, broken$broken: $([ "$got" = "$want" ] && echo right || echo "$got"), $n comparisons"
	[ -z "${STEPS-}" ] || jq -c ".whole, (.steps[] | [.commit[0:12], .skipped, .verdict, .ratio, .ci])" "$work/out.json"
}

# begin_history NUMBER: runs of two commits of the same speed, of which those of the second were 5 % slower; again
# while a busy machine hides that
begin_history() {
	{ commit 1000 "$1" && commit 1000 $((2 * $1)); } >"$work/stream"
	begin_repository "$work/repo$1" <"$work/stream"
	shown=0
	while [ "$shown" = 0 ]; do
		rm -rf "$work/results.db" "$work/measured"
		mkdir "$work/measured"
		for side in 1 2; do
			kernel $((side == 1 ? 1000 : 1050)) "$1" >"$work/measured/side.c"
			(cd "$work/measured" && sh "$work/build.sh")
			for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
				# shellcheck disable=SC2046
				"$assay" run $(select_case) --plugin "$work/measured/out/side.so" \
					--revision "$(git rev-parse HEAD~$((2 - side)))" --budget 20ms >/dev/null 2>&1
			done
		done
		shown=$("$assay" history $key --db "$work/results.db" --json | jq '.changes | length')
	done
	mv "$work/results.db" "$work/history$1.db"
}

# One of $HISTORIES histories, confirmed with a seed of its own.
try_confirm() {
	n=$((1 + seed % ${HISTORIES:-8}))
	if [ ! -e "$work/history$n.db" ]; then
		begin_history "$n"
	fi
	cd "$work/repo$n"
	cp "$work/history$n.db" "$work/results.db"
	# shellcheck disable=SC2046
	"$assay" history $key $(select_case) --confirm --budget "$budget" --json >"$work/out.json" 2>"$work/err" || :
	echo "seed $seed: $(jq -c '[.changes[] | {ratio, confirmed, reason}]' "$work/out.json")"
	candidates=$((candidates + $(jq '.changes | length' "$work/out.json")))
	unasked=$((unasked + $(jq '[.changes[] | select(.confirmed == null)] | length' "$work/out.json")))
	alarms=$((alarms + $(jq '[.changes[] | select(.confirmed == true)] | length' "$work/out.json")))
}

write_build
right=0 counts='' candidates=0 unasked=0 alarms=0
last=$((seed + tries))
while [ "$seed" -lt "$last" ]; do
	drawn=0
	export ASSAY_SEED="$seed"
	"try_$what"
	seed=$((seed + 1))
done
case $what in
bisect)
	echo "$right of $tries right; tries by their comparisons:"
	printf '%s' "$counts" | sort -n | uniq -c | awk '{ print "  " $2 ": " $1 }'
	;;
confirm) echo "$candidates candidates that no code made, $alarms confirmed, $unasked not asked" ;;
esac
