"""Single sign-on by an OpenID Connect provider, which is another instance."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.oauth_client import authorize
from tests.second_instance import SecondInstance, serving
from tests.web.browser import Browser, forms_of

START = "/users/auth/openid_connect"


@pytest.fixture(scope="module")
def second(
    instance: Instance, api: Api, make: Make, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecondInstance]:
    """Yield an instance that trusts the one of the tests."""
    made = api.post(
        "/applications",
        make.root,
        name="SecondInstance",
        redirect_uri="http://placeholder.example/",
        scopes="openid profile email",
    ).json()
    chosen = {
        "oidc_issuer": instance.url,
        "oidc_client_id": made["application_id"],
        "oidc_client_secret": made["secret"],
    }
    with serving(
        tmp_path_factory.mktemp("second"),
        allow_local_requests=True,
        oidc_label="The first",
        oidc_sign_up=True,
        oidc_link_by_email=True,
        **chosen,
    ) as served:
        from sqlalchemy import update

        from ingot.accounts.oauth.tables import oauth_applications

        address = f"{served.url}{START}/callback"
        change = update(oauth_applications).where(oauth_applications.c.uid == made["application_id"])
        instance.app.database.write(lambda db: db.run(change.values(redirect_uri=address)))
        for one, root in ((api, make.root), (served.api, served.make.root)):
            one.put("/application/settings", root, send_user_confirmation_email=True)
        yield served
    api.put("/application/settings", make.root, send_user_confirmation_email=False)


def _location(instance: Instance, answer: httpx.Response) -> str:
    assert answer.status_code == 302, answer.text
    return answer.headers["location"].removeprefix(instance.url)


def _complete_sign_in(
    instance: Instance, provider_browser: Browser, client_browser: Browser, back: str = ""
) -> httpx.Response:
    """Redirect to the provider, authorize there, and return."""
    start = START + (f"?{urlencode({'redirect_to': back})}" if back else "")
    returned = authorize(provider_browser, _location(instance, client_browser.get(start))).headers["location"]
    return client_browser.get(returned)


@pytest.fixture
def client_browser(second: SecondInstance) -> Iterator[Browser]:
    """Yield a browser at the second instance."""
    with Browser(second.url) as browser:
        yield browser


@pytest.fixture
def provider_browser(browser: Browser, person: User) -> Browser:
    """Return a browser of a user of the first instance."""
    return browser.signed_in_as(person)


def test_sign_in_creates_an_account(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    assert "Sign in with The first" in client_browser.get("/users/sign_in").text
    came = _complete_sign_in(instance, provider_browser, client_browser, "/profile/emails")
    assert came.headers["location"] == "/profile/emails"
    assert person.email in client_browser.get("/profile/emails").text
    made = second.api.get("/users", second.make.root, username=person.username).json()[0]
    shown = second.api.get(f"/users/{made['id']}", second.make.root).json()
    assert [(held["provider"], held["extern_uid"]) for held in shown["identities"]] == [
        ("openid_connect", str(person.id))
    ]
    with Browser(second.url) as again:
        assert _complete_sign_in(instance, provider_browser, again).status_code == 302
        assert again.is_signed_in()
    assert len(second.api.get("/users", second.make.root, username=person.username).json()) == 1
    assert "OpenID Connect" in client_browser.get("/profile/audit_log").text


def test_an_account_with_the_same_confirmed_address_is_linked(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    assert _complete_sign_in(instance, provider_browser, client_browser).status_code == 302
    assert f"@{held.username}" in client_browser.get("/profile/account").text


def test_an_unconfirmed_account_is_not_linked(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    """Attack: create an account with another user's address, and wait for its owner to sign in."""
    second.make.user(username=second.make.name("held"), email=person.email, confirm=False)
    refused = _complete_sign_in(instance, provider_browser, client_browser)
    assert refused.status_code == 403
    assert not client_browser.is_signed_in()


def test_an_unverified_address_of_the_provider_links_nothing(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    """Attack: add another user's address at a provider that verifies none."""
    second.api.put("/application/settings", second.make.root, send_user_confirmation_email=False)
    try:
        thief = second.make.user(username=second.make.name("thief"))
        assert second.api.post("/user/emails", thief, email=person.email).status_code == 201
        refused = _complete_sign_in(instance, provider_browser, client_browser)
    finally:
        second.api.put("/application/settings", second.make.root, send_user_confirmation_email=True)
    assert refused.status_code == 403
    assert _complete_sign_in(instance, provider_browser, client_browser).status_code == 403, (
        "The address added then stays unconfirmed."
    )
    assert not client_browser.is_signed_in()


def test_blocked_users_are_rejected(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    second.api.post(f"/users/{held.id}/block", second.make.root)
    assert _complete_sign_in(instance, provider_browser, client_browser).status_code == 403


def test_the_callback_is_bound_to_the_browser(
    instance: Instance, provider_browser: Browser, client_browser: Browser, second: SecondInstance
) -> None:
    returned = authorize(provider_browser, _location(instance, client_browser.get(START))).headers["location"]
    with Browser(second.url) as victim:
        assert victim.get(returned).status_code == 400, "Otherwise the victim is signed in as the attacker."
        victim.get(START)
        assert victim.get(returned).status_code == 400, "It is of another sign-in."
    heard = {name: values[0] for name, values in parse_qs(urlsplit(returned).query).items()}
    for changes in ({"state": "x"}, {"state": ""}, {"code": ""}, {"code": "x"}, {"state": "é"}):
        with Browser(second.url) as other:
            other.cookies.update(client_browser.cookies)
            assert other.get(f"{START}/callback?{urlencode({**heard, **changes})}").status_code in (400, 401, 502)
    assert client_browser.get(returned).status_code == 302
    assert client_browser.is_signed_in()


def test_a_denial_creates_no_session(instance: Instance, provider_browser: Browser, client_browser: Browser) -> None:
    returned = authorize(provider_browser, _location(instance, client_browser.get(START)), refuse=True).headers[
        "location"
    ]
    assert client_browser.get(returned).status_code == 401
    assert client_browser.get(f"{START}/callback").status_code == 400
    assert client_browser.get(f"{START}/callback?code=x&state=y").status_code == 400
    assert not client_browser.is_signed_in()


def test_redirects_stay_on_this_host(instance: Instance, provider_browser: Browser, client_browser: Browser) -> None:
    """Attack: open redirect after a sign-in."""
    for back in ("//evil.example", "https://evil.example", "/\\evil.example"):
        came = _complete_sign_in(instance, provider_browser, client_browser, back)
        assert came.headers["location"] == "/"
        client_browser.cookies.clear()


def test_two_factor_authentication_applies(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    from ingot.accounts.users.tables import users

    second.app.database.write(lambda db: db.update(users, held.id, two_factor_enabled=True))
    asked = _complete_sign_in(instance, provider_browser, client_browser)
    assert (asked.status_code, "Two-factor authentication" in asked.text) == (200, True)
    assert not client_browser.is_signed_in()


def test_a_disabled_provider(second: SecondInstance, client_browser: Browser) -> None:
    def disable(names: list[str]) -> None:
        sent = {"disabled_oauth_sign_in_sources": names}
        answer = second.api.put("/application/settings", second.make.root, **sent)
        assert answer.status_code == 200, answer.text

    disable(["openid_connect"])
    try:
        assert "Sign in with" not in client_browser.get("/users/sign_in").text
        assert client_browser.get(START).status_code == 404
        assert client_browser.get(f"{START}/callback").status_code == 404
    finally:
        disable([])
    assert client_browser.get(START).status_code == 302


def test_without_a_provider_the_page_is_missing(browser: Browser) -> None:
    assert browser.get(START).status_code == 404
    assert browser.get(f"{START}/callback?code=x&state=y").status_code == 404


def test_an_unreachable_or_forbidden_provider(
    tmp_path: Any, provider_browser: Browser, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    """Passwords still work; a local address is not reached unless permitted."""
    for number, (issuer, local) in enumerate((("http://127.0.0.1:9", True), (instance.url, False))):
        with (
            serving(
                tmp_path / str(number), oidc_issuer=issuer, oidc_client_id="x", allow_local_requests=local
            ) as served,
            Browser(served.url) as browser,
        ):
            refused = browser.get(START)
            assert refused.status_code == 502
            assert "cannot be reached" in refused.text
            root = served.make.root
            assert browser.sign_in(root.username, root.password).status_code == 302


def _start_linking(instance: Instance, provider_browser: Browser, client_browser: Browser) -> httpx.Response:
    returned = authorize(provider_browser, _location(instance, client_browser.get(f"{START}?link=1"))).headers[
        "location"
    ]
    return client_browser.get(returned)


def test_an_identity_is_linked_and_unlinked(
    instance: Instance, provider_browser: Browser, client_browser: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), password="correct horse battery")
    account = client_browser.signed_in_as(held).get("/profile/account").text
    assert "Connect The first" in account

    asked = _start_linking(instance, provider_browser, client_browser)
    assert (asked.status_code, person.email in asked.text, held.username in asked.text) == (200, True, True)
    kept = next(form.fields["kept"] for form in forms_of(asked) if form.action == "/profile/identities")
    sent = {"authenticity_token": client_browser.token(), "kept": kept}
    with Browser(second.url) as other:
        stranger = second.make.user(username=second.make.name("other"), password="correct horse battery")
        stolen = sent | {"authenticity_token": other.signed_in_as(stranger).token()}
        assert other.post("/profile/identities", data=stolen).status_code == 400
    assert client_browser.post("/profile/identities", data=sent | {"kept": kept + "x"}).status_code == 400
    assert client_browser.post("/profile/identities", data=sent).headers["location"] == "/profile/account"
    assert client_browser.post("/profile/identities", data=sent).status_code == 302, "Linking is idempotent."
    with Browser(second.url) as again:
        _complete_sign_in(instance, provider_browser, again)
        assert f"@{held.username}" in again.get("/profile/account").text

    with Browser(second.url) as other:
        other.signed_in_as(stranger)
        taken = next(
            form.fields["kept"]
            for form in forms_of(_start_linking(instance, provider_browser, other))
            if "kept" in form.fields
        )
        refused = other.post("/profile/identities", data={"authenticity_token": other.token(), "kept": taken})
        assert (refused.status_code, "linked to another account" in refused.text) == (422, True)

    unlink = client_browser.submit("/profile/account", "/profile/identities/openid_connect")
    assert unlink.status_code == 302
    assert "Connect The first" in client_browser.get("/profile/account").text


def test_the_only_credential_cannot_be_unlinked(
    instance: Instance, provider_browser: Browser, client_browser: Browser
) -> None:
    _complete_sign_in(instance, provider_browser, client_browser)

    refused = client_browser.submit("/profile/account", "/profile/identities/openid_connect")

    assert (refused.status_code, "Set a password first" in refused.text) == (422, True)
    gone = {"authenticity_token": client_browser.token(), "_method": "delete"}
    with Browser(client_browser.url) as nobody:
        assert nobody.post("/profile/identities/openid_connect", data=gone).status_code == 302
    assert client_browser.get(START).headers["location"] == "/"


def test_linking_requires_the_same_user(
    instance: Instance, provider_browser: Browser, client_browser: Browser, second: SecondInstance
) -> None:
    one, two = (second.make.user(username=second.make.name("held"), password="correct horse battery") for _ in "12")
    returned = authorize(
        provider_browser, _location(instance, client_browser.signed_in_as(one).get(f"{START}?link=1"))
    ).headers["location"]
    client_browser.post("/users/sign_out", data={"authenticity_token": client_browser.token()})
    assert client_browser.get(returned).status_code == 400
    assert not client_browser.signed_in_as(two).get(returned).is_redirect
