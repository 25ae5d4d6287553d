/* Suggestions of the search field, which Ctrl+K opens; without scripts the field searches. The browser remembers the
   addresses that a user visited, and the server returns those that the user may still see. */
(() => {
  "use strict";
  const MAX_VISITED = 12;
  const storage = (() => { try { return window.localStorage; } catch { return null; } })();
  const answers = new Map();

  function visited(field) {
    try { return JSON.parse(storage?.getItem(`visited ${field.dataset.visitor}`) || "[]"); } catch { return []; }
  }

  /* Remembers the issue, merge request, project or group of the page. */
  function remember(field) {
    const place = field.dataset.place;
    if (!place || !field.dataset.visitor) return;
    const subject = /^\/.+\/-\/(issues|merge_requests)\/\d+/.exec(location.pathname);
    const addresses = subject ? [subject[0], place] : [place];
    try {
      storage?.setItem(`visited ${field.dataset.visitor}`, JSON.stringify([...new Set([...addresses, ...visited(field)])].slice(0, MAX_VISITED)));
    } catch { /* The storage is full or blocked. */ }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const field = document.querySelector("input[data-suggest]");
    if (!field) return;
    /* Other users of the browser do not get the addresses. */
    if (!field.dataset.visitor) Object.keys(storage || {}).filter((key) => key.startsWith("visited ")).forEach((key) => storage.removeItem(key));
    remember(field);
    let list = null, status = null, index = -1, timer = 0, selectsFirst = false;

    function prepare() {
      list = document.createElement("div");
      list.id = "suggestions";
      list.className = "suggestions";
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", field.dataset.label);
      list.hidden = true;
      status = document.createElement("p");
      status.className = "name-only";
      status.setAttribute("role", "status");
      field.after(list, status);
      Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" }).forEach(([name, value]) => field.setAttribute(name, value));
    }

    prepare();
    const options = () => [...list.querySelectorAll("[role=option]")];

    function mark(next) {
      const all = options();
      index = next < all.length ? next : -1;
      all.forEach((option, number) => option.setAttribute("aria-selected", String(number === index)));
      if (index < 0) { field.removeAttribute("aria-activedescendant"); return; }
      all[index].scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", all[index].id);
    }

    function close() {
      if (list.hidden) return;
      list.hidden = true;
      field.setAttribute("aria-expanded", "false");
      field.removeAttribute("aria-activedescendant");
      status.textContent = "";
    }

    function show(html) {
      list.innerHTML = html; // From this server, which escapes what people wrote.
      const all = options();
      all.forEach((option, number) => { option.id = `suggestion_${number}`; });
      list.hidden = !all.length;
      field.setAttribute("aria-expanded", String(all.length > 0));
      status.textContent = `${field.dataset.label}: ${all.length}`;
      index = -1;
      if (selectsFirst && all.length) mark(0); else field.removeAttribute("aria-activedescendant");
    }

    async function load() {
      const text = field.value.trim();
      const query = new URLSearchParams({ search: text, project: field.dataset.project || "" });
      if (field.dataset.visitor) visited(field).forEach((address) => { if (address !== location.pathname) query.append("visited[]", address); });
      const address = `${field.dataset.suggest}?${query}`;
      if (!answers.has(address)) {
        const response = await fetch(address, { headers: { "HX-Request": "true" } });
        if (!response.ok) return;
        if (answers.size > 100) answers.clear();
        answers.set(address, await response.text());
      }
      if (document.activeElement === field && field.value.trim() === text) show(answers.get(address));
    }

    function suggest(wait) {
      clearTimeout(timer);
      timer = setTimeout(() => load().catch(() => { /* The field searches without suggestions. */ }), wait);
    }

    field.addEventListener("input", () => {
      suggest(120);
      mark(-1); // Those that are still shown belong to another text.
    });
    field.addEventListener("focus", () => suggest(0));
    field.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== field) { close(); selectsFirst = false; } }, 150));
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) suggest(0); else mark(event.key === "ArrowDown" ? index + 1 : index < 0 ? options().length - 1 : index - 1);
      } else if (event.key === "Enter" && !list.hidden && index >= 0) {
        event.preventDefault();
        options()[index].click();
      } else if (event.key === "Escape" && !list.hidden) {
        event.preventDefault();
        close();
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      selectsFirst = true;
      field.select();
      if (document.activeElement === field) suggest(0); else field.focus();
    });
  });
})();
