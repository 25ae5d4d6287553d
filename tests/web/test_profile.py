"""User settings pages."""

import quopri
import re
from collections.abc import Callable

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "<script>alert(1)</script>\"'"
ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"
TABS = [
    "/profile",
    "/profile/account",
    "/profile/applications",
    "/profile/personal_access_tokens",
    "/profile/emails",
    "/profile/password/edit",
    "/profile/two_factor_auth",
    "/profile/notifications",
    "/profile/keys",
    "/profile/gpg_keys",
    "/profile/preferences",
    "/profile/active_sessions",
    "/profile/audit_log",
]


@pytest.fixture
def own_browser(browser: Browser, person: User) -> Browser:
    """Return a browser of a user."""
    return browser.signed_in_as(person)


def _send(browser: Browser, path: str, **fields: str) -> httpx.Response:
    token = browser.form("/profile/account", "/users/sign_out").fields
    return browser.post(path, data={**token, **{name: value for name, value in fields.items() if value is not None}})


def test_all_tabs_are_linked(own_browser: Browser, open_browser: Callable[[], Browser]) -> None:
    for path in TABS:
        page = own_browser.get(path)
        assert page.status_code == 200, path
        assert page.text.count("<h1") == 1
        assert f'href="{path}" aria-current="page"' in page.text
        for other in TABS:
            assert f'href="{other}"' in page.text
        refused = open_browser().get(path)
        assert refused.headers["location"].startswith("/users/sign_in")


def test_edit_profile(own_browser: Browser, person: User, api: Api) -> None:
    fields = {"user[name]": HOSTILE, "user[bio]": HOSTILE, "user[website_url]": "https://me.example/"}
    fields |= {"status[message]": HOSTILE, "status[emoji]": "palm_tree", "status[availability]": "busy"}
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 50
    token = own_browser.form("/profile", "/profile").fields
    saved = own_browser.post("/profile", data={**token, **fields}, files={"user[avatar]": ("me.png", png, "image/png")})
    assert saved.status_code == 302, saved.text
    page = own_browser.get("/profile").text
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    shown = api.get(f"/users/{person.id}", person).json()
    assert (shown["name"], shown["bio"], shown["website_url"]) == (HOSTILE, HOSTILE, "https://me.example/")
    assert shown["avatar_url"].endswith("me.png")
    assert api.get("/user/status", person).json()["availability"] == "busy"

    kept = own_browser.post(
        "/profile", data={**token, **fields, "user[admin]": "1"}, files={"user[avatar]": ("", b"", "")}
    )
    assert kept.status_code == 302
    assert api.get(f"/users/{person.id}", person).json()["avatar_url"], "An empty field leaves the picture."
    assert not api.get("/user", person).json().get("is_admin")
    own_browser.post("/profile", data={**token, **fields, "user[remove_avatar]": "1"})
    assert api.get(f"/users/{person.id}", person).json()["avatar_url"] is None


def test_invalid_input_stays_in_the_form(own_browser: Browser) -> None:
    fields = {"user[name]": "", "user[bio]": HOSTILE, "user[website_url]": "javascript:alert(1)"}
    refused = _send(own_browser, "/profile", _method="put", **fields)
    assert refused.status_code == 422
    assert "Name can" in refused.text
    assert "&lt;script&gt;" in refused.text
    token = own_browser.form("/profile", "/profile").fields
    svg = {"user[avatar]": ("x.svg", b"<svg/>", "image/svg+xml")}
    assert own_browser.post("/profile", data={**token, "user[name]": "x"}, files=svg).status_code == 422


def test_addresses_are_added_confirmed_and_made_primary(
    own_browser: Browser, person: User, instance: Instance, api: Api, make: Make, open_browser: Callable[[], Browser]
) -> None:
    address = f"{make.name('mail')}@example.org"
    api.put("/application/settings", make.root, send_user_confirmation_email=True)
    try:
        assert _send(own_browser, "/profile/emails", **{"email[email]": address}).status_code == 302
    finally:
        api.put("/application/settings", make.root, send_user_confirmation_email=False)
    page = own_browser.get("/profile/emails").text
    assert "unconfirmed" in page
    number = re.findall(r"/profile/emails/(\d+)/confirm", page)[0]
    early = _send(own_browser, f"/profile/emails/{number}/primary")
    assert early.status_code == 422, "Unconfirmed addresses cannot become primary."
    assert _send(own_browser, f"/profile/emails/{number}/confirm").status_code == 302
    written = [quopri.decodestring(mail.encode()).decode() for mail in instance.mails() if address in mail]
    link = re.findall(r"confirmation_token=([\w-]+)", written[-1])[0]
    open_browser().submit(f"/users/confirmation?confirmation_token={link}", "/users/confirmation")
    assert _send(own_browser, f"/profile/emails/{number}/primary").status_code == 302
    assert api.get("/user", person).json()["email"] == address
    assert person.email in own_browser.get("/profile/emails").text
    assert open_browser().sign_in(person.email, PASSWORD).status_code == 302, "Both are still theirs."

    stranger = make.user(password=PASSWORD)
    other = open_browser().signed_in_as(stranger)
    assert _send(other, f"/profile/emails/{number}/primary").status_code == 404
    assert _send(other, f"/profile/emails/{number}/confirm").status_code == 404
    _send(other, f"/profile/emails/{number}", _method="delete")
    assert person.email in own_browser.get("/profile/emails").text
    taken = _send(other, "/profile/emails", **{"email[email]": address})
    assert taken.status_code == 422
    _send(own_browser, f"/profile/emails/{number}", _method="delete")
    assert f">{person.email}" not in own_browser.get("/profile/emails").text


def test_ssh_keys(own_browser: Browser, person: User, make: Make, open_browser: Callable[[], Browser]) -> None:
    import asyncssh

    public = asyncssh.generate_private_key("ssh-ed25519", comment="me@laptop").export_public_key().decode()
    assert _send(own_browser, "/profile/keys", **{"key[key]": public, "key[title]": ""}).status_code == 302
    page = own_browser.get("/profile/keys").text
    assert "me@laptop" in page
    assert "SHA256:" in page
    assert "Never used." in page
    number = re.findall(r'action="/profile/keys/(\d+)"', page)[0]
    other = open_browser().signed_in_as(make.user(password=PASSWORD))
    _send(other, f"/profile/keys/{number}", _method="delete")
    assert "SHA256:" in own_browser.get("/profile/keys").text
    refused = _send(own_browser, "/profile/keys", **{"key[key]": HOSTILE, "key[title]": HOSTILE})
    assert refused.status_code == 422
    assert HOSTILE not in refused.text
    assert "&lt;script&gt;" in refused.text
    assert _send(own_browser, f"/profile/keys/{number}", _method="delete").status_code == 302
    assert "You have no SSH keys" in own_browser.get("/profile/keys").text
    assert _send(own_browser, "/profile/gpg_keys", **{"gpg_key[key]": HOSTILE}).status_code == 422
    assert _send(own_browser, "/profile/gpg_keys/1", _method="delete").status_code == 302


def test_notification_settings(own_browser: Browser, person: User, make: Make, api: Api) -> None:
    group, project = make_group(make, person), make_project(make, person)
    changed = _send(
        own_browser, "/profile/notifications", _method="put", level="mention", notification_email=person.email
    )
    assert changed.status_code == 302
    assert api.get("/notification_settings", person).json()["level"] == "mention"
    for kind, number in (("groups", group.id), ("projects", project.id)):
        assert (
            _send(own_browser, f"/profile/notifications/{kind}/{number}", _method="put", level="watch").status_code
            == 302
        )
        assert api.get(f"/{kind}/{number}/notification_settings", person).json()["level"] == "watch"
        assert (
            _send(own_browser, f"/profile/notifications/{kind}/{number}", _method="put", level="loud").status_code
            == 422
        )
    page = own_browser.get("/profile/notifications").text
    assert page.count('<option value="watch" selected>') == 2
    stranger = make_project(make, visibility="private")
    assert _send(
        own_browser, f"/profile/notifications/projects/{stranger.id}", _method="put", level="watch"
    ).status_code in (
        404,
        422,
    )


def test_sessions_are_listed_and_revoked(
    own_browser: Browser, person: User, make: Make, open_browser: Callable[[], Browser]
) -> None:
    second, third = open_browser().signed_in_as(person), open_browser().signed_in_as(person)
    numbers = re.findall(r'action="/profile/active_sessions/(\d+)"', own_browser.get("/profile/active_sessions").text)
    assert len(numbers) == 2
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    _send(stranger, f"/profile/active_sessions/{numbers[0]}", _method="delete")
    assert third.is_signed_in()
    _send(own_browser, f"/profile/active_sessions/{numbers[0]}", _method="delete")
    assert (second.is_signed_in(), third.is_signed_in()) == (True, False)
    _send(own_browser, "/profile/active_sessions", _method="delete")
    assert not second.is_signed_in()
    assert own_browser.is_signed_in()


def test_sign_in_attempts_are_logged(
    own_browser: Browser, person: User, open_browser: Callable[[], Browser], api: Api
) -> None:
    thief = open_browser()
    token = thief.form("/users/sign_in", "/users/sign_in").fields
    sent = {**token, "user[login]": person.username, "user[password]": "wrong password"}
    thief.post("/users/sign_in", data=sent, headers={"User-Agent": HOSTILE})
    api.post("/session", login=person.username, password="wrong password")
    page = own_browser.get("/profile/audit_log").text
    assert (page.count("Failed"), page.count("Signed in<")) == (2, 1)
    assert HOSTILE not in page
    assert "127.0.0.1" in page
    assert own_browser.get("/profile/audit_log?page=99999999999999999999").status_code == 200


def test_account_deletion_requires_confirmation(
    own_browser: Browser, person: User, api: Api, make: Make, open_browser: Callable[[], Browser]
) -> None:
    for fields in (
        {"password": "wrong", "username": person.username},
        {"password": PASSWORD, "username": "somebody"},
        {},
    ):
        assert _send(own_browser, "/users", _method="delete", **fields).status_code == 422
    gone = _send(own_browser, "/users", _method="delete", password=PASSWORD, username=person.username)
    assert gone.status_code == 302
    assert api.get(f"/users/{person.id}", make.root).status_code == 404
    assert not own_browser.is_signed_in()


@pytest.mark.parametrize(
    ("known", "led"),
    [
        ("/-/user_settings/personal_access_tokens?name=a+b&scopes=api", "?name=a+b&scopes=api"),
        ("/-/profile/personal_access_tokens", ""),
    ],
)
def test_token_page_urls_of_clients_redirect(
    own_browser: Browser, open_browser: Callable[[], Browser], known: str, led: str
) -> None:
    """``glab auth login`` prints such a URL, and editors open it."""
    answer = own_browser.get(known)
    assert (answer.status_code, answer.headers["location"]) == (302, f"/profile/personal_access_tokens{led}")
    assert open_browser().get(known).headers["location"] == answer.headers["location"]


def test_every_url_known_to_clients_is_valid(own_browser: Browser) -> None:
    for name in ("profile", "applications", "ssh_keys", "gpg_keys", "active_sessions", "password/edit"):
        assert own_browser.get(own_browser.get(f"/-/user_settings/{name}").headers["location"]).status_code == 200
    assert own_browser.get("/-/profile").headers["location"] == "/profile"
    for tab in TABS[1:]:
        assert own_browser.get(f"/-{tab}").headers["location"] == tab
    for unknown in ("/-/user_settings/nothing", "/-/profile/nothing", "/-/user_settings/..%2Fadmin"):
        assert own_browser.get(unknown).status_code == 404


def test_token_name_and_scopes_are_prefilled(own_browser: Browser) -> None:
    page = own_browser.get("/profile/personal_access_tokens", params={"name": HOSTILE, "scopes": "api,read_user,none"})
    fields = own_browser.form(
        "/profile/personal_access_tokens?name=An+editor&scopes=api", "/profile/personal_access_tokens"
    )
    assert fields.fields["personal_access_token[name]"] == "An editor"
    assert HOSTILE not in page.text
    assert page.text.partition("<footer")[0].count(" checked") == 2
    odd = {"name[]": "x", "scopes[a]": "api"}
    assert own_browser.get("/profile/personal_access_tokens", params=odd).status_code == 200
