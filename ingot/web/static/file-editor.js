/* Replaces the text field of the file editor by a code editor, which is loaded when the page is ready. The field keeps the
   text for the form, for drafts and for browsers in which the editor does not start. */
(() => {
  "use strict";
  const field = document.querySelector("textarea[data-code-editor]");
  if (!field || !document.body.attachShadow) return;

  async function start() {
    const { create } = await import(field.dataset.codeEditor);
    const host = document.createElement("div");
    host.className = "code-editor";
    field.after(host);
    const path = document.getElementById("file_path");
    const folder = field.dataset.folder ? `${field.dataset.folder}/` : "";
    const editor = create({
      root: host.attachShadow({ mode: "open" }),
      text: field.value,
      path: folder + (path?.value || ""),
      label: "Content",
      onChange(text) {
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      },
    });
    field.hidden = true;
    document.getElementById("editor-hint").hidden = false;
    document.querySelector("label[for=content]").addEventListener("click", () => editor.focus());
    field.addEventListener("change", () => editor.setText(field.value));
    path?.addEventListener("change", () => editor.setPath(folder + path.value));
    /* Ctrl+Enter submits, as in other text fields. */
    host.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); field.form.requestSubmit(); }
    }, true);
    /* The page takes keys for shortcuts, and sees the host of the editor as their target. */
    host.addEventListener("keydown", (event) => event.stopPropagation());
  }
  start().catch(() => { field.hidden = false; });
})();
