"""LFS locks: create, list and unlock."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient
from tests.roles import UsersByRole, project_with


def _lock(lfs: LfsClient, project: Project, who: User, path: str) -> dict[str, Any]:
    made = lfs.json(project, "info/lfs/locks", who, path=path, ref={"name": "refs/heads/master"})
    assert made.status_code == 201, made.text
    lock: dict[str, Any] = made.json()["lock"]
    return lock


def test_life_cycle_of_a_lock(make: Make, lfs: LfsClient, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    lock = _lock(lfs, project, roles.developer, "art/big file.psd")
    assert lock == {
        "id": lock["id"],
        "path": "art/big file.psd",
        "locked_at": lock["locked_at"],
        "owner": {"name": roles.developer.username},
    }
    assert isinstance(lock["id"], str)
    again = lfs.json(project, "info/lfs/locks", roles.master, path="art/big file.psd")
    assert (again.status_code, again.json()["lock"]) == (409, lock)
    assert {"message", "documentation_url", "request_id"} < set(again.json())
    listed = lfs.call("GET", project, "info/lfs/locks", roles.reporter)
    assert listed.json() == {"locks": [lock]}
    for query, found in (
        ({"path": "art/big file.psd"}, [lock]),
        ({"path": "other"}, []),
        ({"id": lock["id"]}, [lock]),
        ({"id": "999999999"}, []),
        ({"id": "x"}, []),
        ({"path": "art/big file.psd", "id": "999999999"}, []),
        ({"refspec": "refs/heads/master", "limit": "x", "cursor": ""}, [lock]),
        ({"cursor": "x"}, []),
    ):
        assert lfs.call("GET", project, "info/lfs/locks", roles.reporter, params=query).json()["locks"] == found
    mine = lfs.json(project, "info/lfs/locks/verify", roles.developer).json()
    assert mine == {"ours": [lock], "theirs": []}
    theirs = lfs.json(project, "info/lfs/locks/verify", roles.master, ref={"name": "x"}).json()
    assert theirs == {"ours": [], "theirs": [lock]}
    gone = lfs.json(project, f"info/lfs/locks/{lock['id']}/unlock", roles.developer, force=False)
    assert (gone.status_code, gone.json()) == (200, {"lock": lock})
    assert lfs.json(project, f"info/lfs/locks/{lock['id']}/unlock", roles.developer).status_code == 404
    assert lfs.call("GET", project, "info/lfs/locks", roles.reporter).json() == {"locks": []}


CALLERS = [
    ("administrator", 200, 201, 403, 200),
    ("owner", 200, 201, 403, 200),
    ("master", 200, 201, 403, 200),
    ("developer", 200, 201, 403, 403),
    ("reporter", 200, 403, 403, 403),
    ("guest", 403, 403, 403, 403),
    ("stranger", 404, 404, 404, 404),
    ("nobody", 401, 401, 401, 401),
]


@pytest.mark.parametrize(("role", "sees", "locks", "unlocks", "forces"), CALLERS)
def test_permissions(
    make: Make, lfs: LfsClient, roles: UsersByRole, role: str, sees: int, locks: int, unlocks: int, forces: int
) -> None:
    """Locking requires push access; unlocking requires the owner, or a master with force."""
    project, caller = project_with(make, roles), roles[role]
    other = make.user()
    make.api.post(f"/projects/{project.id}/members", make.root, user_id=other.id, access_level=30)
    lock = _lock(lfs, project, other, "theirs")
    assert lfs.call("GET", project, "info/lfs/locks", caller).status_code == sees
    assert lfs.json(project, "info/lfs/locks", caller, path="mine").status_code == locks
    verified = lfs.json(project, "info/lfs/locks/verify", caller).status_code
    assert verified == (200 if locks == 201 else locks)
    path = f"info/lfs/locks/{lock['id']}/unlock"
    assert lfs.json(project, path, caller).status_code == unlocks
    assert lfs.json(project, path, caller, force=True).status_code == forces


def test_a_lock_is_found_only_in_its_project(make: Make, lfs: LfsClient, roles: UsersByRole) -> None:
    """Attack: unlock, by its id, a lock of a hidden project."""
    project, own = project_with(make, roles), make_project(make, roles.stranger)
    lock = _lock(lfs, project, roles.owner, "file")
    for number in (lock["id"], "0", "x", "9" * 30, "..%2f..", "%00"):
        answer = lfs.json(own, f"info/lfs/locks/{number}/unlock", roles.stranger, force=True)
        assert answer.status_code == 404
    assert lfs.call("GET", project, "info/lfs/locks", roles.owner).json()["locks"] == [lock]
    _lock(lfs, own, roles.stranger, "file")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b'{"path": 7}', 400),
        (b'{"path": ""}', 422),
        (b'{"path": " "}', 422),
        (b'{"path": "a\\u0000b"}', 422),
        (b'{"path": "\\ud800"}', 400),
        (b'{"path": "' + b"x" * 4097 + b'"}', 422),
        (b'{"path": "' + b"x" * 4096 + b'"}', 201),
        ('{"path": "日本/🦊.psd"}'.encode(), 201),
        (b'{"path": "--output=/tmp/x"}', 201),
    ],
    ids=lambda value: str(value)[:30],
)
def test_valid_and_invalid_paths(make: Make, lfs: LfsClient, body: bytes, status: int) -> None:
    project = make_project(make)
    assert lfs.call("POST", project, "info/lfs/locks", make.root, content=body).status_code == status


def test_locks_are_paginated(make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner)
    ids = [_lock(lfs, project, owner, f"file {number}")["id"] for number in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        part = lfs.call("GET", project, "info/lfs/locks", owner, params={"limit": 2, "cursor": cursor}).json()
        seen += [lock["id"] for lock in part["locks"]]
        cursor = part.get("next_cursor")
    assert seen == ids
    part = lfs.json(project, "info/lfs/locks/verify", owner, limit=4).json()
    assert (len(part["ours"]), part["next_cursor"]) == (4, ids[3])
    part = lfs.json(project, "info/lfs/locks/verify", owner, limit=4, cursor=ids[3]).json()
    assert (len(part["ours"]), "next_cursor" in part) == (1, False)
    for limit in (-1, 0, 10**9):
        assert lfs.json(project, "info/lfs/locks/verify", owner, limit=limit).status_code == 200


def test_concurrent_locking_creates_one(make: Make, lfs: LfsClient) -> None:
    people = [make.user() for _ in range(4)]
    project = make_project(make, members=dict.fromkeys(people, Level.DEVELOPER))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda who: lfs.json(project, "info/lfs/locks", who, path="file"), people))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert len({answer.json()["lock"]["id"] for answer in answers}) == 1


def test_locks_are_deleted_with_their_owner(api: Api, make: Make, lfs: LfsClient) -> None:
    owner, member = make.user(), make.user()
    project = make_project(make, owner, members={member: Level.DEVELOPER})
    _lock(lfs, project, member, "file")
    assert api.delete(f"/users/{member.id}", make.root).status_code in (200, 204)
    assert lfs.call("GET", project, "info/lfs/locks", owner).json() == {"locks": []}
    for path in ("info/lfs/locks/more/than/that", "info/lfs/locks/1/break"):
        assert lfs.json(project, path, owner).status_code == 404
