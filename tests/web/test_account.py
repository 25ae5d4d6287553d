"""Account page: private token and end of sessions."""

import re
from collections.abc import Callable

import pytest

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def _private_token(browser: Browser) -> str:
    found = re.search(r'id="private_token"[^>]*value="([^"]+)"', browser.get("/profile/account").text)
    assert found
    return found[1]


def test_the_page_shows_the_private_token_and_resetting_it_stops_the_old_one(
    api: Api, make: Make, browser: Browser, person: User
) -> None:
    browser.signed_in_as(person)
    old = _private_token(browser)
    assert api.get("/user", person.with_token(old)).json()["id"] == person.id

    answer = browser.submit("/profile/account", "/profile/reset_private_token")

    assert (answer.status_code, answer.headers["location"]) == (302, "/profile/account")
    new = _private_token(browser)
    assert api.get("/user", person.with_token(old)).status_code == 401
    assert api.get("/user", person.with_token(new)).json()["id"] == person.id
    assert api.get("/user", person).status_code == 200, "Personal access tokens stay."


@pytest.mark.parametrize(
    "path", ["/profile", "/profile/account", "/profile/personal_access_tokens", "/profile/password/edit"]
)
def test_anonymous_visitors_are_redirected_to_sign_in(browser: Browser, path: str) -> None:
    answer = browser.get(path)

    assert answer.status_code == 302
    assert answer.headers["location"].startswith("/users/sign_in?redirect_to=")
    assert answer.content == b""


def test_the_root_path_shows_a_page_by_session(browser: Browser, person: User) -> None:
    assert "Public projects" in browser.get("/").text or "Sign in" in browser.get("/").text
    browser.signed_in_as(person)
    assert browser.get("/").status_code == 200
    assert browser.get("/users/sign_in").headers["location"] == "/"


@pytest.mark.parametrize("event", ["block", "ban", "deactivate", "delete"])
def test_sessions_of_blocked_users_end(api: Api, make: Make, browser: Browser, person: User, event: str) -> None:
    """Attack: use an open session after the user was blocked; it stays invalid after unblocking."""
    browser.signed_in_as(person)
    method, path = ("DELETE", "") if event == "delete" else ("POST", f"/{event}")
    assert api.request(method, f"/users/{person.id}{path}", make.root).status_code in (200, 201)

    assert not browser.is_signed_in()
    if event == "block":
        api.post(f"/users/{person.id}/unblock", make.root)
        assert not browser.is_signed_in()


def test_names_on_the_page_are_escaped(make: Make, browser: Browser) -> None:
    mischief = make.user(password=PASSWORD, name='<script>alert("1")</script>')

    page = browser.signed_in_as(mischief).get("/profile/account")

    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text


def test_a_broadcast_message_is_shown_on_every_page_as_text(
    api: Api, make: Make, open_browser: Callable[[], Browser]
) -> None:
    text = f"<i>{make.name('news')}</i>"
    message_id = api.post("/broadcast_messages", make.root, message=text).json()["id"]
    try:
        shown = open_browser().get("/users/sign_in").text
    finally:
        api.delete(f"/broadcast_messages/{message_id}", make.root)

    assert text not in shown
    assert text.replace("<", "&lt;").replace(">", "&gt;") in shown
    assert text[3:-4] not in open_browser().get("/users/sign_in").text


def test_renaming_a_user_moves_everything(
    browser: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User
) -> None:
    project = make_project(make, person, visibility="public")
    there, name = browser.signed_in_as(person), make.name("renamed")
    for wanted in ("", "a b", "<script>", make.root.username, "admin", "x" * 300):
        refused = there.submit("/profile/account", "/profile/username", fields={"user[username]": wanted})
        assert (refused.status_code, "<script>" in refused.text) == (422, False), wanted
    assert there.submit("/profile/account", "/profile/username", fields={"user[username]": name}).status_code == 302

    assert f"@{name}" in there.get("/profile/account").text
    assert api.get("/user", person).json()["username"] == name
    visitor = open_browser()
    assert visitor.get(f"/{person.username}").headers["location"] == f"/{name}"
    moved = visitor.get(f"/{project.path}")
    assert moved.status_code == 200 or moved.headers["location"] == f"/{name}/{project.name}"
    assert visitor.get(f"/{name}/{project.path.partition('/')[2]}").status_code == 200
    back = there.submit("/profile/account", "/profile/username", fields={"user[username]": person.username})
    assert back.status_code == 302
    assert visitor.get(f"/{person.username}").status_code == 200


def test_the_number_of_renames_is_limited(browser: Browser, make: Make, person: User) -> None:
    there = browser.signed_in_as(person)
    names = [make.name("name") for _ in range(6)]
    answers = [there.submit("/profile/account", "/profile/username", fields={"user[username]": each}) for each in names]

    assert [answer.status_code for answer in answers] == [302] * 5 + [429]
    same = there.submit("/profile/account", "/profile/username", fields={"user[username]": names[4]})
    assert same.status_code == 302, "Nothing changes."
