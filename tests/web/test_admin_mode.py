"""Admin mode: administrators act as such only after another sign-in, and with tokens that say so."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

ENTRANCE = "/admin/session/new"


@pytest.fixture
def administrator(make: Make) -> User:
    return make.user(password=PASSWORD, admin=True)


@pytest.fixture
def admin_mode(make: Make) -> Iterator[Make]:
    """Switch admin mode on, and let the tests of this module restore the settings."""
    root = make.root.with_token(make.token(make.root.id, "api", "admin_mode"))
    elevated = replace(make, root=root)
    with changed_settings(elevated, admin_mode=True):
        yield elevated


def test_tokens_need_the_scope(api: Api, make: Make, administrator: User, admin_mode: Make) -> None:
    elevated = admin_mode.token(administrator.id, "api", "admin_mode")
    for path in ("/application/settings", "/admin/nodes"):
        assert api.get(path, administrator).status_code == 403
        assert api.get(path, administrator.with_token(elevated)).status_code == 200
    other = admin_mode.user()
    assert api.get("/user", administrator, sudo=other.username).status_code == 403
    person = other.with_token(admin_mode.token(other.id, "api", "admin_mode"))
    assert api.get("/application/settings", person).status_code == 403, "The scope makes nobody an administrator."


def test_pages_need_a_sign_in(browser: Browser, administrator: User, instance: Instance, admin_mode: Make) -> None:
    browser.signed_in_as(administrator)
    page = browser.get("/admin/users")
    assert (page.status_code, page.headers["location"]) == (302, f"{ENTRANCE}?redirect_to=%2Fadmin%2Fusers")
    assert "/users/sign_in?again=true&amp;redirect_to=%2Fadmin%2Fusers" in browser.get(page.headers["location"]).text
    assert 'href="/admin"' not in browser.get("/explore").text
    sign_in = "/users/sign_in?again=true&redirect_to=%2Fadmin%2Fusers"
    fields = {"user[login]": administrator.username, "user[password]": PASSWORD}
    assert browser.submit(sign_in, "/users/sign_in", fields=fields).headers["location"] == "/admin/users"
    assert browser.get("/admin/users").status_code == 200
    with later(instance, hours=7):
        assert browser.get("/admin/users").status_code == 302, "It ends after six hours."
        assert browser.is_signed_in()
    assert browser.submit("/explore", "/admin/session/destroy").status_code == 302
    assert browser.get("/admin/users").status_code == 302
    assert browser.is_signed_in()


def test_others_cannot_enter_it(browser: Browser, person: User, admin_mode: Make) -> None:
    browser.signed_in_as(person)
    assert browser.get(ENTRANCE).status_code == 404
    sign_in = "/users/sign_in?again=true&redirect_to=%2Fadmin"
    browser.submit(sign_in, "/users/sign_in", fields={"user[login]": person.username, "user[password]": PASSWORD})
    assert browser.get("/admin").status_code == 404


def test_without_the_setting(browser: Browser, administrator: User, api: Api) -> None:
    browser.signed_in_as(administrator)
    assert browser.get("/admin/users").status_code == 200
    assert browser.get(ENTRANCE).status_code == 404
    assert api.get("/application/settings", administrator).status_code == 200
