"""Instance settings that affect pages."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from ingot.accounts.instance.tables import instance_settings
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.queries import find_user
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import day, make_project
from tests.web.browser import Browser
from tests.web.test_two_factor import HERE, enable_two_factor

SETTINGS = ["require_two_factor_authentication", "two_factor_grace_period", "user_oauth_applications"]
SETTINGS += ["home_page_url", "restricted_visibility_levels"]


@pytest.fixture
def set_settings(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Yield a function that changes instance settings until the test ends."""
    before = api.get("/application/settings", make.root).json()

    def set_settings(**wanted: Any) -> None:
        assert api.put("/application/settings", make.root, **wanted).status_code == 200

    yield set_settings
    set_settings(**{name: before[name] for name in SETTINGS})


def test_two_factor_authentication_is_required(
    browser: Browser, person: User, api: Api, make: Make, set_settings: Callable[..., None]
) -> None:
    project = make_project(make, visibility="public")
    browser.signed_in_as(person)
    set_settings(require_two_factor_authentication=True, two_factor_grace_period=1)
    assert browser.get("/profile/account").status_code == 200, "There is an hour for it."
    set_settings(require_two_factor_authentication=True, two_factor_grace_period=0)

    for path in ("/", "/profile/account", f"/{project.path}", "/explore", "/oauth/authorize"):
        assert browser.get(path).headers.get("location") == HERE, path
    asked = browser.get(HERE)
    assert "Set up two-factor authentication to continue." in asked.text
    token = browser.form(HERE, HERE).fields["authenticity_token"]
    sent = {"authenticity_token": token, "personal_access_token[name]": "x", "personal_access_token[scopes][]": "api"}
    assert browser.post("/profile/personal_access_tokens", data=sent).headers["location"] == HERE
    assert browser.get("/api/v4/user").status_code == 401, "Nor does the session open the API."
    assert api.get("/user", person).status_code == 200, "Tokens were made on purpose."

    enable_two_factor(browser)
    assert browser.get("/profile/account").status_code == 200
    assert browser.get("/api/v4/user").status_code == 200


def test_the_grace_period_starts_with_the_requirement(
    person: User, instance: Instance, set_settings: Callable[..., None]
) -> None:
    """Saving other settings does not extend it, but disabling and enabling does."""
    user = instance.app.database.read(lambda db: find_user(db, person.id))

    def is_due() -> bool:
        return instance.app.database.read(lambda db: is_second_factor_due(db, user))

    with day(instance, "2050-01-01"):
        set_settings(require_two_factor_authentication=True, two_factor_grace_period=36)
    with day(instance, "2050-01-02"):
        set_settings(home_page_url="https://example.org/", require_two_factor_authentication=True)
        set_settings(two_factor_grace_period=30)
        assert not is_due()
    with day(instance, "2050-01-03"):
        assert is_due()
        set_settings(home_page_url="")
        assert is_due()
        set_settings(require_two_factor_authentication=False)
        assert not is_due()
        set_settings(require_two_factor_authentication=True)
        assert not is_due()
    with day(instance, "2050-01-05"):
        assert is_due()


def test_a_requirement_without_a_stored_date(
    person: User, instance: Instance, set_settings: Callable[..., None]
) -> None:
    with day(instance, "2050-01-01"):
        set_settings(require_two_factor_authentication=True, two_factor_grace_period=36)
    document = {"require_two_factor_authentication": True, "two_factor_grace_period": 36}
    instance.app.database.write(
        lambda db: db.update(instance_settings, 1, document=msgspec.json.encode(document).decode())
    )
    with day(instance, "2050-01-02"):
        set_settings(home_page_url="https://example.org/")
    with day(instance, "2050-01-03"):
        user = instance.app.database.read(lambda db: find_user(db, person.id))
        assert instance.app.database.read(lambda db: is_second_factor_due(db, user))


def test_users_may_be_denied_to_create_applications(
    browser: Browser, person: User, set_settings: Callable[..., None]
) -> None:
    browser.signed_in_as(person)
    form = browser.form("/profile/applications", "/oauth/applications")
    set_settings(user_oauth_applications=False)

    assert "Add application" not in browser.get("/profile/applications").text
    named = {"doorkeeper_application[name]": "x", "doorkeeper_application[redirect_uri]": "http://app.example/"}
    assert browser.post("/oauth/applications", data={**form.fields, **named}).status_code == 404


def test_home_page_of_anonymous_visitors(browser: Browser, person: User, set_settings: Callable[..., None]) -> None:
    set_settings(home_page_url="https://harbour.example/start")

    assert browser.get("/").headers["location"] == "https://harbour.example/start"
    assert browser.signed_in_as(person).get("/").status_code == 200
    set_settings(home_page_url=f"{browser.url}/")
    browser.cookies.clear()
    assert browser.get("/").headers["location"] == "/explore"


def test_users_are_hidden_if_public_is_restricted(
    browser: Browser, person: User, set_settings: Callable[..., None]
) -> None:
    assert browser.get(f"/{person.username}").status_code == 200
    set_settings(restricted_visibility_levels=["public"])

    hidden, none = browser.get(f"/{person.username}"), browser.get("/nobody-of-this-name")
    assert (hidden.status_code, hidden.text) == (404, none.text)
    assert browser.signed_in_as(person).get(f"/{person.username}").status_code == 200


def test_administrators_change_it_on_the_page(
    browser: Browser, api: Api, make: Make, set_settings: Callable[..., None]
) -> None:
    """Enabling it sends the hours, which the API requires."""
    set_settings(two_factor_grace_period=40)
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = "/admin/application_settings"
    typed = browser.form(page, page).fields | {"settings[signin_enabled]": "1"}

    saved = browser.post(page, data={**typed, "settings[require_two_factor_authentication]": "1"})

    assert saved.status_code == 302, saved.text
    assert api.get("/application/settings", make.root).json()["require_two_factor_authentication"] is True
