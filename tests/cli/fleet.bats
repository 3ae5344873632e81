#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# fleet: a suite on the nodes of a Slurm that is played by scripts, whose jobs are processes here.
load compare_helpers
load browser

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export SLURM=$PWD/slurm PATH=$PWD/bin:$PATH ASSAY_DETERMINISTIC=1
	mkdir -p bin slurm/jobs
	printf '%s\n' 'n1|idle|1:2:1 500 (null) (null)|none' 'n2|idle|1:2:1 500 (null) (null)|none' 'n3|idle|1:2:1 500 (null) (null)|none' >slurm/nodes
	slurm
	manifest
}

teardown() {
	browser_stop
	for job in slurm/jobs/*/pid; do
		[ ! -e "$job" ] || kill -KILL -- "-$(cat "$job")" 2>/dev/null || true
	done
}

# slurm: its commands. A task is a folder ARRAY_NUMBER: node, state, name, reason, pid. What lies in slurm/NODE.before is run before
# the task's script: a shell that may wait, end, or set the task's state. NODE.reason says why tasks of it wait.
slurm() {
	cat >bin/sinfo <<-'END'
		#!/bin/bash
		[ "$2" != --format=%R ] && [ "$2" != --format ] || { echo cpu; exit; }
		[ "$4" = cpu ] && cat "$SLURM/nodes"
		exit 0
	END
	cat >bin/sbatch <<-'END'
		#!/bin/bash
		echo "$*" >>"$SLURM/submitted"
		name=$4 tasks=$8 log=${14}
		shift 14
		[ ! -e "$SLURM/refuses" ] || { echo "sbatch: error: Batch job submission failed: $(cat "$SLURM/refuses")" >&2; exit 1; }
		id=$(($(ls "$SLURM/jobs" | sed 's/_.*//' | sort -un | wc -l) + 1))
		for range in ${tasks//,/ }; do
			for task in $(seq "${range%-*}" "${range#*-}"); do
				job=$SLURM/jobs/${id}_$task
				mkdir "$job" && cd "$job" && echo "$name" >name && echo PENDING >state && echo JobHeldUser >reason
				echo "${log//%a/$task}" >log
				printf '%s\n' "$@" >words
			done
		done
		echo "$id"
	END
	cat >bin/scontrol <<-'END'
		#!/bin/bash
		if [ "$1" = update ]; then
			[ ! -e "$SLURM/stays" ] || kill -KILL $PPID
			echo "${3#ReqNodeList=}" >"$SLURM/jobs/${2#JobId=}/node" && echo "$2 $3" >>"$SLURM/placed"
			exit
		fi
		for job in "$SLURM/jobs/$2"_*; do
			node=$(cat "$job/node")
			export job node SLURM_ARRAY_TASK_ID=${job##*_} SLURMD_NODENAME=$node
			cp "$SLURM/$node.reason" "$job/reason" 2>/dev/null || rm "$job/reason"
			mapfile -t words <"$job/words"
			setsid bash -c '
				echo $$ >"$job/pid"
				[ ! -e "$SLURM/$node.before" ] || . "$SLURM/$node.before"
				echo RUNNING >"$job/state"
				sh "$@" && echo COMPLETED >"$job/state" || echo FAILED >"$job/state"' job "${words[@]}" >"$(cat "$job/log")" 2>&1 </dev/null 3>&- &
			until [ -s "$job/pid" ]; do sleep 0.01; done
		done
	END
	cat >bin/squeue <<-'END'
		#!/bin/bash
		name=$7
		for job in $(ls "$SLURM/jobs"); do
			[ "$(cat "$SLURM/jobs/$job/name")" != "$name" ] ||
				echo "$job|$(cat "$SLURM/jobs/$job/state")|$(cat "$SLURM/jobs/$job/reason" 2>/dev/null || echo None)"
		done
	END
	cat >bin/scancel <<-'END'
		#!/bin/bash
		echo "$*" >>"$SLURM/cancelled"
		for job in $(ls "$SLURM/jobs"); do
			[ "$1" = "$job" ] || [ "$4" = "$(cat "$SLURM/jobs/$job/name")" ] || continue
			grep -q 'COMPLETED\|FAIL\|CANCELLED' "$SLURM/jobs/$job/state" && continue
			[ ! -e "$SLURM/jobs/$job/pid" ] || kill -KILL -- "-$(cat "$SLURM/jobs/$job/pid")"
			echo CANCELLED >"$SLURM/jobs/$job/state"
		done
	END
	chmod +x bin/*
}

# What a node does that fails while its job runs: all that the job started dies, and Slurm sees it.
dies() {
	echo 'echo NODE_FAIL >"$job/state"; kill -KILL 0' >"slurm/$1.before"
}

# A job that waits, and never starts.
waits() {
	echo Resources >"slurm/$1.reason"
	echo 'sleep 600' >"slurm/$1.before"
}

fleet() {
	run --separate-stderr "$ASSAY" fleet quick --slurm cpu --manifest quick.manifest --policy plain.conf "$@" -- --bench-dir "$BENCH"
}

# in_jobs: the processes of all jobs, by their sessions, but for what nobody has reaped.
in_jobs() {
	local sessions

	sessions=" $(cat slurm/jobs/*/pid 2>/dev/null | tr '\n' ' ') "
	cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | awk -v sessions="$sessions" '$1 != "Z" && index(sessions, " " $4 " ")'
}

# No process of a job is left once what was killed had the time to go.
no_job_is_left() {
	for _ in $(seq 1200); do
		[ -n "$(in_jobs)" ] || return 0
		sleep 0.1
	done
	in_jobs
	return 1
}

@test "three nodes make a complete matrix, and a second fleet is judged by the first" {
	fleet --json
	[ "$status" = 0 ]
	is '.schema == 1 and .exit == 0 and .verdict == "PASS" and .partition == "cpu" and .suite == "quick"'
	is '[.machines[].name] == ["n1", "n2", "n3"] and ([.machines[].run] | sort) == [1, 2, 3]'
	is '.machines | all(.status == "INCOMPARABLE" or .status == "PASS") and all(.machine != null)'
	is '(.cases | length) == 3 and ([.cases[].machines | length] == [3, 3, 3]) and ([.cases[].machines[].median_ns] | all(. > 0))'
	[ "$(sqlite3 assay.db 'SELECT count(*) FROM result')" = 9 ]
	# all is in the database, and nothing beside it
	[ ! -e assay-fleet ]
	printf 'margin "*" { stored = "100%%" }\n' >plain.conf
	fleet
	[[ ${lines[0]} == "n"?": measured" ]]
	[[ $output == *"suite 'quick' on 3 machines of 'cpu'"* ]]
	[[ $output == *" n1 "*" n2 "*" n3 "*"case"* ]]
	[ "$(sqlite3 assay.db 'SELECT count(*) FROM run')" = 6 ]
	no_job_is_left
}

@test "the matrix is a page, of few machines with a column each, of many with a range and all on the page of a case" {
	dies n2
	fails 2 "cannot write 'fleet.txt'" fleet quick --slurm cpu -o fleet.txt
	fails 2 "none/fleet.html" fleet quick --slurm cpu -o none/fleet.html
	[ ! -e slurm/submitted ]
	fleet -o fleet.html
	[ "$status" = 4 ]
	browser_start
	browser_screen 1280 light
	browser_open "$PWD/fleet.html"
	page_is 'document.title === "Suite quick on 3 machines of cpu" && document.querySelector("h1 .badge").textContent === "NOT_MEASURED"'
	page_is 'shownKeys().length === 3 && ["n1", "n2", "n3"].every(n => columnOf(n))'
	page_is '[...document.querySelectorAll("#cases td[data-label=n2]")].every(td => td.textContent === "NOT_MEASURED")'
	page_is '[...document.querySelectorAll("#cases td[data-label=n1]")].every(td => /\s[mµn]?s$/.test(td.textContent))'
	page_is 'document.querySelector("main").textContent.includes("Slurm ended job 1_2 (NODE_FAIL)")'
	looks_right && laid_out

	ASSAY_PAGE_FILE=$PWD/many.html "$ASSAY_BUILD/tests/test_reports" fleet >/dev/null 2>&1
	browser_open "$PWD/many.html"
	page_is 'shownKeys().length === 40 && !columnOf("n1") && document.querySelector("#cases td[data-label=Most]").textContent === "12.0\u00a0µsn12"'
	page_is 'document.querySelector("details summary").textContent === "11 machines with the verdict PASS"'
	looks_right && laid_out
	page_value 'document.querySelector("#cases a.key").click()' >/dev/null
	page_until '!document.getElementById("case").hidden'
	page_is '[...document.querySelectorAll("#case tbody th")].map(e => e.textContent).slice(0, 3).join() === "n2,n12,n11" && document.querySelectorAll("#case tbody tr").length === 12'
	page_is '[...document.querySelectorAll("#case tbody th")].some(e => e.textContent.startsWith("</script>")) && document.scripts.length === 2'
	looks_right && laid_out
	[ -z "$(browser_complaints)" ] || { browser_complaints; false; }
}

@test "a machine without a baseline is INCOMPARABLE once other machines have one" {
	fleet --nodes 1 --json
	[ "$status" = 0 ]
	sqlite3 assay.db "INSERT INTO machine (id, label) VALUES ('other', 'abacus'); UPDATE run SET machine = 'other';"
	fleet --nodes 1 --json
	[ "$status" = 5 ]
	is '.exit == 5 and .verdict == "INCOMPARABLE" and (.machines[0] | .status == "INCOMPARABLE" and (.reason | contains("1 on other machines")))'
}

@test "a node that dies is NOT_MEASURED, the others are right, and the same command measures it alone" {
	dies n2
	fleet --json
	[ "$status" = 4 ]
	is '.exit == 4 and .verdict == "NOT_MEASURED"'
	is '.machines[1] | .status == "NOT_MEASURED" and .run == null and .machine == null and (.reason | startswith("Slurm ended job 1_2 (NODE_FAIL)"))'
	is '[.machines[0, 2].run] | sort == [1, 2]'
	is '.cases | length == 3 and all(.verdict == "NOT_MEASURED" and .machines[1].verdict == "NOT_MEASURED" and .machines[1].median_ns == null)'
	is '[.cases[].machines[0, 2] | .median_ns > 0] | all'
	sqlite3 assay.db .dump >before
	# merged once more, the same results are there once
	fleet --json
	[ "$status" = 4 ]
	cmp before <(sqlite3 assay.db .dump)
	rm slurm/n2.before
	fleet --json
	[ "$status" = 0 ]
	is '.verdict == "PASS" and ([.machines[].run] | sort == [1, 2, 3])'
	# n2 three times, the others once
	[ "$(cut -d' ' -f7 slurm/submitted | xargs)" = "--array --array --array" ] && [ "$(cut -d' ' -f8 slurm/submitted | xargs)" = "1-3 2 2" ]
	[ "$(xargs <slurm/placed)" = "JobId=1_1 ReqNodeList=n1 JobId=1_2 ReqNodeList=n2 JobId=1_3 ReqNodeList=n3 JobId=2_2 ReqNodeList=n2 JobId=3_2 ReqNodeList=n2" ]
	[ ! -e assay-fleet ]
}

@test "an interrupt cancels the jobs and says what is left, and the same command goes on" {
	waits n3
	"$ASSAY" fleet quick --slurm cpu --manifest quick.manifest --policy plain.conf -- --bench-dir "$BENCH" >out.txt 2>err.txt &
	for _ in $(seq 1200); do
		[ "$(cat assay-fleet/*/status 2>/dev/null | wc -l)" != 2 ] || break
		sleep 0.1
	done
	# a second one would disturb it
	KEEP_DB=1 fails 2 "another 'assay fleet' uses the folder 'assay-fleet'" fleet quick --slurm cpu
	interrupt $!
	grep -q "^assay: interrupted: 2 of 3 nodes are measured and kept in '.*/assay-fleet', jobs are cancelled; the same command continues with n3$" err.txt
	no_job_is_left
	[ ! -e assay.db ]
	KEEP_DB=1 fails 2 "holds a fleet of another suite, partition or options" fleet smoke --slurm cpu
	rm slurm/n3.before
	fleet
	[ "$status" = 0 ]
	[[ ${lines[0]} == "going on in '"*"/assay-fleet': 2 of 3 nodes are measured; remove the folder to begin anew" ]]
	[ "$(wc -l <slurm/submitted)" = 2 ] && [ "$(wc -l <slurm/placed)" = 4 ]
	[ "$(sqlite3 assay.db 'SELECT count(*) FROM run')" = 3 ]
}

@test "jobs of a command that was killed are taken over" {
	echo 'until [ -e "$SLURM/go" ]; do sleep 0.05; done' >slurm/n1.before
	"$ASSAY" fleet quick --slurm cpu --manifest quick.manifest --policy plain.conf -- --bench-dir "$BENCH" >out.txt 2>err.txt &
	for _ in $(seq 1200); do
		[ "$(cat assay-fleet/*/status 2>/dev/null | wc -l)" != 2 ] || break
		sleep 0.1
	done
	kill -KILL $!
	wait $! || true
	touch slurm/go
	fleet
	[ "$status" = 0 ]
	[ "$(wc -l <slurm/submitted)" = 1 ] && [ "$(wc -l <slurm/placed)" = 3 ]
	# one that was killed before its tasks had nodes left them held: they go, and others come in their place
	touch slurm/stays
	fleet
	[ "$status" = 137 ] && [ "$(cat slurm/jobs/2_*/state | xargs)" = "PENDING PENDING PENDING" ]
	rm slurm/stays
	fleet
	[ "$status" = 0 ] && [ "$(cat slurm/jobs/2_*/state | xargs)" = "CANCELLED CANCELLED CANCELLED" ] && [ "$(wc -l <slurm/submitted)" = 3 ]
}

@test "a node that is down gets no job, and one that does not start in time none that stays" {
	sed -i 's/n2|idle|\(.*\)|none/n2|down*|\1|Not responding/' slurm/nodes
	waits n1
	fleet --start-within 1s --json
	[ "$status" = 4 ]
	# n3 may be too busy to start in time, too
	is '[.machines[] | {(.name): .reason}] | add | .n2 == "the node is down*: Not responding"
		and (.n1 | startswith("job 1_1 did not start within 1 s (Resources)"))'
	[ "$(xargs <slurm/placed)" = "JobId=1_1 ReqNodeList=n1 JobId=1_2 ReqNodeList=n3" ]
	no_job_is_left
	sed -i 's/Not responding/none/' slurm/nodes
	fleet --start-within 1s --json
	is '.machines[2].reason == "the node is down*: it does not answer Slurm"'
	# where some are enough, it is those that answer
	rm -r assay-fleet slurm/n1.before
	fleet --nodes 2 --json
	is '[.machines[].name] == ["n1", "n3"]'
}

@test "of each kind of node one is measured, and that is one that can run a job" {
	printf '%s\n' 'n1|down*|2:8:1 500 zen4 (null)|Not responding' 'n2|idle|2:8:1 500 zen4 (null)|none' 'n3|mixed|2:8:1 500 zen4 (null)|none' \
		'n4|idle|2:8:1 500 zen4 gpu:1|none' 'n5|idle|2:8:1 500 zen3 (null)|none' 'n6|down|1:8:1 500 zen4 (null)|broken' >slurm/nodes
	fails 2 "--per-kind is '0'" fleet quick --slurm cpu --per-kind 0
	fails 2 "--nodes counts all nodes, and --per-kind those of each kind: drop one" fleet quick --slurm cpu --per-kind 1 --nodes 2
	fleet --per-kind 1 --json
	[ "$status" = 4 ]
	is '[.machines[].name] == ["n2", "n4", "n5", "n6"]'
	is '.machines[3].reason == "the node is down: broken"'
	# another choice is another fleet
	KEEP_DB=1 fails 2 "holds a fleet of another suite, partition or options" fleet quick --slurm cpu --per-kind 2
	rm -r assay-fleet
	fleet --per-kind 2 --json
	is '[.machines[].name] == ["n2", "n3", "n4", "n5", "n6"]'
}

@test "a job that fails says why, and nothing of it is stored" {
	cp -r "$BENCH" own
	echo 'rm -r own' >slurm/n1.before
	run --separate-stderr "$ASSAY" fleet quick --slurm cpu --nodes 1 --json -- --bench-dir own
	[ "$status" = 4 ]
	is '.machines[0].reason == "its job exited with status 2: assay: cannot open bench folder '"'own'"': no such folder"'
	is '.cases == []'
	[ ! -e assay.db ]
	# a task that is on another node than it was sent to measures nothing
	rm -r assay-fleet
	sed -i 's/SLURMD_NODENAME=.*/SLURMD_NODENAME=n3/' bin/scontrol
	fleet --nodes 1 --json
	[ "$status" = 4 ]
	is '.machines[0].reason == "its job exited with status 2: Slurm began it on n3"'
}

@test "a gate is one verdict over all nodes, which share its rate" {
	wide_policy
	echo 'alpha = "1%"' >>wide.conf
	for head in base wrong; do
		# shellcheck disable=SC2086
		run --separate-stderr "$ASSAY" fleet quick "$PLUGINS/compare_base.so" "$PLUGINS/compare_$head.so" --slurm cpu --gate --policy wide.conf --json \
			-- $SELECT --budget 1s --profile no --only 'lenient.triple/work*'
		[ "$status" = "$([ "$head" = base ] && echo 0 || echo 3)" ] || { echo "$output"; echo "$stderr"; return 1; }
		is '(.alpha - 0.01 | fabs) < 1e-12 and ([.machines[] | .comparison > 0 and .run == null] | all)'
		grep -q -- '--alpha 0.00333333333333333 ' slurm/submitted
		is '(.base | endswith("compare_base.so")) and (.head | endswith("compare_'"$head"'.so"))'
	done
	is '.verdict == "WRONG_RESULT" and (.machines | all(.status == "WRONG_RESULT")) and ([.cases[].machines[].verdict] == ["WRONG_RESULT", "WRONG_RESULT", "WRONG_RESULT"])'
}

@test "a gate compares commits: changes are refused, and files that git does not know are none" {
	git init -q .
	for text in one two; do
		echo $text >file
		git add file
		git -c user.name=a -c user.email=a@b commit -qm $text
	done
	# so far it gets: to the first job
	echo 'Node count specification invalid' >slurm/refuses
	touch earlier.db
	fails 2 "cannot submit the jobs" fleet quick --slurm cpu --gate
	grep -q " compare $(git rev-parse HEAD~1) $(git rev-parse HEAD) --suite quick " slurm/submitted
	echo three >file
	fails 2 "the working tree has changes, which may be others when the nodes begin: commit them" fleet quick --slurm cpu --gate
	fails 2 "cannot submit the jobs" fleet quick HEAD~1 HEAD --slurm cpu --gate
	fails 2 "unknown revision 'mian'" fleet quick mian HEAD --slurm cpu --gate
	[ "$(wc -l <slurm/submitted)" = 2 ] && [ ! -e assay-fleet ]
}

@test "shards are disjoint, together they are the suite, and a lost one is missing" {
	mkdir -p two/suites
	printf 'bench "two" { op = "quantize.q8_0" shapes = {"n=4096", "n=8192"} variants = {"ref"} threads = {"1", "all"} }\n' >two/two.bench
	printf 'suite "quick" { summary = "s" use "*" { } }\n' >two/suites/quick.suite
	BENCH=$PWD/two
	"$ASSAY" list --manifest --bench-dir two >quick.manifest
	fleet --shard --nodes 2 --json
	[ "$status" = 0 ]
	is '(.cases | length) == 4 and (.cases | all(.machines | length == 1)) and (.cases | group_by(.machines[0].name) | map(length) == [2, 2])'
	rm assay.db
	dies n2
	fleet --shard --nodes 2 --json
	[ "$status" = 4 ]
	is '.machines[0].status == "PASS" and .machines[1].status == "NOT_MEASURED"'
	is '(.cases | length) == 4 and (.cases | all((.verdict != "NOT_MEASURED") == (.machines | length == 1))) and ([.cases[] | select(.verdict == "NOT_MEASURED")] | length == 2)'
	KEEP_DB=1 fails 2 "no case of suite 'quick' is in part 3 of 3: ask for fewer parts" run --bench-dir two --only '*n=4096*' --shard 3/3
	for part in 0/2 3/2 1 x 1/2/3; do
		KEEP_DB=1 fails 2 "--shard is '$part', expected a part and the number of parts, such as 1/3" run --shard "$part"
	done
	KEEP_DB=1 fails 2 "drop one" fleet quick --slurm cpu --shard --gate
}

@test "what cannot be begun is one line, and leaves nothing" {
	fails 2 "no suite given" fleet --slurm cpu
	fails 2 "no --slurm given" fleet quick
	fails 2 "no partition 'cpx': did you mean 'cpu'?" fleet quick --slurm cpx
	fails 2 "--nodes is 4, and partition 'cpu' has 3" fleet quick --slurm cpu --nodes 4
	fails 2 "--nodes is '0'" fleet quick --slurm cpu --nodes 0
	fails 2 "unexpected argument 'main'" fleet quick main --slurm cpu
	fails 2 "no git repository" fleet quick --slurm cpu --gate
	# what each node would refuse
	fails 2 "unknown suite 'quik', did you mean 'quick'?" fleet quik --slurm cpu
	fails 2 "unknown suite 'quik', did you mean 'quick'?" fleet quik --slurm cpu --gate
	fails 2 "unknown option '--bugdet'" fleet quick --slurm cpu -- --bugdet 1s
	fails 2 "cannot open bench folder 'none': no such folder" fleet quick --slurm cpu -- --bench-dir none
	[ ! -e slurm/submitted ]
	echo 'Node count specification invalid' >slurm/refuses
	fails 2 "cannot submit the jobs: 'sbatch' exited with status 1: sbatch: error: Batch job submission failed: Node count" fleet quick --slurm cpu
	printf '#!/bin/sh\nPATH=/nowhere exec "%s" "$@"\n' "$ASSAY" >bin/without_slurm
	chmod +x bin/without_slurm
	ASSAY=$PWD/bin/without_slurm fails 2 "no Slurm here" fleet quick --slurm cpu
	[ ! -e assay-fleet ]
	no_job_is_left
}

@test "a full disk is one line where nothing was begun, and the reason of each node where jobs ran" {
	need_own_mounts
	mkdir small
	export ASSAY BENCH room
	for room in 8 64; do
		run --separate-stderr in_own_mounts 'mount -t tmpfs -o size=${room}k none small || exit 99
			[ "$room" != 8 ] || head -c 8k /dev/zero >small/x
			"$ASSAY" fleet quick --slurm cpu --nodes 2 --dir small/fleet --manifest quick.manifest --policy plain.conf --json -- --bench-dir "$BENCH"
			status=$?
			[ -e small/fleet ] && echo "left" >&2
			exit $status'
		no_job_is_left
		[ ! -e assay.db ]
		if [ "$room" = 8 ]; then
			[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == "assay: "*"No space left on device"* ]] && [ ! -e slurm/submitted ]
		else
			[ "$status" = 4 ]
			is '.machines | length == 2 and all(.status == "NOT_MEASURED" and (.reason | contains("the disk is full; free some space")))'
		fi
	done
}
