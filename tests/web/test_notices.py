"""Notices that confirm a form on the next page."""

import re

import pytest

from ingot.web.cookies import NOTICE_COOKIE
from tests.api.issues.factories import make_issue
from tests.client import Make, User
from tests.factories import Project, make_project
from tests.web.browser import Browser

_NOTICE = re.compile(r'<p class="flash" role="status">([^<]*)</p>')


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project of the user."""
    return make_project(make, person)


def _notices(browser: Browser, path: str) -> list[str]:
    return _NOTICE.findall(browser.get(path).text)


def test_a_notice_is_shown_once(browser: Browser, person: User, project: Project) -> None:
    hooks = f"/{project.path}/-/hooks"
    browser.signed_in_as(person)
    fields = {"hook[url]": "https://ci.example.org/hook", "hook[push_events]": "1"}

    added = browser.submit(hooks, hooks, fields=fields)

    assert (added.status_code, added.headers["location"]) == (302, hooks)
    cookie = next(header for header in added.headers.get_list("set-cookie") if header.startswith(NOTICE_COOKIE))
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Max-Age=60" in cookie
    assert "added" not in cookie, "The text is not in the URL or readable without decoding."
    fragment = browser.get("/-/people?member[username]=no", headers={"HX-Request": "true"})
    assert NOTICE_COOKIE not in fragment.headers.get("set-cookie", ""), "Requests of scripts keep the notice."
    assert _notices(browser, hooks) == ["Webhook added."]
    assert _notices(browser, hooks) == []


def test_a_rejected_form_has_no_notice(browser: Browser, person: User, project: Project) -> None:
    hooks = f"/{project.path}/-/hooks"
    browser.signed_in_as(person)

    rejected = browser.submit(hooks, hooks, fields={"hook[url]": "no address"})
    expired = browser.post(hooks, data={"authenticity_token": "wrong", "hook[url]": "https://ci.example.org/"})

    assert (rejected.status_code, expired.status_code) == (422, 422)
    assert NOTICE_COOKIE not in browser.cookies
    assert _notices(browser, hooks) == []


def test_the_notice_names_the_new_state(browser: Browser, make: Make, person: User, project: Project) -> None:
    issue = make_issue(make, project, person)
    page = f"/{project.path}/-/issues/{issue['iid']}"
    browser.signed_in_as(person)

    for event, notice in (("close", "Issue closed."), ("reopen", "Issue reopened.")):
        sent = browser.post(f"{page}/state", data={"authenticity_token": browser.token(), "state_event": event})
        assert sent.status_code == 302
        assert _notices(browser, page) == [notice]


def test_a_changed_cookie_is_ignored(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    for value in (b"eyJ0ZXh0IjoiSGVsbG8ifQ==.0123", b"x", b".", "é".encode()):
        page = browser.get("/explore", headers={b"Cookie": NOTICE_COOKIE.encode() + b"=" + value})
        assert page.status_code == 200
        assert _NOTICE.findall(page.text) == []
