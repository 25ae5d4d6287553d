/* Replaces text fields for code by code editors, which are loaded when the page is ready. A field keeps the text for the
   form, for drafts and for browsers in which the editor does not start. The language follows from the name of the file:
   data-path, or the field with the id in data-path-from. */
(() => {
  "use strict";
  if (!document.body.attachShadow) return;

  async function start(field) {
    const { create } = await import(field.dataset.codeEditor);
    const host = document.createElement("div");
    host.className = "code-editor";
    field.after(host);
    const name = document.getElementById(field.dataset.pathFrom || "");
    const path = () => (field.dataset.folder ? `${field.dataset.folder}/` : "") + (name ? name.value : field.dataset.path || "");
    const label = field.labels[0];
    const editor = create({
      root: host.attachShadow({ mode: "open" }),
      text: field.value,
      path: path(),
      label: label.textContent,
      onChange(text) {
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      },
    });
    /* The region that scrolls is reached by the keyboard through its content. */
    host.shadowRoot.querySelector(".cm-content").tabIndex = 0;
    field.hidden = true;
    field.required = false; /* A hidden field cannot show that it is required; the server does. */
    document.getElementById("editor-hint")?.removeAttribute("hidden");
    label.addEventListener("click", () => editor.focus());
    field.addEventListener("change", () => editor.setText(field.value));
    name?.addEventListener("change", () => editor.setPath(path()));
    /* Ctrl+Enter submits, as in other text fields. */
    host.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); field.form.requestSubmit(); }
    }, true);
    /* The page takes keys for shortcuts, and sees the host of the editor as their target. */
    host.addEventListener("keydown", (event) => event.stopPropagation());
  }
  document.querySelectorAll("textarea[data-code-editor]").forEach((field) => start(field).catch(() => { field.hidden = false; }));
})();
