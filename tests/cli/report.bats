#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# report: which run or comparison it takes, what bad input gets, and the page in a browser.
load compare_helpers
load browser

teardown() {
	browser_stop
}

@test "report takes one run or comparison and the name of a file" {
	fails 2 "no output given: name one with -o FILE.html" report
	fails 2 "unexpected argument '2': report takes one run, comparison or profile" report 1 2 -o r.html
	fails 2 "no database 'assay.db'" report -o r.html
	touch empty.db
	fails 2 "database 'empty.db' is empty" report --db empty.db -o r.html
	[ ! -e r.html ]
}

@test "report shows the newest of both, or the one that is named" {
	measure --only dequantize >/dev/null
	export KEEP_DB=1
	assay report -o r.html >out
	[ "$(cat out)" = "run 1 (1 case) is in r.html" ]
	fails 2 "no run 7 in 'assay.db': the nearest is 1" report r7 -o s.html
	fails 2 "no comparison 1 in 'assay.db'" report c1 -o s.html
	fails 2 "what to report is 'x', expected r3 (a run), c3 (a comparison), p3 (a profile), a label or 'last'" report x -o s.html
	fails 2 "profile" report p1 -o s.html
	fails 2 "cannot write 's.txt': its name must end in .html" report -o s.txt
	fails 2 "none/s.html" report -o none/s.html
	mkdir folder.html
	fails 2 "folder.html" report -o folder.html
	[ -z "$(find . -name 's.*')" ] && [ -z "$(ls folder.html)" ]

	compare base base --budget 300ms
	cp r.html old.html
	assay report -o r.html >out
	[[ $(cat out) == "comparison 1 ("*") is in r.html" ]]
	grep -q '<title>Comparison 1: ' r.html
	assay report last -o again.html >/dev/null
	assay report c1 -o third.html >/dev/null
	# the same results are the same bytes
	cmp r.html again.html && cmp r.html third.html
	assay report r1 -o again.html >out
	cmp old.html again.html
	fails 2 "no comparison 9 in 'assay.db': the nearest is 1" report c9 -o s.html
	fails 2 "no run 9 in 'assay.db': the nearest is 1" report r9 -o s.html
}

@test "a page works in a browser, by mouse and by keyboard, and runs nothing that a name says" {
	browser_start
	ASSAY_PAGE_FILE=$PWD/made.html "$ASSAY_BUILD/tests/test_reports" page >/dev/null 2>&1
	browser_screen 1280 light
	browser_open "$PWD/made.html"
	page_is 'shownKeys().length === 300 && document.title === "Run 12 of suite <b>quick</b>"'
	looks_right
	# the best of each shape comes first, and what failed before it
	page_is 'document.querySelectorAll(".best tbody tr").length === 7 && document.querySelector(".best tbody a.key").textContent === "made.op0"'
	page_is 'document.querySelectorAll(".failed li").length === 13 && document.querySelector("#list h2").textContent === "Failures"'

	# sorting: the most severe first, by time up and down, and back to no other column
	page_is 'shownKeys()[0].startsWith("</script><script>")'
	page_value 'columnOf("Time").querySelector("button").click()' >/dev/null
	page_is 'columnOf("Time").ariaSort === "ascending" && shownKeys()[0] === "made.op0/v0/-/t=1/warm"'
	page_value 'columnOf("Time").querySelector("button").click()' >/dev/null
	page_is 'columnOf("Time").ariaSort === "descending" && shownKeys()[0] === "made.op5/v299/-/t=1/warm"'
	page_value 'columnOf("Case").querySelector("button").click()' >/dev/null
	page_is 'columnOf("Time").ariaSort === null && columnOf("Case").ariaSort === "ascending"'

	# filtering by words and by verdict, and what a screen reader hears of it
	page_value 'document.getElementById("filter").value = "op3 V1"; document.getElementById("filter").dispatchEvent(new Event("input"))' >/dev/null
	page_is 'shownKeys().length > 0 && shownKeys().length < 40 && shownKeys().every(k => k.startsWith("made.op3/v1"))'
	page_is 'document.querySelector("[role=status]").textContent.startsWith(`${shownKeys().length} of 300 cases`)'
	page_value 'document.getElementById("filter").value = ""; document.getElementById("filter").dispatchEvent(new Event("input"))' >/dev/null
	page_value 'document.querySelector("button.REGRESSED").click()' >/dev/null
	page_is 'shownKeys().length === 30 && document.querySelector("button.REGRESSED").ariaPressed === "true"'
	page_value 'document.querySelector("button.REGRESSED").click()' >/dev/null
	page_is 'shownKeys().length === 300'

	# what was skipped is not counted as passed, and a case that the run lacks is named
	page_is 'document.querySelector(".skipped summary").textContent === "1\u00a0case cannot run here: no device (1)".replace("\u00a0", " ") && !shownKeys().includes("made.op6/v6/-/t=1/warm")'
	page_is '["PASS 268", "NOT_MEASURED 2"].every(text => [...document.querySelectorAll(".chips button")].some(b => b.textContent === text))'
	page_value 'location.hash = "#case=made.gone%2Fv%2F-%2Ft%3D1%2Fwarm"' >/dev/null
	page_is 'document.querySelector("#case").textContent.includes("in the manifest but not in the run")'
	page_value 'location.hash = ""' >/dev/null

	# the keyboard alone: to the cases, filter, sort, open one; focus follows
	page_value 'scrollTo(0, 0); document.activeElement.blur()' >/dev/null
	browser_open "$PWD/made.html"
	browser_key Tab
	page_is 'document.activeElement.className === "skip"'
	browser_key Enter
	browser_key Tab
	page_is 'document.activeElement.id === "filter"'
	browser_call Input.insertText '{"text":"v17/"}' >/dev/null
	page_is 'shownKeys().length === 1'
	browser_key Tab
	page_is 'document.activeElement.className === "badge NOT_MEASURED"'
	for _ in 1 2 3; do
		browser_key Tab
	done
	page_is 'document.activeElement === columnOf("Case").querySelector("button")'
	browser_key Enter
	page_is 'columnOf("Case").ariaSort === "ascending"'
	page_value 'document.querySelector("thead th:last-child button").focus()' >/dev/null
	browser_key Tab
	browser_key Enter
	page_is 'location.hash === "#case=made.op3%2Fv17%2F-%2Ft%3D1%2Fwarm" && document.activeElement.tagName === "H2"'
	page_is 'document.activeElement.textContent === "made.op3/v17/-/t=1/warm" && document.getElementById("list").hidden'
	page_is 'document.querySelector("#case").textContent.includes("assay run --seed 42 --only made.op3/v17/-/t=1/warm")'
	page_is '[...document.querySelectorAll("figcaption")].some(e => e.textContent.includes("2 000 samples are shown as 120 groups".replace(/(?<=\d) (?=\d)/g, "\u00a0")))'
	looks_right
	browser_key Tab 8
	browser_key Tab 8
	browser_key Tab 8
	page_is 'document.activeElement.textContent === "All cases"'
	browser_key Enter
	page_is 'document.getElementById("case").hidden && document.activeElement.textContent === "made.op3/v17/-/t=1/warm"'

	# what bounds a case, and advice
	page_value 'location.hash = "#case=made.op0%2Fv0%2F-%2Ft%3D1%2Fwarm"' >/dev/null
	page_is 'document.querySelector(".advice").textContent.startsWith("made: do less (expected ×1.50, at most ×2.00)")'

	# a link to a case opens it, the hostile one as any other; one that is not there says so
	page_value 'location.hash = [...document.querySelectorAll(".cases a.key")].find(a => a.textContent.includes("script")).hash' >/dev/null
	page_is '[...document.querySelectorAll("#case p, #case pre")].some(e => e.textContent.startsWith("</script><script>document.title=")) && document.scripts.length === 2'
	page_is '!document.title.includes("taken") || document.title.startsWith("</script>")'
	looks_right
	page_value 'location.hash = "#case=none"' >/dev/null
	page_is 'document.querySelector("#case .note").textContent === "This page has no such case."'
	[ -z "$(browser_complaints)" ] || { browser_complaints; false; }

	# the policy of the page holds back what is put into it
	page_value 'document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\"window.taken = 1\"><p style=\"color:red\" id=p>"); document.body.append(Object.assign(document.createElement("script"), {textContent: "window.taken = 2"})); fetch("http://192.0.2.1/").catch(() => 0)' >/dev/null
	page_is 'window.taken === undefined && getComputedStyle(document.getElementById("p")).color !== "rgb(255, 0, 0)"'
	browser_complaints | grep -q 'Content Security Policy'
}

# broken WHAT EXPRESSION: with that done to it, the page is WHAT; then it is loaded again.
broken() {
	page_value "$2" >/dev/null
	run laid_out
	[ "$status" = 1 ] && [[ $output == *"$1"* ]] || { echo "$2: $output"; return 1; }
	browser_open "$PWD/made.html"
}

@test "the layout and the colours of a page are right in any font, light and dark, and a broken layout is told" {
	local scheme case='#case=made.op3%2Fv17%2F-%2Ft%3D1%2Fwarm'
	browser_start
	ASSAY_PAGE_FILE=$PWD/made.html "$ASSAY_BUILD/tests/test_reports" page >/dev/null 2>&1
	for scheme in light dark; do
		browser_screen 1280 $scheme
		browser_open "$PWD/made.html"
		laid_out
		page_value "location.hash = '$case'" >/dev/null
		laid_out
		page_value 'location.hash = ""' >/dev/null
	done

	# other fonts, somewhat larger
	browser_screen 1280 light
	browser_open "$PWD/made.html"
	page_value 'for (const e of document.querySelectorAll("*")) e.style.fontFamily = "serif"; document.body.style.zoom = 1.02' >/dev/null
	laid_out

	broken 'has no ground of its own' 'document.styleSheets[0].disabled = true'
	broken 'the list has no table of cases' 'document.querySelector(".cases").style.display = "none"'
	broken 'do not stand beside each other' 'for (const e of document.querySelectorAll(".cases td")) e.style.display = "block"'
	broken 'the page takes 700 of 1280' 'document.body.style.maxWidth = "700px"'
	broken 'in a light page' 'document.body.style.background = "#222"'
	page_value "location.hash = '$case'" >/dev/null
	broken 'shows no picture' 'for (const e of document.querySelectorAll("#case svg")) e.style.display = "none"'
	page_value "location.hash = '$case'" >/dev/null
	broken 'is left by what it draws' 'document.querySelector("#case figure svg :is(path, line, rect, circle)").setAttribute("transform", "translate(5000)")'
}

@test "the page of a run says the verdict that the gate says" {
	manifest
	mkdir baselines
	mv quick.manifest baselines/
	mv plain.conf baselines/policy.conf
	cp "$ASSAY_BUILD"/plugins/{ops,quantize}.so .
	printf 'build = "true"\nplugins = "."\nbaselines = "baselines"\n' >assay.conf
	measure >/dev/null
	run --separate-stderr "$ASSAY" gate --run 1 --json
	[ "$status" = 5 ]
	[ "$(jq -r .verdict <<<"$output")" = INCOMPARABLE ]
	assay report 1 -o run.html >/dev/null
	grep -q '<h1><span class="badge INCOMPARABLE">INCOMPARABLE</span> 3 cases measured, all of them correct.</h1>' run.html
	grep -q 'Times are not judged, because no baseline is stored' run.html
}

@test "pages of a measured run and a comparison work in a browser" {
	browser_start
	measure >/dev/null
	assay report -o run.html >/dev/null
	compare base double
	assay report -o comparison.html >/dev/null
	browser_open "$PWD/run.html"
	page_is 'page.cases.length === 3 && page.cases.every(c => shownKeys().includes(c.key))'
	page_value 'location.hash = caseAddress(page.cases[0].key)' >/dev/null
	page_is 'document.querySelectorAll("#case figure").length === 2'
	browser_open "$PWD/comparison.html"
	page_is 'document.querySelector("h1 .badge").textContent === page.gate.verdict && document.querySelector(".cases td svg") !== null'
	looks_right
	page_value 'location.hash = document.querySelector(".cases a.key").hash' >/dev/null
	page_is 'document.querySelectorAll("#case figure").length >= 3 && document.querySelector("#case code").textContent.includes("assay compare ")'
	looks_right
	# a change that is not shown has its reason in its place
	compare base base
	assay report -o same.html >/dev/null
	browser_open "$PWD/same.html"
	page_is 'page.gate.verdict === "PASS" && document.querySelector(".cases .reason").textContent.startsWith("same machine code")'
	[ -z "$(browser_complaints)" ] || { browser_complaints; false; }
}

# repeat FILE: the command of the page that repeats what it shows.
repeat() {
	grep -o '"repeat":"[^"]*"' "$1" | cut -d '"' -f 4
}

@test "the command that a page names repeats what was measured, with its plugins" {
	local places=" --plugin $ASSAY_BUILD/tests/plugins/compare_op.so"
	export KEEP_DB=1
	measure --only dequantize --threads 1 --rounds 2 >/dev/null
	assay report -o plain.html >/dev/null
	[[ $(repeat plain.html) == "assay run --bench-dir "*" --threads 1 --rounds 2 --only dequantize --seed 42" ]]
	[[ $(repeat plain.html) != *--plugin* ]]
	compare base base --budget 300ms --only lenient.triple
	assay report -o comparison.html >/dev/null
	[[ $(repeat comparison.html) == "assay compare "*"$places --no-default-plugins --bench-dir "*" --policy wide.conf --budget 300ms --only lenient.triple --seed 42" ]]
	assay run --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/compare_op.so" --plugin "$ASSAY_BUILD/tests/plugins/compare_base.so" \
		--bench-dir "$ASSAY_SOURCE/tests/fixtures/compare" --budget 5ms >/dev/null
	assay report -o run.html >/dev/null
	# its own words: one more run of the same case
	# shellcheck disable=SC2046
	[[ $(repeat run.html) == *" --budget 5ms --seed 42" ]]
	eval "$(repeat run.html)" >/dev/null
	[ "$(assay show last --json | jq -c '[.run.id, .cases[0].key]')" = '[3,"lenient.triple/work/n=1024/t=1/warm"]' ]
}

@test "the page of an imported run names no seed and no command that nobody knows" {
	browser_start
	"$ASSAY" import auto "$ASSAY_SOURCE/tests/fixtures/import/google_benchmark_1.8.json" >/dev/null
	"$ASSAY" report -o imported.html >/dev/null
	browser_open "$PWD/imported.html"
	page_is 'document.querySelector("#list dl").innerText.includes("Imported from")'
	page_is '!/undefined|did not finish|assay run/.test(document.querySelector("#list").innerText)'
	page_value 'location.hash = document.querySelector(".cases a.key").hash' >/dev/null
	page_is 'document.querySelectorAll("#case dl").length > 0 && !/undefined|Seed|assay run/.test(document.querySelector("#case").innerText)'
}
