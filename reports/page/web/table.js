// SPDX-License-Identifier: Apache-2.0
// A table of rows that a reader sorts by its columns, and filters by words and by badge. Each row is made once and then
// only moved or hidden.
//
// what: {caption, columns: [{label, number, value(row), cell(row)}], rows, badges(row), text(row)}. The first column names
// the row. value() is what sorts, cell() what is shown.

function makeTable(what) {
	// roles stand here because a narrow screen shows rows as blocks, and blocks have none
	const head = element('tr', {role: 'row'}), body = element('tbody', {role: 'rowgroup'});
	const table = element('table', {class: 'cards cases', role: 'table'}, element('caption', null, what.caption),
		element('thead', {role: 'rowgroup'}, head), body);
	const count = element('p', {class: 'count', role: 'status'});
	const search = element('input', {type: 'search', id: 'filter', autocomplete: 'off', spellcheck: 'false'});
	const chips = element('fieldset', {class: 'chips'}, element('legend', null, 'Show only'));
	const chosen = new Set();
	// a column that says nothing of any row is left out
	const missing = v => v == null || v === '', columns = what.columns.filter(c => what.rows.some(r => !missing(c.value(r))));
	let sorted = null, descending = false;

	const rows = what.rows.map((row, place) => {
		const cells = columns.map((c, i) => i === 0
			? element('th', {scope: 'row', role: 'rowheader'}, c.cell(row))
			: element('td', {role: 'cell', class: c.number && !c.left && 'number', 'data-label': c.label}, c.cell(row)));
		return {row, place, tr: element('tr', {role: 'row'}, cells), text: what.text(row).toLowerCase(), badges: what.badges(row)};
	});

	function show() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		let n = 0;
		for (const r of rows) {
			const fits = words.every(w => r.text.includes(w)) && (!chosen.size || r.badges.some(b => chosen.has(b)));
			r.tr.hidden = !fits;
			n += fits;
		}
		const order = sorted ? `, sorted by ${sorted.label}, ${descending ? 'descending' : 'ascending'}` : '';
		count.textContent = (n === rows.length ? plural(n, what.one) : `${grouped(n)} of ${plural(rows.length, what.one)}`) + order;
	}

	// Rows without a value come last in either direction.
	function order(a, b) {
		const x = sorted.value(a.row), y = sorted.value(b.row);
		if (missing(x) || missing(y))
			return missing(x) - missing(y) || a.place - b.place;
		const d = sorted.number ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true});
		return (descending ? -d : d) || a.place - b.place;
	}

	function sortBy(column, th) {
		descending = sorted === column && !descending;
		sorted = column;
		for (const other of head.children)
			other.removeAttribute('aria-sort');
		th.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
		body.append(...[...rows].sort(order).map(r => r.tr));
		show();
	}

	for (const column of columns) {
		const button = element('button', {type: 'button'}, column.label);
		const th = element('th', {scope: 'col', role: 'columnheader', class: column.number && !column.left && 'number'}, button);
		button.addEventListener('click', () => sortBy(column, th));
		head.append(th);
	}
	for (const name of what.order.filter(b => rows.some(r => r.badges.includes(b)))) {
		const n = rows.filter(r => r.badges.includes(name)).length;
		const chip = element('button', {type: 'button', class: 'badge ' + name, 'aria-pressed': 'false'}, `${name} ${n}`);
		chip.addEventListener('click', () => {
			const on = !chosen.delete(name);
			if (on)
				chosen.add(name);
			chip.setAttribute('aria-pressed', String(on));
			show();
		});
		chips.append(chip);
	}
	search.addEventListener('input', show);
	body.append(...rows.map(r => r.tr));
	show();
	return [
		element('div', {class: 'tools'},
			element('div', null, element('label', {for: 'filter'}, 'Filter by words of key, verdict or reason'), search), chips),
		count, table,
	];
}
