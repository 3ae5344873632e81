#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# serve: who may ask what, what bad requests get, jobs, metrics, what is left when it is killed, and the dashboard in a browser.
load helpers
load browser

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	! grep -q 'no assay serve' "$ASSAY_BUILD/features" || skip "built without libmicrohttpd"
	export ASSAY_DETERMINISTIC=1
}

teardown() {
	browser_stop
	[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}

# serve OPTION...: start it, and set url and token.
serve() {
	: >served
	"$ASSAY" serve --listen 127.0.0.1:0 --bench-dir "$BENCH" --json "$@" >served 2>complaints &
	server=$!
	for _ in $(seq 1200); do
		[ ! -s served ] || break
		sleep 0.05
	done
	url=$(jq -er .url served) || { cat complaints; return 1; }
	token=$(jq -r .token served)
}

# ask METHOD PATH [OPTION...]: the answer in body, its status in code.
ask() {
	local method=$1 path=$2
	shift 2
	code=$(curl -sS --globoff --max-time 60 -X "$method" -o body -D headers -w '%{http_code}' "$@" "$url$path")
}

# admin METHOD PATH [OPTION...]: the same with the token.
admin() {
	local method=$1 path=$2
	shift 2
	ask "$method" "$path" -H "Authorization: Bearer $token" "$@"
}

# gets STATUS TEXT: what the last answer was, an object with one line of error.
gets() {
	[ "$code" = "$1" ] && jq -e --arg t "$2" '.error | contains($t) and (contains("\n") | not)' body >/dev/null ||
		{ printf 'want %s with: %s\ngot %s: %s\n' "$1" "$2" "$code" "$(cat body)"; return 1; }
}

# ended: wait until the job has, and show it.
ended() {
	for _ in $(seq 1200); do
		ask GET /api/status
		[ "$(jq -r .job.state body)" = running ] || break
		sleep 0.1
	done
	jq -c .job body
}

# nobody_left DATABASE: nothing that was given it is alive.
nobody_left() {
	for _ in $(seq 1200); do
		[ -n "$(alive "$1")" ] || return 0
		sleep 0.1
	done
	alive "$1"
	return 1
}

@test "every path takes its method alone, and what starts, deletes or shows stacks takes the token" {
	local method path secret other want
	serve
	ask GET /nowhere
	gets 404 "there is no /nowhere"
	while read -r method path secret; do
		for other in GET POST PUT DELETE; do
			[ "$(grep -c "\"$other\", \"$path\"" "$ASSAY_SOURCE/harness/serve/routes.c")" = 0 ] || continue
			admin "$other" "$path" -d '{}'
			gets 405 "$path takes"
			grep -qi "^allow: .*$method" headers
		done
		for other in "" "Bearer wrong" "Bearer ${token}x" "Bearer ${token%?}" "Basic $token"; do
			[ "$path" != /api/events ] || continue
			ask "$method" "$path" ${other:+-H "Authorization: $other"} -d '{}' --max-time 5
			if [[ $secret == *SECRET* ]]; then
				gets 401 "token"
				grep -qi '^www-authenticate: bearer' headers
			else
				[ "$code" != 401 ]
			fi
		done
	done < <(sed -n 's/^\t{ "\([A-Z]*\)", "\([^"]*\)", \([^,]*\),.*/\1 \2 \3/p' "$ASSAY_SOURCE/harness/serve/routes.c" | tee routes)
	[ "$(wc -l <routes)" -gt 25 ]
	# all of it in one piece, the paths that start something last
	admin GET /api/profiles
	[ "$code" = 200 ]
	[ ! -e assay.db ]
}

@test "pages of other sites, names of other hosts, and requests that are none are refused" {
	serve --allow-host bench.example.org
	ask GET /healthz -H 'Host: evil.example'
	gets 403 "the Host 'evil.example' is not answered here"
	ask GET /healthz -H 'Host: bench.example.org:80'
	[ "$code" = 200 ]
	admin POST /api/runs -H 'Origin: http://evil.example'
	gets 403 "requests from pages of other sites are refused"
	ask GET /healthz -H "Origin: $url"
	[ "$code" = 200 ]
	grep -qi "^content-security-policy: default-src 'none'" headers
	grep -qi '^x-content-type-options: nosniff' headers
	! grep -qi '^access-control\|^set-cookie' headers

	head -c 70000 /dev/zero | tr '\0' ' ' >large
	admin POST /api/runs -d @large
	gets 413 "larger than 64 KiB"
	while IFS='|' read -r body want; do
		admin POST /api/runs -d "$body"
		gets "${want%% *}" "${want#* }"
	done <<-'END'
		{"suite":|400 the body is not a JSON object
		["quick"]|400 the body is not a JSON object
		{"suite":"quick","suite":"huge"}|400 the body is not a JSON object
		{"suite":"../quick"}|404 ../quick
		{"suite":"<script>"}|404 <script>
		{"suite":"quick","only":"--db=x"}|400 bad only '--db=x'
	END
	while read -r method path want; do
		admin "$method" "$path"
		gets "${want%% *}" "${want#* }"
	done <<-'END'
		GET /api/runs?limit=0 400 expected a number from
		GET /api/runs?limit=x 400 expected a number from
		GET /api/runs?offset=-1 400 expected a number from
		GET /api/cases?limit=1e9 400 expected a number from
		GET /api/history 400 no case given
		GET /api/diff?base=r1 400 two runs are compared
		GET /api/profiles/p1.svg 404 nothing is profiled yet
		POST /admin/profile/cpu?case=a&duration=-1 400 bad duration
		POST /admin/profile/cpu?case=a&duration=31536000 400 bad duration
		POST /admin/profile/cpu?case=a&duration=nan 400 bad duration
		POST /admin/profile/cpu 400 no case given
		POST /admin/profile/cpu?case=--with=nsys 400 the case is not a key
		POST /admin/profile/start?case=a&kind=dreams 400 dreams
		POST /admin/profile/start?case=a&name=p3 400 p3
		POST /admin/profile/start?case=a&name=../x 400 bad name '../x'
		POST /admin/profile/start?case=a&name=<script> 400 bad name '<script>'
		DELETE /api/job 409 nothing is under way
	END
	ask GET /api/runs/r1
	[ "$code" = 404 ] && [ ! -e assay.db ] && [ ! -e x ]
}

@test "where it may not listen, and tokens that are none, are told in one line" {
	fails 2 "bad --listen 'nowhere'" serve --listen nowhere
	fails 2 "bad --listen '127.0.0.1:99999'" serve --listen 127.0.0.1:99999
	fails 2 "can be reached from other machines: that needs a --token-file" serve --listen 0.0.0.0:0
	fails 2 "cannot read the token file 'none'" serve --token-file none
	echo 0123456789abcdef0123 >token
	chmod 644 token
	fails 2 "can be read by others" serve --token-file token
	chmod 600 token
	install -m 600 <(echo short) other
	fails 2 "is not a word of 16 to 255 characters" serve --token-file other
	echo 'no database at all' >other.db
	fails 2 "'other.db': it is not a database" serve --listen 127.0.0.1:0 --db other.db
	sqlite3 foreign.db 'CREATE TABLE t (x)'
	fails 2 "'foreign.db' is a database of another program" serve --listen 127.0.0.1:0 --db foreign.db
	fails 2 "cannot make database 'nowhere/x.db': No such file or directory" serve --listen 127.0.0.1:0 --db nowhere/x.db
	fails 2 "'$PWD': it is not a regular file" serve --listen 127.0.0.1:0 --db "$PWD"
	serve --token-file token
	[ "$token" = "" ]
	fails 2 "cannot listen at '${url#http://}': Address already in use" serve --listen "${url#http://}"
	token=0123456789abcdef0123
	admin GET /api/profiles
	[ "$code" = 200 ]
	ask GET /healthz
	[ "$(jq -r .status body)" = ok ]
	interrupt "$server"
	# SIGTERM is how servers end
	serve
	kill "$server"
	wait "$server"
	[ ! -s complaints ]
	server=
}

@test "a run is started by the name of its suite, watched, and read as the commands print it" {
	serve
	curl -sN --max-time 60 "$url/api/events" >events &
	local watching=$!
	for _ in $(seq 1200); do
		[ ! -s events ] || break
		sleep 0.05
	done
	admin POST /api/runs -d '{"suite":"quick"}'
	[ "$code" = 202 ]
	[ "$(jq -c '[.job, .kind, .what]' body)" = '[1,"run","quick"]' ]
	[ "$(ended | jq -c '[.id, .state, .exit, .error]')" = '[1,"ended",0,""]' ]
	for _ in $(seq 1200); do
		! grep -q '"event":"ended"' events || break
		sleep 0.1
	done
	kill "$watching"
	sed -n 's/^data: //p' events | jq -se '(map(select(.event == "case")) | length > 0) and (map(select(.event == "cases"))[0].n > 0) and
		(map(select(.event == "state")) | length > 0)' >/dev/null

	ask GET /api/runs
	"$ASSAY" show --json | jq -S . >shown
	jq -S . body | diff shown -
	ask GET /api/runs/last
	"$ASSAY" show r1 --json | jq -S . >shown
	jq -S . body | diff shown -
	ask GET /api/runs/r1.csv
	grep -qi '^content-type: text/csv' headers
	key=$(jq -r '.cases[0].key' shown)
	grep -qF "$key" body
	ask GET '/api/cases?limit=1'
	jq -e '.total >= 1 and (.cases | length) == 1' body
	ask GET /api/history --get --data-urlencode "case=$key"
	jq -e '.points | length == 1' body
	ask GET '/api/runs?offset=1'
	jq -e '.runs == []' body

	# what is not there is told at once
	admin POST /api/runs -d '{"suite":"quick","only":"no.such*"}'
	gets 404 "no case of suite 'quick' matches 'no.such*'"
	for path in start cpu memory flamegraph continuous; do
		admin POST "/admin/profile/$path?case=no.such/case"
		gets 404 "no case of suite 'quick' matches 'no.such/case'"
		admin POST "/admin/profile/$path?suite=quik&case=$key"
		gets 404 "unknown suite 'quik', did you mean 'quick'?"
	done
	admin POST "/admin/profile/start?case=*"
	gets 400 "cases, such as"
	ended | jq -e '.state == "ended" and .exit == 2'
	admin POST /admin/profile/stop
	gets 409 "nothing is under way"
}

@test "metrics: every family has a type, counters of requests grow, and numbers are those of the newest run" {
	serve
	ask GET /metrics
	grep -q '^assay_requests_total{status="2xx"} 0$' body
	measure >/dev/null
	ask GET /nowhere
	for format in text/plain application/openmetrics-text; do
		ask GET /metrics -H "Accept: $format"
		[ "$code" = 200 ]
		grep -qi "^content-type: $format" headers
		# a family has one type, and no series comes twice
		[ -z "$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' body | sort | uniq -d)" ]
		[ -z "$(grep -v '^#' body | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
		grep -q '^assay_requests_total{status="4xx"} 1$' body
		awk '/^assay_request_duration_seconds_bucket/ { if ($2 < last) exit 1; last = $2 } /^assay_request_duration_seconds_count/ { exit $2 != last }' body
		key=$("$ASSAY" show last --json | jq -r '[.cases[] | select(.status == "ok")][0].key')
		grep -F "assay_case_time_seconds{case=\"$key\"" body
		# what was timed, by device, and why nothing is known of a GPU
		want=$("$ASSAY" show last --json | jq '[.cases[] | select(.status == "ok") | .samples * .iterations] | add')
		[ "$(awk '/^assay_operations\{.*device="cpu"/ { print $NF == sprintf("%.12g", '"$want"') }' body)" = 1 ]
		grep -q '^assay_fallbacks{.*} 0$' body
		grep -q '^assay_gpu_utilization_known{reason="..*"} 0$' body || grep -q '^assay_gpu_utilization_ratio [01]' body
		grep -q '^assay_system_threads_running [1-9]' body
		[ "$(grep -c '^# EOF$' body)" = "$([ $format = text/plain ] && echo 0 || echo 1)" ]
		[ $format != text/plain ] || ! command -v promtool || promtool check metrics <body
	done
	# a case that the newest run is not about is still told of, with the run that has it
	measure >/dev/null
	"$ASSAY" run --suite quick --bench-dir "$BENCH" --only 'quantize.*' --json >/dev/null
	ask GET /metrics
	other=$("$ASSAY" show r2 --json | jq -r '[.cases[] | select(.status == "ok" and (.key | startswith("dequantize")))][0].key')
	! grep -qF "assay_case_time_seconds{case=\"$other\"" body
	grep -F "assay_newest_time_seconds{case=\"$other\"" body | grep -qF 'run="2",suite="quick"'
	[ "$(grep -c '^assay_newest_ok' body)" = "$("$ASSAY" show r2 --json | jq '[.cases[] | select(.status != "skipped")] | length')" ]
	ask GET /healthz
	jq -e '.status == "ok" and .latency_p50 > 0 and .latency_p95 >= .latency_p50 and .error_rate == 0
		and (.gpu_utilization == null) == (.gpu_utilization_reason != null)' body
	echo 'no database at all, but long enough to be one' >assay.db
	ask GET /readyz
	gets 503 "assay.db"
	ask GET /healthz
	gets 503 "assay.db"
}

@test "GPUs: how busy they are, by the library of their driver, or why that is not known" {
	[ -e "$ASSAY_BUILD/tests/plugins/nvml_standin.so" ] || skip "no stand-in for NVML"
	mkdir lib
	ln -s "$ASSAY_BUILD/tests/plugins/nvml_standin.so" lib/libnvidia-ml.so.1
	NVML_STANDIN=cool LD_LIBRARY_PATH=$PWD/lib serve
	ask GET /healthz
	jq -e '.gpu_utilization >= 0 and .gpu_utilization <= 1 and .gpu_utilization_reason == null' body
	ask GET /metrics
	grep -q '^assay_gpu_utilization_ratio [01]' body
	grep -q '^assay_gpu_memory_bytes [1-9]' body
	curl -sN --max-time 3 "$url/api/events" >events || true
	sed -n 's/^data: //p' events | jq -se 'map(select(.event == "state"))[0].system | .gpu_utilization != null and .gpu_memory_bytes > 0 and .threads > 1'
}

# One more run of a machine elsewhere, on the day $1 of 2026, in which the benchmark takes $2 ns.
run_of() {
	jq -n --argjson t "$2" '{context: {}, benchmarks: [{name: "BM_Sort", run_name: "BM_Sort", run_type: "iteration", threads: 1,
		iterations: 10, real_time: $t, cpu_time: $t, time_unit: "ns"}]}' |
		"$ASSAY" import google-benchmark - --machine m --started "2026-01-$1" >/dev/null
}

@test "alerts of the policy: pending, firing, cleared, on the page, in the metrics and as rules of Prometheus" {
	cat >policy.conf <<-'END'
		alert "slow" { when = "time_s > 150 ns" cases = "BM_*" severity = "critical" }
		alert "slow_for_long" { when = "time_s > 150 ns" cases = "BM_*" for = "9000h" }
		alert "low" { when = "no_such_metric < 1" }
	END
	serve --policy policy.conf
	run_of 01 100
	ask GET /api/alerts
	jq -e '.rules == 3 and .alerts == []' body
	run_of 02 200
	run_of 03 300
	ask GET /api/alerts
	jq -e '[.alerts[] | [.alert, .severity, .state]] == [["slow", "critical", "firing"], ["slow_for_long", "warning", "pending"]] and
		([.alerts[].since_s] | all(. == 1767312000)) and ([.alerts[].value] | all(. == 3e-7))' body
	ask GET /metrics
	grep -q '^assay_alert{alert="slow",case="BM_Sort/google-benchmark/-/t=1",severity="critical"} 1$' body
	grep -q '^assay_alert{alert="slow_for_long",.*} 0$' body
	run_of 04 100
	ask GET /api/alerts
	jq -e '.alerts == []' body
	ask GET /metrics
	! grep -q '^assay_alert{' body

	"$ASSAY" export prometheus-rules --policy policy.conf -o rules.yml
	grep -qxF "        expr: 'assay_case_time_seconds{case=~\"BM_.*\"} > 1.5e-07'" rules.yml
	grep -qxF "        for: 32400000000ms" rules.yml
	[ "$(grep -c 'alert:' rules.yml)" = 3 ]
	! command -v promtool || promtool check rules rules.yml
	export KEEP_DB=1
	fails 2 "--policy has the alerts of prometheus-rules" export csv --policy policy.conf
	fails 2 "are of the policy, not of a run or a case" export prometheus-rules r1 --policy policy.conf
	echo 'alert "x" { when = "time_s >= 3" }' >policy.conf
	fails 2 'policy.conf:1: alert "x" needs when' serve --policy policy.conf --listen 127.0.0.1:0
	fails 2 "cannot read 'none.conf'" export prometheus-rules --policy none.conf
}

@test "profiles: one at a time, stopped, named, compared, as JSON and as a flame graph" {
	serve
	measure >/dev/null
	local key
	key=$("$ASSAY" show last --json | jq -r '[.cases[] | select(.status == "ok")][0].key')
	admin POST /admin/profile/start -d "{\"case\":\"$key\",\"duration\":300,\"name\":\"long\"}"
	[ "$code" = 202 ]
	admin POST "/admin/profile/cpu?case=$key"
	gets 409 "is under way"
	admin POST /api/runs
	gets 409 "is under way"
	admin POST /admin/profile/stop
	[ "$code" = 200 ]
	ended | jq -e '.stopped and .state == "ended"'
	[ -z "$(cat "/proc/$server"/task/*/children)" ]

	for name in baseline optimized; do
		admin POST "/admin/profile/cpu?duration=0.3&name=$name&case=$key"
		[ "$code" = 200 ] || jq -e '.error | contains("perf")' body || { cat body; false; }
	done
	[ "$code" = 200 ] || skip "no profile can be taken here: $(jq -r .error body)"
	jq -e --arg k "$key" '.profile.kind == "cpu" and .profile.case == $k and .profile.name == "optimized"' body
	jq -e '.profile_id == "p\(.profile.id)" and .duration_seconds == .profile.seconds and .cpu.top_functions == .functions[:10] and
		(.bottlenecks | type) == "array"' body
	admin GET '/admin/profile/compare?base=baseline&head=optimized'
	jq -e '.base.name == "baseline" and (.functions | length) > 0' body
	admin GET /admin/profile/last
	jq -e '.profile.name == "optimized"' body
	admin GET /api/profiles
	jq -e '[.profiles[].name] == ["optimized", "baseline"]' body
	admin GET /api/profiles/last.svg
	grep -qi '^content-type: image/svg' headers
	grep -qi '^content-security-policy: sandbox' headers
	head -c 300 body | grep -q '<svg'
	admin POST "/admin/profile/memory?duration=0.2&case=$key"
	jq -e '.memory.peak_mb == .heap.most_bytes / 1e6 and .memory.allocations == .heap.blocks and .memory.leaked_mb == .heap.live_bytes / 1e6' body
	admin POST "/admin/profile/flamegraph?duration=0.2&case=$key"
	head -c 300 body | grep -q '<svg'
	admin GET /admin/profile/bottlenecks
	jq -e '.cases | length > 0' body || cat body
	admin GET '/admin/profile/compare?base=baseline'
	gets 400 "two profiles are compared"
}

@test "assay.conf and ASSAY_PROFILE say how profiles are taken and kept, and bad ones are told in one line" {
	fails 2 "--profile is 'cpu,dreams': no kind of profile is called 'dreams'" serve --profile cpu,dreams
	ASSAY_PROFILE=cpu, fails 2 "ASSAY_PROFILE is 'cpu,': no kind of profile is called ''" serve
	echo 'storage { days = "never" }' >assay.conf
	fails 2 "assay.conf:1: days of storage is 'never', expected a number" serve
	printf '%s\n' 'cpu { rate = "211" duration = "0.2s" }' 'storage { profiles = "1" days = "10" }' >assay.conf
	measure >/dev/null
	local key
	key=$("$ASSAY" show last --json | jq -r '[.cases[] | select(.status == "ok")][0].key')
	for name in a a a b b; do
		"$ASSAY" profile cpu "$key" --bench-dir "$BENCH" --name "$name" --json >taken ||
			skip "no profile can be taken here"
	done
	jq -e '.profile.rate_hz == 211' taken
	# of long ago are p1, p3 and p4, none of which is the newest of its name then
	sqlite3 assay.db 'UPDATE profile SET started_ns = started_ns - 20 * 86400000000000 WHERE id IN (1, 3, 4)'
	ASSAY_PROFILE=cpu,heap serve
	for _ in $(seq 1200); do
		[ "$(sqlite3 assay.db 'SELECT count(*) FROM profile')" = 5 ] || break
		sleep 0.1
	done
	[ "$(sqlite3 assay.db 'SELECT group_concat(id) FROM profile')" = 2,5 ]
	admin POST "/admin/profile/start?case=$key&name=c"
	[ "$code" = 202 ]
	ended | jq -e '.exit == 0 and (.what | startswith("cpu,heap of"))'
	admin GET /api/profiles
	jq -e '[.profiles[] | select(.name == "c").kind] | sort == ["cpu", "heap"]' body
}

@test "a full disk is 507 where a job meets it, and /healthz says that old profiles stay" {
	need_own_mounts
	measure >/dev/null
	local key own=-m
	[ "$(id -u)" = 0 ] || own=-rm
	key=$("$ASSAY" show last --json | jq -r '[.cases[] | select(.status == "ok")][0].key')
	for name in a a; do
		"$ASSAY" profile heap --name a --json -- true >/dev/null || skip "no heap profile can be taken here"
	done
	sqlite3 assay.db 'UPDATE profile SET started_ns = started_ns - 20 * 86400000000000'
	echo 'storage { profiles = "1" days = "10" }' >assay.conf
	mkdir small
	# the process keeps its number
	printf '#!/bin/sh\nexec unshare %s sh -c '\''mount -t tmpfs -o size=8m none small && cp assay.db small && { cat /dev/zero >small/rest; exec "$@"; }'\'' sh %s "$@"\n' \
		"$own" "$ASSAY" >on_full_disk
	chmod +x on_full_disk
	ASSAY=./on_full_disk serve --db small/assay.db
	admin POST "/admin/profile/memory?duration=0.1&case=$key"
	gets 507 "the disk is full; free some space"
	for _ in $(seq 1200); do
		ask GET /healthz
		[ "$(jq .storage_error body)" = null ] || break
		sleep 0.1
	done
	jq -e '.storage_error | contains("the disk is full")' body
}

@test "killed during a job it leaves nobody, loses nothing, and starts again" {
	serve --db "$BATS_TEST_TMPDIR/kept.db"
	admin POST /api/runs
	ended >/dev/null
	local before
	before=$("$ASSAY" show r1 --db kept.db --json | md5sum)
	admin POST "/admin/profile/start?case=$("$ASSAY" show r1 --db kept.db --json | jq -r '[.cases[] | select(.status == "ok")][0].key')&duration=300"
	[ "$code" = 202 ]
	kill -KILL "$server"
	wait "$server" || true
	nobody_left "$BATS_TEST_TMPDIR/kept.db"
	[ "$before" = "$("$ASSAY" show r1 --db kept.db --json | md5sum)" ]
	serve --db "$BATS_TEST_TMPDIR/kept.db"
	ask GET /api/runs
	jq -e '.runs | length == 1' body
	admin POST /api/runs
	ended | jq -e '.exit == 0'
	kill -INT "$server"
	wait "$server" || [ $? = 130 ]
	server=
	nobody_left "$BATS_TEST_TMPDIR/kept.db"
}

@test "the dashboard in a browser: watch a run, look at a case, compare, export" {
	serve
	measure >/dev/null
	browser_start
	browser_screen 400 dark
	browser_open "$url/profiling/dashboard#$token"
	page_until 'byId("run-list").querySelectorAll("tbody tr").length === 1 && byId("suite").value !== ""'
	# the first look at the machine is a chart, without the CPUs, whose use is a difference
	page_until 'system.charts !== null && byId("memory-chart").querySelector("canvas") !== null'
	page_is 'system.cpu[0] === null && system.memory[0] > 0'
	page_is 'location.hash === "" && byId("no-token").hidden'
	page_is 'document.documentElement.scrollWidth <= 400'

	page_value 'byId("suite").value = "quick"; byId("run-button").click()' >/dev/null
	page_until 'byId("job-text").textContent === "run quick is done." && byId("run-list").querySelectorAll("tbody tr").length === 2'
	page_is 'byId("job-error").hidden'
	page_until 'byId("live").querySelectorAll("tbody tr").length > 0'
	# samples as they come, and the interval that they narrow
	page_value 'onEvent({ event: "case", at: 0, n: 1, case: "a<b>" }); [[10, 9, 11], [20, 9.5, 10.5], [20, 0, 0], [30, 9.9, 10.1]].forEach(([n, lo, hi]) =>
		onEvent({ event: "part", done_frac: n / 40, samples: n, sample_ns: 10, median_ns: 10, ci95_ns: [lo, hi] }))' >/dev/null
	page_is 'byId("live-text").textContent === "a<b>: 30 samples, median 10.0 ns, 95 % interval 9.90 ns to 10.1 ns"'
	page_is 'sampling.data[0].join() === "10,20,30" && byId("live-chart").querySelector(".u-value").textContent === "30" && sampling.chart.axes[0].incrs()[0] === 1'
	page_value 'onEvent({ event: "case", at: 0, n: 1, case: "next" })' >/dev/null
	page_is 'byId("live-chart").querySelector("canvas") !== null'
	page_value 'onEvent({ event: "part", done_frac: 0.1, samples: 1, sample_ns: 5 })' >/dev/null
	page_is 'byId("live-chart").querySelector("canvas") === null && byId("live-text").textContent === "next: 1 sample"'
	page_value 'byId("run-list").querySelector(".link").click()' >/dev/null
	page_until 'byId("run").querySelectorAll("tbody .link").length > 0'
	page_value 'byId("case").value = byId("run").querySelector("tbody .link").textContent; byId("case-form").requestSubmit()' >/dev/null
	page_until 'byId("case-text").textContent.includes("2 runs") && byId("case-chart").querySelector("canvas") !== null'
	page_is 'byId("case-export").querySelectorAll("button").length === 3'
	# one run has a minute of time around it
	page_value 'historyChart = chart("case-chart", "one", [["one", "--head"]], [[1e9], [1]], { text: String }); 1' >/dev/null
	page_is 'historyChart.scales.x.max - historyChart.scales.x.min === 60'
	page_is 'csv({ points: [{ run: 1, commit: null, started: "t", median_ns: 2, ci95_ns: [1, 3] }] }).endsWith("\n1,,t,2,1,3\n")'
	page_is 'new DOMParser().parseFromString(svg({ case: "a<&\"b", points: [{ started: "2026-01-01T00:00:00Z", median_ns: 2, ci95_ns: null }] }), "image/svg+xml").querySelector("text").textContent.startsWith("a<&\"b: ")'
	page_until 'byId("diff-base").value === "r1" && byId("diff-head").value === "r2"'
	page_value 'byId("diff-form").requestSubmit()' >/dev/null
	page_until 'byId("diff").querySelectorAll("tbody tr").length > 0'
	# a name is text, whatever it is
	page_is '(() => { const t = table([["Case", (r) => r]], ["<img src=x onerror=alert(1)>"], "x"); return t.querySelector("img") === null; })()'
	browser_screen 1280 light
	page_is 'document.documentElement.scrollWidth <= 1280'
	[ -z "$(browser_complaints | grep -vF "$url/")" ] || { browser_complaints; false; }
	# within its limit, with all that it needs
	ask GET /profiling/dashboard
	[ "$(wc -c <body)" -lt 150000 ]
}

# says BODY [OPTION...]: ask the model.
says() {
	local body=$1
	shift
	admin POST /v1/chat/completions -d "$body" "$@"
}

@test "the model of a file answers text with text, whole and as a stream" {
	local want
	"$ASSAY" model synth m.gguf
	want=$("$ASSAY" generate m.gguf --prompt 'Hi, you' --tokens 20 --bench-dir "$ASSAY_SOURCE/bench" --json | jq .text)
	serve --model m.gguf --bench-dir "$ASSAY_SOURCE/bench"
	says '{"messages":[{"role":"system","content":"Hi"},{"role":"user","content":[{"type":"text","text":", you"}]}],"max_tokens":20}'
	jq -e --argjson w "$want" '.choices[0].message.content == $w and .usage.prompt_tokens == 13 and .usage.completion_tokens == 20' body
	says '{"messages":[{"role":"user","content":"Hi, you"}],"max_tokens":20,"stream":true}' -N
	grep -qx 'data: \[DONE\].*' body
	sed -n 's/^data: {/{/p' body | jq -es --argjson w "$want" '([.[].choices[0].delta.content // ""] | add) == $w
		and (map(.choices[0].finish_reason // empty) == ["length"])'
	says '{"messages":[{"role":"user","content":"Hi, you"}],"max_tokens":20,"stop":"w"}'
	jq -e --argjson w "$want" '.choices[0].message.content == ($w | split("w")[0]) and .choices[0].finish_reason == "stop"' body
	# ids stay ids
	says '{"messages":[{"role":"user","content":[1,2,3]}],"max_tokens":4}'
	jq -e '.choices[0].message.content | test("^[0-9]+( [0-9]+){3}$")' body
	says '{"messages":[{"role":"user","content":[1]},{"role":"user","content":"Hi"}]}'
	gets 400 "texts and ids of tokens"
	says '{"messages":[{"role":"user","content":""}]}'
	gets 400 "the messages have no tokens"
	says '{"messages":[{"role":"user","content":"Hi"}],"stop":["a",1]}'
	gets 400 "bad stop: expected a text"
	says '{"messages":[{"role":"user","content":5}]}'
	gets 400 "bad content of a message: expected text"
}

@test "a model answers prompts of token ids, whole and as a stream, and tells Prometheus how long that took" {
	local prompt want
	prompt=$(seq -s' ' 3 11 432)
	# shellcheck disable=SC2086 # words
	want=$("$ASSAY" generate tiny $prompt --tokens 24 --bench-dir "$ASSAY_SOURCE/bench" | sed 's/ *$//')
	serve --model tiny --bench-dir "$ASSAY_SOURCE/bench"
	says "{\"messages\":[{\"role\":\"user\",\"content\":\"$prompt\"}],\"max_tokens\":24}"
	[ "$code" = 200 ]
	jq -e --arg w "$want" '.object == "chat.completion" and .model == "tiny" and .choices[0].message == { role: "assistant", content: $w }
		and .choices[0].finish_reason == "length" and .usage.prompt_tokens == 40 and .usage.completion_tokens == 24
		and .usage.prompt_tokens_details.cached_tokens == 0' body
	# messages are one prompt; what is known of it is not read again
	says "{\"messages\":[{\"role\":\"system\",\"content\":[$(seq -s, 3 11 421)]},{\"role\":\"user\",\"content\":\"432\"}],\"max_tokens\":24,\"stream\":true}" -N
	[ "$code" = 200 ]
	grep -qi '^content-type: text/event-stream' headers
	sed -n 's/^data: //p' body | grep -v '^\[DONE\]$' >chunks
	jq -es --arg w "$want" 'all(.object == "chat.completion.chunk") and ([.[].choices[0].delta.content // ""] | add) == $w
		and .[0].choices[0].delta.role == "assistant" and .[-1].choices[0].finish_reason == "length"' chunks
	[ "$(tail -2 body | tr -d '\n')" = 'data: [DONE]' ]
	# the same in parts, until a sequence of tokens, of which nothing is told before it is known to be another one
	stop=$(cut -d' ' -f6-8 <<<"$want")
	for streamed in false true; do
		says "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$prompt\"}]}],\"max_tokens\":24,\"n\":null,
			\"stop\":[\"511 511\",\"$stop\"],\"stream\":$streamed}"
		[ "$code" = 200 ]
		[ $streamed = false ] || sed -i -n 's/^data: {/{/p' body
		jq -es --arg w "$(cut -d' ' -f1-5 <<<"$want")" '([.[].choices[0] | (.delta // .message).content // ""] | add) == $w
			and .[-1].choices[0].finish_reason == "stop"' body
	done
	says "{\"messages\":[{\"role\":\"user\",\"content\":\"$prompt\"}],\"max_tokens\":24,\"stop\":[${want%% *}]}"
	jq -e '.choices[0].message.content == "" and .usage.completion_tokens == 0' body
	ask GET /v1/models
	jq -e '.object == "list" and [.data[].id] == ["tiny"]' body
	ask GET /v1/models/tiny
	jq -e '.object == "model"' body
	ask GET /v1/models/gpt
	gets 404 "no model is called 'gpt'"
	ask GET /metrics
	grep -qx 'assay_tokens_total{kind="prompt"} 200' body
	grep -qx 'assay_tokens_total{kind="generated"} 58' body
	grep -qx 'assay_kv_cache_hits_total 128' body
	grep -qx 'assay_kv_cache_misses_total 72' body
	grep -qx 'assay_time_to_first_token_seconds_count 4' body
	grep -qx 'assay_time_per_output_token_seconds_count 54' body
	grep -q '^assay_tokens_per_second [1-9]' body
}

@test "a request with X-Profile is the newest profile, and what the model cannot answer is refused" {
	serve --model tiny --bench-dir "$ASSAY_SOURCE/bench"
	says '{"messages":[{"role":"user","content":"1"}],"max_tokens":512}' -H 'X-Profile: true'
	[ "$code" = 200 ]
	if jq -e 'has("profile_error") | not' body; then
		admin GET /admin/profile/last
		jq -e '.profile.name == "request" and .profile.command == "a request to model tiny: 512 tokens after 1"' body
	fi
	# a database without a run
	ask GET /metrics
	[ "$code" = 200 ]
	while IFS='|' read -r body want; do
		says "$body"
		gets "${want%% *}" "${want#* }"
	done <<-'END'
		{}|400 no messages
		{"messages":[{"role":"judge","content":"1"}]}|400 bad role 'judge'
		{"messages":[{"role":"user","content":"one"}]}|400 'one' is not a token
		{"messages":[{"role":"user","content":[1.5]}]}|400 expected ids of tokens
		{"messages":[{"role":"user","content":"512"}]}|400 model tiny has no token 512
		{"model":5,"messages":[{"role":"user","content":"1"}]}|404 no model is called
		{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}|400 bad type 'image_url' of a part
		{"messages":[{"role":"user","content":[{"type":"text","text":5}]}]}|400 bad content of a message
		{"model":"gpt","messages":[{"role":"user","content":"1"}]}|404 no model is called 'gpt', this server has 'tiny'
	END
	# a value of another type is not taken for none, which would start more
	admin POST /api/runs -d '{"suite":"quick","only":["quantize*"]}'
	gets 400 "bad only"
	admin POST /api/runs -d '{"suite":5}'
	gets 404 "unknown suite"
	while IFS='|' read -r parameter want; do
		says "{\"messages\":[{\"role\":\"user\",\"content\":\"1\"}],$parameter}"
		gets 400 "$want"
	done <<-'END'
		"max_tokens":4096|4096 tokens were asked for, model tiny generates 1 to 512
		"max_tokens":0|bad max_tokens '0'
		"max_tokens":1.5|bad max_tokens '1.5': expected a whole number
		"max_tokens":"many"|bad max_tokens 'many'
		"temperature":0.7|bad temperature
		"top_p":0.9|bad top_p
		"n":2|bad n: there is one answer
		"presence_penalty":1|bad presence_penalty
		"logprobs":true|bad logprobs
		"stream":"true"|bad stream: expected true or false
		"stream":1|bad stream
		"stop":""|bad stop: expected ids of tokens
		"stop":"x"|bad stop: 'x' is not a token
		"stop":["1","2","3","4","5"]|bad stop: expected
		"stop":[-1]|bad stop: expected
		"stop":{"a":1}|bad stop: expected
		"stop":[[1]]|bad stop: expected
		"tools":[]|this server has no parameter 'tools'
	END
	says '{"messages":[{"role":"user","content":"1"}]}' -H 'X-Profile: perhaps'
	gets 400 "bad X-Profile"
	ask GET /metrics
	grep -qx 'assay_errors_total{kind="refused"} 2' body
}

# model_pid DATABASE: the process of the model of the server with it.
model_pid() {
	local p
	for p in /proc/[0-9]*; do
		{ ! tr '\0' ' ' <"$p/cmdline" | grep -qF "generate tiny --requests --db $1"; } 2>/dev/null || echo "${p##*/}"
	done
}

# ready STATUS: wait until /readyz says so.
ready() {
	for _ in $(seq 1200); do
		ask GET /readyz
		[ "$code" != "$1" ] || return 0
		sleep 0.1
	done
	cat body
	return 1
}

@test "a model that is not there is said, one that is killed starts again with the next request, and nobody is left" {
	local i one='{"messages":[{"role":"user","content":"1"}]}'
	fails 2 "no model is called 'gpt'" serve --listen 127.0.0.1:0 --model gpt --bench-dir "$ASSAY_SOURCE/bench"
	serve
	says "$one"
	gets 501 "start it with --model"
	ask GET /v1/models
	jq -e '.data == []' body
	kill "$server"
	wait "$server"
	cp -r "$ASSAY_SOURCE/bench" bench
	serve --model tiny --bench-dir bench --db "$PWD/chat.db"
	says "$one"
	[ "$code" = 200 ]
	cp body first
	kill -9 "$(model_pid "$PWD/chat.db")"
	ready 503
	gets 503 "the model is gone, and the next request starts it again"
	ask GET /healthz
	[ "$code" = 503 ] && jq -e '.status == "unhealthy"' body
	says "$one"
	[ "$code" = 200 ]
	jq -e --slurpfile f first '.choices == $f[0].choices' body
	ready 200
	# a kernel that crashes ends the request, and the one after it is answered
	kill -9 $(cat "/proc/$(model_pid "$PWD/chat.db")"/task/*/children)
	says "$one"
	[ "$code" != 503 ] || says "$one"
	[ "$code" = 200 ]
	# one that cannot be loaded any more is not tried for ever
	rm -r bench
	kill -9 "$(model_pid "$PWD/chat.db")"
	ready 503
	for i in 1 2 3; do
		says "$one"
		gets 503 ""
	done
	says "$one"
	gets 503 "and is not started again"
	ask GET /metrics
	grep -qx 'assay_model_starts_total 6' body
	grep -qx 'assay_model_up 0' body
	kill "$server"
	wait "$server"
	nobody_left "$PWD/chat.db"
}
