/* Logs of jobs: sections fold, links to lines open their sections, and the page follows the end of a live log. */
(() => {
  "use strict";
  const buttons = () => document.querySelectorAll(".log button[data-fold]");

  /* Hides the lines within folded sections; the browser's search still finds and opens them. */
  function applyFolds(root) {
    const folded = new Set([...buttons()].filter((button) => button.ariaExpanded === "false").map((button) => button.dataset.fold));
    root.querySelectorAll(".log-line[data-in]").forEach((line) => {
      const hide = line.dataset.in.split(" ").some((number) => folded.has(number));
      if (hide) line.setAttribute("hidden", "until-found"); else line.removeAttribute("hidden");
    });
  }

  function openLine(line) {
    (line?.dataset.in || "").split(" ").forEach((number) => {
      document.querySelector(`.log button[data-fold="${CSS.escape(number)}"]`)?.setAttribute("aria-expanded", "true");
    });
    applyFolds(document);
  }

  function openTarget() {
    const line = /^#L\d+$/.test(location.hash) && document.querySelector(location.hash);
    if (!line || !line.closest(".log")) return;
    openLine(line);
    line.scrollIntoView({ block: "center" });
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!document.querySelector(".log")) return;
    const all = document.querySelector("[data-fold-all]");
    if (all && buttons().length) all.hidden = false;
    applyFolds(document);
    openTarget();
  });
  window.addEventListener("hashchange", openTarget);
  document.addEventListener("beforematch", (event) => openLine(event.target.closest(".log-line")));

  document.addEventListener("click", (event) => {
    const all = event.target.closest?.("[data-fold-all]");
    const button = event.target.closest?.(".log button[data-fold]");
    if (all) {
      const fold = !("folded" in all.dataset);
      all.toggleAttribute("data-folded", fold);
      buttons().forEach((each) => each.setAttribute("aria-expanded", String(!fold)));
      [all.textContent, all.dataset.foldAll] = [all.dataset.foldAll, all.textContent];
    }
    if (button) button.setAttribute("aria-expanded", String(button.ariaExpanded === "false"));
    if (all || button) applyFolds(document);
  });

  /* Follows the log while its end is in view. */
  let follow = false;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.target.closest?.(".log")) return;
    follow = document.getElementById("log").getBoundingClientRect().bottom < window.innerHeight + 120;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const log = document.getElementById("log");
    if (!log) return;
    applyFolds(log);
    if (follow) document.getElementById("log-end")?.scrollIntoView({ block: "end" });
    follow = false;
  });
})();
