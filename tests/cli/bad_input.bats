#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Bad input is exit 2 with one line that says what was wrong and what would be right, before anything is measured.
load helpers

@test "no command, unknown command" {
	fails 2 "no command given: see 'assay --help'"
	fails 2 "unknown command 'rnu': did you mean 'run'?" rnu
	fails 2 "unknown command 'frobnicate': see 'assay --help'" frobnicate
	fails 2 "unknown option '--frobnicate'" --frobnicate
}

@test "unknown, ambiguous and incomplete options" {
	fails 2 "unknown option '--sede': did you mean '--seed'?" run --sede 3
	fails 2 "unknown option '--frobnicate': see 'assay run --help'" run --frobnicate
	fails 2 "unknown option '-x'" run -x
	fails 2 "option '--s=3' is ambiguous" run --s=3
	fails 2 "option '--seed' needs a value: --seed=N" run --seed
	fails 2 "option '-S' needs a value" run -S
	fails 2 "option '--json' takes no value" run --json=1
	for c in list run verify show doctor gate baseline history plot; do
		fails 2 "unknown option '--frobnicate'" $c --frobnicate
	done
}

@test "options that exclude each other" {
	fails 2 "--manifest prints a file as kept under baselines/, --json an object: drop one" list --manifest --json
}

@test "arguments that are too many" {
	fails 2 "unexpected argument 'smoke': a suite is named with --suite smoke" run smoke
	fails 2 "unexpected argument 'smoke'" verify smoke
	fails 2 "unexpected argument 'x'" doctor x
	fails 2 "unexpected argument 'x'" gate x
	fails 2 "unexpected argument 'c'" show 1 b c
	fails 2 "cannot list 'opps': did you mean 'ops'?" list opps
	fails 2 "unexpected argument 'variants'" list ops variants
}

@test "a seed that is no number" {
	fails 2 "--seed is 'abc', expected" run --seed abc
	fails 2 "--seed is '12x', expected" run --seed 12x
	fails 2 "--seed is '', expected" run --seed ''
	fails 2 "--seed is '18446744073709551616', expected" run --seed 18446744073709551616
}

@test "bad values of options" {
	fails 2 "--threads is '0'" run --threads 0
	fails 2 "--threads is '1,,2'" run --threads 1,,2
	fails 2 "--threads is 'many', expected a list of numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all), such as 1,all" run --threads many
	fails 2 "--cpus is 'x'" run --cpus x
	fails 2 "--placement is 'wide', expected compact or scatter" run --placement wide
	fails 2 "--budget is 'fast'" run --budget fast
	fails 2 "--budget is '0s'" run --budget 0s
	fails 2 "--rounds is '0'" run --rounds 0
	fails 2 "--rounds is 'many'" run --rounds many
	fails 2 "--memory-limit is 'lots'" run --memory-limit lots
	fails 2 "--memory-limit is '0', expected a size above 0" run --memory-limit 0
	fails 2 "no database" gate --run x
	fails 2 "--run is '0', expected r3 (a run), a label or 'last'" baseline save b --run 0
	fails 2 "--replay is 'r1', expected c3 (a comparison) or 'last'; 'assay show comparisons' lists them" compare --replay r1
	fails 2 "what to show is '0', expected r3 (a run), c3 (a comparison), p3 (a profile), a label or 'last'" show 0
	fails 2 "--db is ''" run --db ''
}

@test "bad values in the environment, also where an option overrides them" {
	ASSAY_SEED=x fails 2 "ASSAY_SEED is 'x', expected" run --seed 1
	ASSAY_DETERMINISTIC=yes fails 2 "ASSAY_DETERMINISTIC is 'yes', expected 0 or 1" run
	ASSAY_THREADS=0 fails 2 "ASSAY_THREADS is '0', expected a list of numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all), such as 1,all" run --threads 1
	ASSAY_BATCH_SIZE=0 fails 2 "ASSAY_BATCH_SIZE is '0', expected" run
	ASSAY_MEMORY_LIMIT=lots fails 2 "ASSAY_MEMORY_LIMIT is 'lots', expected" run --memory-limit 1GiB
	ASSAY_DB= fails 2 "ASSAY_DB is ''" show
	ASSAY_SEED=x fails 2 "ASSAY_SEED is 'x'" doctor
}

@test "names with control characters, files that are none, sizes of nothing" {
	fails 2 "unknown suite 'smo ke'" run --suite $'smo\nke'
	mkdir -p d/suites d/x.bench
	printf 'suite "quick" { summary = "s" use "*" { } }\n' >d/suites/quick.suite
	fails 2 "'d/x.bench' is not a regular file" run --bench-dir d
	rmdir d/x.bench
	mkfifo d/x.bench
	fails 2 "'d/x.bench' is not a regular file" run --bench-dir d
	rm d/x.bench
	printf 'bench "a" { op = "quantize.q8_0" sweep = {"n=64"}\n memory = "0" }\n' >d/a.bench
	fails 2 "d/a.bench:2: memory is '0', expected a size above 0" run --bench-dir d
	fails 2 "--samples needs a case" show last --samples
	measure >/dev/null
	KEEP_DB=1 fails 2 "no run of suite 'quck' is stored in 'assay.db', nor is there such a suite here, did you mean 'quick'?" gate --suite quck
}

@test "unknown CPU number" {
	fails 2 "cannot use CPU '4095'" run --bench-dir "$BENCH" --cpus 4095
	fails 2 "--cpus is '99999999'" run --cpus 99999999
}

@test "more threads than there are cores" {
	fails 2 "4000 threads" run --bench-dir "$BENCH" --threads 1,4000
	ASSAY_THREADS=4000 fails 2 "4000 threads" verify --bench-dir "$BENCH"
}

@test "plugins that are refused" {
	for p in bad_abi_newer bad_abi_older bad_crash bad_magic bad_measures bad_no_symbol bad_null_run; do
		fails 2 "cannot use plugin: " run --plugin "$ASSAY_BUILD/tests/plugins/$p.so"
		[[ $stderr == *"$p.so"* ]]
		run "$ASSAY" list plugins --plugin "$ASSAY_BUILD/tests/plugins/$p.so"
		[ "$status" = 0 ]
		[[ $output == *"$p.so"*"refused: "* ]]
	done
}

@test "unknown suite" {
	fails 2 "unknown suite 'quikc'" run --bench-dir "$BENCH" --suite quikc
	fails 2 "unknown suite 'nope'" list cases --bench-dir "$BENCH" --suite nope
	fails 2 "unknown suite 'nope'" verify --bench-dir "$BENCH" --suite nope
}

@test "empty selection" {
	fails 2 "no case of suite 'quick' matches 'zzz'" run --bench-dir "$BENCH" --only zzz
	fails 2 "no case of suite 'quick' matches 'zzz'" verify --bench-dir "$BENCH" --only zzz
	# of several globs, the one that selects nothing
	for c in run verify 'list cases' "compare $ASSAY_BUILD/plugins $ASSAY_BUILD/plugins" certify; do
		fails 2 "no case of suite 'quick' matches 'zzz'" $c --bench-dir "$BENCH" --suite quick --only '*' --only zzz --only '*'
	done
	# not every case
	for c in run verify list; do
		fails 2 "bad --only '': expected a part of a key or a glob" $c --only ''
	done
	fails 2 "bad case '': expected a part of a key or a glob" show 1 ''
}

# A folder of benches with one file that holds the text given.
broken() {
	mkdir -p broken/suites
	printf 'suite "quick" {\n    summary = "s"\n    use "*" { }\n}\n' >broken/suites/quick.suite
	cat >broken/b.bench
}

@test "a bench file with a syntax error names file and line" {
	broken <<'END'
bench "b" {
    op = "quantize.q8_0"
    shapes = {"n=4096"
    variants = {"ref"}
}
END
	fails 2 "broken/b.bench:" run --bench-dir broken
	broken <<'END'
bench "b" {
    op = "quantize.q8_0"
    shape = {"n=4096"}
}
END
	fails 2 "broken/b.bench:3" run --bench-dir broken
}

@test "a bench file with an unknown op, variant or axis" {
	broken <<<'bench "b" { op = "quantise.q8_0" shapes = {"n=4096"} }'
	fails 2 "quantise.q8_0" run --bench-dir broken
	[[ $stderr == *"broken/b.bench:1"*"quantize.q8_0"* ]]
	broken <<<'bench "b" { op = "quantize.q8_0" shapes = {"n=4096"} variants = {"reff"} }'
	fails 2 "reff" run --bench-dir broken
	broken <<<'bench "b" { op = "quantize.q8_0" shapes = {"k=4096"} }'
	fails 2 "axis 'k'" run --bench-dir broken
	broken <<<'bench "b" { op = "quantize.q8_0" shapes = {"n=-1"} }'
	fails 2 "-1" run --bench-dir broken
}

@test "a shape that the op refuses" {
	broken <<<'bench "b" { op = "quantize.q8_0" shapes = {"n=33"} }'
	fails 2 "n=33" run --bench-dir broken
}

@test "a shape that does not fit in memory" {
	fails 2 "case 'quantize.q8_0/ref/n=34359738368/t=1/warm' needs" run --bench-dir "$BENCH" --suite huge
	[[ $stderr == *", but only "*" is available"* ]]
	fails 2 "its limit is 1.00 KiB: raise --memory-limit" run --bench-dir "$BENCH" --memory-limit 1KiB
	# enough for what the case asks for, but not for the process
	ASSAY_MEMORY_LIMIT=1MiB fails 2 "for the worker itself, its limit is 1.00 MiB" run --bench-dir "$BENCH"
	# two tensors of 2^63 bytes: their sum is not 0
	broken <<<'bench "b" { op = "huge.copy" shapes = {"n=2305843009213693952"} cache = {"warm", "cold"} }'
	fails 2 ", but only " run --bench-dir broken --plugin "$ASSAY_BUILD/tests/plugins/bad_huge.so"
	fails 2 "its limit is 1.00 MiB" run --bench-dir broken --plugin "$ASSAY_BUILD/tests/plugins/bad_huge.so" --memory-limit 1MiB
}

@test "folders and plugins that are not there" {
	fails 2 "cannot open bench folder 'nowhere': no such folder" run --bench-dir nowhere
	fails 2 "cannot open plugin 'nowhere.so': no such file" run --plugin nowhere.so
	fails 2 "no plugins to load: name one with --plugin FILE" run --no-default-plugins
}

@test "a database that is not there, or none" {
	fails 2 "no database 'assay.db'" show
	fails 2 "no database 'other.db'" gate --db other.db
	echo "not a database, but long enough to be read as the header of one if nobody looks, which somebody does" >bad.db
	before=$(cksum <bad.db)
	fails 2 "bad.db" show --db bad.db
	fails 2 "bad.db" run --bench-dir "$BENCH" --db bad.db
	[ "$(cksum <bad.db)" = "$before" ]
	fails 2 "/nowhere/a.db" run --bench-dir "$BENCH" --db /nowhere/a.db
}

@test "baseline and plot say what they take" {
	fails 2 "no action given: expected save, list, show, drop or update" baseline
	fails 2 "unknown action 'keep'" baseline keep
	fails 2 "no name given: assay baseline save NAME" baseline save
	fails 2 "no database 'assay.db'" baseline save main
	fails 2 "nothing to plot" plot
	fails 2 "cannot plot 'pie'" plot pie
	fails 2 "no case given" plot trend
	fails 2 "no output given: name one with -o FILE.svg" plot trend x
}

@test "files that have no end, or are too large, are refused before they are read" {
	local file
	mkfifo pipe
	truncate -s 4G huge
	"$ASSAY" list --manifest --bench-dir "$BENCH" >quick.manifest
	measure >/dev/null
	for file in /dev/zero pipe huge; do
		run --separate-stderr timeout 120 "$ASSAY" gate --policy "$file" --manifest quick.manifest
		[ "$status" = 2 ]
		[[ $stderr == "assay: cannot read '$file': it is "*"a configuration file"* && ${#stderr_lines[@]} = 1 ]]
		run --separate-stderr timeout 120 "$ASSAY" gate --manifest "$file"
		[ "$status" = 2 ]
		[[ $stderr == "assay: cannot read '$file': it is "*"a manifest"* ]]
		run --separate-stderr timeout 120 "$ASSAY" run --plugin "$file"
		[ "$status" = 2 ]
		[[ $stderr == *"cannot use plugin: cannot read '"*"$file': it is "*"a plugin"* ]]
		run --separate-stderr timeout 120 "$ASSAY" compare "$ASSAY_BUILD/plugins" "$ASSAY_BUILD/plugins" --policy "$file"
		[ "$status" = 2 ]
		[[ $stderr == "assay: cannot read '$file': it is "* ]]
	done
	[[ $stderr == *"it is too large: a configuration file may have at most 16 MiB" ]]
	run --separate-stderr "$ASSAY" gate --policy . --manifest quick.manifest
	[ "$status" = 2 ]
	[ "$stderr" = "assay: cannot read '.': Is a directory" ]
	# an empty policy is one that takes the defaults
	run --separate-stderr "$ASSAY" gate --policy /dev/null --manifest quick.manifest
	[ "$status" = 5 ]
}
