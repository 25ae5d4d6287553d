/* Finding a file while somebody types; without this the form does it. */
(() => {
  "use strict";
  document.addEventListener("DOMContentLoaded", () => {
    const box = document.querySelector("input[data-find]"), place = document.getElementById("found-files");
    if (!box || !place) return;
    const address = (path) => `${box.dataset.blob}/${path.split("/").map(encodeURIComponent).join("/")}`;
    let paths = [], chosen = 0;

    /* How far down a path is listed: those that have it in their last part, anywhere, or only its letters in order. */
    function rank(path, low, wanted) {
      if (low.includes(wanted)) return (low.slice(low.lastIndexOf("/") + 1).includes(wanted) ? 0 : 1e6) + path.length;
      let from = 0;
      for (const sign of wanted) {
        from = low.indexOf(sign, from) + 1;
        if (!from) return -1;
      }
      return 2e6 + path.length;
    }

    function mark() {
      const links = place.querySelectorAll("a");
      chosen = Math.max(0, Math.min(chosen, links.length - 1));
      links.forEach((link, number) => link.parentElement.classList.toggle("chosen", number === chosen));
      links[chosen]?.scrollIntoView({ block: "nearest" });
    }

    function show() {
      const wanted = box.value.trim().toLowerCase(), most = Number(box.dataset.shown);
      const found = [];
      for (const [path, low] of paths) {
        const place = wanted ? rank(path, low, wanted) : found.length;
        if (place >= 0) found.push([place, path]);
        if (!wanted && found.length > most) break;
      }
      found.sort((one, other) => one[0] - other[0]);
      const list = document.createElement("ul");
      list.className = "rows found-files";
      for (const [, path] of found.slice(0, most)) {
        const link = document.createElement("a");
        link.href = address(path);
        link.textContent = path;
        list.appendChild(document.createElement("li")).appendChild(link);
      }
      const said = document.createElement("p");
      said.className = "hint";
      said.textContent = found.length > most ? "There are more." : found.length ? "" : "No path of a file has this in it.";
      place.replaceChildren(...(found.length ? [list, said] : [said]));
      chosen = 0;
      mark();
    }

    fetch(box.dataset.find).then((answer) => (answer.ok ? answer.json() : [])).then((found) => {
      paths = found.map((path) => [path, path.toLowerCase()]);
      if (paths.length) box.addEventListener("input", show);
      if (paths.length && box.value !== box.defaultValue) show();
    });

    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && paths.length) {
        event.preventDefault();
        chosen += step;
        mark();
      }
      const link = place.querySelector(".chosen a");
      if (event.key === "Enter" && link) {
        event.preventDefault();
        link.click();
      }
    });
  });
})();
