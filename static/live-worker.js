// One connection to the server for all tabs of a browser. Each tab says which
// topics it shows and up to which number it has seen their changes; it gets what
// came after. Runs as a SharedWorker, or inside the page where there is none.
(() => {
  'use strict';
  const PATIENCE = 40_000; // without any message, ms: the server sends a sign of life every 15 s
  const tabs = new Map(); // port → Map of topic → number
  let source = null; // the open connection
  let next = null; // the one that is to replace it
  let have = new Map(); // topic → what the connection has brought includes this number
  let timer = 0, watchdog = 0, tries = 0;
  let lost; // whether the way to the server is lost; not known at first

  // needed returns all topics with the lowest number that some tab has.
  function needed() {
    const all = new Map();
    for (const wants of tabs.values())
      for (const [topic, seq] of wants) all.set(topic, Math.min(seq, all.get(topic) ?? seq));
    return all;
  }

  function plan(delay) {
    clearTimeout(timer);
    timer = setTimeout(open, delay);
  }

  // open replaces the connection by one that brings what is needed now. The old
  // one stays until the new one is there.
  function open() {
    next?.close();
    next = null;
    const topics = needed();
    if (!topics.size) return shut();
    const query = [...topics].map(([topic, seq]) => topic + '@' + seq).join(',');
    const s = next = new EventSource('/live?topics=' + encodeURIComponent(query));
    s.onopen = () => {
      if (s !== next) return;
      source?.close();
      source = s;
      next = null;
      have = topics;
      tries = 0;
      tell(false);
      watch();
    };
    s.onmessage = (e) => { watch(); deliver(JSON.parse(e.data)); };
    s.addEventListener('ping', watch);
    s.onerror = () => fail(s);
  }

  function shut() {
    source?.close();
    source = null;
    have = new Map();
    clearTimeout(watchdog);
  }

  function fail(s) {
    s.close();
    if (s !== source && s !== next) return;
    if (s === source) source = null;
    if (s === next) next = null;
    if (!source) { // else the old one still works
      have = new Map();
      tell(true);
    }
    plan(Math.min(5000, 250 * 2 ** tries++) * (0.75 + Math.random() / 2));
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => source && fail(source), PATIENCE);
  }

  function tell(isLost) {
    if (lost === isLost) return;
    lost = isLost;
    for (const port of tabs.keys()) port.postMessage({ lost });
  }

  function deliver(message) {
    const { t, s, v } = message; // topic, where to go on, what it includes
    have.set(t, Math.max(v, have.get(t) ?? 0));
    for (const [port, wants] of tabs) {
      if (!wants.has(t) || wants.get(t) >= v && !message.r) continue;
      wants.set(t, Math.max(s, wants.get(t)));
      port.postMessage(message);
    }
  }

  // want sets the topics of a tab. The connection is only replaced when it could
  // not bring something, or when it brings what nobody wants.
  function want(port, topics) {
    const wants = new Map(Object.entries(topics));
    tabs.set(port, wants);
    const missing = [...wants].some(([topic, seq]) => !(have.get(topic) <= seq));
    if (missing || !source) return plan(missing && wants.size ? 20 : 500);
    const all = needed();
    if ([...have.keys()].some((topic) => !all.has(topic))) plan(2000);
  }

  function leave(port) {
    tabs.delete(port);
    plan(500);
  }

  function connect(port) {
    tabs.set(port, new Map());
    port.onmessage = ({ data }) => {
      if (data.want) want(port, data.want);
      if (data.bye) leave(port);
      // A tab that crashes says no goodbye, but gives back its lock.
      if (data.lock && navigator.locks) navigator.locks.request(data.lock, () => leave(port));
    };
    if (lost !== undefined) port.postMessage({ lost });
  }

  if ('onconnect' in self) self.onconnect = (e) => connect(e.ports[0]);
  else self.liveConnect = connect;
})();
