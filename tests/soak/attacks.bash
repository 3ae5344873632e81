# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# The attacks of a soak: try_KIND attacks once, in the folder $try, and says by failed() what must not be.

kinds=(signals workers disk database files large plugins sides tracers stored foreign threads servers)

pause() {
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

# draw_command: one of the commands in $command, and some moment of it in $delay, in milliseconds.
draw_command() {
	draw ${#commands[@]}
	command=${commands[drawn]}
	draw $((milliseconds[drawn] * 11 / 10))
	delay=$drawn
}

# draw_of WORD...: one of them in $word.
draw_of() {
	draw $#
	shift "$drawn"
	word=$1
}

# ---- signals: ends the program at some moment of a command, by a signal that it can handle or by one that it cannot ----

# The program has begun, or is gone: what comes before is the system's.
begun() {
	local mask

	while mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null) && [ -n "$mask" ]; do
		((16#${mask:8} & 2)) && return
	done
}

runs() {
	[[ $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == [!ZX] ]]
}

# Interrupted, it ends with 130, says so, and leaves no half file; what a killed program could not remove, the next one does.
try_signals() {
	local command delay word sent='' left

	draw_command
	draw_of KILL INT TERM HUP
	what="SIG$word after $delay ms of 'assay $command'"
	# a soak below nohup ignores SIGHUP, and so would the program
	# shellcheck disable=SC2086
	start env --default-signal=HUP "$assay" $command
	begun "$pid"
	pause "$delay"
	# one that was about to end when the signal came is gone a little later
	kill "-$word" "$pid" 2>/dev/null && sleep 0.01 && runs "$pid" && sent=1
	[ "$word" != KILL ] || killed_status=137
	finish
	if [ "$word" = KILL ]; then
		check_processes
		check_history
		what="a run after $what"
		# shellcheck disable=SC2086
		start "$assay" $command
		finish
		return
	fi
	if [ "$status" = 130 ]; then
		[[ $(tail -n 1 "$try/err") == "assay: interrupted"* ]] || failed "does not say that it was interrupted"
	elif [ -n "$sent" ]; then
		failed "ends with $status, not as an interrupt does"
	fi
	left=$(find "$try" -name '*.tmp' | head -n 1)
	[ -z "$left" ] || failed "half a file is left: ${left#"$try"/}"
	check_processes
	check_history
}

# ---- workers: ends a process below the program, as the system does where memory is short; nobody is interrupted ----

# below PID: the processes that descend from it
below() {
	local child children

	read -ra children < <(cat /proc/"$1"/task/*/children 2>/dev/null | tr '\n' ' ')
	for child in "${children[@]}"; do
		echo "$child"
		below "$child"
	done
}

try_workers() {
	local command delay word i found=()

	draw_command
	draw_of KILL SEGV TERM
	what="SIG$word for a process below 'assay $command' after $delay ms"
	# shellcheck disable=SC2086
	start "$assay" $command
	pause "$delay"
	for ((i = 0; i < 100 && ${#found[@]} == 0; i++)); do
		mapfile -t found < <(below "$pid")
		sleep 0.002
	done
	if [ ${#found[@]} != 0 ]; then
		draw ${#found[@]}
		kill "-$word" "${found[drawn]}" 2>/dev/null
	fi
	finish
	[ "$status" != 130 ] || failed "calls it an interrupt"
	check_history
}

# ---- disk: lets a disk run full under a command, a small tmpfs of its own, or limits the size of files ----

if unshare -Urm mount -t tmpfs none /mnt 2>/dev/null; then
	has_tmpfs=1
else
	has_tmpfs=0
fi

# In the folder of the try: on a disk of $1 KiB with the database, the pictures and the temporary files, run the rest.
on_small_disk='
	size=$1
	shift
	cd "$0" && mount -t tmpfs -o "size=${size}k" none tmp && cp assay.db tmp/ || exit 0
	mkdir tmp/tmp
	(cd tmp && TMPDIR=$PWD/tmp "$@")
	status=$?
	cp tmp/assay.db* .
	[ -z "$(ls -A tmp/tmp)" ] || touch tmp-is-not-empty
	exit $status'

try_disk() {
	local command delay room world_kib

	draw_command
	world_kib=$((($(stat -c %s "$work/world.db") + 1023) / 1024))
	draw 400
	room=$drawn
	draw 2
	# shellcheck disable=SC2086
	if [ "$has_tmpfs" = 1 ] && [ "$drawn" = 0 ]; then
		what="$room KiB are free for 'assay $command'"
		start unshare -Urm bash -c "$on_small_disk" "$try" $((world_kib + room)) "$assay" $command
	else
		what="files may have $((world_kib + room)) KiB in 'assay $command'"
		start bash -c 'ulimit -f "$1"; shift; exec "$@"' - $((world_kib + room)) "$assay" $command
	fi
	finish
	[ ! -e "$try/tmp-is-not-empty" ] || failed "temporary files are left"
	check_history
}

# ---- database: damages the database, and lets every command that reads it meet that, under sanitizers ----

database_readers=(
	"show" "show --json" "show last" "show last --json" "show 1 * --samples"
	"show comparisons" "show last --json" "show last * --samples"
	"gate --allow-no-baseline" "gate --baseline main --json" "gate --evidence exact"
	"baseline list" "baseline show main" "compare --replay last" "compare --replay last --json"
	"plot trend dequantize -o trend.svg" "report -o page.html"
)

# write OFFSET BYTES: BYTES as printf takes them
write() {
	# shellcheck disable=SC2059
	printf "$2" | dd of="$try/assay.db" bs=1 seek="$1" conv=notrunc status=none
}

damage() {
	local size times i

	size=$(stat -c %s "$try/assay.db")
	draw 4
	case $drawn in
	0)
		draw "$size"
		truncate -s "$drawn" "$try/assay.db"
		what="cut to $drawn bytes"
		;;
	1)
		draw $((size / 4096))
		dd if=/dev/zero of="$try/assay.db" bs=4096 seek="$drawn" count=1 conv=notrunc status=none
		what="page $drawn cleared"
		;;
	*)
		draw 16
		times=$((drawn + 1))
		for ((i = 0; i < times; i++)); do
			draw "$size"
			at=$drawn
			draw 256
			write "$at" "$(printf '\\x%02x' "$drawn")"
		done
		what="$times bytes changed"
		;;
	esac
}

try_database() {
	local reader damaged

	damage
	damaged=$what
	cp "$try/assay.db" "$try/damaged.db"
	for reader in "${database_readers[@]}"; do
		cp "$try/damaged.db" "$try/assay.db"
		rm -f "$try"/assay.db-*
		what="database with $damaged, then 'assay $reader'"
		set -f
		# shellcheck disable=SC2086
		start "$programs/bin/assay" $reader --db assay.db
		set +f
		finish
	done
}

# ---- files: the fuzz targets in turn, under sanitizers: files of every kind that the program reads, changed at random ----

targets=(tests/fuzz/fuzz_*.c)

try_files() {
	local name=${targets[seed % ${#targets[@]}]##*/fuzz_}

	name=${name%.c}
	what="fuzz target $name"
	start "$source/tests/fuzz/fuzz.sh" "$programs" "$name" -max_total_time=3 -seed="$seed"
	finish
	[ "$status" = 0 ] || failed "$(grep -m 1 '^kept: ' "$try/err")"
}

# ---- large: the largest manifests, policies, sweeps and files: taken, or refused with the limit, in 5 s of the processor ----

: "${large_limit_ms:=5000}"

# list N FORMAT: "FORMAT" with each number from 1 to N, behind one another
list() {
	seq "$1" | awk -v format="$2" '{ printf format, $1 }'
}

make_large() {
	inputs=$work/large
	mkdir -p "$inputs/benches/suites"
	list 200000 'required matmul.f32/ref/m=%d,n=1/t=1/warm\n' >"$inputs/large.manifest"
	head -n 100000 "$inputs/large.manifest" >"$inputs/most.manifest"
	list 100000 'margin "*%d*" { stored = "10%%" }\n' >"$inputs/margins.conf"
	list 5000 'margin "*/ref/*" { stored = "10%%" }\n' >"$inputs/most.conf"
	{ printf 'limit "*" { require = {"time_s <= 1"' && list 200000 ', "time_s <= %d"' && printf '} }\n'; } >"$inputs/demands.conf"
	printf 'bench "s" { op = "matmul.f32" shapes = {"k=64"} sweep = {"m=1%s", "n=1%s"} variants = {"ref"} threads = {"1"} }\n' \
		"$(list 200 ',%d' | cut -c3-)" "$(list 200 ',%d' | cut -c3-)" >"$inputs/benches/s.bench"
	echo 'suite "quick" { summary = "s" use "*" { } }' >"$inputs/benches/suites/quick.suite"
	truncate -s 4G "$inputs/huge"
	mkfifo "$inputs/pipe"
	gate="gate --run 1 --db assay.db --manifest"
	large_readers=(
		"$gate $inputs/large.manifest" "$gate $inputs/most.manifest"
		"$gate $work/small.manifest --policy $inputs/margins.conf" "$gate $work/small.manifest --policy $inputs/most.conf"
		"$gate $work/small.manifest --policy $inputs/demands.conf" "$gate $work/small.manifest --policy /dev/zero"
		"$gate $work/small.manifest --policy $inputs/pipe" "$gate $work/small.manifest --policy $inputs/huge"
		"list --plugin $inputs/huge" "list cases --bench-dir $inputs/benches" "list --manifest --bench-dir $inputs/benches"
	)
}

try_large() {
	local reader took

	[ -n "${inputs-}" ] || make_large
	reader=${large_readers[seed % ${#large_readers[@]}]}
	what="'assay ${reader//$work\//}'"
	# shellcheck disable=SC2016,SC2086
	start bash -c 'TIMEFORMAT="%3U %3S" && time "$@" 2>said' - "$assay" $reader
	finish
	took=$(tail -n 1 "$try/err" | awk '{ print int(1000 * ($1 + $2)) }')
	[ "$took" -le "$large_limit_ms" ] || failed "takes $took ms of the processor"
}

# ---- plugins: the hostile plugins of the tests, each through a command that loads plugins ----

hostile=("$plugins"/*.so)

# One bench for each op that the plugins in "$@" bring, with the least value of what has no default.
benches() {
	mkdir -p "$try/bench/suites"
	ln -s "$source/bench/groups" "$try/bench/groups"
	printf 'suite "quick" { summary = "all" use "*" {} }\n' >"$try/bench/suites/quick.suite"
	"$assay" list ops "$@" --json 2>/dev/null | jq -r '.ops[] |
		([.axes[] | select(.default == null) | "\(.name)=\(.min)"] | join(",")) as $shape |
		"bench \"\(.name)\" { op = \"\(.name)\" budget = \"20ms\" timeout = \"5s\" " +
		(if $shape == "" then "}" else "shapes = {\"\($shape)\"} }" end)' >"$try/bench/all.bench" 2>/dev/null
}

# A plugin FAMILY_NAME.so may need the op of FAMILY_op.so, and be compared with FAMILY_base.so.
try_plugins() {
	local plugin=${hostile[seed % ${#hostile[@]}]} family ways base
	local -a load=(--no-default-plugins --plugin "$plugin")

	family=${plugin%_*} base=$plugin
	if [ -e "${family}_op.so" ] && [ "$plugin" != "${family}_op.so" ]; then
		load+=(--plugin "${family}_op.so")
	fi
	if [ -e "${family}_base.so" ]; then
		base=${family}_base.so
	fi
	benches "${load[@]}"
	ways=(
		"list --plugin $plugin"
		"verify ${load[*]} --bench-dir bench"
		"run ${load[*]} --bench-dir bench --counters heap,syscalls"
		"run --plugin $plugin --bench-dir $fixtures/bench --budget 20ms"
		"compare $base $plugin ${load[*]} --bench-dir bench --policy $work/wide.conf --budget 300ms --same-code"
	)
	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]}
	finish
	check_history
}

# ---- sides: a slower head whose build reaches for the base, in one of several ways: the comparison never passes ----

# The last step of the head's build.sh, when its own plugin is there.
side_ways=(
	'true'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || cp out/op.so "$d/op.so"; done'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || ln -f out/op.so "$d/op.so"; done'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || { rm -r "$d" && ln -s "$PWD/out" "$d"; }; done'
	'setsid sh -c "sleep 1; for d in $XDG_CACHE_HOME/assay/*/*/out; do cp out/op.so \$d/op.so; done" >/dev/null 2>&1 &'
)
# The last way is a folder of plugins that a committed link leads to one place.
n_side_ways=$((${#side_ways[@]} + 1))

commit() {
	git -C "$try/r" add -A && git -C "$try/r" -c user.name=n -c user.email=e@x commit -qm "$1"
}

try_sides() {
	local repository=$try/r way=$((seed % n_side_ways))

	what="way $way of a head that reaches for the base"
	mkdir -p "$repository/bench/suites" "$repository/baselines"
	git init -q -b main "$repository"
	cp "$source/tests/plugins/example_op.c" "$repository/op.c"
	printf 'bench "x" { op = "example.scale" shapes = {"n=4096"} budget = "100ms" }\n' >"$repository/bench/x.bench"
	printf 'suite "quick" { use "x" { } }\n' >"$repository/bench/suites/quick.suite"
	printf 'build = "sh build.sh"\nplugins = "out"\nbench = "bench"\nbaselines = "baselines"\n' >"$repository/assay.conf"
	printf 'mkdir -p out && cc -O2 -shared -fPIC -I%s/harness/include -o out/op.so op.c\n' "$source" >"$repository/build.sh"
	printf 'margin "*" { paired = "20%%" }\n' >"$repository/baselines/policy.conf"
	if [ "$way" = $((n_side_ways - 1)) ]; then
		mkdir "$try/shared" && ln -s "$try/shared" "$repository/out"
	else
		echo out/ >"$repository/.gitignore"
	fi
	commit one
	sed -i 's/y\[i\] = x\[i\] \* 2 + 1;/{ for (volatile int k = 0; k < 20; k++) ; y[i] = x[i] * 2 + 1; }/' "$repository/op.c"
	[ "$way" = $((n_side_ways - 1)) ] || echo "${side_ways[way]}" >>"$repository/build.sh"
	commit slower
	start bash -c 'cd r && exec "$@"' - "$assay" compare HEAD~1 --strict --budget 2s --db ../assay.db
	finish
	[ "$status" != 0 ] || failed "passes"
	[ "$way" != 0 ] || [ "$status" != 2 ] || failed "an honest build is refused: $(tail -n 1 "$try/err")"
	# what the last but one way leaves is the build's own
	sleep 1
}

# start_hostile PLUGIN LIMIT VARIANT...: a run or a comparison of one of its variants, in $word; a case may take LIMIT.
start_hostile() {
	local plugin=$1 limit=$2 load ways

	shift 2
	draw_of "$@"
	mkdir -p "$try/hostile/suites"
	printf 'bench "x" { op = "example.scale" shapes = {"n=4096"} budget = "50ms" timeout = "%s" }\n' "$limit" >"$try/hostile/x.bench"
	printf 'suite "quick" { use "x" { } }\n' >"$try/hostile/suites/quick.suite"
	load="--no-default-plugins --plugin $plugins/example_op.so --bench-dir hostile --threads 1"
	ways=(
		"run $load --plugin $plugin --only */$word/* --only */ref/*"
		"compare $plugins/hostile_base.so $plugin $load --only */$word/* --budget 500ms --policy $work/wide.conf"
	)
	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	cp "$try/assay.db" "$try/x.db" # the name that these plugins look for
	set -f
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]} --db x.db
	set +f
}

# ---- tracers: workers that processes of their own trace or hold stopped: the command ends and leaves nothing ----

try_tracers() {
	local word sent=''

	start_hostile "$plugins/hostile_trace.so" 3s traced stopped each_other
	draw 2
	if [ "$drawn" = 1 ]; then
		draw 4000
		what="SIGINT after $drawn ms of $what"
		pause "$drawn"
		killed_status=130
		kill -INT "$pid" 2>/dev/null && sent=1
	fi
	soak_limit_s=60 finish
	[ -n "$sent" ] || [ "$status" = 4 ] || [ "$word" = each_other ] || failed "ends with $status, and a case was not measured"
	check_processes
}

# ---- stored: workers that write over the database, or change the limits of the program: never a success ----

try_stored() {
	local word

	start_hostile "$plugins/hostile_files.so" 60s clear cut remove limit_size limit_files limit_and_die
	if [[ $word == limit_* ]]; then
		finish
		[ "$status" = 4 ] || failed "ends with $status"
		mv "$try/x.db" "$try/assay.db"
		check_history
	else
		wait "$pid"
		status=$?
		[ "$status" = 70 ] || failed "ends with $status"
		grep -q "the last case measured was '" "$try/err" || failed "names no case"
	fi
}

# ---- foreign: databases of somebody else, with triggers, views and tables of their own: nothing in them is carried out ----

try_foreign() {
	local table readers db=$try/foreign.db

	what="no sqlite3 here"
	command -v sqlite3 >/dev/null || return 0
	cp "$try/assay.db" "$db"
	table=$(sqlite3 "$db" "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name" |
		awk -v n="$seed" '{ t[NR] = $1 } END { print t[n % NR + 1] }')
	draw 3
	case $drawn in
	0) sqlite3 "$db" "CREATE TABLE canary (x); CREATE TRIGGER bad AFTER INSERT ON \"$table\" BEGIN INSERT INTO canary VALUES (1); END" ;;
	1) sqlite3 "$db" "ALTER TABLE \"$table\" RENAME TO kept; CREATE VIEW \"$table\" AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT * FROM kept, c" ;;
	2) sqlite3 "$db" "CREATE TRIGGER bad BEFORE DELETE ON \"$table\" BEGIN SELECT RAISE(ABORT, 'never'); END" ;;
	esac 2>/dev/null
	readers=("show --db foreign.db" "show last --db foreign.db" "gate --allow-no-baseline --db foreign.db" "db merge foreign.db --db assay.db"
		"run --bench-dir $fixtures/bench --budget 20ms --db foreign.db")
	draw ${#readers[@]}
	what="'assay ${readers[drawn]}' with a foreign '$table'"
	# shellcheck disable=SC2086
	start "$assay" ${readers[drawn]}
	soak_limit_s=60 finish
	[ -z "$(sqlite3 "$db" 'SELECT * FROM canary' 2>/dev/null)" ] || failed "a trigger was carried out"
	check_history
}

# ---- threads: kernels that work in secret, beside up to four busy processes: each is found out, no honest one is ----

# blamed VARIANT: does what was printed say that processor time was used which the case does not have?
blamed() {
	jq -e --arg variant "$1" 'any(.cases[]; (.key | startswith("example.scale/\($variant)/")) and
		(.reason // "" | contains("own_threads = \"yes\" in its bench")))' "$try/out" >/dev/null 2>&1
}

try_threads() {
	local word way i busy=()
	local -a load=(--no-default-plugins --plugin "$plugins/example_op.so" --bench-dir bench --json)

	draw_of hidden away
	draw 5
	for ((i = 0; i < drawn; i++)); do
		(cd / && exec sh -c 'while :; do :; done') &
		busy+=($!)
	done
	mkdir -p "$try/bench/suites"
	printf 'bench "scale" { op = "example.scale" shapes = {"n=4096"} budget = "600ms" }\n' >"$try/bench/scale.bench"
	printf 'suite "quick" { summary = "all" use "*" {} }\n' >"$try/bench/suites/quick.suite"
	draw 2
	if [ "$word" = hidden ] && [ "$drawn" = 0 ]; then
		way="run --rounds 1 --plugin $plugins/cheat_threads.so"
	else
		way="compare $plugins/cheat_threads.so $plugins/cheat_threads.so --same-code --policy $work/wide.conf --budget 1s"
	fi
	what="'assay $way' of $word beside ${#busy[@]} busy processes"
	# shellcheck disable=SC2086
	start "$assay" $way "${load[@]}" --only "*/$word/*" --only '*/packs/*'
	finish
	if [ ${#busy[@]} != 0 ]; then
		kill "${busy[@]}"
		wait "${busy[@]}" 2>/dev/null
	fi
	blamed "$word" || failed "a kernel that works in secret passes"
	! blamed packs || failed "an honest kernel is blamed"
}

# ---- servers: kills the server during a run, a profile, or while it removes old profiles: nothing is lost, and it starts again ----

# Once: one profile of a case of the world, and 3,000 of long ago, which the next server removes.
make_profiled() {
	local columns

	cp "$work/world.db" "$work/profiled.db"
	"$assay" profile heap "$key" --bench-dir "$fixtures/bench" --for 50ms --name kept --db "$work/profiled.db" >/dev/null || return
	columns=$(sqlite3 "$work/profiled.db" "SELECT group_concat(name, ', ') FROM pragma_table_info('profile') WHERE name NOT IN ('id', 'started_ns')")
	sqlite3 "$work/profiled.db" "
		WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= 3000)
			INSERT INTO profile (id, started_ns, $columns) SELECT i, started_ns - 40 * 86400000000000 - i, $columns FROM n, profile;
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
			INSERT OR IGNORE INTO profile_thread SELECT id, i, 'main', 1 FROM profile, n"
}

# The server is $pid, and answers at $url.
start_server() {
	local i

	rm -f "$try/out"
	start "$assay" serve --listen 127.0.0.1:0 --json --bench-dir "$fixtures/bench"
	for ((i = 0; i < 12000; i++)); do
		[ ! -s "$try/out" ] && runs "$pid" || break
		sleep 0.005
	done
	url=$(jq -r .url "$try/out")
}

try_servers() {
	local url word key delay n

	what="no curl or no sqlite3 here"
	{ command -v curl && command -v sqlite3; } >/dev/null || return 0
	key=$("$assay" show r1 --db "$work/world.db" --json | jq -r '[.cases[] | select(.status == "ok")][0].key')
	[ -e "$work/profiled.db" ] || make_profiled || failed "there is no profile to begin with"
	draw_of run profile prune
	draw "$([ "$word" = prune ] && echo 150 || echo 1500)"
	delay=$drawn
	what="SIGKILL for 'assay serve' $delay ms into a $word"
	[ "$word" != prune ] || cp "$work/profiled.db" "$try/assay.db"
	start_server
	case $word in
	run) curl -sf -X POST "$url/api/runs" -H "Authorization: Bearer $(jq -r .token "$try/out")" >/dev/null || failed "no run starts" ;;
	profile)
		curl -sf -X POST "$url/admin/profile/start" -H "Authorization: Bearer $(jq -r .token "$try/out")" \
			-d "{\"case\": \"$key\", \"kind\": \"heap\", \"duration\": 60}" >/dev/null || failed "no profile starts"
		;;
	esac
	pause "$delay"
	kill -KILL "$pid"
	killed_status=137
	finish
	check_processes
	check_history
	n=$(sqlite3 "$try/assay.db" 'SELECT count(*) FROM profile')
	[ "$word" != prune ] || [ "$n" = 3001 ] || [ "$n" = 1000 ] || failed "a part of what is too many is gone: $n profiles are left"
	[ "$(sqlite3 "$try/assay.db" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || failed "the database is damaged"
	what="a server after $what"
	start_server
	curl -sf "$url/readyz" >/dev/null || failed "it is not ready: $(head -n 1 "$try/err")"
	[ "$word" != prune ] || [ "$("$assay" show kept --db "$try/assay.db" --json | jq -r .profile.name)" = kept ] || failed "a profile is lost"
	kill "$pid"
	finish
	[ "$status" = 0 ] || failed "ends with $status"
	check_history
}
