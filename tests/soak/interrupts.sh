#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Interrupts commands at random moments: interrupts.sh [TIMES [SEED]]. Each must end with 130 and say so, and leave no temporary
# folder, no process, no half file, and no run or comparison without a result. Prints what it tried; exits with 1 when any failed.
# Environment: ASSAY the program (build/bin/assay).
set -um # jobs in groups of their own, so that SIGINT is not ignored in them

cd "$(dirname "$0")/../.." || exit 70
assay=$(realpath "${ASSAY:-build/bin/assay}")
times=${1:-120}
RANDOM=${2:-1}
seed=${2:-1}
plugins=$(realpath "$(dirname "$assay")/../plugins")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp ASSAY_DB=$work/assay.db
mkdir "$TMPDIR"
cd "$work" || exit 70

# so that even identical code is counted
echo 'limit "*" { require = {"exact_instructions >= 1"} }' >counted.conf
one='--suite smoke --threads 1 --only quantize.q8_0/ref/n=16384/*'
commands=(
	"run --suite smoke --threads 1 --only quantize.* --budget 20ms --evidence stored"
	"run $one --only dequantize.q8_0/ref/* --evidence exact"
	"compare $plugins $plugins $one --same-code --budget 200ms"
	"compare $plugins $plugins $one --evidence exact --policy counted.conf"
	"gate --suite smoke --allow-no-baseline --json-file gate.json"
	"certify --gates 1 --trials 1 --budget 100ms"
	"plot trend quantize.q8_0/ref/n=16384/* -o trend.svg"
	"plot report -o report"
)

echo "$TMPDIR" >pattern
usual=() takes_ms=()
for command in "${commands[@]}"; do
	begin=${EPOCHREALTIME/./}
	read -ra words <<<"$command"
	"$assay" "${words[@]}" >/dev/null 2>&1
	usual+=($?)
	takes_ms+=($(((${EPOCHREALTIME/./} - begin) / 1000)))
done

failed=0 cut=0
fail() {
	failed=$((failed + 1))
	printf 'interrupts.sh: %s after %s of %s ms: assay %s\n  %s\n  status %s, standard error ends: %s\n' "$signal" "$after" \
		"${takes_ms[i]}" "${commands[i]}" "$1" "$status" "$(tail -n 1 err.txt)"
}

# The program has begun: what comes before is the system's.
begun() {
	local mask

	while mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null) && [ -n "$mask" ]; do
		((16#${mask:8} & 2)) && return
	done
}

check() {
	local left newest

	if [ "$status" = 130 ] && [[ $(tail -n 1 err.txt) == "assay: interrupted"* ]]; then
		cut=$((cut + 1))
	elif [ "$status" != "${usual[i]}" ] || [ -n "$sent" ]; then
		fail 'it did not end as an interrupt does'
	fi
	left=$(find "$TMPDIR" . -mindepth 1 \( -path "$TMPDIR/*" -o -name '*.tmp' \) | head -n 1)
	[ -z "$left" ] || fail "it left '$left'"
	# of all processes only those of the program name the folder
	left=$(env -i grep -lsaFf pattern /proc/[0-9]*/environ /proc/[0-9]*/cmdline)
	[ -z "$left" ] || fail "it left a process: ${left%%$'\n'*}"
	newest=$("$assay" show --json 2>/dev/null | jq '.runs[0].cases // 0')
	[ "${newest:-0}" -gt 0 ] || fail 'the newest run has no case'
	newest=$("$assay" show comparisons --json 2>/dev/null | jq '.comparisons[0] | (.pairs // 0) + (.counted // 0)')
	[ "${newest:-0}" -gt 0 ] || fail 'the newest comparison has no pair and no count'
}

signals=(INT TERM HUP)
for ((n = 0; n < times; n++)); do
	i=$((RANDOM % ${#commands[@]}))
	signal=${signals[RANDOM % 3]}
	after=$((takes_ms[i] * (RANDOM % 1000) / 1000))
	read -ra words <<<"${commands[i]}"
	"$assay" "${words[@]}" >out.txt 2>err.txt &
	job=$!
	begun "$job"
	sleep "$(printf '%d.%03d' $((after / 1000)) $((after % 1000)))"
	sent=
	kill -"$signal" "$job" 2>/dev/null && [ "$(awk '{ print $3 }' "/proc/$job/stat" 2>/dev/null)" != Z ] && sent=1
	status=0
	wait "$job" || status=$?
	check
done
echo "$times interrupts with seed $seed: $cut cut short, $((times - cut)) came too late, $failed failed"
[ "$failed" = 0 ]
