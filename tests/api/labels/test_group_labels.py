"""Labels of groups, and their visibility in projects and subgroups."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Group, make_group, make_project
from tests.roles import UsersByRole, group_with

RED = "#FF0000"


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return a user who owns the groups."""
    return make.user()


@pytest.fixture
def group(make: Make, owner: User) -> Group:
    """Return a new group for each test."""
    return make_group(make, owner)


def _make(api: Api, owner: User, group: Group, name: str) -> dict[str, Any]:
    made = api.post(f"/groups/{group.id}/labels", owner, name=name, color=RED)
    assert made.status_code == 201, made.text
    label: dict[str, Any] = made.json()
    return label


def _names(api: Api, path: str, caller: User, **params: Any) -> list[str]:
    answer = api.get(path, caller, **params)
    assert answer.status_code == 200, answer.text
    return [label["name"] for label in answer.json()]


def test_create_read_edit_delete(api: Api, owner: User, group: Group) -> None:
    label = _make(api, owner, group, "bug")
    assert {"id", "name", "color", "text_color", "description", "subscribed", "open_issues_count"} <= label.keys()
    assert api.get(f"/groups/{group.id}/labels/bug", owner).json() == label
    assert api.get(f"/groups/{group.id}/labels", owner).json() == [label]
    edited = api.put(f"/groups/{group.id}/labels", owner, name="bug", new_name="defect", description="d")
    assert (edited.json()["name"], edited.json()["description"]) == ("defect", "d")
    assert api.put(f"/groups/{group.id}/labels/{label['id']}", owner, color="#000").json()["color"] == "#000"
    assert api.put(f"/groups/{group.id}/labels/{label['id']}", owner).status_code == 400
    followed = api.post(f"/groups/{group.id}/labels/{label['id']}/subscribe", owner)
    assert (followed.status_code, followed.json()["subscribed"]) == (201, True)
    assert api.post(f"/groups/{group.id}/labels/{label['id']}/subscribe", owner).status_code == 304
    left = api.post(f"/groups/{group.id}/labels/{label['id']}/unsubscribe", owner)
    assert left.json()["subscribed"] is False
    assert [api.delete(f"/groups/{group.id}/labels/{label['id']}", owner).status_code for _ in range(2)] == [200, 200]
    _make(api, owner, group, "again")
    assert api.delete(f"/groups/{group.id}/labels", owner, name="again").status_code == 200
    assert api.delete(f"/groups/{group.id}/labels", owner, name="again").status_code == 404


def test_projects_use_group_labels(api: Api, make: Make, owner: User, group: Group) -> None:
    label = _make(api, owner, group, "wide")
    project = make_project(make, owner, group=make_group(make, owner, parent=group))
    base = f"/projects/{project.id}/labels"
    (shown,) = api.get(base, owner).json()
    assert (shown["id"], shown["is_project_label"], shown["priority"]) == (label["id"], False, None)
    assert api.get(f"{base}/wide", owner).status_code == 200
    assert api.get(base, owner, include_ancestor_groups="false").json() == []
    assert api.get(f"{base}/wide", owner, include_ancestor_groups="false").status_code == 404
    assert api.post(base, owner, name="wide", color=RED).status_code == 409
    # They are edited in their group.
    assert api.put(f"{base}/wide", owner, color=RED).status_code == 404
    assert api.delete(f"{base}/wide", owner).status_code == 200
    assert _names(api, base, owner) == ["wide"]
    issue = api.post(f"/projects/{project.id}/issues", owner, title="x", labels="wide").json()
    assert issue["labels"] == ["wide"]
    assert len(api.get(base, owner).json()) == 1


def test_labels_of_parent_groups_and_subgroups(api: Api, make: Make, owner: User, group: Group) -> None:
    """Labels of subgroups and projects are listed only if visible."""
    child = make_group(make, owner, parent=group, visibility="private")
    project = make_project(make, owner, group=child, visibility="private")
    guest = make.user()
    api.post(f"/groups/{group.id}/members", make.root, user_id=guest.id, access_level=10)
    _make(api, owner, group, "above")
    _make(api, owner, child, "below")
    api.post(f"/projects/{project.id}/labels", owner, name="deep", color=RED)
    outside = make.user()
    api.put(f"/groups/{group.id}", owner, visibility="public")
    path, deep = f"/groups/{group.id}/labels", {"include_descendant_groups": "true"}

    assert _names(api, f"/groups/{child.id}/labels", owner) == ["above", "below"]
    assert _names(api, f"/groups/{child.id}/labels", owner, include_ancestor_groups="false") == ["below"]
    assert _names(api, path, owner, **deep) == ["above", "below"]
    for caller in (owner, guest, make.root):
        assert _names(api, path, caller, only_group_labels="false", **deep) == ["above", "below", "deep"]
    assert _names(api, path, owner, only_group_labels="false") == ["above"]
    assert _names(api, path, outside, only_group_labels="false", **deep) == ["above"]


def test_a_subgroup_cannot_reuse_a_title_of_its_parent(api: Api, make: Make, owner: User, group: Group) -> None:
    _make(api, owner, group, "taken")
    child = make_group(make, owner, parent=group)
    assert api.post(f"/groups/{child.id}/labels", owner, name="taken", color=RED).status_code == 409


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
    label = _make(api, roles.owner, private, make.name("label"))
    base, caller = f"/groups/{private.id}/labels", roles[role]
    assert api.get(base, caller).status_code == reads
    assert api.get(f"{base}/{label['id']}", caller).status_code == reads
    assert api.post(base, caller, name=make.name("label"), color=RED).status_code == writes
    done = 200 if writes == 201 else writes
    assert api.put(f"{base}/{label['id']}", caller, color="#000").status_code == done
    assert api.delete(f"{base}/{label['id']}", caller).status_code == done


def test_labels_of_other_groups_are_not_found(api: Api, make: Make, owner: User, group: Group) -> None:
    """Attack: reach a label through the path of another group."""
    secret = _make(api, owner, group, "secret title")
    stranger = make.user()
    theirs = make_group(make, stranger)
    assert api.get(f"/groups/{theirs.id}/labels/{secret['id']}", stranger).status_code == 404
    assert api.put(f"/groups/{theirs.id}/labels/{secret['id']}", stranger, color=RED).status_code == 404
    api.delete(f"/groups/{theirs.id}/labels/{secret['id']}", stranger)
    assert _names(api, f"/groups/{group.id}/labels", owner) == ["secret title"]


def test_counts_include_visible_projects_only(api: Api, make: Make, owner: User) -> None:
    """All projects of a group that the caller can see."""
    group = make_group(make, owner, visibility="public")
    label = _make(api, owner, group, "wide")
    reporter, guest = make.user(), make.user()
    external = make.user(external=True)
    for visibility in ("public", "internal", "private"):
        people = {reporter: Level.REPORTER, guest: Level.GUEST}
        project = make_project(make, owner, group=group, visibility=visibility, members=people)
        base = f"/projects/{project.id}/issues"
        api.post(base, owner, title="open", labels="wide")
        api.post(base, owner, title="hidden", labels="wide", confidential=True)
        closed = api.post(base, owner, title="closed", labels="wide").json()
        api.put(f"{base}/{closed['iid']}", owner, state_event="close")
    off = make_project(make, owner, group=group)
    api.post(f"/projects/{off.id}/issues", owner, title="off", labels="wide")
    api.put(f"/projects/{off.id}", owner, issues_enabled=False)

    def counts(caller: User) -> tuple[int, int, int]:
        shown = api.get(f"/groups/{group.id}/labels/{label['id']}", caller).json()
        return shown["open_issues_count"], shown["closed_issues_count"], shown["open_merge_requests_count"]

    assert counts(owner) == counts(make.root) == counts(reporter) == (6, 3, 0)
    assert counts(guest) == (3, 3, 0)
    assert counts(make.user()) == (2, 2, 0)
    assert counts(external) == (1, 1, 0)
