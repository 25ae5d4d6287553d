/* Search in the choices of a form; without scripts the first choices are listed. */
(() => {
  "use strict";
  const controls = (part) => [...part.querySelectorAll("input:not([type=search])")];

  /* Shows what was found besides the choices that are selected, which stay. */
  function show(picker, html) {
    const results = picker.querySelector(".results");
    results.innerHTML = html; // From this server, which escapes what people wrote.
    const selected = new Set(controls(picker.querySelector(".selected")).map((control) => control.value));
    controls(results).forEach((control) => { if (selected.has(control.value)) control.closest("label").remove(); });
  }

  /* Keeps choices that were made in the results, which the next search replaces. */
  function keepChosen(picker) {
    const selected = picker.querySelector(".selected");
    controls(picker.querySelector(".results")).forEach((control) => { if (control.checked) selected.append(control.closest("label")); });
  }

  function prepare(field) {
    const picker = field.closest("fieldset");
    let timer = 0, asked = 0;
    field.hidden = false;
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const number = ++asked;
        try {
          const response = await fetch(`${field.dataset.choices}&search=${encodeURIComponent(field.value.trim())}`, { headers: { "HX-Request": "true" } });
          const html = response.ok ? await response.text() : "";
          if (!response.ok || number !== asked) return;
          keepChosen(picker);
          show(picker, html);
        } catch { /* The listed choices remain. */ }
      }, 150);
    });
    /* Enter would submit the form. */
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  }

  function prepareOwn(button) {
    const picker = button.previousElementSibling;
    const own = () => controls(picker).find((control) => control.value === button.dataset.me);
    const update = () => { button.hidden = Boolean(own()?.checked); };
    button.addEventListener("click", () => {
      if (!own()) picker.querySelector(".selected").append(button.nextElementSibling.content.cloneNode(true));
      own().checked = true;
      update();
      own().focus();
    });
    picker.addEventListener("change", update);
    update();
  }

  /* Without scripts the link loads the page with everything selected, but forgets the other fields. */
  function selectAll(event) {
    const link = event.currentTarget;
    const boxes = [...link.closest("form").elements].filter((control) => control.name === link.dataset.selectAll);
    const checked = boxes.some((box) => !box.checked);
    event.preventDefault();
    boxes.forEach((box) => { box.checked = checked; });
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-select-all]").forEach((link) => link.addEventListener("click", selectAll));
    document.querySelectorAll(".picker-search").forEach(prepare);
    document.querySelectorAll(".picker-me").forEach(prepareOwn);
  });
})();
