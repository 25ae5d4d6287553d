/* Selection of lines in files: from the URL fragment, by click, and as a range with the shift key. Documents in the viewer
   of the browser; a browser without one would download them instead. */
(() => {
  "use strict";
  const range = () => /^#((?:f\d+-)?L)(\d+)(?:-L?(\d+))?$/.exec(location.hash);

  function highlightRange(scroll) {
    document.querySelectorAll(".lines tr.selected").forEach((row) => row.classList.remove("selected"));
    const match = range();
    if (!match) return;
    const [first, last] = [Number(match[2]), Number(match[3] || match[2])].sort((a, b) => a - b);
    for (let line = first; line <= Math.min(last, first + 5000); line += 1) document.getElementById(match[1] + line)?.classList.add("selected");
    if (scroll) document.getElementById(match[1] + first)?.scrollIntoView({ block: "center" });
  }

  document.addEventListener("DOMContentLoaded", () => {
    highlightRange(true);
    const place = document.querySelector("[data-document]");
    if (place && navigator.pdfViewerEnabled) {
      place.append(Object.assign(document.createElement("iframe"), { src: place.dataset.document, title: place.title }));
      place.removeAttribute("title");
    }
  });
  /* The wrapping of lines, which the style sheet takes from a check box, is stored for each kind of page. */
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-wrap]").forEach((box) => {
    const stored = localStorage.getItem(`wrap-${box.dataset.wrap}`);
    if (stored) box.checked = stored === "yes";
  }));
  document.addEventListener("change", (event) => {
    const box = event.target.closest("[data-wrap]");
    if (box) localStorage.setItem(`wrap-${box.dataset.wrap}`, box.checked ? "yes" : "no");
  });
  window.addEventListener("hashchange", () => highlightRange(false));
  document.addEventListener("htmx:afterSettle", () => { if (document.querySelector("table.lines")) highlightRange(!document.querySelector(".lines tr.selected")); });

  document.addEventListener("click", (event) => {
    const number = event.target.closest(".lines a[href^='#']");
    const match = range();
    if (number && event.shiftKey && match && number.hash.startsWith(`#${match[1]}`)) {
      event.preventDefault();
      const [first, last] = [Number(match[2]), Number(number.hash.slice(match[1].length + 1))].sort((a, b) => a - b);
      history.replaceState(null, "", `#${match[1]}${first}-${last}`);
      highlightRange(false);
    }
  });
})();
