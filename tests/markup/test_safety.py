"""Safety of rendered HTML: no text of a user becomes active content."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.references import Reference

HERE = LinkContext("https://forge.example", "g/p", "main")
EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

ATTACKS = [
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](data:text/html;base64,PHN2Zz4=)",
    "[a](vbscript:x)",
    "<javascript:alert(1)>",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    '<a href="javascript:alert(1)">a</a>',
    '<a href=" &#14; javascript:alert(1)">a</a>',
    '<a href="java&#10;script:alert(1)">a</a>',
    '<base href="https://evil.example/">',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)>",
    '<p style="position:fixed">a</p>',
    "<style>*{display:none}</style>",
    '<form action="https://evil.example"><input name=a><button>b</button><textarea>c</textarea><select></form>',
    "<input type=text value=a autofocus onfocus=alert(1)>",
    "<INPUT type=image src=x>",
    '<iframe src="https://evil.example"></iframe>',
    '<object data="x"></object><embed src="x"><link rel=stylesheet href=x><meta http-equiv=refresh content=0>',
    "<video src=x onerror=alert(1)></video><audio src=x>",
    '<div id="main" class="gfm gfm-user" data-user="1" data-reference-type="user" data-sourcepos="1">a</div>',
    "<!--><img src=x onerror=alert(1)>-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "https://x.example/\"onmouseover='alert(1)",
    '<https://x.example/"onmouseover=alert(1)>',
    '[a](https://x.example "\\" onmouseover=alert(1) x=\\"")',
    '```mermaid\ngraph TD; A["<img src=x onerror=alert(1)>"]\n```',
    '```"><img src=x onerror=alert(1)>\na\n```',
    "```python\n</code><script>alert(1)</script>\n```",
    f"# {EVIL}",
    f"[^{EVIL}]\n\n[^{EVIL}]: a",
    f"|a|\n|-|\n|{EVIL}|",
    f":{EVIL}:",
    f"![{EVIL}](https://x.example/a.png)",
    f'~"{EVIL}" %"{EVIL}"',
    '@joe"><img src=x onerror=alert(1)>',
    "<plaintext><img src=x onerror=alert(1)>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "<details open ontoggle=alert(1)>a</details>",
]
ELEMENTS = {
    *("script", "style", "base", "svg", "math", "iframe", "object", "embed", "link", "meta", "form", "button"),
    *("textarea", "select", "video", "audio", "plaintext", "xmp", "noscript"),
}


class ActiveContent(HTMLParser):
    """Parser that collects active content."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.owned: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ELEMENTS or (tag == "input" and (given.get("type"), "disabled" in given) != ("checkbox", True)):
            self.found.append(tag)
        for name, value in given.items():
            if name.startswith("on") or name in ("style", "srcdoc", "action", "formaction", "autofocus", "name"):
                self.found.append(f"{tag} {name}")
            if name in ("href", "src") and re.match(r"[\s\x00-\x20]*(javascript|vbscript|data):", value, re.IGNORECASE):
                self.found.append(f"{tag} {name}={value}")
            if name in ("id", "class") or name.startswith("data-"):
                self.owned.append(f"{name}={value}")


def active_content(html: str) -> ActiveContent:
    live = ActiveContent()
    live.feed(html)
    live.close()
    return live


def evil_links(given: Sequence[Reference]) -> list[Link | None]:
    """Return links with hostile titles, names and paths."""
    return [Link(f"https://forge.example/{EVIL}", EVIL, EVIL, EVIL, {"user": EVIL, "evil": EVIL}) for _ in given]


@pytest.mark.parametrize("text", ATTACKS)
def test_output_has_no_active_content(text: str) -> None:
    for html in (
        render(text, HERE),
        render(text, HERE, evil_links),
        render(text, LinkContext("https://forge.example")),
    ):
        assert active_content(html).found == []


@pytest.mark.parametrize("text", ["#1", "@joe", '~"a"', "%x", "https://forge.example/g/p/issues/1", "a/b@abcdef1"])
def test_names_and_titles_of_references_are_escaped(text: str) -> None:
    html = render(text, HERE, evil_links)
    assert active_content(html).found == []
    assert "<img" not in html
    assert "data-evil" not in html


def test_a_resolver_cannot_insert_a_script_url() -> None:
    html = render("#1", HERE, lambda given: [Link("javascript:alert(1)") for _ in given])
    assert active_content(html).found == []


def test_texts_cannot_set_ids_classes_or_data() -> None:
    html = render('<div id="main" class="gfm" data-user="1" data-reference-type="user">a</div>', HERE, evil_links)
    assert active_content(html).owned == []


def test_images_are_loaded_from_http_or_the_instance() -> None:
    sources = ["https://x.example/a.png", "/uploads/ab/c.png", "ftp://x.example/a.png", "data:image/png;base64,aa"]
    html = "".join(render(f"![a]({source})", HERE) for source in sources)
    assert re.findall('src="([^"]*)"', html) == [
        "https://x.example/a.png",
        "https://forge.example/g/p/uploads/ab/c.png",
    ]
