"""python-gitlab's managers for notes, discussions, emoji, and resource events."""

from collections.abc import Iterator
from typing import Any

import gitlab
import pytest
from gitlab.exceptions import GitlabCreateError, GitlabGetError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project


@pytest.fixture
def issue(instance: Instance, make: Make) -> Iterator[Any]:
    """Yield an issue of another author, as seen by the administrator's client."""
    project = make_project(make, make.user())
    author = make.user()
    sent = {"user_id": author.id, "access_level": 30}
    assert make.api.post(f"/projects/{project.id}/members", make.root, **sent).status_code == 201
    assert make.api.post(f"/projects/{project.id}/issues", author, title="one").status_code == 201
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client.projects.get(project.id).issues.get(1)


def test_notes(issue: Any) -> None:
    """A note is created, read, saved, awarded and deleted."""
    note = issue.notes.create({"body": "Hello"})
    assert [each.id for each in issue.notes.list(get_all=True)] == [note.id]
    note = issue.notes.get(note.id)
    note.body = "Changed"
    note.save()
    assert issue.notes.get(note.id).body == "Changed"
    award = note.awardemojis.create({"name": "tractor"})
    assert note.awardemojis.get(award.id).name == "tractor"
    assert [each.id for each in note.awardemojis.list(get_all=True)] == [award.id]
    award.delete()
    assert note.awardemojis.list(get_all=True) == []
    note.delete()
    with pytest.raises(GitlabGetError):
        issue.notes.get(note.id)


def test_discussions(issue: Any) -> None:
    """A discussion is started and replied to."""
    discussion = issue.discussions.create({"body": "First"})
    answer = discussion.notes.create({"body": "Second"})
    again = issue.discussions.get(discussion.id)
    assert [each["body"] for each in again.attributes["notes"]] == ["First", "Second"]
    answer = discussion.notes.get(answer.id)
    answer.body = "Third"
    answer.save()
    assert discussion.notes.get(answer.id).body == "Third"
    answer.delete()
    assert len(issue.discussions.get(discussion.id).attributes["notes"]) == 1
    assert [each.id for each in issue.discussions.list(get_all=True)] == [discussion.id]


def test_award_emoji(issue: Any) -> None:
    """An emoji is awarded once, and counted."""
    award = issue.awardemojis.create({"name": "thumbsup"})
    with pytest.raises(GitlabCreateError):
        issue.awardemojis.create({"name": "thumbsup"})
    assert issue.awardemojis.get(award.id).name == "thumbsup"
    assert issue.manager.get(issue.iid).upvotes == 1
    issue.awardemojis.delete(award.id)
    assert issue.awardemojis.list(get_all=True) == []
    assert issue.manager.get(issue.iid).upvotes == 0


def test_resource_events(issue: Any) -> None:
    """Changes of labels and states create events and system notes."""
    issue.labels = ["bug"]
    issue.state_event = "close"
    issue.save()
    event = issue.resourcelabelevents.list(get_all=True)[0]
    assert issue.resourcelabelevents.get(event.id).label["name"] == "bug"
    state = issue.resourcestateevents.list(get_all=True)[0]
    assert issue.resourcestateevents.get(state.id).state == "closed"
    assert issue.resourcemilestoneevents.list(get_all=True) == []
    assert [note.body for note in issue.notes.list(get_all=True) if note.body == "closed"] == ["closed"]


def test_commit_discussions(issue: Any, instance: Instance, make: Make) -> None:
    """A discussion of a commit."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        project = client.projects.get(issue.project_id)
        made = {"file_path": "a", "branch": "master", "content": "a", "commit_message": "a"}
        project.files.create(made)
        commit = project.commits.get("master")
        discussion = commit.discussions.create({"body": "First"})
        note = discussion.notes.create({"body": "Second"})
        note.body = "Third"
        note.save()
        shown = commit.discussions.get(discussion.id).attributes["notes"]
        assert [each["body"] for each in shown] == ["First", "Third"]
        assert [each.id for each in commit.discussions.list(get_all=True)] == [discussion.id]


def test_quick_actions(issue: Any) -> None:
    """A note of quick actions only is not created, and clients accept the response."""
    done = issue.notes.create({"body": "/close\n/title two"})
    assert done.commands_changes == {"state_event": "close", "title": "two"}
    now = issue.manager.get(issue.iid)
    assert (now.title, now.state) == ("two", "closed")
    assert issue.notes.create({"body": "Well.\n/reopen"}).body == "Well."
    assert issue.manager.get(issue.iid).state == "opened"
