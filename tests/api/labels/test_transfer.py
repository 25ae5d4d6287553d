"""Labels, milestones and board lists of a project that is transferred out of a group."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project

RED = "#FF0000"


def _fill(api: Api, owner: User, group: Group, project: Project) -> dict[str, Any]:
    """Create a label and a milestone of the group, used by an issue and a board of the project."""
    label = api.post(f"/groups/{group.id}/labels", owner, name="wide", color=RED, description="ours").json()
    milestone = api.post(f"/groups/{group.id}/milestones", owner, title="wide", due_date="2030-01-01").json()
    issue = {"title": "x", "labels": "wide", "milestone_id": milestone["id"]}
    assert api.post(f"/projects/{project.id}/issues", owner, **issue).status_code == 201
    board = api.get(f"/projects/{project.id}/boards", owner).json()[0]
    lists = f"/projects/{project.id}/boards/{board['id']}/lists"
    assert api.post(lists, owner, label_id=label["id"]).status_code == 201
    return {"label": label["id"], "milestone": milestone["id"], "lists": lists}


@pytest.mark.parametrize("how", ["project", "group"])
def test_group_labels_are_copied_into_the_project(api: Api, make: Make, how: str) -> None:
    owner = make.user()
    group, other = make_group(make, owner), make_group(make, owner)
    inner = make_group(make, owner, parent=group)
    project = make_project(make, owner, group=inner)
    old = _fill(api, owner, group, project)
    board = api.post(f"/groups/{inner.id}/boards", owner, name="inner").json()
    api.post(f"/groups/{inner.id}/boards/{board['id']}/lists", owner, label_id=old["label"])

    if how == "project":
        moved = api.put(f"/projects/{project.id}/transfer", owner, namespace=other.id)
    else:
        moved = api.post(f"/groups/{inner.id}/transfer", owner, group_id=other.id)
    assert moved.status_code < 300, moved.text

    (label,) = api.get(f"/projects/{project.id}/labels", owner).json()
    assert (label["name"], label["description"], label["is_project_label"]) == ("wide", "ours", True)
    assert (label["id"] != old["label"], label["open_issues_count"]) == (True, 1)
    (milestone,) = api.get(f"/projects/{project.id}/milestones", owner).json()
    assert (milestone["title"], milestone["due_date"]) == ("wide", "2030-01-01")
    (issue,) = api.get(f"/projects/{project.id}/issues", owner, labels="wide", milestone="wide").json()
    assert (issue["labels"], issue["milestone"]) == (["wide"], milestone)
    assert [each["label"]["id"] for each in api.get(old["lists"], owner).json()] == [label["id"]]
    assert api.get(f"/groups/{group.id}/labels/wide", owner).json()["open_issues_count"] == 0
    held = api.get(f"/groups/{inner.id}/boards/{board['id']}/lists", owner).json()
    assert len(held) == (1 if how == "project" else 0)


def test_labels_with_the_same_title_in_the_target_are_reused(api: Api, make: Make) -> None:
    owner = make.user()
    group, other = make_group(make, owner), make_group(make, owner)
    project = make_project(make, owner, group=group)
    old = _fill(api, owner, group, project)
    there = api.post(f"/groups/{other.id}/labels", owner, name="wide", color=RED).json()
    planned = api.post(f"/groups/{other.id}/milestones", owner, title="wide").json()

    assert api.put(f"/projects/{project.id}/transfer", owner, namespace=other.id).status_code == 200

    (label,) = api.get(f"/projects/{project.id}/labels", owner).json()
    assert (label["id"], label["open_issues_count"]) == (there["id"], 1)
    (issue,) = api.get(f"/projects/{project.id}/issues", owner).json()
    assert (issue["labels"], issue["milestone"]["id"]) == (["wide"], planned["id"])
    assert [each["label"]["id"] for each in api.get(old["lists"], owner).json()] == [there["id"]]


def test_a_rename_changes_nothing(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    old = _fill(api, owner, group, project)
    api.put(f"/groups/{group.id}", owner, path=make.name("renamed"))
    api.put(f"/projects/{project.id}", owner, path=make.name("renamed"))
    (label,) = api.get(f"/projects/{project.id}/labels", owner).json()
    assert (label["id"], label["open_issues_count"]) == (old["label"], 1)
    assert api.get(f"/projects/{project.id}/issues", owner).json()[0]["milestone"]["id"] == old["milestone"]
