"""OAuth 2: an application gets a token from a user, and acts for them."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings
from tests.oauth_client import (
    CALLBACK,
    authorize,
    by_password,
    callback_parameters,
    challenge_of,
    register,
    shown,
    with_bearer,
)
from tests.oauth_client import (
    RegisteredApplication as App,
)
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD

VERIFIER = "v" * 43 + "-._~"


@pytest.fixture
def signed_in(browser: Browser, person: User) -> Browser:
    """Return a browser of a user."""
    return browser.signed_in_as(person)


@pytest.fixture
def app(signed_in: Browser) -> App:
    """Return an application registered by this user."""
    return register(signed_in)


def test_an_application_acts_for_a_user(signed_in: Browser, app: App, person: User) -> None:
    page = signed_in.get(app.address())
    assert "An app" in page.text
    named = [form.fields for form in forms_of(page) if form.action == "/oauth/authorize"]
    assert len(named) == 2
    for fields in named:
        assert {"client_id", "redirect_uri", "state", "response_type", "scope"} <= set(fields)
    assert "form-action 'self' http://app.example;" in page.headers["content-security-policy"]

    led = authorize(signed_in, app.address())
    heard = callback_parameters(led)
    assert led.headers["location"].startswith(f"{CALLBACK}&code=")
    assert heard["state"] == "x y&z"

    answer = app.exchange(heard["code"])
    token = answer.json()
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert token["token_type"].lower() == "bearer"
    assert (token["scope"], token["expires_in"]) == ("api", 7200)
    assert with_bearer(app.url, token["access_token"]).json()["username"] == person.username
    assert httpx.get(f"{app.url}/api/v4/user", params={"access_token": token["access_token"]}).status_code == 200


def test_authorization_continues_after_sign_in(open_browser: Callable[[], Browser], app: App, person: User) -> None:
    browser = open_browser()
    led = browser.get(app.address())
    assert led.status_code == 302
    assert led.headers["location"].startswith("/users/sign_in?redirect_to=%2Foauth%2Fauthorize")
    page = browser.get(led.headers["location"])
    (form,) = [form for form in forms_of(page) if form.action == "/users/sign_in"]
    assert "form-action 'self' http://app.example;" in page.headers["content-security-policy"]
    signed = browser.post(form.action, data={**form.fields, "user[login]": person.username, "user[password]": PASSWORD})
    assert signed.headers["location"] == app.address()
    assert browser.get(signed.headers["location"]).status_code == 200


def test_a_denial_is_reported_to_the_application(signed_in: Browser, app: App) -> None:
    heard = callback_parameters(authorize(signed_in, app.address(), refuse=True))
    assert (heard["error"], heard["state"]) == ("access_denied", "x y&z")
    heard = callback_parameters(authorize(signed_in, app.address(response_type="token"), refuse=True))
    assert heard["error"] == "access_denied"


def test_consent_is_asked_again_only_for_more_scopes(signed_in: Browser, app: App) -> None:
    token = app.exchange(app.code(signed_in, scope="read_user")).json()

    assert signed_in.get(app.address(scope="read_user")).status_code == 302
    assert signed_in.get(app.address(scope="api")).status_code == 200, "More is asked for."
    assert "read_user" in signed_in.get("/profile/applications").text

    revoke = [form for form in forms_of(signed_in.get("/profile/applications")) if "authorized" in form.action]
    assert signed_in.post(revoke[0].action, data=revoke[0].fields).status_code == 302
    assert with_bearer(app.url, token["access_token"]).status_code == 401
    assert app.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"
    assert signed_in.get(app.address(scope="read_user")).status_code == 200


def test_implicit_flow(signed_in: Browser, app: App, person: User) -> None:
    led = authorize(signed_in, app.address(response_type="token", scope="read_user"))
    heard = callback_parameters(led)
    assert "#" in led.headers["location"]
    assert heard["state"] == "x y&z"
    assert "refresh_token" not in heard
    assert with_bearer(app.url, heard["access_token"]).json()["id"] == person.id


def test_out_of_band_redirect_shows_the_code(signed_in: Browser) -> None:
    app = register(signed_in, redirect_uri="urn:ietf:wg:oauth:2.0:oob")
    page = authorize(signed_in, app.address())
    assert page.status_code == 200
    assert app.exchange(shown(page, "authorization_code")).status_code == 200


def test_refreshing_revokes_the_old_token(signed_in: Browser, app: App) -> None:
    first = app.exchange(app.code(signed_in)).json()
    second = app.refresh(first["refresh_token"])
    assert second.status_code == 200
    assert with_bearer(app.url, first["access_token"]).status_code == 401
    assert with_bearer(app.url, second.json()["access_token"]).status_code == 200

    again = app.refresh(first["refresh_token"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert with_bearer(app.url, second.json()["access_token"]).status_code == 401, "Somebody has a copy."
    assert app.refresh(second.json()["refresh_token"]).json()["error"] == "invalid_grant"


def test_refreshing_may_narrow_scopes_only(signed_in: Browser, app: App) -> None:
    token = app.exchange(app.code(signed_in, scope="api read_user")).json()
    assert app.refresh(token["refresh_token"], scope="api openid").json()["error"] == "invalid_scope"
    narrow = app.refresh(token["refresh_token"], scope="read_user").json()
    assert narrow["scope"] == "read_user"
    assert with_bearer(app.url, narrow["access_token"], "/api/v4/projects", "POST").status_code == 403


def test_password_grant_without_an_application(instance: Instance, person: User, app: App) -> None:
    answer = by_password(instance.url, person)
    token = answer.json()
    assert answer.status_code == 200
    assert with_bearer(instance.url, token["access_token"]).json()["id"] == person.id
    renewed = httpx.post(
        f"{instance.url}/oauth/token",
        json={"grant_type": "refresh_token", "refresh_token": token["refresh_token"]},
    )
    assert renewed.status_code == 200

    named = by_password(instance.url, person, client_id=app.uid, client_secret=app.secret, scope="read_user")
    assert named.json()["scope"] == "read_user"
    assert by_password(instance.url, person, client_id=app.uid, client_secret="x").json()["error"] == "invalid_client"
    assert by_password(instance.url, person, client_id=app.uid).json()["error"] == "invalid_client"
    assert by_password(instance.url, person, scope="nonsense").json()["error"] == "invalid_scope"
    stranger = User(0, person.username, "", "", "wrong password")
    wrong = by_password(instance.url, stranger)
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_grant")


def test_blocked_user_gets_no_token(signed_in: Browser, app: App, person: User, make: Make, api: Api) -> None:
    token, code = app.exchange(app.code(signed_in)).json(), app.code(signed_in)
    api.post(f"/users/{person.id}/block", make.root)
    assert by_password(app.url, person).status_code == 401
    assert app.exchange(code).status_code == 401
    assert app.refresh(token["refresh_token"]).status_code == 401
    assert with_bearer(app.url, token["access_token"]).status_code == 401
    assert with_bearer(app.url, token["access_token"], "/oauth/userinfo").status_code == 401
    introspected = httpx.post(
        f"{app.url}/oauth/introspect", data={"token": token["access_token"]}, auth=(app.uid, app.secret)
    )
    assert introspected.json() == {"active": False}


def test_public_clients_use_pkce(signed_in: Browser) -> None:
    app = register(signed_in, confidential="0")
    assert callback_parameters(signed_in.get(app.address()))["error"] == "invalid_request"
    asked = {"code_challenge": challenge_of(VERIFIER), "code_challenge_method": "S256"}
    for wrong in (None, "w" * 50, "short", asked["code_challenge"]):
        refused = app.exchange(app.code(signed_in, **asked), client_secret=None, code_verifier=wrong)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant"), wrong
    traded = app.exchange(app.code(signed_in, **asked), client_secret=None, code_verifier=VERIFIER)
    assert traded.status_code == 200, traded.text
    renewed = app.refresh(traded.json()["refresh_token"], client_secret=None)
    assert renewed.status_code == 200
    assert signed_in.get(app.address(**asked)).status_code == 200, "Anybody could pretend to be it, so it asks."


PLAIN: list[dict[str, str]] = [
    {"code_challenge": VERIFIER, "code_challenge_method": "plain"},
    {"code_challenge": VERIFIER},
    {"code_challenge": VERIFIER, "code_challenge_method": ""},
]


@pytest.mark.parametrize("asked", PLAIN)
def test_only_a_confidential_application_may_use_a_plain_challenge(
    signed_in: Browser, app: App, asked: dict[str, str]
) -> None:
    """The plain challenge of a public application is seen by all who see its request, and redeems the code."""
    traded = app.exchange(app.code(signed_in, **asked), code_verifier=VERIFIER)
    assert traded.status_code == 200, traded.text
    public = register(signed_in, confidential="0")
    _is_refused(signed_in, public, "invalid_request", **asked)


def test_only_a_confidential_application_gets_a_token_in_the_redirect(signed_in: Browser, app: App) -> None:
    assert "access_token" in callback_parameters(authorize(signed_in, app.address(response_type="token")))
    public = register(signed_in, confidential="0")
    _is_refused(signed_in, public, "unauthorized_client", response_type="token")
    asked = {"code_challenge": challenge_of(VERIFIER), "code_challenge_method": "S256"}
    _is_refused(signed_in, public, "unauthorized_client", response_type="token", **asked)


def _is_refused(browser: Browser, app: App, error: str, **asked: str) -> None:
    """Check that neither the page nor its form, sent directly, gives a code or token."""
    form = browser.form("/profile/account", "/users/sign_out")
    sent = {"client_id": app.uid, "redirect_uri": app.callback, "response_type": "code", "state": "s", **asked}
    for led in (browser.get(app.address(**asked)), browser.post("/oauth/authorize", data={**form.fields, **sent})):
        told = callback_parameters(led)
        assert (told["error"], "code" in told, "access_token" in told) == (error, False, False)
        assert "state" in told


def test_a_verifier_must_match_its_challenge(signed_in: Browser, app: App) -> None:
    without = app.exchange(app.code(signed_in), code_verifier=VERIFIER)
    assert without.json()["error"] == "invalid_grant"
    missing = app.exchange(app.code(signed_in, code_challenge=challenge_of(VERIFIER), code_challenge_method="S256"))
    assert missing.json()["error"] == "invalid_grant"
    for method in ("S512", '"', "é"):
        asked = {"code_challenge": challenge_of(VERIFIER), "code_challenge_method": method}
        assert callback_parameters(signed_in.get(app.address(**asked)))["error"] == "invalid_request"


def test_a_second_use_of_a_code_revokes_its_token(signed_in: Browser, app: App) -> None:
    code = app.code(signed_in)
    token = app.exchange(code).json()
    again = app.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert with_bearer(app.url, token["access_token"]).status_code == 401
    assert app.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_code_is_bound_to_its_application_and_redirect_uri(signed_in: Browser, app: App) -> None:
    """Attack: a leaked code is useless to others, and failed attempts do not consume it."""
    other = register(signed_in, redirect_uri=CALLBACK)
    code = app.code(signed_in)
    rows = [
        (other.exchange(code), "invalid_grant"),
        (app.exchange(code, redirect_uri="http://app.example/callback"), "invalid_grant"),
        (app.exchange(code, redirect_uri=None), "invalid_grant"),
        (app.exchange(code, client_secret=other.secret), "invalid_client"),
        (app.exchange(code, client_secret=None), "invalid_client"),
        (app.exchange(code, client_id="nobody"), "invalid_client"),
        (app.exchange(code + "x"), "invalid_grant"),
        (app.exchange(code="", client_id=app.uid), "invalid_grant"),
        (app.token(grant_type="authorization_code"), "invalid_request"),
        (app.token(grant_type="nonsense"), "unsupported_grant_type"),
        (app.token(), "invalid_request"),
        (app.token(grant_type="client_credentials"), "unsupported_grant_type"),
    ]
    for answer, error in rows:
        assert answer.status_code in (400, 401), answer.text
        assert answer.json()["error"] == error
    assert app.exchange(code).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "http://app.example/callback",
        "http://app.example/callback?from=ingot/",
        "http://app.example/callback?from=ingot&more=1",
        "http://app.example/callback/..?from=ingot",
        "http://APP.example/callback?from=ingot",
        "HTTP://app.example/callback?from=ingot",
        "https://app.example/callback?from=ingot",
        "http://app.example:80/callback?from=ingot",
        "http://app.example@evil.example/callback?from=ingot",
        "http://evil.example/http://app.example/callback?from=ingot",
        "//app.example/callback?from=ingot",
        "http://app.example.evil.example/callback?from=ingot",
        "http://ap\u1d29.example/callback?from=ingot",
        "http://app.example/Callback?from=ingot",
        "http://app.example/callback?from=\u0131ngot",
        "http://app.example/callback?from=ingot#x",
        "http://app.example/callback?from=ingot\n",
        'http://app.example/callback?from=ingot"',
        "javascript:alert(1)",
        "",
        None,
    ],
)
def test_no_redirect_to_unregistered_address(signed_in: Browser, app: App, address: str | None) -> None:
    """Open redirect: an address that only looks like the registered one would get the code."""
    for kind in ("code", "token"):
        for path in (app.address(redirect_uri=address, response_type=kind),):
            page = signed_in.get(path)
            assert page.status_code == 400
            assert "location" not in page.headers
    token = signed_in.form("/profile/account", "/users/sign_out").fields["authenticity_token"]
    for method in ("post", "delete"):
        sent = {"client_id": app.uid, "redirect_uri": address or "", "response_type": "code", "_method": method}
        posted = signed_in.post("/oauth/authorize", data={**sent, "authenticity_token": token})
        assert posted.status_code == 400
        assert "location" not in posted.headers


@pytest.mark.parametrize(
    ("registered", "asked", "led"),
    [
        ("http://127.0.0.1", "http://127.0.0.1:41573", True),
        ("http://127.0.0.1:8080/back", "http://127.0.0.1:41573/back", True),
        ("http://127.0.0.1/back?x=1", "http://127.0.0.1:41573/back?x=1", True),
        ("http://[::1]/back", "http://[::1]:41573/back", True),
        ("http://127.0.0.1/back", "http://127.0.0.1:41573/other", False),
        ("http://127.0.0.1/back", "http://127.0.0.1:41573/back?x=1", False),
        ("http://127.0.0.1/back", "http://127.0.0.1:415730/back", False),
        ("http://127.0.0.1", "http://127.0.0.1:1@evil.example", False),
        ("http://127.0.0.1", "http://127.0.0.1:1.evil.example", False),
        ("http://127.0.0.1/", "http://127.0.0.1:\uff11/", False),
        ("http://127.0.0.1/back", "http://[::1]/back", False),
        ("http://127.0.0.1/back", "https://127.0.0.1:41573/back", False),
        ("http://localhost/back", "http://localhost:41573/back", False),
        ("http://app.example/back", "http://127.0.0.1:41573/back", False),
    ],
)
def test_a_program_on_the_persons_machine_listens_at_any_port(
    signed_in: Browser, registered: str, asked: str, led: bool
) -> None:
    """git-credential-oauth registers http://127.0.0.1 and listens where the system lets it (RFC 8252, 7.3)."""
    app = register(signed_in, redirect_uri=registered)
    if not led:
        assert signed_in.get(app.address(redirect_uri=asked)).status_code == 400
        return
    answer = authorize(signed_in, app.address(redirect_uri=asked))
    assert answer.headers["location"].startswith(f"{asked}{'&' if '?' in asked else '?'}code=")
    code = callback_parameters(answer)["code"]
    assert app.exchange(code, redirect_uri=registered).status_code == 400
    assert app.exchange(app.code(signed_in, redirect_uri=asked), redirect_uri=asked).status_code == 200


def test_invalid_authorization_requests(signed_in: Browser, app: App) -> None:
    assert signed_in.get(app.address(client_id="nobody")).status_code == 400
    assert signed_in.get("/oauth/authorize").status_code == 400
    rows: list[tuple[dict[str, Any], str]] = [
        ({"response_type": "nonsense"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_type": 'é"'}, "unsupported_response_type"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": "nonsense"}, "invalid_scope"),
        ({"scope": "sudo"}, "invalid_scope"),
        ({"scope": 'é"\n'}, "invalid_scope"),
    ]
    for changes, error in rows:
        heard = callback_parameters(signed_in.get(app.address(**changes)))
        assert (heard["error"], heard["state"]) == (error, "x y&z")


def test_an_application_gets_only_registered_scopes(signed_in: Browser) -> None:
    app = register(signed_in, scopes="read_user")
    assert callback_parameters(signed_in.get(app.address()))["error"] == "invalid_scope", (
        "Asking for nothing means api."
    )
    token = app.exchange(app.code(signed_in, scope="read_user")).json()["access_token"]
    assert with_bearer(app.url, token).status_code == 200
    assert with_bearer(app.url, token, "/api/v4/projects").status_code == 403


def test_client_authentication_methods(signed_in: Browser, app: App) -> None:
    sent = {"grant_type": "authorization_code", "redirect_uri": CALLBACK}
    by_header = httpx.post(
        f"{app.url}/oauth/token", data={**sent, "code": app.code(signed_in)}, auth=(app.uid, app.secret)
    )
    assert by_header.status_code == 200
    in_json = httpx.post(
        f"{app.url}/oauth/token",
        json={**sent, "code": app.code(signed_in), "client_id": app.uid, "client_secret": app.secret},
    )
    assert in_json.status_code == 200
    for header in ("Basic", "Basic !", "Basic /w==", "Basic " + "A" * 10_000, "basic Og=="):
        refused = httpx.post(f"{app.url}/oauth/token", data={**sent, "code": "x"}, headers={"Authorization": header})
        assert refused.status_code in (400, 401), header
        assert refused.json()["error"] == "invalid_client"
    for odd in ({"client_id[]": "x"}, {"client_id[a]": "x"}, {"client_id": "\0"}, {"code[]": "x"}):
        assert httpx.post(f"{app.url}/oauth/token", data={**sent, **odd}).status_code in (400, 401)


def test_token_introspection_and_revocation(signed_in: Browser, app: App, person: User) -> None:
    token = app.exchange(app.code(signed_in)).json()
    about = with_bearer(app.url, token["access_token"], "/oauth/token/info").json()
    assert (about["resource_owner_id"], about["scopes"]) == (person.id, ["api"])
    assert about["application"] == {"uid": app.uid}
    assert with_bearer(app.url, "nonsense", "/oauth/token/info").status_code == 401
    assert with_bearer(app.url, person.token, "/oauth/token/info").status_code == 401
    assert httpx.get(f"{app.url}/oauth/token/info").status_code == 401

    other = register(signed_in)

    def told(to: App) -> dict[str, object]:
        asked = {"token": token["access_token"], "client_id": to.uid, "client_secret": to.secret}
        answer: dict[str, object] = httpx.post(f"{app.url}/oauth/introspect", data=asked).json()
        return answer

    def taken_back(**sent: str) -> httpx.Response:
        return httpx.post(f"{app.url}/oauth/revoke", data={"token": token["access_token"], **sent})

    assert told(app)["username"] == person.username
    assert told(other) == {"active": False}
    assert httpx.post(f"{app.url}/oauth/introspect", data={"token": "x"}).status_code == 401
    assert taken_back().status_code == 200, "Nobody in particular says so, and nothing happens."
    assert taken_back(client_id=other.uid, client_secret=other.secret).status_code == 200
    assert taken_back(client_id=app.uid, client_secret="wrong").json()["error"] == "invalid_client"
    assert told(app)["active"] is True
    assert taken_back(client_id=app.uid, client_secret=app.secret).status_code == 200
    assert told(app) == {"active": False}
    assert app.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"


def test_codes_and_tokens_are_stored_as_digests(signed_in: Browser, app: App, instance: Instance) -> None:
    code = app.code(signed_in)
    token = app.exchange(code).json()
    from sqlalchemy import select

    from ingot.accounts.oauth.tables import oauth_applications, oauth_codes, oauth_tokens
    from ingot.accounts.tokens.tables import access_tokens

    tables = (oauth_applications, oauth_codes, oauth_tokens, access_tokens)
    kept = repr(instance.app.database.read(lambda db: [db.rows(select(table)) for table in tables]))
    for secret in (code, token["access_token"], token["refresh_token"], app.secret):
        assert secret not in kept
        assert secret not in instance.log.getvalue()


def test_the_password_grant_may_need_an_application(app: App, person: User, api: Api, make: Make) -> None:
    assert by_password(app.url, person).status_code == 200
    with changed_settings(make, ropc_without_client_credentials=False):
        refused = by_password(app.url, person)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
        assert by_password(app.url, person, client_id=app.uid, client_secret=app.secret).status_code == 200


def test_administrators_who_may_not_grant_access_to_the_api(
    open_browser: Callable[[], Browser], app: App, signed_in: Browser, person: User, make: Make
) -> None:
    administrator = make.user(password=PASSWORD, admin=True)
    admin = open_browser().signed_in_as(administrator)
    consent = forms_of(admin.get(app.address()))
    (form,) = [each for each in consent if each.action == "/oauth/authorize" and "_method" not in each.fields]
    with changed_settings(make, disable_admin_oauth_scopes=True):
        assert "Administrators of this instance" in admin.get(app.address()).text
        assert "Administrators of this instance" in admin.post("/oauth/authorize", data=form.fields).text
        assert "authorize" in signed_in.get(app.address()).text
        harmless = admin.get(app.address(scope="read_user"))
        assert "Administrators of this instance" not in harmless.text
        for scope in ("", "api sudo", "read_repository"):
            refused = by_password(app.url, administrator, scope=scope)
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_scope")
            assert by_password(app.url, person, scope=scope.removesuffix(" sudo")).status_code == 200
        assert by_password(app.url, administrator, scope="read_user").status_code == 200
    assert by_password(app.url, administrator).status_code == 200
    assert admin.post("/oauth/authorize", data=form.fields).status_code == 302
