"""Markdown as HTML and as plain text."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.references import MAX_REFERENCES, Reference, extract_references
from ingot.core.markup.renderer import plain_text
from tests.markup.test_references import BASE, FOUND, NOT_FOUND

HERE = LinkContext(BASE, "g/p", "main", "docs")


def html_of(text: str, place: LinkContext = HERE) -> str:
    return render(text, place)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**a** *b* ~~c~~", "<p><strong>a</strong> <em>b</em> <s>c</s></p>"),
        ("|a|\n|-:|\n|b|", '<td align="right">b</td>'),
        ("- [x] a", '<li class="task-list-item"><input class="task-list-item-checkbox" checked=""'),
        ("```java\npublic class A { int f() {} }\n```", '<span class="kd">public</span>'),
        ("```no-such-language\na\n```", '<code class="language-no-such-language">a\n</code>'),
        ("a[^1]\n\n[^1]: note", '<li id="user-content-fn1">'),
        (":tada: :no_such_emoji:", "🎉 :no_such_emoji:"),
        ("`:tada:`", "<code>:tada:</code>"),
        ("https://x.example/a_(b)_c.", '<a href="https://x.example/a_(b)_c"'),
        ("[https://x.example](https://y.example)", '<a href="https://y.example"'),
        ("# A *b*!\n\n# A b", 'id="user-content-a-b-1"'),
        ("[to](#a-b)", 'href="#user-content-a-b"'),
        ("```python\ndef f(): pass\n```", '<span class="k">def</span>'),
        ("```mermaid\na --> b\n```", '<code class="language-mermaid">a --&gt; b\n</code>'),
        ("```math\na^2\n```", '<code class="language-math">a^2\n</code>'),
        ("$$\na\n\n+ b_1 * c_2\n$$", '<code class="language-math">a\n\n+ b_1 * c_2\n</code>'),
        ("text\n$$\na\n$$\ntext", '<p>text</p>\n<pre class="code highlight"><code class="language-math">a\n'),
        ("- a\n\n  $$\n  b\n  $$", '<code class="language-math">b\n</code>'),
        ("> $$\n> b\n> $$", '<code class="language-math">b\n</code>'),
        ("so $$ a_1 *b* $$.", 'so <code class="display-formula">a_1 *b*</code>.'),
        ("so $a_1 < b_1$, $x$", '<code class="inline-formula">a_1 &lt; b_1</code>, <code class="inline-formula">x<'),
        ("$`a`$", "$<code>a</code>$"),
        ("[a](b.md)", f'href="{BASE}/g/p/blob/main/docs/b.md"'),
        ("[a](/b.md?c#d)", f'href="{BASE}/g/p/blob/main/b.md?c#d"'),
        ("[a](../../../b.md)", f'href="{BASE}/g/p/blob/main/b.md"'),
        ("![a](b.png)", f'src="{BASE}/g/p/raw/main/docs/b.png"'),
        ("![a](/uploads/ab/b.png)", f'src="{BASE}/g/p/uploads/ab/b.png"'),
        ('<img src="b.png" width="3">', f'<img src="{BASE}/g/p/raw/main/docs/b.png" width="3">'),
        ("<details><summary>a</summary>b</details>", "<details><summary>a</summary>b</details>"),
        ("3. a", '<ol start="3">'),
        ("a\\\nb", "a<br>\nb"),
    ],
)
def test_rendered_html(text: str, expected: str) -> None:
    assert expected in html_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $6",
        "$5-$10",
        "US$5, A$6",
        "$HOME/$USER",
        "$ a $",
        "\\$a$",
        "$a",
        "$$\na",
        "$$$a$$$",
        "5$",
    ],
)
def test_prices_and_variables_are_no_formulas(text: str) -> None:
    assert "formula" not in html_of(text) and "math" not in html_of(text)


def test_external_links_are_nofollow() -> None:
    assert 'rel="nofollow noreferrer noopener"' in html_of("[a](https://x.example)")


def found_by(text: str) -> list[tuple[str, str | None, str]]:
    asked: list[Reference] = []

    def resolve(given: Sequence[Reference]) -> list[Link | None]:
        asked.extend(given)
        return [None for _ in given]

    render(text, HERE, resolve)
    return [(one.kind, one.project, one.name) for one in asked]


@pytest.mark.parametrize("text", [*(text for text, _ in FOUND), *NOT_FOUND])
def test_rendering_finds_the_same_references_as_the_search(text: str) -> None:
    assert found_by(text) == [(one.kind, one.project, one.name) for one in extract_references(text, BASE)]


def test_references_depend_on_the_reader() -> None:
    def seen_by(names: set[str]) -> str:
        def resolve(given: Sequence[Reference]) -> list[Link | None]:
            return [Link(f"/{one.name}", f"Title {one.name}") if one.name in names else None for one in given]

        return render("#1 and #2", HERE, resolve)

    assert "Title 1" in seen_by({"1", "2"})
    assert seen_by(set()) == "<p>#1 and #2</p>\n"
    assert "Title 2" in seen_by({"2"})
    assert "Title 1" not in seen_by({"2"})
    assert "/1" not in seen_by({"2"})


def test_all_references_are_resolved_at_once() -> None:
    asked: list[int] = []

    def resolve(given: Sequence[Reference]) -> list[Link | None]:
        asked.append(len(given))
        return [None for _ in given]

    render("#1 " * 5000 + "\n\n# @a\n\n- !2", HERE, resolve)
    assert asked == [MAX_REFERENCES]


def test_without_a_resolver_there_are_no_references() -> None:
    assert render("#1 @joe", HERE) == "<p>#1 @joe</p>\n"


def test_plain_text_contains_the_readable_text() -> None:
    text = "# Head\n\n**a** [b](http://c) <b>d</b>\n\n- [x] done\n\n```\ncode\n```\n\n![alt](e.png)"
    assert plain_text(text) == "Head\n\na b (http://c) d\n\n[x] done\n\ncode\n\nalt"
    assert plain_text("so $a$ and $$b$$") == "so $a$ and $$b$$"
    assert plain_text("word " * 1000, max_length=10) == "word word"
    assert len(plain_text("a" * 1_000_000)) <= 20_000


def test_libraries_are_loaded_on_first_use() -> None:
    program = (
        "import ingot.server.app, sys\n"
        "print([name for name in ('markdown_it', 'mdit_py_plugins', 'nh3', 'pygments') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"
