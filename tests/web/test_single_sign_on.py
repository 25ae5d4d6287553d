"""Single sign-on by an OpenID Connect provider, which is another instance."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from ingot.accounts.users.tables import users
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


def _led(instance: Instance, answer: httpx.Response) -> str:
    assert answer.status_code == 302, answer.text
    return answer.headers["location"].removeprefix(instance.url)


def _come_back(instance: Instance, there: Browser, here: Browser, back: str = "") -> httpx.Response:
    """Leave for the provider, authorize there, and come back."""
    start = START + (f"?{urlencode({'redirect_to': back})}" if back else "")
    returned = authorize(there, _led(instance, here.get(start))).headers["location"]
    return here.get(returned)


@pytest.fixture
def here(second: SecondInstance) -> Iterator[Browser]:
    """Yield a browser at the second instance."""
    with Browser(second.url) as browser:
        yield browser


@pytest.fixture
def there(browser: Browser, person: User) -> Browser:
    """Return a browser of a user of the first instance."""
    return browser.signed_in_as(person)


def test_sign_in_creates_an_account(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    assert "Sign in with The first" in here.get("/users/sign_in").text
    came = _come_back(instance, there, here, "/profile/emails")
    assert came.headers["location"] == "/profile/emails"
    assert person.email in here.get("/profile/emails").text
    made = second.api.get("/users", second.make.root, username=person.username).json()[0]
    shown = second.api.get(f"/users/{made['id']}", second.make.root).json()
    assert [(held["provider"], held["extern_uid"]) for held in shown["identities"]] == [
        ("openid_connect", str(person.id))
    ]
    with Browser(second.url) as again:
        assert _come_back(instance, there, again).status_code == 302
        assert again.is_signed_in()
    assert len(second.api.get("/users", second.make.root, username=person.username).json()) == 1
    assert "OpenID Connect" in here.get("/profile/audit_log").text


def test_an_account_with_the_same_confirmed_address_is_linked(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    assert _come_back(instance, there, here).status_code == 302
    assert f"@{held.username}" in here.get("/profile/account").text


def test_an_unconfirmed_account_is_not_linked(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    """An unverified address of another account does not keep its owner out; the owner gets another account."""
    held = second.make.user(username=second.make.name("held"), email=person.email, confirm=False)
    assert _come_back(instance, there, here).status_code == 302
    assert f"@{held.username}" not in here.get("/profile/account").text
    assert person.email in here.get("/profile/emails").text
    assert second.api.get(f"/users/{held.id}", second.make.root).json()["email"] != person.email


def test_an_unverified_address_of_the_provider_links_nothing(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    """Attack: add another user's address at a provider that verifies none."""
    second.api.put("/application/settings", second.make.root, send_user_confirmation_email=False)
    try:
        thief = second.make.user(username=second.make.name("thief"))
        assert second.api.post("/user/emails", thief, email=person.email).status_code == 201
        returned = _come_back(instance, there, here)
    finally:
        second.api.put("/application/settings", second.make.root, send_user_confirmation_email=True)
    assert returned.status_code == 302
    assert f"@{thief.username}" not in here.get("/profile/account").text
    assert second.api.get("/user/emails", thief).json() == [], "The claim ends when the provider vouches for another."


def test_an_account_in_use_keeps_its_address(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    """It may be the account of the same person, who then must not get a second one."""
    held = second.make.user(username=second.make.name("held"), email=person.email)
    second.app.database.write(lambda db: db.update(users, held.id, proven_at=None))
    assert _come_back(instance, there, here).status_code == 403
    assert not here.is_signed_in()


def test_blocked_users_are_rejected(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    second.api.post(f"/users/{held.id}/block", second.make.root)
    assert _come_back(instance, there, here).status_code == 403


def test_the_callback_is_bound_to_the_browser(
    instance: Instance, there: Browser, here: Browser, second: SecondInstance
) -> None:
    returned = authorize(there, _led(instance, here.get(START))).headers["location"]
    with Browser(second.url) as victim:
        assert victim.get(returned).status_code == 400, "Else somebody is signed in as the attacker."
        victim.get(START)
        assert victim.get(returned).status_code == 400, "It is of another sign-in."
    heard = {name: values[0] for name, values in parse_qs(urlsplit(returned).query).items()}
    for changes in ({"state": "x"}, {"state": ""}, {"code": ""}, {"code": "x"}, {"state": "é"}):
        with Browser(second.url) as other:
            other.cookies.update(here.cookies)
            assert other.get(f"{START}/callback?{urlencode({**heard, **changes})}").status_code in (400, 401, 502)
    assert here.get(returned).status_code == 302
    assert here.is_signed_in()


def test_refused_consent_does_not_sign_in(instance: Instance, there: Browser, here: Browser) -> None:
    returned = authorize(there, _led(instance, here.get(START)), refuse=True).headers["location"]
    assert here.get(returned).status_code == 401
    assert here.get(f"{START}/callback").status_code == 400
    assert here.get(f"{START}/callback?code=x&state=y").status_code == 400
    assert not here.is_signed_in()


def test_redirects_stay_on_this_host(instance: Instance, there: Browser, here: Browser) -> None:
    """Attack: open redirect after a sign-in."""
    for back in ("//evil.example", "https://evil.example", "/\\evil.example"):
        came = _come_back(instance, there, here, back)
        assert came.headers["location"] == "/"
        here.cookies.clear()


def test_two_factor_authentication_applies(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), email=person.email)
    from ingot.accounts.users.tables import users

    second.app.database.write(lambda db: db.update(users, held.id, two_factor_enabled=True))
    asked = _come_back(instance, there, here)
    assert (asked.status_code, "Two-factor authentication" in asked.text) == (200, True)
    assert not here.is_signed_in()


def test_a_disabled_provider(second: SecondInstance, here: Browser) -> None:
    def turn_off(names: list[str]) -> None:
        sent = {"disabled_oauth_sign_in_sources": names}
        answer = second.api.put("/application/settings", second.make.root, **sent)
        assert answer.status_code == 200, answer.text

    turn_off(["openid_connect"])
    try:
        assert "Sign in with" not in here.get("/users/sign_in").text
        assert here.get(START).status_code == 404
        assert here.get(f"{START}/callback").status_code == 404
    finally:
        turn_off([])
    assert here.get(START).status_code == 302


def test_without_a_provider_the_page_is_missing(browser: Browser) -> None:
    assert browser.get(START).status_code == 404
    assert browser.get(f"{START}/callback?code=x&state=y").status_code == 404


def test_an_unreachable_or_forbidden_provider(
    tmp_path: Any, there: Browser, instance: Instance, open_browser: Callable[[], Browser]
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


def _leave_to_link(instance: Instance, there: Browser, here: Browser) -> httpx.Response:
    returned = authorize(there, _led(instance, here.get(f"{START}?link=1"))).headers["location"]
    return here.get(returned)


def test_an_identity_is_linked_and_unlinked(
    instance: Instance, there: Browser, here: Browser, person: User, second: SecondInstance
) -> None:
    held = second.make.user(username=second.make.name("held"), password="correct horse battery")
    account = here.signed_in_as(held).get("/profile/account").text
    assert "Connect The first" in account

    asked = _leave_to_link(instance, there, here)
    assert (asked.status_code, person.email in asked.text, held.username in asked.text) == (200, True, True)
    kept = next(form.fields["signed_link"] for form in forms_of(asked) if form.action == "/profile/identities")
    sent = {"authenticity_token": here.token(), "signed_link": kept}
    with Browser(second.url) as other:
        stranger = second.make.user(username=second.make.name("other"), password="correct horse battery")
        stolen = sent | {"authenticity_token": other.signed_in_as(stranger).token()}
        assert other.post("/profile/identities", data=stolen).status_code == 400
    assert here.post("/profile/identities", data=sent | {"signed_link": kept + "x"}).status_code == 400
    assert here.post("/profile/identities", data=sent).headers["location"] == "/profile/account"
    assert here.post("/profile/identities", data=sent).status_code == 302, "Twice is once."
    with Browser(second.url) as again:
        _come_back(instance, there, again)
        assert f"@{held.username}" in again.get("/profile/account").text

    with Browser(second.url) as other:
        other.signed_in_as(stranger)
        taken = next(
            form.fields["signed_link"]
            for form in forms_of(_leave_to_link(instance, there, other))
            if "signed_link" in form.fields
        )
        refused = other.post("/profile/identities", data={"authenticity_token": other.token(), "signed_link": taken})
        assert (refused.status_code, "linked to another account" in refused.text) == (422, True)

    unlink = here.submit("/profile/account", "/profile/identities/openid_connect")
    assert unlink.status_code == 302
    assert "Connect The first" in here.get("/profile/account").text


def test_last_sign_in_method_cannot_be_unlinked(instance: Instance, there: Browser, here: Browser) -> None:
    _come_back(instance, there, here)

    refused = here.submit("/profile/account", "/profile/identities/openid_connect")

    assert (refused.status_code, "Set a password first" in refused.text) == (422, True)
    gone = {"authenticity_token": here.token(), "_method": "delete"}
    with Browser(here.url) as nobody:
        assert nobody.post("/profile/identities/openid_connect", data=gone).status_code == 302
    assert here.get(START).headers["location"] == "/"


def test_callback_belongs_to_the_browser_that_started(
    instance: Instance, there: Browser, here: Browser, second: SecondInstance
) -> None:
    one, two = (second.make.user(username=second.make.name("held"), password="correct horse battery") for _ in "12")
    returned = authorize(there, _led(instance, here.signed_in_as(one).get(f"{START}?link=1"))).headers["location"]
    here.post("/users/sign_out", data={"authenticity_token": here.token()})
    assert here.get(returned).status_code == 400
    assert not here.signed_in_as(two).get(returned).is_redirect
