"""Renderer of Markdown as safe HTML and as plain text, in the calling process."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ingot.core.markup.headings import HeadingIds, contents_list
from ingot.core.markup.inlines import color_or_none
from ingot.core.markup.lexers import lexer_for
from ingot.core.markup.links import DATA, OWN_IDS, Link, LinkContext, ReferenceResolver
from ingot.core.markup.parser import TooMuchWork, WorkBudget, parse, parser
from ingot.core.markup.references import Reference
from ingot.core.markup.render_messages import CodeBlock
from ingot.core.markup.sanitizer import MAX_TAGS, escape_inputs, sanitize_html

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_LENGTH = 1_000_000
MAX_PLAIN_LENGTH = 20_000
MAX_BLOCK_LENGTH = 50_000
"""Longer code blocks are not highlighted."""
MAX_CODE_LENGTH = 200_000
"""After this much code in one text, the rest is not highlighted."""
_BLOCK_COST = 1_000
"""Additional characters counted for each block, because creating a lexer takes time."""
_ALIGNMENT = re.compile(r"text-align:(left|right|center)")
_CLASS = '<span class="'
_FIRST_TAG = re.compile(r"\A<[a-z0-9]+")
_WITHOUT_POSITION = ("inline", "html_block")
_DIRECTED = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")

RenderRule = Callable[["_Renderer", "Sequence[Token]", int], str]
BlockHighlighter = Callable[[Sequence[CodeBlock]], Sequence[str]]
"""Returns the HTML of code blocks."""


def render_text(
    text: str,
    link_context: LinkContext,
    resolve: ReferenceResolver | None,
    highlight: BlockHighlighter | None,
) -> str:
    """Render a text as HTML; without ``resolve``, references are not linked; without ``highlight``, code is plain."""
    document = link_context.wiki or link_context.ref is not None
    budget = WorkBudget(link_context.base_url, resolve is not None, document=document, wiki=link_context.wiki)
    try:
        if len(text) > MAX_LENGTH:
            raise TooMuchWork
        tokens = parse(text, budget)
    except TooMuchWork:
        return preformatted(text)
    if resolve is not None:
        _resolve(tokens, resolve)
    lines = text.splitlines() if link_context.positions else None
    highlighted = _highlighted_blocks(tokens, highlight) if highlight is not None else {}
    directed = lines is not None or (not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None)
    renderer = _Renderer(highlighted, lines, directed=directed)
    return sanitize_html(renderer.render(tokens), link_context, renderer.marker)


def preformatted(text: str) -> str:
    """Return a text as it was written, for a text that cannot be rendered."""
    return f"<pre>{escape(text, quote=False)}</pre>"


def _highlighted_blocks(tokens: "list[Token]", highlight: BlockHighlighter) -> dict[CodeBlock, str]:
    """Highlight the code blocks of a text at once, within its limits."""
    length = 0
    blocks: dict[CodeBlock, None] = {}
    for token in tokens:
        language = _language(token)
        if not language:
            continue
        length += _BLOCK_COST + len(token.content)
        lexer = lexer_for(language, token.content, MAX_BLOCK_LENGTH)
        if lexer is not None and length <= MAX_CODE_LENGTH:
            blocks[CodeBlock(lexer, token.content)] = None
    return dict(zip(blocks, highlight(list(blocks)), strict=True))


def _language(token: "Token") -> str:
    match = _LANGUAGE.match(token.info.strip()) if token.type == "fence" else None
    return match[0].lower() if match else ""


def _resolve(tokens: "list[Token]", resolve: ReferenceResolver) -> None:
    references = [child for token in tokens for child in token.children or () if child.type == "reference"]
    if not references:
        return
    for token, link in zip(references, resolve([token.meta["reference"] for token in references]), strict=True):
        token.meta["link"] = link


class _Renderer:
    """The renderer of one text."""

    def __init__(
        self, highlighted_blocks: Mapping[CodeBlock, str], lines: Sequence[str] | None, *, directed: bool
    ) -> None:
        # Prefix of attribute values that only this renderer may set; the sanitizer removes the prefix, and removes
        # those attributes whose values lack it.
        self.marker = secrets.token_hex(16)
        self._headings: Sequence[tuple[int, str, str]] = ()
        """Level, id and text of each heading."""
        self._heading_ids: dict[int, str] = {}
        self._directed = directed
        self._highlighted_blocks = highlighted_blocks
        self._lines = lines
        self._escapes_html = False

    def render(self, tokens: "list[Token]") -> str:
        tags = sum(token.content.count("<") for token in _flat(tokens) if token.type in ("html_inline", "html_block"))
        self._escapes_html = tags > MAX_TAGS
        self._name_headings(tokens)
        return self._rendered(tokens)

    def _rendered(self, tokens: "Sequence[Token]") -> str:
        from markdown_it.renderer import RendererHTML

        plain = RendererHTML()
        pieces: list[str] = []
        for index, token in enumerate(tokens):
            rule = _RULES.get(token.type)
            if rule is not None:
                piece = rule(self, tokens, index)
            elif token.type == "inline":
                piece = self._rendered(token.children or ())
            else:
                piece = plain.renderToken(tokens, index, parser().options, {})
            if self._directed and token.map is not None and token.type not in _WITHOUT_POSITION:
                piece = _FIRST_TAG.sub(rf"\g<0>{self._position(token)}", piece, count=1)
            pieces.append(piece)
        return "".join(pieces)

    def _name_headings(self, tokens: "list[Token]") -> None:
        """Give each heading an id, before a table of contents links to it."""
        ids, headings = HeadingIds(), []
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                text = _readable_text(tokens[index + 1].children or ())
                slug = self._heading_ids[id(token)] = ids.add(text)
                headings.append((int(token.tag[1]), slug, text))
        self._headings = headings

    def _position(self, token: "Token") -> str:
        """Return the attributes of a block with its direction and, if requested, its lines and columns in bytes."""
        lines = self._lines
        direction = ' dir="auto"' if token.tag in _DIRECTED and (token.level == 0 or lines is None) else ""
        if lines is None:
            return direction
        first, end = token.map or (0, 0)
        last = max(first, end - 1)  # The map of the term of a description list ends where it begins.
        while last > first and not lines[last].strip():
            last -= 1
        indent = len(lines[first]) - len(lines[first].lstrip())
        position = f"{first + 1}:{indent + 1}-{last + 1}:{len(lines[last].encode())}"
        return self.own_attributes(**{"data-sourcepos": position}) + direction

    def own_attributes(self, **attributes: str) -> str:
        """Format attributes that users may not set themselves."""
        return "".join(f' {name}="{self.marker}{escape(value)}"' for name, value in attributes.items())

    def text(self, tokens: "Sequence[Token]", index: int) -> str:
        return escape(tokens[index].content, quote=False)

    def html(self, tokens: "Sequence[Token]", index: int) -> str:
        content = tokens[index].content
        return escape(content, quote=False) if self._escapes_html else escape_inputs(content)

    def inline_code(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render code, with a sample of the color that it names."""
        code = tokens[index].content
        color = color_or_none(code)
        return f"<code>{escape(code, quote=False)}{self._color_chip(color) if color else ''}</code>"

    def _color_chip(self, color: str) -> str:
        # The policy of pages forbids inline styles, but not this attribute.
        own = self.own_attributes(**{"class": "gfm-color_chip", "color": color})
        return f'<font{own} aria-hidden="true"></font>'

    def formula(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a formula as code, which the browser draws."""
        token = tokens[index]
        own = self.own_attributes(**{"class": "display-formula" if token.markup == "$$" else "inline-formula"})
        return f"<code{own}>{escape(token.content, quote=False)}</code>"

    def line_break(self, tokens: "Sequence[Token]", index: int) -> str:
        return "<br>\n" if tokens[index].type == "hardbreak" else "\n"

    def code(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a code block; math and diagrams are rendered as code, too."""
        token = tokens[index]
        language = _language(token)
        attributes = self.own_attributes(**{"class": f"language-{language}"}) if language else ""
        lexer = lexer_for(language, token.content, MAX_BLOCK_LENGTH)
        html = self._highlighted_blocks.get(CodeBlock(lexer, token.content)) if lexer is not None else None
        # Code is escaped, so this text occurs only in the tags of the highlighter.
        code = escape(token.content, quote=False) if html is None else html.replace(_CLASS, _CLASS + self.marker)
        return f"<pre{self.own_attributes(**{'class': 'code highlight'})}><code{attributes}>{code}</code></pre>\n"

    def heading(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a heading with an anchor derived from its text."""
        slug = self._heading_ids[id(tokens[index])]
        own = self.own_attributes(**{"class": "anchor"})
        anchor = f'<a{own} href="#{escape(slug)}" aria-label="Link to this heading"></a>'
        return f"<{tokens[index].tag}{self.own_attributes(id=OWN_IDS + slug)}>{anchor}"

    def contents(self, tokens: "Sequence[Token]", index: int) -> str:  # noqa: ARG002 - The signature of a rule.
        """Render the table of contents."""
        return contents_list(self._headings, self.own_attributes(**{"class": "section-nav"}))

    def alert(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render the start of an alert, or of its title."""
        token = tokens[index]
        if token.type == "alert_title_open":
            return f"<p{self.own_attributes(**{'class': 'markdown-alert-title'})}>"
        own = self.own_attributes(**{"class": f"markdown-alert markdown-alert-{token.meta['kind']}"})
        return f"<div{own}>\n"

    def change(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render the start or the end of added or deleted words."""
        token = tokens[index]
        if token.type == "change_close":
            return "</span>"
        return f"<span{self.own_attributes(**{'class': f'idiff left right {token.content}'})}>"

    def listing(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a list or list item, which may be of tasks."""
        token = tokens[index]
        attributes = self.own_attributes(**{"class": token.meta["class"]}) if "class" in token.meta else ""
        if token.attrs.get("start") is not None:
            attributes += f' start="{int(token.attrs["start"])}"'
        return f"<{token.tag}{attributes}>" + ("" if token.tag == "li" else "\n")

    def box(self, tokens: "Sequence[Token]", index: int) -> str:
        checked = " checked" if tokens[index].content else ""
        return f"<input{self.own_attributes(**{'class': 'task-list-item-checkbox'})}{checked}>"

    def cell(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a table cell with an ``align`` attribute, because inline styles are removed."""
        alignment = _ALIGNMENT.search(str(tokens[index].attrs.get("style", "")))
        return f"<{tokens[index].tag}" + (f' align="{alignment[1]}">' if alignment else ">")

    def image(self, tokens: "Sequence[Token]", index: int) -> str:
        token = tokens[index]
        title = f' title="{escape(str(token.attrs["title"]))}"' if token.attrs.get("title") else ""
        alt_text = escape(_readable_text(token.children or ()))
        return f'<img src="{escape(str(token.attrs["src"]))}" alt="{alt_text}"{title}>'

    def reference(self, tokens: "Sequence[Token]", index: int) -> str:
        token = tokens[index]
        link: Link | None = token.meta.get("link")
        reference: Reference = token.meta["reference"]
        if link is None and reference.url is None:
            return escape(token.content, quote=False)
        if link is None:
            return f'<a href="{escape(token.content)}">{escape(token.content, quote=False)}</a>'
        classes = " ".join(["gfm", f"gfm-{reference.kind}", *link.css_class.split()])
        attributes = self.own_attributes(**{"class": classes, "data-reference-type": reference.kind})
        attributes += self.own_attributes(
            **{f"data-{name}": value for name, value in link.data.items() if name in DATA}
        )
        if link.title:
            attributes += f' title="{escape(link.title)}"'
        text = escape(token.content if link.text is None else link.text, quote=False)
        return f'<a href="{escape(link.url)}"{attributes}>{text}</a>'

    def footnote(self, tokens: "Sequence[Token]", index: int) -> str:
        """Render a footnote, a reference to it or its back link; only the first reference has a back link."""
        token = tokens[index]
        number = token.meta["id"] + 1 if token.meta else 0
        repeated = bool(token.meta and token.meta.get("subId", 0) > 0)
        if token.type == "footnote_ref":
            own = "" if repeated else self.own_attributes(id=f"{OWN_IDS}fnref{number}")
            return (
                f'<sup{self.own_attributes(**{"class": "footnote-ref"})}><a href="#fn{number}"{own}>{number}</a></sup>'
            )
        if token.type == "footnote_open":
            return f"<li{self.own_attributes(id=f'{OWN_IDS}fn{number}')}>"
        if token.type == "footnote_anchor":
            own = self.own_attributes(**{"class": "footnote-backref"})
            return "" if repeated else f' <a href="#fnref{number}"{own}>\u21a9\ufe0e</a>'
        if token.type == "footnote_block_open":
            return f"<section{self.own_attributes(**{'class': 'footnotes'})}>\n<ol>\n"
        return {"footnote_close": "</li>\n", "footnote_block_close": "</ol>\n</section>\n"}.get(token.type, "")


_RULES: dict[str, RenderRule] = {
    "text": _Renderer.text,
    "html_inline": _Renderer.html,
    "html_block": _Renderer.html,
    "code_inline": _Renderer.inline_code,
    "formula": _Renderer.formula,
    "softbreak": _Renderer.line_break,
    "hardbreak": _Renderer.line_break,
    "fence": _Renderer.code,
    "code_block": _Renderer.code,
    "heading_open": _Renderer.heading,
    "bullet_list_open": _Renderer.listing,
    "ordered_list_open": _Renderer.listing,
    "list_item_open": _Renderer.listing,
    "task_box": _Renderer.box,
    "contents": _Renderer.contents,
    "alert_open": _Renderer.alert,
    "alert_title_open": _Renderer.alert,
    "change_open": _Renderer.change,
    "change_close": _Renderer.change,
    "th_open": _Renderer.cell,
    "td_open": _Renderer.cell,
    "image": _Renderer.image,
    "reference": _Renderer.reference,
    **{
        f"footnote_{part}": _Renderer.footnote
        for part in ("ref", "open", "close", "anchor", "block_open", "block_close")
    },
}


def _flat(tokens: "Sequence[Token]") -> "list[Token]":
    return [nested for token in tokens for nested in (token, *(token.children or ()))]


def _readable_text(children: "Sequence[Token]") -> str:
    """Return the visible text of inline tokens."""
    pieces: list[str] = []
    for child in children:
        if child.type == "image":
            pieces.append(_readable_text(child.children or ()))
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif child.type == "formula":
            pieces.append(f"{child.markup}{child.content}{child.markup}")
        elif child.type not in ("html_inline", "task_box"):
            pieces.append(child.content)
    return "".join(pieces)


def plain_text(markdown: str, max_length: int = MAX_PLAIN_LENGTH) -> str:
    """Return the visible text of markdown, for mail and notifications, up to a maximum length."""
    excerpt = markdown[: min(max_length, MAX_PLAIN_LENGTH)]
    try:
        tokens = parse(excerpt, WorkBudget(None, gfm=False))
    except TooMuchWork:
        return excerpt
    blocks: list[str] = []
    for token in tokens:
        if token.type == "inline":
            blocks.append(_lines(token.children or ()))
        elif token.type in ("fence", "code_block"):
            blocks.append(token.content.rstrip("\n"))
    return "\n\n".join(block for block in blocks if block.strip())[:max_length]


def _lines(children: "Sequence[Token]") -> str:
    """Return the text of a paragraph with its line breaks and the URLs of its links."""
    pieces: list[str] = []
    links: list[tuple[int, Any]] = []
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif child.type == "task_box":
            pieces.append("[x]" if child.content else "[ ]")
        elif child.type == "link_open":
            links.append((len(pieces), child.attrs.get("href", "")))
        elif child.type == "link_close" and links:
            start, url = links.pop()
            if url != "".join(pieces[start:]):
                pieces.append(f" ({url})")
        else:
            pieces.append(_readable_text([child]))
    return "".join(pieces).strip()
