#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often the judge of this host is wrong, alone and beside busy neighbours. Takes long: for figures, not for tests.
# usage: bench/certify.sh [GATES [TRIALS]]
set -eu

gates=${1:-200}
trials=${2:-50}
assay=${ASSAY:-build/bin/assay}
out=${OUT:-build/certify}
cpu=0
other=$(nproc)
other=$((other > 1 ? other - 1 : 0))
neighbour=

stop_neighbour() {
	[ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null || :
	neighbour=
}
trap stop_neighbour EXIT INT TERM

# A process that never sleeps and goes through more memory than the caches hold.
start_neighbour() {
	taskset -c "$1" awk 'BEGIN { for (;;) for (i = 0; i < 2000000; i++) a[i] = i }' &
	neighbour=$!
}

certify() {
	name=$1
	shift
	echo "== $name: assay certify $*"
	"$assay" certify --db "$out/certify.db" --cpus "$cpu" --json "$@" >"$out/$name.json" || :
	sed -n 's/^ *"\(gates\|false_alarms\|passed\|inconclusive\|smallest_detectable\|pairs_per_case\|seconds_per_case\)": /  \1 /p' "$out/$name.json"
	sed -n '/"power"/,/\]$/p' "$out/$name.json" | tr -d '\n ' | sed 's/{/\n  {/g'
	echo
}

mkdir -p "$out"
certify alone --gates "$gates" --trials "$trials"
certify alone-margin-0.3 --margin 0.3% --gates 1 --trials "$trials"
start_neighbour "$other"
certify neighbour-on-other-core --gates "$gates" --trials "$trials"
stop_neighbour
start_neighbour "$cpu"
certify neighbour-on-same-core --budget 3s --gates $((gates / 4 > 0 ? gates / 4 : 1)) --trials $((trials / 4))
stop_neighbour
