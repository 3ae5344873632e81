// SPDX-License-Identifier: Apache-2.0
// The matrix of a fleet, cases by machines, and the page of one of its cases with all machines.

// With more machines than fit beside each other, a case has its range in place of its row.
const mostMachines = 8;

function cellOf(c, machine) {
	return c.machines.find(m => m.name === machine.name);
}

// The value that is compared between machines: the time, or its change.
function numberOf(cell) {
	return page.base ? cell && cell.ratio : cell && cell.median_ns;
}

function numberText(cell) {
	return numberOf(cell) == null ? '' : page.base ? (cell.ci ? change(cell.ratio) : '') : time(cell.median_ns);
}

// That a machine has no baseline stands beside its name.
function isWorthSaying(cell) {
	return cell && cell.verdict !== 'PASS' && (cell.verdict !== 'INCOMPARABLE' || page.base != null);
}

// Of a first fleet there is nothing to compare with, which is no verdict on a case.
function verdictOf(x) {
	const judged = page.base != null || page.machines.some(m => m.status === 'INCOMPARABLE');
	return x.verdict === 'INCOMPARABLE' && !judged ? 'ok' : x.verdict;
}

function cellParts(cell) {
	return [numberText(cell), isWorthSaying(cell) ? element('div', null, badge(cell.verdict)) : ''];
}

// Why it is so, of the machines with a verdict as grave as the case's.
function reasonsOf(c) {
	return c.machines.filter(m => m.reason && m.verdict === c.verdict && isWorthSaying(m)).slice(0, 2).map(m => `${m.name}: ${m.reason}`).join('; ');
}

function storedOf(m) {
	return m.run ? 'r' + m.run : m.comparison ? 'c' + m.comparison : '';
}

function machineTable(machines, caption) {
	const heads = ['Machine', 'Verdict', 'Stored', 'Kind', 'Reason'];
	return element('table', {class: 'cards', role: 'table'}, element('caption', null, caption), cardHeads(heads, () => false),
		element('tbody', {role: 'rowgroup'}, machines.map(m => cardRow(heads, [m.name, badge(m.status), storedOf(m), m.machine || '', m.reason || ''], () => false))));
}

// All of few; of many those that did not pass, and the rest folded.
function machinesPart() {
	const order = [...page.machines].sort((a, b) => gravest.indexOf(a.status) - gravest.indexOf(b.status));
	const passed = order.filter(m => m.status === 'PASS'), others = order.filter(m => m.status !== 'PASS'), few = order.length <= mostMachines;
	return [element('h2', null, 'Machines'),
		few || others.length ? machineTable(few ? order : others, few ? 'The most severe first' : 'Machines with another verdict than PASS, the most severe first') : null,
		few || !passed.length ? null : element('details', null, element('summary', null, `${plural(passed.length, 'machine')} with the verdict PASS`), machineTable(passed, 'The rest'))];
}

function rangeOf(c) {
	const measured = c.machines.filter(m => numberText(m)).sort((a, b) => numberOf(a) - numberOf(b));
	return measured.length ? [measured[0], measured[measured.length - 1]] : null;
}

function othersText(c) {
	return gravest.map(v => [v, c.machines.filter(m => m.verdict === v && isWorthSaying(m)).length]).filter(([, n]) => n).map(([v, n]) => `${v} on ${n}`).join(', ');
}

function fleetTable() {
	const rows = [...page.cases].sort((a, b) => gravest.indexOf(verdictOf(a)) - gravest.indexOf(verdictOf(b))), wide = page.machines.length > mostMachines;
	// how much longer the slowest takes than the fastest
	const spread = c => page.base || !rangeOf(c) || c.machines.length < 2 ? null : rangeOf(c)[1].median_ns / rangeOf(c)[0].median_ns;
	const end = (label, i) => ({label, number: true, value: c => rangeOf(c) && numberOf(rangeOf(c)[i]),
		cell: c => rangeOf(c) ? [numberText(rangeOf(c)[i]), element('div', {class: 'muted'}, rangeOf(c)[i].name)] : ''});
	const machines = wide ? [end('Least', 0), end('Most', 1), {label: 'Other than PASS', value: othersText, cell: othersText}]
		: page.machines.map(m => ({label: m.name, number: true, value: c => numberOf(cellOf(c, m)) ?? (cellOf(c, m) && Infinity), cell: c => cellParts(cellOf(c, m))}));
	return {
		caption: (page.base ? 'Change of the head relative to the base on each machine, above zero is slower.' : 'Median time of one call on each machine.') + ' The most severe first; a case has all machines on a page of its own.',
		one: 'case', rows, order: gravest,
		badges: c => [verdictOf(c)],
		text: c => [c.key, verdictOf(c), ...c.machines.filter(isWorthSaying).flatMap(m => [m.name, m.verdict, m.reason])].join(' '),
		columns: [
			{label: 'Case', value: c => c.key, cell: c => [caseLink(c.key), element('div', {class: 'reason'}, reasonsOf(c))]},
			{label: 'Verdict', number: true, left: true, value: c => gravest.indexOf(verdictOf(c)), cell: c => badge(verdictOf(c))},
			...machines,
			{label: 'Spread', number: true, value: spread, cell: c => spread(c) == null ? '' : change(spread(c))},
		],
	};
}

function fleetCase(key) {
	const c = page.cases.find(x => x.key === key), most = Math.max(...c.machines.map(m => numberOf(m) || 0)), kind = m => (page.machines.find(x => x.name === m.name) || {}).machine || '';
	const order = [...c.machines].sort((a, b) => gravest.indexOf(a.verdict) - gravest.indexOf(b.verdict) || (numberOf(b) || 0) - (numberOf(a) || 0));
	const reach = reachOf(c.machines), heads = ['Machine', 'Verdict', page.base ? 'Change' : 'Time', page.base ? 'Interval' : 'Of the longest', 'Kind', 'Reason'];
	const picture = m => page.base ? (m.ci ? [intervalPicture(m, 200, 22, reach), element('span', {class: 'muted'}, interval(m))] : '')
		: m.median_ns == null ? '' : [shareBar(m.median_ns / most), ' ', percent(m.median_ns / most)];
	return [
		element('p', null, badge(verdictOf(c))),
		c.machines.length ? element('table', {class: 'cards', role: 'table'}, element('caption', null, 'All machines that measured it or had to, the most severe first'), cardHeads(heads, i => i === 2),
			element('tbody', {role: 'rowgroup'}, order.map(m => cardRow(heads, [m.name, badge(verdictOf(m)), numberText(m), picture(m), kind(m), verdictOf(m) === 'ok' ? '' : m.reason || ''], i => i === 2))))
			: element('p', null, 'No machine measured it, because the one that had to is lost.'),
	];
}

function fleetView() {
	const stored = page.machines.filter(storedOf).map(storedOf);
	return {first: machinesPart(), heading: 'Cases by machines', table: fleetTable(), last: [element('h2', null, 'This fleet'), facts([
		['Suite', page.suite], ['Partition', page.partition], ['Head (new)', page.head], ['Base (old)', page.base], ['Started', page.started && when(page.started)],
		['False alarms', page.alpha == null ? null : `at most ${percent(page.alpha)} of gates over unchanged code, all machines together`],
		['Details of a machine', stored.length ? element('code', null, `assay show ${stored[0]}`) : null]])], parts: fleetCase};
}
