"""python-gitlab's managers for labels, milestones and boards, unmodified, against the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError
from gitlab.v4.objects import Group, Project

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


@pytest.fixture
def group(client: Gitlab, make: Make) -> Group:
    """Return a new group for each test."""
    return client.groups.get(make_group(make).id)


@pytest.fixture
def project(client: Gitlab, make: Make, group: Group) -> Project:
    """Return a project in the group."""
    return client.projects.get(make_project(make, namespace_id=group.id).id)


def test_labels(project: Project, group: Group) -> None:
    for manager in (project.labels, group.labels):
        label: Any = manager.create({"name": "Label:that requires:encoding", "color": "#FF0000"})
        assert label.id in [each.id for each in manager.list(get_all=True)]
        label.color = "#00FF00"
        label.description = "d"
        label.save()
        assert manager.get(label.name).color == "#00FF00"
        assert manager.get(label.id).description == "d"
        with pytest.raises(GitlabCreateError) as caught:
            manager.create({"name": label.name, "color": "#FF0000"})
        assert caught.value.response_code == 409
        label.subscribe()
        assert label.subscribed
        label.unsubscribe()
        assert not label.subscribed
        label.new_name = "other"
        label.save()
        assert manager.list(search="oth", get_all=True)[0].name == "other"
        manager.delete("other")
        with pytest.raises(GitlabGetError):
            manager.get("other")


def test_labels_are_prioritized_and_promoted(project: Project, group: Group) -> None:
    label: Any = project.labels.create({"name": "wide", "color": "red", "priority": 1})
    assert (label.priority, label.color) == (1, "#FF0000")
    promoted: Any = label.promote()
    assert group.labels.get("wide").id == promoted["id"]
    assert [each.name for each in project.labels.list(include_ancestor_groups=False, get_all=True)] == []


def test_milestones(project: Project, group: Group) -> None:
    for manager in (project.milestones, group.milestones):
        kind = type(manager).__name__
        milestone: Any = manager.create({"title": kind, "due_date": "2030-01-01"})
        milestone.description = "d"
        milestone.state_event = "close"
        milestone.save()
        held: Any = manager.get(milestone.id)
        assert (held.state, held.description, held.due_date) == ("closed", "d", "2030-01-01")
        assert [each.id for each in manager.list(iids=[milestone.iid], state="closed", search=kind)] == [milestone.id]
        project.issues.create({"title": kind, "milestone_id": milestone.id})
        assert [issue.title for issue in milestone.issues()] == [kind]
        milestone.delete()
        with pytest.raises(GitlabGetError):
            manager.get(milestone.id)
    milestone = project.milestones.create({"title": "wide"})
    assert milestone.promote()["group_id"] == group.id


def test_boards(project: Project, group: Group) -> None:
    label = group.labels.create({"name": "one", "color": "#FF0000"})
    other = group.labels.create({"name": "two", "color": "#FF0000"})
    assert [board.name for board in project.boards.list(get_all=True)] == ["Development"]
    for manager in (project.boards, group.boards):
        manager.create({"name": "stays"})
        board: Any = manager.create({"name": "first"})
        board.name = "renamed"
        board.save()
        board = manager.get(board.id)
        assert board.name == "renamed"
        first: Any = board.lists.create({"label_id": label.id})
        board.lists.create({"label_id": other.id})
        first.position = 1
        first.save()
        assert [each.label["name"] for each in board.lists.list(get_all=True)] == ["two", "one"]
        assert board.lists.get(first.id).position == 1
        first.delete()
        assert len(board.lists.list(get_all=True)) == 1
        board.delete()
        with pytest.raises(GitlabGetError):
            manager.get(board.id)


def test_issues_are_reordered(project: Project) -> None:
    issues = [project.issues.create({"title": title}) for title in "abc"]
    issues[2].reorder(move_after_id=issues[0].id)
    found = project.issues.list(order_by="relative_position", sort="asc", get_all=True)
    assert [issue.title for issue in found] == ["c", "a", "b"]
