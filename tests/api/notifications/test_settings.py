"""Notification settings: global, of a group, of a project."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import add_members, make_group, make_project

FLAGS = [
    "new_note",
    "new_issue",
    "reopen_issue",
    "close_issue",
    "reassign_issue",
    "new_merge_request",
    "reopen_merge_request",
    "close_merge_request",
    "reassign_merge_request",
    "merge_merge_request",
    "failed_pipeline",
    "success_pipeline",
]


def test_global_settings(api: Api, make: Make) -> None:
    user = make.user()
    assert api.get("/notification_settings", user).json() == {
        "level": "participating",
        "notification_email": user.email,
    }
    further = api.post(
        f"/users/{user.id}/emails", make.root, email=f"{make.name()}@example.org", skip_confirmation=True
    )

    said = api.put("/notification_settings", user, level="watch", notification_email=further.json()["email"])

    assert said.json() == {"level": "watch", "notification_email": further.json()["email"]}
    assert api.get("/notification_settings", user).json() == said.json()
    other = make.user()
    for wrong in ({"level": "loud"}, {"level": "global"}, {"level": 2}, {"notification_email": other.email}):
        assert api.put("/notification_settings", user, **wrong).status_code == 400, wrong
    stolen = api.put("/notification_settings", user, notification_email=other.email)
    assert stolen.json() == {"message": {"notification_email": ["is not an email you own"]}}
    api.delete(f"/users/{user.id}/emails/{further.json()['id']}", make.root)
    assert api.get("/notification_settings", user).json()["notification_email"] == user.email


@pytest.mark.parametrize("kind", ["groups", "projects"])
def test_settings_of_a_group_and_a_project(api: Api, make: Make, kind: str) -> None:
    """Custom events are shown for the custom level only, and kept when the level changes."""
    user, stranger = make.user(), make.user()
    made: Any = make_group if kind == "groups" else make_project
    place = made(make, visibility="private", members={user: Level.GUEST})
    url = f"{place.url}/notification_settings"

    assert api.get(url, user).json() == {"level": "global"}
    assert api.put(url, user, level="custom", new_note=True, failed_pipeline=False).json() == {
        "level": "custom",
        "events": {**dict.fromkeys(FLAGS, False), "new_note": True},
    }
    assert api.put(url, user, level="mention").json() == {"level": "mention"}
    assert api.put(url, user, close_issue="on").json() == {"level": "mention"}
    again = api.put(url, user, level="custom").json()["events"]
    assert [name for name, on in again.items() if on] == ["new_note", "close_issue"]
    assert list(again) == FLAGS
    assert api.get(f"/{kind}/{place.id}/notification_settings", stranger).status_code == 404
    assert api.put(f"/{kind}/{place.id}/notification_settings", stranger, level="watch").status_code == 404
    assert api.put(url, user, level="x").status_code == 400
    assert api.put(url, user, new_note="perhaps").status_code == 400
    assert api.get(url).status_code == 401


def test_projects_show_the_notification_level(api: Api, make: Make) -> None:
    """In the permissions of the project, also if set before the user became a member."""
    user = make.user()
    group = make_group(make, visibility="public", members={user: Level.DEVELOPER})
    project = make_project(make, group=group, visibility="public")
    api.put(f"/projects/{project.id}/notification_settings", user, level="watch")
    api.put(f"/groups/{group.id}/notification_settings", user, level="mention")
    assert api.get(project.url, user).json()["permissions"] == {
        "project_access": None,
        "group_access": {"access_level": 30, "notification_level": 4},
    }

    add_members(make, project, {user: Level.MASTER})

    assert api.get(project.url, user).json()["permissions"]["project_access"] == {
        "access_level": 40,
        "notification_level": 2,
    }
    api.put(f"/projects/{project.id}/notification_settings", user, level="disabled")
    assert api.get(project.url, user).json()["permissions"]["project_access"]["notification_level"] == 0
    api.delete(f"{project.url}/members/{user.id}", make.root)
    add_members(make, project, {user: Level.GUEST})
    assert api.get(f"/projects/{project.id}/notification_settings", user).json() == {"level": "global"}
    assert api.get(project.url, user).json()["permissions"]["project_access"]["notification_level"] == 3
