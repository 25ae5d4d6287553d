"""python-gitlab's managers for merge requests, unmodified, against the server."""

from collections.abc import Iterator

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError

from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_open_edit_close_delete(client: Gitlab, make: Make) -> None:
    made = filled_project(make)
    commit(make, made, "topic", {"a": "x\n"}, start="master")
    project = client.projects.get(made.id)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic", "labels": ["a", "b"]}
    request = project.mergerequests.create(sent)
    assert (request.iid, request.state, request.labels) == (1, "opened", ["a", "b"])
    with pytest.raises(GitlabCreateError):
        project.mergerequests.create(sent)
    request.title = "Draft: topic"
    request.labels = ["c"]
    request.assignee_ids = [make.root.id]
    request.save()
    found = project.mergerequests.get(1)
    assert (found.draft, found.labels, found.assignees[0]["id"]) == (True, ["c"], make.root.id)
    assert [each.id for each in found.commits()] == [found.sha]
    changes = found.changes()
    assert isinstance(changes, dict)
    assert [change["new_path"] for change in changes["changes"]] == ["a"]
    version = found.diffs.list(get_all=True)[0]
    assert [change["new_path"] for change in found.diffs.get(version.id).diffs] == ["a"]
    assert [person["id"] for person in found.participants(get_all=True)] == [make.root.id]
    assert list(found.closes_issues()) == []
    found.time_estimate("2h")
    found.add_spent_time("1h")
    assert project.mergerequests.get(1).time_stats()["human_time_estimate"] == "2h"
    found.reset_time_estimate()
    found.reset_spent_time()
    found.unsubscribe()
    found.subscribe()
    found.state_event = "close"
    found.save()
    assert project.mergerequests.get(1).state == "closed"
    found.delete()
    with pytest.raises(GitlabGetError):
        project.mergerequests.get(1)


def test_lists(client: Gitlab, make: Make) -> None:
    group = make_group(make)
    made = filled_project(make, group=group)
    project = client.projects.get(made.id)
    for number in range(3):
        commit(make, made, f"topic-{number}", {f"{number}": "x\n"}, start="master")
        project.mergerequests.create(
            {"source_branch": f"topic-{number}", "target_branch": "master", "title": f"Topic {number}"}
        )
    assert len(list(project.mergerequests.list(iterator=True, per_page=2))) == 3
    assert [each.iid for each in project.mergerequests.list(iids=[1, 3], get_all=True)] == [3, 1]
    assert [each.iid for each in project.mergerequests.list(source_branch="topic-1", get_all=True)] == [2]
    assert len(client.groups.get(group.id).mergerequests.list(state="opened", get_all=True)) == 3
    assert len(client.mergerequests.list(scope="all", search="Topic 2", get_all=True)) >= 1


def test_notes_and_discussions(client: Gitlab, make: Make) -> None:
    made = filled_project(make)
    commit(make, made, "topic", {"a": "x\n"}, start="master")
    project = client.projects.get(made.id)
    request = project.mergerequests.create({"source_branch": "topic", "target_branch": "master", "title": "Topic"})
    note = request.notes.create({"body": "Fine"})
    note.body = "Finer"
    note.save()
    assert request.notes.get(note.id).body == "Finer"
    place = {"position_type": "text", "new_path": "a", "old_path": "a", "new_line": 1, **request.diff_refs}
    discussion = request.discussions.create({"body": "Here", "position": place})
    answer = discussion.notes.create({"body": "There"})
    answer.body = "Over there"
    answer.save()
    discussion = request.discussions.get(discussion.id)
    assert discussion.attributes["notes"][0]["position"]["new_line"] == 1
    discussion.resolved = True
    discussion.save()
    assert project.mergerequests.get(request.iid).blocking_discussions_resolved
    award = request.awardemojis.create({"name": "heart"})
    assert [each.name for each in request.awardemojis.list(get_all=True)] == ["heart"]
    award.delete()
    request.approve()
    assert request.approvals.get().approved_by[0]["user"]["id"] == make.root.id
    request.unapprove()
    request.state_event = "close"
    request.save()
    assert [event.state for event in request.resourcestateevents.list(get_all=True)] == ["closed"]
    assert request.resourcelabelevents.list(get_all=True) == []
    assert request.resourcemilestoneevents.list(get_all=True) == []
    note.delete()
