#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# completion: what the program offers for a word, and that each shell takes it.
load helpers

# offers WORD...: what stands behind 'assay' and may follow, without help texts.
offers() {
	"$ASSAY" __complete "$@" | cut -f1
}

@test "commands, options, values and arguments are offered as their tables have them" {
	[ "$(offers r)" = $'run\nreport' ]
	"$ASSAY" __complete ru | grep -qx $'run\tmeasure a suite and store the results'
	[ "$(offers "" | wc -l)" = "$(($("$ASSAY" --help | grep -c '^  [a-z]*  *[a-z]') - 1 + 2))" ]
	offers run -- | grep -qx -e --suite
	! offers run -- | grep -qx -e --cache-model
	[ "$(offers run --cache)" = --cache-model ]
	[ "$(offers gate --suspects "")" = $'fail\npass' ]
	[ "$(offers gate --suspects=f)" = --suspects=fail ]
	[ "$(offers gate --policy "")" = :files ]
	[ "$(offers profile "")" = $'cpu\nheap\nthreads\ntrace\ngpu\nall' ]
	[ "$(offers db m)" = merge ]
	[ "$(offers db merge "")" = :files ]
	[ "$(offers db merge a.db "")" = :files ]
	[ "$(offers run --bench-dir "$BENCH" --suite q)" = quick ]
	offers new variant "" | grep -qx quantize.q8_0
	[ "$(offers import "" | wc -l)" = 7 ]
	[ "$(offers init --reads=hyper)" = --reads=hyperfine ]
	[ "$(offers export o)" = openmetrics ]
	[ "$(offers run --isa avx51)" = $'avx512\navx512vbmi2\navx512vnni' ]
	[ "$(offers run --counters cache,br)" = cache,branch ]
	[ "$(offers run --counters=cache,br)" = --counters=cache,branch ]
	offers generate "" | grep -qx tiny
	! offers generate "" | grep -qx none
	[ "$(offers serve --profile cpu,th)" = cpu,threads ]
	[ "$(offers plot trend --by "")" = $'commit\ndate' ]
	[ "$(offers compare --variants --plugin "$ASSAY_BUILD/tests/plugins/bad_crash.so" quantize.q8_0/re)" = quantize.q8_0/ref ]
	! offers compare "" | grep -qx quantize.q8_0/ref
	[ -z "$(offers no-such-command "")" ] && [ -z "$(offers run --no-such-option=x)" ]
	[ ! -e assay.db ]
	if command -v strace >/dev/null; then # plugins are asked by a copy of the process, and no other process is looked at
		strace -f -e trace=execve,openat -o asked.txt "$ASSAY" __complete new variant "" >/dev/null
		[ "$(grep -c execve asked.txt)" = 1 ]
		[ ! -e /proc/thread-self/children ] || ! grep -q '"/proc"' asked.txt
	fi
}

@test "what is stored is offered by its names, and revisions as git knows them" {
	ASSAY_DETERMINISTIC=1 assay run --bench-dir "$BENCH" >/dev/null
	assay baseline save golden >/dev/null
	[ "$(offers show la)" = last ]
	offers show "" | grep -qx r1
	offers show r1 quant | grep -q '^quantize.*/ref/'
	[ "$(offers show r1 quant | wc -l)" = "$(assay show last --json | jq '[.cases[].key | select(startswith("quant"))] | length')" ]
	[ "$(offers gate --baseline g)" = golden ]
	if command -v strace >/dev/null; then # for runs, comparisons and profiles the database is opened once
		strace -e trace=openat -o opened.txt "$ASSAY" __complete show "" >/dev/null
		[ "$(grep -c '/assay.db"' opened.txt)" = 1 ]
	fi
	"$ASSAY" __complete diff --metric tim | grep -qx $'time_s\ttime per call, median of the samples'
	[ "$(offers plot sweep --axis "")" = "$(assay show last --json | jq -r '[.cases[].axes | keys[]] | unique | .[]')" ]
	[ "$(offers history x --machine "")" = "$(assay show last --json | jq -r .run.machine.label)" ]
	if assay profile cpu "$(offers show r1 quant | head -n 1)" --bench-dir "$BENCH" --for 300ms --name before >/dev/null; then
		[ "$(offers profile --name "")" = before ]
		[ "$(offers show b)" = before ]
	fi
	[ -z "$(offers gate --db other.db --baseline g)" ]
	git init -q -b trunk .
	git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
	git branch feature
	[ "$(offers compare f)" = $'feature\n:files' ]
}

@test "every option offers its values, but for numbers, names to be given and what only other machines have" {
	local command option value

	ASSAY_DETERMINISTIC=1 assay run --bench-dir "$BENCH" >/dev/null
	assay baseline save golden >/dev/null
	git init -q .
	for command in $("$ASSAY" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
		"$ASSAY" "$command" --help-all | sed -n 's/^ .* --\([a-z-]*\)=\([^ ].*\)/\1 \2/p' >options.txt
		while read -r option value; do
			case $option=${value%%  *} in
			*=N | *=TIME | *=SHARE | *=SIZE | *=DATE | *=BYTES | *=DAYS | *=HZ | *=RATE | *=I/N | *=TEXT) ;;
			cpus=* | slowdown=* | listen=* | label=* | allow-host=* | parameter-list=*) ;;
			slurm=* | device=* | replay=*) ;;
			name=*) [ "$command" = time ] || [ "$command" = profile ] ;;
			profile=NAME) [ "$command" = generate ] ;;
			*) [ -n "$(offers "$command" "--$option" "")" ] || { echo "$command --$option=$value"; return 1; } ;;
			esac
		done <options.txt
	done
}

@test "bash completes a line with names of files and values behind '='" {
	cat >complete.bash <<-'SH'
		source "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		read -ra COMP_WORDS <<<"${2//=/ = }"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_assay 2>/dev/null
		printf '%s\n' "${COMPREPLY[@]}"
	SH
	export PATH=$ASSAY_BUILD/bin:$PATH
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --suspects f')" = fail ]
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --suspects=f')" = fail ]
	touch policy.conf
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --policy pol')" = policy.conf ]
}

# terminal_of SHELL: it waits for a line in a terminal of its own, with nothing of the user's.
terminal_of() {
	local start

	case $1 in
	bash) start="bash --noprofile --rcfile $ASSAY_SOURCE/harness/cli/completion/assay.bash -i" ;;
	zsh)
		printf '%s\n' "fpath=('$ASSAY_SOURCE/harness/cli/completion' \$fpath)" 'autoload -U compinit' 'compinit -u -D' >.zshrc
		start="zsh -d -i"
		;;
	fish) start="fish --no-config -C 'source $ASSAY_SOURCE/harness/cli/completion/assay.fish'" ;;
	esac
	tmux -S "$PWD/$1" -f /dev/null new-session -d -x 120 -y 30 \
		"env -i HOME=$PWD TERM=screen LC_ALL=C.UTF-8 PATH=$ASSAY_BUILD/bin:/usr/bin:/bin $start"
}

teardown() {
	for shell in bash zsh fish; do
		[ ! -S $shell ] || tmux -S "$PWD/$shell" kill-server 2>/dev/null || true
	done
}

# shows SHELL TEXT: the terminal has it, soon.
shows() {
	for _ in $(seq 300); do
		! tmux -S "$PWD/$1" capture-pane -p | grep -qF -e "$2" || return 0
		sleep 0.1
	done
	tmux -S "$PWD/$1" capture-pane -p
	return 1
}

@test "bash, zsh and fish complete what is typed in a terminal" {
	local shell missing=''

	command -v tmux >/dev/null || skip "no terminal: the package tmux has one"
	[ -e /dev/ptmx ] || skip "no pseudo-terminals: /dev/pts is not mounted"
	for shell in bash zsh fish; do
		command -v $shell >/dev/null || { missing+=" $shell"; continue; }
		terminal_of $shell
		tmux -S "$PWD/$shell" send-keys -l 'assay com'
		shows $shell 'assay com'
		tmux -S "$PWD/$shell" send-keys Tab
		shows $shell 'assay compare'
		tmux -S "$PWD/$shell" send-keys -l -- '--suspects=f'
		tmux -S "$PWD/$shell" send-keys Tab
		shows $shell 'assay compare --suspects=fail'
		tmux -S "$PWD/$shell" send-keys -l -- '--variants quantize.q8_0/re'
		tmux -S "$PWD/$shell" send-keys Tab
		shows $shell '--variants quantize.q8_0/ref'
	done
	[ -z "$missing" ] || skip "not tried:$missing"
}
