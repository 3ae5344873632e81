#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the kernels for GPUs on a GPU: test_gpu.sh BUILD. All their cases of suite kernels against the oracles, then, where
# compute-sanitizer is installed, once more under each of its tools. Without a GPU it says why and passes.
set -eu

assay=$1/bin/assay
why=$("$assay" list variants | sed -n 's/^stream.copy\/cuda  *not here: //p')
if [ -n "$why" ] || [ ! -e "$1/plugins/assay_cuda.so" ]; then
	echo "kernels for GPUs are not tested: ${why:-no assay_cuda.so, built with CUDA=0}"
	exit 0
fi
set -- "$assay" verify --suite kernels --only '*/cuda/*' --only '*/cublas/*'
"$@"
if ! command -v compute-sanitizer >/dev/null; then
	echo 'no compute-sanitizer: memory and races of kernels are not checked'
	exit 0
fi
for tool in memcheck racecheck synccheck; do
	compute-sanitizer --tool $tool --target-processes all --error-exitcode 9 "$@"
done
