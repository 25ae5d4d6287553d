"""Instance settings."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Api, Make

PATH = "/application/settings"
READ_ONLY = ("id", "created_at", "updated_at", "runners_registration_token")
# Fields of GitLab 9.4.
SHOWN = {
    "id",
    "default_projects_limit",
    "signup_enabled",
    "signin_enabled",
    "gravatar_enabled",
    "sign_in_text",
    "after_sign_up_text",
    "created_at",
    "updated_at",
    "home_page_url",
    "default_branch_protection",
    "restricted_visibility_levels",
    "max_attachment_size",
    "session_expire_delay",
    "default_project_visibility",
    "default_snippet_visibility",
    "default_group_visibility",
    "default_artifacts_expire_in",
    "domain_whitelist",
    "domain_blacklist_enabled",
    "domain_blacklist",
    "user_oauth_applications",
    "after_sign_out_path",
    "container_registry_token_expire_delay",
    "repository_storage",
    "repository_storages",
    "repository_storages_weighted",
    "koding_enabled",
    "koding_url",
    "plantuml_enabled",
    "plantuml_url",
    "terminal_max_session_time",
    "polling_interval_multiplier",
    "help_page_hide_commercial_content",
    "help_page_text",
    "help_page_support_url",
}


@pytest.fixture(autouse=True)
def settings(api: Api, make: Make) -> Iterator[dict[str, Any]]:
    """Yield the settings before a test, restored after it."""
    before: dict[str, Any] = api.get(PATH, as_user=make.root).json()
    yield before
    put_back = api.put(PATH, as_user=make.root, **before)
    assert _values(put_back.json()) == _values(before)


def _values(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name not in READ_ONLY}


def test_only_administrators(api: Api, make: Make) -> None:
    for caller, status in ((None, 401), (make.user(), 403), (make.root, 200)):
        assert api.get(PATH, as_user=caller).status_code == status
        assert api.put(PATH, as_user=caller, sign_in_text="Welcome").status_code == status
        assert api.put(PATH, as_user=caller, max_attachment_size="much").status_code == (
            400 if status == 200 else status
        )


def test_shows_all_documented_settings(settings: dict[str, Any]) -> None:
    assert settings.keys() >= SHOWN
    assert settings["id"] == 1
    assert settings["default_project_visibility"] == "private"
    assert settings["domain_whitelist"] == settings["domain_allowlist"] == []
    assert settings["repository_storages"] == ["default"]
    assert settings["polling_interval_multiplier"] == "1.0"


def test_changes_only_sent_settings(api: Api, make: Make, settings: dict[str, Any]) -> None:
    sent = {
        "default_projects_limit": 3,
        "default_snippet_visibility": "internal",
        "restricted_visibility_levels": ["public"],
        "default_artifacts_expire_in": "2 days",
        "help_page_text": "Zum Mitnehmen: 寿司 🍣",
        "import_sources": ["git", "github"],
    }

    changed = api.put(PATH, as_user=make.root, **sent)

    assert changed.status_code == 200
    assert _values(changed.json()) == {**_values(settings), **sent}
    assert api.get(PATH, as_user=make.root).json() == changed.json()
    assert changed.json()["created_at"] == settings["created_at"]


def test_update_is_idempotent(api: Api, make: Make) -> None:
    first = api.put(PATH, as_user=make.root, sign_in_text="Once").json()
    second = api.put(PATH, as_user=make.root, sign_in_text="Once")

    assert second.status_code == 200
    assert second.json() == first


def test_every_shown_setting_can_be_sent_back(api: Api, make: Make, settings: dict[str, Any]) -> None:
    for name, value in _values(settings).items():
        answer = api.put(PATH, as_user=make.root, **{name: value})
        assert (answer.status_code, answer.json()) == (200, settings), name


def test_accepts_forms_and_queries(api: Api, make: Make) -> None:
    levels = ["private", "internal"]
    form = {"signup_enabled": "on", "restricted_visibility_levels[]": levels, "max_artifacts_size": "7"}

    changed = api.request("PUT", PATH, as_user=make.root, data=form).json()
    assert (changed["signup_enabled"], changed["max_artifacts_size"]) == (True, 7)
    assert changed["restricted_visibility_levels"] == levels

    changed = api.request("PUT", PATH + "?signup_enabled=false", as_user=make.root).json()
    assert changed["signup_enabled"] is False
    assert changed["max_artifacts_size"] == 7


@pytest.mark.parametrize("sent", [{}, {"no_such_setting": 1}, {"id": 2, "created_at": "2020-01-01"}])
def test_a_parameter_is_required(api: Api, make: Make, settings: dict[str, Any], sent: dict[str, Any]) -> None:
    refused = api.put(PATH, as_user=make.root, **sent)

    assert refused.status_code == 400
    assert refused.json()["message"].startswith("400 (Bad request)")
    assert api.get(PATH, as_user=make.root).json() == settings


def test_unknown_parameters_and_nulls_change_nothing(api: Api, make: Make, settings: dict[str, Any]) -> None:
    sent = {"max_artifacts_size": 9, "max_attachment_size": None, "signin_enabled": None, "no_such_setting": 1, "id": 7}

    changed = api.put(PATH, as_user=make.root, **sent)

    assert changed.status_code == 200
    assert _values(changed.json()) == {**_values(settings), "max_artifacts_size": 9}
    assert changed.json()["id"] == 1


INVALID = [
    ("default_branch_protection", 7),
    ("default_branch_protection", "all"),
    ("default_project_visibility", "secret"),
    ("restricted_visibility_levels", ["public", "secret"]),
    ("enabled_git_access_protocol", "ftp"),
    ("import_sources", ["floppy"]),
    ("disabled_oauth_sign_in_sources", ["somebody"]),
    ("repository_storages", ["default", "other"]),
    ("repository_storages", []),
    ("signup_enabled", "perhaps"),
    ("signup_enabled", 2),
    ("default_projects_limit", -1),
    ("default_projects_limit", "many"),
    ("default_projects_limit", 2**31),
    ("default_projects_limit", 10**30),
    ("default_projects_limit", [1]),
    ("max_attachment_size", 0),
    ("max_attachment_size", 1.5),
    ("session_expire_delay", -10),
    ("throttle_authenticated_api_period_in_seconds", 0),
    ("throttle_unauthenticated_requests_per_period", 0),
    ("polling_interval_multiplier", -0.1),
    ("polling_interval_multiplier", "fast"),
    ("home_page_url", "javascript:alert(1)"),
    ("help_page_support_url", "example.com"),
    ("after_sign_out_path", "//evil.example.com"),
    ("admin_notification_email", "nobody"),
    ("default_artifacts_expire_in", "soon"),
    ("domain_whitelist", ["person@example.com"]),
    ("domain_whitelist", {"a": [1]}),
    ("sign_in_text", "x" * 1_000_001),
    ("sign_in_text", "a\0b"),
    ("sign_in_text", ["a"]),
    ("housekeeping_gc_period", 5),
    ("recaptcha_enabled", True),
]


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_invalid_values_are_rejected(api: Api, make: Make, settings: dict[str, Any], name: str, value: Any) -> None:
    refused = api.put(PATH, as_user=make.root, **{name: value, "max_artifacts_size": 9})

    assert refused.status_code == 400
    assert list(refused.json()["message"]) == [name]
    assert api.get(PATH, as_user=make.root).json() == settings


def test_an_unknown_storage_is_rejected_under_its_old_name(api: Api, make: Make) -> None:
    refused = api.put(PATH, as_user=make.root, repository_storage="other")

    assert refused.status_code == 400
    assert refused.json()["message"] == {"repository_storages": ["can't include: other"]}


VALID = [
    ("enabled_git_access_protocol", "ssh", "ssh"),
    ("enabled_git_access_protocol", "nil", None),
    ("enabled_git_access_protocol", "", None),
    ("default_branch_protection", "1", 1),
    ("home_page_url", "https://example.com/über?q=1", "https://example.com/über?q=1"),
    ("home_page_url", "", ""),
    ("after_sign_out_path", "/goodbye", "/goodbye"),
    ("default_artifacts_expire_in", "1 year and 3 months", "1 year and 3 months"),
    ("sign_in_text", "ä" * 1_000_000, "ä" * 1_000_000),
    ("restricted_visibility_levels", [], []),
    (
        "domain_whitelist",
        "example.com\n*.example.org, müller.example",
        ["example.com", "*.example.org", "müller.example"],
    ),
    ("domain_whitelist", ["a.example", "b.example; c.example", "a.example"], ["a.example", "b.example", "c.example"]),
    ("domain_whitelist", "", []),
    ("domain_whitelist", None, []),
]


@pytest.mark.parametrize(("name", "value", "shown"), VALID)
def test_valid_values_are_stored(api: Api, make: Make, name: str, value: Any, shown: Any) -> None:
    changed = api.put(PATH, as_user=make.root, **{name: value})

    assert (changed.status_code, changed.json()[name]) == (200, shown)
    assert api.get(PATH, as_user=make.root).json()[name] == shown


SECOND_NAMES = [
    ("domain_allowlist", "domain_whitelist", ["example.com"]),
    ("domain_denylist", "domain_blacklist", ["example.com"]),
    ("password_authentication_enabled_for_web", "signin_enabled", False),
]


@pytest.mark.parametrize(("second", "first", "value"), SECOND_NAMES)
def test_aliases_share_one_value(
    api: Api, make: Make, settings: dict[str, Any], second: str, first: str, value: Any
) -> None:
    for name in (second, first):
        changed = api.put(PATH, as_user=make.root, **{name: value}).json()
        assert changed[first] == changed[second] == value
        # A client that sends the whole object back sends both names; the changed one counts.
        changed = api.put(PATH, as_user=make.root, **{**changed, name: settings[name]}).json()
        assert changed == {**settings, "updated_at": changed["updated_at"]}


DEPENDENCIES = [
    ("domain_blacklist_enabled", "domain_blacklist", ["spam.example.com"]),
    ("domain_denylist_enabled", "domain_denylist", ["spam.example.com"]),
    ("require_two_factor_authentication", "two_factor_grace_period", 24),
]


@pytest.mark.parametrize(("flag", "companion", "value"), DEPENDENCIES)
def test_a_setting_requires_its_dependency(
    api: Api, make: Make, settings: dict[str, Any], flag: str, companion: str, value: Any
) -> None:
    alone = api.put(PATH, as_user=make.root, **{flag: True})
    assert alone.status_code == 400
    named = companion.replace("denylist", "blacklist")
    assert alone.json() == {"message": f'400 (Bad request) "{named}" not given'}
    assert api.get(PATH, as_user=make.root).json() == settings

    together = api.put(PATH, as_user=make.root, **{flag: True, companion: value}).json()
    assert (together[flag], together[companion]) == (True, value)

    assert api.put(PATH, as_user=make.root, **{flag: False}).status_code == 200
    again = api.put(PATH, as_user=make.root, **{flag: True})
    assert (again.status_code, again.json()[companion]) == (200, value)


@pytest.mark.parametrize("blank", [[], None])
def test_a_required_dependency_cannot_be_removed(api: Api, make: Make, blank: list[str] | None) -> None:
    api.put(PATH, as_user=make.root, domain_blacklist_enabled=True, domain_blacklist=["example.com"])

    emptied = api.put(PATH, as_user=make.root, domain_blacklist=blank)

    assert emptied.status_code == 400
    assert emptied.json()["message"] == {"domain_blacklist": ["can't be blank"]}
    assert api.put(PATH, as_user=make.root, domain_blacklist_enabled=False, domain_blacklist=blank).status_code == 200


def test_changes_take_effect_at_once(api: Api, make: Make) -> None:
    api.put(PATH, as_user=make.root, default_projects_limit=5, user_default_external=False)

    assert api.get("/user", as_user=make.user()).json()["projects_limit"] == 5
