"""Rules for new passwords, wherever a password is set."""

from collections.abc import Callable, Iterator

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings
from tests.instance_settings import PATH
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.mailed_links import mailed_link

RULES = {
    "minimum_password_length": 12,
    "password_number_required": True,
    "password_symbol_required": True,
    "password_uppercase_required": True,
    "password_lowercase_required": True,
}
GOOD = "Anchor-7-chain"
REFUSED = {
    "Anchor-7": "is too short (minimum is 12 characters)",
    "Anchor-and-chain": "must contain at least one number",
    "Anchor 7 chains": "must contain at least one symbol",
    "anchor-7-chain": "must contain at least one uppercase letter",
    "ANCHOR-7-CHAIN": "must contain at least one lowercase letter",
}


@pytest.fixture
def _strict_rules(api: Api, make: Make, person: User) -> Iterator[None]:
    """Require longer and more complex passwords; the person has an older one."""
    with changed_settings(make, **RULES, signup_enabled=True):
        yield


@pytest.mark.usefixtures("_strict_rules")
def test_users_created_and_modified_through_the_api(api: Api, make: Make) -> None:
    for password, reason in REFUSED.items():
        name = make.name()
        sent = {"email": f"{name}@example.org", "username": name, "name": "x", "password": password}
        assert api.post("/users", make.root, **sent).json() == {"message": {"password": [reason]}}
    made = api.post("/users", make.root, **{**sent, "password": GOOD})
    assert made.status_code == 201
    for password, reason in REFUSED.items():
        changed = api.put(f"/users/{made.json()['id']}", make.root, password=password)
        assert (changed.status_code, changed.json()) == (400, {"message": {"password": [reason]}})
    assert api.put(f"/users/{made.json()['id']}", make.root, password=GOOD + "s").status_code == 200


@pytest.mark.usefixtures("_strict_rules")
def test_pages(
    browser: Browser, make: Make, person: User, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    name = make.name()
    named = {"user[name]": "x", "user[username]": name, "user[email]": f"{name}@example.org"}
    assert 'minlength="12"' in browser.get("/users/sign_up").text
    for password, reason in REFUSED.items():
        refused = browser.submit("/users/sign_up", "/users", fields={**named, "user[password]": password})
        assert refused.status_code == 422
        assert reason in refused.text
    assert browser.submit("/users/sign_up", "/users", fields={**named, "user[password]": GOOD}).status_code == 302

    owner = open_browser().signed_in_as(person)
    weak, typed = "anchor-7-chain", {"user[current_password]": PASSWORD}
    fields = {**typed, "user[password]": weak, "user[password_confirmation]": weak}
    assert REFUSED[weak] in owner.submit("/profile/password/new", "/profile/password", fields=fields).text
    fields = {**typed, "user[password]": GOOD, "user[password_confirmation]": GOOD}
    assert owner.submit("/profile/password/new", "/profile/password", fields=fields).status_code == 302

    visitor = open_browser()
    visitor.submit("/users/password/new", "/users/password", fields={"user[email]": person.email})
    link = mailed_link(instance, person.email, "/users/password/edit?reset_password_token")
    fields = {"user[password]": weak, "user[password_confirmation]": weak}
    assert REFUSED[weak] in visitor.submit(link, "/users/password", fields=fields).text
    fields = {"user[password]": GOOD, "user[password_confirmation]": GOOD}
    assert visitor.submit(link, "/users/password", fields=fields).status_code == 302


def test_invalid_rules(api: Api, make: Make) -> None:
    for value in (7, 129, "long", None):
        assert api.put(PATH, make.root, minimum_password_length=value).status_code == 400, value
    assert api.put(PATH, make.root, password_symbol_required="perhaps").status_code == 400
