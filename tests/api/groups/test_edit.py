"""Editing of groups: permissions, effects on their contents, and validation."""

from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import by_path, make_group, make_project

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
CALLERS = [
    (Level.OWNER, "private", 200),
    (Level.MASTER, "private", 403),
    (Level.GUEST, "private", 403),
    (Level.NONE, "public", 403),
    (Level.NONE, "private", 404),
]


@pytest.mark.parametrize(("level", "visibility", "status"), CALLERS)
def test_owners_edit(api: Api, make: Make, level: Level, visibility: str, status: int) -> None:
    user = make.user()
    group = make_group(make, members={user: level}, visibility=visibility)

    assert api.put(group.url, user, description="Changed").status_code == status
    now = api.get(group.url, make.root).json()["description"]
    assert now == ("Changed" if status == 200 else "")


def test_only_sent_parameters_change(api: Api, make: Make) -> None:
    group = make_group(make, description="Before", visibility="internal")
    before = api.get(group.url, make.root).json()
    for sent in (
        {"name": f"{group.name} renamed"},
        {"description": "After"},
        {"description": None},
        {"visibility": "public"},
        {"lfs_enabled": False},
        {"request_access_enabled": False},
        {"share_with_group_lock": True},
        {"project_creation_level": "developer"},
        {"project_creation_level": "noone"},
        {},
        {"name": f"{group.name} renamed"},
    ):
        answer = api.put(group.url, make.root, **sent)
        assert answer.status_code == 200, answer.text
        before |= {key: "" if value is None else value for key, value in sent.items()}
        before["full_name"] = before["name"]
        assert answer.json() == before == api.get(group.url, make.root).json()


@pytest.mark.parametrize("sent", [{"id": 1}, {"parent_id": 1}, {"owner_id": 1}, {"kind": "user"}, {"full_path": "x"}])
def test_unknown_parameters_change_nothing(api: Api, make: Make, sent: dict[str, Any]) -> None:
    group = make_group(make)
    before = api.get(group.url, make.root).json()

    api.put(group.url, make.root, **sent)

    assert api.get(group.url, make.root).json() == before


def test_a_rename_moves_contents_and_redirects_old_paths(api: Api, make: Make) -> None:
    top = make_group(make)
    middle = make_group(make, parent=top, path="middle")
    project = make_project(make, group=middle, name="thing")
    renamed = make.name("Renamed")

    assert api.put(top.url, make.root, path=renamed).json()["full_path"] == renamed

    assert api.get(middle.url, make.root).json()["full_path"] == f"{renamed}/middle"
    assert api.get(project.url, make.root).json()["path_with_namespace"] == f"{renamed}/middle/thing"
    for path in (top.path, top.path.upper(), renamed):
        assert api.get(by_path("groups", path), make.root).json()["id"] == top.id
        assert api.get(by_path("groups", f"{path}/middle"), make.root).json()["id"] == middle.id
        assert api.get(by_path("projects", f"{path}/middle/thing"), make.root).json()["id"] == project.id
    # After two renames, the first path still redirects.
    api.put(top.url, make.root, path=make.name("again"))
    assert api.get(by_path("projects", project.path), make.root).json()["id"] == project.id


def test_a_new_name_changes_full_names_below(api: Api, make: Make) -> None:
    top = make_group(make)
    below = make_group(make, parent=top)
    project = make_project(make, group=below)

    api.put(top.url, make.root, name=f"{top.name} New")

    assert api.get(below.url, make.root).json()["full_name"] == f"{top.name} New / {below.name}"
    shown = api.get(project.url, make.root).json()["name_with_namespace"]
    assert shown == f"{top.name} New / {below.name} / {project.name}"


def test_the_old_path_stays_reserved(api: Api, make: Make) -> None:
    """Attack: take the old path of a renamed group to receive its clones and webhooks."""
    group, moved = make_group(make), make.name("moved")
    api.put(group.url, make.root, path=moved)
    attacker = make.user()

    assert api.post("/groups", attacker, name="Mine", path=group.path).status_code == 400
    username = {"username": group.path, "email": f"{group.path}@example.org", "name": "x", "password": "long-enough"}
    assert api.post("/users", make.root, **username).status_code == 409
    assert api.put(make_group(make, attacker).url, attacker, path=group.path).status_code == 400
    # The group itself may be renamed back; then its later path redirects.
    assert api.put(group.url, make.root, path=group.path).status_code == 200
    assert api.get(by_path("groups", moved), make.root).json()["id"] == group.id


def test_a_path_may_change_only_in_case(api: Api, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, group=group)

    assert api.put(group.url, make.root, path=group.path.upper()).json()["path"] == group.path.upper()

    assert api.get(project.url, make.root).json()["path_with_namespace"].startswith(group.path.upper() + "/")
    assert api.get(project.url_by_path, make.root).json()["id"] == project.id


@pytest.mark.parametrize("path", ["../x", "a/b", "x.git", "api", "", "-"])
def test_an_invalid_path_is_rejected(api: Api, make: Make, path: str) -> None:
    refused = api.put(make_group(make).url, make.root, path=path)

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["path"])


INSIDE = [("public", "internal", 400), ("public", "private", 400), ("internal", "internal", 200)]


@pytest.mark.parametrize(("inside", "wanted", "status"), INSIDE)
@pytest.mark.parametrize("what", ["group", "project", "project below"])
def test_a_group_is_at_least_as_visible_as_its_contents(
    api: Api, make: Make, inside: str, wanted: str, status: int, what: str
) -> None:
    group = make_group(make, visibility="public")
    if what == "group":
        make_group(make, parent=group, visibility=inside)
    else:
        below = make_group(make, parent=group, visibility="public") if "below" in what else group
        make_project(make, group=below, visibility=inside)
        if below is not group:
            status = 400

    answer = api.put(group.url, make.root, visibility=wanted)

    assert answer.status_code == status
    if status == 400:
        assert list(answer.json()["message"]) == ["visibility_level"]


def test_restricted_levels_are_reserved_for_administrators(api: Api, make: Make) -> None:
    user = make.user()
    group = make_group(make, user)
    api.put("/application/settings", make.root, restricted_visibility_levels=["public"])
    try:
        assert api.put(group.url, user, visibility="public").status_code == 400
        assert api.post("/groups", user, name="P", path=make.name("p"), visibility="public").status_code == 400
        assert api.put(group.url, user, visibility="internal").status_code == 200
        assert api.put(group.url, make.root, visibility="public").status_code == 200
        # An unchanged level is not checked.
        assert api.put(group.url, user, visibility="public", description="x").status_code == 200
    finally:
        api.put("/application/settings", make.root, restricted_visibility_levels=[])


def test_an_avatar_is_visible_to_users_who_can_see_the_group(api: Api, instance: Instance, make: Make) -> None:
    group = make_group(make)
    sent = {"files": {"avatar": ("face.png", PNG, "image/png")}}

    shown = api.request("PUT", group.url, make.root, **sent).json()["avatar_url"]

    assert shown == f"{instance.url}/uploads/-/system/group/avatar/{group.id}/face.png"
    assert httpx.get(shown).status_code == 404
    api.put(group.url, make.root, visibility="public")
    assert httpx.get(shown).content == PNG
    assert api.put(group.url, make.root, avatar="").json()["avatar_url"] is None
    assert httpx.get(shown).status_code == 404


@pytest.mark.parametrize("content", [b"AT&TFORM\0\0\0\0DJVU", b"II*\0" + b"\0" * 20, b"<svg onload=alert(1)>", b""])
def test_the_type_of_an_avatar_is_detected_from_its_bytes(api: Api, make: Make, content: bytes) -> None:
    """A file with a wrong image type reaches no parser and no browser."""
    group = make_group(make)

    refused = api.request("PUT", group.url, make.root, files={"avatar": ("x.jpg", content, "image/jpeg")})

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["avatar"])


GROUP_WRITES = [
    ("PUT", "", {"description": "by the old path"}),
    ("POST", "/transfer", {}),
    ("POST", "/members", {"user_id": 1, "access_level": 10}),
    ("DELETE", "", {}),
]


@pytest.mark.parametrize(("method", "rest", "sent"), GROUP_WRITES)
def test_only_reads_are_redirected(api: Api, make: Make, method: str, rest: str, sent: dict[str, Any]) -> None:
    group = make_group(make)
    api.put(group.url, make.root, path=make.name("moved"))
    before = api.get(group.url, make.root).json()

    assert api.get(by_path("groups", group.path), make.root).status_code == 200
    assert api.request(method, f"{by_path('groups', group.path)}{rest}", make.root, json=sent).status_code == 404
    assert api.get(group.url, make.root).json() == before


def test_the_number_of_reserved_paths_is_limited(api: Api, make: Make) -> None:
    """A group that is renamed often would otherwise reserve all its old paths."""
    squatter, other = make.user(), make.user()
    group = make_group(make, squatter)
    below = make_group(make, squatter, parent=group, path="below")
    paths = [group.path, *(make.name("squat") for _ in range(6))]
    for path in paths[1:]:
        assert api.put(group.url, squatter, path=path).status_code == 200

    taken = [api.post("/groups", other, name=path, path=path).status_code for path in paths]

    assert taken == [201] * 3 + [400] * 4
    for path in paths[3:]:
        assert api.get(by_path("groups", path), squatter).json()["id"] == group.id
        assert api.get(by_path("groups", f"{path}/below"), squatter).json()["id"] == below.id


def test_an_old_path_is_available_to_owners_of_the_group(api: Api, make: Make) -> None:
    owner, master = make.user(), make.user()
    group = make_group(make, owner, members={master: Level.MASTER})
    below = make_group(make, owner, parent=group, path="below")
    for each in (below, group):
        assert api.put(each.url, owner, path=make.name("moved")).status_code == 200

    assert api.post("/groups", master, name="Mine", path=group.path).status_code == 400
    again = api.post("/groups", owner, name="Again", path=group.path)
    assert again.status_code == 201
    assert api.get(by_path("groups", group.path), owner).json()["id"] == again.json()["id"]
    # Another group of the same owners may be renamed to an old path, too.
    other = make_group(make, owner)
    moved = api.get(group.url, owner).json()["path"]
    api.put(group.url, owner, path=make.name("moved"))
    assert api.put(make_group(make, master).url, master, path=moved).status_code == 400
    assert api.put(other.url, owner, path=moved).status_code == 200
    # The redirect from the reused path is gone; all others still work.
    assert api.get(by_path("groups", moved), owner).json()["id"] == other.id
    assert api.get(below.url, owner).status_code == 200


def test_a_user_may_use_their_old_name_for_a_group(api: Api, make: Make) -> None:
    user = make.user()
    api.put(f"/users/{user.id}", make.root, username=make.name("renamed"))

    assert api.post("/groups", make.user(), name="Not mine", path=user.username).status_code == 400
    assert api.post("/groups", user, name="Mine", path=user.username).status_code == 201
