"""Payloads of system hooks: projects, users, keys, groups, members and pushes."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.webhooks.delivery.dispatcher import HookDispatcher
from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import Receiver
from tests.client import Api, Make
from tests.factories import make_group, make_project
from tests.ssh_public_keys import ed25519_line

PROJECT = {
    "created_at", "updated_at", "event_name", "name", "owner_email", "owner_name", "path", "path_with_namespace",
    "project_id", "project_visibility",
}  # fmt: skip
TEAM = {
    "created_at", "updated_at", "event_name", "project_access", "project_id", "project_name", "project_path",
    "project_path_with_namespace", "user_email", "user_name", "user_username", "user_id", "project_visibility",
}  # fmt: skip
MEMBER = {
    "created_at", "updated_at", "event_name", "group_access", "group_id", "group_name", "group_path", "user_email",
    "user_name", "user_username", "user_id",
}  # fmt: skip
GROUP = {"created_at", "updated_at", "event_name", "name", "owner_email", "owner_name", "path", "group_id"}
USER = {"created_at", "updated_at", "event_name", "name", "email", "username", "user_id"}
KEY = {"created_at", "updated_at", "event_name", "username", "key", "id"}


class SystemHook:
    """System hook with its receiver."""

    def __init__(self, api: Api, make: Make, receiver: Receiver) -> None:
        self._receiver = receiver
        made = api.post("/hooks", make.root, url=receiver.url("/system"), push_events=True, tag_push_events=True)
        assert made.status_code == 201, made.text
        self.id: int = made.json()["id"]

    def next(self, name: str, keys: set[str]) -> Any:
        """Return the next payload, which must be of this kind."""
        got = self._receiver.next()
        assert got.headers["x-gitlab-event"] == "System Hook"
        assert got.body["event_name"] == name
        assert got.body.keys() >= keys
        return got.body


@pytest.fixture
def system_hook(api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher) -> Iterator[SystemHook]:
    """Yield a system hook, deleted after the test."""
    system_hook = SystemHook(api, make, receiver)
    yield system_hook
    assert api.delete(f"/hooks/{system_hook.id}", make.root).status_code == 200


def test_project_and_team_events(system_hook: SystemHook, api: Api, make: Make) -> None:
    """From creation to deletion; the creator of a personal project becomes its master."""
    project = make_project(make)
    made = system_hook.next("project_create", PROJECT)
    assert (made["path_with_namespace"], made["owner_email"]) == (project.path, "admin@example.com")
    assert (made["project_visibility"], made["project_id"]) == ("private", project.id)
    added = system_hook.next("user_add_to_team", TEAM)
    assert (added["user_id"], added["project_access"], added["project_id"]) == (1, "Master", project.id)
    api.put(project.url, make.root, description="Other")
    system_hook.next("project_update", PROJECT)
    api.put(project.url, make.root, path=make.name("renamed"))
    renamed = system_hook.next("project_rename", PROJECT | {"old_path_with_namespace"})
    assert renamed["old_path_with_namespace"] == project.path

    group = make_group(make)
    system_hook.next("group_create", GROUP)
    system_hook.next("user_add_to_group", MEMBER)
    assert api.put(f"{project.url}/transfer", make.root, namespace=group.id).status_code == 200
    moved = system_hook.next("project_transfer", PROJECT | {"old_path_with_namespace"})
    assert moved["path_with_namespace"].startswith(group.path + "/")
    assert api.delete(project.url, make.root).status_code in (200, 202)
    gone = system_hook.next("project_destroy", PROJECT)
    assert gone["project_id"] == project.id


def test_group_and_member_events(system_hook: SystemHook, api: Api, make: Make) -> None:
    """The owner's membership follows the group; contents are created after the group and deleted before it."""
    group = make_group(make)
    assert system_hook.next("group_create", GROUP)["owner_name"] == "Administrator"
    owner = system_hook.next("user_add_to_group", MEMBER)
    assert (owner["group_access"], owner["group_id"]) == ("Owner", group.id)
    user = make.user()
    assert system_hook.next("user_create", USER)["username"] == user.username
    api.post(f"{group.url}/members", make.root, user_id=user.id, access_level=30)
    assert system_hook.next("user_add_to_group", MEMBER)["group_access"] == "Developer"
    api.delete(f"{group.url}/members/{user.id}", make.root)
    assert system_hook.next("user_remove_from_group", MEMBER)["user_id"] == user.id
    project = make_project(make, group=group)
    system_hook.next("project_create", PROJECT)
    api.post(f"{project.url}/members", make.root, user_id=user.id, access_level=20)
    assert system_hook.next("user_add_to_team", TEAM)["project_access"] == "Reporter"
    api.delete(f"{project.url}/members/{user.id}", make.root)
    assert system_hook.next("user_remove_from_team", TEAM)["user_id"] == user.id
    api.delete(group.url, make.root)
    assert system_hook.next("project_destroy", PROJECT)["project_id"] == project.id
    gone = system_hook.next("group_destroy", GROUP)
    assert (gone["group_id"], gone["owner_name"]) == (group.id, "Administrator")


def test_user_and_key_events(system_hook: SystemHook, api: Api, make: Make) -> None:
    """Creation and deletion."""
    user = make.user()
    made = system_hook.next("user_create", USER)
    assert (made["user_id"], made["email"]) == (user.id, user.email)
    key = api.post("/user/keys", user, title="key", key=ed25519_line())
    assert key.status_code == 201, key.text
    added = system_hook.next("key_create", KEY)
    assert (added["id"], added["username"], added["key"]) == (key.json()["id"], user.username, key.json()["key"])
    api.delete(f"/user/keys/{key.json()['id']}", user)
    assert system_hook.next("key_destroy", KEY)["id"] == key.json()["id"]
    api.delete(f"/users/{user.id}", make.root)
    assert system_hook.next("user_destroy", USER)["user_id"] == user.id


def test_push_events(system_hook: SystemHook, hooked: HookedProject, receiver: Receiver) -> None:
    """One for each branch and tag, and one repository update for all."""
    receiver.some(4)  # The project of the hook, with its first push.
    hooked.post("/repository/tags", tag_name="v1", ref="master", message="One")
    events = [got for got in receiver.some(3) if got.path == "/system"]
    tag, update = sorted((got.body for got in events), key=lambda body: body["event_name"], reverse=True)
    assert (tag["event_name"], tag["commits"], tag["total_commits_count"]) == ("tag_push", [], 0)
    assert update["event_name"] == "repository_update"
    assert update["refs"] == ["refs/tags/v1"]
    (change,) = update["changes"]
    assert (change["ref"], change["after"]) == ("refs/tags/v1", tag["after"])
    assert update.keys() >= {"user_id", "user_name", "user_email", "user_avatar", "project_id", "project"}


def test_test_delivery(system_hook: SystemHook, api: Api, make: Make) -> None:
    """The sample payload is shown, sent, logged, and sent again."""
    sample = {
        "event_name": "project_create",
        "name": "Ruby",
        "path": "ruby",
        "project_id": 1,
        "owner_name": "Someone",
        "owner_email": "example@gitlabhq.com",
    }
    tested = api.post(f"/hooks/{system_hook.id}", make.root)
    assert (tested.status_code, tested.json()) == (201, sample)
    assert system_hook.next("project_create", set(sample)) == sample
    while not (events := api.get(f"/hooks/{system_hook.id}/events", make.root).json()):
        pass
    assert (events[0]["trigger"], events[0]["request_data"]) == ("system_hooks", sample)
    assert api.post(f"/hooks/{system_hook.id}/events/{events[0]['id']}/resend", make.root).status_code == 201
    assert system_hook.next("project_create", set(sample)) == sample


def test_old_events_are_deleted(system_hook: SystemHook, api: Api, make: Make) -> None:
    """After the configured number of days; undelivered events are dropped."""
    from ingot.core.db.times import add_duration
    from ingot.webhooks.service import delete_old_events

    api.post(f"/hooks/{system_hook.id}", make.root)
    system_hook.next("project_create", set())
    while not api.get(f"/hooks/{system_hook.id}/events", make.root).json():
        pass
    make.database.write(lambda db: delete_old_events(db, 7))
    assert api.get(f"/hooks/{system_hook.id}/events", make.root).json()
    clock = make.database.clock
    make.database.clock = lambda: add_duration(clock(), days=8)
    try:
        make.database.write(lambda db: delete_old_events(db, 7))
    finally:
        make.database.clock = clock
    assert api.get(f"/hooks/{system_hook.id}/events", make.root).json() == []
