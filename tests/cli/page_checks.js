// SPDX-License-Identifier: Apache-2.0
// What tests ask of a page in a browser. Each check returns a list of what is wrong.

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

// What is wider than the window. A box that scrolls by itself may hold more.
function checkWidth(texts) {
	const most = document.documentElement.clientWidth, wrong = [];
	if (document.documentElement.scrollWidth > most)
		wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${most}`);
	for (const {e, box} of texts)
		if ((box.right > most + 1 || box.left < -1) && !e.closest('.scroll, pre'))
			wrong.push(`${checkName(e)} reaches ${Math.round(box.right)} of ${most}`);
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

// What a screen reader needs: names of controls and pictures, heads and a caption of each table, one first heading.
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

// A picture of the page as a grid of blocks: how far the mean of each lies from the ground, '.' none to '9' black on white.
// What a font changes within a block is lost, what stands where is not.
async function picturePlan(base64) {
	const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
	const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
	const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
	canvas.drawImage(bitmap, 0, 0);
	const {data} = canvas.getImageData(0, 0, bitmap.width, bitmap.height), block = 20;
	const light = i => (0.2126 * data[4 * i] + 0.7152 * data[4 * i + 1] + 0.0722 * data[4 * i + 2]) / 255;
	const ground = light(bitmap.width + 1), rows = [`ground ${Math.round(9 * ground)}`];
	for (let y = 0; y + block <= bitmap.height; y += block) {
		let row = '';
		for (let x = 0; x + block <= bitmap.width; x += block) {
			let ink = 0;
			for (let k = 0; k < block * block; k++)
				ink += Math.abs(light((y + Math.floor(k / block)) * bitmap.width + x + k % block) - ground);
			const level = Math.min(9, Math.round(20 * ink / block / block));
			row += level ? level : '.';
		}
		rows.push(row);
	}
	return rows;
}

// The blocks of one plan that show something, in all and where the other has nothing like it, there or one block beside it.
// What is darker than text is to be so in both.
function planMisses(a, b) {
	const level = (rows, y, x) => Number((rows[y] || '')[x]) || 0;
	let shown = 0, misses = 0;
	for (let y = 1; y < a.length; y++)
		for (let x = 0; x < a[y].length; x++) {
			const here = level(a, y, x);
			let most = 0;
			for (let k = 0; k < 9; k++)
				most = Math.max(most, level(b, Math.max(1, y - 1 + Math.floor(k / 3)), x - 1 + k % 3));
			shown += here > 0;
			misses += here > 0 && (most === 0 || (here > 4 && most < 3));
		}
	return {shown, misses};
}

// Share of what is shown in which two plans differ; all of it where the ground does.
function planDiffers(a, b) {
	const there = planMisses(a, b), here = planMisses(b, a);
	return a[0] !== b[0] ? 1 : (there.misses + here.misses) / (there.shown + here.shown);
}

function checkPage() {
	const texts = checkTexts();
	return [...checkOverlaps(texts), ...checkWidth(texts), ...checkContrast(texts), ...checkNames()].slice(0, 8);
}

// Keys of the rows that are shown, from above.
function shownKeys() {
	return [...document.querySelectorAll('.cases tbody tr')].filter(tr => !tr.hidden).map(tr => tr.querySelector('a.key').textContent);
}

function columnOf(label) {
	return [...document.querySelectorAll('.cases thead th')].find(th => th.textContent === label);
}
