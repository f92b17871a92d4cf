// What HTML cannot do: moving between pages without losing the graph, applying
// live updates, pan and zoom, keyboard, follow-scroll.
(() => {
  'use strict';
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const narrow = matchMedia('(max-width: 899px)');
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const root = document.documentElement;

  // finder returns what tells whether a text has all the words of another, null
  // where there are no words.
  function finder(words) {
    const list = words.toLowerCase().split(/\s+/).filter(Boolean);
    return list.length ? (text) => list.every((w) => text.toLowerCase().includes(w)) : null;
  }

  // on listens for an event of elements that match, now and in future.
  function on(type, selector, fn, options) {
    document.addEventListener(type, (e) => {
      const el = e.target.closest?.(selector);
      if (el) fn(e, el);
    }, options);
  }

  // ── Times ──

  const skew = Date.now() / 1000 - Number(root.dataset.now); // of this clock

  function span(seconds) {
    const s = Math.max(0, Math.floor(seconds));
    const two = (n) => String(n).padStart(2, '0');
    if (s < 60) return s + 's';
    if (s < 3600) return Math.floor(s / 60) + 'm ' + two(s % 60) + 's';
    if (s < 86400) return Math.floor(s / 3600) + 'h ' + two(Math.floor(s % 3600 / 60)) + 'm';
    return Math.floor(s / 86400) + 'd ' + Math.floor(s % 86400 / 3600) + 'h';
  }

  function setText(el, text) {
    if (el.textContent !== text) el.textContent = text;
  }

  // tick counts running times on, and puts moments into the reader's own terms.
  function tick(within = document) {
    const now = Date.now() / 1000 - skew;
    for (const el of $$('[data-since]', within)) setText(el, span(now - Number(el.dataset.since)));
    growBars(now, within);
    if (within !== document) localise(within);
  }

  function localise(within) {
    const today = new Date().toDateString();
    for (const el of $$('[data-at], [data-date]', within)) {
      const at = new Date(Number(el.dataset.at ?? el.dataset.date) * 1000);
      const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
      const date = at.toLocaleDateString([], { day: 'numeric', month: 'short' });
      setText(el, at.toDateString() === today ? time : date + ' ' + time);
      if (!el.title) el.title = at.toLocaleString();
    }
  }

  setInterval(() => document.hidden || tick(), 1000);

  // ── Putting HTML into the page ──

  let morphTree; // htmx's own
  htmx.registerExtension('clearbox', {
    init: (api) => { morphTree = api.morph; },
    // What the reader has opened, hidden or chosen stays so.
    htmx_before_morph_attr: (el, { attrName }) => !kept.has(attrName) && !(attrName === 'hidden' && 'newest' in el.dataset),
  });
  const kept = new Set(['open', 'aria-current', 'style', 'tabindex', 'data-found', 'data-dim', 'data-kind', 'data-miss']);

  function parse(html, svg) {
    const t = document.createElement('template');
    t.innerHTML = svg ? '<svg>' + html + '</svg>' : html;
    return svg ? t.content.firstChild.firstChild : t.content.firstElementChild;
  }

  function morph(el, fresh) {
    const { id } = el;
    const holder = document.createDocumentFragment();
    holder.append(fresh);
    morphTree(el, holder, false);
    const now = byId(id);
    if (now) settle(now);
  }

  // patch makes a drawn element look like another, keeping its identity.
  function patch(el, fresh) {
    for (const { name } of [...el.attributes]) if (!fresh.hasAttribute(name) && !kept.has(name)) el.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
      if (!kept.has(name) && el.getAttribute(name) !== value) el.setAttribute(name, value);
    }
    el.replaceChildren(...fresh.childNodes);
    tick(el);
  }

  // renew makes a layer of the drawing look like another. A morph would do that
  // too, but takes seconds for thousands of cards.
  function renew(layer, fresh) {
    if (!layer || !fresh) return;
    if (layer.id === 'extent') return patch(layer, fresh);
    for (const el of [...layer.children]) if (!$('#' + el.id, fresh)) el.remove();
    for (const el of [...fresh.children]) {
      const old = byId(el.id);
      if (!old) layer.append(el);
      else if (!old.isEqualNode(el)) patch(old, el);
    }
    tick(layer);
  }

  // settle makes new content work.
  function settle(el) {
    htmx.process(el);
    tick(el);
  }

  // ── Moving about ──

  let going = 0;

  function planPath(url) {
    return url.pathname.match(/^\/plans\/(\d+)(?:\/nodes\/(\d+))?$/);
  }

  // isWide reports whether a page would show two columns of a diff.
  const isWide = ({ pathname, searchParams: q }) => /^\/plans\/\d+\/nodes\/\d+\/full$/.test(pathname) && q.get('tab') === 'changes' && !q.has('diff');

  // usual adds what the server cannot know: that narrow screens show the table,
  // and diffs in one column.
  function usual(href) {
    const url = new URL(href, location.href);
    if (narrow.matches && planPath(url) && !url.searchParams.has('view')) url.searchParams.set('view', 'list');
    if (narrow.matches && isWide(url)) url.searchParams.set('diff', 'unified');
    const show = new URLSearchParams(location.search).get('show'); // the filter of a table stays
    const at = planPath(url);
    if (show && at && byId('rows') && byId('page').dataset.plan === at[1] && url.searchParams.get('view') === 'list') url.searchParams.set('show', show);
    return url;
  }

  on('change', '[data-show]', (e, input) => {
    const url = new URL(location.href);
    if (input.value) url.searchParams.set('show', input.value);
    else url.searchParams.delete('show');
    history.replaceState(null, '', url);
  });

  // partFor says what has to be replaced to get to a place.
  function partFor(url) {
    const page = byId('page');
    const at = planPath(url);
    const same = at && page.dataset.plan === at[1] && (url.searchParams.get('view') ?? 'graph') === page.dataset.view;
    return same && byId('drawer') ? 'drawer' : 'page';
  }

  async function fetchPart(url, part) {
    const answer = await fetch(url, { headers: { 'Clearbox-Part': part } });
    const el = parse(await answer.text());
    if (!el || el.dataset.part !== part) throw new Error('this is no ' + part);
    return el;
  }

  async function go(href, { push = true, replace = false, keepFocus = false } = {}) {
    const url = usual(href);
    const mine = ++going;
    const part = partFor(url);
    let fresh;
    try {
      fresh = await fetchPart(url, part);
    } catch {
      if (mine === going) location.assign(url);
      return;
    }
    if (mine !== going) return;
    if (replace) history.replaceState(null, '', url);
    else if (push && url.href !== location.href) history.pushState(null, '', url);
    show(fresh, part, keepFocus);
  }

  // show puts a part of a page in the place of the one that is there.
  function show(fresh, part, keepFocus) {
    const old = byId(part);
    const sameList = part === 'page' && !fresh.dataset.plan && old.dataset.topic && old.dataset.topic === fresh.dataset.topic;
    if (sameList && keepFocus) morph(old, fresh);
    else {
      old.replaceWith(fresh);
      settle(fresh);
    }
    const now = byId(part);
    document.title = (now.dataset.title || byId('page').dataset.title) + ' · Clearbox';
    delete root.dataset.nav;
    arrive(part);
    if (part === 'page' && !keepFocus) now.focus({ preventScroll: true });
    if (part === 'drawer' && narrow.matches && !now.hidden) now.focus({ preventScroll: true });
  }

  // arrive makes what is new in the document work.
  function arrive(part) {
    if (part !== 'drawer') mountGraph();
    mountSession();
    markCurrent();
    follow();
    if (/^#run-\d+$/.test(location.hash) && byId('log')) toRun(location.hash.slice(5));
    if (part === 'drawer' || byId('drawer')?.dataset.node) reveal(selectedCard(), part === 'drawer');
  }

  // markCurrent shows where one is: in the sidebar, the graph, the table.
  function markCurrent() {
    const plan = byId('page').dataset.plan;
    const node = byId('drawer')?.dataset.node;
    for (const a of $$('#sidebar a')) {
      const here = a.getAttribute('href') === (plan ? '/plans/' + plan : location.pathname.replace(/^(\/agents)\/.*/, '$1'));
      a.toggleAttribute('aria-current', here);
      if (here) a.setAttribute('aria-current', 'page');
    }
    for (const el of $$('[data-n][aria-current]')) el.removeAttribute('aria-current');
    if (node) for (const el of $$('[data-n="' + node.split('.')[1] + '"]')) el.setAttribute('aria-current', 'true');
  }

  addEventListener('popstate', () => go(location.href, { push: false }));

  let lastCard = null;
  document.addEventListener('click', (e) => {
    if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const card = e.target.closest?.('.card');
    // The second click of two opens a subplan, wherever the graph has moved to.
    const twice = e.detail === 2 && e.target.closest?.('#canvas') ? lastCard ?? card : null;
    if (twice?.dataset.sub) {
      e.preventDefault();
      return go(twice.dataset.sub);
    }
    const a = e.target.closest?.('a[href]');
    const href = a?.getAttribute('href');
    if (!/^[/?]/.test(href ?? '') || a.hasAttribute('target') || a.hasAttribute('download') || 'older' in a.dataset) return;
    e.preventDefault();
    if (dragged) return;
    if (card) {
      lastCard = card;
      if (card.dataset.sub && e.detail === 0) return go(card.dataset.sub); // Enter
    }
    go(a.closest('[data-views]') ? keepStep(href) : card || a.closest('.step-row') ? withTab(href) : href);
  });

  // Places on the page itself: going there is no history, which would be gone
  // through by reading the page anew.
  on('click', 'a[href^="#"]:not([data-run])', (e, a) => {
    const to = byId(a.getAttribute('href').slice(1));
    if (!to) return;
    e.preventDefault();
    for (let box = to.closest('details'); box; box = box.parentElement.closest('details')) box.open = true;
    to.focus();
  });

  // withTab keeps the tab that is open when another step is opened.
  function withTab(href) {
    const tab = byId('drawer')?.dataset.tab;
    if (!tab || tab === 'task') return href;
    const url = new URL(href, location.href);
    url.searchParams.set('tab', tab);
    return url.pathname + url.search;
  }

  // keepStep leads to another view with the step that is open now.
  function keepStep(href) {
    const url = new URL(byId('drawer')?.dataset.node ? location.href : href, location.href);
    url.searchParams.set('view', new URL(href, location.href).searchParams.get('view'));
    url.searchParams.delete('show');
    return url.href;
  }

  on('submit', '[data-live-form]', (e, form) => { e.preventDefault(); search(form); });
  let searching = 0;
  on('input', '[data-live-form]', (e, form) => {
    clearTimeout(searching);
    searching = setTimeout(search, 200, form);
  });
  function search(form) {
    const query = new URLSearchParams(new FormData(form));
    for (const [k, v] of [...query]) if (!v) query.delete(k);
    go(form.getAttribute('action') + (query.size ? '?' + query : ''), { replace: true, keepFocus: true });
  }

  // Plans beside the page are found while one types; Enter looks among all.
  on('input', '[data-side-find]', (e, input) => sideFind(input));
  function sideFind(input) {
    const has = finder(input.value);
    for (const li of $$('#side-plans > li')) li.toggleAttribute('data-dim', !!has && !has(li.textContent));
  }

  // ── Live updates ──

  let port;

  function topics() {
    const all = {};
    // Who is not looked at follows only how much waits; without a shared
    // connection one of them is enough.
    const seen = document.hidden ? (window.SharedWorker || 'leads' in root.dataset ? '[data-topic="you"]' : 'none') : '[data-topic]';
    for (const el of $$(seen)) all[el.dataset.topic] = Number(el.dataset.seq);
    return all;
  }

  // follow tells the connection what this page shows.
  function follow() {
    port?.postMessage({ want: topics() });
  }

  function hear({ data }) {
    if ('lost' in data) byId('lost').hidden = !data.lost;
    if (!data.t) return;
    const el = $('[data-topic="' + data.t + '"]');
    if (!el) return;
    if (data.r) return refetch(el);
    if (data.v <= Number(el.dataset.seq)) return; // the page was drawn later
    const more = data.f.some(({ i, p }) => p && !byId(i));
    for (const f of data.f) apply(f);
    if (!el.isConnected || el.dataset.topic !== data.t) return arrive('page'); // it showed what is gone
    el.dataset.seq = Math.max(data.s, Number(el.dataset.seq));
    if (byId('graph')) grown();
    if (more) markCurrent();
  }

  // apply does what one frame says: {i: id, h: HTML, p: parent, k: flags}; flags
  // are s drawing, f first in its parent, o never changes. No HTML: it is gone.
  function apply({ i, h, p, k = '' }) {
    const el = byId(i);
    if (!h) return el?.remove();
    if (el && k.includes('o')) return;
    const svg = k.includes('s');
    const fresh = parse(h, svg);
    if (!el) {
      const parent = p && byId(p);
      if (!parent) return;
      if (k.includes('f')) parent.prepend(fresh);
      else parent.append(fresh);
      settle(fresh);
    } else if (svg) patch(el, fresh);
    else morph(el, fresh);
  }

  // refetch reads a part of the page anew, where changes are no longer known.
  async function refetch(el) {
    const { part } = el.dataset;
    try {
      const fresh = await fetchPart(location.href, part);
      for (const layer of ['extent', 'ties', 'edges', 'cards']) renew(byId(layer), $('#' + layer, fresh));
      morph(byId(part), fresh);
      arrive(part);
    } catch {
      if (part === 'drawer') go(byId('page').dataset.home); // the step is gone
      else setTimeout(() => el.isConnected && refetch(el), 2000);
    }
  }

  function connect() {
    const worker = $('meta[name="live-worker"]').content;
    if (window.SharedWorker) {
      port = new SharedWorker(worker, 'clearbox-live').port;
      begin();
      return;
    }
    const script = document.createElement('script');
    script.src = worker;
    script.onload = () => {
      const channel = new MessageChannel();
      window.liveConnect(channel.port1);
      port = channel.port2;
      begin();
    };
    document.head.append(script);
  }

  function begin() {
    port.onmessage = hear;
    if (navigator.locks) {
      const lock = 'tab-' + Math.random().toString(36).slice(2);
      navigator.locks.request(lock, () => {
        port.postMessage({ lock }); // not before it is held: else the worker would get it
        return new Promise(() => {});
      });
    }
    follow();
  }

  document.addEventListener('visibilitychange', () => { follow(); if (!document.hidden) tick(); });
  addEventListener('pagehide', () => port?.postMessage({ want: {}, bye: true }));
  addEventListener('pageshow', (e) => e.persisted && follow());

  // ── Graph ──

  let canvas, svg, zoom = 1, dragged = false;

  const cards = () => $$('.card', svg);
  const selectedCard = () => $('.card[aria-current]', svg ?? document);

  function size() {
    const extent = byId('extent');
    return [Number(extent.getAttribute('width')), Number(extent.getAttribute('height'))];
  }

  function mountGraph() {
    if (canvas?.isConnected && canvas === byId('canvas')) return grown();
    canvas = byId('canvas');
    svg = byId('graph');
    if (!canvas) return;
    zoom = Math.min(1, Math.max(0.72, fitting())); // smaller could not be read
    grown();
    const first = $('.card', svg);
    if (first) first.setAttribute('tabindex', '0');
    const start = $('.card.s-you, .card.s-stalled, .card.s-running, .card.s-failed', svg) ?? first;
    if (start) centre(start, 'auto', fitting() >= zoom);
  }

  function fitting() {
    const [w, h] = size();
    return Math.min((canvas.clientWidth - 48) / w, (canvas.clientHeight - 48) / h, 1.25);
  }

  // grown fits the drawing's own size to its content and the zoom.
  function grown() {
    const margin = Number(svg.dataset.margin);
    const [w, h] = size().map((n) => n + 2 * margin);
    const set = (name, value) => svg.getAttribute(name) === value || svg.setAttribute(name, value);
    set('viewBox', [-margin, -margin, w, h].join(' '));
    set('width', String(Math.round(w * zoom)));
    set('height', String(Math.round(h * zoom)));
    canvas.classList.toggle('far', zoom < 0.55 && canvas.classList.contains('big'));
  }

  // setZoom keeps the point of the drawing under (x, y) where it is. Turns of a
  // wheel that come faster than pictures are put together.
  let zooming = 0;
  function setZoom(z, x, y) {
    const view = canvas.getBoundingClientRect();
    x ??= view.left + view.width / 2;
    y ??= view.top + view.height / 2;
    zoom = Math.min(2, Math.max(0.05, z));
    zooming ||= requestAnimationFrame(() => {
      zooming = 0;
      if (!svg.isConnected) return;
      const before = svg.getBoundingClientRect();
      const px = (x - before.left) / before.width, py = (y - before.top) / before.height;
      grown();
      const after = svg.getBoundingClientRect();
      canvas.scrollLeft += after.left + px * after.width - x;
      canvas.scrollTop += after.top + py * after.height - y;
    });
  }

  function centre(card, behavior, whole) {
    const view = canvas.getBoundingClientRect();
    const box = (whole ? byId('cards') : card).getBoundingClientRect();
    canvas.scrollBy({
      left: box.left + box.width / 2 - view.left - view.width / 2,
      top: box.top + box.height / 2 - view.top - view.height / 2,
      behavior: calm.matches ? 'auto' : behavior,
    });
  }

  // reveal brings a card into view, unless it is there already.
  function reveal(card, always) {
    if (!card || !canvas) return;
    const view = canvas.getBoundingClientRect();
    const box = card.getBoundingClientRect();
    const seen = box.left >= view.left + 8 && box.right <= view.right - 8 && box.top >= view.top + 8 && box.bottom <= view.bottom - 8;
    if (always || !seen) centre(card, 'smooth');
  }

  // What a card cuts is told when the mouse rests on it.
  document.addEventListener('pointerover', (e) => {
    const card = e.target.closest?.('.card');
    if (!card || $('title', card)) return;
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = $('.card-title', card).textContent;
    card.prepend(title);
  });

  on('click', '[data-zoom]', (e, button) => zoomBy(button.dataset.zoom));

  function zoomBy(how) {
    if (byId('tl')) return zoomTime(how);
    if (!canvas?.isConnected) return;
    if (how === 'fit') {
      zoom = Math.max(0.05, fitting());
      grown();
      centre(null, 'auto', true);
    } else setZoom(zoom * (how === 'in' ? 1.25 : 0.8));
  }

  document.addEventListener('wheel', (e) => {
    if (!e.target.closest?.('#canvas')) return;
    // A mouse wheel turns in large even steps and zooms; two fingers on a pad
    // move the drawing, as they move any page.
    const wheel = e.deltaMode === 1 || e.deltaX === 0 && Number.isInteger(e.deltaY) && Math.abs(e.deltaY) >= 100;
    if (!e.ctrlKey && !e.metaKey && (!wheel || e.shiftKey)) return;
    e.preventDefault();
    const turn = e.deltaMode === 1 ? e.deltaY * 30 : e.deltaY;
    setZoom(zoom * Math.exp(-Math.max(-200, Math.min(200, turn)) * (e.ctrlKey && !wheel ? 0.01 : 0.0018)), e.clientX, e.clientY);
  }, { passive: false });

  let drag = null;
  document.addEventListener('pointerdown', (e) => {
    dragged = false;
    if (e.pointerType !== 'mouse' || e.button || !e.target.closest?.('#canvas')) return;
    drag = { x: e.clientX, y: e.clientY };
  });
  document.addEventListener('pointermove', (e) => {
    if (!drag) return;
    const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
    if (!dragged && Math.hypot(dx, dy) < 4) return;
    if (!dragged) canvas.classList.add('dragging');
    dragged = true;
    canvas.scrollLeft -= dx;
    canvas.scrollTop -= dy;
    drag = { x: e.clientX, y: e.clientY };
  });
  for (const type of ['pointerup', 'pointercancel']) {
    addEventListener(type, () => {
      drag = null;
      canvas?.classList.remove('dragging');
    });
  }
  document.addEventListener('dragstart', (e) => e.target.closest?.('#canvas') && e.preventDefault());

  let pinch = null;
  const spread = (t) => Math.hypot(t[0].clientX - t[1].clientX, t[0].clientY - t[1].clientY);
  document.addEventListener('touchmove', (e) => {
    if (e.touches.length !== 2 || !e.target.closest?.('#canvas')) return;
    e.preventDefault();
    const t = e.touches, wide = spread(t);
    if (pinch) setZoom(zoom * wide / pinch, (t[0].clientX + t[1].clientX) / 2, (t[0].clientY + t[1].clientY) / 2);
    pinch = wide;
  }, { passive: false });
  document.addEventListener('touchend', () => { pinch = null; });

  // neighbour is the card that an arrow key leads to: along the edges, or along
  // the row, else the nearest on that side.
  function neighbour(card, key) {
    const at = middle(card);
    const linked = key === 'ArrowUp' || key === 'ArrowDown' ? linkedCards(card, key === 'ArrowDown') : [];
    const nearest = (list, cost) => list.reduce((best, c) => {
      const d = cost(middle(c));
      return d < best[1] ? [c, d] : best;
    }, [null, Infinity])[0];
    if (linked.length) return nearest(linked, (m) => Math.abs(m.x - at.x));
    const others = cards().filter((c) => c !== card && !('dim' in c.dataset));
    const away = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[key];
    return nearest(others, (m) => {
      const along = (m.x - at.x) * away[0] + (m.y - at.y) * away[1];
      const across = Math.abs((m.x - at.x) * away[1]) + Math.abs((m.y - at.y) * away[0]);
      return along > 4 ? along + 3 * across : Infinity;
    });
  }

  function middle(card) {
    const [, x, y] = card.getAttribute('transform').match(/\(([-\d.]+) ([-\d.]+)\)/);
    const box = $('foreignObject', card);
    return { x: Number(x) + box.getAttribute('width') / 2, y: Number(y) + box.getAttribute('height') / 2 };
  }

  function linkedCards(card, down) {
    const [, plan, node] = card.id.match(/^c-(\d+)-(\d+)$/);
    const edges = $$(down ? '[id^="e-' + plan + '-' + node + '-"]' : '[id^="e-' + plan + '-"][id$="-' + node + '"]', svg);
    return edges.map((e) => byId('c-' + plan + '-' + e.id.split('-')[down ? 3 : 2])).filter(Boolean);
  }

  function focusCard(card) {
    if (!card) return;
    $('.card[tabindex="0"]', svg)?.setAttribute('tabindex', '-1');
    card.setAttribute('tabindex', '0');
    card.focus({ preventScroll: true });
    reveal(card);
  }

  // ── Timeline ──

  // growBars draws what goes on up to now, and asks for a longer axis when it is
  // at its end.
  function growBars(now, within) {
    const scale = byId('tl-scale');
    if (!scale) return;
    const from = Number(scale.dataset.scale), length = Number(scale.dataset.span), end = from + length;
    const open = $$('[data-from]', within);
    for (const bar of open) {
      const w = 100 * (Math.min(now, end) - Math.max(from, Number(bar.dataset.from))) / length;
      bar.setAttribute('width', Math.max(0.12, w).toFixed(3) + '%');
    }
    if (now < end || !open.length || scale.asked === end) return;
    scale.asked = end;
    refetch(byId('page'));
  }

  let stretched = 1;
  function zoomTime(how) {
    const box = byId('tl-scroll');
    const middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
    stretched = how === 'fit' ? 1 : Math.min(60, Math.max(1, how === 'in' ? stretched * 1.5 : stretched / 1.5));
    byId('tl').style.setProperty('--stretch', stretched);
    box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2;
  }

  for (const type of ['pointerover', 'focusin']) {
    on(type, '.tl-row[data-n]', (e, row) => setText(byId('tl-info'),
      $('.ref', row).textContent + ' ' + $('.row-title', row).textContent + ': ' + $('.tl-bars', row).getAttribute('aria-label')));
  }

  // ── Finding steps ──

  on('input', '[data-find]', (e, input) => find(input.value));

  function find(text) {
    const has = finder(text);
    let count = 0;
    for (const el of $$('[data-n]')) {
      const hit = has?.(el.textContent + ' ' + ($('[aria-label]', el)?.getAttribute('aria-label') ?? ''));
      el.toggleAttribute('data-dim', hit === false);
      el.toggleAttribute('data-found', !!hit);
      if (hit) count++;
    }
    const shown = $('[data-find-count]');
    if (shown) shown.textContent = has ? String(count) : '';
    if (has && svg?.isConnected) reveal($('.card[data-found]', svg));
  }

  // nextFound goes through what was found.
  function nextFound(input) {
    const all = $$('[data-found]');
    if (!all.length) return;
    const i = (Number(input.dataset.at ?? -1) + 1) % all.length;
    input.dataset.at = i;
    if (all[i].matches('.card')) focusCard(all[i]);
    else $('a', all[i]).focus();
  }

  // ── Session ──

  let watched = null;

  function mountSession() {
    const log = byId('log');
    if (!log || log === watched) return;
    watched = log;
    const scroller = byId('log-scroll'), newest = $('[data-newest]');
    let following = true, put = 0;
    const end = () => {
      scroller.scrollTop = scroller.scrollHeight;
      put = scroller.scrollTop;
    };
    const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;
    // Above where it was put last, somebody has scrolled, heard of yet or not.
    const follows = () => (following = atEnd() || (following && scroller.scrollTop >= put));
    scroller.addEventListener('scroll', () => { newest.hidden = follows(); }, { passive: true });
    newest.onclick = () => { following = true; end(); };
    new MutationObserver(() => {
      sessionFind(true);
      if (follows()) {
        trim(log, scroller);
        end();
      }
      newest.hidden = following;
    }).observe(log, { childList: true, subtree: true });
    // Opening a fold must not lose the place.
    scroller.addEventListener('toggle', () => { following = following && atEnd(); newest.hidden = atEnd(); }, true);
    end();
    requestAnimationFrame(() => follows() && end()); // once more, when heights are known
    const older = $('[data-older]', scroller);
    if (older) watchOlder(older, scroller);
  }

  // sessionFind shows the entries that have all words that are looked for.
  function sessionFind(more) {
    const has = finder($('[data-session-find]')?.value ?? '');
    if (more && !has) return;
    let hits = 0;
    for (const el of $$('#log .segment > .entry, #log > .entry')) {
      const miss = !!has && !has(el.textContent);
      if (miss !== 'miss' in el.dataset) el.toggleAttribute('data-miss', miss);
      if (!miss) hits++;
    }
    setText($('[data-session-count]'), has ? hits + ($('[data-older]') ? '+' : '') : '');
  }
  on('input', '[data-session-find]', () => sessionFind());
  on('change', '[data-session-kind]', (e, select) => { byId('session').dataset.kind = select.value; });

  // findEarlier reads the whole transcript, so that it can be searched.
  async function findEarlier() {
    for (let older; (older = $('[data-older]'));) {
      await loadOlder(older, byId('log-scroll'));
      if ($('[data-older]') === older) return;
    }
    sessionFind();
  }

  // trim lets go of the oldest entries of a very long transcript while nobody
  // reads them; they are to be had again.
  function trim(log, scroller) {
    const most = 1500, keep = 1000;
    const all = $$(':scope > .entry, :scope > .run > .segment > .entry', log);
    if (all.length <= most) return;
    for (const el of all.slice(0, -keep)) el.remove();
    for (const run of $$('.run', log)) if (!$('.entry', run)) run.remove();
    const first = $('[id^="ev-"]', log);
    byId('older')?.remove();
    const node = $('[data-node]').dataset.node.split('.');
    scroller.insertAdjacentHTML('afterbegin', '<p id="older" class="older"><a class="button small" data-older href="/plans/' + node[0] +
      '/nodes/' + node[1] + '/events?before=' + first.id.slice(3) + '">Earlier entries</a></p>');
    watchOlder($('[data-older]', scroller), scroller);
  }

  function watchOlder(link, scroller) {
    new IntersectionObserver(([seen], observer) => {
      if (!seen.isIntersecting || scroller.scrollHeight <= scroller.clientHeight) return;
      observer.disconnect();
      loadOlder(link, scroller);
    }, { root: scroller, rootMargin: '200px 0px 0px' }).observe(link);
  }

  on('click', '[data-older]', (e, link) => {
    e.preventDefault();
    loadOlder(link, byId('log-scroll'));
  });

  // toRun goes to where a run begins, reading as far back as it takes.
  async function toRun(number) {
    const scroller = byId('log-scroll');
    for (let older; !byId('run-' + number) && (older = $('[data-older]', scroller));) {
      await loadOlder(older, scroller);
      if ($('[data-older]', scroller) === older) return; // it could not be read
    }
    const run = byId('run-' + number);
    if (!run) return;
    const to = run.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollBy({ top: to, behavior: calm.matches ? 'auto' : 'smooth' });
    byId('run-head-' + number).focus({ preventScroll: true });
  }

  on('click', '[data-run]', (e, link) => {
    e.preventDefault();
    toRun(link.dataset.run);
  });

  const loadOlder = (link, scroller) => link.loading ??= readOlder(link, scroller);

  async function readOlder(link, scroller) {
    let fresh;
    try {
      fresh = parse(await (await fetch(link.getAttribute('href'))).text());
    } catch {
      link.loading = null;
      return;
    }
    // Results that stood alone now belong up here.
    for (const slot of $$('.slot', fresh)) {
      const result = byId(slot.id);
      if (result) slot.replaceWith(result);
    }
    const log = byId('log'), more = $('#older', fresh);
    const fromEnd = scroller.scrollHeight - scroller.scrollTop;
    for (const el of [...$('.log', fresh).children].reverse()) {
      const run = el.matches('.run') && byId(el.id); // its later part is here already
      if (run) $('.segment', run).prepend(...$('.segment', el).childNodes);
      else log.prepend(el);
    }
    byId('older').remove();
    if (more) scroller.prepend(more);
    tick(log);
    scroller.scrollTop = scroller.scrollHeight - fromEnd;
    if (more) watchOlder($('[data-older]', more), scroller);
  }

  // ── Dialogs, menus, buttons ──

  on('click', '[data-dialog]', (e, button) => {
    closeMenus();
    const dialog = byId(button.dataset.dialog);
    for (const p of $$('.form-error', dialog)) p.textContent = '';
    dialog.showModal();
    byId(button.dataset.focus)?.focus();
  });
  on('click', '[data-close]', (e, button) => button.closest('dialog').close());
  on('click', 'dialog', (e, dialog) => {
    const box = dialog.getBoundingClientRect();
    const beside = e.clientX < box.left || e.clientX > box.right || e.clientY < box.top || e.clientY > box.bottom;
    if (e.target === dialog && e.detail && beside) dialog.close();
  });
  on('click', '[data-dismiss]', (e, button) => button.parentElement.remove());
  on('click', '[data-nav]', (e, button) => {
    const open = button.dataset.nav === 'open';
    if (open) root.dataset.nav = 'open';
    else delete root.dataset.nav;
    $((open ? '#sidebar' : '.topbar') + ' [data-nav]')?.focus();
  });
  // copy puts a text into the clipboard and says so on what was clicked; where that
  // is not allowed, otherwise says what to do.
  async function copy(text, word, otherwise) {
    word.was ??= word.textContent;
    try {
      await navigator.clipboard.writeText(await text());
      word.textContent = 'Copied';
    } catch {
      otherwise();
    }
    setTimeout(() => { word.textContent = word.was; }, 2000);
  }

  on('click', '[data-copy]', (e, button) => {
    const from = byId(button.dataset.copy), word = $('[data-copy-word]', button);
    copy(() => from.textContent, word, () => {
      getSelection().selectAllChildren(from);
      word.textContent = 'Selected';
    });
  });
  on('click', '[data-copy-url]', (e, button) => {
    e.preventDefault();
    const text = async () => {
      const answer = await fetch(button.dataset.copyUrl);
      if (!answer.ok) throw new Error(answer.status);
      return answer.text();
    };
    copy(text, button, () => toast('The patch could not be copied. Open the raw patch and copy it there.'));
  });
  on('click', '[data-theme-next]', () => {
    const next = { light: 'dark', dark: '' }[root.dataset.theme ?? ''] ?? 'light';
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      if (next) localStorage.setItem('theme', next);
      else localStorage.removeItem('theme');
    } catch { /* storage may be forbidden */ }
  });

  function closeMenus(except) {
    for (const menu of $$('[data-menu][open]')) if (menu !== except) menu.open = false;
  }
  document.addEventListener('click', (e) => closeMenus(e.target.closest?.('[data-menu]')));

  // What was asked for is done: the form has served.
  document.addEventListener('htmx:after:request', ({ detail: { ctx } }) => {
    if (ctx.response.status >= 400) return;
    const form = ctx.sourceElement;
    form.closest('dialog')?.close();
    if (form.dataset.then) go(form.dataset.then);
    const fold = form.closest('[data-fold]');
    if (fold) {
      fold.open = false;
      form.reset();
    }
    for (const p of $$('.form-error', form)) p.textContent = '';
    closeMenus();
    for (const el of $$('[data-brief]')) setTimeout(() => el.remove(), 6000);
  });
  document.addEventListener('htmx:error', ({ detail }) => {
    if (detail.ctx) toast('The server cannot be reached. Nothing was done.');
  });

  function toast(text) {
    const box = parse('<div class="toast"><p></p><button class="button small" data-dismiss>Dismiss</button></div>');
    box.firstChild.textContent = text;
    byId('toasts').append(box);
  }

  // A list that is written to its end gets another row.
  on('input', '[data-rows] textarea:last-child', (e, row) => {
    if (!row.value) return;
    const next = row.cloneNode();
    next.value = '';
    next.setAttribute('aria-label', row.getAttribute('aria-label').replace(/\d+$/, (n) => Number(n) + 1));
    row.after(next);
  });

  // ── Keyboard ──

  const arrows = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || $('dialog[open]')) return;
    const typing = e.target.matches?.('input, textarea, select, [contenteditable]');
    if (typing) return typingKey(e);
    if (handleKey(e)) e.preventDefault();
  });

  function typingKey(e) {
    if (!e.target.matches('#find, [data-side-find], [data-session-find]')) return;
    if (e.key === 'Escape') {
      e.target.value = '';
      e.target.dispatchEvent(new Event('input', { bubbles: true }));
      e.target.blur();
      e.preventDefault();
    } else if (e.key === 'Enter' && 'sessionFind' in e.target.dataset) {
      findEarlier();
    } else if (e.key === 'Enter' && 'find' in e.target.dataset) {
      e.preventDefault();
      nextFound(e.target);
    }
  }

  // handleKey reports whether a key meant something.
  function handleKey(e) {
    const card = e.target.closest?.('.card');
    if (arrows.has(e.key) && svg?.isConnected && !e.target.closest?.('#drawer, #sidebar')) return arrow(card, e.key);
    if (e.key === ' ' && card) return go(withTab(card.getAttribute('href'))), true;
    if (e.key === 'Escape') return escape();
    if (e.target.closest?.('summary, #log-scroll') && arrows.has(e.key)) return false;
    const simple = {
      '/': () => { const box = byId('find'); if (box) { box.focus(); box.select(); } },
      '?': () => byId('keys').showModal(),
      j: () => hop(1), k: () => hop(-1),
      '+': () => zoomBy('in'), '=': () => zoomBy('in'), '-': () => zoomBy('out'), '0': () => zoomBy('fit'),
    }[e.key];
    if (simple) return simple(), true;
    const link = $('[data-key="' + CSS.escape(e.key) + '"]');
    if (!link) return false;
    link.click();
    return true;
  }

  // hop goes to the next or the previous of a list.
  function hop(by) {
    const all = $$('[data-hop]').filter((el) => el.checkVisibility());
    const at = all.indexOf(document.activeElement);
    const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    to?.focus();
    to?.scrollIntoView({ block: 'nearest' });
  }

  function arrow(card, key) {
    const from = card ?? selectedCard() ?? $('.card[tabindex="0"]', svg) ?? $('.card', svg);
    if (!from) return false;
    focusCard(card ? neighbour(card, key) ?? card : from);
    return true;
  }

  function escape() {
    if ($('[data-menu][open]')) return closeMenus(), true;
    if (root.dataset.nav) return delete root.dataset.nav;
    const open = selectedCard();
    const close = $('[data-key="Escape"]');
    if (!close) return false;
    close.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }));
    if (open) focusCard(open);
    return true;
  }

  narrow.addEventListener('change', () => {
    const url = usual(location.href);
    if (url.href !== location.href) go(url, { replace: true });
  });

  tick();
  localise(document);
  connect();
  arrive('page');
})();
