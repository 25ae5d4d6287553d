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

  /* Where tabs do not all fit, the one that is open is among those that are seen. */
  function showTab(tab) {
    const [row, seen] = [tab.parentElement.getBoundingClientRect(), tab.getBoundingClientRect()];
    if (seen.right > row.right) tab.parentElement.scrollLeft += seen.left - row.left - (row.width - seen.width) / 2;
  }

  document.addEventListener("DOMContentLoaded", () => {
    dress(document);
    each(document, ":is(.tabs, .with-menu > nav) > a[aria-current]", showTab);
  });
  document.addEventListener("htmx:load", (event) => dress(event.target));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    each(document, "details.menu[open]", (menu) => { if (!menu.contains(event.target)) menu.open = false; });
    if (!button) return;
    if (button.dataset.copy !== undefined) {
      const text = button.dataset.copy || button.parentElement.querySelector("input, code").value || "";
      navigator.clipboard?.writeText(text).then(() => { button.textContent = "Copied"; });
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

  /* One key leads to what is marked with it, unless somebody types. */
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") each(document, "details.menu[open]", (menu) => { menu.open = false; });
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && event.target.matches("textarea")) event.target.form?.requestSubmit();
      return;
    }
    if (event.target.matches("input, textarea, select, [contenteditable]")) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.matches("input, textarea")) target.focus(); else target.click();
  });
})();
