"""Payloads of system hooks: projects, users, keys, groups and members."""

from ingot.accounts.users.tables import User
from ingot.core.db.times import Timestamp
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project
from ingot.webhooks.payloads.parts import Payload, iso

LEVELS = {10: "Guest", 20: "Reporter", 30: "Developer", 40: "Master", 50: "Owner"}

# Sent by a test of a system hook.
SAMPLE: Payload = {
    "event_name": "project_create",
    "name": "Ruby",
    "path": "ruby",
    "project_id": 1,
    "owner_name": "Someone",
    "owner_email": "example@gitlabhq.com",
}


def project_event(name: str, project: Project, owner: User | None, old_full_path: str | None = None) -> Payload:
    """Return the payload of a project event; the owner is a user or the project's group."""
    payload: Payload = {
        **_when(name, project.created_at, project.updated_at),
        "name": project.name,
        "path": project.path,
        "path_with_namespace": project.full_path,
        "project_id": project.id,
        "owner_name": owner.name if owner else project.space_name,
        "owner_email": owner.email if owner else "",
        "project_visibility": project.visibility,
    }
    if old_full_path is not None:
        payload["old_path_with_namespace"] = old_full_path
    return payload


def user_event(name: str, user: User) -> Payload:
    """Return the payload of a user event."""
    return {
        **_when(name, user.created_at, user.updated_at),
        "name": user.name,
        "email": user.email,
        "user_id": user.id,
        "username": user.username,
    }


def key_event(name: str, key_id: int, key: str, created_at: Timestamp, user: User | None) -> Payload:
    """Return the payload of an SSH key event; deploy keys have no user."""
    payload: Payload = {**_when(name, created_at, created_at), "key": key, "id": key_id}
    if user is not None:
        payload["username"] = user.username
    return payload


def group_event(name: str, group: Namespace, owner: User | None) -> Payload:
    """Return the payload of a group event."""
    return {
        **_when(name, group.created_at, group.updated_at),
        "name": group.name,
        "path": group.path,
        "full_path": group.full_path,
        "group_id": group.id,
        "owner_name": owner.name if owner else None,
        "owner_email": owner.email if owner else None,
    }


def team_event(name: str, project: Project, user: User, level: int, since: Timestamp, now: Timestamp) -> Payload:
    """Return the payload of an added or removed project member."""
    access = LEVELS.get(level, str(level))
    return {
        **_when(name, since, now),
        "project_name": project.name,
        "project_path": project.path,
        "project_path_with_namespace": project.full_path,
        "project_id": project.id,
        **_member(user),
        "project_access": access,
        "access_level": access,
        "project_visibility": project.visibility,
    }


def group_member_event(
    name: str, group: Namespace, user: User, level: int, since: Timestamp, now: Timestamp
) -> Payload:
    """Return the payload of an added or removed group member."""
    return {
        **_when(name, since, now),
        "group_name": group.name,
        "group_path": group.path,
        "group_id": group.id,
        **_member(user),
        "group_access": LEVELS.get(level, str(level)),
    }


def _when(name: str, created_at: Timestamp, updated_at: Timestamp) -> Payload:
    return {"event_name": name, "created_at": iso(created_at), "updated_at": iso(updated_at)}


def _member(user: User) -> Payload:
    return {
        "user_username": user.username,
        "user_name": user.name,
        "user_email": user.email,
        "user_id": user.id,
    }
