#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# compress.* and decompress.*: libraries that are missing, sizes, levels that do not exist.
load helpers

# codec ARGUMENT...: runs the suite in one short round, with JSON in the file "run".
codec() {
	"$ASSAY" run --suite codecs --rounds 1 --budget 20ms --db codecs.db --json "$@" >run
}

@test "a codec whose library is missing is skipped, and the reason names its package" {
	mkdir lib
	: >lib/libsnappy.so.1 # the loader takes no other one after it
	LD_LIBRARY_PATH=$PWD/lib run -4 codec --only '*compress.snappy/*corpus=json*'
	jq -e '[.cases[] | .status, .reason] | length == 4 and .[0] == "skipped" and .[2] == "skipped"
		and all(.[1], .[3]; . == "libsnappy.so.1 is missing, install libsnappy1v5 (Debian, Ubuntu)")' run
}

@test "a level that a format or a library lacks is named" {
	mkdir -p benches/suites
	echo 'bench "b" { op = "compress.zstd"  shapes = {"level=23"} }' >benches/b.bench
	echo 'suite "s" { use "b" { } }' >benches/suites/s.suite
	fails 2 "axis 'level' is 23, expected -64 to 22" run --bench-dir benches --suite s
	echo 'bench "b" { op = "compress.zstd"  shapes = {"corpus=txt"} }' >benches/b.bench
	fails 2 "axis 'corpus' does not take 'txt', did you mean 'text'?" run --bench-dir benches --suite s
	echo 'bench "b" { op = "compress.gzip"  shapes = {"level=12"}  variants = {"zlib"} }' >benches/b.bench
	"$ASSAY" run --bench-dir benches --suite s --db codecs.db --json >run || true
	jq -e '.cases[0] | .status == "skipped" and .reason == "level is 12, libz.so.1 has levels up to 9"' run
}

@test "both directions round-trip with the same size, and --pareto weighs the codecs of a stored run by speed and size, and for a link" {
	"$ASSAY_SOURCE/ci/deps.sh" --has so:libzstd.so.1 || skip "there is no libzstd.so.1: install libzstd1"
	codec --only '*compress.zstd/*corpus=json*level=[139]/*'
	jq -e '.cases | length == 6 and all(.[]; .status == "ok" and .correct) and ([.[].metrics.compressed_bytes.value] | unique | length == 3)' run
	assay show last --pareto --db codecs.db --json >pareto
	jq -e '(.data | length == 1) and (.data[0].codecs | length == 3 and (min_by(.compressed_frac).front)
		and all(.[]; .compress_bytes_per_s > 0 and .decompress_bytes_per_s > 0))' pareto
	jq -e '[.data[0].links[] | .link] == ["memory, 10 GB/s", "disk, 500 MB/s", "network, 1 Gb/s"]' pareto
	assay show last --pareto --link 0.001Mb/s --db codecs.db --json |
		jq -e '.data[0] | .links[0].best == (.codecs | min_by(.compressed_frac).key) and .links[0].total_s < .links[0].uncompressed_s'
	assay show last --pareto --link 1000GB/s --db codecs.db --json | jq -e '.data[0].links[0] | .best == null and .total_s == .uncompressed_s'
	KEEP_DB=1
	fails 2 "--link is 'fast', expected a rate such as 10Gb/s or 500MB/s" show last --pareto --link fast --db codecs.db
	fails 2 "--link is for --pareto" show last --link 1Gb/s --db codecs.db
	assay run --suite smoke --only 'overhead.dispatch/*' --db codecs.db >/dev/null
	fails 2 "run 2 has no codecs: 'assay run --suite codecs' measures them" show last --pareto --db codecs.db
}
