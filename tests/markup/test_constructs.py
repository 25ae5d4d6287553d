"""Constructs of the Markdown of GitLab and GitHub, each with the HTML that both document for it."""

import pytest

from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.tasks import count_tasks

BASE = "https://forge.example"
COMMENT = LinkContext(BASE, "g/p")
FILE = LinkContext(BASE, "g/p", "main", "docs")
WIKI = LinkContext(BASE, "g/p", directory="guide", wiki=True)
NOFOLLOW = 'rel="nofollow noreferrer noopener"'


def alert(kind: str, title: str, content: str) -> str:
    heading = f'<p class="markdown-alert-title">{title}</p>'
    return f'<div class="markdown-alert markdown-alert-{kind}">\n{heading}{content}</div>'


def html_of(text: str, place: LinkContext = COMMENT) -> str:
    return render(text, place, lambda references: [Link(f"/{one.name}") for one in references])


CONSTRUCTS = {
    "alert": ("> [!NOTE]\n> Mind the *gap*.", alert("note", "Note", "<p>Mind the <em>gap</em>.</p>\n")),
    "alert in lower case": ("> [!tip]\n> Go.", alert("tip", "Tip", "<p>Go.</p>\n")),
    "alert with a title": (
        "> [!warning] Loss of `data`\n> Save.",
        'markdown-alert-title">Loss of <code>data</code></p>',
    ),
    "alert with several blocks": ("> [!IMPORTANT]\n>\n> - one", '<p class="markdown-alert-title">Important</p><ul>'),
    "alert without content": ("> [!CAUTION]", alert("caution", "Caution", "")),
    "alert in a fenced quote": (">>> \n[!NOTE]\nGo.\n>>>", alert("note", "Note", "<p>Go.</p>\n")),
    "alert in a list": ("- > [!NOTE]\n  > Go.", alert("note", "Note", "<p>Go.</p>\n")),
    "callout": (":::note\nGo.\n:::", '<p class="markdown-alert-title">Note</p>\n<p>Go.</p>'),
    "callout with a title": (
        "::: danger Stop\nNow.\n:::",
        'markdown-alert-caution">\n<p class="markdown-alert-title">Stop</p>',
    ),
    "quote of several paragraphs": (">>>\nOne\n\nTwo\n>>>", "<blockquote>\n<p>One</p>\n<p>Two</p>\n</blockquote>"),
    "quote with a list": (">>>\n- one\n>>>", "<blockquote>\n<ul>\n<li>one</li>\n</ul>\n</blockquote>"),
    "contents": (
        "[[_TOC_]]\n\n# A\n\n## B `c`\n\n# D",
        f'<ul class="section-nav">\n<li><a href="#user-content-a" {NOFOLLOW}>A</a><ul>\n'
        f'<li><a href="#user-content-b-c" {NOFOLLOW}>B c</a></li>\n</ul>\n</li>\n'
        f'<li><a href="#user-content-d" {NOFOLLOW}>D</a></li>\n</ul>',
    ),
    "contents in brackets": ("[TOC]\n\n# A", f'<li><a href="#user-content-a" {NOFOLLOW}>A</a></li>'),
    "contents with a gap between levels": (
        "[TOC]\n\n# A\n\n### B\n\n## C",
        f'B</a></li>\n<li><a href="#user-content-c" {NOFOLLOW}>C</a></li>\n</ul>\n</li>\n</ul>',
    ),
    "description list": (
        "Fruit\n: apple\n: *pear*",
        "<dl>\n<dt>Fruit</dt>\n<dd>apple</dd>\n<dd><em>pear</em></dd>\n</dl>",
    ),
    "color in hexadecimal digits": (
        "`#F80`",
        '<code>#F80<font class="gfm-color_chip" color="#ff8800" aria-hidden="true"></font></code>',
    ),
    "color with transparency": ("`#ff880080`", 'color="#ff8800"'),
    "color by function": ("`RGB(0, 255, 9)`", 'color="#00ff09"'),
    "color with a percentage": ("`HSLA(120,100%,50%,0.3)`", 'color="#00ff00"'),
    "added words": ("a {+ b +} c", '<span class="idiff left right addition"> b </span>'),
    "added words in brackets": ("a [+b+] c", '<span class="idiff left right addition">b</span>'),
    "deleted words": ("a {- b -} c", '<span class="idiff left right deletion"> b </span>'),
    "deleted words with a reference": ("a [- #1 -] c", '<span class="idiff left right deletion"> <a href="/1"'),
    "centered column": ("|a|\n|:-:|\n|b|", '<td align="center">b</td>'),
    "text from right to left": ("שלום\n\n- أهلا", '<p dir="auto">שלום</p>\n<ul dir="auto">\n<li>أهلا</li>\n</ul>'),
    "heading with an anchor": (
        "## Set up",
        '<h2 id="user-content-set-up"><a class="anchor" href="#user-content-set-up" aria-label="Link to this heading"',
    ),
    "finished task": ("- [x] a", '<li class="task-list-item"><input class="task-list-item-checkbox" checked=""'),
    "footnote": ("a[^n]\n\n[^n]: b", '<section class="footnotes">\n<ol>\n<li id="user-content-fn1"><p>b '),
    "collapsed section": (
        "<details>\n<summary>More</summary>\n\n- `a`\n\n</details>",
        "<details>\n<summary>More</summary>\n<ul>\n<li><code>a</code></li>\n</ul>\n</details>",
    ),
    "emoji": (":rocket:", "<p>🚀</p>"),
    "diagram": ("```mermaid\na\n```", '<code class="language-mermaid">a\n</code>'),
    "formula": ("$`a`$ $b$", '$<code>a</code>$ <code class="inline-formula">b</code>'),
}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_constructs_have_the_documented_html(construct: str) -> None:
    text, expected = CONSTRUCTS[construct]
    assert expected in html_of(text)


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("---\ntitle: A\n---\n\n# B", FILE, '<code class="language-yaml">'),
        ("+++\ntitle = 1\n+++\n", WIKI, '<code class="language-toml">'),
        (';;;\n{"a": 1}\n;;;\n', WIKI, '<code class="language-json">'),
        ("---\ntitle: A\n---\n", COMMENT, '<hr>\n<h2 id="user-content-title-a">'),
        ("[[Set up]]", WIKI, f'<a href="{BASE}/g/p/wikis/Set-up" {NOFOLLOW}>Set up</a>'),
        ("[[Start|./Set up]]", WIKI, f'<a href="{BASE}/g/p/wikis/guide/Set-up" {NOFOLLOW}>Start</a>'),
        ("[[Site|https://x.example/a]]", WIKI, f'<a href="https://x.example/a" {NOFOLLOW}>Site</a>'),
        ("[[plan.png]]", WIKI, f'<img src="{BASE}/g/p/wikis/plan.png" alt="plan.png">'),
        ("[[a|javascript:alert(1)]]", WIKI, "<a "),
        ("[[Set up]]", COMMENT, "<p>[[Set up]]</p>"),
    ],
)
def test_documents_have_front_matter_and_wikis_have_links_between_pages(
    text: str, place: LinkContext, expected: str
) -> None:
    html = html_of(text, place)
    assert expected in html
    assert "javascript:alert" not in html


@pytest.mark.parametrize(
    "text",
    [
        "> [!NOTES]\n> a",
        "> a [!NOTE]",
        "[!NOTE]\na",
        ":::note\nwithout an end",
        ":::unknown\na\n:::",
        "```\n> [!NOTE]\n```",
        "a {+ b",
        "{++} {--}",
        "`{+ a +}`",
        "[TOC] and more",
        "`#12` `rgb(256,0,0)` `hsl(1,2,3)` `#ggg`",
        "    >>>\n    a\n    >>>",
    ],
)
def test_similar_texts_are_no_constructs(text: str) -> None:
    html = html_of(text)
    assert not [word for word in ("markdown-alert", "idiff", "section-nav", "color_chip") if word in html]


def test_only_the_first_table_of_contents_is_shown() -> None:
    assert html_of("[TOC]\n\n[TOC]\n\n# A").count("section-nav") == 1


def test_users_cannot_choose_colors() -> None:
    assert html_of('<font color="#ff0000" class="gfm-color_chip">a</font>') == "<p><font>a</font></p>\n"


def test_tasks_in_front_matter_and_alerts_are_counted_as_they_are_shown() -> None:
    assert count_tasks("> [!NOTE]\n> - [x] a\n> - [ ] b") == (2, 1)
