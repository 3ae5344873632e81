#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attacks the program for a given time, and says what was tried and what failed: soak.sh BUILD PROGRAMS, both of `make soak`.
# BUILD has the program as users have it, PROGRAMS the one and the fuzz targets with sanitizers. The environment gives TIME,
# SEED, and with KIND and TRIES what a failure names to repeat it. Try number i of a kind uses the seed SEED + i alone.
# Exit status 1 when anything failed. The last line counts kinds as tests.
set -u

# shellcheck disable=SC2034
build=$(realpath "$1") programs=$(realpath "$2")
cd "$(dirname "$0")/../.." || exit 70
source=$PWD
: "${SEED:=$((RANDOM * 32768 + RANDOM))}" "${TIME:=10m}" "${TRIES:=0}" "${KIND:=}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# shellcheck source=tests/soak/soak_world.bash
. tests/soak/soak_world.bash
# shellcheck source=tests/soak/attacks.bash
. tests/soak/attacks.bash

case $TIME in
*[!0-9smh]* | '' | [smh]* | *[smh]?*) usage "TIME is '$TIME', expected seconds, or a number with s, m or h" ;;
*s) seconds=${TIME%s} ;;
*m) seconds=$((${TIME%m} * 60)) ;;
*h) seconds=$((${TIME%h} * 3600)) ;;
*) seconds=$TIME ;;
esac
case $SEED$TRIES in
*[!0-9]*) usage "SEED is '$SEED' and TRIES is '$TRIES', expected whole numbers" ;;
esac

if [ -n "$KIND" ]; then
	[[ " ${kinds[*]} " == *" $KIND "* ]] || usage "KIND is '$KIND', expected one of: ${kinds[*]}"
	kinds=("$KIND")
fi

world_make || exit 70
echo "soak: seed $SEED, $seconds s, ${kinds[*]}"

# attack KIND UNTIL: try until that second, or TRIES times, but once at least; in a shell of its own, whose variables a kind may change.
attack() (
	tries=0 kind=$1
	while [ "$tries" = 0 ] || if [ "$TRIES" != 0 ]; then [ "$tries" -lt "$TRIES" ]; else [ "$SECONDS" -lt "$2" ]; fi; do
		seed=$((SEED + tries))
		RANDOM=$((seed * 2654435761 % 4294967296)) # neighbours must not draw alike
		try_make
		killed_status=0
		"try_$kind"
		try_end
		tries=$((tries + 1))
		echo "$tries" >"$work/$kind.tries"
	done
	true
)

n=0 broken=0
for kind in "${kinds[@]}"; do
	n=$((n + 1))
	: >"$work/$kind.failures"
	attack "$kind" $((SECONDS + (seconds - SECONDS) / (${#kinds[@]} - n + 1))) ||
		echo "$kind: the attack itself ends with $?" >>"$work/$kind.failures"
done

printf '%-12s %8s %8s\n' kind tries failures
for kind in "${kinds[@]}"; do
	tries=0
	[ ! -e "$work/$kind.tries" ] || tries=$(cat "$work/$kind.tries")
	failures=$(wc -l <"$work/$kind.failures")
	printf '%-12s %8d %8d\n' "$kind" "$tries" "$failures"
	if [ "$failures" != 0 ] || [ "$tries" = 0 ]; then
		broken=$((broken + 1))
	fi
done
for kind in "${kinds[@]}"; do
	cat "$work/$kind.failures"
done
echo "$((n - broken)) passed, $broken failed, 0 skipped"
[ "$broken" = 0 ]
