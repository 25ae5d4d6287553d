"""Attack: bidirectional control characters in code, which is displayed differently than it runs."""

import pytest

from ingot.web.bidi import has_bidi_characters, mark_bidi_in_text
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make, User
from tests.web.browser import Browser

WARNING = "contains bidirectional Unicode characters"
SIGNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
TROJAN = 'if level != "user\u202e \u2066# <b>only admins\u2069 \u2066":\n    pass\n'


@pytest.mark.parametrize("text", ["plain", "שלום", "a\u200fb", "né"])
def test_letters_of_any_direction_are_unchanged(text: str) -> None:
    assert (has_bidi_characters(text), mark_bidi_in_text(text)) == (False, text)


def test_each_control_character_is_shown() -> None:
    shown = mark_bidi_in_text(f"<{SIGNS}>")
    assert has_bidi_characters(f"x{SIGNS[-1]}")
    assert not set(SIGNS) & set(shown)
    assert shown.count('class="bidi"') == len(SIGNS)
    assert shown.startswith("&lt;")


def test_pages_show_control_characters(make: Make, person: User, browser: Browser) -> None:
    project = filled_project(make, person, visibility="public")
    files = {"trojan.py": TROJAN, "trojan": TROJAN, "plain.py": "# שלום\n"}
    oid = commit(make, project, "odd", files, person, start="master")
    base = f"/{project.path}/-"
    sent = {"title": "Odd", "file_name": "trojan.py", "content": TROJAN, "visibility": "public"}
    snippet = make.api.post("/snippets", person, **sent).json()

    for path in (
        f"{base}/blob/odd/trojan.py",
        f"{base}/blob/odd/trojan",
        f"{base}/blame/odd/trojan.py",
        f"{base}/commit/{oid}",
        f"{base}/commit/{oid}?view=split",
        f"{base}/compare/master...odd",
        f"/snippets/{snippet['id']}",
    ):
        page = browser.get(path)
        assert page.status_code == 200, path
        assert WARNING in page.text, path
        assert ">U+2066</span>" in page.text, path
        assert not set(SIGNS) & set(page.text), path
        assert "<b>only" not in page.text, path
    for path in (f"{base}/blob/odd/plain.py", f"{base}/commit/master"):
        assert WARNING not in browser.get(path).text
    assert browser.get(f"{base}/raw/odd/trojan.py").text == TROJAN, "Downloads are unchanged."


def test_a_project_can_hide_the_warning(make: Make, person: User, browser: Browser) -> None:
    project = filled_project(make, person, visibility="public")
    oid = commit(make, project, "odd", {"trojan.py": TROJAN}, person, start="master")
    sent = {"warn_about_potentially_unwanted_characters": False}
    assert make.api.put(project.url, person, **sent).status_code == 200
    base = f"/{project.path}/-"
    paths = ("blob/odd/trojan.py", "blame/odd/trojan.py", f"commit/{oid}", "compare/master...odd")
    for path in (f"{base}/{each}" for each in paths):
        page = browser.get(path).text
        assert WARNING not in page, path
        assert ">U+2066</span>" in page, "The characters are marked in any case."
