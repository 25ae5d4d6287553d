"""Creation of projects: names and paths, namespaces, and every attribute."""

import threading
from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.api.projects import view_fields
from tests.client import Api, Make, User
from tests.factories import make_group, make_project

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
TAKEN = ["has already been taken"]


def test_a_new_project_is_returned_with_all_fields(api: Api, make: Make) -> None:
    user = make.user()

    made = api.post("/projects", user, name="Brand New")

    assert made.status_code == 201
    assert set(made.json()) == view_fields.MASTER | {"owner"}
    assert made.json() == api.get(f"/projects/{made.json()['id']}", user).json()
    assert api.post("/projects", name="Nobody's").status_code == 401


DERIVED = [
    ({"name": "Foo Project"}, "Foo Project", "foo-project"),
    ({"path": "foo_Project"}, "foo_Project", "foo_Project"),
    ({"name": "Foo", "path": "path-Project-Foo"}, "Foo", "path-Project-Foo"),
    ({"name": "  Trimmed  "}, "Trimmed", "trimmed"),
    ({"name": "Über Café"}, "Über Café", "uber-cafe"),
    ({"name": "v1.2_beta + more"}, "v1.2_beta + more", "v1-2_beta-more"),
    ({"name": "🚀 rocket 🧪"}, "🚀 rocket 🧪", "rocket"),
    ({"name": "👩‍🔬", "path": "lab"}, "👩‍🔬", "lab"),
    ({"name": "", "path": "only-path"}, "only-path", "only-path"),
    ({"name": "Only Name", "path": ""}, "Only Name", "only-name"),
    ({"name": "name.git"}, "name.git", "name-git"),
]


@pytest.mark.parametrize(("sent", "name", "path"), DERIVED)
def test_name_and_path_are_derived_from_each_other(
    api: Api, make: Make, sent: dict[str, str], name: str, path: str
) -> None:
    made = api.post("/projects", make.user(), **sent).json()

    assert (made["name"], made["path"]) == (name, path)


def test_a_name_or_a_path_is_required(api: Api, make: Make) -> None:
    assert api.post("/projects", make.root).json() == {"message": '400 (Bad request) "name" not given'}
    assert api.post("/projects", make.root, name="", path="").status_code == 400


PATHS = [
    "../x",
    "a/../../hooks",
    "a/b",
    ".",
    "..",
    "x.git",
    "x.Git",
    "x.wiki",
    "x.atom",
    "x\0y",
    "x\n",
    "x" * 256,
    "-x",
    "x.",
    " ",
    "x y",
    "prоject",  # The o is Cyrillic.
    "é",
    "tree",
    "Blob",
    "wikis",
    "-",
    "new",
]


@pytest.mark.parametrize("path", PATHS)
def test_invalid_paths_are_rejected(api: Api, make: Make, path: str) -> None:
    refused = api.post("/projects", make.root, name="Fine", path=path)

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["path"])


@pytest.mark.parametrize("path", ["api", "users", "issues", "x-", "_x", ".x", "x" * 255])
def test_unusual_valid_paths_are_accepted(api: Api, make: Make, path: str) -> None:
    assert api.post("/projects", make.user(), path=path, name="Fine").status_code == 201


@pytest.mark.parametrize("name", ["-x", "<b>", "a/b", "line\nbreak", "x" * 256, "a\0b", "日本語"])
def test_an_invalid_name_is_rejected(api: Api, make: Make, name: str) -> None:
    sent = {"name": name} if name == "日本語" else {"name": name, "path": "fine"}

    assert api.post("/projects", make.root, **sent).status_code == 400


def test_names_and_paths_are_unique_in_a_namespace(api: Api, make: Make) -> None:
    user = make.user()
    make_project(make, user, name="Same Name", path="Same-Path")

    cases: list[tuple[dict[str, str], dict[str, list[str]]]] = [
        ({"name": "Same Name", "path": "Same-Path"}, {"name": TAKEN, "path": TAKEN}),
        ({"name": "Other", "path": "same-PATH"}, {"path": TAKEN}),
        ({"name": "Same Name", "path": "other"}, {"name": TAKEN}),
    ]
    for sent, message in cases:
        refused = api.post("/projects", user, **sent)
        assert (refused.status_code, refused.json()) == (400, {"message": message})
    assert api.post("/projects", make.user(), name="Same Name", path="Same-Path").status_code == 201
    assert api.post("/projects", user, name="same name", path="folded").status_code == 201


def test_the_path_of_a_group_is_taken_for_projects(api: Api, make: Make) -> None:
    top = make_group(make)
    make_group(make, parent=top, path="below")

    refused = api.post("/projects", make.root, name="Other", path="Below", namespace_id=top.id)

    assert (refused.status_code, refused.json()) == (400, {"message": {"path": TAKEN}})


GROUP_LEVELS = [
    (Level.OWNER, 201),
    (Level.MASTER, 201),
    (Level.DEVELOPER, 201),
    (Level.REPORTER, 400),
    (Level.GUEST, 400),
    (Level.NONE, 400),
]


@pytest.mark.parametrize(("level", "status"), GROUP_LEVELS)
def test_developers_create_in_groups(api: Api, make: Make, level: Level, status: int) -> None:
    user = make.user()
    group = make_group(make, members={user: level})

    made = api.post("/projects", user, name="Ours", namespace_id=group.id)

    assert made.status_code == status
    if status == 201:
        assert made.json()["namespace"]["id"] == group.id
        assert "owner" not in made.json()
        assert ids_of_members(api, made.json()["id"]) == []
    else:
        assert made.json() == {"message": {"namespace": ["is not valid"]}}


def ids_of_members(api: Api, project_id: int) -> list[int]:
    from tests.conftest import ROOT_TOKEN

    root = User(1, "root", "", ROOT_TOKEN)
    return [member["id"] for member in api.get(f"/projects/{project_id}/members", root).json()]


def test_unknown_and_foreign_namespaces_get_the_same_error(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    others = api.get("/namespaces", other).json()[0]["id"]

    answers = [api.post("/projects", user, name="x", namespace_id=each) for each in (others, 999999999, -1, 2**62)]

    assert {(each.status_code, each.text) for each in answers} == {(400, '{"message":{"namespace":["is not valid"]}}')}
    own = api.get("/namespaces", user).json()[0]["id"]
    assert api.post("/projects", user, name="x", namespace_id=own).status_code == 201
    assert api.post("/projects", make.root, name="x", namespace_id=others).json()["owner"]["id"] == other.id


FLAGS = [
    "issues_enabled",
    "merge_requests_enabled",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "container_registry_enabled",
    "shared_runners_enabled",
    "lfs_enabled",
    "public_jobs",
    "request_access_enabled",
    "only_allow_merge_if_pipeline_succeeds",
    "only_allow_merge_if_all_discussions_are_resolved",
]


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_is_stored(api: Api, make: Make, value: bool) -> None:
    sent = dict.fromkeys([*FLAGS, "printing_merge_request_link_enabled"], value)

    made = api.post("/projects", make.root, name=make.name("flags"), **sent).json()

    assert {name: made[name] for name in FLAGS} == dict.fromkeys(FLAGS, value)
    # The API uses different names for reading and writing.
    assert made["printing_merge_requests_link_enabled"] is value


OTHERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"description": "A *text* with 🚀\nand lines"}, {"description": "A *text* with 🚀\nand lines"}),
    ({"visibility": "internal"}, {"visibility": "internal"}),
    ({"tag_list": ["First", "second", "first", " "]}, {"tag_list": ["First", "second"]}),
    ({"tag_list": ["z", "Z", "c,d , ,C"]}, {"tag_list": ["z", "c", "d"]}),
    ({"tag_list": "a, b"}, {"tag_list": ["a", "b"], "topics": ["a", "b"]}),
    ({"topics": ["newer"]}, {"tag_list": ["newer"]}),
    ({"default_branch": "main"}, {"default_branch": "main"}),
    ({"ci_config_path": "a/custom/path"}, {"ci_config_path": "a/custom/path"}),
    ({"ci_config_path": ""}, {"ci_config_path": None}),
    ({"public_builds": False}, {"public_jobs": False}),
    ({"import_url": None}, {"import_status": "none"}),
    (
        {"only_allow_merge_if_all_discussions_are_resolved": None},
        {"only_allow_merge_if_all_discussions_are_resolved": False},
    ),
]


@pytest.mark.parametrize(("sent", "shown"), OTHERS)
def test_every_attribute_is_stored(api: Api, make: Make, sent: dict[str, Any], shown: dict[str, Any]) -> None:
    made = api.post("/projects", make.root, name=make.name("attributes"), **sent)

    assert made.status_code == 201
    assert made.json() | shown == made.json()


INVALID: list[dict[str, Any]] = [
    {"visibility": "secret"},
    {"issues_enabled": "perhaps"},
    {"default_branch": "a..b"},
    {"default_branch": "-x"},
    {"ci_config_path": "../x"},
    {"ci_config_path": "/x"},
    {"tag_list": ["x" * 256]},
    {"tag_list": ["\u202ex"]},
    {"tag_list": [f"topic {number}" for number in range(101)]},
    {"topics": [",".join(f"topic {number}" for number in range(101))]},
    {"topics": ["x"] * 20_000},
    {"description": "x" * 1_000_001},
    {"namespace_id": "mine"},
    {"avatar": "https://example.org/x.png"},
]


@pytest.mark.parametrize("sent", INVALID, ids=lambda sent: next(iter(sent)))
def test_an_invalid_attribute_is_rejected(api: Api, make: Make, sent: dict[str, Any]) -> None:
    refused = api.post("/projects", make.root, name=make.name("bad"), **sent)

    assert refused.status_code == 400
    (told,) = refused.json()["message"]
    assert told in {*sent, "topics"}


@pytest.mark.parametrize(
    "sent", [{"id": 1}, {"creator_id": 1}, {"star_count": 9}, {"archived": True}, {"runners_token": "mine"}]
)
def test_read_only_attributes_are_ignored(api: Api, make: Make, sent: dict[str, Any]) -> None:
    user = make.user()
    made = api.post("/projects", user, name="Mine", **sent).json()

    assert made | {"creator_id": user.id, "star_count": 0, "archived": False} == made
    assert made["id"] != 1 and made["runners_token"] != "mine"


def test_create_with_an_avatar(api: Api, make: Make) -> None:
    sent = {"data": {"name": "pictured", "visibility": "public"}, "files": {"avatar": ("face.png", PNG, "image/png")}}

    made = api.request("POST", "/projects", make.user(), **sent).json()

    assert made["avatar_url"].endswith(f"/uploads/-/system/project/avatar/{made['id']}/face.png")
    assert httpx.get(made["avatar_url"]).content == PNG


def test_an_administrator_creates_for_a_user(api: Api, make: Make) -> None:
    user = make.user(projects_limit=0)
    group = make_group(make)
    place = f"/projects/user/{user.id}"

    made = api.post(place, make.root, name="For You", visibility="public", default_branch="trunk")

    assert made.status_code == 201
    assert made.json() | {"creator_id": user.id, "path": "for-you", "default_branch": "trunk"} == made.json()
    assert made.json()["owner"]["id"] == user.id
    assert api.post(place, make.root, name="There", namespace_id=group.id).json()["namespace"]["id"] == group.id
    assert api.post(place, make.root, path="no-name").json() == {"message": '400 (Bad request) "name" not given'}
    assert api.post(place, user, name="Mine").status_code == 403
    assert api.post("/projects/user/999999999", make.root, name="x").status_code == 404


def test_concurrent_creation_with_one_path(api: Api, make: Make) -> None:
    user = make.user()
    answers: list[int] = []

    def create() -> None:
        with Api(api.url) as client:
            answers.append(client.post("/projects", user, name="Race").status_code)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [201, 400, 400, 400]
