/* Review of changes: file tree, viewed files, comments on several lines, suggestions, image diffs and shortcuts. */
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const visible = (element) => element.getClientRects().length > 0;

  /* File tree: shows the files whose paths contain the text, and the folders above them. */
  function filterTree(box) {
    const term = box.value.trim().toLowerCase();
    let folders = [];
    all(".diff-tree li").forEach((row) => {
      const depth = Number(/depth-(\d+)/.exec(row.className)[1]);
      folders = folders.filter((folder) => folder.depth < depth);
      if (row.classList.contains("tree-folder")) {
        folders.push({ depth, row });
        row.hidden = Boolean(term);
        return;
      }
      row.hidden = Boolean(term) && !row.dataset.path.includes(term);
      if (!row.hidden) folders.forEach((folder) => { folder.row.hidden = false; });
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    all("[data-tree-filter]").forEach((box) => {
      box.hidden = false;
      box.addEventListener("input", () => filterTree(box));
    });
    prepare(document);
    openTarget();
  });
  document.addEventListener("htmx:load", (event) => prepare(event.target));

  /* A link to a comment opens the collapsed file around it. */
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const file = target?.closest("details.diff-file");
    if (!file || file.open) return;
    file.open = true;
    target.scrollIntoView({ block: "center" });
  }
  window.addEventListener("hashchange", openTarget);

  function prepare(root) {
    all("[data-suggest], .image-modes", root).forEach((element) => { element.hidden = false; });
  }

  /* Viewed files are collapsed, and counted in the tree. */
  document.addEventListener("htmx:afterSwap", (event) => {
    const form = event.detail.elt?.closest?.("form.viewed") || (event.target.matches?.("form.viewed") ? event.target : null);
    all("form.viewed[data-viewed]").forEach((each) => {
      const row = document.querySelector(`[data-tree="${CSS.escape(each.dataset.viewed)}"]`);
      row?.classList.toggle("seen", each.querySelector("[name=viewed]").checked);
    });
    const count = document.querySelector("[data-viewed-count]");
    if (count) count.textContent = document.querySelectorAll(".tree-file.seen").length;
    const file = form && document.getElementById(form.dataset.viewed);
    if (!file) return;
    file.open = !form.querySelector("[name=viewed]").checked;
    (file.open ? file.querySelector("[name=viewed]") : file.querySelector("summary")).focus({ preventScroll: true });
  });

  /* Comments: a click on a line number opens the form below it; with the shift key, for the range from the last line. */
  let last = null;
  const idOf = (link) => new URL(link.href).searchParams.get("at");

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("table.diff td > a[href*='at=']");
    if (!link || !window.htmx || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const table = link.closest("table");
    let [first, end] = [link, link];
    if (event.shiftKey && last && last.closest("table") === table) {
      const links = all("td > a[href*='at=']", table);
      [first, end] = links.indexOf(last) <= links.indexOf(link) ? [last, link] : [link, last];
    }
    if (!event.shiftKey) last = link;
    const start = idOf(first).split("_").slice(1).join("_");
    const address = `${end.getAttribute("href")}&from=${encodeURIComponent(start)}`;
    all("tr.discussion", table).forEach((row) => { if (row.querySelector("form.line-comment") && !row.querySelector(".discussion, .note")) row.remove(); });
    markRange(first, end);
    window.htmx.ajax("GET", address, { target: end.closest("tr"), swap: "afterend" }).then(() => {
      table.querySelector("form.line-comment textarea")?.focus();
    });
  });

  function markRange(first, end) {
    all("tr.in-range").forEach((row) => row.classList.remove("in-range"));
    const rows = all("tr", first.closest("table"));
    rows.slice(rows.indexOf(first.closest("tr")), rows.indexOf(end.closest("tr")) + 1).forEach((row) => row.classList.add("in-range"));
  }

  /* Cancel removes the form and returns to the line. */
  document.addEventListener("click", (event) => {
    const cancel = event.target.closest?.("form.line-comment [data-cancel]");
    const row = cancel?.closest("tr.discussion");
    if (!row || row.querySelector(".discussion, .note")) return;
    event.preventDefault();
    all("tr.in-range").forEach((each) => each.classList.remove("in-range"));
    row.previousElementSibling?.querySelector("td > a[href*='at=']")?.focus();
    row.remove();
  });

  /* Suggestion: inserts the selected lines as a block that the author edits. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-suggest]");
    if (!button) return;
    const form = button.form, field = form.querySelector("textarea");
    const select = form.querySelector("select[name='note[start]']"), single = form.querySelector("input[name='note[start]']");
    const lines = select ? [...select.options].slice(select.selectedIndex) : single ? [single] : [];
    const text = lines.map((line) => line.dataset.text).join("\n");
    const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) || []).map((run) => run.length + 1)));
    const block = `${fence}suggestion:-${Math.max(0, lines.length - 1)}+0\n${text}\n${fence}\n`;
    const before = field.value && !field.value.endsWith("\n") ? "\n" : "";
    const from = field.value.length + before.length + block.indexOf("\n") + 1;
    field.value += before + block;
    field.focus();
    field.setSelectionRange(from, from + text.length);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });

  /* Images: side by side, or one above the other with a slider. */
  function moveSwipe(box) {
    const images = box.querySelectorAll("figure");
    const share = Number(box.querySelector("input[type=range]").value);
    images[1].style.clipPath = box.classList.contains("swipe") ? `inset(0 0 0 ${share}%)` : "";
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-image-mode]");
    if (!button) return;
    const box = button.closest("[data-image-diff]");
    const swipe = button.dataset.imageMode === "swipe";
    box.classList.toggle("swipe", swipe);
    box.querySelector(".image-slider").hidden = !swipe;
    all("[data-image-mode]", box).forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    moveSwipe(box);
  });
  document.addEventListener("input", (event) => {
    const box = event.target.matches?.(".image-slider input") && event.target.closest("[data-image-diff]");
    if (box) moveSwipe(box);
  });

  /* Shortcuts: next and previous change (j, k) and comment (], [). */
  const isChange = (row) => row.matches(".add, .del") || row.querySelector("td.add, td.del");
  function changes() {
    return all("table.diff > tbody > tr").filter((row) => isChange(row) && !(row.previousElementSibling && isChange(row.previousElementSibling)) && visible(row));
  }
  const comments = () => all(".discussion[id], .note.pending").filter(visible);

  function step(items, forward) {
    const middle = window.innerHeight / 2;
    const tops = items.map((item) => item.getBoundingClientRect().top + item.getBoundingClientRect().height / 2);
    const current = items.findIndex((item) => item.contains(document.activeElement) || item === document.activeElement);
    let index = current < 0 ? (forward ? tops.findIndex((top) => top > middle + 1) : tops.findLastIndex((top) => top < middle - 1)) : current + (forward ? 1 : -1);
    index = Math.max(0, Math.min(index < 0 ? (forward ? items.length - 1 : 0) : index, items.length - 1));
    const item = items[index];
    if (!item) return;
    const target = item.matches("tr") ? item.querySelector("td > a") || item : item;
    if (!target.matches("a, button, [tabindex]")) target.tabIndex = -1;
    item.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select, [contenteditable]")) return;
    try { if (window.localStorage.getItem("keys") === "off") return; } catch { /* Storage is blocked. */ }
    const keys = { j: [changes, true], k: [changes, false], "]": [comments, true], "[": [comments, false] };
    const action = keys[event.key];
    const items = action ? action[0]() : [];
    if (!items.length) return;
    event.preventDefault();
    step(items, action[1]);
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-next-unresolved]")) return;
    const open = comments().filter((item) => item.matches(".discussion") && !item.classList.contains("resolved"));
    if (!open.length) return;
    event.preventDefault();
    const current = open.findIndex((item) => item.contains(document.activeElement) || item.classList.contains("current-thread"));
    const next = open[(current + 1) % open.length];
    open.forEach((item) => item.classList.remove("current-thread"));
    next.classList.add("current-thread");
    next.scrollIntoView({ block: "center" });
  });
})();
