/* Progressive enhancement: every page works without this script. */
(() => {
  "use strict";
  const each = (root, selector, callback) => root.querySelectorAll(selector).forEach(callback);

  function applyDataStyles(root) {
    each(root, "[data-share]", (element) => { element.style.flexGrow = element.dataset.share; });
    each(root, "[data-width]", (element) => { element.style.width = `${element.dataset.width}%`; });
  }

  /* Scrolls the tab of the current page into view: on a narrow screen the row of tabs overflows. */
  function scrollToTab(link) {
    const row = link.closest("nav");
    const [outer, inner] = [row.getBoundingClientRect(), link.getBoundingClientRect()];
    if (row.scrollWidth > row.clientWidth) row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }

  /* Screen readers announce a status only when its text changes after the page has loaded. */
  function announce(line) {
    const text = line.textContent;
    line.textContent = "\u00a0";
    setTimeout(() => { line.textContent = text; }, 100);
  }

  /* navigator.clipboard exists only in secure contexts; plain HTTP needs execCommand. */
  async function copy(field, text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const source = field?.select && field.type !== "password" ? field : document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    source.select();
    const done = document.execCommand("copy");
    if (source !== field) source.remove();
    if (!done) throw new Error("The browser rejected the copy command.");
  }

  /* Returns the focus to the button of a menu that had it. */
  function closeMenu(menu) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }

  /* Moves the focus to the next or previous entry of the open menu, as arrow keys do in menus of the system. */
  function moveInMenu(from, step) {
    const menu = from.closest("details.menu[open]");
    if (!menu || from.matches("input, select, textarea")) return false;
    const entries = [...menu.querySelectorAll(".sheet :is(a, button)")].filter((entry) => entry.checkVisibility());
    const index = entries.indexOf(from);
    entries.at(index < 0 ? (step > 0 ? 0 : -1) : (index + step) % entries.length)?.focus();
    return entries.length > 0;
  }

  document.documentElement.classList.add("scripted");
  document.addEventListener("DOMContentLoaded", () => {
    applyDataStyles(document);
    each(document, "nav a[aria-current]", scrollToTab);
    each(document, ".flash", announce);
  });
  document.addEventListener("htmx:load", (event) => applyDataStyles(event.target));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    each(document, "details.menu[open]", (menu) => { if (!menu.contains(event.target)) menu.open = false; });
    if (!button) return;
    if (button.dataset.copy !== undefined) {
      const field = button.parentElement.querySelector("input, code");
      copy(field, button.dataset.copy || field.value || field.textContent).then(() => { (button.querySelector("span") || button).textContent = document.body.dataset.copied; }, () => {});
    }
    if (button.dataset.reveal) {
      const field = document.getElementById(button.dataset.reveal);
      const shown = field.type === "password";
      field.type = shown ? "text" : "password";
      button.setAttribute("aria-pressed", String(shown));
    }
    if (button.dataset.print !== undefined) window.print();
    if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) event.preventDefault();
    const editor = button.closest(".editor");
    if (editor && (button.dataset.write !== undefined || button.dataset.preview !== undefined)) {
      const preview = button.dataset.preview !== undefined;
      editor.querySelector("textarea").hidden = preview;
      editor.querySelector(".preview").hidden = !preview;
      each(editor, ".switch button", (each) => each.setAttribute("aria-pressed", String(each === button)));
    }
  });

  /* Prevents a double click from submitting a form twice. */
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), 3000);
  });

  /* Shows a failed htmx request at the top of the page; htmx itself ignores it. */
  function showError(text) {
    const line = document.querySelector(".request-error") || document.body.insertBefore(document.createElement("p"), document.body.firstChild);
    line.className = "broadcast request-error";
    line.setAttribute("role", "alert");
    line.textContent = text;
  }
  document.addEventListener("htmx:sendError", () => showError("The server cannot be reached. Check your connection and try again."));
  document.addEventListener("htmx:responseError", (event) => showError(event.detail.xhr.status === 401
    ? "You are signed out. Sign in in another tab, then try again."
    : "The request failed. Reload the page and try again."));
  document.addEventListener("htmx:afterOnLoad", (event) => { if (event.detail.xhr.status < 400) document.querySelector(".request-error")?.remove(); });

  /* Skips the confirmation when a description template does not replace user input. */
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

  /* Single-key shortcuts can be disabled (WCAG 2.1.4). Local storage throws when the browser blocks it. */
  const storage = (() => { try { return window.localStorage; } catch { return { getItem() {}, setItem() {} }; } })();
  document.addEventListener("DOMContentLoaded", () => each(document, "[data-keys]", (box) => {
    box.closest("details").hidden = false;
    box.checked = storage.getItem("keys") !== "off";
    box.addEventListener("change", () => storage.setItem("keys", box.checked ? "on" : "off"));
  }));

  /* When "g" was pressed, which begins a shortcut of two keys. */
  let jumpedAt = 0;

  /* Activates the element whose data-key matches the pressed key, except while the user is typing. */
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") each(document, "details.menu[open]", closeMenu);
    if (["ArrowDown", "ArrowUp"].includes(event.key) && moveInMenu(event.target, event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && event.target.matches("textarea")) event.target.form?.requestSubmit();
      return;
    }
    if (event.target.matches("input, textarea, select, [contenteditable]") || storage.getItem("keys") === "off") return;
    const jump = Date.now() - jumpedAt < 1500 ? `g ${event.key}` : event.key;
    jumpedAt = event.key === "g" && jump === "g" ? Date.now() : 0;
    const marked = `[data-key="${CSS.escape(jump)}"]`;
    /* The page's own action takes precedence over the one of the header, and so do the tabs of a project. */
    const target = document.querySelector(`main ${marked}`) || document.querySelector(`.page-header ${marked}`) || document.querySelector(marked);
    if (!target) return;
    event.preventDefault();
    if (target.matches("input, textarea")) target.focus(); else target.click();
  });
})();
