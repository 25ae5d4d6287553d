/* Lines of files: marked as the address says, chosen by a click, several with the shift key. */
(() => {
  "use strict";
  const range = () => /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);

  function mark(scroll) {
    document.querySelectorAll(".lines tr.chosen").forEach((row) => row.classList.remove("chosen"));
    const found = range();
    if (!found) return;
    const [first, last] = [Number(found[1]), Number(found[2] || found[1])].sort((a, b) => a - b);
    for (let line = first; line <= Math.min(last, first + 5000); line += 1) document.getElementById(`L${line}`)?.classList.add("chosen");
    if (scroll) document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
  }

  document.addEventListener("DOMContentLoaded", () => mark(true));
  window.addEventListener("hashchange", () => mark(false));
  document.addEventListener("htmx:afterSettle", () => { if (document.querySelector("table.lines")) mark(!document.querySelector(".lines tr.chosen")); });

  document.addEventListener("click", (event) => {
    const number = event.target.closest(".lines a[href^='#L']");
    const found = range();
    if (number && event.shiftKey && found) {
      event.preventDefault();
      const [first, last] = [Number(found[1]), Number(number.hash.slice(2))].sort((a, b) => a - b);
      history.replaceState(null, "", `#L${first}-${last}`);
      mark(false);
    }
    const talk = event.target.closest("table.diff td > a[href*='at=']");
    if (talk && window.htmx && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      htmx.ajax("GET", talk.getAttribute("href"), { target: talk.closest("tr"), swap: "afterend" });
    }
  });
})();
