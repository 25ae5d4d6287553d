"""OpenID Connect prompts: none, login, max_age, and requests from other sites."""

from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from ingot.accounts.users.tables import users
from ingot.core.db.times import Timestamp
from tests.client import User
from tests.conftest import Instance
from tests.oauth_client import RegisteredApplication, authorize, callback_parameters, register
from tests.web.browser import Browser, forms_of


@pytest.fixture
def app(browser: Browser, person: User) -> RegisteredApplication:
    """Return an application of a signed-in user."""
    return register(browser.signed_in_as(person))


@pytest.mark.parametrize("scope", ["openid", "api"])
@pytest.mark.parametrize("kind", ["code", "token"])
def test_prompt_none_redirects_to_the_application(
    browser: Browser, open_browser: Callable[[], Browser], app: RegisteredApplication, scope: str, kind: str
) -> None:
    """With an error and the state, if any; in the fragment of the URL for the implicit flow."""
    asked = {"scope": scope, "prompt": "none", "response_type": kind}
    for visitor, error in ((open_browser(), "login_required"), (browser, "consent_required")):
        led = visitor.get(app.address(**asked))
        heard = callback_parameters(led)
        assert (heard["error"], heard["state"]) == (error, "x y&z")
        assert ("error=" in urlsplit(led.headers["location"]).fragment) == (kind == "token")
        assert "state" not in callback_parameters(visitor.get(app.address(**asked, state=None)))


@pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "0"}, {"prompt": "login consent", "max_age": "9"}])
def test_prompt_login(browser: Browser, app: RegisteredApplication, person: User, asked: dict[str, str]) -> None:
    code = app.code(browser, scope="openid")
    assert app.exchange(code).status_code == 200, "It need not be asked for again."
    before = browser.cookies["_service_session"]

    led = browser.get(app.address(scope="openid", **asked))
    assert led.headers["location"].startswith("/users/sign_in?again=true&redirect_to=%2Foauth%2Fauthorize")
    (form,) = [form for form in forms_of(browser.get(led.headers["location"])) if form.action == "/users/sign_in"]
    named = {"user[login]": person.username, "user[password]": person.password}
    back = browser.post(form.action, data={**form.fields, **named}).headers["location"]

    assert "code" in callback_parameters(authorize(browser, back))
    assert browser.cookies["_service_session"] != before
    old = httpx.get(f"{app.url}/profile/account", cookies={"_service_session": before})
    assert old.status_code == 302, "The session before has ended."


def test_max_age(browser: Browser, app: RegisteredApplication) -> None:
    for age in ("3600", "99999999999999999999", "-1", "x"):
        assert browser.get(app.address(scope="openid", max_age=age)).status_code == 200


def test_auth_time_is_that_of_this_session(
    browser: Browser, app: RegisteredApplication, person: User, instance: Instance
) -> None:
    """A later sign-in in another browser does not change it."""
    keys = KeySet.import_key_set(httpx.get(f"{app.url}/oauth/discovery/keys").json())

    def auth_time() -> int:
        token = app.exchange(app.code(browser, scope="openid")).json()["id_token"]
        return int(jwt.decode(token, keys, ["RS256"]).claims["auth_time"])

    first = auth_time()
    later_on = Timestamp("2030-01-01T00:00:00.000Z")
    instance.app.database.write(lambda db: db.update(users, person.id, current_sign_in_at=later_on))

    assert auth_time() == first


def test_token_requests_from_other_sites(app: RegisteredApplication, browser: Browser) -> None:
    """Public clients use PKCE; cookies are ignored."""
    origin = {"Origin": "https://spa.example"}
    for path in ("/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/.well-known/openid-configuration"):
        asked = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        before = httpx.options(f"{app.url}{path}", headers=asked)
        assert before.status_code == 204
        assert before.headers["access-control-allow-origin"] == "*"
        assert "Authorization" in before.headers["access-control-allow-headers"]
        assert "access-control-allow-credentials" not in before.headers
    got = httpx.post(f"{app.url}/oauth/token", data={"grant_type": "authorization_code"}, headers=origin)
    assert got.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in browser.get("/oauth/authorize", headers=origin).headers
    assert httpx.options(f"{app.url}/profile/account", headers=origin).status_code == 405


def test_errors_are_readable_by_other_sites(app: RegisteredApplication) -> None:
    address = f"{app.url}/oauth/token"
    unread = httpx.post(address, content=b"{", headers={"Content-Type": "application/json"})
    unknown = app.token(grant_type="refresh_token", refresh_token="x", client_id="nobody")
    by_header = httpx.post(address, data={"grant_type": "password", "username": "x"}, auth=("nobody", "x"))

    assert (unread.status_code, unread.json()["error"]) == (400, "invalid_request")
    assert httpx.get(address).json()["error"] == "invalid_request"
    for refused in (unknown, by_header):
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
        assert refused.headers["www-authenticate"].startswith("Basic")
