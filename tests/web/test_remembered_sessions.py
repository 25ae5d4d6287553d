"""Sessions that outlast the browser."""

import httpx
from sqlalchemy import select

from ingot.accounts.sessions.tables import sessions
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

TRIES = 100_000
REMEMBER = {"user[remember_me]": "1"}


def test_remembered_sessions_last_for_two_weeks(
    browser: Browser, person: User, api: Api, make: Make, instance: Instance
) -> None:
    with changed_settings(make, session_expire_delay=60):
        short = browser.sign_in(person.username, PASSWORD)
        assert "Max-Age" not in _session_cookie(short)
        with later(instance, days=13):
            assert not browser.is_signed_in()
        browser.cookies.clear()
        assert "Max-Age=1209600" in _session_cookie(browser.sign_in(person.username, PASSWORD, **REMEMBER))
        with later(instance, days=13):
            assert browser.is_signed_in()
        with later(instance, days=15):
            assert not browser.is_signed_in()


def test_an_instance_can_disable_it(browser: Browser, person: User, api: Api, make: Make) -> None:
    assert "Remember me" in browser.get("/users/sign_in").text
    with changed_settings(make, remember_me_enabled=False):
        assert "Remember me" not in browser.get("/users/sign_in").text
        assert "Max-Age" not in _session_cookie(browser.sign_in(person.username, PASSWORD, **REMEMBER))


def _session_cookie(answer: httpx.Response) -> str:
    headers = answer.headers.get_list("set-cookie")
    return next(header for header in headers if header.startswith("_service_session="))


def test_sessions_that_are_used_last_longer(browser: Browser, person: User, make: Make, instance: Instance) -> None:
    with changed_settings(make, session_expire_delay=60, session_expire_from_init=False):
        browser.sign_in(person.username, PASSWORD)
        for minutes in (45, 90):
            with later(instance, minutes=minutes):
                before = _end_of_session(instance, person)
                assert browser.is_signed_in(), minutes
                # The session is extended in the background.
                assert any(_end_of_session(instance, person) > before for _ in range(TRIES))
        with later(instance, minutes=151):
            assert not browser.is_signed_in()


def _end_of_session(instance: Instance, person: User) -> str:
    """Return when the only session of a user expires."""
    ends = select(sessions.c.expires_at).where(sessions.c.user_id == person.id)
    return str(instance.app.database.read(lambda db: db.value(ends)))
