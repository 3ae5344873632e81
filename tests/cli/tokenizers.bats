#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tokenizer.*: variants that agree, counters that are the same in every run, values that do not exist.
load helpers

# Runs the bench "b" of the current folder in one short round, with JSON in the file "run".
tokens() {
	"$ASSAY" run --bench-dir benches --suite s --rounds 1 --budget 5ms --db tokens.db --json >run
}

bench() {
	mkdir -p benches/suites
	echo "bench \"b\" { op = \"tokenizer.encode\"  $1 }" >benches/b.bench
	echo 'suite "s" { use "b" { } }' >benches/suites/s.suite
}

@test "both variants of the program have the same tokens, and their counters are the same in every run" {
	bench 'shapes = {"corpus=scripts,bytes=20000"}  variants = {"ref", "ours"}'
	tokens
	jq -e '.cases | length == 2 and all(.[]; .status == "ok" and .correct)
		and ([.[].metrics.text_tokens.value] | unique | length == 1)
		and ([.[].digest] | unique | length == 1)' run
	counts='[.cases[].counters | [.vocab_lookups, .bpe_merges, .word_cache_hits, .word_cache_misses | .value]]'
	jq -e "$counts | .[1][2] > 0 and .[1][0] < .[0][0] and .[1][1] < .[0][1] and .[0][2] == 0" run
	jq "$counts" run >first
	tokens
	jq "$counts" run | diff first -
}

@test "what a vocabulary, a variant or a cache lacks is named" {
	bench 'shapes = {"vocab=gpt2"}'
	fails 2 "axis 'vocab' does not take 'gpt2', did you mean 'gpt-2'?" run --bench-dir benches --suite s
	bench 'shapes = {"bytes=1000"}  variants = {"llama_cpp"}'
	ASSAY_LLAMA=$PWD/none.so tokens || true
	jq -e '.cases[0] | .status == "skipped" and (.reason | endswith("/none.so cannot be loaded: build llama.cpp, and name its libllama.so in ASSAY_LLAMA"))' run
	bench 'shapes = {"bytes=1000,cache=warm"}  variants = {"ref"}'
	tokens || true
	jq -e '.cases[0] | .status == "skipped" and .reason == "ref has no word cache"' run
	bench 'shapes = {"bytes=1000,slots=1000"}  variants = {"ours"}'
	run "$ASSAY" run --bench-dir benches --suite s --db tokens.db
	[[ "$output" == *"slots is 1000, expected a power of two"* ]]
}

@test "of several word caches the smallest that is enough is advised, by exact counts" {
	bench 'shapes = {"corpus=text,bytes=100000,cache=warm"}  sweep = {"slots=64,262144,1048576"}  variants = {"ours"}'
	tokens
	"$ASSAY" show last --bottlenecks --db tokens.db --json >show
	jq -e '[.cases[] | select(.key | contains("slots=1048576")) | .advice[].evidence]
		== ["a cache of 1048576 words misses 0.2 %, one of 262144 misses 0.4 % and is the smallest that is enough"]' show
	jq -e '[.cases[] | select(.key | contains("slots=262144")) | .advice[]] == []' show
}
