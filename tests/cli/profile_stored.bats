#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profiles that are kept: shown, compared, carried elsewhere, cleaned of names, and on a disk that is full.
load profile_helpers

@test "a profile is stored by its name, shown, carried elsewhere and pruned" {
	needs_samples
	fails 2 "bad --name 'last': 'last', numbers, r3, c3 and p3 are taken" profile cpu --name last -- ./split 4000
	fails 2 "bad --name ''" profile cpu --name '' -- ./split 4000
	fails 2 "--lines, --output, --kind and --sanitize apply to profiles" show last x --lines
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --name before --json -- ./split 4000
	[ "$status" = 0 ]
	is '.profile.id == 1 and .profile.name == "before"'
	taken=$output
	run --separate-stderr "$ASSAY" show before --json -o before.svg
	[ "$status" = 0 ] && [ -s before.svg ]
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	"$ASSAY" report before -o before.html && grep -q '<title>' before.html
	KEEP_DB=1 fails 2 "no profile 'p9', expected before" report p9 -o none.html
	KEEP_DB=1 fails 2 "what to show is 'befor': did you mean 'before'?" show befor
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 4000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 4000 >/dev/null
	run --separate-stderr "$ASSAY" show last --json
	is '.profile.id == 3 and .profile.name == "after"'
	run --separate-stderr "$ASSAY" db merge assay.db --db other.db --json
	is '.profiles_added == 3'
	run --separate-stderr "$ASSAY" db merge other.db --json
	is '.profiles_added == 0 and .known == 3'
	run --separate-stderr "$ASSAY" db prune --keep-runs 1 --json
	is '.profiles_removed == 1'
	run --separate-stderr "$ASSAY" show p1
	[ "$status" = 2 ]
}

@test "profiles are taken again and again, and the newest of them stay" {
	needs_samples
	fails 2 "--every, --keep and --keep-days store profiles: give them a --name" profile cpu --every 1s -- ./split 4000
	"$ASSAY" profile cpu --rate 4999 --every 100ms --keep 2 --name hourly --json -- ./split 8000 >taken &
	pid=$!
	until [ "$(grep -c '"schema"' taken)" -gt 3 ]; do sleep 0.05; done
	interrupt "$pid"
	[ "$(jq -s 'map(.profile.id) | . == [range(1; length + 1)] and length > 3' taken)" = true ]
	last=$(jq -s 'last | .profile.id' taken)
	! command -v sqlite3 >/dev/null || [ "$(sqlite3 assay.db 'SELECT count(*) FROM profile')" = 2 ]
	run --separate-stderr "$ASSAY" show hourly --json
	is ".profile.id >= $last"
}

@test "a file that cannot be written is told before anything runs" {
	mkdir folder.svg p.heap.svg readonly
	chmod a-w readonly
	for kind in cpu heap threads trace gpu all; do
		fails 2 "No such file or directory" profile $kind -o none/p.json -- touch ran
		fails 2 "cannot write 'ran" profile $kind -o ran -- touch ran
		[ ! -e ran ] || { echo "$kind ran it"; false; }
	done
	fails 2 "cannot write 'folder.svg': it is a folder" profile cpu -o folder.svg -- touch ran
	fails 2 "cannot write 'p.heap.svg': it is a folder" profile all -o p.svg -- touch ran
	# root may write everywhere
	[ "$(id -u)" = 0 ] || fails 2 "cannot write 'readonly/p.svg': Permission denied" profile cpu -o readonly/p.svg -- touch ran
	[ ! -e ran ] && [ -z "$(find . -name '*.tmp')" ]
}

@test "a profile says what bounds its case, by the newest run of the same build" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" profile cpu "$key" --for 300ms --name before >/dev/null
	KEEP_DB=1 fails 2 "nothing is known of what bounds '$key': 'assay run' has to measure it first" show before --bottlenecks
	"$ASSAY" run --only "$key" --only 'stream.read/ref/*/t=1/*' --only 'peak.f32_fma/ref/*/t=1/*' --budget 20ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" show before --bottlenecks --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.bottleneck_run == 1 and .bottleneck.key == "'"$key"'" and (.bottleneck.bound | IN("unknown", "memory", "compute", "latency")) and
		(.bottleneck.roof_frac | . == null or . > 0)'
	is '.bottleneck.advice | all(.priority >= 1 and .priority <= 3) and ([.[].priority] | . == sort)'
	# the profile is the evidence of allocation
	is '.bottleneck.missing | test("allocations") | not'
	run --separate-stderr "$ASSAY" show before --bottlenecks
	[[ $output == *"bound by "*", by run 1: "* ]]
	"$ASSAY" profile cpu --name prog -- ./split 4000 >/dev/null
	KEEP_DB=1 fails 2 "--bottlenecks needs the profile of a case, and this one is of a program" show prog --bottlenecks
}

@test "a full disk, a folder that is not ours and an ordinary user leave nothing half-written" {
	needs_samples
	# no file may be longer than 4 KiB: a page or a picture is, and the one that was there stays
	printf old >p.html
	run --separate-stderr bash -c 'ulimit -f 4; exec "$0" profile cpu -o p.html -- ./split 4000' "$ASSAY"
	[ "$status" = 2 ] || { echo "$status $stderr"; false; }
	[ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == "assay: "*p.html* ]]
	[ "$(cat p.html)" = old ]
	# what was measured is shown all the same
	[[ $output == "CPU profile of ./split 4000"*seventy* ]]
	run --separate-stderr bash -c 'ulimit -f 60; exec "$0" profile cpu --rate 4999 --name x --db full.db -- ./split 4000' "$ASSAY"
	[ "$status" = 2 ] && [[ $stderr == "assay: "*full.db* ]] || { echo "$status $stderr"; false; }
	[ "$(find . -name '*.tmp*' -o -name '.*.html*' | wc -l)" = 0 ]
	# a name that would be markup is text
	cp split '<script>alert(1)'
	run --separate-stderr "$ASSAY" profile cpu --name '<script>alert(2)</script>' -o s.html -- './<script>alert(1)' 4000
	[ "$status" = 0 ]
	run --separate-stderr "$ASSAY" show '<script>alert(2)</script>' -o s.svg
	[ "$status" = 0 ]
	! grep -F '<script>alert' s.html s.svg
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0 # it is the ordinary user already
	# the folder of a test is root's alone
	theirs=$(mktemp -d)
	chmod 755 "$theirs"
	mkdir "$theirs/mine"
	cp split "$theirs"
	chown 65534 "$theirs/mine"
	cd "$theirs" || return 1
	user=(setpriv --reuid 65534 --clear-groups env "HOME=$theirs/mine" "TMPDIR=$theirs/mine" "$ASSAY")
	if "${user[@]}" --version >/dev/null 2>&1; then
		run --separate-stderr "${user[@]}" profile cpu --db mine/a.db --name own -o mine/o.html -- ./split 8000
		[ "$status" = 0 ] && [ -s mine/o.html ] || [[ $stderr == *"forbids to sample"* ]] || { echo "$stderr"; rm -rf "$theirs"; false; }
		run --separate-stderr "${user[@]}" profile cpu -o theirs.html -- ./split 8000
		[ "$status" = 2 ] && [[ $stderr == *theirs.html* || $stderr == *"forbids to sample"* ]] && [ ! -e theirs.html ] || { echo "$stderr"; rm -rf "$theirs"; false; }
		run --separate-stderr "${user[@]}" profile heap --db mine/a.db --name heap -- ./split 4000
		[ "$status" = 0 ] || [[ $stderr == *sanitizer* ]] || { echo "$stderr"; rm -rf "$theirs"; false; }
	fi
	cd "$BATS_TEST_TMPDIR" && rm -rf "$theirs"
}

@test "--sanitize leaves no path, user or host name in any kind and format" {
	needs_samples
	local kind format host user
	host=$(hostname)
	user=$(id -un)
	mkdir secret_folder
	cp split secret_folder/split
	for kind in cpu heap threads trace; do
		run --separate-stderr "$ASSAY" profile $kind --sanitize --name plain --json -o $kind.a.html -- "$PWD/secret_folder/split" 8000 thread "$host" "/home/$user/x"
		[ "$status" = 0 ] || [[ $stderr == *sanitizer* ]] || { echo "$kind: $stderr"; false; }
		[ "$status" = 0 ] || continue
		printf '%s' "$output" >$kind.a.json
		for format in svg html folded json text; do
			run --separate-stderr "$ASSAY" show plain --kind $kind --sanitize -o $kind.b.$format
			[ "$status" = 0 ] && [ -e $kind.b.$format ] || { echo "$kind $format: $stderr"; false; }
			printf '%s' "$output" >$kind.b.out
		done
		# the file for viewers of traces is not stored
		[ $kind != trace ] || "$ASSAY" profile trace --sanitize -o trace.c.trace -- "$PWD/secret_folder/split" 8000 thread "$host" >trace.c.out
		"$ASSAY" profile $kind --name other -- "$PWD/secret_folder/split" 8000 >/dev/null
		for format in svg html json; do
			run --separate-stderr "$ASSAY" diff plain other --kind $kind --sanitize -o $kind.d.$format
			[ "$status" = 0 ] || [ $format != svg ] || { echo "$kind $format: $stderr"; false; }
			printf '%s' "$output" >$kind.d.out
		done
		grep -q 'split 8000 thread' $kind.b.out
		! grep -l -e secret_folder -e "$PWD" -e "$HOME/" -e "/home/$user" $kind.?.* || { echo "$kind has a path"; false; }
		[ ${#host} -le 2 ] || ! grep -lw -- "$host" $kind.?.* || { echo "$kind has the host"; false; }
		# without it they are there
		run --separate-stderr "$ASSAY" show plain --kind $kind
		[[ $output == *secret_folder* ]]
	done
	[ -e cpu.b.svg ]
}
