// SPDX-License-Identifier: Apache-2.0
// The table of a run, and the page of one of its cases.

// Cases that the gate misses: of the manifest but not in the run, or not counted as they must be. They have verdicts alone.
function absentCases() {
	const measured = new Set(page.cases.map(c => c.key)), rows = page.gate ? page.gate.cases.filter(r => !measured.has(r.key) && r.verdict !== 'PASS') : [];
	return [...new Set(rows.map(r => r.key))].map(key => ({key, status: 'absent', absent: true, metrics: {}}));
}

// The verdict that a row shows: the gravest of the gate's; of a case that is not ok its status; else that it was measured.
// A case that may be skipped passes the gate, and the row still says that it was skipped.
function runBadge(c) {
	const names = verdictsOf(c.key).filter(r => !r.skipped).map(r => r.verdict);
	return c.status !== 'ok' && !names.length ? c.status : gravest.find(v => names.includes(v)) || c.status;
}

function widthFrac(c) {
	return c.ci95_ns ? (c.ci95_ns[1] - c.ci95_ns[0]) / 2 / c.median_ns : null;
}

// Warnings that a reader must see before believing a time.
function warnings(c) {
	if (!c.median_ns)
		return '';
	return [(c.deviates || []).length ? 'deviates on ' + c.deviates.join(', ') : '', c.ci95_ns ? '' : c.rounds > 1 ? 'processes differ' : 'one process', c.converged === false ? 'wide interval' : '', c.steady ? '' : 'not steady', c.slow_core ? 'slow core' : '',
		c.dropped_frac > 0 ? `${percent(c.dropped_frac)} discarded` : '', c.disturbed_frac > 0.5 ? 'disturbed' : ''].filter(Boolean).join(', ');
}

function rateOf(c) {
	return c.rate && c.metrics[c.rate] ? c.metrics[c.rate] : null;
}

function limitOf(c) {
	return c.roof && c.metrics.roof_frac ? c.metrics.roof_frac.value : null;
}

const exceededText = 'above 105 %, so the limit or the case was not measured correctly';

// The mark is the one that tables have.
function limitText(c) {
	return percent(limitOf(c)) + (c.roof.exceeded ? NBSP + 'wrong' : '');
}

function againstText(c) {
	if (!c.against)
		return '';
	const s = c.against.speedup, slower = s < 1;
	const [lo, hi] = c.against.speedup_ci, range = slower ? [1 / hi, 1 / lo] : [lo, hi];
	return `${times(slower ? 1 / s : s)} ${slower ? 'slower' : 'faster'} than ${c.against.variant} (${range.map(times).join(' to ')})`;
}

// ---- the best variant of each shape ----

// Cases of one shape differ in variant and number of threads alone.
function shapeOf(c) {
	return JSON.stringify([c.op, c.axes, c.cache]);
}

// Work a second; calls a second where the op counts none.
function speedOf(c) {
	const rate = rateOf(c);
	return rate && rate.value > 0 ? rate.value : 1e9 / c.median_ns;
}

function bestCases() {
	const best = new Map();
	for (const c of page.cases.filter(c => c.status === 'ok' && c.median_ns)) {
		const other = best.get(shapeOf(c));
		if (!other || speedOf(c) > speedOf(other))
			best.set(shapeOf(c), c);
	}
	return [...best.values()];
}

// "95 %" of a time, and what else makes it doubtful.
function doubtOf(c) {
	const half = c.ci95_ns ? '±' + percent(widthFrac(c)) : '';
	return [half, warnings(c).replace(/wide interval(, )?/, '')].filter(Boolean).join(', ');
}

const numbers = ['Time', 'Rate', 'vs ref'];

function bestRow(c) {
	const axes = Object.entries(c.axes).filter(([name]) => name !== 'device').map(([name, value]) => `${name}=${value}`).join(',');
	const limit = limitOf(c), cell = (label, ...content) => element('td', {role: 'cell', class: numbers.includes(label) ? 'number' : null, 'data-label': label}, content);
	return element('tr', {role: 'row'},
		element('th', {scope: 'row', role: 'rowheader'}, element('a', {class: 'key', href: caseAddress(c.key)}, c.op),
			element('div', {class: 'reason'}, keyText([axes, c.cache === 'cold' ? 'cold' : ''].filter(Boolean).join(', ')))),
		cell('Best variant', c.variant, c.threads > 1 ? `, ${plural(c.threads, 'thread')}` : ''),
		cell('Time', time(c.median_ns), element('div', {class: 'reason'}, doubtOf(c))),
		cell('Rate', rateOf(c) ? metricText(c.rate, rateOf(c)) : ''),
		cell('% of limit', limit == null ? '' : [shareBar(limit), ' ', limitText(c), element('div', {class: 'reason'}, `${c.roof.name} ${c.roof.bound}${c.roof.exceeded ? ': ' + exceededText : ''}`)]),
		cell('vs ref', (c.vs_ref || '').replace(/ %/g, NBSP + '%')));
}

function bestTable() {
	const best = bestCases(), limited = best.filter(c => limitOf(c) != null), others = best.filter(c => limitOf(c) == null);
	const heads = ['Case', 'Best variant', 'Time', 'Rate', '% of limit', 'vs ref'];
	if (!best.length)
		return null;
	return element('table', {class: 'cards best', role: 'table'}, element('caption', null, 'The fastest variant of each shape. The limit is the bandwidth or the arithmetic of this machine that bounds the case.'),
		element('thead', {role: 'rowgroup'}, element('tr', {role: 'row'}, heads.map(h => element('th', {scope: 'col', role: 'columnheader', class: numbers.includes(h) ? 'number' : null}, h)))),
		[limited, others].filter(list => list.length).map(list => element('tbody', {role: 'rowgroup'},
			list === others && limited.length ? element('tr', {role: 'row', class: 'group'}, element('th', {scope: 'rowgroup', role: 'rowheader', colspan: heads.length, class: 'rung'}, 'Limits of this machine, and ops without one')) : null,
			list.map(bestRow))));
}

// Cases that went wrong, before all others.
function failedPart() {
	const failed = [...page.cases, ...absentCases()].filter(c => gravest.indexOf(runBadge(c)) < gravest.indexOf('INCOMPARABLE')), most = 12;
	failed.sort((a, b) => gravest.indexOf(runBadge(a)) - gravest.indexOf(runBadge(b)));
	return failed.length ? [element('h2', null, 'Failures'), element('ul', {class: 'failed'}, failed.slice(0, most).map(c =>
		element('li', null, badge(runBadge(c)), ' ', caseLink(c.key), element('div', {class: 'reason'}, caseReason(c)))),
	failed.length > most ? element('li', null, `and ${failed.length - most} more, which come first among all cases below`) : null)] : [];
}

// The cases that cannot run here, folded into one line with the reasons.
function skippedPart() {
	const skipped = page.cases.filter(c => runBadge(c) === 'skipped'), reasons = new Map();
	for (const c of skipped)
		reasons.set(c.reason, [...(reasons.get(c.reason) || []), c]);
	if (!skipped.length)
		return null;
	const list = [...reasons].sort((a, b) => b[1].length - a[1].length);
	return element('details', {class: 'skipped'}, element('summary', null, `${plural(skipped.length, 'case')} cannot run here: ${list.map(([reason, cases]) => `${reason} (${cases.length})`).join('; ')}`),
		list.map(([reason, cases]) => [element('h3', null, reason), element('ul', null, cases.map(c => element('li', null, caseLink(c.key))))]));
}

function runFirst() {
	const roofline = rooflinePicture(bestCases());
	return [failedPart(), element('h2', null, 'Best of each shape'),
		element('div', {class: roofline ? 'beside' : null}, element('div', null, bestTable()), roofline), skippedPart()];
}

function caseReason(c) {
	return c.reason || (verdictsOf(c.key).find(r => r.verdict === runBadge(c) && r.verdict !== 'PASS') || {}).reason || c.note || '';
}

function runTable() {
	const rows = [...page.cases, ...absentCases()].filter(c => runBadge(c) !== 'skipped').sort((a, b) => gravest.indexOf(runBadge(a)) - gravest.indexOf(runBadge(b)));
	return {
		caption: 'The most severe first. Time is the median of one call; 95 % is half the width of its confidence interval.',
		one: 'case', rows, order: gravest,
		badges: c => [runBadge(c)],
		text: c => [c.key, runBadge(c), c.status, caseReason(c), warnings(c)].join(' '),
		columns: [
			{label: 'Case', value: c => c.key, cell: c => [caseLink(c.key), element('div', {class: 'reason'}, caseReason(c))]},
			{label: 'Verdict', value: c => gravest.indexOf(runBadge(c)), number: true, cell: c => badge(runBadge(c)), left: true},
			{label: 'Time', number: true, value: c => c.median_ns, cell: c => c.median_ns ? time(c.median_ns) : ''},
			{label: '95 %', number: true, value: widthFrac, cell: c => c.ci95_ns ? '±' + percent(widthFrac(c)) : ''},
			{label: 'Rate', number: true, value: c => rateOf(c) && rateOf(c).value, cell: c => rateOf(c) ? metricText(c.rate, rateOf(c)) : ''},
			{label: '% of limit', number: true, value: limitOf, cell: c => limitOf(c) == null ? '' : `${limitText(c)} of ${c.roof.name}`},
			{label: 'Speed-up', value: c => c.against && c.against.speedup, number: true, left: true, cell: againstText},
			{label: 'Past', value: c => pastOf(c.key).length > 1 ? pastOf(c.key).length : null, number: true, left: true, cell: c => sparkline(pastOf(c.key), 96, 24)},
			{label: 'Warnings', value: warnings, cell: c => warnings(c) && element('span', {class: 'muted'}, warnings(c))},
		],
	};
}

function runFacts() {
	const r = page.run;
	return [['Suite', r.imported ? r.suite : `${r.suite}, seed ${r.seed}`], ['Imported from', r.imported], ['Machine', r.machine.label], ['Build', [commitText(r.build), r.build.compiler].filter(Boolean).join(', ')],
		['Started', when(r.started)], ['Finished', r.ended ? when(r.ended) : r.imported ? null : 'it did not finish'],
		['Repeat', r.imported ? null : command(page.repeat)]];
}

function runEnvironment() {
	const r = page.run;
	return [...section('Machine', facts([['Fingerprint', r.machine.id], ...Object.entries(r.machine.facts)])),
		...section('Environment', facts(Object.entries(r.environment)))];
}

// The bound of a case, and advice; a rule gives it only where measured numbers meet its condition.
function boundPart(b) {
	if (!b)
		return [];
	const gain = a => [a.gain ? `expected ${times(a.gain)}` : '', a.gain_most ? `at most ${times(a.gain_most)}` : ''].filter(Boolean).join(', ');
	return section('Bound and advice', facts([['Bound by', b.bound], ['% of limit', b.roof_frac == null ? null : `${percent(b.roof_frac)}${b.exceeded ? NBSP + 'wrong' : ''} of ${b.roof}`], ['Evidence', b.evidence], ['Not measured', b.missing]]),
		b.advice.length ? element('ol', {class: 'advice'}, b.advice.map(a => element('li', null, element('strong', null, a.rule), ': ', a.text, gain(a) ? ` (${gain(a)})` : '', element('div', {class: 'reason'}, a.evidence)))) : null);
}

function absentCase(key) {
	return [...section('Verdicts', verdictTable(verdictsOf(key))),
		...exactPart(page.exact && page.exact.cases.find(e => e.key === key), 'Instructions by function'),
		...section('This measurement', facts([['Repeat', page.run.imported ? null : repeatCommand(key)], ...buildFacts(page.run.build)]))];
}

function runCase(key) {
	const c = page.cases.find(x => x.key === key);
	if (!c)
		return absentCase(key);
	const exact = page.exact && page.exact.cases.find(e => e.key === c.key), badges = [runBadge(c)].concat(c.status === runBadge(c) ? [] : [c.status]);
	const roof = c.roof && limitOf(c) != null ? `${limitText(c)}, ${c.roof.op} (${c.roof.name}, ${c.roof.bound})` : null;
	// the metric of an exact count is the count again, under another name
	const counted = new Set(exact && exact.status === 'ok' ? Object.keys(exact.counters).map(name => 'exact_' + name) : []);
	const counts = [
		...(exact && exact.status === 'ok' ? Object.entries(exact.counters).map(([name, e]) => ({rung: 'exact', cells: [name, grouped(Number(e.value)), e.how]})) : []),
		...Object.entries(c.counters).map(([name, e]) => ({rung: e.source, cells: [name, countText(e), countNote(e)]})),
		...Object.entries(c.metrics).filter(([tag]) => !counted.has(tag)).map(([tag, m]) => ({rung: m.source || 'time', cells: [tag, metricText(tag, m), metricNote(m)]})),
	];
	const output = c.correct == null ? 'not checked' : (c.correct ? 'right' : 'wrong') + (c.max_rel_err == null ? '' : `, worst relative error ${c.max_rel_err.toPrecision(3)}`)
		+ (c.deviates.length ? `; deviates on ${c.deviates.join(', ')}: ${c.deviation}` : '');
	return [
		element('p', null, badges.flatMap(b => [badge(b), ' ']), c.reason || ''), c.note ? element('p', {class: 'reason'}, c.note) : null,
		c.median_ns ? facts([['Time', time(c.median_ns) + (c.ci95_ns ? `, 95 % interval over processes ${time(c.ci95_ns[0])} to ${time(c.ci95_ns[1])}` : c.rounds > 1 ? '; the processes differ too much, so no interval' : '; one process alone, so no interval')],
			['Minimum', time(c.min_ns)], ['Median deviation', time(c.mad_ns)], ['Rate', rateOf(c) && metricText(c.rate, rateOf(c))], ['% of limit', roof && c.roof.exceeded ? `${roof}: ${exceededText}` : roof], ['Speed', againstText(c)]]) : null,
		...section('Verdicts', verdictTable(verdictsOf(c.key))),
		...(c.points && c.points.length || c.groups ? section('Samples', element('div', {class: 'figures'}, samplesPicture(c), distributionPicture(c))) : []),
		...pastPart(c.key),
		...boundPart(page.bottlenecks[c.key]),
		...profilePart(c.key),
		...section('Counters and metrics', rungTable('The most reliable evidence first', ['Name', 'Value', 'Note'], counts), unavailableList(c.unavailable)),
		...exactPart(exact, 'Instructions by function'),
		...section('Disturbance', c.median_ns ? facts([['Disturbed samples', percent(c.disturbed_frac)], ['Discarded samples', percent(c.dropped_frac)],
			['On a slow core', c.slow_core_frac == null ? 'not measured' : percent(c.slow_core_frac)], ['Kinds', disturbanceKinds(c)], ['Warnings', warnings(c) || 'none']]) : null),
		...section('This measurement', facts([['Repeat', page.run.imported ? null : repeatCommand(c.key)], ['Seed', page.run.imported ? null : String(page.run.seed)], ...buildFacts(page.run.build),
			['Output', output], ['Digest of the output', c.digest], ['Machine code', c.code_hash],
			['Samples', c.samples ? `${grouped(c.samples)} of ${plural(c.iterations, 'iteration')} in ${plural(c.rounds, 'process', 'processes')}` : null],
			['CPUs', c.cpus.join(', ')], ['Memory on node', c.numa_node == null ? null : String(c.numa_node)], ['Copies of the inputs', c.copies ? grouped(c.copies) + (c.metrics.rotated_bytes ? `, ${metricText('rotated_bytes', c.metrics.rotated_bytes)} read in turn` : '') : null]])),
		...runEnvironment(),
		...logPart('Its output', c.log),
	];
}

function disturbanceKinds(c) {
	const flags = (c.points || c.groups || []).map(p => p[p.length - 1]), of = c.points ? 'sample' : 'group';
	return disturbances.map(([bit, name]) => [flags.filter(f => f & bit).length, name]).filter(([n]) => n).map(([n, name]) => `${name} in ${plural(n, of)}`).join(', ') || 'none';
}

function runView() {
	return {first: runFirst(), heading: 'All cases', table: runTable(), last: [element('h2', null, 'This run'), facts(runFacts())], parts: runCase};
}
