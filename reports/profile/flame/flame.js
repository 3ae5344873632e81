// SPDX-License-Identifier: Apache-2.0
// A flame graph, as a file of its own or in a page: zoom, search, filter, least width, colours, keys. Each <g class="f"> is a frame; its
// data say the frame below it (p), its
// weight (w), its name (n), its object (o) and whether it is code, inlined code or a label (k). Of a difference (data-diff) also what it
// weighed before (b): widths are the head's, or in the other view the base's, where those that vanished stand. Where the frames of the
// harness are folded into one, a second <g class="tree"> has all of them.
'use strict';
function flameGraph(svg) {
	const LEFT = 10, WIDTH = +svg.dataset.width - 2 * LEFT;
	const LETTER = 7.25, ROW = 18, HEAD = 76, FOOT = 10;
	const isDiff = Boolean(svg.dataset.diff), box = svg.closest('.graph');
	const ownChange = f => f.weight - f.before - f.calls.reduce((sum, c) => sum + c.weight - c.before, 0);
	const trees = [...svg.querySelectorAll('.tree')].map(tree => {
		const all = [...tree.querySelectorAll('.f')].map((g, i) => ({
			g, i, rect: g.querySelector('rect'), text: g.querySelector('text'), name: g.dataset.n,
			title: g.querySelector('title').textContent, below: +g.dataset.p, weight: +g.dataset.w, before: +g.dataset.b || 0, kind: g.dataset.k, object: g.dataset.o || '', calls: [],
		}));
		all.forEach(f => { if (f.i) all[f.below].calls.push(f); });
		all.forEach(f => { f.change = isDiff ? ownChange(f) : 0; });
		return { tree, frames: all };
	});
	let frames = trees[0].frames;
	const most = trees.flatMap(t => t.frames).reduce((all, f) => Math.max(all, Math.abs(f.change)), 1e-30);
	const state = { base: false, zoom: frames[0], here: frames[0], search: '', filter: '', least: 0.3, colour: 0, typing: '' };
	const schemes = isDiff ? ['change', 'object', 'grey'] : ['warm', 'object', 'kind', 'grey'];
	const weigh = f => state.base ? f.before : f.weight;
	const $ = what => svg.querySelector(`[data-a=${what}]`);

	const hash = s => { let h = 2166136261; for (const c of s) h = Math.imul(h ^ c.codePointAt(0), 16777619) >>> 0; return h / 4294967296; };
	const fill = {
		change: f => {
			if (!f.weight) return '#a78bfa';
			const pale = Math.round(235 - 165 * Math.sqrt(Math.abs(f.change) / most));
			return `rgb(${f.change > 0 ? 235 : pale} ${pale} ${f.change < 0 ? 235 : pale})`;
		},
		warm: f => f.kind === 'label' ? '#b8c4d0' : `hsl(${8 + 46 * hash(f.name)} ${f.kind === 'inlined' ? 60 : 88}% ${f.kind === 'inlined' ? 76 : 66}%)`,
		object: f => f.kind === 'label' ? '#b8c4d0' : `hsl(${360 * hash(f.object)} 60% 70%)`,
		kind: f => ({ label: '#b8c4d0', inlined: '#9fd3a8', code: '#f2b36b' })[f.kind],
		grey: f => `hsl(0 0% ${62 + 24 * hash(f.name)}%)`,
	};

	const words = text => { try { return new RegExp(text, 'i'); } catch { return { test: s => s.toLowerCase().includes(text.toLowerCase()) }; } };

	// What is left of each frame by the filter: all of those that match and of what they call, of others what matches above them.
	function keep() {
		const wanted = state.filter && words(state.filter);
		const go = (f, inside) => {
			inside = inside || !wanted || wanted.test(f.name);
			const above = f.calls.reduce((sum, c) => sum + go(c, inside), 0);
			f.kept = inside ? weigh(f) : above;
			return f.kept;
		};
		go(frames[0], false);
	}
	// The part that scrolls: the box of a page, or the window that shows the file.
	const view = () => box ? { top: box.scrollTop, height: box.clientHeight } : { top: scrollY, height: innerHeight };
	const scrollDown = top => { if (box) box.scrollTop = top; else scrollTo(scrollX, top); stay(); };
	// The title and the buttons stay in sight.
	const stay = () => svg.querySelector('.top').setAttribute('transform', `translate(0 ${Math.max(0, Math.min(view().top, +svg.getAttribute('height') - HEAD))})`);
	function showHere() {
		const y = +state.here.rect.getAttribute('y'), { top, height } = view();
		if (state.here.width && (y < top + HEAD || y + ROW > top + height)) scrollDown(y - (HEAD + height) / 2);
	}
	// The picture is as high as what is shown. It grows at its top, so that frames stay where they are on the screen.
	function stand() {
		const deepest = frames.reduce((most, f) => f.width ? Math.max(most, f.depth) : most, 0), height = HEAD + FOOT + ROW * (deepest + 1);
		const grown = height - svg.getAttribute('height');
		for (const f of frames) {
			const y = HEAD + ROW * (deepest - f.depth);
			f.rect.setAttribute('y', y);
			f.text.setAttribute('y', y + ROW - 5);
		}
		svg.setAttribute('viewBox', `0 0 ${svg.dataset.width} ${height}`);
		svg.setAttribute('height', height);
		svg.querySelector('.paper').setAttribute('height', height);
		if (grown) scrollDown(view().top + grown);
	}
	function layout() {
		keep();
		const top = state.zoom, all = Math.max(1e-30, top.kept), path = new Set();
		for (let f = top; ; f = frames[f.below]) { path.add(f); if (!f.i) break; }
		const found = state.search && words(state.search);
		let hits = 0;
		const place = (f, x, depth, inZoom, counted) => {
			const above = path.has(f) && f !== top, width = above ? WIDTH : f.kept / all * WIDTH;
			const off = !(above || inZoom || f === top) || width < state.least || (isDiff && !f.kept);
			const hit = Boolean(found && found.test(f.name));
			if (hit && !counted && !off && !above) { hits += f.kept; counted = true; }
			f.g.classList.toggle('off', off);
			f.g.classList.toggle('above', above);
			f.g.classList.toggle('found', hit);
			f.g.classList.toggle('here', f === state.here && !off);
			if (!off) {
				const room = Math.floor((width - 6) / LETTER);
				f.rect.setAttribute('x', (LEFT + x).toFixed(2));
				f.rect.setAttribute('width', Math.max(0.1, width).toFixed(2));
				f.text.setAttribute('x', (LEFT + x + 3).toFixed(2));
				f.text.textContent = room < 3 ? '' : f.name.length <= room ? f.name : f.name.slice(0, room - 2) + '..';
			}
			f.x = x; f.width = off ? 0 : width; f.depth = depth;
			let at = x;
			for (const c of f.calls) { place(c, at, depth + 1, inZoom || f === top, counted); if (inZoom || f === top) at += c.kept / all * WIDTH; }
		};
		place(frames[0], 0, 0, false, false);
		stand();
		for (const f of frames) f.rect.style.fill = fill[schemes[state.colour]](f);
		const share = (100 * hits / all).toFixed(1) + ' %';
		$('found').textContent = state.typing ? `${state.typing}: ${state[state.typing]}_`
			: state.search ? `search '${state.search}': ${share}` : state.filter ? `filter '${state.filter}'${frames.some(f => f.width > 0) ? '' : ': no match'}` : '';
		$('least').textContent = `least ${state.least} px (m)`;
		$('colours').textContent = `colours: ${schemes[state.colour]} (c)`;
		if (trees[1]) $('harness').textContent = `harness: ${frames === trees[0].frames ? 'folded' : 'shown'} (h)`;
		if (isDiff) $('view').textContent = `view: ${state.base ? 'base' : 'head'} (v)`;
		$('about').textContent = state.here.title.replace(/\n/g, '  ');
	}
	function zoom(f) { state.zoom = f; state.here = f; layout(); showHere(); }
	function move(key) {
		const f = state.here, shown = f.i ? frames[f.below].calls.filter(c => c.width > 0) : [f], at = shown.indexOf(f);
		const up = f.calls.filter(c => c.width > 0).sort((a, b) => b.width - a.width)[0];
		const to = { ArrowUp: up, ArrowDown: f.i ? frames[f.below] : f, ArrowLeft: shown[at - 1], ArrowRight: shown[at + 1] }[key];
		if (to) { state.here = to; layout(); showHere(); }
	}
	const theme = () => {
		const dark = svg.classList.contains('dark') || (!svg.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
		svg.classList.toggle('dark', !dark);
		svg.classList.toggle('light', dark);
	};
	const act = {
		reset: () => { Object.assign(state, { search: '', filter: '', least: 0.3 }); zoom(frames[0]); },
		search: () => { state.typing = 'search'; state.search = ''; },
		filter: () => { state.typing = 'filter'; state.filter = ''; state.zoom = frames[0]; },
		least: () => { state.least = state.least >= 20 ? 0.1 : +(state.least * 3).toFixed(1); },
		colours: () => { state.colour = (state.colour + 1) % schemes.length; },
		theme,
		harness: () => {
			frames = trees[frames === trees[0].frames ? 1 : 0].frames;
			trees.forEach(t => t.tree.setAttribute('display', t.frames === frames ? 'inline' : 'none'));
			state.zoom = state.here = frames[0];
		},
		view: () => { state.base = isDiff && !state.base; state.zoom = state.here = frames[0]; },
	};
	const keys = { '/': 'search', f: 'filter', m: 'least', c: 'colours', t: 'theme', r: 'reset', ...(trees[1] && { h: 'harness' }), ...(isDiff && { v: 'view' }) };

	svg.addEventListener('click', e => {
		const button = e.target.closest('.button'), g = e.target.closest('.f');
		if (button) act[button.dataset.a]();
		else if (g) { zoom(frames.find(f => f.g === g)); return; }
		layout();
	});
	svg.addEventListener('mouseover', e => {
		const g = e.target.closest('.f');
		if (g) $('about').textContent = frames.find(f => f.g === g).title.replace(/\n/g, '  ');
	});
	// In a page of several graphs the keys go to the one that has the pointer or the focus; to one that is not shown never.
	const mine = () => document.documentElement === svg || (svg.getClientRects().length > 0
		&& (svg.matches(':hover') || svg.matches(':focus-within') || document.querySelectorAll('svg.flame').length === 1));
	document.addEventListener('keydown', e => {
		if (e.ctrlKey || e.metaKey || e.altKey || !mine() || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.nodeName)) return;
		if (state.typing) {
			const of = state.typing;
			if (e.key === 'Enter') state.typing = '';
			else if (e.key === 'Escape') { state.typing = ''; state[of] = ''; }
			else if (e.key === 'Backspace') state[of] = state[of].slice(0, -1);
			else if (e.key.length === 1) state[of] += e.key;
			else return;
		}
		else if (keys[e.key]) act[keys[e.key]]();
		else if (e.key.startsWith('Arrow')) move(e.key);
		else if (e.key === 'Enter') zoom(state.here);
		else if (e.key === 'Escape') zoom(frames[0]);
		else if (e.key === 'Backspace') zoom(frames[state.zoom.below]);
		else return;
		e.preventDefault();
		layout();
	});
	(box || window).addEventListener('scroll', stay);
	layout();
	// A box in a page begins with the outermost callers, at the bottom; while it is hidden it has no height to scroll by.
	if (box) {
		const seen = new ResizeObserver(() => { if (box.clientHeight) { seen.disconnect(); scrollDown(box.scrollHeight); } });
		seen.observe(box);
	}
}
