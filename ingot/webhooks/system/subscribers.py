"""Subscribers of system hooks to events of projects, users, keys, groups and members."""

from collections.abc import Callable

from sqlalchemy import bindparam, select

from ingot.accounts.keys.events import KeyAdded, KeyRemoved
from ingot.accounts.users.events import UserCreated, UserDeleting
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.groups.events import GroupCreated
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.namespaces.events import NamespaceDeleting
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.namespaces.tables import memberships
from ingot.projects.projects.events import ProjectCreated, ProjectDeleted, ProjectEdited, ProjectMoved
from ingot.projects.projects.queries import project_or_none
from ingot.webhooks.outbox import queue_event
from ingot.webhooks.payloads.parts import Payload
from ingot.webhooks.payloads.system import (
    group_event,
    group_member_event,
    key_event,
    project_event,
    team_event,
    user_event,
)
from ingot.webhooks.policy import SYSTEM_EVENTS
from ingot.webhooks.queries import hook_ids, subscribed_system_hooks

subscriptions = Subscriptions()
_FIRST_OWNER = (
    select(memberships.c.user_id)
    .where(
        memberships.c.source_kind == "group",
        memberships.c.source_id == bindparam("group"),
        memberships.c.access_level == int(Level.OWNER),
    )
    .order_by(memberships.c.id)
    .limit(1)
)


def _queue_for_system_hooks(db: Connection, build: Callable[[], Payload | None]) -> None:
    """Queue an event for all system hooks; without any, the payload is not built."""
    listeners = hook_ids(subscribed_system_hooks(db))
    payload = build() if listeners else None
    if payload is not None:
        queue_event(db, SYSTEM_EVENTS, payload, listeners)


def _project_event(db: Connection, name: str, project_id: int, old_full_path: str | None = None) -> Payload | None:
    project = project_or_none(db, project_id)
    if project is None:
        return None
    owner = user_or_none(db, project.space_owner_id) if project.space_owner_id else None
    return project_event(name, project, owner, old_full_path)


@subscriptions.on(ProjectCreated)
def on_project_created(db: Connection, event: ProjectCreated) -> None:
    """Queue a created project."""
    _queue_for_system_hooks(db, lambda: _project_event(db, "project_create", event.project_id))


@subscriptions.on(ProjectEdited)
def on_project_edited(db: Connection, event: ProjectEdited) -> None:
    """Queue a changed project."""
    _queue_for_system_hooks(db, lambda: _project_event(db, "project_update", event.project_id))


@subscriptions.on(ProjectDeleted)
def on_project_deleted(db: Connection, event: ProjectDeleted) -> None:
    """Queue a deleted project."""
    _queue_for_system_hooks(db, lambda: _project_event(db, "project_destroy", event.project_id))


@subscriptions.on(ProjectMoved)
def on_project_moved(db: Connection, event: ProjectMoved) -> None:
    """Queue a renamed or transferred project."""

    def build() -> Payload | None:
        project = project_or_none(db, event.project_id)
        old_namespace = event.old_full_path.rpartition("/")[0]
        is_renamed = project is not None and project.space_full_path == old_namespace
        return _project_event(
            db, f"project_{'rename' if is_renamed else 'transfer'}", event.project_id, event.old_full_path
        )

    _queue_for_system_hooks(db, build)


@subscriptions.on(UserCreated)
def on_user_created(db: Connection, event: UserCreated) -> None:
    """Queue a created user."""
    _queue_for_system_hooks(db, lambda: _user_event(db, "user_create", event.user_id))


@subscriptions.on(UserDeleting)
def on_user_deleted(db: Connection, event: UserDeleting) -> None:
    """Queue a deleted user."""
    _queue_for_system_hooks(db, lambda: _user_event(db, "user_destroy", event.user_id))


def _user_event(db: Connection, name: str, user_id: int) -> Payload | None:
    """Return the event of a user; placeholders of imports are no accounts."""
    user = user_or_none(db, user_id)
    return None if user is None or user.placeholder else user_event(name, user)


@subscriptions.on(KeyAdded)
def on_key_added(db: Connection, event: KeyAdded) -> None:
    """Queue an added SSH key."""
    _queue_for_system_hooks(db, lambda: _key_event(db, "key_create", event))


@subscriptions.on(KeyRemoved)
def on_key_removed(db: Connection, event: KeyRemoved) -> None:
    """Queue a removed SSH key."""
    _queue_for_system_hooks(db, lambda: _key_event(db, "key_destroy", event))


def _key_event(db: Connection, name: str, event: KeyAdded | KeyRemoved) -> Payload:
    user = user_or_none(db, event.user_id) if event.user_id else None
    return key_event(name, event.key_id, event.key, event.created_at, user)


@subscriptions.on(GroupCreated)
def on_group_created(db: Connection, event: GroupCreated) -> None:
    """Queue a created group."""
    owner = user_or_none(db, event.owner_id)
    _queue_for_system_hooks(db, lambda: group_event("group_create", namespace_by_id(db, event.group_id), owner))


@subscriptions.on(NamespaceDeleting)
def on_group_deleted(db: Connection, event: NamespaceDeleting) -> None:
    """Queue a deleted group; events of its content have been queued before."""

    def build() -> Payload | None:
        group = namespace_by_id(db, event.namespace_id)
        return group_event("group_destroy", group, _owner(db, group.id)) if group.kind == "group" else None

    _queue_for_system_hooks(db, build)


def _owner(db: Connection, group_id: int) -> User | None:
    user_id: int | None = db.value(_FIRST_OWNER, group=group_id)
    return None if user_id is None else user_or_none(db, user_id)


@subscriptions.on(MemberAdded)
def on_member_added(db: Connection, event: MemberAdded) -> None:
    """Queue an added member."""
    _queue_for_system_hooks(db, lambda: _member_event(db, "user_add_to", event))


@subscriptions.on(MemberRemoved)
def on_member_removed(db: Connection, event: MemberRemoved) -> None:
    """Queue a removed member."""
    _queue_for_system_hooks(db, lambda: _member_event(db, "user_remove_from", event))


def _member_event(db: Connection, name: str, event: MemberAdded | MemberRemoved) -> Payload | None:
    user = user_or_none(db, event.user_id)
    if user is None:
        return None
    if event.source_kind == "group":
        group = namespace_by_id(db, event.source_id)
        return group_member_event(f"{name}_group", group, user, event.access_level, event.created_at, db.now)
    project = project_or_none(db, event.source_id)
    if project is None:
        return None
    return team_event(f"{name}_team", project, user, event.access_level, event.created_at, db.now)
