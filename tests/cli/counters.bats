# SPDX-License-Identifier: Apache-2.0
# Counters of a run: groups and events by name, what ops publish, reasons for what cannot be counted.
load helpers

# chat_bench: one small case, with the groups of the tree.
chat_bench() {
	mkdir -p c/suites
	ln -sfn "$ASSAY_SOURCE/bench/groups" c/groups
	printf 'bench "chat" {\n op = "generate.chat"\n shapes = {"model=tiny,users=2,turns=1,system=16,message=2,reply=2"}\n' >c/chat.bench
	printf ' variants = {"ref"}\n counters = {"kv_cache"}\n}\n' >>c/chat.bench
	printf 'suite "chat" {\n use "chat" { }\n}\n' >c/suites/chat.suite
}

# run_chat OPTION...: it is measured into r.db.
run_chat() {
	chat_bench
	ASSAY_DETERMINISTIC=1 assay run --bench-dir c --suite chat --db r.db --json "$@"
}

# The runs that several tests begin with.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	run_chat >first.json
	cp r.db one.db
	run_chat >/dev/null
	mv r.db two.db
}

# runs one|two: such a database as r.db.
runs() {
	chat_bench
	cp "$BATS_FILE_TMPDIR/$1.db" r.db
}

@test "groups and events that there are not end with 2 and the nearest name" {
	fails 2 "unknown group of counters 'cashe', did you mean 'cache'?" run --suite smoke --counters os,cashe
	fails 2 "unknown event 'PAPI_L1_DCN', did you mean 'PAPI_L1_DCM'?" run --suite smoke --events PAPI_L1_DCN
	fails 2 "has a blank or a control character in its name" run --suite smoke --events $'a:b\tminor_faults'
	fails 2 "unknown event 'kv_hit', did you mean 'kv_hits'?" run --suite smoke --events kv_hit
	ASSAY_PAPI=2 fails 2 "ASSAY_PAPI is '2', expected 0" run --suite smoke
}

@test "a group file that is wrong ends with 2, its name and line" {
	mkdir -p b/suites b/groups
	cp "$BENCH"/*.bench b/
	cp "$BENCH"/suites/* b/suites/
	printf 'group "g" {\n events = {"a"}\n metric "m" {\n formula = "a / (b"\n }\n}\n' >b/groups/g.group
	fails 2 "b/groups/g.group:4: cannot read 'a / (b': expected ')' at its end" run --bench-dir b --suite quick
	printf 'group "g" {\n events = {"minor_faults",\n "cpu_opz"}\n}\n' >b/groups/g.group
	fails 2 "b/groups/g.group:3: unknown event 'cpu_opz', did you mean 'cpu_ops'?" run --bench-dir b --suite quick --counters g
	printf 'group "g" {\n events = {"cpu_ops"}\n}\n' >b/groups/g.group
	printf 'bench "stray" { op = "quantize.q8_0" sweep = {"n=4096"} variants = {"ref"} threads = {"1"}\n counters = {"cashe"}\n}\n' >b/stray.bench
	printf 'suite "quick" { summary = "s" use "stray" { } }\n' >b/suites/quick.suite
	fails 2 "b/stray.bench:2: unknown group of counters 'cashe', expected g" run --bench-dir b --suite quick
	fails 2 "--counters '': expected groups such as cache,branch" run --suite smoke --counters ''
}

@test "the KV-cache hit rate is derived from what the op publishes, the same with and without PAPI" {
	output=$(cat "$BATS_FILE_TMPDIR/first.json")
	jq -e '.cases[0] | .metrics.kv_cache_hit_rate as $m | .counters as $c
		| ($m.value - $c.kv_hits.value / $c.kv_lookups.value | fabs) < 1e-12
		and $m.better == "higher" and $m.source == $c.kv_hits.source and ($m.estimated | not)
		and ($c.kv_hits.source == "sde" or $c.kv_hits.source == "op") and $c.kv_hits.per == "iteration"
		and $c.kv_hits.value + $c.kv_misses.value == $c.kv_lookups.value' <<<"$output"
	with=$(jq -c '.cases[0] | [.metrics.kv_cache_hit_rate.value, .counters.kv_lookups.value, .counters.tokens.value]' <<<"$output")
	ASSAY_PAPI=0 run --separate-stderr run_chat
	[ "$status" = 0 ]
	jq -e '.cases[0].counters.kv_hits | .source == "op" and (.how | contains("PAPI is switched off") or contains("without PAPI"))' \
		<<<"$output"
	[ "$(jq -c '.cases[0] | [.metrics.kv_cache_hit_rate.value, .counters.kv_lookups.value, .counters.tokens.value]' <<<"$output")" = "$with" ]
}

@test "what is asked for is counted or has a reason, and is stored so" {
	run --separate-stderr run_chat --counters cache,branch --events PAPI_TOT_INS,no::such_event
	[ "$status" = 0 ]
	[[ $stderr == *" of 'generate.chat"*" unavailable here, such as "*"; 'assay show "*" CASE' lists them"* ]]
	want='["PAPI_L1_DCM", "PAPI_BR_MSP", "data_accesses", "PAPI_TOT_INS", "no::such_event"] as $events
		| ["d1_hit_rate", "branch_miss_rate"] as $derived | .cases[0]
		| ([$events[] as $e | (.counters[$e].source == "pmu") != (.unavailable[$e].reason | length > 0)] | all)
		and ([$derived[] as $d | (.metrics[$d].source == "pmu") != (.unavailable[$d].reason | length > 0)] | all)
		and (.unavailable["no::such_event"].source == "pmu")
		and ([.counters.minor_faults, .counters.task_clock_ns] | all(.source == "os"))
		and (.counters.task_clock_ns.how | contains("getrusage") | not)'
	jq -e "$want" <<<"$output"
	run --separate-stderr assay show last --json --db r.db
	jq -e "$want" <<<"$output"
	run assay show last generate.chat --db r.db
	[[ $output == *"no::such_event"*"unavailable  pmu: "* ]]
}

@test "show of a comparison says what was counted on either side, on which rung, and what was not" {
	chat_bench
	plugins=$ASSAY_BUILD/plugins
	# how the times compare does not matter here
	ASSAY_DETERMINISTIC=1 assay compare "$plugins" "$plugins" --bench-dir c --suite chat --counters cache --events no::such_event \
		--budget 10ms --db cmp.db || true
	run --separate-stderr assay show c1 '*chat*' --db cmp.db --json
	[ "$status" = 0 ]
	jq -e '.cases[0] as $c | ["base", "head"] | all(. as $side | $c.counters[$side] as $n | $c.metrics[$side].kv_cache_hit_rate as $m
		| $n.kv_lookups.value == 36 and $n.kv_hits.value == 16 and $n.kv_misses.value == 20 and $n.kv_hits.per == "iteration"
		and ($n.kv_hits.how | length > 0) and ($n.kv_hits.source == "sde" or $n.kv_hits.source == "op")
		and $m.source == $n.kv_hits.source and ($m.value - 16 / 36 | fabs) < 1e-12
		and ($c.unavailable[$side] | (.["no::such_event"].reason | length > 0) and .kv_hits == null)
		and ($n.PAPI_L1_DCM.source == "pmu") != ($c.unavailable[$side].PAPI_L1_DCM.reason | length > 0))' <<<"$output"
	run assay show c1 '*chat*' --db cmp.db
	[[ $output =~ kv_lookups\ +36\ +36\ +(sde|op),\ per\ call ]]
	[[ $output =~ kv_cache_hit_rate\ +44.4\ %\ +44.4\ % ]]
	[[ $output =~ no::such_event\ +unavailable\ +unavailable\ +pmu:\  ]]
}

@test "what the machine did meanwhile is counted where it is asked for" {
	assay run --suite smoke --only 'quantize.q8_0/ref/*' --counters system --json >run.json
	jq -e '[.cases[].counters | [.system_cpu_ns, .system_network_in_bytes, .system_network_out_bytes, .system_disk_read_bytes,
		.system_disk_written_bytes] | all(.value >= 0 and .source == "os")] | length > 0 and all' run.json
	assay run --suite smoke --only 'quantize.q8_0/ref/*' --json | jq -e '[.cases[].counters | has("system_cpu_ns")] | any | not'
}

@test "the doctor names every provider, and what would bring those that are missing" {
	run --separate-stderr assay doctor --json
	[ "$status" = 0 ]
	jq -e '[.findings[] | select(.name | startswith("counters_"))] as $f
		| ([$f[].name] | contains(["counters_sde", "counters_op", "counters_perf_event", "counters_getrusage", "counters_system", "counters_sched", "counters_papi"]))
		and ([$f[] | (.value | length > 0) and (.health == "ok" or (.advice | length > 0))] | all)' <<<"$output"
	ASSAY_PAPI=0 run --separate-stderr assay doctor --json
	jq -e '[.findings[] | select(.name == "counters_sde" or .name == "counters_papi")]
		| length == 2 and all(.health == "none" and (.advice | length > 0))' <<<"$output"
}

@test "the doctor measures what counting with PAPI costs, or says why it cannot" {
	run --separate-stderr assay doctor --json
	jq -e '.findings[] | select(.name == "counters_reading")
		| .health == "ok" and (.value | test("^[5-9] events of the operating system take [0-9.]+ µs around a sample$"))' <<<"$output"
	jq -e '.findings[] | select(.name == "counters_papi_cost")
		| (.health == "ok") == (.value | test("^[1-6] (hardware|software-defined) events take [0-9.]+ µs around a sample$"))' <<<"$output"
	ASSAY_PAPI=0 run --separate-stderr assay doctor --json
	jq -e '.findings[] | select(.name == "counters_papi_cost")
		| .health == "none" and (.value | contains("PAPI is switched off") or contains("without PAPI")) and (.advice | length > 0)' <<<"$output"
}

@test "a gate fails when the KV-cache hit rate is below the floor of the policy" {
	# half of what both conversations need is the system prompt, which the second one finds: 16 of 36 tokens
	runs one
	assay list --bench-dir c --suite chat --manifest --threads 1 >m.manifest
	printf 'limit "generate.chat*" { require = "kv_cache_hit_rate >= 0.7" }\n' >p.conf
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric == "kv_cache_hit_rate")] | length == 1 and .[0].verdict == "REGRESSED"
		and (.[0].evidence == "sde" or .[0].evidence == "op")' <<<"$output"
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf
	[[ $output == *"REGRESSED  kv_cache_hit_rate (sde) "* || $output == *"REGRESSED  kv_cache_hit_rate (op) "* ]]
	sed -i 's/0.7/0.4/' p.conf
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	jq -e '[.cases[] | select(.metric == "kv_cache_hit_rate" and .verdict == "PASS")] | length == 1' <<<"$output"
	[ "$status" != 1 ]
}

@test "matmul and quantize publish the operations done on the CPU, and fallbacks" {
	mkdir -p w/suites
	ln -sfn "$ASSAY_SOURCE/bench/groups" w/groups
	printf 'bench "m" {\n op = "matmul.ternary"\n shapes = {"m=64,k=256,n=3"}\n counters = {"ops"}\n}\n' >w/w.bench
	printf 'bench "q" {\n op = "quantize.i8_token"\n shapes = {"tokens=7,dim=3"}\n counters = {"ops"}\n}\n' >>w/w.bench
	printf 'suite "w" {\n use "m" { }\n use "q" { }\n}\n' >w/suites/w.suite
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --bench-dir w --suite w --db w.db --json
	[ "$status" = 0 ]
	jq -e '[.cases[] | select(.status == "ok")] as $c | ([$c[].op] | unique | length == 2)
		and ([$c[] | .counters.cpu_ops.value == (if .op == "matmul.ternary" then 2 * 64 * 256 * 3 else 7 * 3 end)] | all)
		and ([$c[] | .counters.fallbacks.value == (if .variant == "avx512vnni_trits" or .op == "quantize.i8_token" and .variant != "ref"
			then 1 else 0 end)] | all)
		and ([$c[] | .counters.cpu_ops.source] | all(. == "sde" or . == "op"))' <<<"$output"
}

@test "a policy demands counts and derived metrics, alone and against the base, and each verdict names its rung" {
	runs two
	assay list --bench-dir c --suite chat --manifest --threads 1 >m.manifest
	printf 'limit "generate.chat*" { require = {"kv_cache_hit_rate >= 1%%", "kv_misses <= base", "tokens == base +- 1%%"} }\n' >p.conf
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	jq -e '[.cases[] | select(.metric == "kv_cache_hit_rate" or .metric == "kv_misses" or .metric == "tokens")]
		| length == 3 and all(.verdict == "PASS" and (.evidence == "sde" or .evidence == "op"))' <<<"$output"
	printf 'limit "generate.chat*" { require = {"kv_cache_hit_rate >= 99%%", "PAPI_L1_DCM <= 1"} }\n' >p.conf
	run_chat --events PAPI_L1_DCM >/dev/null
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 4 ] || [ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric == "kv_cache_hit_rate" and .verdict == "REGRESSED")] | length == 1' <<<"$output"
	jq -e '[.cases[] | select(.metric == "PAPI_L1_DCM" and .evidence == "pmu")] | length == 1' <<<"$output"
	# of a group that this run did not count: not a typing error, and the reason says how it is counted
	printf 'limit "generate.chat*" { require = "branch_miss_rate <= 5%%" }\n' >p.conf
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 4 ]
	jq -e '[.cases[] | select(.metric == "branch_miss_rate")] | length == 1 and (.[0] | .verdict == "NOT_MEASURED"
		and (.reason | contains("group '"'branch'"' was not counted: --counters branch, or counters = {\"branch\"} in its bench")))' <<<"$output"
	printf 'limit "generate.chat*" { require = "exact_d1_hit_rate >= 5%%" }\n' >p.conf
	run --separate-stderr assay gate --suite chat --db r.db --manifest m.manifest --policy p.conf --json
	jq -e '[.cases[] | select(.metric == "exact_d1_hit_rate")] | length == 1 and (.[0] | .verdict == "NOT_MEASURED"
		and (.reason | contains("no exact counts of it were taken: \u0027assay run --suite chat --only generate.chat/")
		and contains(" --evidence exact\u0027 takes them, \u0027assay gate --suite chat --evidence exact\u0027 judges them")))' <<<"$output"
	printf 'limit "generate.chat*" { require = "kv_mises <= 1" }\n' >p.conf
	fails 2 "has a metric 'kv_mises', did you mean 'kv_misses'?" gate --suite chat --db r.db --manifest m.manifest --policy p.conf
}

@test "counters of ops that are not loaded are unavailable, not misspelt" {
	cp -r "$ASSAY_SOURCE/tests/fixtures/heap" h
	cp -r "$ASSAY_SOURCE/bench/groups" h
	ASSAY_DETERMINISTIC=1 run -0 --separate-stderr "$ASSAY" run --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --bench-dir h --suite known \
		--only '*/known/*' --counters kv_cache --json
	jq -e '.cases[0] | .status == "ok" and (.unavailable.kv_hits.reason | length > 0)' <<<"$output"
}
