/* SPDX-License-Identifier: Apache-2.0 */
/* The dashboard. All text from the server is put into the page as text, never as HTML. */
"use strict";

const byId = (id) => document.getElementById(id);
const HISTORY_S = 300;

/* ---- the token, which comes behind the # of the address and is kept for this tab alone ---- */

let token = "";

function useToken(text) {
	token = text.trim();
	if (token)
		sessionStorage.setItem("token", token);
	byId("no-token").hidden = token !== "";
	byId("run-button").disabled = !token;
	byId("profile-form").querySelector("button").disabled = !token;
}

/* ---- asking ---- */

async function ask(path, options = {}) {
	const headers = token ? { Authorization: "Bearer " + token } : {};
	const answer = await fetch(path, { ...options, headers });
	const o = options.blob && answer.ok ? await answer.blob() : await answer.json();

	if (!answer.ok)
		throw new Error(o.error);
	return o;
}

const post = (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) });

/* Show what went wrong below the job, where whoever pressed a button looks. */
function fail(error) {
	const e = byId("job-error");

	e.textContent = error.message;
	e.hidden = !error.message;
}

/* ---- numbers ---- */

function scaled(v, steps) {
	const s = steps.find(([size]) => Math.abs(v) >= size) || steps[steps.length - 1];
	const x = v / s[0];

	if (!v)
		return "0";
	return (Math.abs(x) >= 99.95 ? x.toFixed(0) : x.toPrecision(3)) + " " + s[1];
}

const time = (ns) => ns == null ? "" : scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
const bytes = (b) => scaled(b, [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
const percent = (x) => (x > 0 ? "+" : "") + (100 * x).toFixed(Math.abs(x) < 0.0995 ? 1 : 0) + " %";
const when = (text) => text ? text.replace("T", " ").replace(/:\d\dZ$/, "") : "";

/* ---- elements ---- */

function make(tag, text, attributes = {}) {
	const e = document.createElement(tag);

	if (text != null)
		e.textContent = text;
	for (const [name, value] of Object.entries(attributes))
		if (name === "onclick")
			e.onclick = value;
		else
			e.setAttribute(name, value);
	return e;
}

/* columns: [title, row => text or element, is a number]; of numbers that no row has there is no column */
function table(all, rows, caption) {
	const columns = all.filter(([, value, number]) => !number || !rows.length || rows.some((r) => ![null, undefined, ""].includes(value(r))));
	const t = make("table"), head = make("tr"), box = make("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });

	for (const [title, , number] of columns)
		head.append(make("th", title, number ? { class: "number", scope: "col" } : { scope: "col" }));
	t.append(make("caption", caption, { class: "muted" }), make("thead"), make("tbody"));
	t.tHead.append(head);
	for (const row of rows) {
		const r = make("tr");

		for (const [title, value, number] of columns) {
			const v = value(row), cell = make("td", null, { class: number ? "number" : title === "Case" || title === "Of" ? "key" : title === "Reason" ? "reason" : title === "Base" || title === "Head" ? "side" : "" });

			cell.append(v == null ? "" : v);
			r.append(cell);
		}
		t.tBodies[0].append(r);
	}
	box.append(t);
	return box;
}

function link(text, onclick) {
	return make("button", text, { class: "link", type: "button", onclick });
}

/* [text, path or what makes the text, name of the file] of each */
function exports(paths) {
	const p = make("p", "Export: ");

	for (const [text, path, name] of paths)
		p.append(link(text, async () => {
			try {
				const a = make("a", null, { href: URL.createObjectURL(typeof path === "string" ? await ask(path, { blob: true }) : new Blob([path()])), download: name });

				a.click();
				setTimeout(() => URL.revokeObjectURL(a.href), 1000);
			} catch (error) {
				fail(error);
			}
		}), " ");
	return p;
}

function fillSelect(select, values, texts) {
	const was = select.value;

	select.replaceChildren(...values.map((v, i) => make("option", texts ? texts[i] : v, { value: v })));
	if (values.includes(was))
		select.value = was;
}

/* Unless somebody chose, the newest is held against the one before it. */
function tellApart(which, names) {
	const base = byId(which + "-base"), head = byId(which + "-head");

	if (names.length > 1 && base.value === head.value)
		[head.value, base.value] = names;
}

/* ---- charts ---- */

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Ticks in UTC, as the tables have them: days, minutes or seconds, by how far apart they are. */
function ticks(_, at) {
	const step = at.length > 1 ? at[1] - at[0] : 0;

	return at.map((s) => {
		const text = new Date(1000 * s).toISOString();

		return step >= 86400 ? text.slice(5, 10) : step >= 60 ? text.slice(11, 16) : text.slice(11, 19);
	});
}

const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
/* An axis that counts has no halves. */
const whole = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((d) => [d, 2 * d, 5 * d]);

/* Without a cursor the legend has the newest values. */
const newest = (u, i) => u.data[i][u.data[i].length - 1];
const moment = (s) => s == null ? "" : new Date(1000 * s).toISOString().slice(0, 19).replace("T", " ");

function chart(at, title, series, data, options = {}) {
	const box = byId(at), line = () => colour("--line"), axis = { stroke: () => colour("--muted"), grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
	const u = new uPlot({
		title,
		width: Math.max(200, box.clientWidth),
		height: options.height || 160,
		scales: { x: { time: !options.count, range: (_, lo, hi) => data[0].length > 1 ? [lo, hi] : [lo - 30, lo + 30] }, ...options.scales },
		axes: [{ ...axis, space: 80, ...(options.count ? { incrs: whole } : { values: ticks }) }, { ...axis, size: 72, values: (_, v) => v.map(options.text), ...(options.incrs ? { incrs: options.incrs } : {}) }],
		tzDate: (s) => uPlot.tzDate(new Date(1000 * s), "Etc/UTC"),
		series: [options.count ? { label: options.count, value: (u, v) => v ?? newest(u, 0) } : { value: (u, s) => moment(s ?? newest(u, 0)) }, ...series.map(([label, name, more]) => ({ label, stroke: () => colour(name), width: 2, value: (u, v, i) => (v ?? newest(u, i)) == null ? "" : options.text(v ?? newest(u, i)), ...more }))],
		plugins: options.plugins || [],
		cursor: options.cursor || {},
	}, data, box);

	new ResizeObserver(() => u.setSize({ width: Math.max(200, box.clientWidth), height: options.height || 160 })).observe(box);
	return u;
}

const system = { x: [], cpu: [], memory: [], gpu: [], threads: [], last: null, charts: null };

function showSystem(s) {
	const now = Date.now() / 1000, was = system.last;

	system.last = s;
	byId("facts").replaceChildren(...[
		["Load", s.load.toFixed(2)],
		["Threads", `${s.threads_running} running of ${s.threads}`],
		["Memory used", bytes(s.memory_used_bytes) + " of " + bytes(s.memory_bytes)],
		["Disk used", bytes(s.disk_used_bytes) + " of " + bytes(s.disk_bytes)],
		["Network in, out", bytes(s.network_in_bytes) + ", " + bytes(s.network_out_bytes)],
		["Server", bytes(s.process_bytes)],
		["Up", (s.uptime_s / 3600).toFixed(1) + " h"],
		["GPU", s.gpu_utilization == null ? "use not known: " + s.gpu_utilization_reason :
			`${(100 * s.gpu_utilization).toFixed(0)} % busy, ${bytes(s.gpu_memory_used_bytes)} of ${bytes(s.gpu_memory_bytes)}`],
	].map(([name, value]) => {
		const d = make("div", null, { class: value.length > 40 ? "wide" : "" });

		d.append(make("dt", name), make("dd", value));
		return d;
	}));
	system.x.push(now);
	system.cpu.push(was && s.cpu_s > was.cpu_s ? (s.cpu_busy_s - was.cpu_busy_s) / (s.cpu_s - was.cpu_s) : null);
	system.memory.push(s.memory_used_bytes);
	system.gpu.push(s.gpu_utilization);
	system.threads.push(s.threads_running);
	while (system.x[0] < now - HISTORY_S)
		for (const list of [system.x, system.cpu, system.memory, system.gpu, system.threads])
			list.shift();
	if (!system.charts) {
		const share = { text: (v) => (100 * v).toFixed(0) + " %", scales: { y: { range: [0, 1] } } };
		const amount = (text, incrs) => ({ text, incrs, scales: { y: { range: (_, lo, hi) => [0, Math.max(hi, 1)] } } });

		byId("gpu-chart").hidden = s.gpu_utilization == null;
		system.charts = [["cpu", "CPUs busy", share], ["memory", "Memory used", amount(bytes, Array.from({ length: 51 }, (_, i) => 2 ** i))],
			["threads", "Threads running", amount((v) => v.toFixed(Number.isInteger(v) ? 0 : 1))], ["gpu", "GPUs busy", share]]
			.filter(([list]) => list !== "gpu" || s.gpu_utilization != null)
			.map(([list, title, options]) => [list, chart(list + "-chart", title, [[title.split(" ").pop(), "--head"]], [system.x, system[list]], options)]);
	} else {
		for (const [list, c] of system.charts)
			c.setData([system.x, system[list]]);
	}
}

/* ---- the job ---- */

let job = { id: 0, state: "none" };

function showJob() {
	const running = job.state === "running", bar = byId("job-bar");
	const place = job.n ? `case ${job.position} of ${job.n}` : "";
	let text = "Nothing is under way.";

	if (running)
		text = `${job.kind} ${job.what}: ${place}${job.case ? (place ? ", " : "") + job.case : " starting"}`;
	else if (job.state === "ended")
		text = `${job.kind} ${job.what} ${job.stopped ? "was stopped" : job.exit ? "ended with exit status " + job.exit : "is done"}.`;
	byId("job-text").textContent = text;
	bar.hidden = !running;
	bar.value = job.n ? Math.max(0, job.position - 1 + job.done_frac) / job.n : job.done_frac;
	byId("stop").disabled = !running || !token;
	if (job.state === "ended" && job.error && !job.stopped)
		fail(new Error(job.error));
}

/* ---- the case that is measured: its samples as they come, and the interval that decides when they are enough ---- */

const sampling = { key: "", next: null, data: [[], [], [], [], []], chart: null };

function clearSampling(key) {
	Object.assign(sampling, { key, next: null, data: [[], [], [], [], []], chart: null });
	byId("live-text").textContent = "";
	byId("live-chart").replaceChildren();
}

/* A case that takes a moment stays until the next one has samples. */
function showSampling(e) {
	if (e.samples && sampling.next != null)
		clearSampling(sampling.next);

	const [lo, hi] = e.ci95_ns || [null, null], [x] = sampling.data, band = { width: 1, points: { show: false } };

	if (!e.samples || e.samples <= x[x.length - 1])
		return;
	[e.samples, e.sample_ns, e.median_ns, lo, hi].forEach((v, i) => sampling.data[i].push(v == null ? null : v));
	byId("live-text").textContent = `${sampling.key}: ${count(e.samples, "sample")}` + (e.median_ns ? `, median ${time(e.median_ns)}` : "") +
		(e.median_ns && hi ? `, 95 % interval ${time(lo)} to ${time(hi)}` : "");
	if (sampling.chart)
		sampling.chart.setData(sampling.data);
	else if (x.length > 1)
		sampling.chart = chart("live-chart", "Samples of " + (sampling.key.length > 60 ? sampling.key.slice(0, 57) + "…" : sampling.key),
			[["sample", "--base", { width: 0, points: { show: true, size: 4 } }], ["median", "--head"], ["95 % from", "--band", band], ["to", "--band", band]],
			sampling.data, { height: 200, text: time, count: "samples" });
}

const pick = (c) => [["Case", (r) => r.key], ["Time", (r) => time(r.median_ns), true],
	["95 % interval", (r) => r.ci95_ns ? time(r.ci95_ns[0]) + " to " + time(r.ci95_ns[1]) : "", true],
	["Samples", (r) => r.samples || "", true],
	["Status", (r) => r.status === "ok" ? r.note || "ok" : make("span", r.status + (r.reason ? ": " + r.reason : ""), { class: r.status === "skipped" ? "muted" : "bad" })]].slice(0, c);

let liveAt = 0;

/* The cases that the run under way has finished, at most every two seconds. */
async function showLive(force) {
	if (job.kind !== "run" || (!force && Date.now() - liveAt < 2000))
		return;
	liveAt = Date.now();
	try {
		const o = await ask("/api/runs/last"), done = o.cases.filter((c) => c.status !== "skipped");

		if (Date.parse(o.run.started) / 1000 + 1 >= job.started_s)
			byId("live").replaceChildren(table(pick(5), done.slice(-12), `Run r${o.run.id}: the newest of ${count(done.length, "result")}`));
	} catch (_) {
		/* it has none yet */
	}
}

function onEvent(e) {
	if (e.event === "state") {
		const was = job;

		job = e.job;
		showSystem(e.system);
		if (e.written_s !== onEvent.written) {
			onEvent.written = e.written_s;
			if (job.state !== "running" || was.id !== job.id)
				showLists();
		}
	} else if (e.event === "cases") {
		job = { ...job, n: e.n, position: 0 };
	} else if (e.event === "case") {
		job = { ...job, n: e.n, position: e.at + 1, case: e.case, done_frac: 0 };
		sampling.next = e.case || "";
		showLive(false);
	} else if (e.event === "part" || e.event === "share") {
		job = { ...job, done_frac: e.done_frac, case: e.text || job.case };
		showSampling(e);
	} else if (e.event === "warning" || e.event === "note") {
		byId("job-note").textContent = e.text;
	} else if (e.event === "started") {
		job = e.job;
	} else if (e.event === "ended") {
		job = e.job;
		clearSampling("");
		showLive(true);
		showLists();
	}
	showJob();
}

function listen() {
	const source = new EventSource("/api/events"), lost = byId("connection");

	source.onmessage = (m) => onEvent(JSON.parse(m.data));
	source.onopen = () => { lost.hidden = true; };
	source.onerror = () => {
		lost.textContent = "The server does not answer; trying again.";
		lost.hidden = false;
	};
}

/* ---- runs ---- */

async function showRun(id) {
	const o = await ask("/api/runs/r" + id);
	const columns = pick(5);

	columns[0] = ["Case", (r) => r.status === "ok" ? link(r.key, () => showHistory(r.key)) : r.key];
	byId("run").replaceChildren(make("h3", `Run r${id} of suite ${o.run.suite}`),
		exports([["JSON", "/api/runs/r" + id, `r${id}.json`], ["CSV", `/api/runs/r${id}.csv`, `r${id}.csv`]]),
		table(columns, o.cases, count(o.cases.length, "case")));
	byId("run").scrollIntoView({ block: "nearest" });
}

async function showRuns() {
	const runs = (await ask("/api/runs?limit=20")).runs, names = runs.map((r) => "r" + r.id);
	const texts = runs.map((r) => `r${r.id} ${r.suite} ${when(r.started)} ${(r.commit || "").slice(0, 8)}`);

	byId("machine").textContent = runs.length ? "on " + runs[0].machine : "";
	byId("run-list").replaceChildren(runs.length ? table([
		["Run", (r) => link("r" + r.id, () => showRun(r.id).catch(fail))],
		["Suite", (r) => r.suite], ["Started", (r) => when(r.started)],
		["Commit", (r) => (r.commit || "").slice(0, 8) + (r.dirty ? "+" : "")],
		["Cases", (r) => r.cases, true], ["Ok", (r) => r.ok, true]], runs, "Newest runs")
		: make("p", "Nothing is stored yet: run a suite above, or 'assay run' in a terminal."));
	fillSelect(byId("diff-base"), names, texts);
	fillSelect(byId("diff-head"), names, texts);
	tellApart("diff", names);
}

/* ---- cases ---- */

let historyChart = null;

/* Vertical lines where the level changed. */
const marks = (at) => ({ hooks: { draw: (u) => {
	u.ctx.save();
	u.ctx.strokeStyle = colour("--mark");
	u.ctx.setLineDash([6, 4]);
	for (const x of at) {
		const p = u.valToPos(x, "x", true);

		u.ctx.beginPath();
		u.ctx.moveTo(p, u.bbox.top);
		u.ctx.lineTo(p, u.bbox.top + u.bbox.height);
		u.ctx.stroke();
	}
	u.ctx.restore();
} } });

const csv = (h) => "run,commit,started,median_ns,ci95_lo_ns,ci95_hi_ns\n" + h.points.map((p) =>
	[p.run, p.commit || "", p.started, p.median_ns, ...(p.ci95_ns || ["", ""])].join(",") + "\n").join("");

/* The medians and their intervals as a picture of its own; a name is text in it, too. */
function svg(h) {
	const at = h.points.map((p) => Date.parse(p.started)), top = Math.max(...h.points.map((p) => p.ci95_ns ? p.ci95_ns[1] : p.median_ns));
	const from = Math.min(...at), span = Math.max(...at) - from || 1;
	const x = (i) => (60 + 720 * (at[i] - from) / span).toFixed(1), y = (ns) => (360 - 310 * ns / top).toFixed(1);
	const text = (s) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
	const line = (d, colour) => `<path d="${d}" fill="none" stroke="${colour}"/>\n`;

	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 400" font-family="sans-serif" font-size="12">\n<rect width="800" height="400" fill="#fff"/>\n` +
		`<text x="60" y="24">${text(h.case)}: median time and its 95 % interval</text>\n<text x="4" y="54">${text(time(top))}</text><text x="4" y="364">0</text>\n` +
		`<text x="60" y="384">${h.points[0].started}</text><text x="780" y="384" text-anchor="end">${h.points[h.points.length - 1].started}</text>\n` +
		line("M60 50V360H780", "#888") + h.points.map((p, i) => p.ci95_ns ? line(`M${x(i)} ${y(p.ci95_ns[0])}V${y(p.ci95_ns[1])}`, "#aaa") : "").join("") +
		line("M" + h.points.map((p, i) => x(i) + " " + y(p.median_ns)).join("L"), "#06c") + "</svg>\n";
}

async function showHistory(key) {
	byId("case").value = key;
	try {
		const h = await ask("/api/history?case=" + encodeURIComponent(key));
		const seconds = (p) => Date.parse(p.started) / 1000;
		const data = [h.points.map(seconds), h.points.map((p) => p.median_ns),
			h.points.map((p) => p.ci95_ns ? p.ci95_ns[0] : null), h.points.map((p) => p.ci95_ns ? p.ci95_ns[1] : null)];
		const changes = h.changes.map((c) => h.points.find((p) => p.commit === c.to_commit)).filter(Boolean).map(seconds);
		const band = { width: 1, points: { show: false } };

		byId("case-text").textContent = `${h.case}: ${count(h.points.length, "run")}, newest ${time(h.points[h.points.length - 1].median_ns)}`;
		byId("case-chart").replaceChildren();
		const known = h.points.some((p) => p.ci95_ns);

		historyChart = chart("case-chart", known ? "Median time and its 95 % interval" : "Median time",
			[["median", "--head", { points: { show: true } }], ...(known ? [["95 % from", "--band", band], ["to", "--band", band]] : [])], known ? data : data.slice(0, 2),
			{ height: 260, text: time, plugins: [marks(changes)] });
		byId("case-export").replaceChildren(exports([["JSON", "/api/history?case=" + encodeURIComponent(key), "history.json"],
			["CSV", () => csv(h), "history.csv"], ["SVG", () => svg(h), "history.svg"]]));
		byId("case-changes").replaceChildren(...h.changes.map((c) =>
			make("li", `${percent(c.ratio - 1)} from ${(c.from_commit || "?").slice(0, 8)} to ${(c.to_commit || "?").slice(0, 8)}` +
				(c.confirmed == null ? "" : c.confirmed ? ", confirmed" : ", not confirmed"))));
		byId("cases").scrollIntoView({ block: "nearest" });
	} catch (error) {
		byId("case-text").textContent = error.message;
	}
}

async function showCases() {
	const o = await ask("/api/cases?limit=1000");

	byId("case-names").replaceChildren(...o.cases.map((k) => make("option", null, { value: k })));
	if (!byId("profile-case").value && o.cases.length)
		byId("profile-case").value = o.cases[0];
}

/* ---- comparisons ---- */

async function showDiff(event) {
	event.preventDefault();
	try {
		const base = byId("diff-base").value, head = byId("diff-head").value;
		const o = await ask(`/api/diff?base=${base}&head=${head}`);

		byId("diff").replaceChildren(exports([["JSON", `/api/diff?base=${base}&head=${head}`, `${base}-${head}.json`]]), table([
			["Case", (c) => c.key || c.name],
			["Base", (c) => time(c.base_ns), true], ["Head", (c) => time(c.head_ns), true],
			["Change", (c) => c.ratio == null ? c.reason || "" : make("span", percent(c.ratio - 1), { class: { slower: "bad", faster: "good" }[c.result] || "" }), true],
			["95 % interval", (c) => c.ratio == null ? "" : percent(c.ci[0] - 1) + " to " + percent(c.ci[1] - 1), true], ["Result", (c) => c.result],
		], o.cases, `${head} against ${base}: ${count(o.cases.length, "case")}`));
	} catch (error) {
		byId("diff").replaceChildren(make("p", error.message, { class: "note" }));
	}
}

async function showComparison(id) {
	const o = await ask("/api/comparisons/c" + id);

	byId("comparison").replaceChildren(make("h3", `${o.head} against ${o.base}: ${o.verdict}`),
		exports([["JSON", "/api/comparisons/c" + id, `c${id}.json`]]), table([
			["Case", (c) => c.key], ["Verdict", (c) => make("span", c.verdict, { class: c.verdict === "REGRESSED" ? "bad" : c.verdict === "IMPROVED" ? "good" : "" })],
			["Change", (c) => c.ratio == null ? "" : percent(c.ratio - 1), true], ["Pairs", (c) => c.pairs, true], ["Reason", (c) => c.reason],
		], o.cases, count(o.cases.length, "verdict")));
}

async function showComparisons() {
	const list = (await ask("/api/comparisons?limit=20")).comparisons;

	byId("comparison-list").replaceChildren(list.length ? table([
		["Comparison", (c) => link("c" + c.id, () => showComparison(c.id).catch(fail))],
		["Base", (c) => c.base], ["Head", (c) => c.head], ["Verdict", (c) => c.verdict || "not finished"],
		["Started", (c) => when(c.started)]], list, "Newest comparisons")
		: make("p", "None is stored: 'assay compare main' makes one.", { class: "muted" }));
}

/* ---- alerts ---- */

async function showAlerts() {
	const o = await ask("/api/alerts");

	byId("alerts").hidden = !o.rules;
	byId("alert-list").replaceChildren(o.alerts.length ? table([
		["Alert", (a) => a.alert], ["State", (a) => make("span", a.state, { class: a.state === "firing" ? "bad" : "" })], ["Severity", (a) => a.severity],
		["Case", (a) => a.case], ["Condition", (a) => a.when], ["Value", (a) => a.when.startsWith("time_s ") ? time(1e9 * a.value) : Number(a.value.toPrecision(4)), true],
		["Since", (a) => new Date(1000 * a.since_s).toISOString().slice(0, 16).replace("T", " ")]], o.alerts, "Conditions that hold")
		: make("p", `None of ${o.rules} holds.`, { class: "muted" }));
}

/* ---- profiles ---- */

const VIEW = { "/profiling/cpu": "cpu", "/profiling/memory": "heap", "/profiling/gpu": "gpu" }[location.pathname];

async function showProfile(id) {
	const o = await ask("/api/profiles/p" + id), box = byId("profile"), name = "p" + id;
	const image = make("img", null, { alt: "Flame graph; the table below has its functions" });

	box.replaceChildren(make("h3", `Profile ${name}: ${o.profile.kind} of ${o.profile.case || o.profile.name || ""}`),
		exports([["Flame graph", `/api/profiles/${name}.svg`, name + ".svg"], ["Page", `/api/profiles/${name}.html`, name + ".html"], ["JSON", "/api/profiles/" + name, name + ".json"]]));
	if ((o.functions || []).length) {
		box.append(image, table([["Function", (f) => f.name], ["File", (f) => f.file ? f.file + (f.line ? ":" + f.line : "") : ""],
			["Self", (f) => f.self_frac == null ? "" : (100 * f.self_frac).toFixed(1) + " %", true],
			["Total", (f) => f.total_frac == null ? "" : (100 * f.total_frac).toFixed(1) + " %", true]],
			o.functions.slice(0, 30), `${count(o.functions.length, "function")}, the largest first`));
		image.src = URL.createObjectURL(await ask(`/api/profiles/${name}.svg`, { blob: true }));
	} else {
		box.append(make("p", "It has no stacks.", { class: "muted" }));
	}
	box.scrollIntoView({ block: "nearest" });
}

async function showProfileDiff(event) {
	event.preventDefault();
	try {
		const base = byId("profile-base").value, head = byId("profile-head").value;
		const o = await ask(`/admin/profile/compare?base=${base}&head=${head}`);

		const amount = (v) => v == null ? "" : o.unit === "ns" ? time(v) : o.unit === "B" ? bytes(v) : v.toPrecision(3) + " " + o.unit;

		byId("profile").replaceChildren(make("h3", `${head} against ${base}`), table([
			["Function", (f) => f.name],
			["Base", (f) => amount(f.own[0]), true], ["Head", (f) => amount(f.own[1]), true],
			["Change", (f) => amount(f.change), true], ["95 % interval", (f) => f.ci ? amount(f.ci[0]) + " to " + amount(f.ci[1]) : "", true]],
			o.functions.slice(0, 40), o.per_iteration ? "Each function itself, per call" : "Each function itself"));
	} catch (error) {
		byId("profile").replaceChildren(make("p", error.message, { class: "note" }));
	}
}

async function showProfiles() {
	if (!token) {
		byId("profile-list").replaceChildren(make("p", "Profiles are shown to those who have the token.", { class: "muted" }));
		return;
	}
	const list = (await ask("/api/profiles?limit=50")).profiles.filter((p) => !VIEW || p.kind === VIEW);
	const names = list.map((p) => "p" + p.id), texts = list.map((p) => `p${p.id} ${p.kind} ${p.name}`);
	/* profiles of different kinds cannot be compared */
	const twice = list.map((p) => p.kind).find((kind, i, kinds) => kinds.includes(kind, i + 1));

	byId("profile-list").replaceChildren(list.length ? table([
		["Profile", (p) => link("p" + p.id, () => showProfile(p.id).catch(fail))], ["Kind", (p) => p.kind], ["Name", (p) => p.name],
		["Of", (p) => p.what], ["Started", (p) => new Date(1000 * p.started_s).toISOString().slice(0, 16).replace("T", " ")]], list, "Newest profiles")
		: make("p", "None is stored yet.", { class: "muted" }));
	byId("profile-diff-form").hidden = list.length < 2;
	fillSelect(byId("profile-base"), names, texts);
	fillSelect(byId("profile-head"), names, texts);
	tellApart("profile", list.filter((p) => p.kind === twice).map((p) => "p" + p.id));
}

/* ---- all ---- */

function showLists() {
	for (const show of [showRuns, showCases, showComparisons, showProfiles, showAlerts])
		show().catch(fail);
}

async function begin() {
	useToken(location.hash.length > 16 && !byId(location.hash.slice(1)) ? location.hash.slice(1) : sessionStorage.getItem("token") || "");
	if (token && location.hash.includes(token))
		history.replaceState(null, "", location.pathname);
	byId("use-token").onclick = () => {
		useToken(byId("token").value);
		showLists();
	};
	byId("start").onsubmit = (e) => {
		e.preventDefault();
		fail(new Error(""));
		byId("job-note").textContent = "";
		byId("live").replaceChildren();
		post("/api/runs", { suite: byId("suite").value, ...(byId("only").value ? { only: byId("only").value } : {}) }).catch(fail);
	};
	byId("stop").onclick = () => ask("/api/job", { method: "DELETE" }).catch(fail);
	byId("case-form").onsubmit = (e) => {
		e.preventDefault();
		showHistory(byId("case").value);
	};
	byId("diff-form").onsubmit = showDiff;
	byId("profile-diff-form").onsubmit = showProfileDiff;
	byId("profile-form").onsubmit = (e) => {
		e.preventDefault();
		fail(new Error(""));
		post("/admin/profile/start", { kind: byId("profile-kind").value, case: byId("profile-case").value,
			duration: Number(byId("profile-for").value), name: byId("profile-name").value }).catch(fail);
	};
	if (VIEW) {
		byId("profile-kind").value = VIEW;
		document.querySelector("#profiles").scrollIntoView();
	}
	/* before the lists: a browser has few connections, and the first chart comes this way */
	listen();
	ask("/api/suites").then((o) => {
		fillSelect(byId("suite"), o.suites);
		if (o.suites.includes("quick"))
			byId("suite").value = "quick";
	}).catch(fail);
	showLists();
}

begin();
