#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Do models of files give what llama.cpp gives? bench/llama_agreement.sh FOLDER [TYPE...]. FOLDER is the node_modules of an
# installation of node-llama-cpp, which has llama.cpp as libraries:
#     npm install node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1 --omit=optional --ignore-scripts
# For each TYPE of matrices (f32 f16 q8_0 q6_k tq1_0 tq2_0) a model of 'assay model synth' with the options in SYNTH is run by both:
# PROMPTS (20) prompts are continued greedily by TOKENS (256) tokens, and texts of as many tokens are read, after each of which the
# logits are compared. Prints prompts with equal ids, the share of tokens after which the most likely one is the same, and the mean
# Kullback-Leibler divergence. llama.cpp keeps keys and values as CACHE (F32), as assay does, and reads BATCH (1) tokens at once.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '3,11s/^# //p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
packages=$(realpath "$1")
assay=$(realpath "${ASSAY:-build/bin/assay}")
shift
[ $# -gt 0 ] || set -- f32 f16 q8_0 q6_k tq1_0 tq2_0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"${CC:-cc}" -shared -fPIC -O1 -I"$here/../harness/include" -o "$out/logits.so" "$here/agreement/llama_cpp/logits_variant.c"
for type; do
	# shellcheck disable=SC2086 # options
	"$assay" model synth "$out/$type.gguf" --type "$type" ${SYNTH:-}
	node "$here/agreement/llama_cpp/compare.mjs" "$packages" "$assay" "$out/logits.so" "$(dirname "$assay")/../plugins/generate-files.so" \
		"$out/$type.gguf" "${CACHE:-F32}"
done
