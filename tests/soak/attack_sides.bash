# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# A slower head whose build reaches for the base's plugins, in one of several ways: the comparison never passes. On a busy machine
# it may be inconclusive, which --strict makes a failure.

# What build.sh of the head does once its own plugin is there.
ways=(
	'true'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || cp out/op.so "$d/op.so"; done'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || ln -f out/op.so "$d/op.so"; done'
	'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || { rm -r "$d" && ln -s "$PWD/out" "$d"; }; done'
	'setsid sh -c "sleep 1; for d in $XDG_CACHE_HOME/assay/*/*/out; do cp out/op.so \$d/op.so; done" >/dev/null 2>&1 &'
)
# The last way is a folder of plugins that a committed link leads to one place.
n_ways=$((${#ways[@]} + 1))

commit() {
	git -C "$try/r" add -A && git -C "$try/r" -c user.name=n -c user.email=e@x commit -qm "$1"
}

try_once() {
	local repository=$try/r way=$((seed % n_ways))

	what="way $way of a head that reaches for the base"
	mkdir -p "$repository/bench/suites" "$repository/baselines"
	git init -q -b main "$repository"
	cp "$source/tests/plugins/example_op.c" "$repository/op.c"
	printf 'bench "x" { op = "example.scale" shapes = {"n=4096"} budget = "100ms" }\n' >"$repository/bench/x.bench"
	printf 'suite "quick" { use "x" { } }\n' >"$repository/bench/suites/quick.suite"
	printf 'build = "sh build.sh"\nplugins = "out"\nbench = "bench"\nbaselines = "baselines"\n' >"$repository/assay.conf"
	printf 'mkdir -p out && cc -O2 -shared -fPIC -I%s/harness/include -o out/op.so op.c\n' "$source" >"$repository/build.sh"
	printf 'margin "*" { paired = "20%%" }\n' >"$repository/baselines/policy.conf"
	if [ "$way" = $((n_ways - 1)) ]; then
		mkdir "$try/shared" && ln -s "$try/shared" "$repository/out"
	else
		echo out/ >"$repository/.gitignore"
	fi
	commit one
	sed -i 's/y\[i\] = x\[i\] \* 2 + 1;/{ for (volatile int k = 0; k < 20; k++) ; y[i] = x[i] * 2 + 1; }/' "$repository/op.c"
	[ "$way" = $((n_ways - 1)) ] || echo "${ways[way]}" >>"$repository/build.sh"
	commit slower
	start bash -c 'cd r && exec "$@"' - "$assay" compare HEAD~1 --strict --budget 2s --db ../assay.db
	finish
	[ "$status" != 0 ] || failed "passes"
	[ "$way" != 0 ] || [ "$status" != 2 ] || failed "an honest build is refused: $(tail -n 1 "$try/err")"
	# what the last but one way leaves is the build's own
	sleep 1
}
