#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compare --variants: which of two variants of an op is faster.
load compare_helpers

# variants OPTION...: the plugins of both, without their verdict by half
variants() {
	command_of compare --plugin "$PLUGINS/compare_base.so" --plugin "$PLUGINS/compare_twice.so" --policy wide.conf --budget 20s --profile no \
		--variants "$@"
}

@test "two variants of different plugins are paired, and told apart by a speed-up with its interval" {
	variants lenient.triple/twice lenient.triple/work --json
	[ "$status" = 0 ]
	is '.verdict == "IMPROVED" and .base == "lenient.triple/twice" and .head == "lenient.triple/work"'
	is '.cases | length == 1 and .[0].key == "lenient.triple/work/n=1024/t=1/warm"'
	is '.cases[0] | .base_variant == "twice" and .evidence == "paired" and .speedup > 1.25 and .speedup * .ratio > 0.999'
	is '.cases[0] | .speedup_ci[0] <= .speedup and .speedup <= .speedup_ci[1]'
	is '.controls.items | map(.key) == ["lenient.triple/twice/n=1024/t=1/warm", "lenient.triple/work/n=1024/t=1/warm"]'
	run --separate-stderr "$ASSAY" compare --replay last
	[ "$status" = 0 ]
	# a replay has no lines about what is to come; a busy machine may leave a control undecided, which the line then says
	[[ $output == IMPROVED* ]]
	output=$(tr -s '\n ' ' ' <<<"$output")
	[[ $output == *": lenient.triple/work against lenient.triple/twice: "*"x as fast ("*"x to "*"x)"* ]]
	[[ $output == *"speed-up is relative to lenient.triple/twice"* ]]
	run --separate-stderr "$ASSAY" show c1 --json
	is '.cases[0].base_variant == "twice"'
}

@test "a variant that no bench names takes the cases of the other, and the slower one is REGRESSED" {
	mkdir -p bench/suites
	printf 'bench "triple" {\n\top = "lenient.triple"\n\tvariants = {"work"}\n\tshapes = {"n=1024"}\n\tbudget = "30ms"\n}\n' >bench/triple.bench
	printf 'suite "quick" {\n\tsummary = "one variant"\n\tuse "triple" { }\n}\n' >bench/suites/quick.suite
	variants lenient.triple/work lenient.triple/twice --bench-dir bench --json
	[ "$status" = 1 ]
	is '.verdict == "REGRESSED" and (.cases | length == 1)'
	is '.cases[0] | .key == "lenient.triple/twice/n=1024/t=1/warm" and .base_variant == "work" and .speedup < 0.8'
}

@test "variants that two plugins bring, that none has, of two ops, or that are none are exit 2, with what would be right" {
	local base="$PLUGINS/compare_base.so" double="$PLUGINS/compare_double.so" twice="$PLUGINS/compare_twice.so" both

	both="--plugin $base --plugin $double --plugin $twice"
	# shellcheck disable=SC2086
	refused "variant 'lenient.triple/work' is in '$base' and in '$double': load one of them, or compare the two with 'assay compare $base $double'" \
		$both --variants lenient.triple/work lenient.triple/twice
	both="--plugin $base --plugin $twice"
	# shellcheck disable=SC2086
	{
		refused "no plugin has variant 'lenient.triple/twise': did you mean 'twice'?" $both --variants lenient.triple/work lenient.triple/twise
		refused "no plugin has variant 'lenient.tripel/work': did you mean 'lenient.triple'?" $both --variants lenient.tripel/work lenient.tripel/twice
		refused "solve different problems: --variants takes two variants of one op" $both --variants lenient.triple/work other/twice
		refused "'lenient.triple/work' is named twice" $both --variants lenient.triple/work lenient.triple/work
		refused "'work' names no variant: expected OP/VARIANT" $both --variants work twice
		refused "--variants takes two" $both --variants lenient.triple/work
		refused "--variants compares times" $both --variants lenient.triple/work lenient.triple/twice --evidence exact
	}
}
