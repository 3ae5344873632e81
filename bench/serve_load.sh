#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the server bears a large database and many clients, and whether an open dashboard costs what is measured beside it.
# Takes minutes and two gigabytes: for figures, not for tests. Needs curl, jq, sqlite3 and ab; with Debian's prometheus
# and chromium-headless-shell it says more.
# usage: bench/serve_load.sh [RUNS [CASES [SCRAPES]]]
set -eu

runs=${1:-10000}
cases=${2:-300}
scrapes=${3:-100000}
build=$(realpath "${BUILD:-build}")
assay=$build/bin/assay
source=$(cd "$(dirname "$0")/.." && pwd)
out=${OUT:-$build/serve_load}
few=30

rm -rf "$out"
mkdir -p "$out"
cd "$out"

row() {
	printf '| %s | %s | %s |\n' "$1" "$2" "$3"
}

# What make_database makes of a few runs, repeated. Only the newest of them have samples and numbers, since no page of the
# dashboard reads those of more than one or two runs.
"$build/tests/make_database" large.db $few "$cases" >made
columns() {
	sqlite3 large.db "SELECT group_concat(name, ', ') FROM pragma_table_info('$1') WHERE name NOT IN ('id', 'run', 'started_ns')"
}
# Columns with the name of their table before each of them.
qualified() {
	printf '%s' "$2" | sed "s/\\<[a-z_0-9]*\\>/$1.&/g"
}
run_columns=$(columns run)
result_columns=$(columns result)
sqlite3 large.db "
	PRAGMA synchronous = OFF;
	BEGIN;
	CREATE TEMP TABLE wanted AS WITH RECURSIVE n (i) AS (SELECT $few + 1 UNION ALL SELECT i + 1 FROM n WHERE i < $runs)
		SELECT i AS id, 1 + (i - 1) % $few AS original, 1800000000000 * ((i - 1) / $few * $few) AS later_ns FROM n;
	INSERT INTO run (id, started_ns, $run_columns)
		SELECT wanted.id, started_ns + later_ns, $(qualified run "$run_columns" | sed 's/run.ended_ns/& + later_ns/')
		FROM wanted JOIN run ON run.id = original;
	INSERT INTO result (run, started_ns, $result_columns)
		SELECT wanted.id, started_ns + later_ns, $(qualified result "$result_columns")
		FROM wanted JOIN result ON result.run = original;
	CREATE TEMP TABLE pairs AS SELECT new.id AS new, old.id AS old FROM wanted JOIN result new ON new.run = wanted.id
		JOIN result old ON old.run = original AND old.bench_case = new.bench_case WHERE wanted.id > $runs - 20;
	INSERT INTO result_samples SELECT new, encoded FROM pairs JOIN result_samples ON result = old;
	INSERT INTO result_numbers SELECT new, encoded FROM pairs JOIN result_numbers ON result = old;
	COMMIT;"
row "results in $(du -h large.db | cut -f1)" "" "$(sqlite3 large.db 'SELECT count(*) FROM result')"

# serve OPTION...: sets server and url.
serve() {
	"$assay" serve --listen 127.0.0.1:0 --json "$@" >served 2>complaints &
	server=$!
	for _ in $(seq 200); do
		[ ! -s served ] || break
		sleep 0.1
	done
	url=$(jq -er .url served)
}

stop() {
	kill "$server"
	wait "$server" || :
}

rss() {
	awk '/^VmRSS/ { print $2 }' "/proc/$server/status"
}

# of $1 requests of path $2, by $3 clients: the 99th percentile in ms, of which what ab prints has no fractions
percentile() {
	ab -q -k -c "$3" -n "$1" -e percentiles.csv "$url$2" >ab.log
	awk -F, '$1 == 99 { print $2 " ms" }' percentiles.csv
}

serve --db "$out/large.db" --bench-dir "$source/bench"
trap 'kill $server 2>/dev/null || :' EXIT
for path in /api/runs?limit=20 /api/cases?limit=1000 /api/runs/last /api/comparisons?limit=20 /metrics /healthz; do
	row "first $path" "0.5 s" "$(curl -so body -w '%{time_total} s, %{size_download} bytes' "$url$path")"
done
key=$(curl -s "$url/api/cases?limit=1" | jq -r '.cases[0]')
row "history of a case" "0.5 s" "$(curl -sGo body -w '%{time_total} s, %{size_download} bytes' --data-urlencode "case=$key" "$url/api/history")"
stop

# ---- one quick run, many clients ----

ASSAY_DETERMINISTIC=1 "$assay" run --suite smoke --bench-dir "$source/bench" --db small.db --json >run.json
serve --db "$out/small.db" --bench-dir "$source/bench"
percentile 2000 /metrics 4 >/dev/null
before=$(rss)
p99=$(percentile "$scrapes" /metrics 1)
row "/metrics, 99th percentile" "5 ms" "$p99"
row "memory after $scrapes scrapes" "3 MB more" "$(($(rss) - before)) kB more, $(rss) kB in all"

port=${url##*:}
exec 3>idle.log
(
	for _ in $(seq 500); do
		if exec {socket}<>"/dev/tcp/127.0.0.1/$port"; then
			printf 'GET / HTTP/1.1\r\n' >&"$socket"
		fi
	done
	sleep 12
) 2>&3 &
idle=$!
ab -q -k -c 50 -t 8 "$url/api/runs/r1" >busy.log 2>&1 &
busy=$!
sleep 2
for _ in $(seq 20); do
	curl -so body -w '%{time_total} %{http_code}\n' "$url/healthz" || :
done >health
row "/healthz beside 500 idle and 50 busy" "100 ms" "$(sort -n health | tail -1 | awk '{ printf "%.0f ms, status %s", 1e3 * $1, $2 }')"
wait "$busy" "$idle" || :

if command -v promtool >/dev/null; then
	curl -s "$url/metrics" >scraped
	row "promtool check metrics" "accepts" "$(if promtool check metrics <scraped >said 2>&1; then echo accepts; else tail -1 said; fi)"
fi
if command -v prometheus >/dev/null; then
	printf 'scrape_configs:\n- job_name: assay\n  scrape_interval: 1s\n  static_configs:\n  - targets: ["127.0.0.1:%s"]\n' "$port" >prometheus.yml
	prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:19190 >prometheus.log 2>&1 &
	scraper=$!
	sleep 60
	ask() {
		curl -sG http://127.0.0.1:19190/api/v1/query --data-urlencode "query=$1" | jq -r '.data.result[0].value[1]'
	}
	row "scrapes by Prometheus in 60 s, of them good" "all" "$(ask 'count_over_time(up[2m])'), $(ask 'sum_over_time(up[2m])')"
	kill "$scraper"
	wait "$scraper" || :
fi

# ---- an open dashboard beside a run: alternating runs, judged as programs are ----

cat >watch.sh <<'END'
# on or off: somebody has the dashboard open, which reads the stream, and every two seconds the newest run
[ ! -e watching ] || kill $(cat watching) 2>/dev/null
rm -f watching
[ "$1" = on ] || exit 0
curl -sN "$2/api/events" >events & echo $! >watching
(while sleep 2; do curl -s "$2/api/runs/last" >last; done) & echo $! >>watching
END
for state in off on; do
	printf '#!/bin/sh\nsh watch.sh %s %s\nsleep 0.2\nexec "%s" run --suite smoke --bench-dir "%s/bench" --only "matmul*" --db %s.db --json\n' \
		$state "$url" "$assay" "$source" $state >run_$state
	chmod +x run_$state
done
ASSAY_DETERMINISTIC=1 "$assay" time --margin 0.1% --budget "${BUDGET:-60s}" -N closed -N open ./run_off ./run_on --db time.db --json >time.json || :
sh watch.sh off "$url"
row "runs with the dashboard open" "0.1 %" "$(jq -r '.comparisons[0] | "\(.verdict), \(100 * (.ratio - 1)) %, from \(100 * (.ci[0] - 1)) to \(100 * (.ci[1] - 1)) %, \(.pairs) pairs"' time.json)"
stop
trap - EXIT
