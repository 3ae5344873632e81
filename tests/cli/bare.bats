#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The program as it is built where neither PAPI nor valgrind has headers (PAPI=0 VALGRIND=0): each is one clear line, the rest works.
load helpers
BARE=$ASSAY_BUILD/tests/bare/bin/assay

@test "make takes PAPI=0 and VALGRIND=0, and says so" {
	run env -u MAKEFLAGS make -C "$ASSAY_SOURCE" -n --no-print-directory ASSAY_NO_INSTALL=1 BUILD="$PWD/b" PAPI=0 VALGRIND=0 ZYDIS=0 LIBDW=0 OPENBLAS=0 CUDA=0 \
		"$PWD/b/obj/harness/counters/papi/set.o" "$PWD/b/features"
	[ "$status" = 0 ]
	[[ $output == *"-DASSAY_PAPI=0 -DASSAY_VALGRIND=0"* ]]
	[[ $output == *"PAPI no (PAPI=0); valgrind no (VALGRIND=0); Zydis no (ZYDIS=0); libdw no (LIBDW=0); "*"OpenBLAS no (OPENBLAS=0)"* ]]
}

@test "make refuses compilers for 32 bits and for another C library" {
	local compiler

	mkdir other
	touch other/features.h # of glibc it would say so
	for compiler in 'gcc -m32' "gcc -nostdinc -I$PWD/other"; do
		run -2 env -u MAKEFLAGS make -C "$ASSAY_SOURCE" -n --no-print-directory ASSAY_NO_INSTALL=1 BUILD="$PWD/b" CC="$compiler"
		grep -F "$compiler compiles for " <<<"$output" >said
		grep -qx -e '.*gcc -m32 compiles for 32 bits, and assay needs 64\.  Stop\.' \
			-e '.* compiles for another C library than glibc, such as musl, and assay needs glibc\.  Stop\.' said
	done
}

@test "make refuses a switch that is neither of its values, in one line" {
	local switch
	for switch in PAPI=yes VALGRIND=no CUDA=/usr/local/cuda PAPI= 'VALGRIND=0 1'; do
		refuses_switch "$switch" "0, 1 or auto"
	done
	for switch in OPENBLAS=no WERROR=yes V=2; do
		refuses_switch "$switch" "0 or 1"
	done
	refuses_switch SANITIZE=adress,undefined "some of address undefined thread leak fuzzer-no-link, with commas"
}

# refuses_switch NAME=VALUE EXPECTED
refuses_switch() {
	run env -u MAKEFLAGS make -C "$ASSAY_SOURCE" -n --no-print-directory ASSAY_NO_INSTALL=1 BUILD="$PWD/b" "$1" "$PWD/b/features"
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"${1%%=*} is '${1#*=}', expected $2."* ]]
}

@test "the unit tests of counters pass without either" {
	for test in "$ASSAY_BUILD"/tests/bare/test_*; do
		(cd "$ASSAY_SOURCE" && "$test")
	done
}

@test "the doctor names what is missing in one line each, with what brings it" {
	run --separate-stderr "$BARE" doctor --json
	[ "$status" = 0 ] && [ -z "$stderr" ]
	jq -e '[.findings[] | select(.name == "counters_sde" or .name == "counters_papi" or .name == "counters_papi_cost")]
		| length == 3 and all(.health == "none" and .value == "this program was built without PAPI"
			and (.advice | startswith("install libpapi-dev and build again")))' <<<"$output"
	jq -e '[.findings[] | select(.name == "valgrind")] | length == 1 and (.[0] | .health == "none" and (.value | length > 0))' <<<"$output"
	jq -e '[.findings[] | select(.name == "counters_op" or .name == "counters_getrusage")] | length == 2 and all(.health == "ok")' <<<"$output"
}

@test "a run counts what it can and gives reasons for the rest; exact counts are skipped with one" {
	mkdir -p c/suites
	ln -sfn "$ASSAY_SOURCE/bench/groups" c/groups
	printf 'bench "m" {\n op = "matmul.ternary"\n variants = {"ref"}\n shapes = {"m=64,k=256,n=3"}\n counters = {"ops"}\n}\n' >c/m.bench
	printf 'suite "m" {\n use "m" { }\n}\n' >c/suites/m.suite
	ASSAY_DETERMINISTIC=1 run --separate-stderr "$BARE" run --bench-dir c --suite m --counters cache --json
	[ "$status" = 0 ]
	jq -e '.cases[0] | .status == "ok" and .counters.cpu_ops.value == 2 * 64 * 256 * 3 and .counters.cpu_ops.source == "op"
		and (.counters.cpu_ops.how | contains("this program was built without PAPI"))
		and .unavailable.PAPI_L1_DCM == { source: "pmu", reason: "this program was built without PAPI" }
		and (.unavailable.d1_hit_rate.reason | length > 0)' <<<"$output"
	run --separate-stderr "$BARE" run --evidence exact --bench-dir c --suite m --only m=64 --json
	jq -e '.cases | length == 1 and (.[0] | .status == "skipped" and (.reason | contains("valgrind")))' <<<"$output"
	[[ $stderr == *"nothing was counted"* ]]
}
