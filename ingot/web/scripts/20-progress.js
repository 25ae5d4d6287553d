/* Progress of slow forms and downloads, which are disabled until they finish. */
(() => {
  "use strict";
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
