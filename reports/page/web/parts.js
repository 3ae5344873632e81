// SPDX-License-Identifier: Apache-2.0
// The common part of the pages of cases, of a run or of a comparison.

function section(title, ...content) {
	const shown = content.flat().filter(c => c != null && c !== '');
	return shown.length ? [element('h3', null, title), ...shown] : [];
}

// Kinds of evidence, the most reliable first.
const rungs = {
	exact: 'exact: the same on every repeat',
	pmu: 'pmu: hardware counters',
	sde: 'sde: published by the op through PAPI',
	op: 'op: published by the op',
	heap: 'heap: what the variant allocated',
	os: 'os: counts of the operating system',
	time: 'derived from time',
	assay: 'assay: the harness itself',
};

// entries: [{rung, cells}], in groups by rung.
function rungTable(caption, heads, entries) {
	const order = Object.keys(rungs), known = [...new Set(entries.map(e => e.rung))].sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
	if (!entries.length)
		return null;
	return element('table', {class: 'cards', role: 'table'}, element('caption', null, caption), cardHeads(heads, i => i && i < heads.length - 1),
		known.map(rung => element('tbody', {role: 'rowgroup'},
			element('tr', {role: 'row'}, element('th', {scope: 'rowgroup', role: 'rowheader', colspan: heads.length, class: 'rung'}, rungs[rung] || rung)),
			entries.filter(e => e.rung === rung).map(e => cardRow(heads, e.cells, i => i < heads.length - 1)))));
}

// The head and the rows of a table that becomes cards where the page is narrow; @isNumber says it of a column.
function cardHeads(heads, isNumber) {
	return element('thead', {role: 'rowgroup'}, element('tr', {role: 'row'}, heads.map((h, i) => element('th', {scope: 'col', role: 'columnheader', class: isNumber(i) && 'number'}, h))));
}

function cardRow(heads, cells, isNumber) {
	return element('tr', {role: 'row'}, cells.map((cell, i) => i === 0
		? element('th', {scope: 'row', role: 'rowheader', class: 'key'}, keyText(cell))
		: element('td', {role: 'cell', class: isNumber(i) && 'number', 'data-label': heads[i]}, cell)));
}

function countText(c) {
	return (c.running_frac < 1 ? 'about ' : '') + grouped(c.value);
}

function countNote(c) {
	return [c.per === 'iteration' ? 'per call' : '', c.running_frac < 1 ? `counted ${percent(c.running_frac)} of the time` : '', c.how || ''].filter(Boolean).join('; ');
}

function metricNote(m) {
	return [m.better ? m.better + ' is better' : '', m.estimated ? 'an estimate' : ''].filter(Boolean).join('; ');
}

// The events that could not be counted, with the reasons; many names share one.
function unavailableList(unavailable) {
	const reasons = new Map();
	for (const [name, u] of Object.entries(unavailable))
		reasons.set(u.reason, [...(reasons.get(u.reason) || []), name]);
	if (!reasons.size)
		return null;
	return element('details', null, element('summary', null, `${plural(Object.keys(unavailable).length, 'counter')} unavailable`),
		facts([...reasons].map(([reason, names]) => [element('span', {class: 'key'}, names.join(', ')), reason])));
}

function logPart(title, text) {
	return text ? section(title, element('pre', {tabindex: '0'}, text)) : [];
}

// The runs of a case before this one, and this one.
function pastOf(key) {
	const points = (page.past.cases[key] || []).map(([run, median, low, high]) => ({run: page.past.runs[run], median, low, high}));
	return points.sort((a, b) => a.run.started < b.run.started ? -1 : a.run.started > b.run.started ? 1 : a.run.id - b.run.id);
}

function pastPart(key) {
	const points = pastOf(key);
	return points.length > 1 ? section('Earlier runs', pastPicture(points)) : [];
}

// Flame graphs of the case, by kind of profile: what stands hidden in the page is shown here.
function profilePart(key) {
	const graphs = profileFigures.filter(f => f.dataset.case === key);
	graphs.forEach(f => { f.hidden = false; });
	return graphs.length ? section('Profiles', graphs) : [];
}

// Verdicts on a case, with their reasons. A run without a baseline has rows that only say so.
function verdictsOf(key) {
	return page.gate ? page.gate.cases.filter(r => r.key === key && !(page.gate.no_baseline && r.verdict === 'INCOMPARABLE' && r.evidence !== 'exact')) : [];
}

// The function that a change lies in, or why that is unknown.
function causeText(row) {
	return row.because ? row.because[0].text : row.because_unknown || '';
}

const gravest = ['WRONG_RESULT', 'wrong', 'NOT_MEASURED', 'crashed', 'failed', 'timeout', 'REGRESSED', 'INCOMPARABLE', 'INCONCLUSIVE', 'skipped', 'IMPROVED', 'PASS', 'ok'];

function interval(row) {
	if (!row.ci)
		return '';
	return row.speedup_ci ? row.speedup_ci.map(times).join(' to ') : row.ci.map(change).join(' to ');
}

function changeText(row) {
	// a time's change without an interval may be off by any factor
	if (row.ratio == null || (!row.ci && ['paired', 'stored'].includes(row.evidence)))
		return '';
	return row.speedup ? times(row.speedup) : change(row.ratio);
}

function verdictTable(rows) {
	if (!rows.length)
		return null;
	const reach = Math.max(0.005, ...rows.flatMap(r => [...(r.ci || []), r.ratio || 1].map(v => Math.abs(Math.log(v)))), ...rows.map(r => r.margin || 0)) * 1.1;
	const value = r => r.value == null ? '' : r.limit == null ? grouped(r.value) : `${grouped(r.value)} of ${grouped(r.limit)}`;
	return rows.map(r => element('div', null,
		element('p', null, badge(r.skipped ? 'skipped' : r.verdict), ' ', element('strong', null, r.metric || 'case'), r.suspect ? ' (suspect)' : '', r.reason ? ': ' + r.reason : ''),
		causeText(r) ? element('p', null, causeText(r)) : null,
		r.ci ? figure(intervalPicture(r, pictureWidth(), 26, reach, `Change ${changeText(r)}, interval ${interval(r)}, margin ${percent(r.margin)}`),
			`${changeText(r)}, interval ${interval(r)}${r.margin == null ? '' : `; the grey band is the margin of ${percent(r.margin)}`}; to the right is slower.`) : null,
		facts([['Evidence', r.evidence === 'none' ? null : r.evidence], ['Value and limit', value(r)],
			['Pairs', r.pairs && grouped(r.pairs)], ['Discarded', r.dropped_frac ? percent(r.dropped_frac) : null],
			['Minimum detectable change', r.smallest_detectable == null ? null : percent(r.smallest_detectable)]])));
}

// The command that measures the case again.
function repeatCommand(key) {
	// what it was told to select is replaced: several --only select the cases of any
	const rest = page.repeat.replace(/ --only (?:'[^']*'|\\.|[^\s'\\])+/g, '');
	return command(`${rest} --only ${shellWord(key)}`);
}

function buildFacts(b) {
	return [['Commit', commitText(b)], ['assay', (b.plugin_commit || b.plugin_dirty) && commitText({commit: b.program_commit, dirty: b.program_dirty})],
		['Compiler', b.compiler], ['Flags', b.flags], ['Digest of the plugins', b.plugins]];
}

function exactPart(c, title) {
	if (!c || (!Object.keys(c.counters).length && !c.reason))
		return [];
	const row = (name, f, of) => element('tr', null, element('th', {scope: 'row', class: 'key'}, name), element('td', {class: 'number'}, grouped(Number(f.counts.instructions))),
		element('td', {class: 'number'}, of ? percent(f.counts.instructions / of) : ''));
	const list = (what, all, rows, name) => rows.length ? element('div', {class: 'scroll'}, element('table', null,
		element('caption', null, `${what} with most instructions, ${rows.length} of ${all}`),
		element('thead', null, element('tr', null, [what.slice(0, -1), 'Instructions', 'Share'].map((h, i) => element('th', {scope: 'col', class: i && 'number'}, h)))),
		element('tbody', null, rows.map(r => row(name(r), r, c.counters.instructions && c.counters.instructions.value))))) : null;
	return section(title, c.reason ? element('p', null, badge(c.status), ' ', c.reason) : null,
		list('Functions', c.n_functions, c.functions, f => f.name + (f.object ? ` (${f.object})` : '')),
		list('Lines', c.n_lines, c.lines, l => `${l.file}:${l.line}`));
}
