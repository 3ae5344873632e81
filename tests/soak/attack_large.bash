# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# The largest manifests, policies, sweeps and files, in turn: each is taken, or refused with its limit, within five seconds of the
# processor. Unit tests say what becomes of them.

: "${large_limit_ms:=5000}"

# list N FORMAT: "FORMAT" with each number from 1 to N, behind one another
list() {
	seq "$1" | awk -v format="$2" '{ printf format, $1 }'
}

inputs=$work/large
if [ ! -d "$inputs" ]; then
	mkdir -p "$inputs/benches/suites"
	list 200000 'required matmul.f32/ref/m=%d,n=1/t=1/warm\n' >"$inputs/large.manifest"
	head -n 100000 "$inputs/large.manifest" >"$inputs/most.manifest"
	list 100000 'margin "*%d*" { stored = "10%%" }\n' >"$inputs/margins.conf"
	list 5000 'margin "*/ref/*" { stored = "10%%" }\n' >"$inputs/most.conf"
	{ printf 'limit "*" { require = {"time_s <= 1"' && list 200000 ', "time_s <= %d"' && printf '} }\n'; } >"$inputs/demands.conf"
	printf 'bench "s" { op = "matmul.f32" shapes = {"k=64"} sweep = {"m=1%s", "n=1%s"} variants = {"ref"} threads = {"1"} }\n' \
		"$(list 200 ',%d' | cut -c3-)" "$(list 200 ',%d' | cut -c3-)" >"$inputs/benches/s.bench"
	echo 'suite "quick" { summary = "s" use "*" { } }' >"$inputs/benches/suites/quick.suite"
	truncate -s 4G "$inputs/huge"
	mkfifo "$inputs/pipe"
fi

gate="gate --run 1 --db assay.db --manifest"
readers=(
	"$gate $inputs/large.manifest" "$gate $inputs/most.manifest"
	"$gate $work/small.manifest --policy $inputs/margins.conf" "$gate $work/small.manifest --policy $inputs/most.conf"
	"$gate $work/small.manifest --policy $inputs/demands.conf" "$gate $work/small.manifest --policy /dev/zero"
	"$gate $work/small.manifest --policy $inputs/pipe" "$gate $work/small.manifest --policy $inputs/huge"
	"list --plugin $inputs/huge" "list cases --bench-dir $inputs/benches" "list --manifest --bench-dir $inputs/benches"
)

try_once() {
	local reader=${readers[seed % ${#readers[@]}]} took

	what="'assay ${reader//$work\//}'"
	# shellcheck disable=SC2016,SC2086
	start bash -c 'TIMEFORMAT="%3U %3S" && time "$@" 2>said' - "$assay" $reader
	finish
	took=$(tail -n 1 "$try/err" | awk '{ print int(1000 * ($1 + $2)) }')
	[ "$took" -le "$large_limit_ms" ] || failed "takes $took ms of the processor"
}
