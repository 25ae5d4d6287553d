/* File search while typing; without scripts the form searches. */
(() => {
  "use strict";
  document.addEventListener("DOMContentLoaded", () => {
    const box = document.querySelector("input[data-find]"), results = document.getElementById("file-matches");
    if (!box || !results) return;
    const address = (path) => `${box.dataset.blob}/${path.split("/").map(encodeURIComponent).join("/")}`;
    let paths = [], selected = 0;

    /* Returns the sort key of a path: matches in the file name, then anywhere, then the letters in order; -1 for no match. */
    function rank(path, lowerPath, term) {
      if (lowerPath.includes(term)) return (lowerPath.slice(lowerPath.lastIndexOf("/") + 1).includes(term) ? 0 : 1e6) + path.length;
      let from = 0;
      for (const character of term) {
        from = lowerPath.indexOf(character, from) + 1;
        if (!from) return -1;
      }
      return 2e6 + path.length;
    }

    function highlightSelected() {
      const links = results.querySelectorAll("a");
      selected = Math.max(0, Math.min(selected, links.length - 1));
      links.forEach((link, number) => link.parentElement.classList.toggle("selected", number === selected));
      links[selected]?.scrollIntoView({ block: "nearest" });
    }

    function show() {
      const term = box.value.trim().toLowerCase(), limit = Number(box.dataset.shown);
      const matches = [];
      for (const [path, lowerPath] of paths) {
        const key = term ? rank(path, lowerPath, term) : matches.length;
        if (key >= 0) matches.push([key, path]);
        if (!term && matches.length > limit) break;
      }
      matches.sort((first, second) => first[0] - second[0]);
      const list = document.createElement("ul");
      list.className = "rows file-matches";
      for (const [, path] of matches.slice(0, limit)) {
        const link = document.createElement("a");
        link.href = address(path);
        link.textContent = path;
        list.appendChild(document.createElement("li")).appendChild(link);
      }
      const hint = document.createElement("p");
      hint.className = "hint";
      hint.textContent = matches.length > limit ? "Only the first results are shown." : matches.length ? "" : "No file path matches your search.";
      results.replaceChildren(...(matches.length ? [list, hint] : [hint]));
      selected = 0;
      highlightSelected();
    }

    fetch(box.dataset.find).then((response) => (response.ok ? response.json() : [])).then((list) => {
      paths = list.map((path) => [path, path.toLowerCase()]);
      if (paths.length) box.addEventListener("input", show);
      if (paths.length && box.value !== box.defaultValue) show();
    });

    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && paths.length) {
        event.preventDefault();
        selected += step;
        highlightSelected();
      }
      const link = results.querySelector(".selected a");
      if (event.key === "Enter" && link) {
        event.preventDefault();
        link.click();
      }
    });
  });
})();
