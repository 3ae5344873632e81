#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# generate on a GGUF file: the ids that llama.cpp gives for it, by every variant and on any number of threads, and files that
# cannot be run.
load helpers

# suite SHAPES: the suite "file" of the current folder has them.
suite() {
	mkdir -p suites
	printf 'bench "m" { op = "generate.file" shapes = {%s} threads = {"1", "all"} budget = "20ms" }\n' "$1" >m.bench
	printf 'suite "file" { use "m" { } }\n' >suites/file.suite
}

# The expected ids are those of llama.cpp (node-llama-cpp 3.22.1, temperature 0) for the same files of 'assay model synth'.
@test "the ids are those of llama.cpp" {
	local type
	for type in f32 f16 q8_0; do
		assay model synth llama.gguf --type $type --force
		[ "$(assay generate llama.gguf 5 6 7 8 --tokens 12)" = "227 408 91 242 160 7 236 461 15 471 58 148 " ]
	done
	assay model synth llama.gguf --type tq2_0 --force
	[ "$(assay generate llama.gguf 5 6 7 8 --tokens 12)" = "158 504 492 451 426 217 129 488 372 138 488 372 " ]
	assay model synth bitnet.gguf --arch bitnet
	[ "$(assay generate bitnet.gguf 5 6 7 8 --tokens 12)" = "310 310 310 138 396 396 396 396 396 396 138 138 " ]
}

@test "every type is right by the oracle, with the same ids by every variant and on any number of threads" {
	local type
	suite '"pp=5,tg=3"'
	for type in bf16 q8_0 q6_k tq1_0 tq2_0 i2_s; do
		assay model synth m.gguf --type $type --layers 1 --ffn 256 --force
		assay verify --bench-dir . --model m.gguf --json >out
		jq -e '[.cases[] | select(.status == "ok")] | length >= 2 and ([.[].digest] | unique | length) == 1' out
	done
	assay generate m.gguf 1 2 3 --only '*/ref/*' --threads 1 >one
	assay generate m.gguf 1 2 3 >all
	cmp one all
	# a plugin more changes nothing
	assay generate m.gguf 1 2 3 --plugin "$ASSAY_BUILD/plugins/quantize.so" 2>loaded >again
	cmp one again
}

@test "a text is continued by text, and by the ids of the same prompt" {
	assay model synth m.gguf
	# the space that a text begins with in SPM, and bytes, which are all that this vocabulary has for letters
	assay generate m.gguf 1 229 153 132 75 108 --tokens 4 >ids
	assay generate m.gguf --prompt Hi --tokens 4 --json >out
	[ "$(jq -r '.tokens | join(" ")' out)" = "$(sed 's/ *$//' ids)" ]
	jq -e '.prompt_tokens == 6 and (.text | test(" w[0-9]+"))' out
	[ "$(assay generate m.gguf --prompt Hi --tokens 4)" = "$(jq -r .text out)" ]
	printf '{"prompt":"Hi","max_tokens":4}\n{"prompt":"Hi","max_tokens":4,"stop":["w"]}\n{"prompt":"Hi","max_tokens":1,"stop":[""]}\n' |
		assay generate m.gguf --requests >events
	jq -es '.[0].event == "ready" and (.[0] | has("no_text") | not)' events
	[ "$(jq -js 'map(.text // empty) | join("")' events)" = "$(jq -j '.text + (.text | split("w")[0])' out)" ]
	jq -es 'map(select(.event == "end")) | map([.prompt, .stopped]) == [[6, false], [6, true], [0, false]]' events
	grep -q 'a stop text is empty' events

	fails 2 "the model takes no text, only ids: models of the suite 'serve' have no tokenizer" generate tiny --prompt Hi
	fails 2 "drop the token ids" generate m.gguf 1 --prompt Hi
	fails 2 "drop --requests" generate m.gguf --requests --prompt Hi
	assay model synth mute.gguf --layers 1 --vocab 64
	fails 2 "only ids: tokenizer.ggml.model is 'no_vocab', expected gpt2 or llama" generate mute.gguf --prompt Hi
}

@test "what is published of a run: times of the model and of the tokenizer, memory, tokens and steps" {
	assay model synth m.gguf --layers 1 --ffn 256
	assay model synth mute.gguf --layers 1 --vocab 64
	suite '"pp=70,tg=3"'
	assay run --bench-dir . --only '*/ref/*t=1/*' --model m.gguf --model mute.gguf --json >out
	jq -e '.cases[0].metrics as $m | all("tokens_per_s", "tokens_per_ms", "forward_s", "sampling_s", "ttft_s", "tpot_p50_s", "encode_s", "decode_s";
		$m[.].value > 0) and ($m.tokens_per_ms.value * 1000 / $m.tokens_per_s.value | . > 0.999 and . < 1.001)' out
	jq -e '.cases[1].metrics | has("forward_s") and (has("encode_s") or has("decode_s") | not)' out
	assay model show m.gguf --json >shown
	jq -e --slurpfile s shown '.cases[0].metrics.model_bytes.value == ([$s[0].tensors[].bytes] | add)
		and .cases[0].metrics.kv_bytes.value == 2 * 2 * 64 * 73 * 4' out
	jq -e '.cases[0].counters | [.tokens, .prefill_steps, .decode_steps, .kv_lookups, .kv_misses] | map(.value) == [72, 2, 2, 70, 70]' out
}

# A prompt of this vocabulary begins with <s>, and each word with the three bytes of the mark for a space.
@test "a run reads a prompt of text, repeated or cut to the tokens of the case" {
	assay model synth m.gguf --layers 1 --ffn 256
	suite '"pp=6,tg=3", "pp=11,tg=3"'
	local prompt
	for prompt in 'Hi' 'Hi Hi' 'HiHo' 'Ho Hi'; do
		assay verify --bench-dir . --only '*/ref/*t=1/*' --model m.gguf --prompt "$prompt" --json |
			jq -r '[.cases[] | select(.status == "ok").digest] | join(" ")' >>digests
	done
	read -r short long <digests
	[ -n "$long" ] && [ "$short" != "$long" ]
	[ "$(sed -n 2p digests)" = "$short $long" ]
	[[ $(sed -n 3p digests) = "$short "* ]]
	run ! grep -qE "$short|$long" <(sed -n 4p digests)
	assay model synth mute.gguf --layers 1 --vocab 64
	run -4 --separate-stderr assay verify --bench-dir . --only '*/ref/*' --model mute.gguf --prompt Hi --json
	jq -e 'all(.cases[]; .reason | contains("the model takes no text, only ids: tokenizer.ggml.model"))' <<<"$output"
	fails 2 "--prompt has a text of 0 bytes, expected 1 to 65536" run --model m.gguf --prompt ''
	fails 2 "--prompt is 'Hi', and suite 'smoke' has no case that takes a model" run --suite smoke --prompt Hi
}

@test "a table as llama-bench prints it" {
	assay model synth m.gguf --layers 1 --ffn 256
	suite '"pp=9,tg=1", "pp=1,tg=5", "pp=2,tg=3"'
	printf 'bench "q" { op = "quantize.q8_0" shapes = {"n=512"} threads = {"1"} budget = "20ms" }\n' >q.bench
	printf 'suite "file" { use "m" { } use "q" { } }\n' >suites/file.suite
	assay run --bench-dir . --only '*/ref/*t=1/*' --model m.gguf
	assay export llama-bench >table
	[ "$(head -1 table)" = '| model | size | backend | threads | test | t/s |' ]
	[ "$(sed 1,2d table | grep -c '^| .*m.gguf.* | 2.*MiB | CPU ref | 1 | ')" = 3 ]
	[ "$(cut -d'|' -f6 table | sed 1,2d | paste -sd,)" = " pp9 , tg5 , pp2+tg3 " ]
}

@test "the file is an axis: results of two models have keys of their own in one database" {
	assay model synth a.gguf --layers 1 --ffn 256
	assay model synth b.gguf --layers 1 --ffn 256 --seed 7
	mkdir sub
	suite '"pp=5,tg=3"'
	printf 'suite "n" { use "m" { sweep = {"model=a.gguf,%s"} } }\n' "$PWD/b.gguf" >suites/n.suite
	# named twice by options, and in the environment
	assay run --bench-dir . --only '*/ref/*t=1/*' --model a.gguf --model ./b.gguf --json >out
	jq -e '[.cases[].key] == ["generate.file/ref/model=a.gguf,pp=5,tg=3/t=1/warm", "generate.file/ref/model=b.gguf,pp=5,tg=3/t=1/warm"]
		and all(.cases[]; .status == "ok") and .cases[0].digest != .cases[1].digest' out
	ASSAY_MODEL=b.gguf assay run --suite file --bench-dir . --only '*/ref/*t=1/*' --json >again
	jq -e --slurpfile o out '.cases == [.cases[] | select(.axes.model == "b.gguf" and .digest == $o[0].cases[1].digest)]
		and (.cases | length) == 1' again
	# by the suite
	assay list cases --suite n --bench-dir . --only '*/ref/*t=1/*' >keys
	[ "$(cut -d/ -f3 keys | paste -sd' ')" = "model=a.gguf,pp=5,tg=3 model=b.gguf,pp=5,tg=3" ]
	# a gate of files takes a manifest that names them
	assay list --manifest --suite file --bench-dir . --model a.gguf >manifest
	grep -q 'generate.file/ref/model=a.gguf,pp=5,tg=3/t=' manifest

	rm assay.db*
	cp a.gguf sub/a.gguf
	fails 2 "two models are called 'a.gguf'" run --suite file --bench-dir . --model a.gguf --model sub/a.gguf
	cp a.gguf 'a b.gguf'
	fails 2 "'a b.gguf' cannot stand in the key of a case" run --suite file --bench-dir . --model 'a b.gguf'
	fails 2 "--model names 'a.gguf', and suite 'smoke' has no case that takes a model" run --suite smoke --model a.gguf
	fails 2 "cannot read 'none.gguf': No such file" run --suite file --bench-dir . --model none.gguf
	rm b.gguf
	fails 2 "cannot run '$PWD/b.gguf': No such file" run --suite n --bench-dir .
}

@test "requests to a file: what is known of a prompt is not read again" {
	assay model synth m.gguf
	printf '{"prompt":[1,2,3],"max_tokens":2}\n{"prompt":[1,2,3,4],"max_tokens":1}\n{"prompt":[1,2,999],"max_tokens":1}\n' |
		assay generate m.gguf --requests >out
	jq -e 'select(.event == "end") | .known' out >known
	[ "$(paste -sd' ' known)" = "0 3 0" ]
	grep -q 'the model has no token 999: they are 0 to 511' out
}

@test "files that cannot be run are refused in one line" {
	assay model synth m.gguf --layers 1
	# another architecture, and a tensor of another name
	sed 's/llama/mamba/' m.gguf >mamba.gguf
	fails 2 "its architecture is 'mamba', expected one of llama, bitnet" generate mamba.gguf 1
	sed 's/attn_norm.weight/attn_nose.weight/' m.gguf >nose.gguf
	fails 2 "it has no tensor 'blk.0.attn_norm.weight'" generate nose.gguf 1
	head -c 100000 m.gguf >cut.gguf
	fails 2 "ends beyond the file, which has 100000 bytes" generate cut.gguf 1
	fails 2 "cannot read 'none.gguf': No such file" generate none.gguf 1
	# behind the name of the last tensor stand the number of dimensions, these, and the type
	local at=$(($(grep -abo 'output.weight' m.gguf | tail -1 | cut -d: -f1) + 13))
	cp m.gguf q4_k.gguf
	printf '\14' | dd of=q4_k.gguf bs=1 seek=$((at + 20)) conv=notrunc status=none
	fails 2 "tensor 'output.weight' is of type q4_k, which has no kernels; expected one of f32, f16, bf16, q8_0, q6_k, tq1_0, tq2_0, i2_s" generate q4_k.gguf 1
	printf '\377\377' | dd of=m.gguf bs=1 seek=$((at + 14)) conv=notrunc status=none
	truncate -s 5T m.gguf # sparse
	fails 2 "its tensors have 4095.9 GiB, and this machine has" run --model m.gguf
	assay model synth short.gguf --layers 1 --context 100
	fails 2 "1024 tokens are more than the context of" generate short.gguf 1
	run -4 --separate-stderr assay run --suite file --json
	jq -e '[.cases[] | select(.status == "skipped" and (.reason | contains("--model FILE says which")))] | length >= 2' <<<"$output"
}
