#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# model: files with seeded weights, what is shown of them, and what bad input gets.
load helpers

@test "a synthetic model is the same file every time, and is shown" {
	assay model synth a.gguf --type q8_0 --seed 7
	assay model synth b.gguf --type q8_0 --seed 7
	cmp a.gguf b.gguf
	fails 2 "'b.gguf' is there already: --force replaces it" model synth b.gguf --type q8_0 --seed 8
	cmp a.gguf b.gguf
	run -0 --separate-stderr assay model synth b.gguf --type q8_0 --seed 8 --force
	[ "$output" = "wrote b.gguf: llama model with matrices of q8_0: layers 2, width 256, tokens 512, seed 8" ]
	run ! cmp -s a.gguf b.gguf

	assay model show a.gguf >out
	grep -qE '^general.architecture +string +llama$' out
	grep -qE '^tokenizer.ggml.tokens +string\[512\] +<unk>, <s>, </s>, <0x00>, \.\.\.$' out
	grep -qE '^blk.1.ffn_down.weight +q8_0 +512 x 256 +139264$' out
	assay model show a.gguf --json >out
	jq -e '.schema == 1 and .version == 3 and .parameters == ([.tensors[].shape | reduce .[] as $n (1; . * $n)] | add)
		and ([.tensors[] | select(.type == "q8_0")] | length) == 16
		and ([.metadata[] | select(.key == "llama.block_count")][0].value) == "2"' out
}

@test "a vocabulary comes from another file, or is trained" {
	assay model synth a.gguf --vocab 300
	assay model synth b.gguf --vocab-from a.gguf --arch bitnet --type i2_s --layers 1
	assay model show b.gguf --json >out
	jq -e '([.metadata[] | select(.key == "tokenizer.ggml.tokens")][0].n) == 300
		and ([.tensors[] | select(.name == "token_embd.weight")][0].shape) == [256, 300]
		and ([.tensors[] | .name | select(. == "blk.0.ffn_sub_norm.weight" or . == "output.weight")] | length) == 1' out
	run -0 --separate-stderr assay model synth c.gguf --vocab 64
	[[ $output == *", tokens 64, seed 42; it has no tokenizer, which takes 259 tokens or more" ]]
	fails 2 "'c.gguf' has no vocabulary" model synth d.gguf --vocab-from c.gguf
	assay model synth d.gguf --vocab-train qwen2 --layers 1 --width 32 --heads 1
	assay generate d.gguf --prompt ' and then the words' --tokens 1 --json | jq -e '.prompt_tokens < 9'
}

@test "bad input: one line and exit 2" {
	assay model synth a.gguf --layers 1
	head -c 5000 a.gguf >cut.gguf
	fails 2 "cannot read 'cut.gguf': the file ends within" model show cut.gguf
	fails 2 "cannot read 'none.gguf': No such file" model show none.gguf
	fails 2 "it is not a GGUF file" model show "$BATS_TEST_FILENAME"
	fails 2 "it is not a regular file" model show /dev/zero
	fails 2 "no action given" model
	fails 2 "unknown action 'load'" model load a.gguf
	fails 2 "no file given" model show
	fails 2 "one file is named" model show a.gguf a.gguf
	fails 2 "are for 'assay model synth'" model show a.gguf --layers 3
	fails 2 "unknown type 'q9'" model synth b.gguf --type q9
	fails 2 "unknown architecture 'gpt'" model synth b.gguf --arch gpt
	fails 2 "width 200" model synth b.gguf --width 200 --type q8_0
	fails 2 "expected heads of an even size" model synth b.gguf --heads 3
	fails 2 "cannot write '/nowhere/b.gguf'" model synth /nowhere/b.gguf
	[ ! -e b.gguf ]
}
