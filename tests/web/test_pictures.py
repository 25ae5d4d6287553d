"""Images on pages: none is loaded from another host; external ones become links."""

import pytest

from ingot.web.external_images import replace_external_images
from tests.api.issues.factories import make_issue
from tests.client import Make
from tests.factories import make_project
from tests.web.browser import Browser

BASE = "https://forge.example"
LINK = '<a href="{}" rel="nofollow noreferrer noopener">{}</a>'


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<img src="https://x.example/a.png" alt="a &lt;b">', LINK.format("https://x.example/a.png", "a &lt;b")),
        ('<img alt="x>y" src="//x.example/a?b&amp;c">', LINK.format("//x.example/a?b&amp;c", "x&gt;y")),
        ('<img src="HTTP://x.example/">', LINK.format("HTTP://x.example/", "Image")),
        ('<a href="/x"><img src="https://x.example/a.svg" alt="build"></a>', '<a href="/x">build</a>'),
        (
            '<a href="/x">t</a> <img src="https://x.example/a" alt="b">',
            '<a href="/x">t</a> ' + LINK.format("https://x.example/a", "b"),
        ),
        ('<img src="https://forge.example.evil/a">', LINK.format("https://forge.example.evil/a", "Image")),
    ],
)
def test_external_images_are_links(html: str, shown: str) -> None:
    assert replace_external_images(html, BASE) == shown


@pytest.mark.parametrize(
    "html", ["<p>none</p>", '<img src="/a.png" alt="x>">', f'<img src="{BASE}/a.png">', '<img src="a/b:c.png">']
)
def test_local_images_stay(html: str) -> None:
    assert replace_external_images(html, BASE) == html


def test_pages_contain_only_images_allowed_by_the_csp(browser: Browser, make: Make) -> None:
    project = make_project(make, visibility="public")
    text = '![seen <by> "you"](https://x.example/track.png) <img src=//x.example/y.png onerror=alert(1)>'
    issue = make_issue(make, project, make.root, title="Watched", description=text)

    page = browser.get(f"/{project.path}/-/issues/{issue['iid']}").text

    assert "<img src=" not in page.split("<main")[1]
    assert "https://x.example/track.png" in page
    assert "onerror" not in page
