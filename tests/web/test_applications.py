"""Pages of OAuth applications."""

from collections.abc import Callable

import pytest

from tests.client import Make, User
from tests.oauth_client import CALLBACK, authorize, register, shown, with_bearer
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "<script>alert(1)</script>\"'"
FIELDS = {
    "doorkeeper_application[name]": HOSTILE,
    "doorkeeper_application[redirect_uri]": CALLBACK,
    "doorkeeper_application[scopes][]": "read_user",
}


def _number(page_text: str, root: str) -> str:
    return page_text.split(f'href="{root}/')[1].split('"')[0]


@pytest.fixture
def admin(browser: Browser, make: Make) -> Browser:
    """Return a browser of an administrator."""
    return browser.signed_in_as(make.user(password=PASSWORD, admin=True))


def test_a_user_creates_edits_and_deletes_an_application(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    page = browser.submit("/profile/applications", "/oauth/applications", fields=FIELDS)
    assert HOSTILE not in page.text
    secret = shown(page, "secret")
    listed = browser.get("/oauth/applications").text
    assert HOSTILE not in listed
    assert "&lt;script&gt;" in listed
    here = f"/oauth/applications/{_number(listed, '/oauth/applications')}"
    assert secret not in browser.get(here).text

    token = browser.form("/profile/account", "/users/sign_out").fields
    renewed = browser.post(f"{here}/renew", data=token)
    assert shown(renewed, "secret") != secret

    changed = {**FIELDS, "doorkeeper_application[name]": "Better", "_method": "put"}
    assert browser.post(here, data={**token, **changed}).status_code == 302
    assert "Better" in browser.get(here).text
    refused = browser.post(here, data={**token, **changed, "doorkeeper_application[redirect_uri]": "<b>no"})
    assert refused.status_code == 422
    assert "&lt;b&gt;no" in refused.text
    assert browser.post(here, data={**token, "_method": "delete"}).status_code == 302
    assert browser.get(here).status_code == 404


def test_invalid_input_stays_in_the_form(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    fields = {**FIELDS, "doorkeeper_application[redirect_uri]": "nowhere"}
    refused = browser.submit("/profile/applications", "/oauth/applications", fields=fields)
    assert refused.status_code == 422
    assert "Redirect uri must be an absolute URI." in refused.text
    assert "&lt;script&gt;" in refused.text


def test_applications_of_others_are_not_found(
    browser: Browser, open_browser: Callable[[], Browser], person: User, make: Make
) -> None:
    register(browser.signed_in_as(person))
    here = f"/oauth/applications/{_number(browser.get('/oauth/applications').text, '/oauth/applications')}"
    other = open_browser().signed_in_as(make.user(password=PASSWORD))
    token = other.form("/profile/account", "/users/sign_out").fields
    assert other.get(here).status_code == 404
    for sent in ({"_method": "put", **FIELDS}, {"_method": "delete"}):
        assert other.post(here, data={**token, **sent}).status_code == 404
    assert other.post(f"{here}/renew", data=token).status_code == 404
    assert browser.get(here).status_code == 200


def test_administrators_manage_instance_applications(
    admin: Browser, open_browser: Callable[[], Browser], person: User
) -> None:
    page = admin.submit("/admin/applications", "/admin/applications", fields=FIELDS)
    assert shown(page, "application_id")
    listed = admin.get("/admin/applications").text
    assert HOSTILE not in listed
    here = f"/admin/applications/{listed.split('/admin/applications/')[-1].split(chr(34))[0]}"
    assert admin.get(here).status_code == 200
    token = admin.form("/profile/account", "/users/sign_out").fields
    assert shown(admin.post(f"{here}/renew", data=token), "secret")
    assert admin.post(here, data={**token, "_method": "put", **FIELDS}).status_code == 302

    other = open_browser().signed_in_as(person)
    theirs = other.form("/profile/account", "/users/sign_out").fields
    assert other.get("/admin/applications").status_code == 404
    assert other.get(here).status_code == 404
    assert other.post("/admin/applications", data={**theirs, **FIELDS}).status_code == 404
    assert other.post(here, data={**theirs, "_method": "delete"}).status_code == 404
    assert admin.post(here, data={**token, "_method": "delete"}).status_code == 302


def test_the_authorization_page_escapes_names(browser: Browser, person: User) -> None:
    app = register(browser.signed_in_as(person), name=HOSTILE)
    page = browser.get(app.address(state=HOSTILE, scope="api"))
    assert "<script>alert" not in page.text
    heard = authorize(browser, app.address(state=HOSTILE, scope="api")).headers["location"]
    assert "<" not in heard
    assert '"' not in heard


def test_deleting_an_application_revokes_its_tokens(browser: Browser, person: User) -> None:
    app = register(browser.signed_in_as(person))
    held = app.exchange(app.code(browser)).json()["access_token"]
    here = f"/oauth/applications/{_number(browser.get('/oauth/applications').text, '/oauth/applications')}"
    token = browser.form("/profile/account", "/users/sign_out").fields
    browser.post(here, data={**token, "_method": "delete"})
    assert with_bearer(app.url, held).status_code == 401
