"""Milestones of groups, and the issues of a milestone."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, make_group, make_project
from tests.roles import UsersByRole, group_with


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return a user who owns the groups."""
    return make.user()


@pytest.fixture
def group(make: Make, owner: User) -> Group:
    """Return a new group for each test."""
    return make_group(make, owner)


def _make(api: Api, owner: User, group: Group, title: str = "v1", **more: Any) -> dict[str, Any]:
    made = api.post(f"/groups/{group.id}/milestones", owner, title=title, **more)
    assert made.status_code == 201, made.text
    milestone: dict[str, Any] = made.json()
    return milestone


def test_create_read_edit_delete(api: Api, instance: Instance, owner: User, group: Group) -> None:
    milestone = _make(api, owner, group, due_date="2030-01-01")
    assert (milestone["iid"], milestone["group_id"], milestone["project_id"]) == (1, group.id, None)
    assert milestone["web_url"] == f"{instance.url}/groups/{group.path}/-/milestones/1"
    path = f"/groups/{group.id}/milestones/{milestone['id']}"
    assert api.get(f"/groups/{group.id}/milestones/{milestone['id']}", owner).json() == milestone
    assert api.get(f"/groups/{group.id}/milestones", owner, state="active").json() == [milestone]
    assert api.put(f"/groups/{group.id}/milestones/{milestone['id']}", owner, title="v2").json()["title"] == "v2"
    assert api.put(path, owner, state_event="close").json()["state"] == "closed"
    assert api.put(path, owner).status_code == 400
    assert [api.delete(path, owner).status_code for _ in range(2)] == [200, 200]
    assert api.delete(f"/groups/{group.id}/milestones/999999", owner).status_code == 200
    assert api.get(path, owner).status_code == 404


def test_milestones_of_parents_and_subgroups(api: Api, make: Make, owner: User, group: Group) -> None:
    """Milestones of subgroups and projects are listed only if visible."""
    child = make_group(make, owner, parent=group, visibility="private")
    project = make_project(make, owner, group=child, visibility="private")
    _make(api, owner, group, "above")
    _make(api, owner, child, "below")
    api.post(f"/projects/{project.id}/milestones", owner, title="deep")
    api.put(f"/groups/{group.id}", owner, visibility="public")
    outside = make.user()

    def titles(path: str, caller: User = owner, **params: Any) -> list[str]:
        return [milestone["title"] for milestone in api.get(path, caller, **params).json()]

    assert titles(f"/projects/{project.id}/milestones") == ["deep"]
    assert titles(f"/projects/{project.id}/milestones", include_ancestors="true") == ["deep", "below", "above"]
    assert titles(f"/projects/{project.id}/milestones", include_parent_milestones="true", search="abo") == ["above"]
    assert titles(f"/groups/{child.id}/milestones", include_ancestors="true") == ["below", "above"]
    for caller in (owner, make.root):
        assert titles(f"/groups/{group.id}/milestones", caller, include_descendants="true") == [
            "deep",
            "below",
            "above",
        ]
    assert titles(f"/groups/{group.id}/milestones", outside, include_descendants="true") == ["above"]


CALLERS = [
    ("nobody", 401, 401),
    ("stranger", 404, 404),
    ("guest", 200, 403),
    ("reporter", 200, 201),
    ("owner", 200, 201),
    ("administrator", 200, 201),
]


@pytest.fixture(scope="module")
def private(make: Make, roles: UsersByRole) -> Group:
    """Return a private group of the same owner."""
    return group_with(make, roles)


@pytest.mark.parametrize(("role", "reads", "writes"), CALLERS)
def test_permissions(
    api: Api, make: Make, roles: UsersByRole, private: Group, role: str, reads: int, writes: int
) -> None:
    milestone = _make(api, roles.owner, private, make.name("milestone"))
    base, caller = f"/groups/{private.id}/milestones", roles[role]
    assert api.get(base, caller).status_code == reads
    assert api.get(f"{base}/{milestone['id']}/issues", caller).status_code == reads
    assert api.post(base, caller, title=make.name("milestone")).status_code == writes
    done = 200 if writes == 201 else writes
    assert api.put(f"{base}/{milestone['id']}", caller, description="x").status_code == done
    assert api.delete(f"{base}/{milestone['id']}", caller).status_code == done


def test_milestone_issues_are_those_visible_to_the_caller(api: Api, make: Make, owner: User) -> None:
    """Attack: learn of confidential issues or hidden projects through a milestone."""
    group = make_group(make, owner, visibility="public")
    wide = _make(api, owner, group, "wide")
    guest, reporter, outside = make.user(), make.user(), make.user()
    people = {guest: Level.GUEST, reporter: Level.REPORTER}
    public = make_project(make, owner, group=group, visibility="public", members=people)
    hidden = make_project(make, owner, group=group, visibility="private", members=people)
    own = api.post(f"/projects/{public.id}/milestones", owner, title="own").json()
    for project, milestone_id, title, confidential in [
        (public, own["id"], "own", False),
        (public, own["id"], "own secret", True),
        (public, wide["id"], "shown", False),
        (public, wide["id"], "secret", True),
        (hidden, wide["id"], "hidden", False),
    ]:
        sent = {"title": title, "confidential": confidential, "milestone_id": milestone_id}
        assert api.post(f"/projects/{project.id}/issues", owner, **sent).status_code == 201
    asked = api.post(f"/projects/{public.id}/issues", guest, title="asked", confidential=True).json()
    api.put(f"/projects/{public.id}/issues/{asked['iid']}", owner, milestone_id=wide["id"])
    gone = api.post(f"/projects/{public.id}/issues", owner, title="gone", milestone_id=wide["id"]).json()
    api.delete(f"/projects/{public.id}/issues/{gone['iid']}", owner)

    def titles(path: str, caller: User) -> list[str]:
        answer = api.get(path, caller)
        assert int(answer.headers["x-total"]) == len(answer.json())
        return [issue["title"] for issue in answer.json()]

    of_project = f"/projects/{public.id}/milestones/{own['id']}/issues"
    assert titles(of_project, owner) == titles(of_project, reporter) == ["own secret", "own"]
    assert titles(of_project, guest) == titles(of_project, outside) == ["own"]
    of_group = f"/groups/{group.id}/milestones/{wide['id']}/issues"
    everything = ["asked", "hidden", "secret", "shown"]
    assert titles(of_group, owner) == titles(of_group, reporter) == titles(of_group, make.root) == everything
    assert titles(of_group, guest) == ["asked", "hidden", "shown"]
    assert titles(of_group, outside) == ["shown"]
    # A group milestone is not found as a project milestone, though the project's issues may have it.
    assert api.get(f"/projects/{public.id}/milestones/{wide['id']}/issues", owner).status_code == 404
