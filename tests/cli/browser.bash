# SPDX-License-Identifier: Apache-2.0
# A headless Chromium for tests of pages, driven through the pipe of its DevTools protocol: messages are JSON, ended by a NUL.
# It gets no network: its proxy is a port where nobody listens, and each request that it tries is kept.

# The program, or nothing: Debian's smaller package, then the whole browser.
browser_program() {
	local name
	for name in chromium-headless-shell chromium chromium-browser; do
		if command -v "$name"; then
			return
		fi
	done
}

browser_start() {
	local program
	! grep -q sanitizers "$ASSAY_BUILD/features" || skip "no sanitizer looks into a browser: a plain build tests the same pages"
	program=$(browser_program)
	[ -n "$program" ] || skip "no browser: the package chromium-headless-shell has one"
	# a browser without any font ends at the first word that it draws
	! command -v fc-list >/dev/null || [ -n "$(fc-list)" ] || skip "no fonts: the package fonts-dejavu-core has some"
	mkfifo "$BATS_TEST_TMPDIR/to_browser" "$BATS_TEST_TMPDIR/from_browser"
	# its own home, so that nothing of a user's is read; without a sandbox, because tests may run as root in a container
	HOME=$BATS_TEST_TMPDIR timeout 600 "$program" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
		--disable-background-networking --disable-component-update --proxy-server=127.0.0.1:9 --remote-debugging-pipe \
		--user-data-dir="$BATS_TEST_TMPDIR/browser" about:blank 3<"$BATS_TEST_TMPDIR/to_browser" 4>"$BATS_TEST_TMPDIR/from_browser" \
		>"$BATS_TEST_TMPDIR/browser.log" 2>&1 &
	browser_pid=$!
	exec {browser_to}>"$BATS_TEST_TMPDIR/to_browser" {browser_from}<"$BATS_TEST_TMPDIR/from_browser"
	browser_session=
	: >"$BATS_TEST_TMPDIR/browser_events"
	local target
	target=$(browser_call Target.createTarget '{"url":"about:blank"}' | jq -r .result.targetId)
	browser_session=$(browser_call Target.attachToTarget "{\"targetId\":\"$target\",\"flatten\":true}" | jq -r .result.sessionId)
	local domain
	for domain in Page Runtime Log Network; do
		browser_call $domain.enable >/dev/null
	done
}

browser_stop() {
	[ -n "${browser_pid:-}" ] || return 0
	exec {browser_to}>&- {browser_from}<&-
	kill "$browser_pid" 2>/dev/null || true
	wait "$browser_pid" 2>/dev/null || true
}

# browser_call METHOD [PARAMETERS]: the answer, as JSON. There is one call at a time, so that all have one number. Events that come before are kept in browser_events.
browser_call() {
	local parameters='{}' message
	[ -z "${2:-}" ] || parameters=$2
	printf '{"id":1,"method":"%s","params":%s%s}\0' "$1" "$parameters" "${browser_session:+,\"sessionId\":\"$browser_session\"}" \
		>&"$browser_to"
	while IFS= read -r -d '' -t 120 -u "$browser_from" message; do
		if [[ $message == "{\"id\":1,"* ]]; then
			if [[ $message == *'"error":{"code"'* ]]; then
				printf '%s: %s\n' "$1" "$message" >&2
				return 1
			fi
			printf '%s\n' "$message"
			return
		fi
		printf '%s\n' "$message" >>"$BATS_TEST_TMPDIR/browser_events"
	done
	printf 'no answer of the browser to %s\n' "$1" >&2
	return 1
}

# page_value EXPRESSION: what it is in the page, as JSON; a promise is waited for.
page_value() {
	local asked answer
	asked=$(command jq -nc --arg e "$1" '{expression: $e, returnByValue: true, awaitPromise: true}')
	answer=$(browser_call Runtime.evaluate "$asked") || return
	command jq -c '.result | if .exceptionDetails then .exceptionDetails | .exception.description // .text | error
		else .result.value end' <<<"$answer"
}

# page_is EXPRESSION: it is true in the page.
page_is() {
	local value
	value=$(page_value "$1")
	[ "$value" = true ] || { printf 'not so in the page: %s\n%s\n' "$1" "$value"; return 1; }
}

# page_until EXPRESSION: wait until it is true in the page.
page_until() {
	for _ in $(seq 1200); do
		[ "$(page_value "$1" 2>/dev/null)" != true ] || return 0
		sleep 0.1
	done
	page_is "$1"
}

# browser_screen WIDTH SCHEME [MEDIA]: of what size the window is, light or dark, screen or print.
browser_screen() {
	browser_call Emulation.setDeviceMetricsOverride "{\"width\":$1,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}" >/dev/null
	browser_call Emulation.setEmulatedMedia \
		"{\"media\":\"${3:-}\",\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$2\"}]}" >/dev/null
}

# browser_open FILE|URL: show it, with the checks of page_checks.js, once its script is done.
browser_open() {
	local url=$1
	[[ $url == http:* ]] || url=file://$url
	browser_call Page.navigate "{\"url\":\"$url\"}" >/dev/null
	page_value 'new Promise(done => document.readyState === "complete" ? done() : addEventListener("load", done))' >/dev/null
	page_value "$(cat "$ASSAY_SOURCE/tests/cli/page_checks.js"); true" >/dev/null
}

# looks_right: in light, dark and print, wide and narrow, and then as it was; and no value is one that only scripts know.
looks_right() {
	local setting
	page_is '[...document.querySelectorAll("dd, td")].map(e => e.textContent).filter(t => /^(false|true|null|undefined|NaN|\[object.*)$/.test(t)).join() === ""'
	for setting in '1280 dark' '400 light' '400 dark' '760 light print' '1280 light'; do
		# shellcheck disable=SC2086
		browser_screen $setting
		# pictures are drawn anew for a new width
		page_value 'new Promise(done => setTimeout(done, 250))' >/dev/null
		[ "$(page_value 'checkPage()')" = '[]' ] || { echo "$setting: $(page_value 'checkPage().join("; ")')"; return 1; }
	done
}

# laid_out: the parts of the page stand where its styles put them, on the grounds of light or dark.
laid_out() {
	# pictures are drawn anew for a new width
	page_value 'new Promise(done => setTimeout(done, 250))' >/dev/null
	[ "$(page_value 'checkLayout()')" = '[]' ] || { page_value 'checkLayout().slice(0, 8).join("; ")'; return 1; }
}

# browser_key KEY [MODIFIERS]: press and release; Enter as a keyboard does it.
browser_key() {
	local text=''
	[ "$1" != Enter ] || text=',"text":"\r"'
	browser_call Input.dispatchKeyEvent "{\"type\":\"keyDown\",\"key\":\"$1\",\"code\":\"$1\",\"windowsVirtualKeyCode\":$([ "$1" = Tab ] && echo 9 || echo 13),\"modifiers\":${2:-0}$text}" >/dev/null
	browser_call Input.dispatchKeyEvent "{\"type\":\"keyUp\",\"key\":\"$1\",\"code\":\"$1\",\"modifiers\":${2:-0}}" >/dev/null
}

# Complaints of the browser so far: exceptions, console messages, violations of the page's policy; then requests
# for anything but files of this test.
browser_complaints() {
	page_value true >/dev/null
	jq -r 'select(.method == "Runtime.exceptionThrown" or .method == "Log.entryAdded" or .method == "Runtime.consoleAPICalled"
			or (.method == "Network.requestWillBeSent" and (.params.request.url | startswith("file://") or startswith("about:") or startswith("data:") | not)))
		| .params | tostring' "$BATS_TEST_TMPDIR/browser_events"
}
