/* Markdown editors: formatting, attachments, completion, and drafts that stay in the browser until they are sent. Without
   scripts an editor is a plain text field. */
(() => {
  "use strict";
  if (window.writingScript) return; // Every editor names the script.
  window.writingScript = true;
  const storage = (() => { try { return window.localStorage; } catch { return null; } })();
  const editorOf = (element) => element.closest?.(".editor");
  const fieldOf = (editor) => editor.querySelector("textarea");
  const csrf = (element) => element.closest("form")?.querySelector("[name=authenticity_token]")?.value || "";

  /* Replaces a range so that the browser's undo works, which assigning a value would reset. */
  function write(field, start, end, text, selectStart = start + text.length, selectEnd = selectStart) {
    field.focus();
    field.setSelectionRange(start, end);
    const done = text ? document.execCommand("insertText", false, text) : start === end || document.execCommand("delete");
    if (!done) {
      field.setRangeText(text, start, end, "end");
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
    field.setSelectionRange(selectStart, selectEnd);
  }

  /* --- Formatting --- */
  function wrap(field, mark, placeholder) {
    const { selectionStart: start, selectionEnd: end, value } = field;
    const size = mark.length;
    if (value.slice(start - size, start) === mark && value.slice(end, end + size) === mark) {
      const inner = value.slice(start, end);
      write(field, start - size, end + size, inner, start - size, start - size + inner.length);
      return;
    }
    const inner = value.slice(start, end) || placeholder;
    write(field, start, end, mark + inner + mark, start + size, start + size + inner.length);
  }

  function prefixLines(field, prefix) {
    const { value } = field;
    const start = value.lastIndexOf("\n", field.selectionStart - 1) + 1;
    const next = value.indexOf("\n", field.selectionEnd);
    const end = next < 0 ? value.length : next;
    const lines = value.slice(start, end).split("\n");
    const isSet = lines.every((line) => line.startsWith(prefix));
    const text = lines.map((line) => (isSet ? line.slice(prefix.length) : prefix + line)).join("\n");
    write(field, start, end, text, lines.length > 1 ? start : start + text.length, start + text.length);
  }

  function insertBlock(field, text, from, to) {
    const before = field.value.slice(0, field.selectionStart);
    const lead = !before || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    const start = field.selectionStart + lead.length;
    write(field, field.selectionStart, field.selectionEnd, `${lead}${text}\n`, start + from, start + to);
  }

  const formats = {
    bold: (field) => wrap(field, "**", "bold"),
    italic: (field) => wrap(field, "_", "italic"),
    code: (field) => {
      const selected = field.value.slice(field.selectionStart, field.selectionEnd);
      if (selected.includes("\n")) insertBlock(field, `\`\`\`\n${selected}\n\`\`\``, 4, 4 + selected.length); else wrap(field, "`", "code");
    },
    link: (field) => {
      const { selectionStart: start, selectionEnd: end } = field;
      const text = field.value.slice(start, end);
      if (/^https?:\/\/\S+$/.test(text)) write(field, start, end, `[text](${text})`, start + 1, start + 5);
      else write(field, start, end, `[${text || "text"}](url)`, start + (text || "text").length + 3, start + (text || "text").length + 6);
    },
    quote: (field) => prefixLines(field, "> "),
    list: (field) => prefixLines(field, "- "),
    tasks: (field) => prefixLines(field, "- [ ] "),
    table: (field) => insertBlock(field, "| Column | Column |\n| ------ | ------ |\n| Cell | Cell |", 2, 8),
    attach: (field) => {
      const input = Object.assign(document.createElement("input"), { type: "file", multiple: true });
      input.addEventListener("change", () => uploadAll(field, input.files));
      input.click();
    },
  };
  const shortcuts = { b: "bold", i: "italic", k: "link" };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".editor [data-format]");
    if (button) formats[button.dataset.format](fieldOf(editorOf(button)));
  });

  /* --- Attachments: the text gets a placeholder at once, and the link when the file has arrived. --- */
  function uploadAll(field, files) { [...files].forEach((file) => upload(field, file)); }

  function upload(field, file) {
    const editor = editorOf(field);
    const placeholder = `[Uploading ${file.name.replace(/[[\]]/g, "")}…]()`;
    write(field, field.selectionStart, field.selectionEnd, `${placeholder}\n`);
    const line = document.createElement("p");
    line.className = "upload hint";
    line.setAttribute("role", "status");
    const bar = Object.assign(document.createElement("progress"), { max: 1, value: 0 });
    bar.setAttribute("aria-label", `Upload of ${file.name}`);
    line.append(`Uploading ${file.name} `, bar);
    fieldOf(editor).after(line);
    const settle = (text, message) => {
      const at = field.value.indexOf(placeholder);
      const caret = field.selectionStart;
      if (at >= 0) {
        const moved = caret > at ? caret + text.length - placeholder.length : caret;
        write(field, at, at + placeholder.length + (text ? 0 : 1), text, moved, moved);
      }
      if (message) line.textContent = message; else line.remove();
    };
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v4/projects/${encodeURIComponent(editor.dataset.path)}/uploads`);
    request.setRequestHeader("X-CSRF-Token", csrf(field));
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
    request.addEventListener("load", () => {
      if (request.status === 201) settle(request.response.markdown, "");
      else settle("", `${file.name} was not uploaded: ${request.status === 413 ? "the file is too large" : `the server responded with ${request.status}`}.`);
    });
    request.addEventListener("error", () => settle("", `${file.name} was not uploaded: the server cannot be reached.`));
    const form = new FormData();
    form.append("file", file, file.name || "image.png");
    request.send(form);
  }

  const mayAttach = (field) => field?.matches?.(".editor textarea") && editorOf(field).querySelector("[data-format=attach]");
  document.addEventListener("paste", (event) => {
    if (!mayAttach(event.target) || !event.clipboardData?.files.length || event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    uploadAll(event.target, event.clipboardData.files);
  });
  document.addEventListener("dragover", (event) => {
    if (mayAttach(event.target) && event.dataTransfer?.types.includes("Files")) { event.preventDefault(); event.target.classList.add("drop"); }
  });
  document.addEventListener("dragleave", (event) => event.target.classList?.remove("drop"));
  document.addEventListener("drop", (event) => {
    if (!mayAttach(event.target) || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    event.target.classList.remove("drop");
    uploadAll(event.target, event.dataTransfer.files);
  });

  /* --- Completion --- */
  const answers = new Map();
  let open = null;
  let timer = 0;

  function triggerAt(field) {
    if (field.selectionStart !== field.selectionEnd) return null;
    const before = field.value.slice(Math.max(0, field.selectionStart - 80), field.selectionStart);
    const command = /(?:^|\n)(\/)([a-z_]*)$/.exec(before);
    const found = (command && editorOf(field).dataset.subject ? command : null) || /(?:^|[\s(])([@#!~%])"?([^\s"@#!~%]*)$/.exec(before) || /(?:^|[\s(])(:)([a-z0-9_+-]{2,})$/.exec(before);
    return found && { sign: found[1], search: found[2], start: field.selectionStart - found[0].length + found[0].indexOf(found[1]) };
  }

  async function suggestions(editor, trigger) {
    const query = new URLSearchParams({ trigger: trigger.sign, search: trigger.search, root: editor.dataset.root, path: editor.dataset.path, subject: editor.dataset.subject });
    const address = `/-/completions?${query}`;
    if (!answers.has(address)) {
      const response = await fetch(address, { headers: { "HX-Request": "true" } });
      if (!response.ok) return [];
      if (answers.size > 200) answers.clear();
      answers.set(address, await response.json());
    }
    return answers.get(address);
  }

  /* Returns where the caret is, measured in a copy of the text with the same layout. */
  function caretPosition(field) {
    const mirror = document.createElement("div");
    const style = getComputedStyle(field);
    ["boxSizing", "width", "padding", "borderWidth", "font", "letterSpacing", "lineHeight", "tabSize"].forEach((name) => { mirror.style[name] = style[name]; });
    Object.assign(mirror.style, { position: "absolute", visibility: "hidden", whiteSpace: "pre-wrap", overflowWrap: "anywhere", borderStyle: "solid" });
    mirror.textContent = field.value.slice(0, field.selectionStart);
    const caret = mirror.appendChild(document.createElement("span"));
    caret.textContent = "\u200b";
    field.after(mirror);
    const position = { left: caret.offsetLeft, top: caret.offsetTop - field.scrollTop + caret.offsetHeight };
    mirror.remove();
    return position;
  }

  function close() {
    if (!open) return;
    open.list.remove();
    open.status.textContent = "";
    ["aria-activedescendant", "aria-controls", "aria-autocomplete"].forEach((name) => open.field.removeAttribute(name));
    open = null;
  }

  function mark(index) {
    const options = [...open.list.children];
    open.index = (index + options.length) % options.length;
    options.forEach((option, number) => option.setAttribute("aria-selected", String(number === open.index)));
    options[open.index].scrollIntoView({ block: "nearest" });
    open.field.setAttribute("aria-activedescendant", options[open.index].id);
  }

  function show(field, trigger, found) {
    close();
    if (!found.length) return;
    const editor = editorOf(field);
    const list = document.createElement("ul");
    list.className = "completions";
    list.id = `${field.id}_completions`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    found.forEach((suggestion, number) => {
      const option = document.createElement("li");
      option.id = `${list.id}_${number}`;
      option.setAttribute("role", "option");
      if (suggestion.color) {
        const dot = option.appendChild(document.createElement("span"));
        dot.className = "dot";
        dot.style.background = suggestion.color;
      }
      option.append(suggestion.name);
      if (suggestion.hint) {
        const hint = option.appendChild(document.createElement("span"));
        hint.className = "hint";
        hint.textContent = suggestion.hint;
      }
      list.append(option);
    });
    let status = editor.querySelector(".completion-status");
    if (!status) {
      status = editor.appendChild(document.createElement("p"));
      status.className = "completion-status name-only";
      status.setAttribute("role", "status");
    }
    status.textContent = `${found.length} ${found.length === 1 ? "suggestion" : "suggestions"}`;
    const position = caretPosition(field);
    field.after(list);
    list.style.top = `${field.offsetTop + Math.min(position.top, field.clientHeight)}px`;
    list.style.left = `${Math.max(0, Math.min(field.offsetLeft + position.left, editor.clientWidth - list.offsetWidth))}px`;
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", list.id);
    open = { field, list, status, found, trigger, index: 0 };
    mark(0);
  }

  function choose(index) {
    const { field, trigger, found } = open;
    const { value } = found[index];
    close();
    const isComplete = !/[@~%#:]$|\/\w+ $/.test(value) || value.startsWith(":");
    write(field, trigger.start, field.selectionStart, value + (isComplete ? " " : ""));
    if (!isComplete) complete(field);
  }

  function complete(field) {
    clearTimeout(timer);
    const trigger = triggerAt(field);
    if (!trigger) { close(); return; }
    timer = setTimeout(async () => {
      try {
        const found = await suggestions(editorOf(field), trigger);
        const now = triggerAt(field);
        if (document.activeElement === field && now && now.start === trigger.start && now.search === trigger.search) show(field, trigger, found);
      } catch { /* The text can be written without suggestions. */ }
    }, 120);
  }

  document.addEventListener("input", (event) => { if (event.target.matches?.(".editor textarea")) complete(event.target); });
  document.addEventListener("focusout", (event) => { if (open && event.target === open.field) setTimeout(close, 150); });
  document.addEventListener("mousedown", (event) => {
    const option = event.target.closest?.(".completions [role=option]");
    if (!option || !open) return;
    event.preventDefault();
    choose([...open.list.children].indexOf(option));
  });

  /* --- Keys --- */
  document.addEventListener("keydown", (event) => {
    const tool = event.target.closest?.(".toolbar [data-format]");
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (tool && step) {
      const tools = [...tool.parentElement.children];
      const next = tools[(tools.indexOf(tool) + step + tools.length) % tools.length];
      tool.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      event.preventDefault();
      return;
    }
    const field = event.target;
    if (!field.matches?.(".editor textarea") || event.isComposing) return;
    const format = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && shortcuts[event.key.toLowerCase()];
    if (format) { event.preventDefault(); formats[format](field); return; }
    if (open && open.field === field) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); mark(open.index + (event.key === "ArrowDown" ? 1 : -1)); return; }
      if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || event.key === "Tab") { event.preventDefault(); choose(open.index); return; }
      if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); return; }
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.shiftKey) continueList(event, field);
  }, true);

  /* Enter continues a list, and ends it on an empty item. */
  function continueList(event, field) {
    const start = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
    const line = field.value.slice(start, field.selectionStart);
    const item = /^(\s*)([-*+]|\d+\.)( \[[ xX]\])? (.*)$/.exec(line);
    if (!item || field.selectionStart !== field.selectionEnd) return;
    event.preventDefault();
    if (!item[4]) { write(field, start, field.selectionStart, ""); return; }
    const sign = /\d/.test(item[2]) ? `${parseInt(item[2], 10) + 1}.` : item[2];
    write(field, field.selectionStart, field.selectionEnd, `\n${item[1]}${sign}${item[3] ? " [ ]" : ""} `);
  }

  /* --- Drafts --- */
  const draftKey = (field) => `draft ${location.pathname} ${field.id || field.name}`;
  const isUnsent = (field) => field.value.trim() !== "" && field.value !== field.defaultValue;
  const kept = "textarea[data-draft], .editor textarea";
  const sentKey = "sent drafts";
  let isLeaving = false;

  function store(field) {
    try {
      if (isUnsent(field)) storage?.setItem(draftKey(field), JSON.stringify({ text: field.value, from: field.defaultValue, at: Date.now() }));
      else storage?.removeItem(draftKey(field));
    } catch { /* The storage is full or blocked; the warning before leaving remains. */ }
  }

  function restore(field) {
    let draft = null;
    try { draft = JSON.parse(storage?.getItem(draftKey(field)) || "null"); } catch { /* Not ours. */ }
    if (!draft || field.value !== field.defaultValue || draft.text === field.value || draft.from !== field.defaultValue) return;
    field.value = draft.text;
    const line = document.createElement("p");
    line.className = "draft hint";
    line.setAttribute("role", "status");
    const discard = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "Discard" });
    discard.addEventListener("click", () => {
      field.value = field.defaultValue;
      field.dispatchEvent(new Event("change"));
      storage?.removeItem(draftKey(field));
      line.remove();
      field.focus();
    });
    line.append("Your unsent text was restored. ", discard);
    (editorOf(field) || field).after(line);
  }

  /* Drafts are removed when the page after the form shows that it was accepted. */
  function removeSent() {
    const [navigation] = performance.getEntriesByType("navigation");
    let keys = [];
    try { keys = JSON.parse(sessionStorage.getItem(sentKey) || "[]"); } catch { return; }
    if (!keys.length || navigation?.type === "back_forward" || (navigation?.responseStatus || 200) >= 400) return;
    sessionStorage.removeItem(sentKey);
    keys.forEach((key) => storage?.removeItem(key));
  }

  /* A month is enough for any text that was forgotten. */
  function removeOld() {
    Object.keys(storage || {}).filter((key) => key.startsWith("draft ")).forEach((key) => {
      try { if (Date.now() - JSON.parse(storage.getItem(key)).at > 30 * 86400000) storage.removeItem(key); } catch { storage.removeItem(key); }
    });
  }

  let storeTimer = 0;
  document.addEventListener("input", (event) => {
    if (!event.target.matches?.(kept)) return;
    clearTimeout(storeTimer);
    storeTimer = setTimeout(store, 300, event.target);
  });
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const fields = [...event.target.querySelectorAll(kept)];
    fields.forEach(store);
    try { sessionStorage.setItem(sentKey, JSON.stringify(fields.map(draftKey))); } catch { /* Blocked. */ }
    isLeaving = true; // Other texts are restored on the next page.
    setTimeout(() => { isLeaving = false; }, 5000);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.successful && event.target.matches?.("form[hx-post]") && event.target;
    if (form) form.querySelectorAll(kept).forEach((field) => storage?.removeItem(draftKey(field)));
  });
  window.addEventListener("beforeunload", (event) => {
    const unsent = [...document.querySelectorAll(kept)].filter(isUnsent);
    unsent.forEach(store);
    if (!isLeaving && unsent.length) event.preventDefault();
  });
  window.addEventListener("pagehide", () => document.querySelectorAll(kept).forEach((field) => { if (isUnsent(field)) store(field); }));

  function prepare(root) {
    root.querySelectorAll(".editor .toolbar[hidden]").forEach((toolbar) => { toolbar.hidden = false; });
    root.querySelectorAll(kept).forEach(restore);
  }
  removeSent();
  removeOld();
  prepare(document);
  document.addEventListener("htmx:load", (event) => { if (event.target !== document.body) prepare(event.target); });
})();
