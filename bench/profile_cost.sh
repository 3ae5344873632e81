#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What 'assay profile cpu' costs: lock-step pairs of sampled and plain workers, at 997 Hz, and at 20 kHz as a control.
#     bench/profile_cost.sh [TIME] [CASE...]      (default 40s for each; WAIT='flock -x FILE' or the like goes before each)
# "shown" where less than 1 % is shown at 99 %, and the control is seen to cost more than that of 997 Hz and than nothing.
set -eu
time=${1:-40s}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- quantize.q8_0/avx2/n=1048576/t=1/warm matmul.ternary/avx2/m=2560,k=2560,n=1/t=1/warm
source=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$source/build/bin/assay}
printf 'case\tcost at 997 Hz\tcost at 20 kHz\tless than 1 %%\tcontrol\n'
for key; do
	# shellcheck disable=SC2086
	${WAIT:-} "$assay" profile cpu "$key" --cost --for "$time" | awk -v key="$key" '
		{ gsub(/[()%+,]/, ""); cost[NR] = $4; lo[NR] = $5; hi[NR] = $7 }
		END {
			printf "%s\t%+.2f %% (%+.2f to %+.2f %%)\t%+.2f %% (%+.2f to %+.2f %%)\t%s\t%s\n", key, cost[1], lo[1], hi[1],
				cost[2], lo[2], hi[2], hi[1] < 1 ? "shown" : "not shown",
				lo[2] > 0 && lo[2] > cost[1] ? "caught" : "not caught"
		}'
done
