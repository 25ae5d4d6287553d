"""Texts with which administrators adapt the pages."""

from collections.abc import Iterator

import pytest

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

PATH = "/application/appearance"
GUIDELINES = ("new_project_guidelines", "member_guidelines", "profile_image_guidelines")
EMPTY = dict.fromkeys(("title", "description", "header_message", "footer_message", *GUIDELINES), "")


@pytest.fixture(autouse=True)
def _no_texts(api: Api, make: Make) -> Iterator[None]:
    yield
    assert api.put(PATH, make.root, **EMPTY).json() == EMPTY
    assert api.put("/application/settings", make.root, signup_enabled=False).status_code == 200


def test_texts_are_shown_on_pages(api: Api, make: Make, browser: Browser, person: User) -> None:
    texts = {
        "title": "The <forge> of tides",
        "description": "Ask **Ada** first.",
        "header_message": "Internal & secret",
        "footer_message": "Not for flights",
        "new_project_guidelines": "Read the `guidelines`.",
        "member_guidelines": "Only *colleagues*.",
        "profile_image_guidelines": "A `square` image.",
    }
    changed = api.put(PATH, make.root, **texts)
    assert (changed.status_code, changed.json()) == (200, texts)
    assert api.put("/application/settings", make.root, signup_enabled=True).status_code == 200
    assert api.get(PATH, make.root).json() == texts, "a change of settings keeps the texts"
    everywhere = ("Internal &amp; secret", "Not for flights")
    for path in ("/users/sign_in", "/users/sign_up"):
        page = browser.get(path).text
        for text in (*everywhere, "The &lt;forge&gt; of tides", "<strong>Ada</strong>"):
            assert text in page, path
    browser.sign_in(person.username, PASSWORD)
    for path in ("/", "/projects/new", "/missing/page"):
        page = browser.get(path).text
        assert all(text in page for text in everywhere), path
    assert "<code>guidelines</code>" in browser.get("/projects/new").text
    assert "<code>square</code>" in browser.get("/profile").text
    own, other = make_project(make, person), make_project(make, visibility="public")
    members, guidelines = "-/project_members", "<em>colleagues</em>"
    assert guidelines in browser.get(f"/{own.path}/{members}").text
    assert guidelines not in browser.get(f"/{other.path}/{members}").text, "for those who may change members"
    assert api.put(PATH, make.root, header_message="").json() == {**texts, "header_message": ""}
    assert "Internal &amp; secret" not in browser.get("/").text


def test_attributes_without_an_effect_are_refused(api: Api, make: Make) -> None:
    refused = api.put(PATH, make.root, title="New", message_font_color="#123456", logo="logo.png")
    expected = {
        "message_font_color": ["cannot be changed to #123456: not supported by this server"],
        "logo": ["cannot be changed to logo.png: not supported by this server"],
    }
    assert (refused.status_code, refused.json()) == (400, {"message": expected})
    assert api.put(PATH, make.root, title="x" * 1001).status_code == 400
    assert api.get(PATH, make.root).json() == EMPTY
    user = make.user()
    assert api.get(PATH, user).status_code == api.put(PATH, user, title="x").status_code == 403
