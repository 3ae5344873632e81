// SPDX-License-Identifier: Apache-2.0
// Pictures as SVG. Each has its words beside it, so that nothing is known by looking alone.

function shape(name, attributes, ...children) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, typeof value === 'number' ? Number(value.toFixed(2)) : value);
	e.append(...children.flat(Infinity).filter(c => c != null));
	return e;
}

function svg(width, height, label, ...children) {
	const what = label ? {role: 'img', 'aria-label': label} : {'aria-hidden': 'true'};
	return shape('svg', {viewBox: `0 0 ${width} ${height}`, width, height, ...what}, ...children);
}

function figure(picture, ...caption) {
	return element('figure', null, picture, element('figcaption', null, ...caption));
}

// As wide as the page allows.
function pictureWidth() {
	return Math.max(260, Math.min(600, document.getElementById('page').clientWidth - 8));
}

// About n round numbers between two others.
function ticks(low, high, n) {
	const rough = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(rough));
	const step = power * [1, 2, 5, 10].find(s => s * power >= rough), list = [];
	for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
		list.push(i * step);
	return list;
}

function linear(from, to, low, high) {
	return v => low + (high - low) * (to === from ? 0.5 : (v - from) / (to - from));
}

// Times on an axis share one unit, with as many decimals as tell its steps apart.
function timeLabels(values) {
	const largest = Math.max(...values.map(Math.abs)) * 1e-9, [factor, unit] = scaleOf(largest, 's');
	const step = values.length > 1 ? (values[1] - values[0]) * 1e-9 / factor : 1;
	const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
	return values.map(v => (v * 1e-9 / factor).toFixed(decimals) + ' ' + unit);
}

// A field with a left axis of values and a lower one of places.
function field(width, height, x, y, label) {
	const left = 62, right = 14, top = 8, bottom = 40;
	const f = {
		x: linear(x.from, x.to, left, width - right), y: linear(y.from, y.to, height - bottom, top),
		left, right: width - right, top, bottom: height - bottom, parts: [],
	};
	const at = ticks(y.from, y.to, 5), names = y.labels(at);
	at.forEach((v, i) => f.parts.push(
		shape('line', {class: 'axis', x1: left, x2: width - right, y1: f.y(v), y2: f.y(v)}),
		shape('text', {x: left - 6, y: f.y(v) + 4, 'text-anchor': 'end'}, names[i])));
	// what is counted has no halves
	const below = x.ticks || ticks(x.from, x.to, Math.max(2, Math.floor(width / 110))).filter(v => Math.abs(v - Math.round(v)) < 1e-9).map(Math.round), words = (x.labels || (v => v.map(String)))(below);
	below.forEach((v, i) => f.parts.push(
		shape('line', {class: 'axis', x1: f.x(v), x2: f.x(v), y1: f.bottom, y2: f.bottom + 4}),
		shape('text', {x: f.x(v), y: f.bottom + 16, 'text-anchor': 'middle'}, words[i])));
	f.parts.push(shape('text', {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle'}, x.name));
	f.svg = () => svg(width, height, label, ...f.parts);
	return f;
}

// Bounds with room above and below; single values far off do not flatten the rest, but stand at the edge.
function bounds(sorted) {
	const at = share => sorted[Math.round(share * (sorted.length - 1))], spread = Math.max(at(0.9) - at(0.1), at(0.5) * 0.002);
	const from = Math.max(at(0), at(0.1) - 4 * spread), to = Math.min(at(1), at(0.9) + 4 * spread), room = (to - from) * 0.06 || at(0.5) * 0.01;
	return {from: from - room, to: to + room, labels: timeLabels};
}

const middleOf = sorted => sorted[Math.floor((sorted.length - 1) / 2)];
const ascending = list => [...list].sort((a, b) => a - b);

// Bits of a sample, as the database has them. Frequency and pressure speak against no sample.
const disturbances = [[1, 'switch'], [2, 'migration'], [4, 'steal'], [8, 'fault'], [16, 'throttle'], [128, 'slow core']];
const AGAINST = disturbances.reduce((all, [bit]) => all | bit, 0), NEW_ROUND = 1 << 16;

function clamp(v, from, to) {
	return Math.min(Math.max(v, from), to);
}

// Where in the field a time lies; one beyond its edge is a triangle there.
function mark(f, y, x, ns, disturbed) {
	const at = f.y(clamp(ns, y.from, y.to)), px = f.x(x);
	if (ns > y.to || ns < y.from) {
		const d = ns > y.to ? 7 : -7;
		return shape('path', {class: 'marked', d: `M${px} ${at}l4 ${d}h-8z`});
	}
	return disturbed ? shape('rect', {class: 'marked', x: px - 3, y: at - 3, width: 6, height: 6, transform: `rotate(45 ${px.toFixed(2)} ${at.toFixed(2)})`})
		: shape('circle', {class: 'head whole', cx: px, cy: at, r: 2.3});
}

// Time of each sample in the order they were taken, or of groups of them; the interval of the median as a band.
function samplesPicture(c) {
	const values = c.points ? c.points.map(p => p[0]) : c.groups.flatMap(g => [g[1], g[3]]);
	const y = bounds(ascending(values)), n = c.points ? c.points.length : c.groups.length;
	const f = field(pictureWidth(), 240, {from: 1, to: Math.max(n, 2), name: c.points ? 'sample' : 'group of samples'}, y,
		`Time per iteration of ${plural(c.samples, 'sample')} in order: median ${time(c.median_ns)}, least ${time(c.min_ns)}`);
	const band = v => f.y(clamp(v, y.from, y.to));
	if (c.ci95_ns)
		f.parts.unshift(shape('rect', {class: 'band', x: f.left, width: f.right - f.left, y: band(c.ci95_ns[1]), height: Math.max(1.5, band(c.ci95_ns[0]) - band(c.ci95_ns[1]))}));
	f.parts.push(shape('line', {class: 'head', x1: f.left, x2: f.right, y1: f.y(c.median_ns), y2: f.y(c.median_ns)}));
	let rounds = 0, disturbed = 0;
	(c.points || c.groups).forEach((p, i) => {
		const flags = p[p.length - 1];
		if (flags & NEW_ROUND && i) {
			rounds++;
			f.parts.push(shape('line', {class: 'zero dashed', x1: f.x(i + 0.5), x2: f.x(i + 0.5), y1: f.top, y2: f.bottom}));
		}
		disturbed += flags & AGAINST ? 1 : 0;
		if (!c.points)
			f.parts.push(shape('line', {class: 'head', x1: f.x(i + 1), x2: f.x(i + 1), y1: f.y(clamp(p[1], y.from, y.to)), y2: f.y(clamp(p[3], y.from, y.to))}));
		f.parts.push(mark(f, y, i + 1, c.points ? p[0] : p[2], flags & AGAINST));
	});
	const thinned = c.points ? '' : `${plural(c.samples, 'sample')} are shown as ${n} groups in order of time: a line from the least to the most of each, its median as a mark. `;
	return figure(f.svg(), `Samples in the order they were taken. ${thinned}The line is the median${c.ci95_ns ? ', the band its 95 % interval over processes' : ''}`
		+ (disturbed ? '; diamonds are disturbed' : '') + (rounds ? '; a dashed line begins another process' : '') + '. Triangles at the edge lie beyond it.');
}

// Shares of the samples by time, as bars.
function distributionPicture(c) {
	const values = ascending(c.points ? c.points.map(p => p[0]) : c.quantiles), y = bounds(values), n = 32;
	const bars = new Array(n).fill(0), share = linear(y.from, y.to, 0, n);
	let beyond = 0;
	for (const v of values)
		if (v < y.from || v > y.to)
			beyond++;
		else
			bars[Math.min(n - 1, Math.floor(share(v)))]++;
	const most = Math.max(...bars) / values.length, width = pictureWidth();
	const f = field(width, 240, {from: y.from, to: y.to, name: 'time per call', ticks: ticks(y.from, y.to, Math.max(2, Math.floor(width / 120))), labels: timeLabels},
		{from: 0, to: most * 1.08, labels: v => v.map(s => (100 * s).toFixed(most < 0.05 ? 1 : 0) + ' %')},
		`Distribution of the time per iteration: half of all between ${time(values[Math.round((values.length - 1) / 4)])} and ${time(values[Math.round((values.length - 1) * 3 / 4)])}`);
	bars.forEach((b, i) => {
		const x = f.x(y.from + (y.to - y.from) * i / n), to = f.x(y.from + (y.to - y.from) * (i + 1) / n), top = f.y(b / values.length);
		if (b)
			f.parts.push(shape('rect', {class: 'head whole', x: x + 0.5, width: to - x - 1, y: top, height: f.bottom - top}));
	});
	f.parts.push(shape('line', {class: 'zero dashed', x1: f.x(c.median_ns), x2: f.x(c.median_ns), y1: f.top, y2: f.bottom}));
	return figure(f.svg(), `Distribution. The dashed line is the median${beyond ? `; ${percent(beyond / values.length)} of the samples lie beyond the edges` : ''}.`);
}

// Share of the samples that took no longer, of both sides of a comparison.
function sidesPicture(quantiles) {
	const both = [...quantiles.base, ...quantiles.head], y = bounds(ascending(both)), width = pictureWidth();
	const f = field(width, 240, {from: y.from, to: y.to, name: 'time per call', ticks: ticks(y.from, y.to, Math.max(2, Math.floor(width / 120))), labels: timeLabels},
		{from: 0, to: 1, labels: v => v.map(s => Math.round(100 * s) + ' %')},
		`Share of the samples below a time: median of the base ${time(middleOf(quantiles.base))}, of the head ${time(middleOf(quantiles.head))}`);
	for (const side of ['base', 'head']) {
		const points = quantiles[side].map((v, i) => `${f.x(clamp(v, y.from, y.to)).toFixed(1)},${f.y(i / (quantiles[side].length - 1)).toFixed(1)}`).join(' ');
		f.parts.push(shape('polyline', {class: `${side} line${side === 'base' ? ' dashed' : ''}`, points}));
	}
	return figure(f.svg(), 'Cumulative share of the samples of all pairs: the base dashed, the head solid. Further left is faster.');
}

// Change of each pair, with the interval of all.
function pairsPicture(c, row) {
	const ratios = c.pairs.map(p => p.ratio).filter(r => r != null), within = row && row.ci ? row.ci : [];
	const from = Math.min(1, ...ratios, ...within), to = Math.max(1, ...ratios, ...within), room = (to - from) * 0.08 || 0.001;
	const f = field(pictureWidth(), 240, {from: 1, to: Math.max(2, c.pairs.length), name: 'pair of processes'},
		{from: from - room, to: to + room, labels: v => v.map(change)},
		`Change in each of ${plural(c.pairs.length, 'pair')}, from ${change(Math.min(...ratios))} to ${change(Math.max(...ratios))}`);
	if (row && row.ci)
		f.parts.unshift(shape('rect', {class: 'band', x: f.left, width: f.right - f.left, y: f.y(row.ci[1]), height: Math.max(1.5, f.y(row.ci[0]) - f.y(row.ci[1]))}));
	f.parts.push(shape('line', {class: 'zero', x1: f.left, x2: f.right, y1: f.y(1), y2: f.y(1)}));
	c.pairs.forEach((p, i) => {
		if (p.ratio != null)
			f.parts.push(shape('circle', {class: 'head whole', cx: f.x(i + 1), cy: f.y(p.ratio), r: 3}));
	});
	const left = c.pairs.length - ratios.length;
	return figure(f.svg(), 'Change of the head relative to the base in each pair of processes; the band is the interval of all, above the line is slower.'
		+ (left ? ` ${plural(left, 'pair')} could not be used.` : ''));
}

// Interval of a change against the margin, on a scale that a whole table shares.
function intervalPicture(row, width, height, reach, label) {
	const x = linear(-reach, reach, 6, width - 6), log = r => clamp(Math.log(r), -reach, reach), y = height / 2, parts = [];
	if (row.margin != null)
		parts.push(shape('rect', {class: 'band', x: x(log(1 / (1 + row.margin))), width: x(log(1 + row.margin)) - x(log(1 / (1 + row.margin))), y: 1, height: height - 2}));
	parts.push(shape('line', {class: 'zero', x1: x(0), x2: x(0), y1: 0, y2: height}));
	if (row.ci) {
		const [from, to] = row.ci.map(log).map(x);
		parts.push(shape('line', {class: 'mark', x1: from, x2: to, y1: y, y2: y, 'stroke-width': 2}));
		row.ci.forEach((v, i) => {
			const at = i ? to : from, d = i ? -4 : 4;
			// ends within the shape of the verdict would spoil it
			if (row.ratio != null && Math.abs(at - x(log(row.ratio))) < 7)
				return;
			parts.push(Math.abs(Math.log(v)) > reach ? shape('path', {class: 'mark line', d: `M${at + d} ${y - 4}L${at} ${y}L${at + d} ${y + 4}`})
				: shape('line', {class: 'mark', x1: at, x2: at, y1: y - 4, y2: y + 4, 'stroke-width': 2}));
		});
	}
	if (row.ratio != null)
		parts.push(verdictMark(row.verdict, x(log(row.ratio)), y));
	const picture = svg(width, height, label, ...parts);
	picture.setAttribute('class', row.verdict);
	return picture;
}

// A shape for each verdict: slower points up, faster down, undecided is hollow.
function verdictMark(verdict, x, y) {
	if (verdict === 'REGRESSED' || verdict === 'WRONG_RESULT')
		return shape('path', {class: 'mark', d: `M${x} ${y - 6}l6 10h-12z`});
	if (verdict === 'IMPROVED')
		return shape('path', {class: 'mark', d: `M${x} ${y + 6}l6 -10h-12z`});
	return shape('circle', {class: 'mark', cx: x, cy: y, r: 4, 'stroke-width': 2});
}

// Medians of earlier runs as a line; the last point is the run itself, or the last before a comparison.
function sparkline(points, width, height) {
	if (points.length < 2)
		return null;
	const medians = points.map(p => p.median), low = Math.min(...medians), high = Math.max(...medians), middle = (low + high) / 2;
	// a change of 2 % fills the height, so that noise does not look like news
	const half = Math.max((high - low) / 2, middle * 0.01), x = linear(0, points.length - 1, 3, width - 5), y = linear(middle - half, middle + half, height - 4, 4);
	const line = points.map((p, i) => `${x(i).toFixed(1)},${y(p.median).toFixed(1)}`).join(' '), last = points.length - 1;
	return svg(width, height, null, shape('polyline', {class: 'head line', points: line}),
		shape('circle', {class: 'head', cx: x(last), cy: y(medians[last]), r: 2.5}));
}

function pastPicture(points) {
	const y = bounds(ascending(points.flatMap(p => [p.low, p.median, p.high]))), width = pictureWidth();
	const every = Math.ceil(points.length / Math.max(2, Math.floor(width / 110)));
	const at = points.map((p, i) => i).filter(i => (points.length - 1 - i) % every === 0);
	const f = field(width, 240, {from: -0.3, to: points.length - 0.7, name: 'run', ticks: at, labels: v => v.map(i => String(points[i].run.id))}, y,
		`Median time in ${plural(points.length, 'run')}: first ${time(points[0].median)}, last ${time(points[points.length - 1].median)}`);
	f.parts.push(shape('polyline', {class: 'head line', points: points.map((p, i) => `${f.x(i).toFixed(1)},${f.y(clamp(p.median, y.from, y.to)).toFixed(1)}`).join(' ')}));
	points.forEach((p, i) => f.parts.push(
		shape('line', {class: 'head', x1: f.x(i), x2: f.x(i), y1: f.y(clamp(p.low, y.from, y.to)), y2: f.y(clamp(p.high, y.from, y.to))}),
		mark(f, y, i, p.median, false)));
	return figure(f.svg(), `Median and its interval in the last ${plural(points.length, 'run')} of the suite on this machine, oldest first, the last being run ${points[points.length - 1].run.id} (${commitText(points[points.length - 1].run)}).`);
}

// A share as a bar; what lies above 1 ends at the edge.
function shareBar(frac) {
	const width = 64;
	return svg(width, 10, null, shape('rect', {class: 'band', x: 0, y: 0, width, height: 10}), shape('rect', {class: 'head whole', x: 0, y: 0, width: width * clamp(frac, 0, 1), height: 10}));
}

// ---- roofline ----

// 100 -> "100", 0.01 -> "0.01", 1000000 -> "1 M".
function decade(v) {
	return v >= 1000 ? quantity(v, '').trim() : String(Number(v.toPrecision(1)));
}

// Cases on as many threads as most have, over their operations a byte, and the limits that they are shares of. Null where
// there is no such case.
function rooflinePicture(cases) {
	const metric = (c, tag) => c.metrics[tag] && c.metrics[tag].value > 0 ? c.metrics[tag].value : null;
	const all = cases.filter(c => c.roof && metric(c, 'roof_frac') && metric(c, 'arith_intensity') && metric(c, 'ops_per_s'));
	const threads = [...new Set(all.map(c => c.threads))].sort((a, b) => all.filter(c => c.threads === b).length - all.filter(c => c.threads === a).length)[0];
	const shown = all.filter(c => c.threads === threads), limits = new Map();
	if (!shown.length)
		return null;
	for (const c of page.cases.filter(c => c.roof && c.threads === threads && metric(c, 'roof_frac'))) {
		const memory = c.roof.bound === 'bandwidth', name = c.roof.name;
		if (limits.has(name))
			continue;
		// the best of the cases that measured this limit: the numbers of their rows
		const of = page.cases.filter(o => o.threads === threads && o.axes.device === c.axes.device && (memory ? o.op.startsWith('stream.') && Object.values(o.axes)[0] === name : o.op.startsWith('peak.' + name)));
		const value = Math.max(...of.map(o => metric(o, memory ? 'bytes_per_s' : 'ops_per_s') || 0));
		if (value > 0)
			limits.set(name, {name, memory, value});
	}
	const intensity = shown.map(c => metric(c, 'arith_intensity')), rates = shown.map(c => metric(c, 'ops_per_s')), peaks = [...limits.values()].filter(l => !l.memory).map(l => l.value);
	const from = {x: Math.min(...intensity) / 2, y: Math.min(...rates) / 2}, to = {x: Math.max(...intensity, 10) * 2, y: Math.max(...rates, ...peaks) * 2};
	const width = Math.min(pictureWidth(), 430), height = 340, left = 48, right = width - 8, top = 8, bottom = height - 40;
	const x = v => linear(Math.log(from.x), Math.log(to.x), left, right)(Math.log(v)), y = v => linear(Math.log(from.y), Math.log(to.y), bottom, top)(Math.log(v));
	const decades = (low, high) => Array.from({length: Math.floor(Math.log10(high)) - Math.ceil(Math.log10(low)) + 1}, (_, i) => 10 ** (Math.ceil(Math.log10(low)) + i));
	const parts = [
		...decades(from.x, to.x).flatMap(v => [shape('line', {class: 'axis', x1: x(v), x2: x(v), y1: top, y2: bottom}), shape('text', {x: x(v), y: bottom + 16, 'text-anchor': 'middle'}, decade(v))]),
		...decades(from.y, to.y).flatMap(v => [shape('line', {class: 'axis', x1: left, x2: right, y1: y(v), y2: y(v)}), shape('text', {x: left - 5, y: y(v) + 4, 'text-anchor': 'end'}, decade(v))]),
		shape('text', {x: (left + right) / 2, y: height - 4, 'text-anchor': 'middle'}, 'operations per byte'),
		shape('text', {x: left + 4, y: top + 10}, 'OP/s'),
	];
	// above a peak or below it, as far right as no point lies
	const dots = shown.map(c => [x(metric(c, 'arith_intensity')), y(metric(c, 'ops_per_s'))]);
	const peakName = (words, line) => {
		const length = 7 * words.length, spots = [];
		for (let end = right - 2; end - length > left + 30; end -= 12)
			spots.push([end, line - 4], [end, line + 12]);
		const free = spots.find(([end, base]) => !dots.some(([px, py]) => px > end - length - 6 && px < end + 6 && py > base - 16 && py < base + 8));
		const [end, base] = free || spots[0];
		return shape('text', {x: end, y: base, 'text-anchor': 'end'}, words);
	};
	// names at the right of a peak, and where a slope ends: at the highest peak or at the edge
	const highest = Math.max(to.y / 2, ...peaks), placed = [];
	for (const l of [...limits.values()].sort((a, b) => b.value - a.value)) {
		if (!l.memory) {
			parts.push(shape('line', {class: 'zero dashed', x1: left, x2: right, y1: y(l.value), y2: y(l.value)}));
			const at = placed.some(p => Math.abs(p - y(l.value)) < 14) ? null : y(l.value);
			if (at != null) {
				placed.push(at);
				parts.push(peakName(`${l.name} ${quantity(l.value, 'op/s')}`, at));
			}
			continue;
		}
		const begin = Math.max(from.x, from.y / l.value), end = Math.min(to.x, highest / l.value);
		if (begin < end)
			parts.push(shape('line', {class: 'zero', x1: x(begin), x2: x(end), y1: y(begin * l.value), y2: y(end * l.value)}));
	}
	shown.forEach(c => parts.push(shape('circle', {class: 'head whole', cx: x(metric(c, 'arith_intensity')), cy: y(metric(c, 'ops_per_s')), r: 4}, shape('title', null, `${c.key}: ${limitText(c)} of ${c.roof.name}`))));
	const slopes = [...limits.values()].filter(l => l.memory).sort((a, b) => b.value - a.value).map(l => `${l.name} ${quantity(l.value, 'B/s')}`).join(', ');
	const others = all.length - shown.length;
	return figure(svg(width, height, `Roofline: operations a second of ${plural(shown.length, 'case')} over their operations per byte, below the limits of the machine`, ...parts),
		`Roofline on ${plural(threads, 'thread')}: operations per second against operations per byte. Dashed lines are peaks of arithmetic${slopes ? `, slopes from the left the bandwidths ${slopes}` : ''}.${others ? ` ${plural(others, 'case')} with other thread counts ${others === 1 ? 'is' : 'are'} left out.` : ''}`);
}
