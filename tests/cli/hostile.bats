# SPDX-License-Identifier: Apache-2.0
# Plugins that lie, crash or fill the screen: each costs its own cases and says why, and what it writes reaches no terminal.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins

# benches FILE.so: a bench of every op that a plugin brings, and a suite of all of them.
benches() {
	mkdir -p b/suites
	"$ASSAY" list --no-default-plugins --plugin "$PLUGINS/$1" --json | jq -r '.ops[] | "bench \"\(.name)\" { op = \(.name) budget = 20ms }"' >b/all.bench
	printf 'suite "all" { use "*" { } }\n' >b/suites/all.suite
}

@test "what an op declares wrongly costs its own cases, with the reason" {
	benches bad_declares.so
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --no-default-plugins --plugin "$PLUGINS/bad_declares.so" --bench-dir b --suite all --json
	[ "$status" = 4 ]
	[[ "$stderr" == *"of op 'bad.not_there', which no plugin has"* ]]
	jq -e '[.cases[] | select(.status == "ok").key] == ["bad.sound/ref/n=1/t=1/warm"]' <<<"$output"
	jq -e '.cases | map(select(.status != "ok")) | length == 26 and all(.[]; .status == "failed" and (.reason | contains(" declares is wrong: ")))' <<<"$output"
	jq -e '.cases[] | select(.op == "bad.metric_odd").reason | contains("has the tag '"'time?[31m'"'")' <<<"$output"
	jq -e '.cases[] | select(.variant == "device").reason == "what variant '"'device'"' declares is wrong: it runs on a device of kind 99, which this harness does not know"' <<<"$output"
	# a reader of the list hears it, too
	run assay list ops --no-default-plugins --plugin "$PLUGINS/bad_declares.so"
	[[ $output == *"what op 'bad.better' declares is wrong: metric 'bad_tag' has 7 for what is better"* ]]
	assay list --no-default-plugins --plugin "$PLUGINS/bad_declares.so" --json |
		jq -e '[.ops[] | select(.defect == null).name] == ["bad.sound"] and [.variants[] | select(.defect != null).name] == ["device", "needs"]'
}

@test "such cases fail where they are counted or compared, and are not left out" {
	benches bad_declares.so
	run --separate-stderr assay run --evidence exact --no-default-plugins --plugin "$PLUGINS/bad_declares.so" --bench-dir b --suite all --only 'bad.better/*' --json
	[ "$status" = 4 ]
	jq -e '.cases[0] | .status == "failed" and (.reason | contains("has 7 for what is better"))' <<<"$output"
	run --separate-stderr assay compare "$PLUGINS/bad_declares.so" "$PLUGINS/bad_declares.so" --bench-dir b --suite all --only 'bad.better/*' --json
	[ "$status" = 4 ]
	jq -e '.cases | length == 1 and .[0].verdict == "NOT_MEASURED" and (.[0].reason | contains("has 7 for what is better"))' <<<"$output"
}

@test "a plugin that does not answer for a case costs that case" {
	mkdir -p b/suites
	printf 'bench "scale" { op = example.scale shapes = "n=64" budget = 20ms }\nbench "odd" { op = hostile.describe sweep = "kind=0,2,8" budget = 20ms }\n' >b/all.bench
	printf 'suite "all" { use "*" { } }\n' >b/suites/all.suite
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --no-default-plugins --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/hostile_ask.so" \
		--bench-dir b --suite all --only 'example.scale/ref/*' --only 'example.scale/ask_crash/*' --only 'hostile.describe/*' --json
	[ "$status" = 4 ]
	jq -e '[.cases[] | [.variant, .status, .reason]] == [["ref", "ok", null],
		["ask_crash", "failed", "asking its plugin what it takes: killed by signal 11 (SIGSEGV)"], ["ref", "ok", null],
		["ref", "failed", "op '"'hostile.describe'"' describes a tensor that is neither input, output nor scratch"],
		["ref", "failed", "asking its plugin what it takes: killed by signal 6 (SIGABRT)"]]' <<<"$output"
}

@test "a plugin that floods the harness while it loads is refused with the reason" {
	export HOSTILE
	for HOSTILE in "endless line" "many lines" "abort"; do
		fails 2 "cannot use plugin: loading '$PLUGINS/hostile_load.so': " run --plugin "$PLUGINS/hostile_load.so"
		[[ $stderr != *$'\033'* ]]
	done
}

@test "an installed plugin that is refused costs the others nothing" {
	mkdir -p alone/bin alone/plugins
	cp "$ASSAY" alone/bin/
	ln -s "$ASSAY_BUILD"/plugins/*.so "$PLUGINS/bad_no_symbol.so" "$PLUGINS/hostile_load.so" alone/plugins/
	HOSTILE="no JSON" ASSAY_DETERMINISTIC=1 run --separate-stderr alone/bin/assay run --bench-dir "$BENCH" --json
	[ "$status" = 0 ]
	[[ $stderr == *"a plugin is left out: no symbol"* && $stderr == *"a plugin is left out: loading "*"wrote to the harness by itself"* ]]
	jq -e 'all(.cases[]; .status == "ok")' <<<"$output"
}

# talk COMMAND ARGUMENT...: with variants that print while they run.
talk() {
	local command=$1
	shift
	mkdir -p t/suites
	printf 'bench "scale" { op = example.scale shapes = "n=64" budget = 20ms variants = {"ref", "talks", "floods", "dies", "lies", "late", "refuses"} }\n' >t/all.bench
	printf 'suite "all" { use "*" { } }\n' >t/suites/all.suite
	ASSAY_DETERMINISTIC=1 "$ASSAY" "$command" --no-default-plugins --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/talker.so" --bench-dir t --suite all "$@"
}

@test "what a worker prints is kept with its case and shown, printable, and not passed on" {
	run --separate-stderr talk run --db t.db
	[ "$status" = 3 ]
	[[ $output$stderr != *elements* && $output$stderr != *"ten thousand"* && $output$stderr != *"about to die"* && $output$stderr != *"of many"* ]]
	assay show last --db t.db --json >show.json
	jq -e '[.cases[] | {(.variant): .log}] | add | .ref == null and .dies == "about to die\n"
		and .talks == "prepared ?[31m64?[0m elements\n?to the ? error? output"' show.json
	jq -e '[.cases[] | {(.variant): .status}] | add == {"ref": "ok", "talks": "ok", "floods": "ok", "dies": "crashed", "lies": "wrong", "late": "ok", "refuses": "failed"}' show.json
	jq -e '.cases[] | select(.variant == "floods").log | test("^line     0 of ten thousand") and endswith("… 244464 bytes left out\n")
		and (split("\n… ")[0] | length) == 65536' show.json
	# also where it prints more than a pipe holds while it ends
	jq -e '.cases[] | select(.variant == "late").log | endswith("… 2734464 bytes left out\n")' show.json
	jq -e '.cases[] | select(.variant == "refuses").reason == "running of '"'"'example.scale/refuses'"'"' failed: cannot run on a ?[31mFriday?[0m ? ?"' show.json
	run assay show last example.scale/talks --db t.db
	[[ $output == *$'\nwrote to standard output and standard error:\n  prepared ?[31m64?[0m elements\n  ?to the ? error? output' ]]
	run assay show last example.scale/ref --db t.db
	[[ $output != *"wrote to"* ]]
}

@test "verify, which stores nothing, shows the words of what failed" {
	run --separate-stderr talk verify
	[ "$status" = 3 ]
	[ -z "$stderr" ]
	[[ $output == *$'\nexample.scale/dies/n=64/t=1/warm wrote to standard output and standard error:\n  about to die\n'* ]]
	[[ $output == *$'example.scale/lies/n=64/t=1/warm wrote to '* && $output != *"talks/n=64/t=1/warm wrote to"* ]]
	run --separate-stderr talk verify --only 'example.scale/dies/*' --json
	jq -e '.cases[0].log == "about to die\n"' <<<"$output"
}

@test "words of a side that fails stand with its pair" {
	mkdir -p t/suites
	printf 'bench "scale" { op = example.scale shapes = "n=64" budget = 20ms variants = {"dies", "talks"} }\n' >t/all.bench
	printf 'suite "all" { use "*" { } }\n' >t/suites/all.suite
	run --separate-stderr "$ASSAY" compare "$PLUGINS/talker.so" "$PLUGINS/talker.so" --no-default-plugins --plugin "$PLUGINS/example_op.so" --bench-dir t --suite all --db t.db
	# which side is set up first, and dies, is drawn
	[ "$status" = 4 ] || [ "$status" = 5 ]
	[[ $output$stderr != *"elements"* && $output$stderr != *"about to die"* ]]
	assay show last example.scale --db t.db --json |
		jq -e '[.cases[] | select(.control == "none") | {(.key | split("/")[1]): [.pairs[] | .base.log, .head.log]}] | add | (.talks | unique) == [null] and (.dies | unique) == [null, "about to die\n"]'
	run assay show last example.scale/dies --db t.db
	[[ $output == *$'\npair 1, '*$', wrote to standard output and standard error:\n  about to die'* ]]
}

@test "sides of a pair that print all the time come to an end" {
	mkdir -p t/suites
	printf 'bench "scale" { op = example.scale shapes = "n=64" budget = 20ms timeout = 2m variants = {"mutters"} }\n' >t/all.bench
	printf 'suite "all" { use "*" { } }\n' >t/suites/all.suite
	"$ASSAY" compare "$PLUGINS/talker.so" "$PLUGINS/talker.so" --same-code --no-default-plugins --plugin "$PLUGINS/example_op.so" --bench-dir t --suite all --db t.db >out 2>err || true
	assay show last example.scale --db t.db --json | jq -e '[.cases[].pairs[] | .base.status, .head.status] | unique == ["ok"]'
}

@test "words of a worker that counts stand with its counts" {
	command -v valgrind >/dev/null || skip "no valgrind here"
	run --separate-stderr talk run --evidence exact --only 'example.scale/dies/*' --only 'example.scale/talks/*' --db t.db --json
	[[ $stderr != *"about to die"* ]]
	jq -e '.cases[0] | .status != "skipped"' <<<"$output" || skip "nothing can be counted here"
	jq -e '[.cases[] | {(.key | split("/")[1]): .log}] | add == {"talks": "prepared ?[31m64?[0m elements\n?to the ? error? output", "dies": "about to die\n"}' <<<"$output"
	run talk run --evidence exact --only 'example.scale/dies/*' --db t.db -v
	[[ $output == *$'\nexample.scale/dies/n=64/t=1/warm, counted, wrote to standard output and standard error:\n  about to die'* ]]
}
