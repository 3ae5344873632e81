// SPDX-License-Identifier: Apache-2.0
// Checks of a page in a browser. Each check returns a list of what is wrong.

// Elements that show text of their own, with their boxes.
function checkTexts() {
	const found = [];
	for (const e of document.querySelectorAll('body *')) {
		const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		if (!own || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName) || !e.checkVisibility() || e.closest('.skip'))
			continue;
		const range = document.createRange();
		for (const n of e.childNodes)
			if (n.nodeType === 3 && n.data.trim()) {
				range.selectNodeContents(n);
				for (const box of range.getClientRects())
					found.push({e, box});
			}
	}
	return found;
}

function checkName(e) {
	return `${e.tagName.toLowerCase()}${e.className && typeof e.className === 'string' ? '.' + e.className : ''} "${e.textContent.slice(0, 40)}"`;
}

// Texts that lie over each other.
function checkOverlaps(texts) {
	const wrong = [];
	texts = [...texts].sort((a, b) => a.box.top - b.box.top);
	texts.forEach((a, i) => {
		for (let k = i + 1; k < texts.length && texts[k].box.top < a.box.bottom - 3; k++) {
			const b = texts[k], wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
			if (wide > 2 && a.e !== b.e && !a.e.contains(b.e) && !b.e.contains(a.e))
				wrong.push(`${checkName(a.e)} over ${checkName(b.e)}`);
		}
	});
	return wrong;
}

// Words of a picture with a point over them.
function checkPoints() {
	const wrong = [];
	for (const point of document.querySelectorAll('svg circle'))
		for (const text of point.checkVisibility() ? point.closest('svg').querySelectorAll('text') : []) {
			const a = point.getBoundingClientRect(), b = text.getBoundingClientRect();
			if (a.left < b.right && a.right > b.left && a.top < b.bottom - 2 && a.bottom > b.top + 2)
				wrong.push(`a point lies over ${checkName(text)}`);
		}
	return wrong;
}

// Elements that are wider than the window. A box that scrolls by itself may hold more.
function checkWidth(texts) {
	const most = document.documentElement.clientWidth, wrong = [];
	if (document.documentElement.scrollWidth > most)
		wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${most}`);
	for (const e of document.querySelectorAll('.beside > div'))
		if (e.scrollWidth > e.clientWidth + 1)
			wrong.push(`a table that is ${e.scrollWidth} wide is cut at ${e.clientWidth}`);
	for (const {e, box} of texts)
		if ((box.right > most + 1 || box.left < -1) && !e.closest('.scroll, pre'))
			wrong.push(`${checkName(e)} reaches ${Math.round(box.right)} of ${most}`);
	return wrong;
}

// Options of a command on two lines: who reads '--' at the end of one does not find the rest.
function checkOptions() {
	const wrong = [];
	for (const code of document.querySelectorAll('code'))
		for (const node of [...code.querySelectorAll('*'), code].flatMap(e => [...e.childNodes]).filter(n => n.nodeType === 3))
			for (const option of node.data.matchAll(/(?<![^\s])--?[a-z][a-z-]*/g)) {
				const range = document.createRange();
				range.setStart(node, option.index);
				range.setEnd(node, option.index + option[0].length);
				if (new Set([...range.getClientRects()].map(box => box.top)).size > 1)
					wrong.push(`${option[0]} stands on two lines of ${checkName(code)}`);
			}
	return wrong;
}

function checkColour(text) {
	const [r, g, b, a] = text.match(/[\d.]+/g).map(Number);
	return {r, g, b, a: a === undefined ? 1 : a};
}

function checkLuminance({r, g, b}) {
	const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

// Texts with less contrast to their ground than WCAG's AA asks for.
function checkContrast(texts) {
	const wrong = new Set();
	for (const {e} of texts) {
		const style = getComputedStyle(e), colour = checkColour(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
		let ground = e;
		while (ground && checkColour(getComputedStyle(ground).backgroundColor).a < 1)
			ground = ground.parentElement;
		const [a, b] = [checkLuminance(colour), ground ? checkLuminance(checkColour(getComputedStyle(ground).backgroundColor)) : 1];
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5)
			wrong.add(`${checkName(e)} has a contrast of ${contrast.toFixed(2)}`);
	}
	return [...wrong];
}

// Needs of a screen reader: names of controls and pictures, heads and a caption of each table, one first heading.
function checkNames() {
	const wrong = [];
	for (const e of document.querySelectorAll('input, select'))
		if (!e.labels.length)
			wrong.push(`${checkName(e)} has no label`);
	for (const e of document.querySelectorAll('button, a'))
		if (!e.textContent.trim())
			wrong.push(`${checkName(e)} has no name`);
	for (const e of document.querySelectorAll('svg'))
		if (e.getAttribute('aria-hidden') !== 'true' && !(e.getAttribute('role') === 'img' && e.getAttribute('aria-label')))
			wrong.push('a picture without a name');
	for (const e of document.querySelectorAll('table'))
		if (!e.caption || !e.querySelector('th[scope="col"]') || [...e.querySelectorAll('tbody tr')].some(tr => !tr.querySelector('th')))
			wrong.push(`${checkName(e)} lacks a caption or heads`);
	if (document.querySelectorAll('h1').length !== 1 || document.documentElement.lang !== 'en')
		wrong.push('no first heading, or no language');
	return wrong;
}

// Where the parts of a page that is 1280 wide stand, and their grounds, as far as they follow from the styles and not from a font.
function checkLayout() {
	const wrong = [], box = e => e.getBoundingClientRect(), seen = e => e.checkVisibility() && box(e).width > 0 && box(e).height > 0;
	const ground = e => checkColour(getComputedStyle(e).backgroundColor), dark = matchMedia('(prefers-color-scheme: dark)').matches;
	const page = ground(document.body), light = page.a < 1 ? 1 : checkLuminance(page);
	if (dark ? light > 0.1 : light < 0.9)
		wrong.push(`the ground has a luminance of ${light.toFixed(2)} in a ${dark ? 'dark' : 'light'} page`);
	if (box(document.body).width < 0.8 * innerWidth)
		wrong.push(`the page takes ${Math.round(box(document.body).width)} of ${innerWidth}`);
	for (const e of document.querySelectorAll('.badge'))
		if (seen(e) && (ground(e).a < 1 || ['r', 'g', 'b'].every(c => ground(e)[c] === page[c])))
			wrong.push(`${checkName(e)} has no ground of its own`);

	const tables = [...document.querySelectorAll('table')].filter(seen);
	if (!document.getElementById('list').hidden && !tables.some(t => t.classList.contains('cases')))
		wrong.push('the list has no table of cases');
	for (const table of tables)
		for (const row of [...table.rows].filter(seen)) {
			const cells = [...row.cells].filter(seen);
			if (cells.some((c, i) => Math.abs(box(c).top - box(cells[0]).top) > 1 || (i && box(c).left < box(cells[i - 1]).right - 1))) {
				wrong.push(`the cells of a row do not stand beside each other: ${checkName(row)}`);
				break;
			}
		}

	for (const figure of document.querySelectorAll('figure')) {
		const picture = figure.querySelector('svg'), marks = picture ? [...picture.querySelectorAll('path, line, rect, circle')] : [];
		if (figure.checkVisibility() && (!picture || !seen(picture) || box(picture).width < 100 || !marks.length))
			wrong.push(`${checkName(figure)} shows no picture`);
		for (const mark of marks.filter(seen))
			if (box(mark).left < box(figure).left - 2 || box(mark).right > box(figure).right + 2 || box(mark).top < box(figure).top - 2 ||
			    box(mark).bottom > box(figure).bottom + 2) {
				wrong.push(`${checkName(figure)} is left by what it draws`);
				break;
			}
	}
	return wrong;
}

function checkPage() {
	const texts = checkTexts();
	return [...checkOverlaps(texts), ...checkPoints(), ...checkWidth(texts), ...checkOptions(), ...checkContrast(texts), ...checkNames()].slice(0, 8);
}

// Keys of the rows that are shown, from above.
function shownKeys() {
	return [...document.querySelectorAll('.cases tbody tr')].filter(tr => !tr.hidden).map(tr => tr.querySelector('a.key').textContent);
}

function columnOf(label) {
	return [...document.querySelectorAll('.cases thead th')].find(th => th.textContent === label);
}
