// SPDX-License-Identifier: Apache-2.0
// Elements of the page, and numbers as the terminal writes them. What a result says becomes text of an element, never
// markup.
'use strict';

function element(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		if (value != null && value !== false)
			e.setAttribute(key, value === true ? '' : value);
	e.append(...children.flat(Infinity).filter(c => c != null && c !== ''));
	return e;
}

// Lines break between the words of a command, but not behind the hyphens of an option.
function command(text) {
	return element('code', null, text.split(/((?<![^\s])--?[a-z][a-z-]*)/).map((part, i) => i % 2 ? element('span', {class: 'option'}, part) : part));
}

const NBSP = '\u00a0';

const scales = {
	s: [[1e-9, 'ns'], [1e-6, 'µs'], [1e-3, 'ms'], [1, 's']],
	B: [[1, 'B'], [2 ** 10, 'KiB'], [2 ** 20, 'MiB'], [2 ** 30, 'GiB'], [2 ** 40, 'TiB']],
	other: [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T']],
};

// The entry of a scale in which a value has one to three digits before its point.
function scaleOf(value, unit) {
	const scale = scales[unit] || scales.other, step = unit === 'B' ? 1024 : 1000;
	let i = 0;
	while (i + 1 < scale.length && Math.abs(value) / scale[i][0] >= step - 0.5)
		i++;
	return scale[i];
}

function digits(v) {
	const a = Math.abs(v);
	return v.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

// 2.54e-5, "s" -> "25.4 µs". A number stays on one line with its unit.
function quantity(value, unit) {
	if (value == null)
		return '–';
	if (unit === '1')
		return Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(3)));
	const [factor, prefix] = scaleOf(value, unit);
	const name = unit === 's' || unit === 'B' ? prefix : prefix + (unit === 'op/s' ? 'OP/s' : unit.replace(/^1\//, '/'));
	return (value === 0 ? '0' : factor === 1 && Number.isInteger(value) ? String(value) : digits(value / factor)) + NBSP + name;
}

// 1234567 -> "1 234 567"
function grouped(value) {
	const [whole, part] = String(Math.abs(value) < 1e15 ? Number(value.toFixed(value % 1 && Math.abs(value) < 1000 ? 2 : 0)) : value).split('.');
	return whole.replace(/(\d)(?=(\d{3})+$)/g, '$1' + NBSP) + (part ? '.' + part : '');
}

function metricText(tag, m) {
	if (m.value == null)
		return '–';
	if (m.unit === '1' && /_(frac|rate)$/.test(tag))
		return percent(m.value);
	if (m.unit === '1/s' && /_per_s$/.test(tag)) {
		const [factor, prefix] = scaleOf(m.value, m.unit), what = tag.replace(/_per_s$/, '').replace('tokens', 'tok');
		return digits(m.value / factor) + NBSP + prefix + (prefix && what !== 'tok' ? NBSP : '') + what + '/s';
	}
	return quantity(m.value, m.unit);
}

function time(ns) {
	return ns == null ? '–' : quantity(ns * 1e-9, 's');
}

function percent(frac) {
	return frac == null ? '–' : digits(frac * 100) + NBSP + '%';
}

// A ratio as a change: 1.0123 -> "+1.23 %", 32.1 -> "×32.1".
function change(ratio) {
	if (ratio == null)
		return '–';
	const p = 100 * (ratio - 1), a = Math.abs(p);
	if (p >= 999.5)
		return times(ratio);
	const text = a < 0.005 ? '0.00' : p.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
	return (p > 0 && a >= 0.005 ? '+' : '') + text.replace('-', '−') + NBSP + '%';
}

function times(factor) {
	return '×' + factor.toFixed(factor < 9.95 ? 2 : factor < 99.5 ? 1 : 0);
}

function plural(n, one, many) {
	return grouped(n) + ' ' + (n === 1 ? one : many || one + 's');
}

// "2026-01-31T12:00:00Z" -> "2026-01-31 12:00 UTC"
function when(text) {
	return text ? text.replace('T', ' ').replace(/:\d\dZ$/, ' UTC') : 'unknown';
}

function commitText(build) {
	return build && build.commit ? build.commit.slice(0, 12) + (build.dirty ? ' with changes' : '') : 'unknown';
}

// A long key or name may break behind its separators.
function keyText(key) {
	return key.split(/(?<=[/,_])/).flatMap(part => [part, document.createElement('wbr')]);
}

function badge(name) {
	return element('span', {class: 'badge ' + name}, name);
}

// As a shell takes it as one word.
function shellWord(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

// A list of [name, value]; those without a value are left out.
function facts(pairs) {
	return element('dl', null, pairs.filter(([, value]) => value != null && value !== '' && value !== false).map(
		([name, value]) => [element('dt', null, name), element('dd', null, value)]));
}
