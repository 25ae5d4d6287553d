/* Pipeline editor: switches between its views without a request, and draws the needs of jobs as lines of the graph. */
(() => {
  "use strict";
  const form = document.getElementById("ci-editor");
  if (!form) return;
  const buttons = [...form.querySelectorAll(".ci-editor-tabs button")];
  const open = form.elements.open_tab;

  function show(tab) {
    open.value = tab;
    for (const button of buttons) {
      if (button.value === tab) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    form.querySelectorAll("[data-panel]").forEach((panel) => { panel.hidden = panel.dataset.panel !== tab; });
    draw();
  }

  function draw() {
    const graph = form.querySelector(".ci-graph");
    graph?.querySelector("svg")?.remove();
    if (!graph || !graph.offsetParent || getComputedStyle(graph).flexDirection === "column") return;
    const cards = new Map([...graph.querySelectorAll("[data-job]")].map((card) => [card.dataset.job, card]));
    const origin = graph.getBoundingClientRect();
    const at = (card, side) => {
      const box = card.getBoundingClientRect();
      return [box[side] - origin.left + graph.scrollLeft, box.top + box.height / 2 - origin.top + graph.scrollTop];
    };
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "ci-needs");
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("width", graph.scrollWidth);
    svg.setAttribute("height", graph.scrollHeight);
    for (const card of cards.values()) {
      for (const name of (card.dataset.needs || "").split("\n")) {
        const needed = cards.get(name);
        if (!needed) continue;
        const same = needed.closest(".ci-stage") === card.closest(".ci-stage");
        const [x1, y1] = at(needed, same ? "left" : "right"), [x2, y2] = at(card, "left");
        const bend = same ? x1 - 14 : (x1 + x2) / 2;
        const line = document.createElementNS(svg.namespaceURI, "path");
        line.setAttribute("d", `M${x1},${y1} C${bend},${y1} ${bend},${y2} ${x2},${y2}`);
        svg.append(line);
      }
    }
    graph.append(svg);
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest(".ci-editor-tabs button");
    if (button) { event.preventDefault(); show(button.value); }
  });
  /* The reply shows the view that was open when the request began. */
  document.body.addEventListener("htmx:afterSettle", () => show(open.value));
  window.addEventListener("resize", draw);
  show(open.value);
})();
