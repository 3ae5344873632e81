#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Variants of GPUs that need more than a kernel, on an emulated device: NVIDIA's libraries, which stand-ins take the place of,
# a second device, and the conversations of a chat.
load helpers

setup() {
	[ -e "$ASSAY_BUILD/tests/cuda/assay_cuda.so" ] || skip "no emulated plugin: make found no C++ compiler"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p libraries suites
	ln -s "$ASSAY_BUILD/tests/plugins/cublas_standin.so" libraries/libcublas.so.13
	ln -s "$ASSAY_BUILD/tests/plugins/cublaslt_standin.so" libraries/libcublasLt.so.13
}

# measure BENCH [VAR=VALUE...] [-- OPTIONS...]: a line "op/variant status reason" of each case on the emulated device.
measure() {
	local bench=$1 vars=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	echo "bench \"b\" { $bench budget = \"1ms\" threads = {\"1\"} timeout = \"120s\" }" >emulated.bench
	echo 'suite "quick" { use "b" { } }' >suites/quick.suite
	run --separate-stderr env LD_LIBRARY_PATH="$PWD/libraries" "${vars[@]}" "$ASSAY" run --no-default-plugins --plugin "$ASSAY_BUILD/tests/cuda/assay_cuda.so" \
		--plugin "$ASSAY_BUILD/tests/cuda/ops.so" --plugin "$ASSAY_BUILD/tests/cuda/matmul.so" --bench-dir . --suite quick --json "$@"
	echo "$stderr"
	jq -r '.cases[] | "\(.op)/\(.variant) \(.status) \(.reason)"' <<<"$output" >lines
	cat lines
}

TERNARY='op = "matmul.ternary" shapes = {"m=8,k=256,n=5", "m=12,k=384,n=1"} variants = {"cublas*", "cuda", "ref"}'

@test "cuBLAS by bytes and by halves, and cuBLASLt, give the bits of the CPU" {
	measure "$TERNARY"
	for variant in cuda cublas cublas_f16 cublaslt ref; do
		[ "$(grep -c "^matmul.ternary/$variant ok" lines)" = 2 ]
	done
	jq -e '[.cases[] | {k: .axes.k, d: .digest}] | group_by(.k) | length == 2 and all([.[].d] | unique | length == 1)' <<<"$output"
	jq -e '[.cases[] | select(.variant != "ref").metrics.device_leaked_bytes.value] == [0, 0, 0, 0, 0, 0, 0, 0]' <<<"$output"
	measure 'op = "matmul.f32" shapes = {"m=5,k=13,n=3"} variants = {"cublas"}'
	grep -q '^matmul.f32/cublas ok' lines
	# a kernel that takes a workspace has it
	measure "$TERNARY" CUBLASLT_STANDIN=big
	[ "$(grep -c '^matmul.ternary/cublaslt ok' lines)" = 2 ]
}

@test "what a library cannot do, or that it is missing or old, is the reason of its variant alone" {
	measure "$TERNARY" CUBLASLT_STANDIN=old
	grep -qx 'matmul.ternary/cublaslt skipped cuBLASLt is too old: it is 10.2, 11.0 or later is needed' lines
	[ "$(grep -c ' ok ' lines)" = 8 ]
	measure "$TERNARY" CUBLASLT_STANDIN=none
	grep -q '^matmul.ternary/cublaslt failed .*cuBLASLt has no int8 kernel for this shape on this device' lines
	[ "$(grep -c ' ok ' lines)" = 8 ]
	measure 'op = "matmul.ternary" shapes = {"m=10,k=256,n=5", "m=4,k=132224,n=1"} variants = {"cublas*", "ref"}'
	grep -qx 'matmul.ternary/cublaslt skipped cuBLAS multiplies bytes only where m is a multiple of 4' lines
	grep -qx 'matmul.ternary/cublas skipped cuBLAS multiplies bytes only where m is a multiple of 4' lines
	grep -qx 'matmul.ternary/cublas_f16 skipped sums of half precision are exact up to k=132104' lines
	[ "$(grep -c '^matmul.ternary/cublas_f16 ok' lines)" = 1 ]
	# a library that cannot be opened, then one that lacks what is called
	rm libraries/*
	for n in 10 11 12 13; do
		echo none | tee "libraries/libcublasLt.so.$n" "libraries/libcublas.so.$n" >/dev/null
	done
	measure "$TERNARY"
	grep -q "^matmul.ternary/cublaslt skipped libcublasLt.so.13 is missing, install NVIDIA's cuBLAS$" lines
	grep -q "^matmul.ternary/cublas skipped libcublas.so.13 is missing, install NVIDIA's cuBLAS$" lines
	[ "$(grep -c '^matmul.ternary/\(cuda\|ref\) ok' lines)" = 4 ]
	ln -sf "$ASSAY_BUILD/tests/plugins/openblas_standin.so" libraries/libcublasLt.so.13
	measure "$TERNARY"
	grep -q '^matmul.ternary/cublaslt skipped libcublasLt.so.13 lacks cublasLtGetVersion: install a newer cuBLASLt$' lines
}

@test "a library's memory that does not fit is told with what it takes" {
	# the tensors fit, weights of a byte each do not
	measure 'op = "matmul.ternary" shapes = {"m=256,k=1024,n=2"} variants = {"cublas*"}' EMULATED_MEMORY=150000
	for variant in cublas cublas_f16 cublaslt; do
		grep -q "^matmul.ternary/$variant failed out of memory on device 'cuda:0' while preparing: the tensors of m=256,k=1024,n=2 take .*, free: .*: cannot allocate [0-9]* bytes for the operands of cuBLAS" lines
	done
}

P2P='op = "stream.p2p" shapes = {"bytes=65536"} sweep = {"hop=1,2"} cache = {"warm"}'

@test "stream.p2p reads from each other device, and names the one that has no partner" {
	measure "$P2P"
	[ "$(grep -cx 'stream.p2p/cuda skipped there is one device, and this takes two' lines)" = 2 ]
	measure "$P2P" EMULATED_DEVICES=2 -- --device cuda:0,cuda:1
	[ "$(grep -c '^stream.p2p/cuda ok' lines)" = 2 ]
	[ "$(grep -cx 'stream.p2p/cuda skipped hop=2 leads around: there are 2 devices' lines)" = 2 ]
	measure "$P2P" EMULATED_DEVICES=3 -- --device cuda:0,cuda:1,cuda:2
	[ "$(grep -c '^stream.p2p/cuda ok' lines)" = 6 ]
	jq -e '[.cases[] | "\(.axes.device) \(.axes.hop)"] | unique | length == 6' <<<"$output"
	# bytes cross the link once, and are the source's
	jq -e '[.cases[] | .counters.p2p_direct.value == 1 and (.counters.p2p_staged.value // 0) == 0 and .metrics.bytes_per_s.value > 0] | all' <<<"$output"
	jq -e '[.cases[].digest] | unique | length == 1' <<<"$output"
}

@test "stream.p2p goes through the host where devices do not reach each other, and tells whose memory is full" {
	measure "$P2P" EMULATED_DEVICES=2 EMULATED_PEER=0
	jq -e '.cases[] | select(.status == "ok") | .counters.p2p_staged.value == 1 and (.counters.p2p_direct.value // 0) == 0' <<<"$output"
	measure "$P2P" EMULATED_DEVICES=2 EMULATED_MEMORY_1=1000
	grep -q "^stream.p2p/cuda failed .*out of memory on device 'cuda:1': 65536 bytes are needed, 1000 are free" lines
}

@test "a chat on the device counts and answers as on the CPU" {
	measure 'op = "generate.chat" shapes = {"model=nano,users=2,turns=1,system=16,message=1,reply=2"} variants = {"cuda", "ref"}'
	[ "$(grep -c '^generate.chat/[a-z]* ok' lines)" = 2 ]
	jq -e '[.cases[] | [.digest, .counters.kv_lookups.value, .counters.kv_hits.value, .counters.tokens.value]] | unique | length == 1 and .[0][1:] == [34, 16, 20]' <<<"$output"
	jq -e '.cases[] | select(.variant == "cuda").metrics | .ttft_s.value > 0 and .tpot_p99_s.value > 0 and .device_leaked_bytes.value == 0' <<<"$output"
}

@test "inputs of every family are made on the device, and pass the check of inputs there" {
	measure 'op = "matmul.ternary" shapes = {"m=256,k=1024,n=32"} variants = {"cuda"}'
	jq -e '.cases[] | .status == "ok" and .metrics.device_made_bytes.value == 65536 + 32768' <<<"$output"
	for bench in 'quantize.i2_s" shapes = {"n=8192"}' 'quantize.tq2_0" shapes = {"n=8192"}' 'quantize.i8_token" shapes = {"tokens=32,dim=256"}'; do
		measure "op = \"$bench variants = {\"cuda\"}"
		jq -e '.cases[] | .status == "ok" and .metrics.device_made_bytes.value == 32768' <<<"$output"
	done
	measure 'op = "dequantize.q8_0" shapes = {"n=16384"} variants = {"cuda"}'
	jq -e '.cases[] | .status == "ok" and .metrics.device_made_bytes.value == 17408' <<<"$output"
}

@test "a build without the plugin of GPUs has their suites, without what only GPUs do" {
	local plugins=() p
	for p in ops stream quantize matmul overhead; do
		plugins+=(--plugin "$ASSAY_BUILD/plugins/$p.so")
	done
	"$ASSAY" list --suite full --no-default-plugins "${plugins[@]}" >cases
	grep -q '^stream.copy/' cases
	run ! grep -E '^stream.p2p|/cuda/' cases
	"$ASSAY" list --suite full --no-default-plugins "${plugins[@]}" --plugin "$ASSAY_BUILD/tests/cuda/assay_cuda.so" >cases
	[ "$(grep -c '^stream.p2p/cuda/' cases)" = 7 ]
}
