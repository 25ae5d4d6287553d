/* Renders diagrams and formulas in Markdown. Their libraries are loaded only on pages that contain some. */
(() => {
  "use strict";
  const MAX_LENGTH = 20000;
  const MAX_BLOCKS = 50;
  const MAX_HEIGHT = 4000;
  const KINDS = { "language-mermaid": "diagram", "language-math": "block", "display-formula": "display", "inline-formula": "inline" };

  /* A diagram is drawn in a frame with an origin of its own, which can load nothing and knows nothing of this page. */
  function drawDiagram(code) {
    const block = code.closest("pre");
    const frame = document.createElement("iframe");
    frame.className = "diagram";
    frame.title = "Diagram";
    frame.setAttribute("sandbox", "allow-scripts");
    frame.loading = "lazy";
    frame.src = "/-/diagram_frame";
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || (
      !document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches
    ) || document.documentElement.dataset.theme === "dark";
    /* A frame whose color scheme differs from that of its document has an opaque background. */
    frame.style.colorScheme = dark ? "dark" : "light";
    frame.classList.add("pending");
    window.addEventListener("message", (event) => {
      if (event.source !== frame.contentWindow) return;
      if (event.data === "ready") frame.contentWindow.postMessage({ source: code.textContent, dark }, "*");
      else if (Number.isFinite(event.data?.height)) {
        frame.style.height = `${Math.min(Math.max(event.data.height, 20), MAX_HEIGHT)}px`;
        frame.classList.remove("pending");
        block.hidden = true;
      } else frame.remove(); /* The diagram has an error: its source stays visible. */
    });
    block.before(frame);
  }

  let formulas = null;
  function loadFormulas() {
    formulas ||= new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: "/assets/katex.min.js", onload: resolve, onerror: reject });
      document.head.append(script);
    });
    return formulas;
  }

  /* MathML needs neither styles nor fonts; without trust, a formula contains no links, images or HTML. */
  async function drawFormula(code, kind) {
    const display = kind !== "inline" && kind !== "quoted";
    const source = code.textContent;
    await loadFormulas();
    const target = document.createElement(kind === "block" ? "div" : "span");
    target.className = "formula";
    try {
      window.katex.render(source, target, { displayMode: display, output: "mathml", trust: false, maxExpand: 500, maxSize: 20 });
    } catch {
      return; /* The formula has an error: its source stays visible. */
    }
    if (kind === "block") return code.closest("pre").replaceWith(target);
    if (kind === "quoted") dropDollars(code);
    code.replaceWith(target);
  }

  /* The dollar signs around a formula in backticks are part of the text. */
  function dropDollars(code) {
    code.previousSibling.textContent = code.previousSibling.textContent.slice(0, -1);
    code.nextSibling.textContent = code.nextSibling.textContent.slice(1);
  }

  const isQuoted = (code) => code.previousSibling?.nodeType === Node.TEXT_NODE && code.previousSibling.textContent.endsWith("$")
    && code.nextSibling?.nodeType === Node.TEXT_NODE && code.nextSibling.textContent.startsWith("$");

  function draw(root) {
    const blocks = [...root.querySelectorAll(".prose code")].filter((code) => code.dataset.drawn === undefined && code.textContent.length <= MAX_LENGTH);
    let left = MAX_BLOCKS;
    for (const code of blocks) {
      const kind = KINDS[code.className] || (isQuoted(code) ? "quoted" : "");
      if (!kind || left-- <= 0) continue;
      code.dataset.drawn = "";
      if (kind === "diagram") drawDiagram(code); else drawFormula(code, kind).catch(() => {});
    }
  }

  window.addEventListener("load", () => draw(document));
  document.addEventListener("htmx:load", (event) => draw(event.target));
})();
