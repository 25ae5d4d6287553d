/* Opens small forms in place; without scripts their links open a separate page. */
(() => {
  "use strict";
  const targets = {
    edit: (link) => [link.closest(".note").querySelector(".body"), "innerHTML"],
    award: (link) => [link.closest(".picker") || link.closest(".awards"), "outerHTML"],
    field: (link) => [link.closest(".sidebar-field"), "outerHTML"],
    quote: (link) => [link.closest(".discussion").querySelector(".discussion-actions"), "outerHTML"],
    reply: (link) => [link.closest(".discussion-actions"), "outerHTML"],
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-part]");
    if (!link || !window.htmx || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const [target, swap] = targets[link.dataset.part](link);
    if (!target) return; // The form for a reply is open; the link opens a page of its own.
    event.preventDefault();
    window.htmx.ajax("GET", link.getAttribute("href"), { target, swap, source: link }).then(() => {
      document.querySelector(".comment textarea[autofocus]")?.focus();
    });
  });

  /* Keeps the selected options while the user searches for others. Escape cancels. */
  document.addEventListener("change", (event) => {
    const choice = event.target.closest?.(".sidebar-field .results .choice");
    if (!choice) return;
    choice.closest("form").querySelector(".selected").append(choice);
    event.target.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.target.closest?.(".sidebar-field.editing, .picker")?.querySelector("a[data-part]")?.click();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const picker = step && event.target.closest?.(".picker");
    if (!picker || (event.target.matches("input") && event.key !== "ArrowDown")) return;
    const all = [picker.querySelector("input[type=search]"), ...picker.querySelectorAll(".emoji-option")];
    event.preventDefault();
    all[all.indexOf(event.target) + step]?.focus();
  });
})();
