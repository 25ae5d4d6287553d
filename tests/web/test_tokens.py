"""Personal access tokens page: documented field names, shown once, revocation."""

import re

import pytest

from tests.client import Api, Make, User
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD

PAGE = "/profile/personal_access_tokens"


def _fields(name: str, *scopes: str, expires_at: str = "") -> dict[str, object]:
    return {
        "personal_access_token[name]": name,
        "personal_access_token[expires_at]": expires_at,
        "personal_access_token[scopes][]": list(scopes),
    }


def _secret(text: str) -> str:
    found = re.search(r'id="created-personal-access-token" value="([^"]+)"', text)
    assert found
    return found[1]


def test_a_token_is_shown_once_and_works(api: Api, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)

    made = browser.submit(PAGE, PAGE, fields=_fields("My laptop", "api", "read_user", expires_at="9999-12-31"))

    assert made.status_code == 200
    secret = _secret(made.text)
    caller = person.with_token(secret)
    shown = api.get("/personal_access_tokens/self", caller).json()
    assert (shown["name"], shown["scopes"], shown["expires_at"]) == ("My laptop", ["api", "read_user"], "9999-12-31")
    again = browser.get(PAGE)
    assert "My laptop" in again.text
    assert secret not in again.text
    assert made.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("name", "scopes", "day"),
    [("", ["api"], ""), ("x", [], ""), ("x", ["everything"], ""), ("x", ["api"], "soon"), ("x" * 256, ["api"], "")],
)
def test_invalid_input_is_reported_and_creates_nothing(
    api: Api, browser: Browser, person: User, name: str, scopes: list[str], day: str
) -> None:
    browser.signed_in_as(person)
    before = len(api.get("/personal_access_tokens", person).json())

    refused = browser.submit(PAGE, PAGE, fields=_fields(name, *scopes, expires_at=day))

    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert len(api.get("/personal_access_tokens", person).json()) == before


def test_a_token_is_revoked_by_its_user_only(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    own = person.with_token(_secret(browser.submit(PAGE, PAGE, fields=_fields("Own", "api")).text))
    other = make.user()
    ids = {
        who: api.get("/personal_access_tokens/self", caller).json()["id"]
        for who, caller in (("own", own), ("other", other))
    }
    token = browser.form(PAGE, PAGE).fields["authenticity_token"]

    for token_id in (ids["other"], 0, "x"):
        refused = browser.post(f"{PAGE}/{token_id}/revoke", data={"authenticity_token": token})
        assert refused.status_code in (400, 404)
    revoked = browser.submit(PAGE, f"{PAGE}/{ids['own']}/revoke")

    assert (revoked.status_code, revoked.headers["location"]) == (302, PAGE)
    assert api.get("/user", own).status_code == 401
    assert api.get("/user", other).status_code == 200


def test_impersonation_tokens_are_not_on_the_page(api: Api, make: Make, browser: Browser, person: User) -> None:
    """Attack: users see or revoke the tokens with which administrators impersonate them."""
    name = make.name("acting")
    made = api.post(f"/users/{person.id}/impersonation_tokens", make.root, name=name, scopes=["api"]).json()
    browser.signed_in_as(person)

    assert name not in browser.get(PAGE).text
    token = browser.form(PAGE, PAGE).fields["authenticity_token"]
    refused = browser.post(f"{PAGE}/{made['id']}/revoke", data={"authenticity_token": token})
    assert refused.status_code == 404
    assert api.get("/user", person.with_token(made["token"])).status_code == 200


@pytest.mark.parametrize(("admin", "offered"), [(False, False), (True, True)])
def test_the_sudo_scope_is_offered_to_administrators_only(
    make: Make, browser: Browser, admin: bool, offered: bool
) -> None:
    browser.signed_in_as(make.user(password=PASSWORD, admin=admin))

    page = browser.get(PAGE)

    assert ('value="sudo"' in page.text) is offered
    assert 'value="api"' in page.text
    assert 'name="personal_access_token[scopes][]"' in page.text


def test_names_of_tokens_are_escaped(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)

    made = browser.submit(PAGE, PAGE, fields=_fields('"><script>alert(1)</script>', "api"))

    assert "<script>alert" not in made.text
    assert all("<" not in value for form in forms_of(made) for value in form.fields)
