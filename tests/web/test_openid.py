"""OpenID Connect: other applications sign in users of this instance."""

import quopri
import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from authlib.integrations.requests_client import OAuth2Session
from gitlab import Gitlab
from joserfc import jwt
from joserfc.jwk import KeySet

from ingot.server.registry import all_endpoints
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.oauth_client import RegisteredApplication, authorize, by_password, callback_parameters, register, with_bearer
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


@pytest.fixture
def app(browser: Browser, person: User) -> RegisteredApplication:
    """Return an application of a signed-in user."""
    return register(browser.signed_in_as(person))


def _claims(url: str, id_token: str) -> tuple[dict[str, object], dict[str, object]]:
    keys = KeySet.import_key_set(httpx.get(f"{url}/oauth/discovery/keys").json())
    read = jwt.decode(id_token, keys, ["RS256"])
    return dict(read.header), dict(read.claims)


def test_an_application_learns_the_user(browser: Browser, app: RegisteredApplication, person: User) -> None:
    code = app.code(browser, scope="openid profile email", nonce="n-1")
    token = app.exchange(code).json()
    header, claims = _claims(app.url, token["id_token"])
    assert header["kid"]
    assert (claims["iss"], claims["aud"], claims["nonce"]) == (app.url, app.uid, "n-1")
    assert (claims["sub"], claims["preferred_username"]) == (str(person.id), person.username)
    assert (claims["email"], claims["email_verified"]) == (person.email, False), "Confirmation was not required."
    now = time.time()
    assert (
        now - 60 < float(str(claims["auth_time"])) <= float(str(claims["iat"])) <= now + 1 < float(str(claims["exp"]))
    )

    told = with_bearer(app.url, token["access_token"], "/oauth/userinfo").json()
    assert (told["sub"], told["nickname"], told["email"]) == (str(person.id), person.username, person.email)
    assert with_bearer(app.url, token["access_token"], "/oauth/userinfo", "POST").json() == told
    assert with_bearer(app.url, token["access_token"]).status_code == 403, "It is not valid for the API."


def test_refreshing_returns_a_new_id_token(browser: Browser, app: RegisteredApplication, person: User) -> None:
    first = app.exchange(app.code(browser, scope="openid email", nonce="n-1")).json()
    second = app.refresh(first["refresh_token"]).json()
    before, after = (_claims(app.url, token["id_token"])[1] for token in (first, second))

    assert [after[name] for name in ("iss", "sub", "aud", "email")] == [app.url, str(person.id), app.uid, person.email]
    assert ("nonce" in before, "nonce" in after, "auth_time" in after) == (True, False, False)
    assert (after["jti"] != before["jti"], after["at_hash"] != before["at_hash"]) == (True, True)
    narrow = app.refresh(second["refresh_token"], scope="email").json()
    assert "id_token" not in narrow
    plain = app.exchange(app.code(browser, scope="api")).json()
    assert "id_token" not in app.refresh(plain["refresh_token"]).json()
    assert "id_token" not in app.refresh("made up").json()


def test_only_requested_claims_are_returned(browser: Browser, app: RegisteredApplication, person: User) -> None:
    token = app.exchange(app.code(browser, scope="openid")).json()
    assert "email" not in with_bearer(app.url, token["access_token"], "/oauth/userinfo").json()
    without = app.exchange(app.code(browser, scope="api")).json()
    assert "id_token" not in without
    refused = with_bearer(app.url, without["access_token"], "/oauth/userinfo")
    assert (refused.status_code, refused.json()["error"]) == (403, "insufficient_scope")
    for token in (person.token, "nonsense"):
        assert with_bearer(app.url, token, "/oauth/userinfo").status_code == 401
    assert httpx.get(f"{app.url}/oauth/userinfo").status_code == 401


def test_an_address_is_verified_only_if_confirmation_is_required(
    browser: Browser, app: RegisteredApplication, api: Api, make: Make
) -> None:
    """Attack: take the email address of another user to open their account at other applications."""
    token = app.exchange(app.code(browser, scope="openid email")).json()["access_token"]

    def is_verified() -> object:
        return with_bearer(app.url, token, "/oauth/userinfo").json()["email_verified"]

    assert is_verified() is False
    api.put("/application/settings", make.root, send_user_confirmation_email=True)
    try:
        assert is_verified() is True
    finally:
        api.put("/application/settings", make.root, send_user_confirmation_email=False)


def test_an_address_added_without_confirmation_is_verified_by_its_own_mail_only(
    instance: Instance, open_browser: Callable[[], Browser], api: Api, make: Make, app: RegisteredApplication
) -> None:
    """Attack: verify another user's address by a mail to one's own, or by an old one."""
    thief, victim = make.user(password=PASSWORD), f"{make.name('victim')}@example.org"
    mine = open_browser().signed_in_as(thief)
    emails = "/profile/emails"
    token = app.exchange(app.code(mine, scope="openid email")).json()["access_token"]

    def is_verified() -> tuple[str, bool]:
        claims = with_bearer(app.url, token, "/oauth/userinfo").json()
        return claims["email"], claims["email_verified"]

    def mailed_link(address: str) -> str:
        written = [quopri.decodestring(mail.encode()).decode() for mail in instance.mails() if f"To: {address}" in mail]
        return str(re.findall(r"/users/confirmation\?confirmation_token=[\w-]+", written[-1])[-1])

    assert mine.submit(emails, emails, fields={"email[email]": victim}).status_code == 302
    api.put("/application/settings", make.root, send_user_confirmation_email=True)
    try:
        assert is_verified() == (thief.email, True), "An administrator skipped the confirmation."
        number = re.findall(rf"{emails}/(\d+)/primary", mine.get(emails).text)[0]
        assert mine.submit(emails, f"{emails}/{number}/primary").status_code == 302
        assert is_verified() == (victim, False)
        assert mine.submit(emails, f"{emails}/confirm").status_code == 302
        own = mailed_link(victim)
        assert mine.submit(emails, f"{emails}/{number}/primary").status_code == 302
        assert mine.submit(emails, f"{emails}/{number}/primary").status_code == 302
        assert mine.get(own).status_code == 404, "It was sent for the former primary address."
        assert mine.submit(emails, f"{emails}/confirm").status_code == 302
        assert mine.submit(mailed_link(victim), "/users/confirmation").status_code == 302
        assert is_verified() == (victim, True)
        assert f'{emails}/confirm"' not in mine.get(emails).text
        assert api.put(f"/users/{thief.id}", make.root, email=f"new-{victim}").status_code == 200
        assert is_verified() == (f"new-{victim}", True)
    finally:
        api.put("/application/settings", make.root, send_user_confirmation_email=False)


def test_the_discovery_document_has_valid_urls(instance: Instance) -> None:
    told = httpx.get(f"{instance.url}/.well-known/openid-configuration").json()
    assert told["issuer"] == instance.url
    assert httpx.get(f"{instance.url}/.well-known/oauth-authorization-server").json() == told
    (key,) = httpx.get(told["jwks_uri"]).json()["keys"]
    assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")
    assert "d" not in key
    for name in ("token_endpoint", "revocation_endpoint", "introspection_endpoint", "userinfo_endpoint"):
        assert httpx.post(told[name]).status_code in (200, 400, 401)


def test_prompt_none(browser: Browser, open_browser: Callable[[], Browser], app: RegisteredApplication) -> None:
    asked = {"scope": "openid", "prompt": "none"}
    assert callback_parameters(open_browser().get(app.address(**asked)))["error"] == "login_required"
    assert callback_parameters(browser.get(app.address(**asked)))["error"] == "consent_required"
    app.exchange(app.code(browser, scope="openid"))
    assert "code" in callback_parameters(browser.get(app.address(**asked)))
    assert browser.get(app.address(scope="openid", prompt="consent")).status_code == 200


def test_the_signing_key_is_created_once(instance: Instance, tmp_path: Path) -> None:
    from ingot.accounts.oauth.signing_key import signing_key

    (tmp_path / "secrets").mkdir()
    with ThreadPoolExecutor(4) as pool:
        made = {key.thumbprint() for key in pool.map(lambda _: signing_key(tmp_path), range(4))}
    assert len(made) == 1
    file = tmp_path / "secrets" / "openid.key"
    assert [entry.name for entry in file.parent.iterdir()] == ["openid.key"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_authlib_completes_the_flow(browser: Browser, app: RegisteredApplication, person: User) -> None:
    """With Authlib's client, as applications use it."""
    verifier = "a" * 64
    with OAuth2Session(
        app.uid, app.secret, scope="api openid", redirect_uri=app.callback, code_challenge_method="S256"
    ) as client:
        address, state = client.create_authorization_url(f"{app.url}/oauth/authorize", code_verifier=verifier)
        led = authorize(browser, address.removeprefix(app.url)).headers["location"]
        token = client.fetch_token(
            f"{app.url}/oauth/token", authorization_response=led, state=state, code_verifier=verifier
        )
        assert client.get(f"{app.url}/api/v4/user").json()["username"] == person.username
        renewed = client.refresh_token(f"{app.url}/oauth/token", refresh_token=token["refresh_token"])
        assert renewed["access_token"] != token["access_token"]
        assert client.introspect_token(f"{app.url}/oauth/introspect", renewed["access_token"]).json()["active"]
        client.revoke_token(f"{app.url}/oauth/revoke", renewed["access_token"])
        assert client.get(f"{app.url}/api/v4/user").status_code == 401


def test_concurrent_use_of_one_code(browser: Browser, app: RegisteredApplication) -> None:
    for trade in (app.exchange, app.refresh):
        brought = app.code(browser)
        if trade == app.refresh:
            brought = app.exchange(brought).json()["refresh_token"]
        with ThreadPoolExecutor(4) as pool:
            answered = list(pool.map(trade, [brought] * 4))
        got = [answer.json() for answer in answered if answer.status_code == 200]
        assert len(got) == 1, [answer.text for answer in answered]
        assert with_bearer(app.url, got[0]["access_token"]).status_code == 401, "One of the two may be stolen."


def test_deleting_a_user_deletes_their_applications(
    open_browser: Callable[[], Browser], browser: Browser, person: User, make: Make, api: Api
) -> None:
    from tests.web.conftest import PASSWORD

    author = make.user(password=PASSWORD)
    app = register(open_browser().signed_in_as(author))
    browser.signed_in_as(person)
    token = app.exchange(app.code(browser)).json()
    assert with_bearer(app.url, token["access_token"]).status_code == 200
    assert api.delete(f"/users/{author.id}", make.root).status_code in (200, 204)
    assert with_bearer(app.url, token["access_token"]).status_code == 401


def _has_no_access(client: httpx.Client, project: Project) -> None:
    for endpoint in all_endpoints():
        if endpoint.runner_call or endpoint.header_params:  # Users' credentials are ignored there.
            continue
        path = re.sub(r":\w+", "999999999", endpoint.path)
        answer = client.request(endpoint.method, f"/api/v4{path}")
        assert answer.status_code == 403 or (endpoint.open and endpoint.method == "GET"), endpoint.path
        assert answer.json().get("error") == "insufficient_scope" or endpoint.path == "/openapi.json", endpoint.path
    for path in ("/profile/account", f"/{project.path}", f"/{project.path}/-/archive/master.zip"):
        assert client.get(path).status_code in (302, 403, 404), path


def test_the_openid_scope_grants_nothing_else(instance: Instance, person: User, make: Make) -> None:
    """Attack: use a token with the openid scope for the API, pages, files or repositories."""
    token = by_password(instance.url, person, scope="openid profile email").json()["access_token"]
    project = make_project(make, person, visibility="private")
    with httpx.Client(base_url=instance.url, headers={"Authorization": f"Bearer {token}"}) as client:
        _has_no_access(client, project)
    git = httpx.get(f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack", auth=("oauth2", token))
    assert git.status_code == 403


def test_git_and_a_client_library_accept_the_token(
    browser: Browser, app: RegisteredApplication, person: User, make: Make, instance: Instance, tmp_path: Path
) -> None:
    token = app.exchange(app.code(browser)).json()["access_token"]
    with Gitlab(instance.url, oauth_token=token) as client:
        client.auth()
        assert client.user is not None
        assert client.user.username == person.username
        project = client.projects.create({"name": make.name("project"), "initialize_with_readme": True})
    remote = f"{instance.url.replace('://', f'://oauth2:{token}@')}/{project.path_with_namespace}.git"
    subprocess.run(["git", "clone", "-q", remote, str(tmp_path / "clone")], check=True, capture_output=True)
    assert (tmp_path / "clone" / "README.md").exists()
    with Gitlab(instance.url, private_token=make.root.token) as admin:
        made = admin.applications.create({"name": "x", "redirect_uri": "http://x.example/", "scopes": "api"})
        assert made.secret
        assert made.id in [each.id for each in admin.applications.list(get_all=True)]
        admin.applications.delete(made.id)


def test_password_attempts_are_limited(instance: Instance, person: User) -> None:
    stranger = User(0, person.username, "", "", "wrong password")
    answered = [by_password(instance.url, stranger) for _ in range(11)]
    assert {answer.status_code for answer in answered[:10]} == {401}
    assert answered[10].status_code == 429
    assert int(answered[10].headers["retry-after"]) > 0
    assert by_password(instance.url, person).status_code == 429
