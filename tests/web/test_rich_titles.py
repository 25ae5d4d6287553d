"""Code and emoji in titles."""

import pytest

from ingot.web.rich_titles import title_as_html
from tests.api.issues.factories import make_issue
from tests.client import Make, User
from tests.factories import make_project
from tests.web.browser import Browser


@pytest.mark.parametrize(
    ("title", "html"),
    [
        ("Plain", "Plain"),
        ("Fix `a < b` :bug:", "Fix <code>a &lt; b</code> 🐛"),
        ("``a`b`` `:bug:`", "``a`b`` <code>:bug:</code>"),
        ("`a` & `b", "<code>a</code> &amp; `b"),
        ("no:such_emoji: `", "no:such_emoji: `"),
        ("`<script>`", "<code>&lt;script&gt;</code>"),
    ],
)
def test_titles_show_code_and_emoji(title: str, html: str) -> None:
    assert str(title_as_html(title)) == html


def test_pages_show_code_in_titles_but_the_title_of_the_window_is_plain(
    browser: Browser, make: Make, person: User
) -> None:
    project = make_project(make, person, visibility="public")
    issue = make_issue(make, project, person, title="Fix `<b>` :bug:")
    page = browser.get(f"/{project.path}/-/issues/{issue['iid']}").text
    assert "<h1>Fix <code>&lt;b&gt;</code> 🐛 <small>" in page
    assert "<title>Fix `&lt;b&gt;` :bug: (#1)" in page
    assert "<code>&lt;b&gt;</code> 🐛</a>" in browser.get(f"/{project.path}/-/issues").text
