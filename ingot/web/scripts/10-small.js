/* Small comforts; every page works without them. */
(() => {
  "use strict";
  const each = (root, selector, work) => root.querySelectorAll(selector).forEach(work);

  /* Black or white, whichever is easier to read on a colour. */
  function readable(color) {
    const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
    if (!parts) return "";
    const [red, green, blue] = parts.slice(1).map((part) => {
      const share = parseInt(part, 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
  }

  function dress(root) {
    each(root, "[data-color]", (element) => {
      element.style.background = element.dataset.color;
      element.style.color = readable(element.dataset.color) || element.dataset.text;
    });
    each(root, "[data-share]", (element) => { element.style.flexGrow = element.dataset.share; });
    each(root, "[data-width]", (element) => { element.style.width = `${element.dataset.width}%`; });
  }

  /* On a narrow screen the page that one is on may lie outside of the row that names it. */
  function show(link) {
    const row = link.closest("nav");
    const [outer, inner] = [row.getBoundingClientRect(), link.getBoundingClientRect()];
    if (row.scrollWidth > row.clientWidth) row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }

  /* Where the connection is not encrypted, browsers let nobody write to the clipboard but by the old way. */
  async function copy(field, text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const source = field?.select ? field : document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    source.select();
    const done = document.execCommand("copy");
    if (source !== field) source.remove();
    if (!done) throw new Error("The browser does not copy.");
  }

  document.addEventListener("DOMContentLoaded", () => {
    dress(document);
    each(document, "nav a[aria-current]", show);
  });
  document.addEventListener("htmx:load", (event) => dress(event.target));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    each(document, "details.menu[open]", (menu) => { if (!menu.contains(event.target)) menu.open = false; });
    if (!button) return;
    if (button.dataset.copy !== undefined) {
      const field = button.parentElement.querySelector("input, code");
      copy(field, button.dataset.copy || field.value || field.textContent).then(() => { button.textContent = "Copied"; }, () => {});
    }
    if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) event.preventDefault();
    const editor = button.closest(".editor");
    if (editor && (button.dataset.write !== undefined || button.dataset.preview !== undefined)) {
      const preview = button.dataset.preview !== undefined;
      editor.querySelector("textarea").hidden = preview;
      editor.querySelector(".preview").hidden = !preview;
      each(editor, ".switch button", (each) => each.setAttribute("aria-pressed", String(each === button)));
    }
  });

  /* A second click sends nothing twice. */
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), 3000);
  });

  /* What a script asked for in vain is told, where else nothing would happen. */
  function tell(text) {
    const line = document.querySelector(".trouble") || document.body.insertBefore(document.createElement("p"), document.body.firstChild);
    line.className = "broadcast trouble";
    line.setAttribute("role", "alert");
    line.textContent = text;
  }
  document.addEventListener("htmx:sendError", () => tell("The server cannot be reached. Try again in a moment."));
  document.addEventListener("htmx:responseError", (event) => tell(event.detail.xhr.status === 401
    ? "You are signed out. Sign in in another tab, then try again here."
    : "That did not work. Reload the page and try again."));
  document.addEventListener("htmx:afterOnLoad", (event) => { if (event.detail.xhr.status < 400) document.querySelector(".trouble")?.remove(); });

  /* A template is taken without a question where it replaces nothing that somebody typed. */
  document.addEventListener("htmx:confirm", (event) => {
    const templates = event.target.closest("nav.templates");
    const field = templates && document.getElementById(templates.dataset.fills);
    if (!field) return;
    const untouched = field.value === field.defaultValue && templates.dataset.typed === undefined;
    if (untouched || !field.value.trim()) {
      event.preventDefault();
      event.detail.issueRequest(true);
    }
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    const templates = event.detail.requestConfig?.elt.closest("nav.templates");
    if (templates) delete templates.dataset.typed;
  });

  /* Who speaks to the machine, or hits keys by accident, turns single keys off; a browser may refuse to keep that. */
  const kept = (() => { try { return window.localStorage; } catch { return { getItem() {}, setItem() {} }; } })();
  document.addEventListener("DOMContentLoaded", () => each(document, "[data-keys]", (box) => {
    box.closest("details").hidden = false;
    box.checked = kept.getItem("keys") !== "off";
    box.addEventListener("change", () => kept.setItem("keys", box.checked ? "on" : "off"));
  }));

  /* One key leads to what is marked with it, unless somebody types. */
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") each(document, "details.menu[open]", (menu) => { menu.open = false; });
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && event.target.matches("textarea")) event.target.form?.requestSubmit();
      return;
    }
    if (event.target.matches("input, textarea, select, [contenteditable]") || kept.getItem("keys") === "off") return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.matches("input, textarea")) target.focus(); else target.click();
  });
})();
