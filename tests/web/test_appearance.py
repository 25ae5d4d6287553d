"""Texts, colors and images with which administrators adapt the pages and mails."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project, statements_of
from tests.smtp_server import mailbox, text_of
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

PATH = "/application/appearance"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
IMAGES = ("logo", "header_logo", "favicon", "pwa_icon")
TEXTS = ("title", "description", "header_message", "footer_message", "pwa_name", "pwa_short_name", "pwa_description")
GUIDELINES = ("new_project_guidelines", "member_guidelines", "profile_image_guidelines")
EMPTY: dict[str, Any] = {
    **dict.fromkeys((*TEXTS, *GUIDELINES), ""),
    **dict.fromkeys(IMAGES),
    "message_background_color": "#E75E40",
    "message_font_color": "#FFFFFF",
    "email_header_and_footer_enabled": False,
}


@pytest.fixture(autouse=True)
def _no_appearance(api: Api, make: Make) -> Iterator[None]:
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
        "message_background_color": "#123",
        "message_font_color": "#fedcba",
    }
    changed = api.put(PATH, make.root, **texts)
    assert (changed.status_code, changed.json()) == (200, {**EMPTY, **texts})
    assert api.put("/application/settings", make.root, signup_enabled=True).status_code == 200
    assert api.get(PATH, make.root).json() == {**EMPTY, **texts}, "a change of settings keeps the texts"
    everywhere = ("Internal &amp; secret", "Not for flights", "/-/appearance.css?")
    for path in ("/users/sign_in", "/users/sign_up"):
        page = browser.get(path).text
        for text in (*everywhere, "The &lt;forge&gt; of tides", "<strong>Ada</strong>"):
            assert text in page, path
    style = browser.get("/-/appearance.css")
    assert style.headers["content-type"].startswith("text/css")
    assert style.text.endswith("background:#123;color:#fedcba}\n")
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
    assert api.put(PATH, make.root, header_message="", footer_message="").status_code == 200
    page = browser.get("/").text
    assert not any(text in page for text in everywhere if "appearance.css" not in text)


def test_images_are_stored_and_shown(api: Api, make: Make, browser: Browser) -> None:
    plain = browser.get("/users/sign_in").text
    assert "uploads" not in plain and "manifest" not in plain
    files = {name: (f"{name}.png", PNG) for name in IMAGES}
    changed = api.request("PUT", PATH, make.root, files=files, data={"pwa_name": "Tides", "pwa_description": "Sea"})
    assert changed.status_code == 200, changed.text
    urls = {name: changed.json()[name] for name in IMAGES}
    page = browser.get("/users/sign_in").text
    for name in ("logo", "header_logo", "favicon"):
        assert urls[name] in page
    for name, url in urls.items():
        assert url.startswith(f"/uploads/-/system/appearance/{name}/")
        image = browser.get(url)
        assert (image.content, image.headers["content-type"]) == (PNG, "image/png")
        assert image.headers["x-content-type-options"] == "nosniff"
    assert browser.get(urls["logo"].replace("/logo/", "/favicon/")).status_code == 404
    assert browser.get(urls["logo"].replace("/logo/", "/title/")).status_code == 404
    assert 'rel="manifest"' in page
    answer = browser.get("/-/manifest.json")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["name"], manifest["short_name"], manifest["description"]) == ("Tides", "Tides", "Sea")
    assert manifest["icons"] == [{"src": urls["pwa_icon"], "type": "image/png", "sizes": "any"}]
    assert api.put(PATH, make.root, logo=None, pwa_short_name="T").json()["logo"] is None
    assert browser.get(urls["logo"]).status_code == 404
    assert browser.get("/-/manifest.json").json()["short_name"] == "T"


def test_invalid_values_change_nothing(api: Api, make: Make) -> None:
    for sent in ({"title": "x" * 1001}, {"message_font_color": "red;}"}, {"message_background_color": "#12"}):
        assert api.put(PATH, make.root, **{"description": "New", **sent}).status_code == 400
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for name, content in (("logo", svg), ("favicon", b"GIF89a"), ("header_logo", PNG + bytes(200 * 1024))):
        refused = api.request("PUT", PATH, make.root, files={name: ("a.png", content)}, data={"description": "New"})
        assert refused.status_code == 400 and list(refused.json()["message"]) == [name]
    assert api.get(PATH, make.root).json() == EMPTY
    user = make.user()
    assert api.get(PATH, user).status_code == api.put(PATH, user, title="x").status_code == 403


def test_messages_are_added_to_mails(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    project = make_project(make, owner)
    texts = {"header_message": "Internal & secret", "footer_message": "Not for flights"}
    for enabled in (False, True):
        api.put(PATH, make.root, **texts, email_header_and_footer_enabled=enabled)
        with mailbox(instance) as box:
            address = f"{make.name('invited')}@example.org"
            api.post(f"{project.url}/invitations", owner, email=address, access_level=30)
            (mail,) = box.to(address)
        text = text_of(mail)
        assert text.startswith("Internal & secret") is enabled
        assert text.rstrip().endswith("Not for flights") is enabled


def test_administrators_change_the_appearance_on_a_page(
    make: Make, api: Api, open_browser: Callable[[], Browser], browser: Browser, person: User
) -> None:
    page = "/admin/application_settings/appearance"
    browser.sign_in(person.username, PASSWORD)
    assert browser.get(page).status_code == 404
    administrator = make.user(admin=True, password=PASSWORD)
    other = open_browser()
    other.sign_in(administrator.username, PASSWORD)
    assert other.submit(page, page, fields={"appearance[title]": "Tides"}).status_code == 302
    refused = other.submit(page, page, fields={"appearance[title]": "x", "appearance[message_font_color]": "red"})
    assert refused.status_code == 422
    token = other.token()
    data = {"authenticity_token": token, "_method": "put", "appearance[title]": "Tides"}
    data |= {f"appearance[{name}]": EMPTY[name] for name in ("message_background_color", "message_font_color")}
    sent = other.post(page, data=data, files={"appearance[logo]": ("a.png", PNG)})
    assert sent.status_code == 302, sent.text
    stored = api.get(PATH, make.root).json()
    assert (stored["title"], bool(stored["logo"])) == ("Tides", True)
    assert stored["logo"] in other.get(page).text
    assert other.post(page, data={**data, "appearance[remove_logo]": "1"}).status_code == 302
    assert api.get(PATH, make.root).json()["logo"] is None


def test_a_page_costs_no_further_statement(api: Api, make: Make, browser: Browser) -> None:
    browser.get("/users/sign_in")
    before = statements_of(make, lambda: browser.get("/users/sign_in"))
    api.put(PATH, make.root, title="Tides", header_message="Hello")
    browser.get("/users/sign_in")
    assert statements_of(make, lambda: browser.get("/users/sign_in")) == before
