/* Draws one diagram that the embedding page sends. Runs in a sandbox without an origin. */
(() => {
  "use strict";
  const tell = (message) => window.parent.postMessage(message, "*");
  window.addEventListener("message", async (event) => {
    if (event.source !== window.parent) return;
    try {
      const { source, dark } = event.data;
      document.documentElement.style.colorScheme = dark ? "dark" : "light";
      window.mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "default", maxTextSize: 20000, maxEdges: 300 });
      const { svg } = await window.mermaid.render("diagram", String(source));
      const place = document.getElementById("place");
      place.innerHTML = svg;
      tell({ height: Math.ceil(place.getBoundingClientRect().height) });
    } catch {
      tell("failed");
    }
  });
  tell("ready");
})();
