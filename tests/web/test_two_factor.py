"""Two-factor authentication: activation, sign-in, and insufficient passwords."""

import re
import time
from collections.abc import Callable
from types import SimpleNamespace

import httpx
import pytest

from ingot.accounts.two_factor.totp import STEP_SECONDS, totp_code
from ingot.accounts.users.tables import users
from ingot.core.db.times import to_datetime
from tests.client import Api, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.oauth_client import by_password, shown
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD

HERE = "/profile/two_factor_auth"


def _code(secret: str, steps: int = 0) -> str:
    return totp_code(secret, int(time.time() // STEP_SECONDS) + steps)


def enable_two_factor(browser: Browser, steps: int = 0) -> tuple[str, list[str]]:
    """Enable it and return secret and recovery codes; a code counts once, so the first one is of the previous step."""
    secret = shown(browser.get(HERE), "two_factor_secret")
    fields = {"pin_code": _code(secret, steps), "current_password": PASSWORD}
    page = browser.submit(HERE, HERE, fields=fields)
    assert page.status_code == 200, page.text
    return secret, re.findall(r"<li>([0-9a-f]{16})</li>", page.text)


def _submit_code(browser: Browser, person: User, code: str, **changes: str) -> httpx.Response:
    asked = browser.sign_in(person.username, PASSWORD)
    assert asked.status_code == 200
    assert "Two-factor authentication" in asked.text
    (form,) = [form for form in forms_of(asked) if form.action == "/users/sign_in"]
    return browser.post(form.action, data={**form.fields, "user[otp_attempt]": code, **changes})


@pytest.fixture(autouse=True)
def frozen_time(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Freeze the time of test and server, so that no test crosses the end of a step."""
    now = instance.app.database.clock()
    monkeypatch.setattr(instance.app.database, "clock", lambda: now)
    monkeypatch.setattr(f"{__name__}.time", SimpleNamespace(time=lambda: to_datetime(now).timestamp()))


@pytest.fixture
def two_factor_user(browser: Browser, person: User) -> tuple[str, list[str]]:
    """Return a user with two-factor authentication."""
    return enable_two_factor(browser.signed_in_as(person), -1)


def test_codes_match_rfc_6238() -> None:
    """The examples of the RFC, truncated to six digits."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    rows = [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]
    for seconds, code in rows:
        assert totp_code(secret, seconds // STEP_SECONDS) == code


def test_sign_in_requires_a_code(
    two_factor_user: tuple[str, list[str]], open_browser: Callable[[], Browser], person: User
) -> None:
    secret, _ = two_factor_user
    other = open_browser()
    wrong = _submit_code(other, person, "000000")
    assert (wrong.status_code, other.is_signed_in()) == (401, False)
    assert _submit_code(other, person, _code(secret)).status_code == 302
    assert other.is_signed_in()
    again = open_browser()
    assert _submit_code(again, person, _code(secret)).status_code == 401, "A code counts once."


def test_a_recovery_code_works_once(
    two_factor_user: tuple[str, list[str]], open_browser: Callable[[], Browser], person: User
) -> None:
    _, codes = two_factor_user
    assert len(set(codes)) == 10
    assert _submit_code(open_browser(), person, f" {codes[0].upper()} ").status_code == 302
    assert _submit_code(open_browser(), person, codes[0]).status_code == 401
    assert _submit_code(open_browser(), person, codes[1]).status_code == 302


def test_the_first_step_is_bound_to_the_browser_and_expires(
    two_factor_user: tuple[str, list[str]], open_browser: Callable[[], Browser], person: User
) -> None:
    _, codes = two_factor_user
    asked = open_browser().sign_in(person.username, PASSWORD)
    (form,) = [form for form in forms_of(asked) if form.action == "/users/sign_in"]
    waiting = form.fields["user[pending_sign_in]"]
    thief = open_browser()
    own = thief.form("/users/sign_in", "/users/sign_in").fields
    for kept in (waiting, waiting[:-1] + "0", "x.y", "é", "." * 3):
        sent = {**own, "user[pending_sign_in]": kept, "user[otp_attempt]": codes[0]}
        assert thief.post("/users/sign_in", data=sent).status_code == 401
    assert not thief.is_signed_in()


def test_attempts_are_limited(
    two_factor_user: tuple[str, list[str]], open_browser: Callable[[], Browser], person: User
) -> None:
    _, codes = two_factor_user
    other = open_browser()
    asked = other.sign_in(person.username, PASSWORD)
    (form,) = [form for form in forms_of(asked) if form.action == "/users/sign_in"]

    def guess(code: str) -> int:
        return other.post(form.action, data={**form.fields, "user[otp_attempt]": code}).status_code

    assert {guess(f"{number:06}") for number in range(10)} == {401}
    assert guess(codes[0]) == 429


def test_a_password_alone_is_rejected_everywhere(
    two_factor_user: tuple[str, list[str]], instance: Instance, api: Api, person: User, make: object
) -> None:
    refused = api.post("/session", login=person.username, password=PASSWORD)
    assert refused.status_code == 401
    assert "personal access token" in refused.json()["message"]
    wrong = api.post("/session", login=person.username, password="wrong password")
    assert "token" not in wrong.json()["message"], "The hint is shown only with the correct password."
    token = by_password(instance.url, person)
    assert (token.status_code, token.json()["error"]) == (401, "invalid_grant")
    project = make_project(make, person, visibility="private")  # type: ignore[arg-type]
    git = f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack"
    denied = httpx.get(git, auth=(person.username, PASSWORD))
    assert denied.status_code == 401
    assert "personal access token" in denied.text
    assert httpx.get(git, auth=(person.username, person.token)).status_code == 200
    assert api.get("/user", person).json()["two_factor_enabled"] is True


def test_users_without_a_password_disable_it_with_a_code(
    two_factor_user: tuple[str, list[str]], browser: Browser, person: User, instance: Instance
) -> None:
    """Attack: an open session alone must not disable it."""
    _, codes = two_factor_user
    instance.app.database.write(lambda db: db.update(users, person.id, password_hash=None))
    page = browser.get(HERE)
    assert "current_password" not in page.text
    fields = {"authenticity_token": browser.token()}
    for path, method in ((f"{HERE}/codes", "post"), (HERE, "delete")):
        for code in ("", "000000", PASSWORD):
            sent = {**fields, "_method": method, "otp_attempt": code, "current_password": PASSWORD}
            assert browser.post(path, data=sent).status_code == 422

    renewed = browser.post(f"{HERE}/codes", data={**fields, "otp_attempt": codes[0]})
    (first, *_) = re.findall(r"<li>([0-9a-f]{16})</li>", renewed.text)
    assert browser.post(HERE, data={**fields, "_method": "delete", "otp_attempt": codes[1]}).status_code == 422
    assert browser.post(HERE, data={**fields, "_method": "delete", "otp_attempt": first}).status_code == 302
    assert "<svg" in browser.get(HERE).text


def test_users_without_a_password_delete_their_account_with_a_code(
    two_factor_user: tuple[str, list[str]], browser: Browser, person: User, instance: Instance
) -> None:
    """Attack: an open session and the public username must not be enough."""
    _, codes = two_factor_user
    instance.app.database.write(lambda db: db.update(users, person.id, password_hash=None))
    assert 'name="otp_attempt"' in browser.get("/profile/account").text
    fields = {"authenticity_token": browser.token(), "_method": "delete", "username": person.username}
    for wrong in ({}, {"otp_attempt": "000000"}, {"otp_attempt": codes[0], "username": "other"}):
        refused = browser.post("/users", data={**fields, **wrong})
        assert refused.status_code == 422
        assert ("Enter your username" if "username" in wrong else "The code is incorrect.") in refused.text

    gone = browser.post("/users", data={**fields, "otp_attempt": codes[0]})

    assert gone.headers["location"] == "/users/sign_in", "The code was not used up by a wrong name."
    assert not browser.is_signed_in()


def test_enable_and_disable(browser: Browser, person: User, open_browser: Callable[[], Browser]) -> None:
    browser.signed_in_as(person)
    elsewhere = open_browser().signed_in_as(person)
    page = browser.get(HERE)
    assert "<svg" in page.text
    assert "style=" not in page.text
    secret = shown(page, "two_factor_secret")
    assert shown(browser.get(HERE), "two_factor_secret") == secret, "The same until it is on."
    for fields in (
        {"pin_code": "000000", "current_password": PASSWORD},
        {"pin_code": _code(secret, -1), "current_password": "wrong"},
        {"pin_code": "", "current_password": PASSWORD},
        {"pin_code": "²²²²²²", "current_password": PASSWORD},
    ):
        assert browser.submit(HERE, HERE, fields=fields).status_code == 422
    assert open_browser().sign_in(person.username, PASSWORD).status_code == 302

    enable_two_factor(browser)
    assert secret not in browser.get(HERE).text
    assert not elsewhere.is_signed_in()
    token = browser.form("/profile/account", "/users/sign_out").fields
    assert browser.post(f"{HERE}/codes", data={**token, "current_password": "x"}).status_code == 422
    fresh = browser.post(f"{HERE}/codes", data={**token, "current_password": PASSWORD})
    assert len(re.findall(r"<li>([0-9a-f]{16})</li>", fresh.text)) == 10
    assert browser.post(HERE, data={**token, "_method": "delete", "current_password": "x"}).status_code == 422
    off = browser.post(HERE, data={**token, "_method": "delete", "current_password": PASSWORD})
    assert off.status_code == 302
    assert open_browser().sign_in(person.username, PASSWORD).status_code == 302
    assert shown(browser.get(HERE), "two_factor_secret") != secret
