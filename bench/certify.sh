#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often the judge of this host is wrong, by kinds of kernels, alone and beside busy neighbours: the table of
# harness/judge/README.md. Takes hours: for figures, not for tests.
# usage: bench/certify.sh [GATES [TRIALS [KIND…]]], where KIND is part of a line of kinds()
# LOAD=N: beside N busy processes. OUT: folder of the results.
set -eu

gates=${1:-300}
trials=${2:-100}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
assay=${ASSAY:-build/bin/assay}
load=${LOAD:-0}
out=${OUT:-build/certify/load-$load}
neighbours=

stop_neighbours() {
	for pid in $neighbours; do
		kill "$pid" 2>/dev/null || :
	done
	neighbours=
}
trap stop_neighbours EXIT INT TERM

# Processes that never sleep; every other one goes through more memory than the caches hold.
start_neighbours() {
	for i in $(seq "$load"); do
		awk -v n=$((i % 2 ? 2000000 : 1000)) 'BEGIN { for (;;) for (i = 0; i < n; i++) a[i] = i }' &
		neighbours="$neighbours $!"
	done
}

# certify NAME CASE BUDGET GATES TRIALS
certify() {
	"$assay" certify --json --suite full --only "$2" --margin 0.5% --budget "$3" \
		--slowdown 1% --gates "$4" --trials "$5" >"$out/$1.json" || :
}

# Name, case, budget: 20 s, and more for two threads in memory, where a pair takes a second. The cases are what is
# nearest to kernels of 100 ns, 10 us, 1 ms and 10 ms in L1, L3 and memory.
kinds() {
	cat <<-'END'
		L1,0.1us,t=1 dequantize.i8_token/avx2/tokens=1,dim=2560/t=1/warm 20s
		L2,8us,t=1 matmul.ternary/avx2/m=640,k=2560,n=1/t=1/warm 20s
		L3,1ms,t=1 dequantize.tq2_0/ref/n=1048576/t=1/warm 20s
		memory,1ms,t=1 matmul.f32/openblas/m=2560,k=2560,n=1/t=1/cold 20s
		memory,10ms,t=1 stream.read/avx2/level=dram/t=1/warm 20s
		L1,80us,t=2 stream.read/avx2/level=l1/t=2/warm 20s
		L3,0.6ms,t=2 dequantize.tq2_0/ref/n=1048576/t=2/warm 20s
		memory,5ms,t=2 stream.copy/avx2/level=dram/t=2/warm 60s
	END
}

chosen() {
	[ $# -gt 0 ] || set -- ''
	for k in "$@"; do
		kinds | grep -F -e "$k" || :
	done
}

row() {
	[ -s "$out/$1.json" ] || return 0
	jq -r --arg name "$1" '"\($name) \(.false_alarms) of \(.gates) failed, \(.passed) passed; " +
		"+1 %: \(.power[0].detected) of \(.power[0].of) found, \(.power[0].passed) passed; " +
		"pairs differ by \((.pair_sd // 0) * 10000 | round / 100) %, a case takes " +
		"\(.seconds_per_case * 10 | round / 10) s"' "$out/$1.json"
}

mkdir -p "$out"
start_neighbours
chosen "$@" | while read -r name key budget; do
	certify "$name" "$key" "$budget" "$gates" "$trials"
	row "$name"
done
