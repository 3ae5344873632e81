// SPDX-License-Identifier: Apache-2.0
// The table of a comparison, a row for each verdict, and the page of one of its cases.

// Half the width of the scale that all intervals of the table share: nine in ten fit, and of up to ten all.
function reachOf(rows) {
	const ends = ascending(rows.filter(r => r.ci).map(r => Math.max(...r.ci.map(v => Math.abs(Math.log(v))))));
	const margins = rows.map(r => r.margin || 0);
	return Math.max(0.01, 3 * Math.min(...margins.filter(Boolean), 1) * (margins.some(Boolean) ? 1 : 0), ends.length ? ends[Math.ceil(0.9 * (ends.length - 1))] : 0) * 1.1;
}

// Only the times of earlier runs are known, so the verdict on a count has no past.
function pastOfRow(r) {
	return r.metric === 'time_s' ? pastOf(r.key) : [];
}

function comparisonTable() {
	const rows = [...page.gate.cases].sort((a, b) => gravest.indexOf(a.verdict) - gravest.indexOf(b.verdict) || b.suspect - a.suspect || (b.ratio || 0) - (a.ratio || 0));
	const reach = reachOf(rows);
	return {
		caption: `Verdicts, the most severe first. A change above zero is slower. Pictures reach from ${change(Math.exp(-reach))} to ${change(Math.exp(reach))}; their grey band is the margin.`,
		one: 'verdict', rows, order: gravest,
		badges: r => [r.verdict],
		text: r => [r.key, r.verdict, r.metric, r.evidence, r.reason, r.suspect ? 'suspect' : ''].join(' '),
		columns: [
			{label: 'Case', value: r => r.key, cell: r => [caseLink(r.key), element('div', {class: 'reason'}, [r.verdict === 'PASS' && changeText(r) ? '' : r.reason, causeText(r)].filter(Boolean).join('; '))]},
			{label: 'Verdict', number: true, left: true, value: r => gravest.indexOf(r.verdict), cell: r => [badge(r.verdict), r.suspect ? ' suspect' : '']},
			{label: 'Metric', value: r => r.metric, cell: r => r.metric},
			{label: 'Change', number: true, value: r => r.ratio, cell: changeText},
			{label: 'Interval', number: true, left: true, value: r => r.ci && r.ci[1], cell: r => r.ci ? [intervalPicture(r, 200, 22, reach), element('span', {class: 'muted'}, interval(r))] : ''},
			{label: 'Margin', number: true, value: r => r.margin, cell: r => r.margin == null ? '' : percent(r.margin)},
			{label: 'Pairs', number: true, value: r => r.pairs, cell: r => r.pairs == null ? '' : grouped(r.pairs)},
			{label: 'Past', number: true, left: true, value: r => pastOfRow(r).length > 1 ? pastOfRow(r).length : null, cell: r => sparkline(pastOfRow(r), 96, 24)},
			{label: 'Evidence', value: r => r.evidence, cell: r => r.evidence === 'none' ? '' : r.evidence},
		],
	};
}

// A self-check that is inconclusive has not failed, and proves nothing.
function controlState(k) {
	return !k.ok ? 'failed' : k.verdict === 'INCONCLUSIVE' ? 'inconclusive' : 'passed';
}

function controlsText(controls) {
	const n = state => controls.filter(k => controlState(k) === state).length;
	return [`${n('passed')} of ${controls.length} passed`, n('inconclusive') && `${n('inconclusive')} inconclusive`, n('failed') && `${n('failed')} failed`].filter(Boolean).join(', ');
}

function comparisonFacts() {
	const c = page.comparison, controls = page.gate.controls.items || [];
	return [['Head (new)', [c.head, c.head_build.compiler].filter(Boolean).join(', ')], ['Base (old)', [c.base, c.base_build.compiler].filter(Boolean).join(', ')],
		['Suite', `${c.suite}, seed ${c.seed}`], ['Machine', c.machine], ['Precision', page.gate.fitness],
		['False alarms', `at most ${percent(c.alpha)} of comparisons of unchanged code`],
		['Self-checks', controls.length ? controlsText(controls) : null],
		['Started', when(c.started)], ['Finished', c.ended ? when(c.ended) : 'it did not finish'], ['Repeat', command(page.repeat)]];
}

// Cases whose outcome is known beforehand.
function controlsPart() {
	const items = page.gate.controls.items || [];
	if (!items.length)
		return [];
	const heads = ['Case', 'Kind', 'Self-check', 'Verdict', 'Change', 'Pairs'], isNumber = i => i > 3;
	return [element('h2', null, 'Self-checks'), element('table', {class: 'cards', role: 'table'},
		element('caption', null, 'Comparisons whose outcome is known in advance. If one fails, no verdict on time can be trusted.'),
		cardHeads(heads, isNumber),
		element('tbody', {role: 'rowgroup'}, items.map(k => cardRow(heads, [k.key, k.kind === 'aa' ? 'base against base' : `head with ${percent(k.injected)} more work`, controlState(k), badge(k.verdict),
			k.ratio == null ? '' : change(k.ratio), k.pairs == null ? '' : grouped(k.pairs)], isNumber))))];
}

function sidesTable(c, exact) {
	const entries = [], row = (rung, name, base, head, text, note) => entries.push({rung, cells: [name, base === undefined ? '–' : text(base), head === undefined ? '–' : text(head),
		base && head && base.value && head.value != null ? change(Number(head.value) / Number(base.value)) : '', note]});
	const names = (a, b) => [...new Set([...Object.keys(a), ...Object.keys(b)])];
	const [eb, eh] = ['base', 'head'].map(s => exact[s] && exact[s].status === 'ok' ? exact[s].counters : {});
	for (const name of names(eb, eh))
		row('exact', name, eb[name], eh[name], e => grouped(Number(e.value)), (eh[name] || eb[name]).how);
	for (const name of names(c.counters.base, c.counters.head)) {
		const any = c.counters.head[name] || c.counters.base[name];
		row(any.source, name, c.counters.base[name], c.counters.head[name], countText, countNote(any));
	}
	for (const tag of names(c.metrics.base, c.metrics.head)) {
		const any = c.metrics.head[tag] || c.metrics.base[tag];
		row(any.source || 'time', tag, c.metrics.base[tag], c.metrics.head[tag], m => metricText(tag, m), metricNote(any));
	}
	return rungTable('Medians over the pairs, the most reliable evidence first', ['Name', 'Base (old)', 'Head (new)', 'Change', 'Note'], entries);
}

function pairsTable(c) {
	const note = p => [['base', p.base], ['head', p.head]].filter(([, s]) => s.status !== 'ok').map(([name, s]) => `${name} ${s.status}: ${s.reason}`).join('; ')
		|| (!p.blocks ? 'same machine code, so it was not timed' : !p.usable ? 'not used: too disturbed' : p.steady ? '' : 'not steady after the warm-up');
	return element('details', null, element('summary', null, `All ${plural(c.pairs.length, 'pair')} with their seeds`), element('div', {class: 'scroll'}, element('table', null,
		element('caption', null, 'Pairs of fresh processes, in the order they were measured'),
		element('thead', null, element('tr', null, ['Pair', 'Change', 'Base', 'Head', 'Blocks', 'Discarded', 'Iterations', 'Took', 'Seed', 'Note'].map((h, i) => element('th', {scope: 'col', class: i && i < 9 && 'number'}, h)))),
		element('tbody', null, c.pairs.map((p, i) => element('tr', null, element('th', {scope: 'row'}, String(i + 1)),
			[p.ratio == null ? '' : change(p.ratio), time(c.times[i][0]), time(c.times[i][1]), grouped(p.blocks), grouped(p.dropped_blocks), grouped(p.iterations), quantity(p.seconds, 's'), String(p.seed)]
				.map(text => element('td', {class: 'number'}, text)), element('td', null, note(p))))))));
}

function comparisonCase(key) {
	const c = page.cases.find(x => x.key === key && x.control === 'none'), rows = verdictsOf(key), timed = rows.find(r => r.metric === 'time_s');
	const exact = {};
	for (const side of ['base', 'head'])
		exact[side] = page.exact && page.exact[side].cases.find(e => e.key === key);
	const pairs = c && c.pairs.some(p => p.ratio != null), k = page.comparison;
	return [
		...section('Verdicts', verdictTable(rows)),
		c ? [c.reason, c.difference, c.undecided && timed && c.undecided !== timed.reason ? 'Inconclusive: ' + c.undecided : ''].filter(Boolean).map(t => element('p', null, t)) : null,
		...(pairs ? section('Time', element('div', {class: 'figures'}, pairsPicture(c, timed), sidesPicture(c.quantiles)), pairsTable(c)) : []),
		...pastPart(key),
		...profilePart(key),
		...section('Counters and metrics', c ? sidesTable(c, exact) : null, c ? unavailableList({...c.unavailable.base, ...c.unavailable.head}) : null),
		...exactPart(exact.base, 'Instructions of the base by function'), ...exactPart(exact.head, 'Instructions of the head by function'),
		...section('This measurement', facts([['Repeat', repeatCommand(key)], ['Seed', String(k.seed)], ['Base variant', c && c.base_variant],
			['Program', commitText(k.program)], ['Budget', quantity(k.budget_s, 's') + ' a case']])),
		...section('Base', facts([['Named', k.base], ...buildFacts(k.base_build)])), ...section('Head', facts([['Named', k.head], ...buildFacts(k.head_build)])),
		...section('Machine', facts([['Precision', page.gate.fitness], ...Object.entries(k.machine_facts)])),
		...(c ? c.pairs.flatMap((p, i) => ['base', 'head'].flatMap(side => logPart(`Output of the ${side} in pair ${i + 1}`, p[side].log))) : []),
	].flat();
}

function comparisonView() {
	return {heading: 'Cases', table: comparisonTable(), last: [controlsPart(), element('h2', null, 'This comparison'), facts(comparisonFacts())], parts: comparisonCase};
}
