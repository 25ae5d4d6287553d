/* Links that lead to a small form show it in place; without a script they lead to a page of its own. */
(() => {
  "use strict";
  const places = {
    edit: (link) => [link.closest(".note").querySelector(".body"), "innerHTML"],
    award: (link) => [link.closest(".picker") || link.closest(".awards"), "outerHTML"],
    fact: (link) => [link.closest(".fact"), "outerHTML"],
    reply: (link) => [link.closest(".answers"), "outerHTML"],
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-part]");
    if (!link || !window.htmx || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const [target, swap] = places[link.dataset.part](link);
    window.htmx.ajax("GET", link.getAttribute("href"), { target, swap, source: link }).then(() => {
      document.querySelector(".comment textarea[autofocus]")?.focus();
    });
  });

  /* What is chosen stays while somebody searches for more; Escape thinks better of it. */
  document.addEventListener("change", (event) => {
    const chosen = event.target.closest?.(".fact .found .choice");
    if (!chosen) return;
    chosen.closest("form").querySelector(".chosen").append(chosen);
    event.target.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.target.closest?.(".fact.changing, .picker")?.querySelector("a[data-part]")?.click();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const picker = step && event.target.closest?.(".picker");
    if (!picker || (event.target.matches("input") && event.key !== "ArrowDown")) return;
    const all = [picker.querySelector("input[type=search]"), ...picker.querySelectorAll(".offered")];
    event.preventDefault();
    all[all.indexOf(event.target) + step]?.focus();
  });
})();
