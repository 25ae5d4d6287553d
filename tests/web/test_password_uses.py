"""Uses of a password (pages, session API, OAuth, git and LFS) in every state of its account."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.accounts.users.tables import users
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.oauth_client import by_password
from tests.transport.conftest import Tree, over_http
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

LFS_TYPE = "application/vnd.git-lfs+json"
# The reason that the owner of a correct password gets, and the page after the sign-in form. An empty reason means that
# the response is that of a wrong password.
STATES = {
    "usable": (None, "/"),
    "within the grace period": (None, "/"),
    "second factor enabled": ("You have 2FA enabled", "second step"),
    "second factor due": ("requires 2FA", "/profile/two_factor_auth"),
    "second factor due in a group": ("requires 2FA", "/profile/two_factor_auth"),
    "expired": ("has expired", "/profile/password/new"),
    "expired and second factor due": ("requires 2FA", "/profile/password/new"),
    "blocked": ("", ""),
    "banned": ("", ""),
    "deactivated": ("", ""),
    "unconfirmed": ("", ""),
    "passwords off": ("", ""),
}
_COLUMNS: dict[str, dict[str, Any]] = {
    "second factor enabled": {"two_factor_enabled": True},
    "unconfirmed": {"confirmed_at": None},
    **{state: {"state": state} for state in ("blocked", "banned", "deactivated")},
}


@pytest.fixture
def enter_state(instance: Instance, api: Api, make: Make) -> Iterator[Callable[[User, str], None]]:
    """Return a function that puts an account, or the instance, into a state until the test ends."""
    names = ("signin_enabled", "require_two_factor_authentication", "two_factor_grace_period")
    before = api.get("/application/settings", make.root).json()

    def configure(**settings: Any) -> None:
        assert api.put("/application/settings", make.root, **settings).status_code == 200

    def enter(person: User, state: str) -> None:
        if state in _COLUMNS:
            instance.app.database.write(lambda db: db.update(users, person.id, **_COLUMNS[state]))
        if "expired" in state:
            # A password that an administrator sets must be changed at the next sign-in.
            assert api.put(f"/users/{person.id}", make.root, password=PASSWORD).status_code == 200
        if state == "passwords off":
            configure(signin_enabled=False)
        if "group" in state:
            required: dict[str, Any] = {"require_two_factor_authentication": True, "two_factor_grace_period": 0}
            make_group(make, make.user(), members={person: 10}, **required)
        elif "due" in state or "grace" in state:
            configure(require_two_factor_authentication=True, two_factor_grace_period=0 if "due" in state else 48)

    yield enter
    configure(**{name: before[name] for name in names})


@pytest.mark.parametrize("state", STATES)
def test_every_use_in_every_state(
    state: str,
    instance: Instance,
    api: Api,
    make: Make,
    person: User,
    browser: Browser,
    tmp_path: Path,
    enter_state: Callable[[User, str], None],
) -> None:
    project = make_project(make, person, visibility="private")
    tree = Tree(tmp_path)
    tree.git("init", "-q", "-b", "master")
    tree.commit()
    enter_state(person, state)
    reason, page = STATES[state]
    accepted = reason is None

    session = api.post("/session", login=person.username, password=PASSWORD)
    assert session.status_code == (201 if accepted else 401)
    if reason is not None:
        assert (session.json()["message"] == "401 Unauthorized") == (reason == ""), session.text
        assert reason in session.json()["message"]

    granted = by_password(instance.url, person)
    assert granted.status_code == (200 if accepted else 401)
    if reason is not None:
        assert granted.json()["error"] == "invalid_grant"
        assert (reason or "The provided authorization grant is invalid") in granted.json()["error_description"]

    url = over_http(instance, project, person, PASSWORD)
    for command in (["ls-remote", url], ["push", url, f"HEAD:refs/heads/{make.name('branch')}"]):
        output = tree.git(*command, fails=not accepted)
        assert accepted or ("Access denied" in output and (reason or "Use your password") in output), output

    batch = httpx.post(
        f"{instance.url}/{project.path}.git/info/lfs/objects/batch",
        json={"operation": "download", "objects": []},
        auth=(person.username, PASSWORD),
        headers={"Content-Type": LFS_TYPE, "Accept": LFS_TYPE},
    )
    assert (batch.status_code != 401) == accepted, batch.text

    registry = httpx.get(f"{instance.url}/jwt/auth", auth=(person.username, PASSWORD))
    assert (registry.status_code == 200) == accepted
    assert accepted or (reason or "Access denied") in registry.json()["errors"][0]["message"]

    form = browser.sign_in(person.username, PASSWORD)
    if page == "second step":
        assert (form.status_code, "Two-factor authentication" in form.text) == (200, True)
    else:
        assert form.status_code == (302 if page else 401)
    assert browser.is_signed_in() == accepted
    if page.startswith("/profile"):
        assert browser.get("/profile/account").headers["location"] == page
        assert browser.get("/api/v4/user").status_code == 401
    token_works = state not in ("blocked", "banned", "deactivated")
    assert (api.get("/user", person).status_code == 200) == token_works, "Tokens are a credential of their own."
