"""Archived projects: readable, and can be starred, forked, edited, unarchived and deleted only."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import ids, make_group, make_project

CALLERS = [("nobody", 401), ("stranger", 404), ("master", 403), ("owner", 201), ("group owner", 201), ("root", 201)]


@pytest.mark.parametrize(("who", "status"), CALLERS)
@pytest.mark.parametrize("verb", ["archive", "unarchive"])
def test_owners_archive(api: Api, make: Make, who: str, status: int, verb: str) -> None:
    owner, caller = make.user(), make.user()
    group = make_group(make, caller) if who == "group owner" else None
    project = make_project(make, None if group else owner, group=group, members={caller: 40} if who == "master" else {})
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)
    if verb == "unarchive":
        api.post(f"{project.url}/archive", make.root)

    for _ in range(2):
        answer = api.post(f"{project.url}/{verb}", person)
        assert answer.status_code == status
        if status == 201:
            assert answer.json()["archived"] is (verb == "archive")
    archived = (verb == "archive") is (status == 201)
    assert api.get(project.url, make.root).json()["archived"] is archived


def test_an_archived_project_rejects_every_write(api: Api, make: Make) -> None:
    owner, member, new, asking = (make.user() for _ in range(4))
    group, other = make_group(make, owner, visibility="public"), make_group(make, owner)
    project = make_project(make, owner, members={member: 30}, visibility="public")
    source = make_project(make, visibility="public")
    api.post(f"{project.url}/access_requests", asking)
    api.post(f"{project.url}/share", owner, group_id=group.id, group_access=10)
    api.post(f"{project.url}/archive", owner)
    before = api.get(project.url, owner).json()

    writes: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", "/transfer", {"namespace": group.id}),
        ("POST", "/members", {"user_id": new.id, "access_level": 10}),
        ("PUT", f"/members/{member.id}", {"access_level": 10}),
        ("DELETE", f"/members/{member.id}", {}),
        ("PUT", f"/access_requests/{asking.id}/approve", {}),
        ("DELETE", f"/access_requests/{asking.id}", {}),
        ("POST", "/share", {"group_id": other.id, "group_access": 10}),
        ("DELETE", f"/share/{group.id}", {}),
        ("POST", "/housekeeping", {}),
    ]
    for method, path, sent in writes:
        for caller in (owner, make.root):
            assert api.request(method, project.url + path, caller, json=sent).status_code == 403, (method, path)
    assert api.post(f"{project.url}/access_requests", make.user()).status_code == 403
    assert api.delete(f"{project.url}/members/{member.id}", member).status_code == 403
    assert api.post(f"{project.url}/fork/{source.id}", make.root).status_code == 403
    assert api.post(f"{group.url}/projects/{project.id}", make.root).status_code == 403
    assert api.get(project.url, owner).json() == before
    assert ids(api.get(f"{project.url}/access_requests", owner)) == [asking.id]


def test_writes_allowed_in_an_archived_project(api: Api, make: Make) -> None:
    owner, user, maintainer = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public", members={maintainer: 40})
    api.post(f"{project.url}/archive", owner)

    for editor, status in ((owner, 200), (make.root, 200), (maintainer, 403), (user, 403)):
        edited = api.put(project.url, editor, description=f"By {editor.username}", visibility="public")
        assert edited.status_code == status
        if status == 200:
            assert (edited.json()["description"], edited.json()["archived"]) == (f"By {editor.username}", True)
    assert api.post(f"{project.url}/star", user).status_code == 201
    assert api.post(f"{project.url}/unstar", user).status_code == 201
    fork = api.post(f"{project.url}/fork", user)
    assert (fork.status_code, fork.json()["archived"]) == (201, False)
    assert api.post(f"{project.url}/unarchive", owner).status_code == 201
    assert api.put(project.url, owner, description="again").status_code == 200
    api.post(f"{project.url}/archive", owner)
    assert api.delete(project.url, owner).status_code == 200


def test_deleting_a_group_deletes_its_archived_projects(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, members={make.user(): Level.GUEST}, visibility="public")
    api.post(f"{project.url}/archive", owner)

    assert api.put(group.url, owner, path=make.name("renamed")).status_code == 200
    assert api.get(project.url).json()["path_with_namespace"] != project.path
    assert api.delete(group.url, owner).status_code == 200
