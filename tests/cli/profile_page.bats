#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The flame graph in a browser: alone, and in the pages of a profile, a difference and a report.
load profile_helpers
load browser

teardown() {
	browser_stop
}

@test "two stored profiles are told apart by function, and as a flame graph" {
	needs_samples
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 10000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 30000 thread >/dev/null
	KEEP_DB=1 fails 2 "no profile 'afte', did you mean 'after'?" diff before afte
	KEEP_DB=1 fails 2 "both sides are profile 1: name two" diff before before
	KEEP_DB=1 fails 2 "--only is of runs: 'before' and 'after' are profiles" diff before after --only x
	KEEP_DB=1 fails 2 "its name must end in .text, .json, .html or .svg" diff before after -o d.csv
	run --separate-stderr "$ASSAY" diff before after --json -o d.svg
	[ "$status" = 0 ]
	is '.unit == "ns" and .base.name == "before" and .head.name == "after"'
	is '.functions[0] | .name == "chain" and .change > 0 and .ci[0] > 0 and .ci[0] < .change and .change < .ci[1]'
	run --separate-stderr "$ASSAY" diff p1 p2
	[ "$status" = 0 ] && [[ $output == *"processor time: "*chain*split.c* ]]
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/d.svg"
	page_value 'globalThis.frame = (n, below) => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n && (!below || document.querySelectorAll(".f")[g.dataset.p].dataset.n === below));
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	# work below main is gone, and shows only in the view of the base
	page_is 'frame("work", "main").classList.contains("off") '
	page_is '[...document.querySelectorAll(".f:not(.off)")].some(g => g.dataset.n === "work")'
	page_is '/vanished/.test(frame("work", "main").textContent)'
	page_value 'press("v"); true' >/dev/null
	page_is '!frame("work", "main").classList.contains("off") && document.querySelector("[data-a=view]").textContent === "view: base (v)"'
	page_value 'press("v"); true' >/dev/null
	page_is 'frame("work", "main").classList.contains("off")'
	[ -z "$(browser_complaints)" ]
}

@test "the flame graph zooms, searches, filters and takes keys" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu -o split.svg -- ./split 40000
	[ "$status" = 0 ]
	xmllint --noout split.svg 2>/dev/null || ! command -v xmllint
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/split.svg"
	page_value 'globalThis.shown = () => [...document.querySelectorAll(".f:not(.off)")].map(g => g.dataset.n);
		globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		globalThis.width = n => +frame(n).querySelector("rect").getAttribute("width");
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	page_is 'width("seventy") > width("twenty") && width("seventy") > width("ten") && Math.abs(width("all") - 1180) < 0.1'
	# a click zooms: callers keep the whole width, siblings go
	page_value 'frame("twenty").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'width("twenty") === 1180 && !shown().includes("seventy") && shown().includes("main") && frame("main").classList.contains("above")'
	page_value 'press("Escape"); true' >/dev/null
	page_is 'shown().includes("seventy") && width("seventy") < 900'
	# search marks and counts, whatever is typed
	page_value 'press("/", "t", "e", "n", "$", "Enter"); true' >/dev/null
	page_is 'frame("ten").classList.contains("found") && !frame("seventy").classList.contains("found")'
	page_is '/^search .ten\$.: \d+\.\d %$/.test(document.querySelector("[data-a=found]").textContent)'
	page_value 'press("/", "(", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.found").length === 0'
	# a filter leaves what matches and its callers
	page_value 'press("r", "f", "t", "w", "e", "n", "t", "y", "Enter"); true' >/dev/null
	page_is 'width("twenty") > 1179 && !shown().includes("seventy") && shown().includes("main")'
	page_value 'press("r"); true' >/dev/null
	page_is 'shown().includes("seventy")'
	# the keyboard walks up from the root, and zooms
	page_value 'press("ArrowUp", "ArrowUp", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.here").length === 1 && document.querySelectorAll(".f.above").length === 2'
	page_value 'press("Backspace", "Backspace"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.above").length === 0'
	# colours, least width and theme
	page_is '(() => { const before = frame("ten").querySelector("rect").style.fill; press("c"); return before !== frame("ten").querySelector("rect").style.fill })()'
	page_is '(() => { const before = shown().length; press("m", "m", "m", "m", "m"); return shown().length <= before && document.querySelector("[data-a=least]").textContent !== "least 0.3 px (m)" })()'
	page_is '(() => { const paper = () => getComputedStyle(document.querySelector(".paper")).fill, before = paper(); press("t"); return before !== paper() })()'
	browser_screen 1240 dark
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "deep stacks scroll and keep their size, in a picture and in a page, on a wide and on a narrow screen" {
	needs_samples
	cat >deep.c <<-'END'
		static volatile unsigned long sink;
		static __attribute__((noinline)) long down(int n)
		{
			long r = 0;
			if (n > 0) { r = down(n - 1) + 1; __asm__ volatile("" : "+r"(r)); return r; }
			for (long i = 0; i < 3000000; i++) sink += i;
			return sink & 1;
		}
		int main(void) { for (int i = 0; i < 200; i++) down(299); return 0; }
	END
	cc -O1 -g -fno-optimize-sibling-calls -o deep deep.c
	"$ASSAY" profile cpu --rate 4999 --name deep -o deep.svg -- ./deep >/dev/null
	"$ASSAY" show deep -o deep.html >/dev/null
	"$ASSAY" show deep -o deep.folded >/dev/null
	# none of the 300 calls is cut off
	awk '{ n = gsub(/;down/, ""); most = n > most ? n : most } END { exit most != 300 }' deep.folded
	browser_start
	for width in 1280 400; do
		browser_screen $width light
		for page in svg html; do
			browser_open "$PWD/deep.$page"
			page_value 'globalThis.frames = [...document.querySelectorAll(".f:not(.off)")];
				globalThis.box = document.querySelector(".graph") || document.documentElement;
				globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
			page_is 'frames.length > 300 && frames.every(g => Math.abs(g.querySelector("rect").getBoundingClientRect().height - 17) < 0.01)'
			page_is 'Math.abs(frames[0].querySelector("rect").getBoundingClientRect().width - 1180) < 0.01'
			page_is 'frames.every(g => getComputedStyle(g.querySelector("text")).fontSize === "12px") && document.querySelector("svg").getScreenCTM().a === 1'
			page_is 'box.scrollHeight > 300 * 18 && box.clientHeight < 1000'
			# the title stays, and what the keyboard reaches is in sight
			page_value 'press(..."U".repeat(250).split("").map(() => "ArrowUp")); new Promise(done => setTimeout(done, 200))' >/dev/null
			page_is '(() => { const here = document.querySelector(".f.here rect").getBoundingClientRect(), top = document.querySelector(".title").getBoundingClientRect();
				const view = document.querySelector(".graph") ? box.getBoundingClientRect() : { top: 0, bottom: innerHeight };
				return box.scrollTop > 0 && top.top >= view.top && top.bottom < here.top && here.bottom <= view.bottom })()'
		done
		page_is 'checkWidth(checkTexts()).length === 0'
	done
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "what starts a case is one frame, unless all frames are asked for" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" profile cpu "$key" --for 500ms --name one -o one.svg >/dev/null
	"$ASSAY" profile cpu "$key" --for 500ms --name two >/dev/null
	"$ASSAY" diff one two -o both.svg >/dev/null
	"$ASSAY" profile cpu --name prog -o prog.svg -- ./split 4000 >/dev/null
	browser_start
	browser_screen 1280 light
	for picture in one both; do
		browser_open "$PWD/$picture.svg"
		page_value 'globalThis.shown = () => [...document.querySelectorAll(".f:not(.off)")].filter(g => g.getClientRects().length > 0).map(g => g.dataset.n);
			globalThis.press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); true' >/dev/null
		page_is 'shown().includes("harness") && !shown().includes("main") && shown().some(n => n.startsWith("quantize_q8_0"))'
		# one below each phase and thread, which differences do not have, and the call of the variant stands on it
		page_is '(() => { const all = [...document.querySelectorAll(".tree")[0].querySelectorAll(".f")]; const parent = g => all[g.dataset.p];
			return all.some(g => g.dataset.n === "assay_quantize_q8_0" && parent(g).dataset.n === "harness" && /^(thread |all)/.test(parent(parent(g)).dataset.n)) })()'
		page_value 'press("h"); true' >/dev/null
		page_is '!shown().includes("harness") && shown().includes("main") && shown().some(n => n.startsWith("quantize_q8_0"))'
		page_is 'document.querySelector("[data-a=harness]").textContent === "harness: shown (h)"'
		page_value 'press("h"); true' >/dev/null
		page_is 'shown().includes("harness") && !shown().includes("main")'
	done
	# a program has no harness
	browser_open "$PWD/prog.svg"
	page_is 'document.querySelectorAll(".tree").length === 1 && !document.querySelector("[data-a=harness]")'
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "the flame graph stands in the page of a profile, of a difference, and of a case in a report" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" run --only "$key" --budget 500ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" profile cpu "$key" --for 500ms --name before -o p.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" profile cpu "$key" --for 500ms --name after >/dev/null
	run --separate-stderr "$ASSAY" diff before after -o d.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" report -o r.html
	browser_start
	browser_screen 1240 dark
	for page in p d; do
		browser_open "$PWD/$page.html"
		page_is 'document.querySelectorAll("svg.flame").length === 1 && [...document.querySelectorAll("td")].some(c => c.textContent.startsWith("quantize_q8_0"))'
		# the picture is as high as what is shown
		page_is '(() => { const svg = document.querySelector("svg.flame"), high = () => +svg.getAttribute("viewBox").split(" ")[3], before = high();
			document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" })); for (let i = 0; i < 4; i++) document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" }));
			return high() <= before && getComputedStyle(svg.querySelector(".paper")).fill === "rgb(22, 24, 28)" })()'
		page_is 'checkWidth(checkTexts()).length === 0'
	done
	page_is '[...document.querySelectorAll("th")].some(c => c.textContent === "95 % interval")'
	# the table of cases has none; the page of the case has it, and only there keys are taken
	browser_open "$PWD/r.html"
	page_is '[...document.querySelectorAll("figure.profile")].every(f => f.hidden)'
	page_value 'location.hash = "#case='"$key"'"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is 'document.querySelectorAll("#case figure.profile:not([hidden]) svg.flame").length === 1'
	page_value 'globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		frame("phase: sample").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'frame("phase: sample").querySelector("rect").getAttribute("width") === "1180.00" && frame("all").classList.contains("above")'
	page_value 'location.hash = "#list"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is '(() => { const e = new KeyboardEvent("keydown", { key: "/", cancelable: true, bubbles: true }); document.dispatchEvent(e); return !e.defaultPrevented })()'
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}
