"""python-gitlab's managers for todos, events and notification settings."""

from collections.abc import Iterator

import gitlab
import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.factories import Project, make_project


@pytest.fixture
def client(instance: Instance, make: Make) -> Iterator[gitlab.Gitlab]:
    """Yield the client of a new user."""
    with gitlab.Gitlab(instance.url, private_token=make.user().token) as new:
        new.auth()
        yield new


@pytest.fixture
def project(client: gitlab.Gitlab, make: Make) -> Project:
    """Return a project of other users, with this user as a member."""
    assert client.user is not None
    made = make_project(make, make.user())
    sent = {"user_id": client.user.id, "access_level": 30}
    assert make.api.post(f"/projects/{made.id}/members", make.root, **sent).status_code == 201
    return made


def test_todos(client: gitlab.Gitlab, project: Project) -> None:
    issue = client.projects.get(project.id).issues.create({"title": "one"})
    issue.todo()
    (todo,) = client.todos.list(get_all=True)
    assert (todo.target["iid"], todo.action_name) == (issue.iid, "marked")
    todo.mark_as_done()
    assert client.todos.list(get_all=True) == []
    issue.todo()
    assert len(client.todos.list(state="pending", type="Issue", get_all=True)) == 1
    client.todos.mark_all_as_done()
    assert client.todos.list(get_all=True) == []
    assert len(client.todos.list(state="done", get_all=True)) == 2


def test_events(client: gitlab.Gitlab, project: Project) -> None:
    place = client.projects.get(project.id)
    issue = place.issues.create({"title": "one"})
    issue.notes.create({"body": "two"})
    assert client.user is not None

    names = ["commented on", "opened", "joined"]
    assert [event.action_name for event in client.events.list(get_all=True)] == names
    user = client.users.get(client.user.id)
    assert [event.action_name for event in user.events.list(get_all=True, per_page=1)] == names
    assert [event.action_name for event in place.events.list(get_all=True)] == [*names, "created"]
    (found,) = place.events.list(target_type="issue", action="created", get_all=True)
    assert (found.target_iid, found.target_title) == (issue.iid, "one")


def test_notification_settings(client: gitlab.Gitlab, project: Project) -> None:
    settings = client.notificationsettings.get()
    assert settings.level == "participating"
    settings.level = gitlab.const.NotificationLevel.WATCH
    settings.save()
    assert client.notificationsettings.get().level == "watch"
    here = client.projects.get(project.id).notificationsettings.get()
    assert here.level == "global"
    here.level = "custom"
    here.new_note = True
    here.save()
    assert client.projects.get(project.id).notificationsettings.get().events["new_note"] is True
    group = client.groups.create({"name": f"g{project.id}", "path": f"g{project.id}"})
    around = group.notificationsettings.get()
    around.level = "mention"
    around.save()
    assert group.notificationsettings.get().level == "mention"
