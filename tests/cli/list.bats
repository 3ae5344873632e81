#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# list, doctor, help and version.
load helpers

@test "every command has help with an example, and a version" {
	run --separate-stderr "$ASSAY" --help
	[ "$status" = 0 ]
	[[ $output == *"example:"* ]]
	commands=$(sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' <<<"$output")
	[ "$(wc -l <<<"$commands")" -ge 13 ]
	for c in $commands; do
		run --separate-stderr "$ASSAY" $c --help
		[ "$status" = 0 ]
		[[ $output =~ examples?:.*assay\ $c ]]
		[ -z "$stderr" ]
	done
	run "$ASSAY" --version
	[ "$status" = 0 ]
	[[ $output == "assay "[0-9]* ]]
}

@test "--help shows what most people use, --help-all every option" {
	run -0 "$ASSAY" compare --help
	[[ $output != *--alpha* && $output == *--margin* ]]
	[[ ${lines[-1]} =~ ^([0-9]+)\ more\ options:\ assay\ compare\ --help-all$ ]]
	local more=${BASH_REMATCH[1]} few
	few=$(grep -Ec -- '^ {2,6}(-., )?--[a-z-]+' <<<"$output")
	run -0 "$ASSAY" compare --help-all
	[[ $output == *--alpha* && $output == *--same-code* && $output != *"more options"* ]]
	[ "$(grep -Ec -- '^ {2,6}(-., )?--[a-z-]+' <<<"$output")" = $((few + more)) ]
}

@test "list shows ops, variants, suites and cases" {
	run --separate-stderr "$ASSAY" list
	[ "$status" = 0 ]
	[[ $output == *"quantize.q8_0"* && $output == *"  ref"* && $output == *"suites"* ]]
	[ -z "$stderr" ]
	run "$ASSAY" list suites --bench-dir "$BENCH"
	[ "$output" = $'huge\nquick' ]
	run "$ASSAY" list cases --bench-dir "$BENCH" --threads 1
	[ "${lines[0]}" = "quantize.q8_0/ref/n=4096/t=1/warm" ]
	[ "${#lines[@]}" = 2 ]
	"$ASSAY" list plugins | grep -q 'ops.so'
	"$ASSAY" list variants | grep -q '^quantize.q8_0/ref '
	run "$ASSAY" list groups
	grep -q '^kv_cache  ' <<<"$output"
	grep -q '^  counts kv_lookups, kv_hits, kv_misses$' <<<"$output"
	grep -Eq '^  kv_cache_hit_rate +. kv_hits / kv_lookups: .*; higher is better$' <<<"$output"
	run "$ASSAY" list ops
	[[ $output != *"  ref"* ]]
}

@test "list --json" {
	"$ASSAY" list --json | jq -e '.schema == 1 and (.ops | length) > 0 and (.variants | length) > 0 and (.suites | length) > 0
		and ([.plugins[].loaded] | all) and (has("cases") | not)'
	"$ASSAY" list --json | jq -e '.ops[] | select(.name == "quantize.q8_0") | .exact and .axes[0].name == "n"'
	"$ASSAY" list --json | jq -e '.groups[] | select(.name == "cache") | (.events | index("PAPI_L1_DCM")) and (.metrics[]
		| select(.tag == "d1_hit_rate") | .unit == "1" and .better == "higher" and .range[1] == 1 and .formula == "1 - PAPI_L1_DCM / data_accesses")'
	"$ASSAY" list cases --json --bench-dir "$BENCH" | jq -e '.suite == "quick" and (.cases | length) == 3'
}

@test "--isa skips what needs more, with the reason" {
	[ "$(uname -m)" = x86_64 ] || skip "names variants of x86_64"
	run "$ASSAY" list variants --isa baseline
	grep -qE '^matmul.ternary/avx2 .*not here: --isa baseline leaves out avx2' <<<"$output"
	! grep -E '^matmul.ternary/ref .*not here' <<<"$output"
	"$ASSAY" list cases --json --suite smoke --isa baseline |
		jq -e '[.cases[] | select(.variant == "avx2") | .skip_reason | test("leaves out|has no")] | length > 0 and all'
	"$ASSAY" list cases --json --suite full --isa avx512vbmi2 |
		jq -e '[.cases[] | select(.variant == "avx512vbmi2") | (.skip_reason // "") | test("leaves out")] | length > 0 and (any | not)'
	"$ASSAY" list cases --json --suite full --isa avx512 |
		jq -e '[.cases[] | select(.variant == "avx512vbmi2") | .skip_reason | test("leaves out|has no")] | length > 0 and all'
	fails 2 "--isa is 'avx3', expected baseline, avx2, avxvnni, avx512, avx512vbmi2, avx512vnni, neon or dotprod" list --isa avx3
}

@test "--isa caps an op's own vectors, too, and no bit of its result" {
	[ "$(uname -m)" = x86_64 ] || skip "names instruction sets of x86_64"
	mkdir suites
	printf 'bench "short" { op = "generate.decode" shapes = {"model=tiny,pp=16,tg=8"} variants = {"ref"} threads = {"1"} }\n' >short.bench
	printf 'suite "quick" { use "short" { } }\n' >suites/quick.suite
	for isa in baseline avx2 avx512vnni; do
		"$ASSAY" run --bench-dir . --isa $isa --budget 1ms --json >$isa.json
	done
	bits='.cases[0].metrics.vector_bits.value'
	jq -e "$bits == 128" baseline.json
	jq -e "$bits == 128 or $bits == 256" avx2.json
	for isa in avx2 avx512vnni; do
		[ "$(jq -r '.cases[0].digest' $isa.json)" = "$(jq -r '.cases[0].digest' baseline.json)" ]
	done
}

@test "--isa caps the vectors of OpenBLAS, too, and leaves the environment alone" {
	[ "$(uname -m)" = x86_64 ] || skip "names instruction sets of x86_64"
	[ -e "$ASSAY_BUILD/plugins/matmul-openblas.so" ] || skip "built without OpenBLAS"
	ln -s "$ASSAY_BUILD/tests/plugins/openblas_standin.so" libopenblas.so.0
	export LD_LIBRARY_PATH=$PWD STANDIN_LOG=$PWD/log
	loaded_with() {
		local want=$1
		shift
		rm -f log
		# its products are none
		run "$ASSAY" verify --suite full --only 'matmul.f32/openblas/m=64,k=256,n=1/t=1/warm' "$@"
		[ "$status" = 3 ] && [ "$(sort -u log)" = "$want, threads 1" ]
	}
	unset OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS
	loaded_with "core free"
	loaded_with "core Nehalem" --isa baseline
	grep -qw avx2 /proc/cpuinfo || return 0
	loaded_with "core Haswell" --isa avx2
	OPENBLAS_CORETYPE=SkylakeX loaded_with "core Haswell" --isa avx2
	OPENBLAS_CORETYPE=Zen loaded_with "core Zen"
}

@test "variants for another architecture are known, skipped by name, and in no suite" {
	case $(uname -m) in
	x86_64) other=aarch64 variant=neon_dotprod ;;
	aarch64) other=x86_64 variant=avx512vnni ;;
	*) skip "every variant with a vector unit is for another architecture" ;;
	esac
	reason="built for $other, this is $(uname -m)"
	run "$ASSAY" list variants
	grep -qE "^matmul.ternary/$variant +not here: $reason\$" <<<"$output"
	grep -qE "^generate.decode/$variant +not here: $reason\$" <<<"$output"
	"$ASSAY" list cases --suite full --json | jq -e --arg v $variant '[.cases[].variant] | index("ref") and (index($v) | not)'

	for command in run verify; do
		run -4 --separate-stderr "$ASSAY" $command --suite smoke --only "*/$variant/*" --json
		jq -e --arg r "$reason" '.cases | length > 0 and ([.[] | .status == "skipped" and .reason == $r] | all)' <<<"$output"
		[[ $stderr == *"nothing was measured: no case can run here"* ]]
	done
	KEEP_DB=1 fails 2 "nothing to compare: no case of suite 'smoke' runs a variant" \
		compare "$ASSAY_BUILD/plugins" "$ASSAY_BUILD/plugins" --suite smoke --only "*/$variant/*"
	# beside what can run
	ASSAY_DETERMINISTIC=1 "$ASSAY" verify --suite smoke --only "matmul.ternary/$variant/*" --only 'matmul.ternary/ref/*' --json |
		jq -e '[.cases[].status] | unique == ["ok", "skipped"]'
}

@test "threads that double up to all" {
	doubling='([.cases[].threads] | unique) as $t | $t == ([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] | map(select(. < $t[-1]))) + [$t[-1]]'
	"$ASSAY" list cases --suite scaling --json | jq -e "$doubling"
	"$ASSAY" list cases --suite smoke --threads doubling --json | jq -e "$doubling"
	ASSAY_THREADS=doubling "$ASSAY" list cases --suite smoke --json | jq -e "$doubling"
	all=$("$ASSAY" list cases --suite scaling --threads all --json | jq '.cases[0].threads')
	"$ASSAY" list cases --suite scaling --json | jq -e --argjson all "$all" '[.cases[].threads] | max == $all'
}

@test "list --manifest writes what a gate reads" {
	manifest
	run -0 grep -v '^#' quick.manifest
	[ "$output" = 'required quantize.q8_0/ref/n=4096/t={1,all}/warm
required dequantize.q8_0/ref/n=4096/t=1/warm' ]
}

@test "the committed manifests are those of the suites" {
	# they are written where every plugin is there
	[ "$(uname -m)" = x86_64 ] || skip "written on x86_64"
	ls "$ASSAY_BUILD"/plugins/*-openblas.so >/dev/null 2>&1 || skip "no OpenBLAS variants in this build"
	for suite in "$ASSAY_SOURCE"/bench/suites/*.suite; do
		name=$(basename "$suite" .suite)
		"$ASSAY" list --manifest --suite "$name" >"$name.manifest"
		diff "$ASSAY_SOURCE/baselines/$name.manifest" "$name.manifest"
	done
}

@test "doctor says what there is" {
	run --separate-stderr "$ASSAY" doctor
	[ "$status" = 0 ]
	[[ $output == *"clock"* && $output == *"pmu"* && $output == *" warn, "* ]]
	"$ASSAY" doctor --json | jq -e '.schema == 1 and .clock.resolution_ns > 0 and .clock.sample_overhead_ns > 0
		and ([.findings[].name] | contains(["pmu", "core_pace", "sample_overhead"]))
		and ([.findings[].health] - ["ok", "warn", "none"] == [])'
}

@test "doctor begins with what can be measured, and says once that there is no GPU" {
	run --separate-stderr -0 "$ASSAY" doctor
	[[ ${lines[0]} == "comparisons can detect "* || ${lines[0]} == "too noisy to detect "* || ${lines[0]} == *"comparisons can detect is unknown: "* ]]
	if [[ $output == *"no NVIDIA GPU"* ]] && ! ldconfig -p | grep -q libnvidia-ml; then
		[ "$(grep -ci 'nvidia.*gpu\|nvidia-ml\|gpus' <<<"$output")" = 1 ]
	fi
}

# without MOUNTS COMMAND: what of /proc, /sys and /dev is named is empty for it.
without() {
	local mounts=$1
	shift
	unshare -m true || skip "mount namespaces are not allowed here"
	unshare -m bash -c 'for at in $1; do mount -t tmpfs none "/$at" || exit 99; done; shift; "$@"' x "$mounts" "$@"
}

@test "doctor names what a chroot lacks" {
	run --separate-stderr -0 without "proc sys dev" "$ASSAY" doctor
	[ -z "$stderr" ]
	[ "${lines[0]}" = "nothing can be measured: /proc is not mounted" ]
	grep '^none  proc  *not mounted$' <<<"$output"
	grep '^none  sys  *not mounted: frequency, SMT, isolation and quotas are unknown$' <<<"$output"
	grep '^none  dev  *there is no /dev/null$' <<<"$output"
	grep '^none  isolation' <<<"$output"
	grep '^none  cpu_quota' <<<"$output"
	run --separate-stderr -0 without dev "$ASSAY" doctor
	[ "${lines[0]}" = "nothing can be measured: there is no /dev/null" ]
	[[ $output == *"valgrind does not run: cannot start 'valgrind': cannot open /dev/null: No such file or directory"* ]]
	run --separate-stderr -0 without sys "$ASSAY" doctor
	[[ ${lines[0]} != "nothing"* ]]
}

@test "the committed counts are of the flags that make takes unless told otherwise" {
	run -0 env -u MAKEFLAGS -u CC -u CFLAGS -u SANITIZE make -n -s -C "$ASSAY_SOURCE" ASSAY_NO_INSTALL=1 BUILD="$PWD/b" "$PWD/b/gen/build_info.h"
	for record in "$ASSAY_SOURCE"/baselines/exact/*.json; do
		[[ $record != *.kernels.json ]] || continue
		jq -r '.builds[].flags' "$record" | while read -r flags; do
			[[ $output == *"'$flags'"* ]] || { echo "$record: '$flags'"; false; }
		done
	done
}

@test "an assay.conf above the folder counts only within its git repository" {
	mkdir sub
	printf 'build = "true"\nplugins = "."\nbench = "nowhere"\n' >assay.conf
	fails 2 "names the folder 'nowhere', which is not there" list suites
	cd sub
	run -0 "$ASSAY" list suites
	git init -q ..
	fails 2 "names the folder 'nowhere', which is not there" list suites
}
