"""Redirects from old paths, until the path is reused."""

from typing import Any

import pytest

from tests.client import Api, Make
from tests.factories import by_path, make_group, make_project


def _found(api: Api, make: Make, path: str) -> int | None:
    answer = api.get(by_path("projects", path), make.root)
    return answer.json()["id"] if answer.status_code == 200 else None


def test_a_rename_keeps_the_old_path_working(api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner)
    moved = make.name("Moved")

    shown = api.put(project.url, owner, path=moved).json()

    assert shown["path_with_namespace"] == f"{owner.username}/{moved}"
    assert shown["http_url_to_repo"].endswith(f"/{owner.username}/{moved}.git")
    for path in (project.path, project.path.upper(), f"{owner.username}/{moved}"):
        assert _found(api, make, path) == project.id
    # Users who cannot see the project get no redirect either.
    assert api.get(project.url_by_path, stranger).status_code == 404
    assert api.get(project.url_by_path).status_code == 404


def test_repeated_renames_redirect_to_the_last_path(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    paths = [make.name("moved") for _ in range(3)]
    for path in paths:
        api.put(project.url, owner, path=path)

    for path in (project.path, *(f"{owner.username}/{each}" for each in paths)):
        assert _found(api, make, path) == project.id


def test_renaming_back_removes_the_redirect(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    api.put(project.url, owner, path="elsewhere")
    api.put(project.url, owner, path=project.path.split("/")[-1])

    assert _found(api, make, project.path) == _found(api, make, f"{owner.username}/elsewhere") == project.id


@pytest.mark.parametrize("what", ["project", "renamed project", "transferred project", "group"])
def test_a_reused_path_ends_the_redirect(api: Api, make: Make, what: str) -> None:
    group = make_group(make)
    project = make_project(make, group=group, name="thing")
    api.put(project.url, make.root, path="moved", name="Moved")

    if what == "project":
        new = make_project(make, group=group, name="thing")
    elif what == "renamed project":
        new = make_project(make, group=group)
        api.put(new.url, make.root, path="Thing")
    elif what == "transferred project":
        new = make_project(make, name="thing")
        api.put(f"{new.url}/transfer", make.root, namespace=group.id)
    else:
        below = make_group(make, parent=group, path="thing")
        assert _found(api, make, project.path) is None
        api.delete(below.url, make.root)
    if what != "group":
        assert _found(api, make, project.path) == new.id
        api.delete(new.url, make.root)

    # The last project at that path was deleted; older redirects do not return.
    assert _found(api, make, project.path) is None
    assert _found(api, make, f"{group.path}/moved") == project.id


def test_renames_of_project_and_group_combine(api: Api, make: Make) -> None:
    group = make_group(make)
    below = make_group(make, parent=group, path="below")
    project = make_project(make, group=below, name="thing")
    new = make.name("new")

    api.put(group.url, make.root, path=new)
    api.put(project.url, make.root, path="renamed")
    api.put(below.url, make.root, path="deeper")

    for path in (
        f"{group.path}/below/thing",
        f"{new}/below/thing",
        f"{new}/below/renamed",
        f"{new}/deeper/renamed",
    ):
        assert _found(api, make, path) == project.id, path


def test_the_old_name_of_a_user_redirects_and_stays_reserved(api: Api, make: Make) -> None:
    """Attack: register the old name to receive pushes of its users."""
    user, renamed = make.user(), make.name("renamed")
    project = make_project(make, user)
    api.put(f"/users/{user.id}", make.root, username=renamed)

    assert _found(api, make, project.path) == project.id
    assert api.get(project.url, make.root).json()["path_with_namespace"].startswith(f"{renamed}/")
    sent = {"email": "other@example.org", "name": "x", "password": "long-enough"}
    assert api.post("/users", make.root, username=user.username.upper(), **sent).status_code == 409
    assert api.post("/groups", make.user(), name="x", path=user.username).status_code == 400


def test_a_path_may_change_only_in_case(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, name="Thing", path="thing")

    assert api.put(project.url, owner, path="THING").json()["path"] == "THING"

    assert _found(api, make, f"{owner.username}/thing") == project.id
    assert api.get(by_path("projects", project.path), owner).json()["path_with_namespace"] == f"{owner.username}/THING"


def test_a_deleted_project_leaves_no_redirect(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    api.put(project.url, owner, path="moved")

    api.delete(project.url, owner)

    assert _found(api, make, project.path) is None
    assert _found(api, make, f"{owner.username}/moved") is None


def test_a_rename_shows_at_once_in_every_list(api: Api, make: Make) -> None:
    owner, word = make.user(), make.name("fresh")
    project = make_project(make, owner, visibility="public")

    api.put(project.url, owner, name=f"{word} name", path=word)

    for path in (f"/projects?search={word}", f"/projects/search/{word}", f"/users/{owner.id}/projects"):
        (found,) = api.request("GET", path).json()
        assert (found["path_with_namespace"], found["name"]) == (f"{owner.username}/{word}", f"{word} name")
    assert api.get("/projects", search=project.name).json() == []


WRITES = [
    ("PUT", "", {"description": "by the old path"}),
    ("POST", "/star", {}),
    ("POST", "/archive", {}),
    ("POST", "/fork", {"path": "taken"}),
    ("POST", "/members", {"user_id": 1, "access_level": 10}),
    ("POST", "/variables", {"key": "KEY", "value": "x"}),
    ("POST", "/repository/tags", {"tag_name": "v1", "ref": "master"}),
    ("PUT", "/transfer", {"namespace": "root"}),
    ("DELETE", "", {}),
]


@pytest.mark.parametrize(("method", "rest", "sent"), WRITES)
def test_only_reads_are_redirected(api: Api, make: Make, method: str, rest: str, sent: dict[str, Any]) -> None:
    """A script that deletes by an old path must not delete the renamed project."""
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    api.put(project.url, owner, path=make.name("moved"))
    before = api.get(project.url, make.root).json()

    assert api.get(project.url_by_path, owner).status_code == 200
    refused = api.request(method, f"{project.url_by_path}{rest}", owner, json=sent)
    assert (refused.status_code, refused.json()) == (404, {"message": "404 Project Not Found"})
    assert api.get(project.url, make.root).json() == before
    # The same after renaming the parent group.
    current = by_path("projects", before["path_with_namespace"])
    api.put(group.url, owner, path=make.name("moved"))
    assert api.get(current, owner).status_code == 200
    assert api.request(method, f"{current}{rest}", owner, json=sent).status_code == 404


def test_an_upload_to_an_old_path_is_rejected(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    api.put(project.url, owner, path="moved")

    sent = {"files": {"file": ("a.txt", b"text")}}
    assert api.request("POST", f"{project.url_by_path}/uploads", owner, **sent).status_code == 404
    assert api.request("POST", f"{project.url}/uploads", owner, **sent).status_code == 201
