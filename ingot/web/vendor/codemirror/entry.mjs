import { EditorState, Compartment } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { search, searchKeymap, highlightSelectionMatches } from "@codemirror/search";
import { StreamLanguage, HighlightStyle, syntaxHighlighting, indentUnit, indentOnInput, bracketMatching } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { xml } from "@codemirror/legacy-modes/mode/xml";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { words } from "./languages.mjs";

/* Tokenizer of languages that differ in comments, strings and words: small, and right for nearly all code. */
function tokenizer({ line = ["//"], block = ["/*", "*/"], quotes = "\"'`", long = [], keywords = "", atoms = "true false null", ignoresCase = false, markup = false }) {
  const [keywordSet, atomSet] = [new Set(keywords.split(" ")), new Set(atoms.split(" "))];
  const until = (stream, state, end) => {
    while (!stream.eol()) {
      if (stream.match(end)) { state.end = ""; return; }
      if (stream.next() === "\\") stream.next();
    }
  };
  return {
    name: "code",
    startState: () => ({ end: "", style: "" }),
    token(stream, state) {
      if (state.end) { const { style } = state; until(stream, state, state.end); return style; }
      if (stream.eatSpace()) return null;
      if (line.some((mark) => stream.match(mark))) { stream.skipToEnd(); return "comment"; }
      if (block && stream.match(block[0])) { Object.assign(state, { end: block[1], style: "comment" }); until(stream, state, block[1]); return "comment"; }
      const opened = long.find((mark) => stream.match(mark));
      if (opened) { Object.assign(state, { end: opened, style: "string" }); until(stream, state, opened); return "string"; }
      const next = stream.next();
      if (quotes.includes(next)) { Object.assign(state, { end: next, style: "string" }); until(stream, state, next); state.end = ""; return "string"; }
      if (/\d/.test(next)) { stream.match(/^[\w.]*/); return "number"; }
      if (/[A-Za-z_$@]/.test(next)) {
        stream.match(/^[\w$-]*/);
        const found = stream.current();
        const word = ignoresCase ? found.toLowerCase() : found;
        if (keywordSet.has(word)) return "keyword";
        if (atomSet.has(word)) return "atom";
        if (stream.match(/^\s*\(/, false)) return "variableName.function";
        return /^[A-Z]/.test(found) ? "typeName" : null;
      }
      return markup && next === "<" ? "tagName" : null;
    },
    languageData: { commentTokens: { line: line[0], block: block && { open: block[0], close: block[1] } }, closeBrackets: { brackets: ["(", "[", "{"] } },
  };
}

const markdown = {
  name: "markdown",
  startState: () => ({ fence: "" }),
  token(stream, state) {
    if (stream.sol()) {
      const fence = stream.match(/^\s*(```+|~~~+).*/, false);
      if (fence && (!state.fence || fence[1].startsWith(state.fence))) { state.fence = state.fence ? "" : fence[1]; stream.skipToEnd(); return "meta"; }
      if (state.fence) { stream.skipToEnd(); return "string"; }
      if (stream.match(/^#{1,6} .*/)) return "heading";
      if (stream.match(/^\s*>.*/)) return "quote";
      if (stream.match(/^\s*([-*+]|\d+\.) (\[[ xX]\] )?/)) return "keyword";
    }
    if (stream.match(/^`[^`]*`/)) return "string";
    if (stream.match(/^(\*\*|__)(?=\S).*?\1/)) return "strong";
    if (stream.match(/^([*_])(?=\S)[^*_]*\1/)) return "emphasis";
    if (stream.match(/^!?\[[^\]]*\]\([^)]*\)/)) return "link";
    if (stream.match(/^https?:\/\/\S+/)) return "url";
    stream.next();
    stream.match(/^[^`*_![h\\]+/);
    return null;
  },
};

function languageOf(path) {
  const name = path.split("/").pop();
  const special = [[/\.(md|markdown|mdown)$/i, markdown], [/\.(sh|bash|zsh|ksh|bats)$|^\.(bashrc|profile|zshrc)$/i, shell], [/\.ya?ml$/i, yaml], [/\.(html?|xhtml|vue|svelte|xml|svg|xsl|plist|csproj|jinja|j2)$/i, xml], [/\.(diff|patch)$/i, diff], [/\.(ini|cfg|conf|properties|env|toml)$|\.lock$|^\.(gitconfig|editorconfig|npmrc)$/i, properties]].find(([pattern]) => pattern.test(name))?.[1];
  const other = special ? null : words.find(({ files }) => files.test(name));
  return special || other ? StreamLanguage.define(special || tokenizer(other)) : [];
}

/* Colors are custom properties of the page, so that both themes apply. */
const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName, tags.heading], color: "var(--syntax-word)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue, tags.inserted], color: "var(--syntax-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.literal, tags.deleted], color: "var(--syntax-number)" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.typeName, tags.className, tags.attributeName, tags.propertyName, tags.link, tags.url, tags.labelName, tags.meta], color: "var(--syntax-name)" },
  { tag: [tags.comment, tags.quote, tags.processingInstruction], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.strong, tags.heading], fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
]);
const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", border: "1px solid var(--field)", borderRadius: "var(--radius)", fontSize: "0.85rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", minHeight: "24rem", maxHeight: "75vh", overflow: "auto" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--raised)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--brand) 30%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--brand) 45%, transparent)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)" },
  ".cm-textfield": { color: "var(--text)", backgroundColor: "var(--surface)", border: "1px solid var(--field)" },
  ".cm-button": { color: "var(--text)", backgroundColor: "var(--surface)", backgroundImage: "none", border: "1px solid var(--field)" },
});

/* Returns the indentation of a text: a tab, or as many spaces as the most frequent step. */
function indentationOf(text) {
  const lines = text.split("\n", 1000);
  if (lines.filter((line) => line.startsWith("\t")).length > lines.filter((line) => /^ {2}/.test(line)).length) return "\t";
  const steps = new Map();
  let previous = 0;
  lines.forEach((line) => {
    if (!line.trim()) return;
    const depth = /^ */.exec(line)[0].length;
    const step = depth - previous;
    if (step > 1 && step < 9) steps.set(step, (steps.get(step) || 0) + 1);
    previous = depth;
  });
  const best = [...steps].sort((a, b) => b[1] - a[1])[0];
  return best ? " ".repeat(best[0]) : "";
}

/* Creates an editor below a root, which is a shadow root because the page allows no style elements. */
export function create({ root, text, path, label, onChange }) {
  const language = new Compartment();
  const indentation = indentationOf(text) || (/(^|\/)Makefile$|\.go$/.test(path) ? "\t" : /\.(js|ts|json|ya?ml|html?|css|rb)$/.test(path) ? "  " : "    ");
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), drawSelection(), history(), indentOnInput(), bracketMatching(),
        search({ top: true }), highlightSelectionMatches(), indentUnit.of(indentation), EditorState.tabSize.of(indentation === "\t" ? 4 : indentation.length),
        language.of(languageOf(path)), syntaxHighlighting(colors), theme,
        keymap.of([indentWithTab, ...defaultKeymap, ...searchKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) onChange(update.state.doc.toString()); }),
      ],
    }),
  });
  return {
    focus: () => view.focus(),
    setPath: (changed) => view.dispatch({ effects: language.reconfigure(languageOf(changed)) }),
    setText: (changed) => { if (changed !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } }); },
  };
}
