/* Describes what is out of place in the open page. */
(() => {
  "use strict";
  const SLACK = 1.5;
  const name = (element) => {
    const classes = typeof element.className === "string" ? element.className.trim().split(/\s+/).join(".") : "";
    const text = (element.textContent || element.value || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${element.localName}${classes && `.${classes}`}> "${text}"`;
  };
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const scrolls = (style) => /auto|scroll/.test(style.overflowX);

  /* Returns the nearest ancestor that scrolls or clips horizontally, or none. Each parent is looked up once per page. */
  let clippers = new Map();
  function clipper(element) {
    const parent = element.parentElement;
    if (!parent || parent === document.body) return [null, null];
    if (!clippers.has(parent)) {
      const style = getComputedStyle(parent);
      clippers.set(parent, style.overflowX !== "visible" ? [parent, style] : clipper(parent));
    }
    return clippers.get(parent);
  }

  /* Elements for screen readers only, and links that appear when they have the focus. */
  const offscreen = (style, box) => style.clipPath !== "none" || box.width <= 1 || box.height <= 1 || box.right <= 0;

  function overflow(found) {
    for (const element of document.querySelectorAll("body *")) {
      if (!shown(element) || element.closest("svg, datalist, option, colgroup")) continue;
      const style = getComputedStyle(element), box = element.getBoundingClientRect();
      if (offscreen(style, box) || style.position === "fixed" || style.display === "contents") continue;
      const [outer] = clipper(element);
      if (outer) continue;
      if (box.left < -SLACK || box.right > innerWidth + SLACK) {
        found.push(`leaves the window by ${Math.round(Math.max(-box.left, box.right - innerWidth))} px: ${name(element)}`);
        continue;
      }
      if (style.position === "absolute" || style.display === "inline") continue;
      const parent = element.parentElement, around = parent.getBoundingClientRect(), parentStyle = getComputedStyle(parent);
      if (parent === document.body || parentStyle.display === "contents" || parentStyle.display === "inline" || parent.localName === "details") continue;
      const margins = Math.min(0, parseFloat(style.marginLeft) || 0) + Math.min(0, parseFloat(style.marginRight) || 0);
      if (box.left < around.left - SLACK + margins || box.right > around.right + SLACK - margins) {
        found.push(`leaves ${name(parent)} by ${Math.round(Math.max(around.left - box.left, box.right - around.right))} px: ${name(element)}`);
      }
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  }

  /* Cells of one column begin at one edge, in every row with as many cells. */
  function tables(found) {
    for (const table of document.querySelectorAll("table")) {
      if (!shown(table)) continue;
      const edges = new Map(), spans = table.querySelector("[rowspan], [colspan]");
      for (const row of table.rows) {
        const cells = [...row.cells].filter(shown);
        for (const cell of cells) {
          if (getComputedStyle(cell).display !== "table-cell") found.push(`is no table cell: ${name(cell)}`);
        }
        if (spans) continue;
        cells.forEach((cell, index) => {
          const left = Math.round(cell.getBoundingClientRect().left), key = `${cells.length}/${index}`;
          if (Math.abs((edges.get(key) ?? left) - left) > SLACK) found.push(`is not in its column: ${name(cell)}`);
          edges.set(key, left);
        });
      }
    }
  }

  /* Text that is cut off without a scrollbar or an ellipsis. */
  function clipped(found) {
    for (const element of document.querySelectorAll("body *")) {
      if (!shown(element) || element.closest("svg")) continue;
      const style = getComputedStyle(element), box = element.getBoundingClientRect();
      if (offscreen(style, box) || !["hidden", "clip"].includes(style.overflowX) || element.matches("input, textarea, select")) continue;
      if (style.textOverflow !== "ellipsis" && element.scrollWidth > element.clientWidth + SLACK) found.push(`cuts off its content: ${name(element)}`);
      if (["hidden", "clip"].includes(style.overflowY) && element.scrollHeight > element.clientHeight + 4) found.push(`cuts off lines: ${name(element)}`);
    }
    for (const button of document.querySelectorAll("button, .button, select, input:not([type=hidden])")) {
      if (!shown(button) || offscreen(getComputedStyle(button), button.getBoundingClientRect())) continue;
      if (button.matches("button, .button") && button.scrollWidth > button.clientWidth + SLACK) found.push(`does not fit its text: ${name(button)}`);
      const [outer, style] = clipper(button);
      if (!outer || scrolls(style)) continue;
      const box = button.getBoundingClientRect(), limit = outer.getBoundingClientRect();
      if (box.right > limit.right + SLACK || box.left < limit.left - SLACK) found.push(`is cut off: ${name(button)}`);
    }
  }

  /* The buttons in the heading of a page are inside the window without scrolling sideways. */
  function actions(found) {
    for (const action of document.querySelectorAll("main .heading :is(button, .button), main form > button[type=submit]")) {
      if (!shown(action)) continue;
      const box = action.getBoundingClientRect();
      if (box.width < 8 || box.left < -SLACK || box.right > innerWidth + SLACK) found.push(`is out of view: ${name(action)}`);
    }
  }

  /* A checkbox stands beside the first line of its text. */
  function choices(found) {
    for (const box of document.querySelectorAll("label > :is([type=checkbox], [type=radio])")) {
      const text = [...box.parentElement.childNodes].find((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (!text || !shown(box)) continue;
      const range = document.createRange(), own = box.getBoundingClientRect();
      range.selectNodeContents(text);
      const line = [...range.getClientRects()].find((each) => each.width > 1);
      if (!line || own.width <= 1) continue;
      const distance = own.top + own.height / 2 - line.top - line.height / 2;
      if (Math.abs(distance) > 2) found.push(`is ${Math.round(distance)} px below its text: ${name(box.parentElement)}`);
    }
  }

  /* The parts of a page follow each other without holes. */
  function holes(found) {
    const main = document.querySelector("main");
    if (!main) return;
    let bottom = null;
    for (const part of main.children) {
      const box = part.getBoundingClientRect();
      if (!shown(part) || offscreen(getComputedStyle(part), box)) continue;
      if (bottom !== null && box.top - bottom > 96) found.push(`follows after ${Math.round(box.top - bottom)} px: ${name(part)}`);
      bottom = Math.max(bottom ?? box.bottom, box.bottom);
    }
  }

  window.checkGeometry = () => {
    const found = [];
    clippers = new Map();
    overflow(found);
    tables(found);
    clipped(found);
    actions(found);
    choices(found);
    holes(found);
    return [...new Set(found)].slice(0, 12);
  };
})();
