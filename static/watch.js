// What is told about plans outside of the page: the count in the title, the mark
// on the icon, and notifications of those who want them.
(() => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const can = 'Notification' in window && !!navigator.locks;

  function stored(value) {
    try {
      if (value === undefined) return localStorage.getItem('notify') === 'yes';
      if (value) localStorage.setItem('notify', 'yes');
      else localStorage.removeItem('notify');
    } catch { /* storage may be forbidden */ }
    return !!value;
  }

  function tell() {
    const you = byId('you');
    if (!you) return;
    const count = Number(you.dataset.waiting) + Number(you.dataset.failed);
    const bare = document.title.replace(/^\(\d+\) /, '');
    const title = count ? '(' + count + ') ' + bare : bare;
    if (document.title !== title) document.title = title;
    const icon = document.querySelector('link[rel="icon"]');
    const href = count ? icon.dataset.marked : icon.dataset.plain;
    if (icon.getAttribute('href') !== href) icon.setAttribute('href', href);
    news(you);
  }

  // One tab leads: it tells the news, unless someone looks at any of them.
  let known = null;
  async function news(you) {
    const now = new Map([...you.querySelectorAll('[data-news]')].map((a) => [a.dataset.news, a]));
    const fresh = known ? [...now].filter(([key]) => !known.has(key)) : [];
    known = new Set(now.keys());
    if (!fresh.length || !('leads' in root.dataset) || !stored() || Notification.permission !== 'granted') return;
    const { held } = await navigator.locks.query();
    if (held.some((lock) => lock.name === 'clearbox-front')) return;
    for (const [key, a] of fresh.slice(0, 3)) {
      const n = new Notification(a.dataset.what, { body: a.textContent, tag: key, icon: document.querySelector('link[rel="icon"]').dataset.plain });
      const { href } = a;
      n.onclick = () => {
        window.focus();
        n.close();
        const link = Object.assign(document.createElement('a'), { href: new URL(href).pathname + new URL(href).search });
        document.body.append(link);
        link.click();
        link.remove();
      };
    }
  }

  if (navigator.locks) {
    navigator.locks.request('clearbox-leader', () => {
      root.dataset.leads = '';
      document.dispatchEvent(new Event('visibilitychange')); // who leads follows the count
      return new Promise(() => {});
    });
    let letGo = null;
    const front = () => {
      const on = document.hasFocus() && !document.hidden;
      if (on && !letGo) navigator.locks.request('clearbox-front', { mode: 'shared' }, () => new Promise((done) => { letGo = done; }));
      else if (!on && letGo) letGo = letGo();
    };
    for (const type of ['focus', 'blur']) addEventListener(type, front);
    document.addEventListener('visibilitychange', front);
    front();
  }

  // The switch on the page of settings.
  function words() {
    if (!can) return ['This browser shows no notifications for this address. They need https or this machine’s own address.', ''];
    if (Notification.permission === 'denied') return ['The browser refuses notifications of this site: allow them in its settings first.', ''];
    if (stored() && Notification.permission === 'granted') return ['This browser tells you when something waits for you or failed and no window of Clearbox is in front.', 'Turn off'];
    return ['This browser tells you nothing.', 'Turn on'];
  }

  function draw() {
    const state = byId('notify-state'); // by its id: this is asked at every change
    if (!state) return;
    const button = document.querySelector('[data-notify]');
    const [text, word] = words();
    if (state.textContent !== text) state.textContent = text;
    if (button.textContent !== word) button.textContent = word;
    button.hidden = !word;
  }

  document.addEventListener('click', async (e) => {
    if (!e.target.closest?.('[data-notify]')) return;
    stored(stored() && Notification.permission === 'granted' ? false : await Notification.requestPermission() === 'granted');
    draw();
  });

  new MutationObserver(() => { tell(); draw(); }).observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-waiting', 'data-failed'] });
  tell();
  draw();
})();
