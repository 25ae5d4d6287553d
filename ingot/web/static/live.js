/* Live updates. An element with data-live names the event stream of the page. After each event the page is requested
   again, and the parts that differ are replaced; text that the user has typed stays. If no stream can be had, the page
   polls. A hidden page has no stream, because a browser allows only six connections to a server without HTTP/2. */
(() => {
  "use strict";
  const POLL_SECONDS = 15;
  const RETRY_STREAM_SECONDS = 120;
  const marker = () => document.querySelector("[data-live]");
  if (!marker() || !window.fetch) return;

  let source = null;
  let pollTimer = 0;
  let refreshTimer = 0;
  let isRefreshing = false;
  let streamFailedAt = -Infinity;

  /* The HTML of each part as the server sent it: scripts change the elements later. Relative times do not count. */
  const sent = new WeakMap();
  const text = (element) => element.outerHTML.replace(/(<time [^>]*>)[^<]*/g, "$1");
  const parts = (root) => [...root.querySelectorAll("[data-live-part]")];
  const items = (list) => [...list.children].filter((item) => item.id);
  const remember = (root) => root.querySelectorAll("[data-live-part], [data-live-list] > *, [data-live-list] .notes > *").forEach((element) => sent.set(element, text(element)));
  remember(document);

  const status = document.createElement("p");
  status.className = "name-only";
  status.setAttribute("role", "status");
  document.body.append(status);

  const isEdited = (field) => (field.matches("[type=checkbox], [type=radio]") ? field.checked !== field.defaultChecked : field.matches("select") ? false : field.type !== "hidden" && field.value !== field.defaultValue);
  function isInUse(element) {
    const focused = document.activeElement;
    if (element.contains(focused) && focused.matches("input, textarea, select") && !focused.closest("[hx-preserve]")) return true;
    if (element.querySelector(".editing, .comment textarea, .picker")) return true;
    return [...element.querySelectorAll("input, textarea")].some((field) => !field.closest("[hx-preserve]") && isEdited(field));
  }

  /* Moves what the user has opened or changed to the new element. */
  function carryOver(old, fresh) {
    old.querySelectorAll("[hx-preserve][id]").forEach((kept) => fresh.querySelector(`#${CSS.escape(kept.id)}`)?.replaceWith(kept));
    const key = (details) => text(details.querySelector("summary") || details);
    const opened = new Set([...old.querySelectorAll("details[open]")].map(key));
    fresh.querySelectorAll("details").forEach((details) => { if (opened.has(key(details))) details.open = true; });
  }

  function replace(old, fresh) {
    const source = text(fresh);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    carryOver(old, fresh);
    old.replaceWith(fresh);
    activate(fresh, source);
    const target = focused && (focused.isConnected ? focused : counterpart(focused, fresh));
    if (target) target.focus({ preventScroll: true });
  }

  /* The link, button or field of the new element that the user had reached in the old one. */
  function counterpart(focused, fresh) {
    const key = (element) => [element.id, element.getAttribute("href"), element.getAttribute("name"), element.getAttribute("aria-label"), element.textContent.trim()].join("\n");
    return [...fresh.querySelectorAll(focused.tagName)].find((element) => key(element) === key(focused));
  }

  function activate(element, source) {
    remember(element);
    sent.set(element, source);
    window.htmx?.process(element);
    element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
  }

  /* Merges lists whose items have ids, such as discussions and their notes. */
  function mergeList(list, fresh) {
    const known = new Map(items(list).map((item) => [item.id, item]));
    let previous = null;
    items(fresh).forEach((item) => {
      const old = known.get(item.id);
      known.delete(item.id);
      if (!old) {
        const source = text(item);
        if (previous) previous.after(item); else list.prepend(item);
        item.classList.add("is-new");
        activate(item, source);
        if (item.matches(".note") || item.querySelector(".note")) status.textContent = "New comment";
      } else if (sent.get(old) !== text(item)) {
        if (!isInUse(old)) replace(old, item);
        else if (old.querySelector(".notes") && item.querySelector(".notes")) {
          mergeList(old.querySelector(".notes"), item.querySelector(".notes"));
          previous = old;
          return;
        }
      }
      previous = old && old.isConnected ? old : item.isConnected ? item : previous;
    });
    known.forEach((old) => { if (!isInUse(old)) old.remove(); });
    if (items(list).length) document.querySelector(".no-comments")?.remove();
  }

  function merge(fresh) {
    parts(document).forEach((old) => {
      const part = fresh.querySelector(`[data-live-part="${CSS.escape(old.dataset.livePart)}"]`);
      if (part && sent.get(old) !== text(part) && !isInUse(old)) replace(old, document.importNode(part, true));
    });
    document.querySelectorAll("[data-live-list]").forEach((list) => {
      const other = fresh.querySelector(`[data-live-list="${CSS.escape(list.dataset.liveList)}"]`);
      if (other) mergeList(list, document.importNode(other, true));
    });
    const since = fresh.querySelector("[data-live]")?.dataset.live;
    if (since) marker().dataset.live = since;
  }

  async function refresh() {
    if (isRefreshing) { schedule(); return; }
    isRefreshing = true;
    try {
      document.querySelectorAll("[hx-trigger=live]").forEach((element) => window.htmx?.trigger(element, "live"));
      if (!document.querySelector("[data-live-part], [data-live-list]")) return;
      const response = await fetch(marker().dataset.liveSource || location.href.split("#")[0], { headers: { "HX-Request": "true" } });
      if (response.ok && !response.redirected) merge(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      /* The server cannot be reached; the stream or the next poll tries again. */
    } finally {
      isRefreshing = false;
    }
  }
  /* Viewers of one subject request it at slightly different times. */
  function schedule() {
    clearTimeout(refreshTimer);
    refreshTimer = setTimeout(refresh, Math.random() * 300);
  }

  const setState = (state) => { marker().dataset.liveState = state; };

  function poll() {
    if (pollTimer) return;
    setState("polling");
    pollTimer = setInterval(() => {
      if (performance.now() - streamFailedAt > RETRY_STREAM_SECONDS * 1000) open(); else refresh();
    }, (Number(marker().dataset.livePoll) || POLL_SECONDS) * 1000);
  }

  function open() {
    close();
    if (!window.EventSource) { streamFailedAt = Infinity; poll(); return; }
    source = new EventSource(marker().dataset.live);
    source.addEventListener("open", () => setState("open"));
    source.addEventListener("change", schedule);
    source.addEventListener("end", () => { close(); setState("ended"); });
    source.addEventListener("error", () => {
      if (!source || source.readyState !== EventSource.CLOSED) return;
      close();
      streamFailedAt = performance.now();
      poll();
    });
  }

  function close() {
    clearInterval(pollTimer);
    pollTimer = 0;
    source?.close();
    source = null;
  }

  const isWanted = () => document.visibilityState === "visible" && marker() && marker().dataset.liveState !== "ended";
  document.addEventListener("visibilitychange", () => { if (isWanted()) open(); else close(); });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted && isWanted()) open(); });
  if (isWanted()) open();
})();
