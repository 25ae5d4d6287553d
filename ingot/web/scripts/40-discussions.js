/* Links that lead to a small form show it in place; without a script they lead to a page of its own. */
(() => {
  "use strict";
  const places = {
    edit: (link) => [link.closest(".note").querySelector(".body"), "innerHTML"],
    award: (link) => [link.closest(".awards"), "outerHTML"],
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
})();
