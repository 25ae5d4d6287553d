/* Drag and drop of board cards: fills in and submits the form that each card has for the keyboard. */
(() => {
  "use strict";
  let card = null;

  document.addEventListener("dragstart", (event) => {
    card = event.target.closest?.(".card-issue[draggable=true]") || null;
    if (!card) return;
    card.classList.add("dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", card.dataset.iid);
  });

  function highlightColumn(column) {
    document.querySelectorAll(".column.over").forEach((each) => { if (each !== column) each.classList.remove("over"); });
    column?.classList.add("over");
  }

  document.addEventListener("dragover", (event) => {
    const column = card && event.target.closest?.(".column");
    if (card) highlightColumn(column);
    if (column) event.preventDefault();
  });

  document.addEventListener("dragend", () => {
    card?.classList.remove("dragged");
    card = null;
    highlightColumn(null);
  });

  document.addEventListener("drop", (event) => {
    const column = card && event.target.closest?.(".column");
    if (!column) return;
    event.preventDefault();
    const form = card.querySelector("form"), next = event.target.closest(".card-issue");
    if (next === card) return;
    const lane = column.closest("[data-lane]")?.dataset.lane, lanes = form.elements.to_lane;
    form.elements.to.value = column.dataset.list;
    form.elements.before.value = next ? next.dataset.id : "";
    if (lanes && lane) lanes.value = lane;
    const elsewhere = form.elements.from.value !== column.dataset.list || (lanes && form.elements.from_lane.value !== lane);
    if (next || elsewhere) form.requestSubmit();
  });
})();
