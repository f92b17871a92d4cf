// Runs before the page is drawn: the colours that were chosen, links of older
// versions, and the table instead of the graph on narrow screens.
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
  if (isPlan && !query.has('view') && matchMedia('(max-width: 899px)').matches) {
    query.set('view', 'list');
    location.replace(location.pathname + '?' + query);
  }
})();
