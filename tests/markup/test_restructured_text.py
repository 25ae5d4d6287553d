"""Files in reStructuredText: constructs, and texts that try to read files or to insert HTML."""

import pytest

from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render_restructured_text
from tests.markup.test_safety import ActiveContent

FILE = LinkContext("https://forge.example", "g/p", "main", "docs")


def html_of(text: str) -> str:
    rendered = render_restructured_text(text, FILE)
    assert rendered is not None
    return rendered.html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\nText", '<section id="user-content-title">\n<h1>Title</h1>\n<p>Text</p>'),
        ("*a* **b** ``c < d``", "<em>a</em> <strong>b</strong> <code>c &lt; d</code>"),
        (
            ".. note:: Mind *this*.",
            '<div class="markdown-alert markdown-alert-note">\n<p class="markdown-alert-title">',
        ),
        (".. danger:: Stop", "markdown-alert-caution"),
        ("`a <b.rst>`_", 'href="https://forge.example/g/p/blob/main/docs/b.rst"'),
        (".. image:: b.png", 'src="https://forge.example/g/p/raw/main/docs/b.png"'),
        (".. code-block:: python\n\n   x = 1", "<pre><code>x = 1</code></pre>"),
        ("=  =\na  b\n=  =\n1  2\n=  =", "<td><p>1</p></td>"),
        ("term\n  meaning", "<dt>term</dt>"),
        ("a [1]_\n\n.. [1] Note", 'href="#user-content-footnote-1"'),
    ],
)
def test_constructs(text: str, expected: str) -> None:
    assert expected in html_of(text)


@pytest.mark.parametrize(
    "text",
    [
        ".. include:: /etc/passwd",
        ".. csv-table::\n   :file: /etc/passwd",
        ".. csv-table::\n   :url: file:///etc/passwd",
        ".. literalinclude:: /etc/passwd",
        ".. raw:: html\n   :file: /etc/passwd",
        ".. raw:: html\n\n   <script>alert(1)</script>",
        ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<script>alert(1)</script>`",
        ".. image:: /etc/passwd\n   :loading: embed\n   :scale: 50",
        ".. image:: javascript:alert(1)\n   :target: javascript:alert(2)",
        "`a <javascript:alert(1)>`_",
        ".. meta::\n   :http-equiv=refresh: 0;url=https://evil.example",
        '.. class:: "><script>alert(1)</script>\n\na',
        ".. |x| unicode:: 0x3C 0x73 0x63 0x72 0x69 0x70 0x74 0x3E\n\n|x|alert(1)",
        '``<aside class="admonition note"><p id="x" onclick="alert(1)">``',
    ],
)
def test_hostile_texts_read_no_file_and_insert_no_html(text: str) -> None:
    html = html_of(text)
    parser = ActiveContent()
    parser.feed(html)
    assert parser.found == []
    assert "root:" not in html and 'href="javascript' not in html


def test_a_text_beyond_its_limits_is_shown_as_source() -> None:
    assert render_restructured_text("a" * 200_001, FILE) is None
    laughs = ".. |a| replace:: ha ha\n" + "".join(
        f".. |{chr(98 + number)}| replace:: {f'|{chr(97 + number)}| ' * 12}\n" for number in range(12)
    )
    rendered = render_restructured_text(f"{laughs}\n|m|", FILE)
    assert rendered is None or len(rendered.html) < 1_000_000
