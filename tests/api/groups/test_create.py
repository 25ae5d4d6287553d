"""Creation of groups: permissions, names and paths, visibility."""

import threading
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, GroupOptions
from tests.client import Api, Make, User
from tests.factories import make_group, make_project

VIEW = {
    "id",
    "name",
    "path",
    "description",
    "visibility",
    "lfs_enabled",
    "avatar_url",
    "web_url",
    "request_access_enabled",
    "share_with_group_lock",
    "project_creation_level",
    "full_name",
    "full_path",
    "parent_id",
    "created_at",
    "emails_disabled",
    *(name for name in GroupOptions.__struct_fields__ if name not in INTERNAL_OPTIONS),
}


def test_the_creator_owns_the_group(api: Api, make: Make) -> None:
    user, path = make.user(), make.name("Team")

    made = api.post("/groups", user, name="The Team", path=path, description="Ours", request_access_enabled=False)

    assert made.status_code == 201
    group = made.json()
    assert set(group) == VIEW | {"projects", "shared_projects", "shared_with_groups", "runners_token"}
    assert group | {"name": "The Team", "path": path, "full_path": path, "full_name": "The Team"} == group
    assert group | {"description": "Ours", "request_access_enabled": False, "visibility": "private"} == group
    assert (group["parent_id"], group["projects"], group["shared_projects"]) == (None, [], [])
    (member,) = api.get(f"/groups/{group['id']}/members", user).json()
    assert (member["id"], member["access_level"], member["expires_at"]) == (user.id, Level.OWNER, None)


CALLERS: list[tuple[str, dict[str, Any], int]] = [
    ("a user", {}, 201),
    ("one who was denied it", {"can_create_group": False}, 403),
    ("an external user", {"external": True}, 403),
    ("an administrator who was denied it", {"admin": True, "can_create_group": False}, 201),
]


@pytest.mark.parametrize(("who", "attributes", "status"), CALLERS)
def test_permission_to_create_a_group(api: Api, make: Make, who: str, attributes: dict[str, Any], status: int) -> None:
    user = make.user(**attributes)

    assert api.post("/groups", user, name="Mine", path=make.name("mine")).status_code == status


def test_anonymous_callers_create_no_groups(api: Api, make: Make) -> None:
    assert api.post("/groups", name="x", path="x").status_code == 401


BELOW = [
    (Level.OWNER, "private", 201),
    (Level.MASTER, "private", 403),
    (Level.GUEST, "private", 403),
    (Level.NONE, "private", 404),
    (Level.NONE, "public", 403),
]


@pytest.mark.parametrize(("level", "visibility", "status"), BELOW)
def test_owners_create_subgroups(api: Api, make: Make, level: Level, visibility: str, status: int) -> None:
    user = make.user()
    parent = make_group(make, members={user: level}, visibility=visibility)

    made = api.post("/groups", user, name="Below", path="below", parent_id=parent.id)

    assert made.status_code == status
    if status == 201:
        assert (made.json()["full_path"], made.json()["parent_id"]) == (f"{parent.path}/below", parent.id)
        assert made.json()["full_name"] == f"{parent.name} / Below"


def test_owners_of_a_parent_group_own_its_subgroups(api: Api, make: Make) -> None:
    user = make.user()
    top = make_group(make, user)
    deep = make_group(make, user, parent=make_group(make, user, parent=top))
    heir = make.user()
    api.post(f"{top.url}/members", user, user_id=heir.id, access_level=50)

    assert api.put(deep.url, heir, description="inherited").json()["description"] == "inherited"
    assert api.post("/groups", heir, name="More", path="more", parent_id=deep.id).status_code == 201


@pytest.mark.parametrize("missing", ["name", "path"])
def test_name_and_path_are_required(api: Api, make: Make, missing: str) -> None:
    sent = {"name": "Named", "path": make.name("path")}
    del sent[missing]

    refused = api.post("/groups", make.root, **sent)

    assert (refused.status_code, refused.json()) == (400, {"message": f'400 (Bad request) "{missing}" not given'})


# A path becomes part of URLs and of shell scripts, so it must not contain special characters.
PATHS = [
    "../x",
    "a/../../hooks",
    "a/b",
    ".",
    "..",
    "x.git",
    "x.GIT",
    "x.wiki",
    "x.atom",
    "x\0y",
    "x\n",
    "x" * 300,
    "-x",
    "x.",
    "",
    " ",
    "x y",
    "grоup",  # The o is Cyrillic.
    "ｇroup",  # The g is full-width.
    "groupé",
    "api",
    "API",
    "users",
    "-",
    "projects",
    "groups",
    "uploads",
]


@pytest.mark.parametrize("path", PATHS)
def test_invalid_paths_are_rejected(api: Api, make: Make, path: str) -> None:
    refused = api.post("/groups", make.root, name="Fine", path=path)

    assert refused.status_code == 400, path
    assert "path" in refused.json()["message"]


@pytest.mark.parametrize(("path", "status"), [("tree", 400), ("Edit", 400), ("issues", 400), ("api", 201)])
def test_subgroups_have_other_reserved_paths(api: Api, make: Make, path: str, status: int) -> None:
    parent = make_group(make)

    assert api.post("/groups", make.root, name="Fine", path=path, parent_id=parent.id).status_code == status


NAMES = [
    ("Ünïcode 团队 (ours)", 201),
    ("🧪 lab 👩‍🔬", 201),
    ("x" * 255, 201),
    ("x" * 256, 400),
    ("", 400),
    ("  ", 400),
    ("<script>", 400),
    ("line\nbreak", 400),
]


@pytest.mark.parametrize(("name", "status"), NAMES)
def test_names_may_contain_any_readable_text(api: Api, make: Make, name: str, status: int) -> None:
    made = api.post("/groups", make.root, name=name, path=make.name("named"))

    assert made.status_code == status
    assert made.json()["name"] == name if status == 201 else "name" in made.json()["message"]


def _taken_by(make: Make, what: str) -> str:
    if what == "user":
        return make.user().username
    if what == "group":
        return make_group(make).path
    moved = make_group(make)
    assert make.api.put(moved.url, make.root, path=make.name("moved")).status_code == 200
    return moved.path


@pytest.mark.parametrize("what", ["user", "group", "group that moved away"])
def test_a_path_is_unique_ignoring_case(api: Api, make: Make, what: str) -> None:
    path = _taken_by(make, what)

    for spelled in (path, path.upper()):
        refused = api.post("/groups", make.user(), name="Second", path=spelled)
        assert (refused.status_code, refused.json()) == (400, {"message": {"path": ["has already been taken"]}})


def test_the_path_of_a_project_is_taken_for_groups(api: Api, make: Make) -> None:
    group = make_group(make)
    make_project(make, group=group, name="thing")

    refused = api.post("/groups", make.root, name="Other", path="Thing", parent_id=group.id)

    assert (refused.status_code, refused.json()) == (400, {"message": {"path": ["has already been taken"]}})


def test_names_are_unique_among_siblings_only(api: Api, make: Make) -> None:
    parent, name = make_group(make), make.name("same")
    make_group(make, parent=parent, name=name)

    beside = api.post("/groups", make.root, name=name, path=make.name("p"), parent_id=parent.id)
    elsewhere = api.post("/groups", make.root, name=name, path=make.name("p"), parent_id=make_group(make).id)

    assert (beside.status_code, beside.json()) == (400, {"message": {"name": ["has already been taken"]}})
    assert elsewhere.status_code == 201


VISIBLE = [
    ("private", "private", 201),
    ("private", "internal", 400),
    ("internal", "public", 400),
    ("internal", "internal", 201),
    ("public", "public", 201),
    ("public", "private", 201),
]


@pytest.mark.parametrize(("above", "below", "status"), VISIBLE)
def test_a_subgroup_is_not_more_visible_than_its_parent(
    api: Api, make: Make, above: str, below: str, status: int
) -> None:
    parent = make_group(make, visibility=above)

    made = api.post("/groups", make.root, name="In", path="in", parent_id=parent.id, visibility=below)

    assert made.status_code == status
    if status == 400:
        assert list(made.json()["message"]) == ["visibility_level"]


def test_groups_nest_at_most_twenty_levels(api: Api, make: Make) -> None:
    group = make_group(make)
    for _ in range(19):
        group = make_group(make, parent=group)

    refused = api.post("/groups", make.root, name="Deeper", path="deeper", parent_id=group.id)

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["parent_id"])


def test_concurrent_creation_with_one_path(api: Api, make: Make) -> None:
    path, people = make.name("race"), [make.user() for _ in range(4)]
    answers: list[int] = []

    def create(person: User) -> None:
        with Api(api.url) as client:
            answers.append(client.post("/groups", person, name="Race", path=path).status_code)

    threads = [threading.Thread(target=create, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [201, 400, 400, 400]
