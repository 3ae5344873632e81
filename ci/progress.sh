#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One step of a build of so many: progress.sh FILE STEPS. On a terminal one line counts them; elsewhere the first step says how many
# there are. FILE has a byte for each step that has begun.
set -u

printf . >>"$1"
n=$(($(wc -c <"$1")))
steps=$2
[ "$n" -le "$steps" ] || steps=$n
if [ ! -t 1 ]; then
	[ "$n" != 1 ] || echo "  build  $steps steps"
elif [ "$n" -lt "$steps" ]; then
	# what comes next, such as an error, is written over it
	printf '  build  %s/%s\r' "$n" "$steps"
else
	printf '  build  %s/%s\n' "$n" "$steps"
fi
