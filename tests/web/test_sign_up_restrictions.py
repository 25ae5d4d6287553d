"""Sign-up that is restricted by address or needs the approval of an administrator."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD, Instance
from tests.factories import changed_settings
from tests.instance_settings import PATH
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

APPROVAL = {"signup_enabled": True, "require_admin_approval_after_user_signup": True}


def _sign_up(browser: Browser, username: str, address: str = "") -> Any:
    named = {"name": username, "username": username, "email": address or f"{username}@example.org"}
    fields = {f"user[{name}]": value for name, value in {**named, "password": PASSWORD}.items()}
    return browser.submit("/users/sign_up", "/users", fields=fields)


@pytest.fixture
def newcomer(browser: Browser, api: Api, make: Make) -> Iterator[User]:
    """Yield a user who signed up and waits for approval, while the setting is on."""
    name = make.name("newcomer")
    with changed_settings(make, **APPROVAL):
        page = _sign_up(browser, name)
        assert (page.status_code, "Waiting for approval" in page.text) == (200, True)
        (user,) = api.get("/users", make.root, username=name).json()
        yield User(user["id"], name, user["email"], "", PASSWORD)


def test_addresses_that_may_not_sign_up(open_browser: Callable[[], Browser], api: Api, make: Make) -> None:
    wanted = {"email_restrictions": r"\+.*@|@bad\.example$", "email_restrictions_enabled": True}
    with changed_settings(make, signup_enabled=True, **wanted):
        for address in ("a+b@example.org", "a@bad.example", "a@Bad.Example"):
            refused = _sign_up(open_browser(), make.name(), address)
            assert (refused.status_code, "Email is not allowed." in refused.text) == (422, True)
        assert _sign_up(open_browser(), make.name()).status_code == 302
        with changed_settings(make, email_restrictions_enabled=False):
            assert _sign_up(open_browser(), make.name(), "a+b@example.org").status_code == 302


def test_invalid_restrictions(api: Api, make: Make) -> None:
    refused = api.put(PATH, make.root, email_restrictions="(")
    assert refused.json() == {"message": {"email_restrictions": ["is not a valid regular expression"]}}
    assert api.put(PATH, make.root, email_restrictions_enabled=True).status_code == 400
    assert api.get(PATH, make.root).json()["email_restrictions_enabled"] is False


def test_approval(browser: Browser, newcomer: User, api: Api, make: Make, instance: Instance) -> None:
    mails = [mail for mail in instance.mails() if f"{newcomer.username} asks for an account" in mail]
    assert mails and all("/admin/users/" in mail for mail in mails)
    shown = api.get(f"/users/{newcomer.id}", make.root).json()
    assert shown["state"] == "blocked_pending_approval"
    assert not browser.is_signed_in()
    waiting = browser.sign_in(newcomer.username, PASSWORD)
    assert (waiting.status_code, "An administrator must approve your account" in waiting.text) == (401, True)
    assert "must approve" not in browser.sign_in(newcomer.username, f"{PASSWORD}-").text

    assert api.post(f"/users/{newcomer.id}/approve", make.user()).status_code == 403
    approved = api.post(f"/users/{newcomer.id}/approve", make.root)
    assert (approved.status_code, approved.json()) == (201, {"message": "Success"})
    assert api.post(f"/users/{newcomer.id}/approve", make.root).status_code == 409
    assert any("Your account is approved" in mail and newcomer.email in mail for mail in instance.mails())
    assert browser.sign_in(newcomer.username, PASSWORD).status_code == 302


def test_rejection(newcomer: User, api: Api, make: Make, instance: Instance) -> None:
    other = make.user()
    assert api.post(f"/users/{other.id}/reject", make.root).status_code == 409
    assert api.post(f"/users/{newcomer.id}/reject", other).status_code == 403
    rejected = api.post(f"/users/{newcomer.id}/reject", make.root)
    assert (rejected.status_code, rejected.json()) == (200, {"message": "Success"})
    assert api.get(f"/users/{newcomer.id}", make.root).status_code == 404
    assert any("Your account is not approved" in mail and newcomer.email in mail for mail in instance.mails())


def test_blocked_users_cannot_be_approved(api: Api, make: Make) -> None:
    person = make.user()
    api.post(f"/users/{person.id}/block", make.root)
    assert api.post(f"/users/{person.id}/approve", make.root).status_code == 403


def test_administration_pages(open_browser: Callable[[], Browser], newcomer: User, make: Make) -> None:
    admin = open_browser()
    assert admin.sign_in("root", ROOT_PASSWORD).status_code == 302
    pending = admin.get("/admin/users", params={"filter": "blocked_pending_approval"}).text
    assert newcomer.username in pending and "Pending approval" in pending
    path = f"/admin/users/{newcomer.id}"
    assert admin.submit(path, f"{path}/approve").status_code == 302
    assert newcomer.username not in admin.get("/admin/users?filter=blocked_pending_approval").text

    name = make.name()
    _sign_up(open_browser(), name)
    rejected = admin.get("/admin/users?filter=blocked_pending_approval").text.partition(f"@{name}")[0]
    path = rejected.rpartition('href="')[2].partition('"')[0]
    assert admin.submit(path, f"{path}/reject").status_code == 302
    assert admin.get(path).status_code == 404
