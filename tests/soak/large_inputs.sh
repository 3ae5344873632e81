#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long the largest inputs take: large_inputs.sh [LIMIT_MS]. Each must be taken, or refused with its limit, within that time (1000).
# Prints a line each; exits with 1 when one took longer. Unit tests say what becomes of them.
# Environment: ASSAY the program (build/bin/assay).
set -u

cd "$(dirname "$0")/../.." || exit 70
assay=$(realpath "${ASSAY:-build/bin/assay}")
bench=$PWD/tests/fixtures/bench
limit=${1:-1000} failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70

# list N FORMAT: "FORMAT" with each number from 1 to N, behind one another.
list() {
	seq "$1" | awk -v format="$2" '{ printf format, $1 }'
}

mkdir -p benches/suites
list 200000 'required matmul.f32/ref/m=%d,n=1/t=1/warm\n' >large.manifest
head -n 100000 large.manifest >most.manifest
list 100000 'margin "*%d*" { stored = "10%%" }\n' >margins.conf
list 5000 'margin "*/ref/*" { stored = "10%%" }\n' >most.conf
{ printf 'limit "*" { require = {"time_s <= 1"' && list 200000 ', "time_s <= %d"' && printf '} }\n'; } >demands.conf
printf 'bench "s" { op = "matmul.f32" shapes = {"k=64"} sweep = {"m=1%s", "n=1%s"} variants = {"ref"} threads = {"1"} }\n' \
	"$(list 200 ',%d' | cut -c3-)" "$(list 200 ',%d' | cut -c3-)" >benches/s.bench
echo 'suite "quick" { summary = "s" use "*" { } }' >benches/suites/quick.suite
truncate -s 4G huge
mkfifo pipe

ASSAY_DETERMINISTIC=1 "$assay" run --bench-dir "$bench" >/dev/null || exit 70
"$assay" list --manifest --bench-dir "$bench" >quick.manifest

for command in 'gate --manifest large.manifest' 'gate --manifest most.manifest' \
	'gate --manifest quick.manifest --policy margins.conf' 'gate --manifest quick.manifest --policy most.conf' \
	'gate --manifest quick.manifest --policy demands.conf' 'gate --policy /dev/zero' 'gate --policy pipe' 'gate --policy huge' \
	'list --plugin huge' 'list cases --bench-dir benches' 'list --manifest --bench-dir benches'; do
	read -ra words <<<"$command"
	begin=${EPOCHREALTIME/./}
	timeout 60 "$assay" "${words[@]}" >out.txt 2>&1
	status=$?
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	printf '%6d ms  exit %3d  %s: %.100s\n' "$took" "$status" "$command" "$(tail -n 1 out.txt)"
	[ "$took" -le "$limit" ] || failed=1
done
exit "$failed"
