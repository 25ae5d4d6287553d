/* What takes a while says so, and is not asked for twice. */
(() => {
  "use strict";
  document.addEventListener("submit", (event) => {
    const button = event.target.dataset.busy && event.target.querySelector("button[type=submit]");
    if (button) { button.disabled = true; button.textContent = event.target.dataset.busy; }
  });

  /* Only a cookie tells that a download has begun; from then on the browser itself shows how far it is. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-download]");
    if (!link) return;
    if (link.ariaBusy === "true") { event.preventDefault(); return; }
    const [address, name, mark] = [link.href, link.textContent, Math.random().toString(36).slice(2, 14)];
    link.href += `${link.search ? "&" : "?"}began=${mark}`;
    link.textContent = link.dataset.download;
    link.ariaBusy = "true";
    const until = Date.now() + 600000;
    const look = setInterval(() => {
      if (!document.cookie.includes(`_service_download=${mark}`) && Date.now() < until) return;
      clearInterval(look);
      link.href = address;
      link.textContent = name;
      link.ariaBusy = null;
    }, 250);
  });
})();
