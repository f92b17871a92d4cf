// Runs before the page is drawn: the colours that were chosen, links of older
// versions, and what narrow screens show: the table instead of the graph, diffs in one column.
(() => {
  'use strict';
  try {
    const theme = localStorage.getItem('theme');
    if (theme) document.documentElement.dataset.theme = theme;
  } catch { /* storage may be forbidden */ }
  document.documentElement.classList.add('js');

  const old = location.hash.match(/^#\/(?:plan\/(\d+)(?:\/node\/(\d+))?|(agents(?:\/\d+)?))(?:\/|$)/);
  if (old) {
    const [, plan, node, agents] = old;
    location.replace(agents ? '/' + agents : '/plans/' + plan + (node ? '/nodes/' + node : ''));
    return;
  }
  const isPlan = /^\/plans\/\d+(\/nodes\/\d+)?$/.test(location.pathname);
  const query = new URLSearchParams(location.search);
  const isWide = /^\/plans\/\d+\/nodes\/\d+\/full$/.test(location.pathname) && query.get('tab') === 'changes';
  const key = isPlan ? 'view' : isWide ? 'diff' : '';
  if (key && !query.has(key) && matchMedia('(max-width: 899px)').matches) {
    query.set(key, isPlan ? 'list' : 'unified');
    location.replace(location.pathname + '?' + query);
  }
})();
