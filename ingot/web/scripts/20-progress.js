/* Progress of slow forms, requests and downloads. */
(() => {
  "use strict";
  /* A bar at the top of the window while a form or a request of the user takes longer than a second. */
  const SHOW_AFTER_MS = 1000;
  const HIDE_AFTER_MS = 60000;
  const bar = Object.assign(document.createElement("progress"), { className: "page-progress", hidden: true });
  bar.setAttribute("aria-label", "Loading");
  const running = new Map();
  const update = (isLate) => { bar.hidden = !isLate && bar.hidden || !running.size; };
  function begin(key) {
    if (!bar.isConnected) document.body.append(bar);
    running.set(key, [setTimeout(update, SHOW_AFTER_MS, true), setTimeout(end, HIDE_AFTER_MS, key)]);
  }
  function end(key) {
    (running.get(key) || []).forEach(clearTimeout);
    running.delete(key);
    update(false);
  }
  document.addEventListener("submit", (event) => { if (!event.defaultPrevented) begin(event.target); });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.triggeringEvent?.isTrusted) begin(event.detail.xhr);
  });
  document.addEventListener("htmx:afterRequest", (event) => end(event.detail.xhr));
  window.addEventListener("pageshow", (event) => { if (event.persisted) [...running.keys()].forEach(end); });

  document.addEventListener("submit", (event) => {
    const button = event.target.dataset.busy && event.target.querySelector("button[type=submit]");
    if (button) { button.disabled = true; button.textContent = event.target.dataset.busy; }
  });

  /* A cookie of the response signals the start of a download; the browser shows the progress from then on. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-download]");
    if (!link) return;
    if (link.ariaBusy === "true") { event.preventDefault(); return; }
    const [address, name, marker] = [link.href, link.textContent, Math.random().toString(36).slice(2, 14)];
    link.href += `${link.search ? "&" : "?"}began=${marker}`;
    link.textContent = link.dataset.download;
    link.ariaBusy = "true";
    const deadline = Date.now() + 600000;
    const timer = setInterval(() => {
      if (!document.cookie.includes(`_service_download=${marker}`) && Date.now() < deadline) return;
      clearInterval(timer);
      link.href = address;
      link.textContent = name;
      link.ariaBusy = null;
    }, 250);
  });
})();
