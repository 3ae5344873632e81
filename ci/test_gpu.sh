#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the kernels for GPUs on a GPU: test_gpu.sh BUILD [SUITE]. First the shapes that the emulated kernels are tested with,
# against the oracles and the CPU's results; then the cases of SUITE (kernels; "" for none); where compute-sanitizer is
# installed, the shapes once more under each of its tools. Without a GPU one line says so and the exit status is 0; GPU=1
# insists on one. Exit status: 0 passed or skipped, 3 a wrong result, 4 a case that failed, or GPU=1 without a GPU, 9 what
# compute-sanitizer found.
set -eu

assay=$1/bin/assay
suite=${2-kernels}
shapes=$(dirname "$0")/../tests/cuda/shapes
if [ -e "$1/plugins/assay_cuda.so" ]; then
	why=$("$assay" list variants | sed -n 's/^stream.copy\/cuda  *not here: //p')
else
	why='no assay_cuda.so, built with CUDA=0'
fi
if [ -n "$why" ]; then
	if [ "${GPU:-auto}" = 1 ]; then
		echo "test-gpu: failed, exit 4: GPU=1, but $why" >&2
		exit 4
	fi
	echo "test-gpu: skipped, exit 0: $why"
	exit 0
fi

edges() {
	"$@" "$assay" verify --bench-dir "$shapes" --suite edges
}
edges
if [ -n "$suite" ]; then
	"$assay" verify --suite "$suite" --only '*/cuda/*' --only '*/cublas*/*'
fi
if ! command -v compute-sanitizer >/dev/null; then
	echo 'test-gpu: passed; no compute-sanitizer, so memory and races of kernels were not checked'
	exit 0
fi
for tool in memcheck racecheck synccheck; do
	edges compute-sanitizer --tool $tool --target-processes all --error-exitcode 9
done
echo 'test-gpu: passed, also under compute-sanitizer'
