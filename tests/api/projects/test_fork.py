"""Forks: permissions, namespaces, copied attributes, and fork relations set by administrators."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ingot.core.access.levels import Level
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import projects
from tests.api.projects import view_fields
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, ids, make_group, make_project

CALLERS = [
    ("nobody", "public", 401),
    ("stranger", "public", 201),
    ("stranger", "internal", 201),
    ("stranger", "private", 404),
    ("guest", "private", 403),
    ("guest", "internal", 201),
    ("reporter", "private", 201),
    ("external", "public", 403),
    ("external", "internal", 404),
    ("root", "private", 201),
]


@pytest.mark.parametrize(("who", "visibility", "status"), CALLERS)
def test_users_who_can_read_code_may_fork(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    caller = make.user(external=who == "external")
    owner = make.user()
    level = {"guest": 10, "reporter": 20}.get(who, 0)
    project = make_project(make, owner, members={caller: level}, visibility=visibility, name=make.name("forked"))
    person = {"nobody": None, "root": make.root}.get(who, caller)

    forked = api.post(f"{project.url}/fork", person)

    assert forked.status_code == status
    if status != 201:
        return
    assert person is not None
    fork = forked.json()
    fields = view_fields.ADMINISTRATOR if who == "root" else view_fields.MASTER
    assert set(fork) == fields | {"owner", "forked_from_project"}
    assert set(fork["forked_from_project"]) == view_fields.SIMPLE
    assert fork["forked_from_project"]["id"] == project.id
    assert (fork["name"], fork["owner"]["id"], fork["creator_id"]) == (project.name, person.id, person.id)
    assert (fork["visibility"], fork["import_status"], fork["import_error"]) == (visibility, "finished", None)
    assert api.get(project.url, owner).json()["forks_count"] == 1
    assert ids(api.get(f"{project.url}/forks", make.root)) == [fork["id"]]


def _path(instance: Instance, make: Make, project_id: int) -> Path:
    statement = select(projects.c.repository_key).where(projects.c.id == project_id)
    key = make.database.read(lambda db: db.value(statement))
    return RepositoryStore(instance.settings.data / "repositories").path_of(key)


def _git(*arguments: str, at: Path) -> str:
    return subprocess.run(["git", *arguments], cwd=at, check=True, capture_output=True, text=True).stdout.strip()


def _commit(instance: Instance, make: Make, project: Project, branch: str) -> str:
    path = _path(instance, make, project.id)
    tree = _git("mktree", at=path)
    person = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    commit = _git(*person, "commit-tree", "-m", "First", tree, at=path)
    _git("update-ref", f"refs/heads/{branch}", commit, at=path)
    return commit


def test_the_repository_exists_when_the_call_returns(api: Api, instance: Instance, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public", default_branch="trunk")
    commit = _commit(instance, make, project, "trunk")

    fork = api.post(f"{project.url}/fork", user).json()

    path = _path(instance, make, fork["id"])
    assert fork["default_branch"] == "trunk"
    assert _git("rev-parse", "HEAD", at=path) == commit
    # It also stays when its source is deleted.
    api.delete(project.url, make.root)
    instance.work()
    assert _git("cat-file", "-t", commit, at=path) == "commit"


NAMESPACES = [
    ("own by default", {}, 201),
    ("own by number", {"namespace": "{own}"}, 201),
    ("own by path", {"namespace": "{username}"}, 201),
    ("own by another name", {"namespace_id": "{own}"}, 201),
    ("own by a third name", {"namespace_path": "{username}"}, 201),
    ("a group of ones own", {"namespace": "{mine}"}, 201),
    ("a group below, by its path", {"namespace": "{below}"}, 201),
    ("a group that one only sees", {"namespace": "{seen}"}, 404),
    ("a group that one does not see", {"namespace": "{hidden}"}, 404),
    ("somebody else", {"namespace": "root"}, 404),
    ("nothing", {"namespace": "999999999"}, 404),
]


@pytest.mark.parametrize(("where", "sent", "status"), NAMESPACES)
def test_namespace_of_a_fork(api: Api, make: Make, where: str, sent: dict[str, str], status: int) -> None:
    user, project = make.user(), make_project(make, visibility="public")
    mine = make_group(make, members={user: Level.MASTER})
    names: dict[str, Any] = {
        "own": api.get(f"/namespaces/{user.username}", user).json()["id"],
        "username": user.username,
        "mine": mine.id,
        "below": make_group(make, parent=mine).path,
        "seen": make_group(make, members={user: Level.REPORTER}).id,
        "hidden": make_group(make).id,
    }
    filled = {name: value.format(**names) for name, value in sent.items()}

    forked = api.post(f"{project.url}/fork", user, **filled)

    assert forked.status_code == status
    if status == 404:
        assert forked.json() == {"message": "404 Target Namespace Not Found"}
    else:
        target = forked.json()["namespace"]
        assert (filled.get("namespace", user.username) in (str(target["id"]), target["full_path"])) or where.startswith(
            "own"
        )


def test_administrators_fork_for_others(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make)

    forked = api.post(f"{project.url}/fork", make.root, namespace=user.username).json()

    assert forked["owner"]["id"] == user.id


def test_a_second_fork_into_one_namespace_is_rejected(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public")
    api.post(f"{project.url}/fork", user)

    twice = api.post(f"{project.url}/fork", user)

    taken = ["has already been taken"]
    assert (twice.status_code, twice.json()) == (409, {"message": {"name": taken, "path": taken}})
    other = api.post(
        f"{project.url}/fork", user, name="Another", path="another", description="Mine", visibility="private"
    )
    assert other.status_code == 201
    shown = other.json()
    assert [shown[name] for name in ("name", "path", "description", "visibility")] == [
        "Another",
        "another",
        "Mine",
        "private",
    ]


def test_a_fork_of_a_fork(api: Api, make: Make) -> None:
    first, second = make.user(), make.user()
    project = make_project(make, visibility="public")
    fork = api.post(f"{project.url}/fork", first).json()

    again = api.post(f"/projects/{fork['id']}/fork", second).json()

    assert again["forked_from_project"]["id"] == fork["id"]
    assert api.get(project.url).json()["forks_count"] == 1


def test_the_source_is_shown_only_to_users_who_can_see_it(api: Api, make: Make) -> None:
    """A fork of a project that became private, or whose owner lost access, does not show its source."""
    user = make.user()
    project = make_project(make, members={user: Level.REPORTER})
    fork = api.post(f"{project.url}/fork", user).json()
    assert api.get(f"/projects/{fork['id']}", user).json()["forked_from_project"]["id"] == project.id

    api.delete(f"{project.url}/members/{user.id}", make.root)

    assert "forked_from_project" not in api.get(f"/projects/{fork['id']}", user).json()
    assert "forked_from_project" in api.get(f"/projects/{fork['id']}", make.root).json()
    assert api.get(f"{project.url}/forks", user).status_code == 404


def test_invisible_forks_are_not_listed(api: Api, make: Make) -> None:
    owner, user = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    private = api.post(f"{project.url}/fork", user, visibility="private").json()
    public = api.post(f"{project.url}/fork", make.user()).json()

    assert ids(api.get(f"{project.url}/forks", owner)) == [public["id"]]
    assert ids(api.get(f"{project.url}/forks", user)) == [public["id"], private["id"]]
    assert ids(api.get(f"{project.url}/forks", user, owned=True)) == [private["id"]]
    assert api.get(f"{project.url}/forks").status_code == 401


def test_administrators_set_fork_relations(api: Api, make: Make) -> None:
    owner = make.user()
    project, source, other = make_project(make, owner), make_project(make, visibility="public"), make_project(make)
    place = f"{project.url}/fork"

    assert api.post(f"{place}/{source.id}", owner).status_code == 403
    assert api.delete(place, owner).status_code == 403
    assert api.delete(place, make.root).status_code == 304
    assert api.post(f"{place}/999999999", make.root).status_code == 404
    assert api.post(f"{place}/{project.id}", make.root).status_code == 400
    related = api.post(f"{place}/{source.id}", make.root)
    assert (related.status_code, related.json()["forked_from_project"]["id"]) == (201, source.id)
    assert api.get(source.url).json()["forks_count"] == 1
    clash = api.post(f"{place}/{other.id}", make.root)
    assert (clash.status_code, clash.json()) == (409, {"message": "Project already forked"})
    assert api.delete(place, make.root).status_code == 200
    assert "forked_from_project" not in api.get(project.url, make.root).json()
    assert api.get(source.url).json()["forks_count"] == 0


def test_invalid_forks_are_rejected(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public")

    assert api.post("/projects/999999999/fork", user).json() == {"message": "404 Project Not Found"}
    assert api.post(f"{project.url}/fork", user, path="../x").status_code == 400
    assert api.post(f"{project.url}/fork", user, visibility="secret").status_code == 400


def test_fork_relations_have_no_cycles(api: Api, make: Make) -> None:
    source = make_project(make, visibility="public")
    fork = api.post(f"{source.url}/fork", make.user()).json()
    again = api.post(f"/projects/{fork['id']}/fork", make.user()).json()

    for below in (source.id, fork["id"], again["id"]):
        assert api.post(f"{source.url}/fork/{below}", make.root).status_code == 400
    assert "forked_from_project" not in api.get(source.url, make.root).json()
    # A sibling in the fork network is not an ancestor.
    cousin = make_project(make)
    assert api.post(f"{cousin.url}/fork/{again['id']}", make.root).status_code == 201


def test_a_job_copies_the_repository_on_request(api: Api, instance: Instance, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public", default_branch="trunk")
    commit = _commit(instance, make, project, "trunk")

    fork = api.post(f"{project.url}/fork", user, by_job=True).json()

    assert (fork["import_status"], fork["empty_repo"], fork["default_branch"]) == ("scheduled", True, "trunk")
    assert api.get(f"/projects/{fork['id']}/repository/branches", user).json() == []
    refused = api.post(f"/projects/{fork['id']}/repository/commits", user, branch="trunk", commit_message="Too early")
    assert refused.status_code in (400, 403)
    assert api.post(f"{project.url}/fork", user, by_job=True).status_code == 409, "As without."
    instance.work()
    done = api.get(f"/projects/{fork['id']}", user).json()
    assert (done["import_status"], done["forked_from_project"]["id"]) == ("finished", project.id)
    assert _git("rev-parse", "HEAD", at=_path(instance, make, fork["id"])) == commit
    assert [branch["name"] for branch in api.get(f"/projects/{fork['id']}/repository/branches", user).json()] == [
        "trunk"
    ]
