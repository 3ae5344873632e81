#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# generate: the same ids whatever runs them, the cache of prefixes, requests as lines, and what bad input gets.
load helpers
load profile_helpers

# ids OPTION...: what follows 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21.
ids() {
	assay generate tiny {5..21} "$@"
}

@test "the same prompt has the same answer by every variant, on any number of threads, and in two pieces" {
	local whole variant
	whole=$(ids --tokens 40)
	[ "$(wc -w <<<"$whole")" = 40 ]
	assay list cases --suite serve --only '*model=tiny*' --json | jq -r '.cases[] | select(.skip_reason == null) | .variant' >variants
	grep -qx ref variants
	while read -r variant; do
		[ "$(ids --tokens 40 --only "*/$variant/*")" = "$whole" ]
	done <variants
	[ "$(ids --tokens 40 --threads 1)" = "$whole" ]
	# what was generated, handed back as part of the prompt
	# shellcheck disable=SC2046 # words
	[ "$(cut -d' ' -f1-15 <<<"$whole") $(ids $(cut -d' ' -f1-15 <<<"$whole") --tokens 25)" = "$whole" ]
	[ "$(ids --tokens 40 --seed 7)" != "$whole" ]
	ids --json >out
	jq -e '.schema == 1 and .prompt_tokens == 17 and (.tokens | length) == 16 and .first_token_s > 0 and .next_token_s > 0
		and (.case | startswith("generate.chat/"))' out
	[ "$(jq -r '.tokens | join(" ")' out)" = "$(cut -d' ' -f1-16 <<<"$whole")" ]
	[ ! -e assay.db ]
}

@test "requests are answered one after the other, and equal beginnings are taken from the cache" {
	local prompt
	prompt=$(seq -s, 40)
	printf '%s\n' "{\"prompt\":[$prompt],\"max_tokens\":3}" "{\"prompt\":[$prompt],\"max_tokens\":3}" "{\"prompt\":[900],\"max_tokens\":2}" none \
		'{"prompt":[1],"max_tokens":1000}' "{\"prompt\":[$prompt,7],\"max_tokens\":1}" | assay generate tiny --requests >out
	[ "$(jq -r 'select(.event == "end") | if .error then "refused \(.refused)" else .known end' out | tr '\n' ,)" = \
		"0,32,refused true,refused true,refused true,32," ] || { cat out; false; }
	jq -es '[.[] | select(.event == "tokens")] | map(.at_ns[]) | . == sort and length == 7' out
	# the second time the same
	jq -es '[.[] | select(.event == "tokens") | .tokens[]] | .[0:3] == .[3:6]' out
}

@test "each token of all samples is in a histogram of its case" {
	ASSAY_DETERMINISTIC=1 assay run --suite smoke --only 'generate.*/ref/*' --json >out.json
	jq -e '[.cases[] | select(.status == "ok")] | length == 3 and all(.[]; (.samples * .iterations) as $runs |
		(if .op == "generate.prefill" then [1, null] elif .op == "generate.decode" then [null, 64] else [8, 56] end | map(if . then . * $runs else false end))
			== ([.histograms.first_token_s.count, .histograms.next_token_s.count] | map(. // false)))' out.json
	assay show last | grep -q 'first token p50.*, p90.*, p99.*, count.*next token p50'
}

@test "an answer can be sampled, and is stored as a profile" {
	echo 'no database' >other.db
	run --separate-stderr assay generate tiny 1 2 3 --profile request --db other.db
	[ "$status" = 2 ]
	[ "$(wc -w <<<"$output")" = 16 ]
	[[ $stderr == "assay: the answer is complete, but there is no profile 'request': "*"other.db"* ]]
	needs_samples
	run --separate-stderr assay generate tiny 1 2 3 --tokens 512 --profile request
	[ "$(wc -w <<<"$output")" = 512 ]
	if [ -n "$stderr" ]; then
		[ "$status" = 2 ]
		[[ $stderr == "assay: the answer is complete, but there is no profile 'request': "* ]]
	else
		[ "$status" = 0 ]
		assay show request --json | jq -e '.profile.kind == "cpu" and (.profile.command | startswith("a request to model tiny"))'
	fi
}

@test "what is no model, no token or too long is refused in one line" {
	fails 2 "no model given" generate
	fails 2 "no model is called 'gpt', expected one of the suite 'serve': tiny, 125m, 700m, 2b" generate gpt 1
	fails 2 "no prompt given" generate tiny
	fails 2 "'x' is not a token" generate tiny 1 x
	fails 2 "'-1' is not a token" generate tiny -- -1
	fails 2 "model tiny has no token 512: they are 0 to 511" generate tiny 512
	fails 2 "513 tokens were asked for, model tiny generates 1 to 512" generate tiny 1 --tokens 513
	# shellcheck disable=SC2046 # words
	fails 2 "do not fit: model tiny has room for" generate tiny $(yes 1 | head -4096) --tokens 512
	# shellcheck disable=SC2046 # words
	fails 2 "a prompt has at most 4096 tokens" generate tiny $(yes 1 | head -4097)
	fails 2 "an answer has at most 4096 tokens" generate tiny 1 --tokens 4097
	fails 2 "bad --tokens '0'" generate tiny 1 --tokens 0
	fails 2 "models are those of the suite 'serve': drop --suite quick" generate tiny 1 --suite quick
	fails 2 "with --requests the prompts come from standard input" generate tiny 1 --requests
}

@test "keys name the head where it is not bf16, every variant agrees on it, and a model that cannot have it says so" {
	mkdir suites
	echo 'suite "heads" { use "heads" { } }' >suites/heads.suite
	echo 'bench "heads" { op = "generate.decode" shapes = {"model=nano,pp=1,tg=2"} sweep = {"head=bf16,q8_0,i8_row"} threads = {"1"} budget = "1ms" }' >h.bench
	assay run --bench-dir . --suite heads --db r.db --json >out
	jq -e '[.cases[] | select(.status == "ok")] | (map(.key | sub(".*sampler=greedy"; "")) | unique) ==
		[",head=i8_row/t=1/warm", ",head=q8_0/t=1/warm", "/t=1/warm"] and
		(group_by(.axes.head) | all(map(.digest) | unique | length == 1))' out
	sed -i 's/head=.*row/head=q6_k/' h.bench
	fails 2 "model nano cannot have the head q6_k: a row has 128 values, not a multiple of 256" run --bench-dir . --suite heads
	sed -i 's/head=q6_k/head=q5/' h.bench
	fails 2 "axis 'head' does not take 'q5'" run --bench-dir . --suite heads
}
