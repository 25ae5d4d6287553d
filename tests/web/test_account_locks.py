"""Accounts that are locked after too many failed sign-ins."""

from collections.abc import Callable, Iterator

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.instance_settings import PATH
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.mailed_links import mailed_link


@pytest.fixture(autouse=True)
def _lock_after_three(api: Api, make: Make) -> Iterator[None]:
    """Lock accounts after three failed sign-ins, for half an hour."""
    with changed_settings(make, max_login_attempts=3, failed_login_attempts_unlock_period_in_minutes=30):
        yield


def _guess(browser: Browser, person: User, times: int) -> None:
    for _ in range(times):
        assert browser.sign_in(person.username, "a wrong guess").status_code == 401


def _is_locked(api: Api, make: Make, person: User) -> bool:
    locked: bool = api.get(f"/users/{person.id}", make.root).json()["locked"]
    return locked


def test_a_locked_account_refuses_its_password_and_keeps_its_sessions(
    browser: Browser, open_browser: Callable[[], Browser], person: User, api: Api, make: Make
) -> None:
    owner = open_browser().signed_in_as(person)
    _guess(browser, person, 2)
    assert not _is_locked(api, make, person)
    assert browser.sign_in(person.username, PASSWORD).status_code == 302, "A successful sign-in resets the count."
    visitor = open_browser()
    _guess(visitor, person, 3)

    assert _is_locked(api, make, person)
    refused = visitor.sign_in(person.username, PASSWORD)
    assert refused.status_code == 401
    assert "Invalid login or password." in refused.text, "Strangers do not learn of the lock."
    assert api.post("/session", login=person.username, password=PASSWORD).status_code == 401
    assert owner.is_signed_in()
    assert api.get("/user", person).status_code == 200


def test_an_administrator_unlocks(browser: Browser, person: User, api: Api, make: Make) -> None:
    _guess(browser, person, 3)

    assert api.post(f"/users/{person.id}/unlock", person).status_code == 403
    assert api.post(f"/users/{person.id}/unlock", make.root).json() is True
    assert api.post(f"/users/{person.id}/unlock", make.root).json() is False
    assert browser.sign_in(person.username, PASSWORD).status_code == 302


def test_the_mailed_link_unlocks_once(browser: Browser, person: User, instance: Instance) -> None:
    _guess(browser, person, 3)
    link = mailed_link(instance, person.email, "/users/unlock?unlock_token")

    assert browser.get(link).status_code == 200
    assert browser.sign_in(person.username, PASSWORD).status_code == 401, "Opening the page is not enough."
    assert browser.submit(link, "/users/unlock").status_code == 302
    assert browser.get(link).status_code == 404
    assert browser.sign_in(person.username, PASSWORD).status_code == 302


def test_a_lock_ends_with_time_a_new_password_or_the_limit(
    browser: Browser, person: User, instance: Instance, api: Api, make: Make
) -> None:
    _guess(browser, person, 3)
    with later(instance, minutes=29):
        assert browser.sign_in(person.username, PASSWORD).status_code == 401
    with later(instance, minutes=31):
        assert browser.sign_in(person.username, PASSWORD).status_code == 302
    browser.cookies.clear()
    _guess(browser, person, 3)
    with changed_settings(make, max_login_attempts=None):
        assert not _is_locked(api, make, person)
    assert _is_locked(api, make, person)
    assert api.put(f"/users/{person.id}", make.root, password="a new password").status_code == 200
    assert not _is_locked(api, make, person)


def test_administration_pages(open_browser: Callable[[], Browser], person: User, make: Make) -> None:
    _guess(open_browser(), person, 3)
    admin = open_browser().signed_in_as(make.user(password=PASSWORD, admin=True))
    path = f"/admin/users/{person.id}"

    assert admin.submit(path, f"{path}/unlock").status_code == 302
    assert "Unlock" not in admin.get(path).text


def test_invalid_limits(api: Api, make: Make) -> None:
    for name in ("max_login_attempts", "failed_login_attempts_unlock_period_in_minutes"):
        for value in (0, -1, "many"):
            assert api.put(PATH, make.root, **{name: value}).status_code == 400, (name, value)
