"""Lists of runners, which are empty because runners cannot register yet."""

import pytest

from tests.client import Api, Make
from tests.roles import UsersByRole, group_with, project_with

CALLERS = [
    # own, all, of the project, of the group
    ("administrator", 200, 200, 200, 200),
    ("owner", 200, 403, 200, 200),
    ("master", 200, 403, 200, 200),
    ("developer", 200, 403, 403, 403),
    ("stranger", 200, 403, 404, 404),
    ("nobody", 401, 401, 401, 401),
]


@pytest.mark.parametrize(("role", "own", "everyone", "of_project", "of_group"), CALLERS)
def test_permission_to_list_runners(
    api: Api, make: Make, roles: UsersByRole, role: str, own: int, everyone: int, of_project: int, of_group: int
) -> None:
    project, group, caller = project_with(make, roles), group_with(make, roles), roles[role]
    answers = [
        (own, api.get("/runners", caller)),
        (everyone, api.get("/runners/all", caller)),
        (of_project, api.get(f"/projects/{project.id}/runners", caller)),
        (of_group, api.get(f"/groups/{group.id}/runners", caller)),
    ]
    for status, answer in answers:
        assert answer.status_code == status
        if status == 200:
            assert (answer.json(), answer.headers["x-total"], answer.headers["x-page"]) == ([], "0", "1")


def test_no_runner_exists(api: Api, make: Make, roles: UsersByRole) -> None:
    assert api.get("/runners/1").status_code == 401
    for caller in (make.root, roles.owner):
        missing = api.get("/runners/1", caller)
        assert (missing.status_code, missing.json()["message"]) == (404, "404 Runner Not Found")
        assert api.get("/runners/x", caller).status_code == 400


@pytest.mark.parametrize(
    ("scope", "own", "everyone"), [("active", 200, 200), ("shared", 400, 200), ("everything", 400, 400)]
)
def test_an_unknown_scope_is_rejected(api: Api, make: Make, scope: str, own: int, everyone: int) -> None:
    assert api.get("/runners", make.root, scope=scope).status_code == own
    assert api.get("/runners/all", make.root, scope=scope).status_code == everyone
    assert api.get("/runners", make.root, tag_list="a,b", status="online", paused="no").json() == []
    assert api.get("/runners", make.root, pagination="keyset").json() == []


def test_runners_are_hidden_if_pipelines_are_disabled(api: Api, make: Make, roles: UsersByRole) -> None:
    """Like variables and triggers."""
    project = project_with(make, roles)
    url = f"/projects/{project.id}"
    assert api.put(url, make.root, jobs_enabled=False).status_code == 200
    for caller in (make.root, roles.owner):
        assert api.get(f"{url}/runners", caller).status_code == 403
        assert api.get(f"{url}/variables", caller).status_code == 403
    assert api.get(f"{url}/runners", roles.stranger).status_code == 404
    assert api.put(url, make.root, jobs_enabled=True).status_code == 200
    assert api.get(f"{url}/runners", roles.owner).status_code == 200
