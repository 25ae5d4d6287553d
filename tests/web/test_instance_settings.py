"""Instance settings that affect pages."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import msgspec
import pytest

from ingot.accounts.instance.tables import instance_settings
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.queries import find_user
from ingot.web.admin.settings import FIELDS, TOPICS, setting_effects
from ingot.web.languages import load_catalogue
from ingot.web.translation import PageLanguage
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import day, make_project
from tests.web.browser import Browser, without_address
from tests.web.conftest import PASSWORD
from tests.web.test_two_factor import HERE, enable_two_factor


@pytest.fixture
def set_settings(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Yield a function that changes instance settings until the test ends."""
    before = api.get("/application/settings", make.root).json()

    def set_settings(**wanted: Any) -> None:
        assert api.put("/application/settings", make.root, **wanted).status_code == 200

    yield set_settings
    set_settings(**before)  # A page sends its whole form.


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
    assert browser.get("/").status_code == 200


def test_users_are_hidden_if_public_is_restricted(
    browser: Browser, person: User, set_settings: Callable[..., None]
) -> None:
    assert browser.get(f"/{person.username}").status_code == 200
    set_settings(restricted_visibility_levels=["public"])

    hidden, none = browser.get(f"/{person.username}"), browser.get("/nobody-of-this-name")
    assert (hidden.status_code, without_address(hidden.text)) == (404, without_address(none.text))
    assert browser.signed_in_as(person).get(f"/{person.username}").status_code == 200


def test_administrators_change_it_on_the_page(
    browser: Browser, api: Api, make: Make, set_settings: Callable[..., None]
) -> None:
    """Enabling it sends the hours, which the API requires."""
    set_settings(two_factor_grace_period=40)
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = "/admin/application_settings/sign_in_and_sign_up"
    typed = browser.form(page, page).fields | {"settings[signin_enabled]": "1"}

    saved = browser.post(page, data={**typed, "settings[require_two_factor_authentication]": "1"})

    assert saved.status_code == 302, saved.text
    assert api.get("/application/settings", make.root).json()["require_two_factor_authentication"] is True


FOLLOWING = {"send_user_confirmation_email", "default_branch_protection_defaults"}
"""Settings that follow another one."""


def test_every_effective_setting_is_on_a_page() -> None:
    effective = {name for name, declared in setting_effects().items() if declared.effect}
    shown = [name for fields in FIELDS.values() for name in fields]
    assert sorted(shown) == sorted(effective - FOLLOWING)


@pytest.mark.parametrize("topic", TOPICS)
def test_each_setting_has_its_meaning_its_default_and_who_is_affected(browser: Browser, make: Make, topic: str) -> None:
    german = load_catalogue("de")
    names = {label: name for fields in FIELDS.values() for name, (label, _) in fields.items()}
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = unescape(browser.get(f"/admin/application_settings/{topic}").text)
    for name in FIELDS[TOPICS[topic]]:
        declared = setting_effects()[name]
        assert all(declared), name
        hint = page.partition(f'id="{name}_hint">')[2].partition("</p>")[0]
        text = re.sub(r"</?code>", "`", re.sub(r"<q>(.+?)</q>", lambda quoted: f"`{names[quoted[1]]}`", hint))
        shown = re.fullmatch(r"(.+)<br><span>Default:</span> .+\. <span>Affects:</span> (.+)\.", text, re.DOTALL)
        assert shown and shown.groups() == (declared.effect, declared.affected), hint
        assert {declared.effect, declared.affected} <= german.keys(), name


@pytest.mark.parametrize("topic", TOPICS)
def test_saving_a_page_without_changes_changes_nothing(browser: Browser, api: Api, make: Make, topic: str) -> None:
    before = api.get("/application/settings", make.root).json()
    (newest, *_) = api.get("/audit_events", make.root, per_page=1).json() or [None]
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = f"/admin/application_settings/{topic}"
    switches = {
        f"settings[{name}]": "1"
        for name, (_, kind) in FIELDS[TOPICS[topic]].items()
        if kind == "switch" and before[name]
    }

    typed = _chosen(browser.get(page).text) | browser.form(page, page).fields
    assert browser.post(page, data={**typed, **switches}).status_code == 302

    assert api.get("/application/settings", make.root).json() == before, "Nor is null an empty text now."
    assert api.get("/audit_events", make.root, per_page=1).json() == ([newest] if newest else [])
    assert browser.get("/admin/application_settings/nothing").status_code == 404


def _chosen(page: str) -> dict[str, str]:
    """Return the values of the long texts and the selected choices of a form of settings."""
    texts = re.findall(r'<textarea [^>]*name="(settings[^"]+)"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    selects = re.findall(r'<select [^>]*name="(settings[^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL)
    chosen = {name: re.findall(r'<option value="([^"]*)" selected>', options) for name, options in selects}
    return {name: unescape(text) for name, text in texts} | {name: values[0] for name, values in chosen.items()}


def test_storages_of_new_repositories(browser: Browser, api: Api, make: Make) -> None:
    """The weight counts where it changes; a wrong one is shown with the reason."""
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = "/admin/application_settings/repository_storage"
    before = api.get("/application/settings", make.root).json()["repository_storages_weighted"]
    assert before == {"default": 100}
    for typed, status, stored in (
        ("default 40", 302, 40),
        ("default many", 422, 40),
        ("40", 422, 40),
        ("other 40", 422, 40),
        ("default 100", 302, 100),
    ):
        fields = _chosen(browser.get(page).text) | browser.form(page, page).fields
        fields["settings[repository_storages_weighted]"] = typed
        saved = browser.post(page, data=fields)
        assert saved.status_code == status, typed
        assert status == 302 or f">{typed}</textarea>" in saved.text
        weights = api.get("/application/settings", make.root).json()["repository_storages_weighted"]
        assert weights == {"default": stored}, typed


@pytest.mark.usefixtures("set_settings")
def test_external_sign_in_is_switched_off(browser: Browser, api: Api, make: Make) -> None:
    assert browser.sign_in("root", make.root.password).status_code == 302
    page = "/admin/application_settings/sign_in_and_sign_up"
    for chosen, stored in (("openid_connect", ["openid_connect"]), ("", [])):
        kept = {"settings[signin_enabled]": "1", "settings[password_authentication_enabled_for_git]": "1"}
        fields = browser.form(page, page).fields | kept | {"settings[disabled_oauth_sign_in_sources]": chosen}
        assert browser.post(page, data=fields).status_code == 302
        assert api.get("/application/settings", make.root).json()["disabled_oauth_sign_in_sources"] == stored


@pytest.mark.parametrize(
    ("default", "english", "german"),
    [
        ("1048576 bytes", "1048576 (1.0 MiB)", "1048576 (1,0 MiB)"),
        ("5368709120 bytes", "5368709120 (5.0 GiB)", "5368709120 (5,0 GiB)"),
        ("100 megabytes", "100 MB", "100 MB"),
        ("15 seconds", "15 seconds", "15 Sekunden"),
        ("3600 seconds", "3600 (1 hour)", "3600 (1 Stunde)"),
        ("10080 minutes", "10080 (7 days)", "10080 (7 Tage)"),
        ("2 months", "2 months", "2 Monate"),
        ("0", "0", "0"),
        ("on", "on", "an"),
    ],
)
def test_defaults_have_a_readable_unit(default: str, english: str, german: str) -> None:
    assert (PageLanguage("en").default(default), PageLanguage("de").default(default)) == (english, german)


def test_numbers_have_the_unit_of_their_meaning(browser: Browser, make: Make) -> None:
    assert browser.sign_in("root", make.root.password).status_code == 302
    for topic, name, default in (
        ("sizes", "snippet_size_limit", "1048576 (1.0 MiB)"),
        ("rate_limits", "throttle_authenticated_web_period_in_seconds", "3600 (1 hour)"),
        ("rate_limits", "throttle_authenticated_web_requests_per_period", "7200"),
        ("defaults", "default_branch_protection", "Maintainers push and merge"),
        ("repository_storage", "repository_storages_weighted", "default 100"),
    ):
        page = browser.get(f"/admin/application_settings/{topic}").text
        hint = page.partition(f'id="{name}_hint"')[2].partition("</p>")[0]
        assert f"<span>Default:</span> {default}. " in hint, hint


def test_pages_list_the_changes(browser: Browser, api: Api, make: Make) -> None:
    project = make_project(make, make.root)
    api.put(project.url, make.root, description="<b>Changed</b>")
    assert browser.sign_in("root", make.root.password).status_code == 302
    for page in (f"/{project.path}/-/audit_events", "/admin/audit_events"):
        assert "&lt;b&gt;Changed&lt;/b&gt;" in browser.get(page).text
    browser.cookies.clear()
    assert browser.get(f"/{project.path}/-/audit_events").status_code != 200


def test_two_factor_authentication_is_required_of_administrators(
    open_browser: Callable[[], Browser], person: User, make: Make, set_settings: Callable[..., None]
) -> None:
    admin = open_browser().signed_in_as(make.user(password=PASSWORD, admin=True))
    other = open_browser().signed_in_as(person)
    set_settings(require_admin_two_factor_authentication=True, two_factor_grace_period=1)
    assert admin.get("/profile/account").status_code == 200, "There is an hour for it."
    set_settings(two_factor_grace_period=0)

    assert admin.get("/admin").headers.get("location") == HERE
    assert admin.get("/api/v4/user").status_code == 401
    assert other.get("/profile/account").status_code == 200
    enable_two_factor(admin)
    assert admin.get("/admin").status_code == 200
