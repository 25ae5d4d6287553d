"""Subscribers of group webhooks to events of members, subgroups and projects."""

from ingot.accounts.users.queries import user_or_none
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.groups.events import GroupCreated
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.namespaces.events import NamespaceDeleting
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.projects.events import ProjectCreated, ProjectDeleted
from ingot.projects.projects.queries import project_or_none
from ingot.webhooks.outbox import queue_event
from ingot.webhooks.payloads.groups import group_project_event, subgroup_event
from ingot.webhooks.payloads.system import group_member_event
from ingot.webhooks.queries import subscribed_group_hooks

subscriptions = Subscriptions()


@subscriptions.on(MemberAdded)
def on_group_member_added(db: Connection, event: MemberAdded) -> None:
    """Queue an added member of a group."""
    _queue_member(db, "user_add_to_group", event)


@subscriptions.on(MemberRemoved)
def on_group_member_removed(db: Connection, event: MemberRemoved) -> None:
    """Queue a removed member of a group."""
    _queue_member(db, "user_remove_from_group", event)


def _queue_member(db: Connection, name: str, event: MemberAdded | MemberRemoved) -> None:
    listeners = subscribed_group_hooks(db, "member_events", event.source_id) if event.source_kind == "group" else []
    user = user_or_none(db, event.user_id) if listeners else None
    if user is not None:
        group = namespace_by_id(db, event.source_id)
        payload = group_member_event(name, group, user, event.access_level, event.created_at, db.now)
        queue_event(db, "member_events", payload, listeners)


@subscriptions.on(GroupCreated)
def on_subgroup_created(db: Connection, event: GroupCreated) -> None:
    """Queue a created subgroup for the webhooks of its ancestors."""
    _queue_subgroup(db, "subgroup_create", event.group_id)


@subscriptions.on(NamespaceDeleting)
def on_subgroup_deleted(db: Connection, event: NamespaceDeleting) -> None:
    """Queue a deleted subgroup for the webhooks of its ancestors."""
    _queue_subgroup(db, "subgroup_destroy", event.namespace_id)


def _queue_subgroup(db: Connection, name: str, group_id: int) -> None:
    group = namespace_by_id(db, group_id)
    listeners = subscribed_group_hooks(db, "subgroup_events", group.parent_id) if group.parent_id else []
    if group.parent_id and listeners:
        payload = subgroup_event(name, group, namespace_by_id(db, group.parent_id))
        queue_event(db, "subgroup_events", payload, listeners)


@subscriptions.on(ProjectCreated)
def on_group_project_created(db: Connection, event: ProjectCreated) -> None:
    """Queue a created project for the webhooks of its groups."""
    _queue_project(db, "project_create", event.project_id)


@subscriptions.on(ProjectDeleted)
def on_group_project_deleted(db: Connection, event: ProjectDeleted) -> None:
    """Queue a deleted project for the webhooks of its groups."""
    _queue_project(db, "project_destroy", event.project_id)


def _queue_project(db: Connection, name: str, project_id: int) -> None:
    project = project_or_none(db, project_id)
    if project is None or project.namespace_id is None:
        return
    listeners = subscribed_group_hooks(db, "project_events", project.namespace_id)
    if listeners:
        queue_event(db, "project_events", group_project_event(name, project), listeners)
