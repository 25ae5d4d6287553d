"""Editing of projects: permissions, effects and validation."""

from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.api.projects import view_fields
from tests.api.projects.test_create import FLAGS, PATHS, PNG, TAKEN
from tests.client import Api, Make
from tests.factories import make_group, make_project

CALLERS = [
    ("nobody", "public", 401, 401, 401),
    ("stranger", "private", 404, 404, 404),
    ("stranger", "public", 403, 403, 403),
    ("guest", "private", 403, 403, 403),
    ("developer", "private", 403, 403, 403),
    ("master", "private", 200, 200, 403),
    ("owner", "private", 200, 200, 200),
    ("root", "private", 200, 200, 200),
]


@pytest.mark.parametrize(("who", "visibility", "edits", "moves", "renames"), CALLERS)
def test_masters_edit_and_owners_rename(
    api: Api, make: Make, who: str, visibility: str, edits: int, moves: int, renames: int
) -> None:
    owner, caller = make.user(), make.user()
    level = {"guest": 10, "developer": 30, "master": 40}.get(who, 0)
    project = make_project(make, owner, members={caller: level}, visibility=visibility)
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)

    assert api.put(project.url, person, description="x", issues_enabled=False).status_code == edits
    assert api.put(project.url, person, path=make.name("moved")).status_code == moves
    assert api.put(project.url, person, name=make.name("renamed")).status_code == renames
    assert api.put(project.url, person, visibility="internal").status_code == renames
    shown = api.get(project.url, make.root).json()
    assert (shown["description"], shown["issues_enabled"]) == (("x", False) if edits == 200 else (None, True))


LEVELS = {
    "issues_access_level": "issues_enabled",
    "merge_requests_access_level": "merge_requests_enabled",
    "builds_access_level": "jobs_enabled",
    "wiki_access_level": "wiki_enabled",
    "snippets_access_level": "snippets_enabled",
    "container_registry_access_level": "container_registry_enabled",
}
CHANGES: list[dict[str, Any]] = [
    {"merge_method": "ff"},
    {"merge_method": "rebase_merge"},
    {"squash_option": "always"},
    {"remove_source_branch_after_merge": False},
    {"description": "Changed"},
    {"description": None},
    {"visibility": "public"},
    {"visibility": "private"},
    {"tag_list": ["one", "two"]},
    {"topics": []},
    {"default_branch": "trunk"},
    {"ci_config_path": "ci/config.yml"},
    *({flag: False} for flag in FLAGS),
]


def test_any_one_parameter_is_enough(api: Api, make: Make) -> None:
    """Clients send only changed parameters, and sometimes unchanged ones."""
    project = make_project(make)
    before = api.get(project.url, make.root).json()
    for sent in [each for change in CHANGES for each in (change, change)]:
        answer = api.put(project.url, make.root, **sent)
        assert answer.status_code == 200, answer.text
        before |= sent
        for one, other in (("tag_list", "topics"), ("topics", "tag_list")):
            if one in sent:
                before[other] = sent[one]
        if before["issues_enabled"] is False:
            before.pop("open_issues_count", None)
        before |= {level: "enabled" if before[flag] else "disabled" for level, flag in LEVELS.items()}
        before["emails_disabled"] = not before["emails_enabled"]
        before["_links"] = answer.json()["_links"]
        before["can_create_merge_request_in"] = before["merge_requests_enabled"]
        assert answer.json() == before == api.get(project.url, make.root).json()
        assert set(answer.json()) <= view_fields.ADMINISTRATOR | {"owner"}


def test_unchanged_values_change_nothing(api: Api, make: Make) -> None:
    owner, master = make.user(), make.user()
    project = make_project(make, owner, members={master: 40})
    before = api.get(project.url, master).json()
    names = ("name", "path", "description", "visibility", "default_branch", "issues_enabled", "tag_list")

    answer = api.put(project.url, master, **{name: before[name] for name in names})

    assert (answer.status_code, answer.json()) == (200, before)


def test_an_edit_without_parameters_is_rejected(api: Api, make: Make) -> None:
    assert api.put(make_project(make).url, make.root).json() == {"message": '400 (Bad request) "name" not given'}


def test_only_unknown_parameters_are_reported(api: Api, make: Make) -> None:
    """An empty known parameter is not reported."""
    url = make_project(make).url
    refused = api.put(url, make.root, mirror_rank=7, mirror_level="enabled", **{"x" * 300: 1})
    named = f"mirror_level, mirror_rank, {'x' * 100}"
    assert refused.status_code == 400
    assert refused.json() == {"message": f"400 (Bad request) unknown parameters: {named}"}
    missing = {"message": '400 (Bad request) "name" not given'}
    assert api.put(url, make.root, issues_enabled="").json() == missing
    assert api.put(f"{url}?private_token={make.root.token}").json() == missing
    assert api.put(url, make.root, mirror_rank=7, description="kept").status_code == 200


@pytest.mark.parametrize(("level", "flag"), LEVELS.items())
def test_access_levels_and_flags_agree(api: Api, make: Make, level: str, flag: str) -> None:
    """Newer clients send the level, older ones the flag; with both, the level counts."""
    name = make.name("levels")
    made = api.post("/projects", make.root, name=name, **{level: "disabled"}).json()
    url = f"/projects/{made['id']}"
    steps: list[tuple[dict[str, Any], bool]] = [
        ({level: "enabled"}, True),
        ({level: "disabled"}, False),
        ({flag: True}, True),
        ({flag: True, level: "disabled"}, False),
        ({flag: False, level: "enabled"}, True),
        ({"description": "x"}, True),
    ]
    assert (made[level], made[flag]) == ("disabled", False)
    for sent, on in steps:
        shown = api.put(url, make.root, **sent).json()
        assert (shown[level], shown[flag]) == ("enabled" if on else "disabled", on), sent
        assert shown == api.get(url, make.root).json()


REFUSED_SETTINGS = [
    *((level, value) for level in LEVELS for value in ("public", "on", ["enabled"], 1)),
    ("repository_access_level", "public"),
    ("repository_access_level", ["private"]),
    ("merge_method", "squash"),
    ("merge_method", {"a": 1}),
    ("squash_option", "default"),
    ("remove_source_branch_after_merge", "maybe"),
]


@pytest.mark.parametrize(("name", "value"), REFUSED_SETTINGS)
def test_unsupported_access_levels_are_rejected(api: Api, make: Make, name: str, value: Any) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    before = api.get(project.url, owner).json()
    answer = api.put(project.url, owner, **{name: value})
    assert (answer.status_code, answer.json()) == (400, {"message": {name: ["is invalid"]}})
    made = api.post("/projects", owner, name=make.name("x"), visibility="public", **{name: value})
    assert made.status_code == 400
    assert api.get(project.url, owner).json() == before
    assert before["repository_access_level"] == "enabled"
    assert api.put(project.url, owner, repository_access_level="enabled").status_code == 200


def test_both_names_of_the_merge_request_link_setting_are_writable(api: Api, make: Make) -> None:
    """Returned values can be sent back."""
    project = make_project(make)
    for name in ("printing_merge_requests_link_enabled", "printing_merge_request_link_enabled"):
        for value in (False, True):
            shown = api.put(project.url, make.root, **{name: value}).json()
            assert shown["printing_merge_requests_link_enabled"] is value
            assert shown["printing_merge_request_link_enabled"] is value


def test_default_merge_method(api: Api, make: Make) -> None:
    made = api.post("/projects", make.root, name=make.name("plain")).json()
    names = ("merge_method", "squash_option", "remove_source_branch_after_merge")
    assert [made[name] for name in names] == ["merge", "default_off", True]
    sent = {"merge_method": "ff", "squash_option": "never", "remove_source_branch_after_merge": False}
    other = api.post("/projects", make.root, name=make.name("merges"), **sent).json()
    assert {name: other[name] for name in names} == sent


@pytest.mark.parametrize("together", [{}, {"description": "Changed"}])
def test_unknown_parameters_change_nothing(api: Api, make: Make, together: dict[str, str]) -> None:
    """Attack: an owner sends column names to change the namespace, owner or counters."""
    owner, other = make.user(), make.user()
    group = make_group(make, other)
    project = make_project(make, owner)
    before = api.get(project.url, owner).json()
    sent = {
        "namespace_id": group.id,
        "namespace": group.id,
        "creator_id": other.id,
        "id": 1,
        "star_count": 99,
        "forks_count": 99,
        "archived": True,
        "runners_token": "mine",
        "import_status": "started",
        "full_path": "x/y",
        "repository_key": "0" * 64,
        "forked_from_id": 1,
        "created_at": "2001-01-01",
    }

    api.put(project.url, owner, **sent, **together)

    assert api.get(project.url, owner).json() == before | together


def test_names_and_paths_in_use_are_rejected(api: Api, make: Make) -> None:
    owner = make.user()
    first, second = make_project(make, owner), make_project(make, owner)
    elsewhere = make_project(make)
    path = first.path.split("/")[-1]

    assert api.put(second.url, owner, name=first.name).json() == {"message": {"name": TAKEN}}
    assert api.put(second.url, owner, path=path.upper()).json() == {"message": {"path": TAKEN}}
    assert api.put(second.url, owner, name=first.name, path=path).status_code == 400
    there = elsewhere.path.split("/")[-1]
    assert api.put(second.url, owner, name=elsewhere.name, path=there).status_code == 200


@pytest.mark.parametrize("path", ["", *PATHS])
def test_an_invalid_path_is_rejected(api: Api, make: Make, path: str) -> None:
    refused = api.put(make_project(make).url, make.root, path=path)

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["path"])


@pytest.mark.parametrize(
    "sent",
    [{"name": ""}, {"name": "a/b"}, {"default_branch": "a..b"}, {"visibility": "x"}, {"ci_config_path": "a/../b"}],
    ids=str,
)
def test_an_invalid_value_changes_nothing(api: Api, make: Make, sent: dict[str, str]) -> None:
    project = make_project(make)
    before = api.get(project.url, make.root).json()

    refused = api.put(project.url, make.root, description="Changed", **sent)

    assert (refused.status_code, list(refused.json()["message"])) == (400, list(sent))
    assert api.get(project.url, make.root).json() == before


def test_an_avatar_is_set_and_removed(api: Api, make: Make) -> None:
    project = make_project(make)
    shown = api.request("PUT", project.url, make.root, files={"avatar": ("a b.png", PNG, "image/png")}).json()

    assert shown["avatar_url"].endswith(f"/project/avatar/{project.id}/a_b.png")
    assert httpx.get(shown["avatar_url"]).status_code == 404
    api.put(project.url, make.root, visibility="public")
    assert httpx.get(shown["avatar_url"]).content == PNG
    assert api.put(project.url, make.root, avatar="").json()["avatar_url"] is None


@pytest.mark.parametrize("content", [b"AT&TFORM", b"II*\0" + b"\0" * 20, b"<svg>", b"\x89PNG" + b"\0" * 9])
def test_the_type_of_an_avatar_is_detected_from_its_bytes(api: Api, make: Make, content: bytes) -> None:
    refused = api.request("PUT", make_project(make).url, make.root, files={"avatar": ("x.jpg", content, "image/jpeg")})

    assert (refused.status_code, list(refused.json()["message"])) == (400, ["avatar"])


def test_a_huge_image_is_never_decoded(api: Api, make: Make) -> None:
    """A header that claims 50,000 by 50,000 pixels is stored as its few bytes."""
    size = (50_000).to_bytes(4, "big")
    bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size + size + b"\x08\x06\0\0\0" + b"\0" * 4
    project = make_project(make)

    assert api.request("PUT", project.url, make.root, files={"avatar": ("x.png", bomb, "image/png")}).status_code == 200
    large = b"\x89PNG\r\n\x1a\n" + b"\0" * 210_000
    assert (
        api.request("PUT", project.url, make.root, files={"avatar": ("x.png", large, "image/png")}).status_code == 400
    )


def test_masters_of_the_group_administer_its_projects(api: Api, make: Make) -> None:
    master, owner = make.user(), make.user()
    group = make_group(make, owner, members={master: Level.MASTER})
    project = make_project(make, owner, group=group)

    assert api.put(project.url, master, description="x").status_code == 200
    assert api.put(project.url, master, visibility="private").status_code == 200
    assert api.put(project.url, master, name="Other").status_code == 403
    assert api.put(project.url, owner, name="Other").status_code == 200


def test_masters_start_housekeeping(api: Api, make: Make) -> None:
    master, developer = make.user(), make.user()
    project = make_project(make, members={master: 40, developer: 30})

    statuses = [
        api.post(f"{project.url}/housekeeping", who).status_code for who in (master, master, developer, make.user())
    ]

    assert statuses == [201, 201, 403, 404]
