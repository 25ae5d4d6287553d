"""Lists and settings of runners, by caller."""

from functools import partial
from typing import Any

import pytest

from tests.ci.runner_client import project_runner
from tests.client import Api, Make, User
from tests.factories import make_project, statements_of
from tests.roles import UsersByRole, group_with, project_with


def created(api: Api, make: Make, **attributes: Any) -> dict[str, Any]:
    """Create a runner as the administrator."""
    answer = api.post("/user/runners", make.root, **attributes)
    assert answer.status_code == 201, answer.text
    runner: dict[str, Any] = answer.json()
    return runner


def _ids(api: Api, url: str, caller: User | None, **filters: Any) -> set[int]:
    answer = api.get(url, caller, per_page=100, **filters)
    assert answer.status_code == 200, answer.text
    return {runner["id"] for runner in answer.json()}


@pytest.mark.parametrize(
    ("role", "own", "everyone", "of_project", "of_group"),
    [
        ("administrator", 200, 200, 200, 200),
        ("owner", 200, 403, 200, 200),
        ("master", 200, 403, 200, 200),
        ("developer", 200, 403, 403, 403),
        ("stranger", 200, 403, 404, 404),
        ("nobody", 401, 401, 401, 401),
    ],
)
def test_permission_to_list_runners(
    api: Api, make: Make, roles: UsersByRole, role: str, own: int, everyone: int, of_project: int, of_group: int
) -> None:
    project, group, caller = project_with(make, roles), group_with(make, roles), roles[role]
    assert api.get("/runners", caller).status_code == own
    assert api.get("/runners/all", caller).status_code == everyone
    assert api.get(f"{project.url}/runners", caller).status_code == of_project
    assert api.get(f"{group.url}/runners", caller).status_code == of_group


def test_lists_contain_the_runners_of_their_owner(api: Api, make: Make, roles: UsersByRole) -> None:
    group = group_with(make, roles)
    project = make_project(make, roles.owner, namespace_id=group.id)
    other = make_project(make, make.root)
    shared = created(api, make, runner_type="instance_type", tag_list=["docker", "linux"])["id"]
    of_group = created(api, make, runner_type="group_type", group_id=group.id)["id"]
    of_project = created(api, make, runner_type="project_type", project_id=project.id)["id"]
    of_other = created(api, make, runner_type="project_type", project_id=other.id)["id"]
    ours = {shared, of_group, of_project, of_other}
    assert _ids(api, "/runners", roles.owner) & ours == {of_group, of_project}
    assert _ids(api, "/runners", roles.master) & ours == {of_project}
    assert _ids(api, "/runners", roles.developer) & ours == set()
    assert _ids(api, f"{project.url}/runners", roles.master) & ours == {shared, of_group, of_project}
    assert _ids(api, f"{group.url}/runners", roles.owner) & ours == {shared, of_group}
    assert _ids(api, "/runners/all", make.root, type="project_type") & ours == {of_project, of_other}
    assert _ids(api, "/runners/all", make.root, scope="shared") & ours == {shared}
    assert _ids(api, "/runners/all", make.root, tag_list="linux,docker") & ours == {shared}
    assert _ids(api, "/runners/all", make.root, tag_list="Linux") & ours == set()
    assert _ids(api, "/runners/all", make.root, status="never_contacted") & ours == ours
    assert _ids(api, "/runners/all", make.root, status="online") & ours == set()
    assert _ids(api, "/runners/all", make.root, paused="true") & ours == set()
    assert _ids(api, "/runners/all", make.root, version_prefix="17.") & ours == set()
    assert api.put(project.url, make.root, shared_runners_enabled=False).status_code == 200
    assert _ids(api, f"{project.url}/runners", roles.master) & ours == {of_group, of_project}


@pytest.mark.parametrize(
    ("role", "shared", "of_group", "of_project"),
    [
        ("administrator", (200, 200), (200, 200), (200, 200)),
        ("owner", (200, 403), (200, 200), (200, 200)),
        ("master", (200, 403), (200, 403), (200, 200)),
        ("developer", (200, 403), (404, 404), (404, 404)),
        ("stranger", (200, 403), (404, 404), (404, 404)),
        ("nobody", (401, 401), (401, 401), (401, 401)),
    ],
)
def test_permission_to_see_and_change_a_runner(
    api: Api,
    make: Make,
    roles: UsersByRole,
    role: str,
    shared: tuple[int, int],
    of_group: tuple[int, int],
    of_project: tuple[int, int],
) -> None:
    group, project = group_with(make, roles), project_with(make, roles)
    for expected, attributes in (
        (shared, {"runner_type": "instance_type"}),
        (of_group, {"runner_type": "group_type", "group_id": group.id}),
        (of_project, {"runner_type": "project_type", "project_id": project.id}),
    ):
        url = f"/runners/{created(api, make, **attributes)['id']}"
        assert api.get(url, roles[role]).status_code == expected[0]
        assert api.get(f"{url}/managers", roles[role]).status_code == expected[0]
        assert api.put(url, roles[role], description="new").status_code == expected[1]
        assert api.post(f"{url}/reset_authentication_token", roles[role]).status_code == (
            201 if expected[1] == 200 else expected[1]
        )
        assert api.delete(url, roles[role]).status_code == expected[1]
        assert api.get(url, make.root).status_code == (404 if expected[1] == 200 else 200)
        if expected[1] == 200:
            assert api.delete(url, roles[role]).status_code == 404, "The caller must notice a wrong id."


def test_edit_a_runner(api: Api, make: Make) -> None:
    url = f"/runners/{created(api, make, runner_type='instance_type')['id']}"
    changes = {
        "description": "changed",
        "tag_list": ["b", "a"],
        "run_untagged": False,
        "locked": True,
        "access_level": "ref_protected",
        "maximum_timeout": 3600,
        "maintenance_note": "note",
        "paused": True,
    }
    answer = api.put(url, make.root, **changes)
    assert answer.status_code == 200, answer.text
    expected = changes | {"tag_list": ["a", "b"], "active": False, "status": "never_contacted"}
    assert answer.json().items() >= {key: value for key, value in expected.items() if key != "tag_list"}.items()
    assert answer.json()["tag_list"] == ["a", "b"]
    assert api.put(url, make.root, active=True).json()["paused"] is False
    assert api.put(url, make.root, maximum_timeout=None).json()["maximum_timeout"] is None
    refused: list[dict[str, Any]] = [
        {"tag_list": []},
        {"maximum_timeout": 5},
        {"active": True, "paused": True},
        {"x": 1},
    ]
    for invalid in refused:
        assert api.put(url, make.root, **invalid).status_code == 400
    assert api.get("/runners/x", make.root).status_code == 400
    assert api.get("/runners/999999999999999999999", make.root).status_code == 400


def test_assign_a_runner_to_another_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), project_with(make, roles)
    foreign = make_project(make, make.user(), visibility="private")
    runner = created(api, make, runner_type="project_type", project_id=project.id)["id"]
    url = f"{other.url}/runners"
    assert api.post(url, roles.developer, runner_id=runner).status_code == 403
    assert api.put(f"/runners/{runner}", roles.master, locked=True).status_code == 200
    locked = api.post(url, roles.master, runner_id=runner)
    assert (locked.status_code, locked.json()["message"]) == (403, "403 Forbidden - Runner is locked")
    assert api.put(f"/runners/{runner}", roles.master, locked=False).status_code == 200
    assert api.post(url, roles.master, runner_id=runner).status_code == 201
    assert api.post(url, roles.master, runner_id=runner).status_code == 409
    assert runner in _ids(api, url, roles.master)
    # A maintainer of two projects cannot delete the runner for both, but can take it away from one of them.
    assert api.delete(f"/runners/{runner}", roles.master).status_code == 403
    assert api.delete(f"{url}/{runner}", roles.master).status_code == 200
    assert runner not in _ids(api, url, roles.master)
    assert api.delete(f"{url}/{runner}", roles.master).status_code == 404
    assert api.delete(f"{project.url}/runners/{runner}", roles.master).status_code == 403
    hidden = created(api, make, runner_type="project_type", project_id=foreign.id)["id"]
    assert api.post(url, roles.master, runner_id=hidden).status_code == 404
    shared = created(api, make, runner_type="instance_type")["id"]
    assert api.post(url, roles.master, runner_id=shared).json()["message"] == "403 Forbidden - Runner is shared"


def test_a_change_needs_a_field(api: Api, make: Make) -> None:
    url = f"/runners/{created(api, make, runner_type='instance_type')['id']}"
    refused = api.put(url, make.root)
    assert refused.status_code == 400
    assert refused.json()["message"].endswith("are missing, at least one parameter must be provided")
    assert api.put(url, make.root, description="").status_code == 200


def test_longer_lists_need_no_more_statements(api: Api, make: Make) -> None:
    project = make_project(make, make.root)
    for _ in range(3):
        created(api, make, runner_type="project_type", project_id=project.id)
    for url in ("/runners", "/runners/all", f"{project.url}/runners"):
        page = partial(api.get, url, make.root, pagination="keyset")
        assert statements_of(make, partial(page, per_page=3)) == statements_of(make, partial(page, per_page=1)), url


@pytest.mark.parametrize(
    ("scope", "own", "everyone"), [("active", 200, 200), ("shared", 400, 200), ("everything", 400, 400)]
)
def test_an_unknown_scope_is_rejected(api: Api, make: Make, scope: str, own: int, everyone: int) -> None:
    assert api.get("/runners", make.root, scope=scope).status_code == own
    assert api.get("/runners/all", make.root, scope=scope).status_code == everyone
    filters = {"tag_list": "no,such tag", "status": "online", "paused": "no"}
    assert api.get("/runners", make.root, **filters).json() == []
    assert api.get("/runners", make.root, pagination="keyset").status_code == 200


def test_runners_are_hidden_if_pipelines_are_disabled(api: Api, make: Make, roles: UsersByRole) -> None:
    """Like variables and triggers."""
    project = project_with(make, roles)
    assert api.put(project.url, make.root, jobs_enabled=False).status_code == 200
    for caller in (make.root, roles.owner):
        assert api.get(f"{project.url}/runners", caller).status_code == 403


def test_runners_of_a_deleted_project_are_removed(api: Api, make: Make) -> None:
    project, other = make_project(make), make_project(make)
    sole, shared = project_runner(make, project.id), project_runner(make, project.id)
    assert api.post(f"{other.url}/runners", make.root, runner_id=shared.id).status_code == 201
    assert api.delete(project.url, make.root).is_success
    assert api.get(f"/runners/{sole.id}", make.root).status_code == 404
    kept = api.get(f"/runners/{shared.id}", make.root).json()
    assert [each["id"] for each in kept["projects"]] == [other.id]
    assert sole.poll().status_code == 403
