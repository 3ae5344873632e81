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
	"$assay" certify --db "$out/certify.db" --json "$@" >"$out/$name.json" || :
	sed -n 's/^ *"\(gates\|false_alarms\|passed\|inconclusive\|smallest_detectable\|pairs_per_case\|seconds_per_case\)": /  \1 /p' "$out/$name.json"
	sed -n '/"power"/,/\]$/p' "$out/$name.json" | tr -d '\n ' | sed 's/{/\n  {/g'
	echo
}

# Kernels of 0.4 us to 20 ms, in L1, L3 and memory, on one and two threads. The shipped cases that are nearest to that.
kinds() {
	certify l1-0.4us-t1 --only 'quantize.i8_token/avx2/tokens=1,dim=2560/t=1/warm' "$@"
	certify l1-120us-t2 --only 'stream.read/ref/level=l1/t=2/warm' "$@"
	certify l3-0.6ms-t1 --only 'stream.read/ref/level=l3/t=1/warm' "$@"
	certify l3-0.6ms-t2 --only 'stream.read/ref/level=l3/t=2/warm' "$@"
	certify l3-3ms-t1 --only 'quantize.q8_0/ref/n=1048576/t=1/warm' "$@"
	certify memory-0.1ms-t1 --only 'matmul.ternary/avx2/m=2560,k=2560,n=1/t=1/cold' "$@"
	certify memory-0.15ms-t2 --only 'matmul.ternary/avx2/m=2560,k=6912,n=1/t=2/cold' "$@"
	certify memory-20ms-t2 --only 'stream.copy/avx2/level=dram/t=2/warm' "$@"
}

mkdir -p "$out"
certify alone --cpus "$cpu" --gates "$gates" --trials "$trials"
certify alone-margin-0.3 --cpus "$cpu" --margin 0.3% --gates 1 --trials "$trials"
kinds --margin 0.5% --gates "$((gates / 20 > 0 ? gates / 20 : 1))" --trials "$((trials / 10 > 0 ? trials / 10 : 1))"
start_neighbour "$other"
certify neighbour-on-other-core --cpus "$cpu" --gates "$gates" --trials "$trials"
stop_neighbour
start_neighbour "$cpu"
certify neighbour-on-same-core --cpus "$cpu" --budget 3s --gates $((gates / 4 > 0 ? gates / 4 : 1)) --trials $((trials / 4))
stop_neighbour
