/* Lines of files: marked as the address says, chosen by a click, several with the shift key. */
(() => {
  "use strict";
  const range = () => /^#((?:f\d+-)?L)(\d+)(?:-L?(\d+))?$/.exec(location.hash);

  function mark(scroll) {
    document.querySelectorAll(".lines tr.chosen").forEach((row) => row.classList.remove("chosen"));
    const found = range();
    if (!found) return;
    const [first, last] = [Number(found[2]), Number(found[3] || found[2])].sort((a, b) => a - b);
    for (let line = first; line <= Math.min(last, first + 5000); line += 1) document.getElementById(found[1] + line)?.classList.add("chosen");
    if (scroll) document.getElementById(found[1] + first)?.scrollIntoView({ block: "center" });
  }

  document.addEventListener("DOMContentLoaded", () => mark(true));
  window.addEventListener("hashchange", () => mark(false));
  document.addEventListener("htmx:afterSettle", () => { if (document.querySelector("table.lines")) mark(!document.querySelector(".lines tr.chosen")); });

  document.addEventListener("click", (event) => {
    const number = event.target.closest(".lines a[href^='#']");
    const found = range();
    if (number && event.shiftKey && found && number.hash.startsWith(`#${found[1]}`)) {
      event.preventDefault();
      const [first, last] = [Number(found[2]), Number(number.hash.slice(found[1].length + 1))].sort((a, b) => a - b);
      history.replaceState(null, "", `#${found[1]}${first}-${last}`);
      mark(false);
    }
    const talk = event.target.closest("table.diff td > a[href*='at=']");
    if (talk && window.htmx && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      htmx.ajax("GET", talk.getAttribute("href"), { target: talk.closest("tr"), swap: "afterend" });
    }
  });
})();
