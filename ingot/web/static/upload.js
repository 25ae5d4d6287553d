/* Forms with large files show how much was sent; without this script the browser sends them. */
(() => {
  "use strict";
  /* Before other listeners: they take a prevented form for one that does not leave the page. */
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-upload]")) return;
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    const sent = Object.assign(document.createElement("progress"), { max: 1, value: 0 });
    sent.setAttribute("aria-label", button.textContent);
    button.disabled = true;
    button.after(sent);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    /* The notice of the response stays for the page that is loaded afterwards. */
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", ({ loaded, total }) => { sent.value = total ? loaded / total : 0; });
    request.addEventListener("loadend", () => {
      if (request.status === 200) { location.assign(request.responseURL); return; }
      button.disabled = false;
      sent.remove();
      const errors = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main [role=alert]");
      form.querySelector("[role=alert]")?.remove();
      form.prepend(errors || Object.assign(document.createElement("p"), { className: "notice error", role: "alert", textContent: form.dataset.label }));
    });
    request.send(new FormData(form));
  }, true);
})();
