"""Passwords: change, reset by mail, and end of sessions."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingot.accounts.users.tables import users
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.mailed_links import mailed_link

NEW = "a new one entirely"
EDIT = "/profile/password/edit"


def _change(browser: Browser, current: str, new: str, again: str | None = None) -> Any:
    fields = {"user[current_password]": current, "user[password]": new}
    return browser.submit(EDIT, "/profile/password", fields={**fields, "user[password_confirmation]": again or new})


def test_a_change_ends_all_other_sessions(open_browser: Callable[[], Browser], person: User) -> None:
    here, elsewhere = open_browser().signed_in_as(person), open_browser().signed_in_as(person)

    assert _change(here, PASSWORD, NEW).status_code == 302

    assert here.is_signed_in()
    assert not elsewhere.is_signed_in()
    assert elsewhere.sign_in(person.username, PASSWORD).status_code == 401
    assert elsewhere.sign_in(person.username, NEW).status_code == 302


@pytest.mark.parametrize(
    ("current", "new", "again"),
    [
        ("wrong", NEW, NEW),
        ("", NEW, NEW),
        (PASSWORD, "short", "short"),
        (PASSWORD, NEW, "another one"),
        (PASSWORD, "x" * 1025, "x" * 1025),
    ],
)
def test_a_change_requires_the_current_password_and_a_confirmation(
    open_browser: Callable[[], Browser], person: User, current: str, new: str, again: str
) -> None:
    browser = open_browser().signed_in_as(person)

    assert _change(browser, current, new, again).status_code == 422

    assert open_browser().sign_in(person.username, PASSWORD).status_code == 302


def test_a_stolen_session_cannot_guess_the_password(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    for _ in range(10):
        assert _change(browser, "wrong", NEW).status_code == 422

    assert _change(browser, PASSWORD, NEW).status_code == 429


PAGES = ["/", "/profile", "/profile/account", "/profile/personal_access_tokens", "/users/sign_in"]


def test_a_password_set_by_an_administrator_must_be_changed_first(
    api: Api, make: Make, browser: Browser, open_browser: Callable[[], Browser], person: User
) -> None:
    old = open_browser().signed_in_as(person)
    api.put(f"/users/{person.id}", make.root, password="set-by-another")
    assert not old.is_signed_in()

    browser.sign_in(person.username, "set-by-another")

    for path in PAGES:
        answer = browser.get(path)
        assert (answer.status_code, answer.headers.get("location")) == (302, "/profile/password/new"), path
    page = browser.get("/profile/password/new")
    assert page.status_code == 200
    for style in re.findall(r'href="(/assets/[^"]+)"', page.text):
        assert browser.get(style).status_code == 200, "The page where one is held looks like the others."
    fields = {"user[current_password]": "set-by-another", "user[password]": NEW, "user[password_confirmation]": NEW}
    assert browser.submit("/profile/password/new", "/profile/password", fields=fields).status_code == 302
    assert browser.is_signed_in()


def _link(instance: Instance, address: str) -> str:
    return mailed_link(instance, address, "/users/password/edit?reset_password_token")


def _choose(browser: Browser, link: str, password: str = NEW) -> Any:
    fields = {"user[password]": password, "user[password_confirmation]": password}
    return browser.submit(link, "/users/password", fields=fields)


def test_a_reset_link_works_once(
    instance: Instance, api: Api, open_browser: Callable[[], Browser], person: User
) -> None:
    signed_in, forgetful = open_browser().signed_in_as(person), open_browser()
    asked = forgetful.submit("/users/password/new", "/users/password", fields={"user[email]": person.email.upper()})
    assert asked.status_code == 200
    link = _link(instance, person.email)
    form = forgetful.form(link, "/users/password")
    assert _choose(forgetful, link, "short").status_code == 422

    chosen = _choose(forgetful, link)

    assert (chosen.status_code, chosen.headers["location"]) == (302, "/users/sign_in")
    assert not signed_in.is_signed_in(), "Old sessions have ended."
    assert forgetful.get(link).status_code == 404
    again = {**form.fields, "user[password]": "yet another one", "user[password_confirmation]": "yet another one"}
    assert forgetful.post("/users/password", data=again).status_code == 404
    assert forgetful.sign_in(person.username, PASSWORD).status_code == 401
    assert forgetful.sign_in(person.username, NEW).status_code == 302


def test_a_newer_reset_link_replaces_older_ones(instance: Instance, browser: Browser, person: User) -> None:
    links = []
    for _ in range(2):
        browser.submit("/users/password/new", "/users/password", fields={"user[email]": person.email})
        links.append(_link(instance, person.email))

    assert browser.get(links[0]).status_code == 404
    assert browser.get(links[1]).status_code == 200


def test_the_response_does_not_reveal_accounts(
    instance: Instance, api: Api, make: Make, browser: Browser, person: User
) -> None:
    """Attack: unknown addresses and those of blocked users, bots and others get the same page; only one gets a mail."""
    blocked, bot = make.user(password=PASSWORD), make.user()
    api.post(f"/users/{blocked.id}/block", make.root)
    # A bot has no address, unless an older version allowed it.
    instance.app.database.write(lambda db: db.update(users, bot.id, bot=True))
    addresses = [person.email, f"{make.name('nobody')}@example.org", blocked.email, bot.email]
    before = len(instance.mails())

    pages = {
        browser.submit("/users/password/new", "/users/password", fields={"user[email]": address}).text
        for address in addresses
    }

    assert len(pages) == 1
    sent = instance.mails()[before:]
    assert len(sent) == 1
    assert person.email in sent[0]


@pytest.mark.parametrize("as_json", [False, True])
def test_several_addresses_get_no_mail(
    instance: Instance, make: Make, browser: Browser, person: User, as_json: bool
) -> None:
    """Attack (CVE-2023-7028): email[]=victim&email[]=attacker sends the victim's link to the attacker too."""
    attacker = make.user(password=PASSWORD)
    token = browser.form("/users/password/new", "/users/password").fields["authenticity_token"]
    addresses = [person.email, attacker.email]
    before = len(instance.mails())

    if as_json:
        answer = browser.post("/users/password", json={"authenticity_token": token, "user": {"email": addresses}})
    else:
        answer = browser.post("/users/password", data={"authenticity_token": token, "user[email][]": addresses})

    assert answer.status_code in (200, 400, 422)
    assert instance.mails()[before:] == []


def test_the_number_of_reset_mails_is_limited(instance: Instance, browser: Browser, person: User) -> None:
    before = len(instance.mails())
    statuses = [
        browser.submit("/users/password/new", "/users/password", fields={"user[email]": person.email}).status_code
        for _ in range(8)
    ]

    assert statuses[0] == 200
    assert statuses[-1] == 429
    assert len(instance.mails()) - before == statuses.count(200)


@pytest.mark.parametrize("token", ["", "nonsense", "%00", "a" * 5000])
def test_an_invalid_reset_link_is_rejected(browser: Browser, token: str) -> None:
    assert browser.get(f"/users/password/edit?reset_password_token={token}").status_code == 404
    assert browser.get(f"/users/confirmation?confirmation_token={token}").status_code == 404


def test_a_new_user_chooses_a_password_by_mail(instance: Instance, api: Api, make: Make, browser: Browser) -> None:
    username = make.name("chooser")
    sent = {"username": username, "email": f"{username}@example.org", "name": "x", "reset_password": True}
    assert api.post("/users", make.root, **sent).status_code == 201

    assert _choose(browser, _link(instance, sent["email"])).status_code == 302  # type: ignore[arg-type]
    assert browser.sign_in(username, NEW).status_code == 302


@pytest.fixture
def confirmation_required(api: Api, make: Make) -> Iterator[None]:
    """Require confirmation of email addresses."""
    api.put("/application/settings", make.root, send_user_confirmation_email=True)
    yield
    api.put("/application/settings", make.root, send_user_confirmation_email=False)


@pytest.mark.usefixtures("confirmation_required")
def test_an_address_is_confirmed_by_a_form_and_not_by_get(
    instance: Instance, api: Api, make: Make, browser: Browser
) -> None:
    """Programs that open every link in a mail must not confirm anything; the link works once."""
    person = make.user(password=PASSWORD, confirm=False)
    mail = (
        [mail for mail in instance.mails() if f"To: {person.email}" in mail][-1].replace("=\n", "").replace("=3D", "=")
    )
    found = re.search(r"(/users/confirmation\?confirmation_token=[\w-]+)", mail)
    assert found
    for _ in range(2):
        assert browser.get(found[1]).status_code == 200
        assert browser.sign_in(person.username, PASSWORD).status_code == 401

    assert browser.submit(found[1], "/users/confirmation").status_code == 302

    assert browser.get(found[1]).status_code == 404
    assert browser.sign_in(person.username, PASSWORD).status_code == 302
