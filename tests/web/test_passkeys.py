"""Passkeys over HTTP: registration, sign-in, second factor, and responses that must be refused."""

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from ingot.accounts.sessions.password_check import MAX_FAILURES
from ingot.accounts.users.tables import users
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.web.authenticator import PRESENT, Authenticator
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD

HERE = "/profile/two_factor_auth"
PASSKEY_FORM = "/users/auth/passkey"


@pytest.fixture
def local_url(instance: Instance) -> str:
    """Return the URL of the instance by name: browsers offer no passkeys to an address."""
    return instance.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def open_local(local_url: str) -> Iterator[Callable[[], Browser]]:
    """Yield a function that opens isolated browsers at the name of the server."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Browser(local_url))


@pytest.fixture
def authenticator(local_url: str) -> Authenticator:
    """Return an authenticator without a passkey."""
    return Authenticator(local_url, credential_id=secrets.token_bytes(16))


def _options(page: httpx.Response) -> dict[str, object]:
    (written,) = re.findall(r'data-options="([^"]*)"', page.text)
    options: dict[str, object] = json.loads(unescape(written))
    return options


def _respond(browser: Browser, page: httpx.Response, action: str, response: str, **more: str) -> httpx.Response:
    (form,) = [form for form in forms_of(page) if form.action == action]
    return browser.post(action, data={**form.fields, "passkey[response]": response, **more})


def _begin(browser: Browser, name: str = "Laptop", password: str = PASSWORD) -> httpx.Response:
    fields = {"passkey[name]": name, "current_password": password}
    return browser.submit(HERE, f"{HERE}/passkeys/new", fields=fields)


def add_passkey(browser: Browser, authenticator: Authenticator, name: str = "Laptop") -> httpx.Response:
    """Register a passkey for the signed-in user."""
    page = _begin(browser, name)
    assert page.status_code == 200, page.text
    return _respond(browser, page, f"{HERE}/passkeys", authenticator.create(_options(page)))


def _sign_in(browser: Browser, authenticator: Authenticator, **changes: object) -> httpx.Response:
    page = browser.get("/users/sign_in")
    return _respond(browser, page, PASSKEY_FORM, authenticator.get(_options(page), **changes))


def _second_step(browser: Browser, person: User, authenticator: Authenticator, **changes: object) -> httpx.Response:
    page = browser.sign_in(person.username, PASSWORD)
    return _respond(browser, page, PASSKEY_FORM, authenticator.get(_options(page), **changes))


@pytest.fixture
def registered(open_local: Callable[[], Browser], person: User, authenticator: Authenticator) -> list[str]:
    """Add a passkey and return the recovery codes."""
    page = add_passkey(open_local().signed_in_as(person), authenticator)
    return re.findall(r"<li>([0-9a-f]{16})</li>", page.text)


def test_sign_in_without_a_password(
    registered: list[str], open_local: Callable[[], Browser], person: User, authenticator: Authenticator
) -> None:
    browser = open_local()

    answer = _sign_in(browser, authenticator)

    assert (answer.status_code, browser.is_signed_in()) == (302, True)
    assert "Last used" in browser.get(HERE).text
    assert "passkey" in browser.get("/profile/audit_log").text


def test_second_factor_after_the_password(
    registered: list[str], open_local: Callable[[], Browser], person: User, authenticator: Authenticator, api: Api
) -> None:
    """A passkey enables two-factor authentication: the password no longer suffices, recovery codes work."""
    assert len(registered) == 10
    assert api.get("/user", person).json()["two_factor_enabled"] is True
    assert api.post("/session", login=person.username, password=PASSWORD).status_code == 401
    browser = open_local()
    assert _second_step(browser, person, authenticator, flags=PRESENT).status_code == 302
    assert browser.is_signed_in()
    other = open_local()
    asked = other.sign_in(person.username, PASSWORD)
    (form,) = [form for form in forms_of(asked) if form.action == "/users/sign_in"]
    assert other.post(form.action, data={**form.fields, "user[otp_attempt]": registered[0]}).status_code == 302


def test_false_responses_are_refused(
    registered: list[str], open_local: Callable[[], Browser], authenticator: Authenticator, local_url: str
) -> None:
    browser = open_local()
    for changes in (
        {"origin": "https://evil.example"},
        {"origin": local_url.replace("localhost", "sub.localhost")},
        {"origin": local_url.rpartition(":")[0]},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"type": "webauthn.create"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"flags": 0},
        {"user_handle": b"another user"},
        {"key": ec.generate_private_key(ec.SECP256R1())},
    ):
        assert _sign_in(browser, authenticator, **changes).status_code == 401, changes
    assert not browser.is_signed_in()


def test_malformed_responses_are_refused(registered: list[str], open_local: Callable[[], Browser]) -> None:
    browser = open_local()
    page = browser.get("/users/sign_in")
    nested = {"id": "AA", "rawId": "AA", "type": "public-key", "response": {"attestationObject": "gYGB" * 9000}}
    for response in ("", "x", "[]", "{}", "null", "[" * 5000, json.dumps(nested), '{"rawId": 1}', "9" * 40_000):
        assert _respond(browser, page, PASSKEY_FORM, response).status_code == 401, response[:40]


def test_a_response_works_once(
    registered: list[str], open_local: Callable[[], Browser], authenticator: Authenticator
) -> None:
    """Attack: a recorded response is sent again, in the browser that it came from and in another one."""
    browser, thief = open_local(), open_local()
    page = browser.get("/users/sign_in")
    response = authenticator.get(_options(page))
    own = thief.get("/users/sign_in")
    (form,) = [form for form in forms_of(page) if form.action == PASSKEY_FORM]
    stolen = {"passkey[challenge]": form.fields["passkey[challenge]"]}
    assert _respond(thief, own, PASSKEY_FORM, response, **stolen).status_code == 401
    visitor = browser.cookies.get("_service_visitor")
    assert _respond(browser, page, PASSKEY_FORM, response).status_code == 302
    browser.cookies.clear()
    browser.cookies.set("_service_visitor", visitor or "")
    assert _respond(browser, page, PASSKEY_FORM, response).status_code == 401


def test_a_copied_authenticator_is_refused(
    registered: list[str], open_local: Callable[[], Browser], authenticator: Authenticator
) -> None:
    for count, status in ((5, 302), (5, 401), (4, 401), (0, 401), (6, 302)):
        authenticator.sign_count = count
        assert _sign_in(open_local(), authenticator).status_code == status, count


def _update(instance: Instance, person: User, **values: object) -> None:
    instance.app.database.write(lambda db: db.update(users, person.id, **values))


def test_blocked_users_and_expired_passwords(
    registered: list[str],
    open_local: Callable[[], Browser],
    person: User,
    authenticator: Authenticator,
    instance: Instance,
) -> None:
    refusals: list[dict[str, object]] = [{"state": "blocked"}, {"confirmed_at": None}, {"placeholder": True}]
    for refused in refusals:
        _update(instance, person, **refused)
        assert _sign_in(open_local(), authenticator).status_code == 401, refused
        _update(instance, person, state="active", confirmed_at=instance.app.database.clock(), placeholder=False)
    _update(instance, person, password_expired=True)
    browser = open_local()
    assert _sign_in(browser, authenticator).status_code == 302
    assert browser.get("/explore").headers["location"] == "/profile/password/new"


def test_another_users_passkey_is_no_second_factor(
    registered: list[str], open_local: Callable[[], Browser], make: Make, authenticator: Authenticator, local_url: str
) -> None:
    other = make.user(password=PASSWORD)
    own = Authenticator(local_url, credential_id=secrets.token_bytes(16))
    add_passkey(open_local().signed_in_as(other), own)
    browser = open_local()
    statuses = {_second_step(browser, other, authenticator).status_code for _ in range(MAX_FAILURES)}
    assert (statuses, browser.is_signed_in()) == ({401}, False)
    assert _second_step(browser, other, own).status_code == 429, "Failed attempts are limited."


def test_adding_requires_the_password(
    open_local: Callable[[], Browser], person: User, authenticator: Authenticator, make: Make
) -> None:
    browser = open_local().signed_in_as(person)
    assert _begin(browser, password="wrong").status_code == 422
    assert _begin(browser, name=" ").status_code == 422
    assert _begin(browser, name="x" * 256).status_code == 422
    page = _begin(browser)
    for changes in ({"rp_id": "evil.example"}, {"origin": "https://evil.example"}, {"challenge": "AAAA"}):
        refused = _respond(browser, page, f"{HERE}/passkeys", authenticator.create(_options(page), **changes))
        assert refused.status_code == 422, changes
    other = open_local().signed_in_as(make.user(password=PASSWORD))
    foreign = _begin(other)
    (form,) = [form for form in forms_of(page) if form.action == f"{HERE}/passkeys"]
    stolen = {"passkey[challenge]": form.fields["passkey[challenge]"]}
    created = authenticator.create(_options(page))
    assert _respond(other, foreign, f"{HERE}/passkeys", created, **stolen).status_code == 422
    assert _respond(browser, page, f"{HERE}/passkeys", created).status_code == 200
    assert _respond(browser, page, f"{HERE}/passkeys", created).status_code == 422, "A challenge counts once."
    assert "already been added" in add_passkey(other, authenticator).text


def test_removing_requires_the_password_and_ends_two_factor(
    registered: list[str], open_local: Callable[[], Browser], person: User, authenticator: Authenticator, local_url: str
) -> None:
    browser = open_local()
    _sign_in(browser, authenticator)
    second = Authenticator(local_url, credential_id=secrets.token_bytes(16))
    assert add_passkey(browser, second, "Key").status_code == 302, "Recovery codes are shown only for the first."
    paths = re.findall(rf'action="({HERE}/passkeys/\d+)"', browser.get(HERE).text)
    token = {"authenticity_token": browser.token(), "_method": "delete"}
    assert browser.post(paths[0], data={**token, "current_password": "wrong"}).status_code == 422
    stranger = open_local()
    assert stranger.post(paths[0], data={**token, "current_password": PASSWORD}).status_code in (302, 401, 422)
    assert browser.post(paths[0], data={**token, "current_password": PASSWORD}).status_code == 302
    assert browser.post(paths[0], data={**token, "current_password": PASSWORD}).status_code == 404
    assert _sign_in(open_local(), authenticator).status_code == 401
    assert _sign_in(open_local(), second).status_code == 302
    assert browser.post(paths[1], data={**token, "current_password": PASSWORD}).status_code == 302
    assert open_local().sign_in(person.username, PASSWORD).status_code == 302


def test_a_passkey_fulfils_the_required_second_factor(
    open_local: Callable[[], Browser], person: User, authenticator: Authenticator, api: Api, make: Make
) -> None:
    required = {"require_two_factor_authentication": True, "two_factor_grace_period": 0}
    api.put("/application/settings", make.root, **required)
    try:
        browser = open_local().signed_in_as(person)
        assert browser.get("/profile/account").headers["location"] == HERE
        assert add_passkey(browser, authenticator).status_code == 200
        assert browser.is_signed_in()
    finally:
        api.put("/application/settings", make.root, require_two_factor_authentication=False, two_factor_grace_period=48)


def test_no_passkeys_at_an_address(browser: Browser, person: User) -> None:
    assert "data-options" not in browser.get("/users/sign_in").text
    browser.signed_in_as(person)
    assert "passkeys/new" not in browser.get(HERE).text
    sent = {"authenticity_token": browser.token(), "passkey[name]": "x", "current_password": PASSWORD}
    assert browser.post(f"{HERE}/passkeys/new", data=sent).status_code == 404
