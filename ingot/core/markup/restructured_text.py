"""Rendering of reStructuredText by docutils, in rendering processes.

The text can read no file and write no HTML: insertions of files, raw blocks, configuration files and embedded images
are disabled. Its HTML passes the same sanitizer as that of Markdown.
"""

import io
import re
import secrets
from typing import Any

from ingot.core.markup.links import OWN_IDS, LinkContext
from ingot.core.markup.sanitizer import sanitize_html

_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "smart_quotes": False,
    "toc_backlinks": False,
}
_ADMONITIONS = {
    "note": "note",
    "hint": "tip",
    "tip": "tip",
    "important": "important",
    "warning": "warning",
    "attention": "warning",
    "caution": "caution",
    "danger": "caution",
    "error": "caution",
}
_OPENED_ASIDE = re.compile(r'<aside class="(admonition )?([a-z-]++)[^"<>]*+"[^<>]*+>')
_LITERAL = re.compile(r'<span class="docutils literal">((?:[^<]++|<span class="pre">[^<]*+</span>)*+)</span>')
_ADMONITION_TITLE = '<p class="admonition-title">'
_ID = re.compile(r'(<[a-z0-9]+(?: [a-z-]+="[^"<>]*")*?) id="([^"<>]*)"')


def render_restructured_text(text: str, link_context: LinkContext) -> str:
    """Return a text as sanitized HTML; raise an exception of docutils for a text that it cannot process."""
    from docutils import nodes
    from docutils.core import publish_doctree, publish_from_doctree

    settings = {**_SETTINGS, "warning_stream": io.StringIO()}
    document = publish_doctree(text, settings_overrides=settings)
    for image in document.findall(nodes.image):
        for option in ("loading", "scale"):  # They would read the file.
            image.attributes.pop(option, None)
    html: str = publish_from_doctree(document, writer="html5", settings_overrides=settings)
    body = html.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
    marker = secrets.token_hex(16)
    return sanitize_html(_mark_own_attributes(body, marker), link_context, marker)


def _mark_own_attributes(html: str, marker: str) -> str:
    """Mark ids and the classes of admonitions, so that the sanitizer keeps them; docutils has escaped the text."""

    def alert(match: re.Match[str]) -> str:
        if match[1] is None:  # Footnotes and sidebars.
            return "<div>"
        kind = _ADMONITIONS.get(match[2], "note")
        return f'<div class="{marker}markdown-alert markdown-alert-{kind}">'

    html = _OPENED_ASIDE.sub(alert, html).replace("</aside>", "</div>")
    html = _LITERAL.sub(r"<code>\g<1></code>", html)
    html = html.replace(_ADMONITION_TITLE, f'<p class="{marker}markdown-alert-title">')
    return _ID.sub(rf'\g<1> id="{marker}{OWN_IDS}\g<2>"', html)
