"""Sign-up: disabled by default, with confirmation by mail if required."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.smtp_server import mailbox, text_of
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

SETTINGS = {
    "signup_enabled": False,
    "send_user_confirmation_email": False,
    "domain_whitelist": [],
    "domain_blacklist": [],
    "domain_blacklist_enabled": False,
    "after_sign_up_text": "",
}


@pytest.fixture
def allow(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Yield a function that enables sign-up with these settings."""

    def change(**settings: Any) -> None:
        sent = {"signup_enabled": True, **settings}
        assert api.put("/application/settings", make.root, **sent).status_code == 200

    yield change
    change(**SETTINGS)


def _sign_up(browser: Browser, username: str, /, **fields: str) -> Any:
    given = {"name": username, "username": username, "email": f"{username}@example.org", "password": PASSWORD}
    named = {f"user[{name}]": value for name, value in {**given, **fields}.items()}
    return browser.submit("/users/sign_up", "/users", fields=named)


def test_sign_up_is_disabled_by_default(browser: Browser, make: Make, allow: Callable[..., None]) -> None:
    """The page gets 404, and a form opened before does nothing."""
    assert "/users/sign_up" not in browser.get("/users/sign_in").text
    assert browser.get("/users/sign_up").status_code == 404
    allow()
    form = browser.form("/users/sign_up", "/users")
    assert "/users/sign_up" in browser.get("/users/sign_in").text
    allow(signup_enabled=False)
    name = make.name()
    fields = {"name": name, "username": name, "email": f"{name}@example.org", "password": PASSWORD}

    kept = browser.post("/users", data={**form.fields, **{f"user[{key}]": value for key, value in fields.items()}})

    assert kept.status_code == 404
    assert browser.sign_in(name, PASSWORD).status_code == 401


def test_sign_up_creates_a_session(api: Api, browser: Browser, make: Make, allow: Callable[..., None]) -> None:
    """The new user is an ordinary one with a namespace; other form fields are ignored."""
    allow()
    name = make.name("new-one")

    assert _sign_up(browser, name, admin="true", projects_limit="7").status_code == 302

    assert browser.is_signed_in()
    (made,) = api.get("/users", make.root, username=name).json()
    assert (made["is_admin"], made["email"]) == (False, f"{name}@example.org")
    assert made["projects_limit"] != 7
    assert api.get(f"/namespaces/{name}", make.root).json()["kind"] == "user"


def test_invalid_input(
    browser: Browser, open_browser: Callable[[], Browser], make: Make, allow: Callable[..., None]
) -> None:
    """All reasons are shown, and the input stays."""
    allow()
    person = make.user(password=PASSWORD)
    for fields, reason in [
        ({"password": "short"}, "Password is too short"),
        ({"password": ""}, "Password is too short"),
        ({"email": "no address"}, "Email is invalid"),
        ({"email": person.email}, "Email has already been taken"),
        ({"username": person.username}, "Username has already been taken"),
        ({"username": "../etc"}, "Username"),
        ({"username": "admin"}, "Username"),
        ({"name": "<script>" * 50}, "Name is too long"),
    ]:
        refused = _sign_up(browser, make.name(), **fields)
        assert refused.status_code == 422 and reason in refused.text, (fields, refused.text)
        assert "<script>" not in refused.text
    assert not browser.is_signed_in()
    assert [_sign_up(open_browser(), make.name(), password="x").status_code for _ in range(3)] == [422, 422, 429]


def test_permitted_email_domains(browser: Browser, make: Make, allow: Callable[..., None]) -> None:
    allow(domain_whitelist=["*.good.org", "fine.org"])
    for address, status in [("a@bad.org", 422), ("b@notgood.org", 422), ("c@x.good.org", 302)]:
        assert _sign_up(browser, make.name(), email=address).status_code == status, address
        browser.cookies.clear()
    allow(domain_whitelist=[], domain_blacklist=["bad.org", "*.bad.org"], domain_blacklist_enabled=True)
    for address, status in [("d@BAD.org", 422), ("e@x.bad.org", 422), ("f@good.org", 302)]:
        assert _sign_up(browser, make.name(), email=address).status_code == status, address
        browser.cookies.clear()


def test_an_address_is_confirmed_first(
    instance: Instance, browser: Browser, make: Make, allow: Callable[..., None]
) -> None:
    """Sign-in requires a confirmed address; a requested second mail replaces the first."""
    name = make.name()
    with mailbox(instance) as box:
        allow(send_user_confirmation_email=True, after_sign_up_text="Wait for the post")
        page = _sign_up(browser, name)
        assert (page.status_code, "Wait for the post" in page.text) == (200, True)
        assert browser.sign_in(name, PASSWORD).status_code == 401
        links = []
        for _ in range(2):
            (mail,) = box.to(f"{name}@example.org")
            found = re.search(r"(/users/confirmation\?confirmation_token=[\w-]+)", text_of(mail))
            assert found
            links.append(found[1])
            again = {"user[email]": f"{name}@example.org"}
            browser.submit("/users/confirmation/new", "/users/confirmation/new", fields=again)
        (mail,) = box.to(f"{name}@example.org")
        found = re.search(r"(/users/confirmation\?confirmation_token=[\w-]+)", text_of(mail))
        assert found and [browser.get(link).status_code for link in links] == [404, 404]
        assert browser.submit(found[1], "/users/confirmation").status_code == 302
        assert browser.sign_in(name, PASSWORD).status_code == 302
        unknown = {"user[email]": "nobody@example.org"}
        said = browser.submit("/users/confirmation/new", "/users/confirmation/new", fields=unknown)
        browser.submit("/users/confirmation/new", "/users/confirmation/new", fields=again)
        assert said.status_code == 200 and box.receive() == [], "A confirmed address gets no mail."


def test_password_reset_by_a_real_smtp_server(instance: Instance, browser: Browser, make: Make) -> None:
    """Attack: one mail, to exactly the owner; unknown or several addresses get none."""
    person, attacker = make.user(password=PASSWORD), make.user()
    with mailbox(instance) as box:
        browser.submit("/users/password/new", "/users/password", fields={"user[email]": person.email})
        ((to, mail),) = box.receive()
        assert to == mail["To"] == person.email
        found = re.search(r"(/users/password/edit\?reset_password_token=[\w-]+)", text_of(mail))
        assert found
        form = browser.form("/users/password/new", "/users/password").fields
        for address in ([person.email, attacker.email], f"{person.email},{attacker.email}", "nobody@example.org"):
            name = "user[email][]" if isinstance(address, list) else "user[email]"
            browser.post("/users/password", data={**form, "user[email]": "", name: address})
        assert box.receive() == []
