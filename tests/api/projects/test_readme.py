"""Projects initialized with a README."""

import base64
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects import initial_commit
from ingot.repositories.ref_changes.tables import RefChange, ref_changes, ref_intents
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group
from tests.git_history import repository_of, run

_CHANGES = select(ref_changes).where(ref_changes.c.project_id == bindparam("project"))
_INTENTS = select(ref_intents.c.id).where(ref_intents.c.project_id == bindparam("project"))


def create_with_readme(api: Api, who: User, path: str = "/projects", **attributes: Any) -> dict[str, Any]:
    """Create a project and return the response."""
    answer = api.post(path, who, initialize_with_readme=True, **attributes)
    assert answer.status_code == 201, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def project_of(shown: dict[str, Any]) -> Project:
    """Return the project of a response as a test project."""
    return Project(shown["id"], shown["path_with_namespace"], shown["name"], shown["namespace"]["id"])


def test_the_readme_exists_when_the_call_returns(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    shown = create_with_readme(api, owner, name=" Über it ", description="What it\nis for.")
    url = f"/projects/{shown['id']}"

    assert (shown["empty_repo"], shown["default_branch"]) == (False, "master")
    file = api.get(f"{url}/repository/files/README.md", owner, ref="master").json()
    assert base64.b64decode(file["content"]).decode() == "# Über it\n\nWhat it\nis for.\n"
    (commit,) = api.get(f"{url}/repository/commits", owner).json()
    assert (commit["title"], commit["author_name"], commit["author_email"]) == (
        "Initial commit",
        owner.username,
        owner.email,
    )
    (branch,) = api.get(f"{url}/repository/branches", owner).json()
    assert (branch["name"], branch["protected"], branch["commit"]["id"]) == ("master", True, commit["id"])
    run(repository_of(instance, project_of(shown)).path, "fsck", "--strict")


def test_the_commit_is_recorded_as_a_push(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    shown = create_with_readme(api, owner, name="recorded", default_branch="trunk/one")
    read = instance.app.database.read

    (change,) = read(lambda db: db.all(RefChange, _CHANGES, project=shown["id"]))
    tip = api.get(f"/projects/{shown['id']}/repository/branches/trunk%2Fone", owner).json()["commit"]["id"]
    assert (change.actor_id, change.via, change.ref, change.new) == (owner.id, "api", "refs/heads/trunk/one", tip)
    assert read(lambda db: db.rows(_INTENTS, project=shown["id"])) == []
    more = {"branch": "trunk/one", "content": "x", "commit_message": "More"}
    assert api.post(f"/projects/{shown['id']}/repository/files/more", owner, **more).status_code == 201
    assert len(api.get(f"/projects/{shown['id']}/repository/commits", owner).json()) == 2


def test_for_another_user_and_in_a_group(api: Api, make: Make) -> None:
    """The project's owner is the author; the path is the title if there is no name."""
    owner = make.user()
    shown = create_with_readme(api, make.root, f"/projects/user/{owner.id}", name="given")
    (commit,) = api.get(f"/projects/{shown['id']}/repository/commits", owner).json()
    assert commit["author_email"] == owner.email
    group = make_group(make, owner)
    within = create_with_readme(api, owner, path="/projects", namespace_id=group.id, name="in-a-group")
    raw = api.get(f"/projects/{within['id']}/repository/files/README.md/raw", owner, ref="HEAD")
    assert raw.content == b"# in-a-group\n"
    nobody = api.post("/projects/user/999999999", make.root, name="x", initialize_with_readme=True)
    assert nobody.status_code == 404


def test_a_readme_is_created_only_on_request(api: Api, make: Make) -> None:
    owner = make.user()
    choices: list[dict[str, Any]] = [{}, {"initialize_with_readme": False}, {"initialize_with_readme": "0"}]
    for number, choice in enumerate(choices):
        plain = api.post("/projects", owner, name=f"plain-{number}", **choice)
        assert plain.json()["empty_repo"] is True
    assert api.post("/projects", owner, name="odd", initialize_with_readme="perhaps").status_code == 400
    assert api.post("/projects", owner, name="plain-0", initialize_with_readme=True).status_code == 400


@pytest.mark.parametrize("step", ["commit_actions", "update_refs"])
def test_a_failed_commit_leaves_an_empty_project(
    api: Api, make: Make, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The project stays empty until the first push."""

    def fail(*_: object, **__: object) -> RefUpdate:
        raise OSError("No space left on device")

    owner = make.user()
    monkeypatch.setattr(initial_commit, step, fail)
    shown = create_with_readme(api, owner, name="empty")
    assert shown["empty_repo"] is True
    assert api.get(f"/projects/{shown['id']}/repository/branches", owner).json() == []
