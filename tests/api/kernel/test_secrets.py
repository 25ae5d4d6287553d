"""Response fields by caller: exact keys of every view, and no secrets in lists."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ingot.server.registry import all_endpoints
from tests.client import Api, Make, User
from tests.ssh_public_keys import ed25519_line

BRIEF = {"id", "username", "name", "state", "avatar_url", "web_url"}
PUBLIC = BRIEF | {"created_at", "bio", "location", "organization", "website_url", "public_email", "work_information"}
PUBLIC |= {"skype", "linkedin", "twitter", "bot", "job_title", "pronouns", "discord"}
OWN = PUBLIC | {"email", "commit_email", "last_sign_in_at", "current_sign_in_at", "confirmed_at", "last_activity_on"}
OWN |= {"color_scheme_id", "projects_limit", "identities", "can_create_group", "can_create_project"}
OWN |= {"two_factor_enabled", "external"}
FULL = OWN | {
    "is_admin",
    "locked",
    "namespace_id",
    "note",
    "private_profile",
    "theme_id",
}
FULL |= {"bluesky", "mastodon", "view_diffs_file_by_file"}
TOKEN = {"id", "name", "revoked", "created_at", "scopes", "active", "expires_at", "user_id", "last_used_at"}
KEY = {"id", "title", "key", "created_at", "expires_at", "usage_type", "can_push"}
NAMESPACE = {"id", "name", "path", "kind", "full_path", "parent_id", "web_url", "avatar_url"}
# Key names of stored secrets.
SECRET_KEYS = re.compile(
    r"pass|secret|hash|digest|sealed|salt|private(?!_profile)|^token$|csrf|session|reset|confirmation_token"
)
SETTINGS = {"prevent_secrets", "require_password_to_approve", "reset_approvals_on_push"}
"""Settings of projects and groups whose names match; another test may have left a project with the id of the user."""


@pytest.fixture(scope="module")
def owner(api: Api, make: Make) -> User:
    """Return a user with one of every object."""
    user = make.user(password="the password of the owner", provider="github", extern_uid=make.name("uid"))
    api.post("/user/keys", user, title="Key", key=ed25519_line())
    api.post("/user/emails", user, email=f"{make.name('second')}@example.org")
    api.post(f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"])
    api.post(f"/users/{user.id}/follow", make.root)
    api.put("/user/status", user, message="Busy")
    return user


VIEWS: list[tuple[str, str, set[str]]] = [
    ("stranger", "/users", BRIEF),
    ("administrator", "/users", FULL),
    ("stranger", "/users/{id}", PUBLIC),
    ("owner", "/users/{id}", PUBLIC),
    ("administrator", "/users/{id}", FULL),
    ("owner", "/user", OWN),
    ("administrator", "/user", FULL | {"private_token"}),
    ("stranger", "/users/{id}/followers", BRIEF),
    ("administrator", "/users/{id}/followers", BRIEF),
    ("owner", "/user/keys", KEY),
    ("administrator", "/users/{id}/keys", KEY),
    ("owner", "/user/emails", {"id", "email", "confirmed_at"}),
    ("administrator", "/users/{id}/emails", {"id", "email", "confirmed_at"}),
    ("owner", "/personal_access_tokens", TOKEN),
    ("owner", "/personal_access_tokens/self", TOKEN),
    ("administrator", "/personal_access_tokens?user_id={id}", TOKEN),
    ("administrator", "/users/{id}/impersonation_tokens", TOKEN | {"impersonation"}),
    ("owner", "/namespaces", NAMESPACE),
    ("administrator", "/namespaces", NAMESPACE),
    ("stranger", "/users/{id}/status", {"emoji", "message", "availability", "message_html", "clear_status_at"}),
]


@pytest.mark.parametrize(("who", "path", "keys"), VIEWS)
def test_each_view_has_exactly_these_keys(
    api: Api, make: Make, owner: User, who: str, path: str, keys: set[str]
) -> None:
    """Attack: a field added to a view by mistake reveals data."""
    caller = {"stranger": make.user(), "owner": owner, "administrator": make.root}[who]

    answer = api.request("GET", path.format(id=owner.id), caller)

    assert answer.status_code == 200, answer.text
    shown = answer.json() if isinstance(answer.json(), list) else [answer.json()]
    assert shown
    for each in shown:
        # Groups are visible to administrators and add keys.
        assert set(each) - {"members_count_with_descendants"} == keys


def test_keys_with_their_user_are_for_administrators_only(api: Api, make: Make, owner: User) -> None:
    key_id = api.get("/user/keys", owner).json()[0]["id"]

    shown = api.get(f"/keys/{key_id}", make.root).json()

    assert set(shown) == KEY | {"user", "deploy_keys_projects"}
    assert set(shown["user"]) == FULL
    assert api.get(f"/keys/{key_id}", owner).status_code == 403


def test_a_secret_is_shown_only_in_the_response_that_created_it(api: Api, make: Make, owner: User) -> None:
    for kind, more in (("impersonation_tokens", {"impersonation"}), ("personal_access_tokens", set[str]())):
        made = api.post(f"/users/{owner.id}/{kind}", make.root, name="once", scopes=["api"]).json()
        assert set(made) == TOKEN | more | {"token"}
        for path in (f"/users/{owner.id}/impersonation_tokens", "/personal_access_tokens"):
            assert made["token"] not in api.get(path, make.root, per_page=100).text


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from _keys(part)


def _reads() -> list[str]:
    """Return every read that needs only a user id, except settings, whose names contain the word password."""
    paths = {endpoint.path for endpoint in all_endpoints() if endpoint.method == "GET"}
    paths -= {"/openapi.json", "/application/settings", "/keys"}
    return sorted(path for path in paths if path.count(":") <= 1 and not path.startswith("/templates"))


@pytest.mark.parametrize("path", _reads())
def test_no_read_contains_a_secret(api: Api, make: Make, owner: User, path: str) -> None:
    """Attack: search every response to every caller for stored secrets."""
    private = api.get("/user", make.root, sudo=owner.username).json()["private_token"]
    secrets = [owner.token, make.root.token, owner.password, make.root.password, private, "$argon2"]
    own = path in ("/user", "/user/emails", "/user/emails/:email_id", "/notification_settings")

    for caller in (make.user(), owner, make.root):
        answer = api.request("GET", re.sub(r":\w+", str(owner.id), path), caller)
        assert [secret for secret in secrets if secret in answer.text] == []
        allowed = SETTINGS | {"private_token"} if (caller, path) == (make.root, "/user") else SETTINGS
        # Package managers read pages and files, which have no keys.
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        keys = set(_keys(answer.json())) if answer.content and is_json else set()
        found = {key for key in keys if SECRET_KEYS.search(key)}
        assert found - allowed == set()
        if caller is not make.root and not own:
            assert owner.email not in answer.text
            assert "email" not in keys


def test_the_private_token_is_shown_to_administrators_with_sudo(api: Api, make: Make, owner: User) -> None:
    assert "private_token" in api.get("/user", make.root).json()
    assert "private_token" in api.get("/user", make.root, sudo=owner.username).json()
    assert "private_token" not in api.get("/user", owner).json()
    assert "private_token" not in api.get(f"/users/{owner.id}", make.root).json()
