#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Do texts become the ids that llama.cpp makes of them? bench/llama_tokens.sh LIBRARY VOCABULARY.gguf... LIBRARY is its libllama.so; an
# installation of node-llama-cpp has one in @node-llama-cpp/linux-x64/bins/linux-x64, see bench/llama_agreement.sh. Of each vocabulary a
# small model is made ('assay model synth'), which both load. Prints how many of STRINGS (1000000) random strings have other ids, and the
# first of them; SEED (1) begins others. Texts beside a vocabulary, VOCABULARY.gguf.inp and .out in llama.cpp's sources, are compared too.
# PEERS is the node_modules of an installation of tiktoken and @huggingface/tokenizers: if it is set, every second string and 16 KiB of
# each corpus are compared with these as well, for the vocabularies whose patterns agreement/llama_cpp/tokens.mjs has.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '3,8s/^# //p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
assay=$(realpath "${ASSAY:-build/bin/assay}")
ASSAY_LLAMA=$(realpath "$1")
export ASSAY_LLAMA
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -I"$here" -I"$here/../harness" -I"$here/../harness/include" -I"$here/../kernels/llama" -o "$out/tokens" \
	"$here/agreement/llama_cpp/tokens.c" "$here/../kernels/llama/llama_library.c" "$here"/../harness/gguf/*.c -lm -ldl
for vocabulary; do
	"$assay" model synth "$out/model.gguf" --vocab-from "$vocabulary" --layers 1 --width 32 --heads 1 --type q8_0 --force
	printf '%s: ' "$(basename "$vocabulary" .gguf)"
	"$out/tokens" "$out/model.gguf" "${STRINGS:-1000000}" "${SEED:-1}" "$vocabulary" ${PEERS:+"$out/dump"}
	[ -z "${PEERS:-}" ] || node "$here/agreement/llama_cpp/tokens.mjs" "$(realpath "$PEERS")" \
		"$(basename "$vocabulary" .gguf | sed 's/^ggml-vocab-//')" "$out/dump"
done
