// SPDX-License-Identifier: Apache-2.0
// Begins the page: the table, and in its place the page of the case that the address names behind "#case=".

const page = JSON.parse(document.getElementById('data').textContent);

const profileFigures = [...document.querySelectorAll('figure.profile')];

document.querySelectorAll('code').forEach(c => c.replaceWith(command(c.textContent)));

profileFigures.forEach(f => flameGraph(f.querySelector('svg')));

function caseAddress(key) {
	return '#case=' + encodeURIComponent(key);
}

function caseLink(key) {
	return element('a', {class: 'key', href: caseAddress(key)}, keyText(key));
}

function wantedCase() {
	if (!location.hash.startsWith('#case='))
		return null;
	try {
		return decodeURIComponent(location.hash.slice('#case='.length));
	} catch {
		return '';
	}
}

function begin() {
	const main = document.getElementById('page'), title = document.title, view = page.run ? runView() : page.comparison ? comparisonView() : fleetView();
	const keys = [...new Set(view.table.rows.map(r => r.key))];
	const list = element('section', {id: 'list', tabindex: '-1', 'aria-label': 'Overview'}, view.first,
		element('section', {id: 'cases', tabindex: '-1', 'aria-label': 'Cases'}, element('h2', null, view.heading), makeTable(view.table)), view.last);
	const single = element('article', {id: 'case', hidden: true});
	let last = null;

	function showCase(key) {
		const heading = element('h2', {class: 'key', tabindex: '-1'}, keyText(key)), at = keys.indexOf(key);
		const step = (by, name) => keys[at + by] ? element('a', {href: caseAddress(keys[at + by])}, name) : null;
		single.replaceChildren(element('nav', {'aria-label': 'Cases'}, element('a', {href: '#list'}, 'All cases'), at < 0 ? null : [step(-1, 'Previous case'), step(1, 'Next case')].filter(Boolean)),
			heading, ...(at < 0 ? [element('p', {class: 'note'}, 'This page has no such case.')] : view.parts(key)).flat().filter(Boolean));
		document.title = `${key} – ${title}`;
		return heading;
	}

	// Focus follows the view, so that a keyboard or a screen reader goes on where the eye does.
	function show() {
		const key = wantedCase();
		list.hidden = key != null;
		single.hidden = key == null;
		if (key != null) {
			const inside = single.contains(document.activeElement), heading = showCase(key);
			if (last !== key || inside)
				heading.focus({preventScroll: true});
			if (last !== key)
				scrollTo(0, 0);
		} else {
			document.title = title;
			single.replaceChildren();
			const link = last != null && [...list.querySelectorAll('a.key')].find(a => a.getAttribute('href') === caseAddress(last));
			if (link)
				link.focus();
		}
		last = key;
	}

	main.append(list, single);
	addEventListener('hashchange', show);
	// pictures are as wide as the page was when they were drawn
	let width = innerWidth, timer = 0;
	addEventListener('resize', () => {
		clearTimeout(timer);
		if (width !== innerWidth)
			timer = setTimeout(() => { width = innerWidth; show(); }, 150);
	});
	show();
}

begin();
