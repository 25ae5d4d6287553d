"""What changes groups."""

from typing import Any

from msgspec import UNSET

from ingot.access.actor import Actor
from ingot.access.levels import Level
from ingot.api.params import given
from ingot.avatars.service import drop_avatar, replace_avatar
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, too_long
from ingot.events.bus import emit
from ingot.groups.events import GroupCreated, GroupVisibilityChanging, GroupVisibilityLowered
from ingot.groups.members.service import drop_all, put_member
from ingot.groups.namespaces.queries import ancestors_of, find_by_id, levels_in, moved_namespace, subtree_of
from ingot.groups.namespaces.service import (
    add_namespace,
    delete_namespace,
    free_old_path,
    move_namespace,
    rename_namespace,
)
from ingot.groups.namespaces.tables import Namespace, namespaces
from ingot.groups.params import CreateGroup, EditGroup
from ingot.groups.queries import source_of
from ingot.instance.settings import current_settings
from ingot.names import NAMESPACES, RESERVED_AT_TOP, RESERVED_BELOW, group_name_trouble, path_trouble

LONGEST_DESCRIPTION = 1_000_000
DEEPEST = 20
OPENNESS = {"private": 0, "internal": 10, "public": 20}
_COLUMNS = (
    "description",
    "visibility",
    "lfs_enabled",
    "request_access_enabled",
    "share_with_group_lock",
    "project_creation_level",
)


def create_group(db: Connection, actor: Actor, wanted: CreateGroup, parent: Namespace | None) -> Namespace:
    """Add a group whose creator owns it."""
    settings = current_settings(db)
    columns = _columns(given(wanted))
    default = settings.default_group_visibility
    if parent and OPENNESS[default] > OPENNESS[parent.visibility]:
        default = parent.visibility  # type: ignore[assignment] # It is one of the same three words.
    columns.setdefault("visibility", default)
    _validate(wanted.name.strip(), wanted.path, columns, parent)
    _refuse_restricted(db, actor, columns["visibility"])
    _refuse_too_deep(db, parent, 1)
    _take_back_old_path(db, actor, wanted.path, parent)
    try:
        group = add_namespace(db, "group", wanted.name.strip(), wanted.path, parent, **columns)
    except Conflict as error:
        raise Invalid(**error.errors) from error
    _set_avatar(db, group, wanted.avatar)
    # Nobody hears who belongs to a group before they hear of the group.
    emit(db, GroupCreated(group.id, actor.user_id))
    put_member(db, source_of(group), actor.user_id, Level.OWNER)
    return find_by_id(db, group.id)


def edit_group(db: Connection, actor: Actor, group: Namespace, wanted: EditGroup) -> Namespace:
    """Change what was sent; another path moves everything below."""
    db.must_hold(NAMESPACES)
    parent = find_by_id(db, group.parent_id) if group.parent_id else None
    columns = _columns(given(wanted))
    name = wanted.name.strip() if wanted.name is not UNSET else group.name
    path = wanted.path if wanted.path is not UNSET else group.path
    _validate(name, path, {"visibility": group.visibility, **columns}, parent)
    if columns.get("visibility", group.visibility) != group.visibility:
        _refuse_restricted(db, actor, columns["visibility"])
        _refuse_more_open_below(db, group, columns["visibility"])
    db.update(namespaces, group.id, **columns, updated_at=db.now)
    _set_avatar(db, group, wanted.avatar)
    if (name, path) != (group.name, group.path):
        _take_back_old_path(db, actor, path, parent)
        try:
            rename_namespace(db, group, name, path)
        except Conflict as error:
            raise Invalid(**error.errors) from error
    return find_by_id(db, group.id)


def transfer_group(db: Connection, group: Namespace, parent: Namespace | None) -> Namespace:
    """Put a group below another one, or at the top; it and what is in it become no more visible than that."""
    below = subtree_of(db, group.id)
    if parent is not None and parent.id in {each.id for each in below}:
        raise Invalid("Transfer failed: Cannot transfer group to itself or to one of its subgroups.")
    if (parent.id if parent else None) == group.parent_id:
        raise Invalid("Transfer failed: Group is already associated to the parent group.")
    _refuse_too_deep(db, parent, max(each.full_path.count("/") for each in below) - group.full_path.count("/") + 1)
    try:
        move_namespace(db, group, parent)
    except Conflict as error:
        raise Invalid("Transfer failed: The parent group already has a subgroup or a project like it.") from error
    if parent is not None:
        for each in below:
            if OPENNESS[each.visibility] > OPENNESS[parent.visibility]:
                db.update(namespaces, each.id, visibility=parent.visibility)
        emit(db, GroupVisibilityLowered(namespace_id=group.id, visibility=parent.visibility))
    return find_by_id(db, group.id)


def delete_group(db: Connection, group: Namespace) -> None:
    """Remove a group with everything in it."""
    for each in reversed(subtree_of(db, group.id)):
        # Its members are still known to those who tell that it goes.
        delete_namespace(db, each)
        drop_all(db, source_of(each))
        drop_avatar(db, each.avatar_id)


def _take_back_old_path(db: Connection, actor: Actor, path: str, parent: Namespace | None) -> None:
    """What an old path leads to is its owner's, so they may use the path for something else."""
    full_path = f"{parent.full_path}/{path}" if parent else path
    moved = moved_namespace(db, full_path)
    if moved is None:
        return
    if moved.owner_id == actor.user_id or levels_in(db, actor, [moved.id]).get(moved.id, 0) >= Level.OWNER:
        free_old_path(db, full_path)


def _columns(sent: dict[str, Any]) -> dict[str, Any]:
    columns = {name: sent[name] for name in _COLUMNS if name in sent}
    if "description" in columns:
        columns["description"] = columns["description"] or ""
    return columns


def _validate(name: str, path: str, columns: dict[str, Any], parent: Namespace | None) -> None:
    errors: dict[str, list[str]] = {}
    trouble = group_name_trouble(name)
    if trouble:
        errors["name"] = [trouble]
    trouble = path_trouble(path, RESERVED_BELOW if parent else RESERVED_AT_TOP)
    if trouble:
        errors["path"] = [trouble]
    if len(columns.get("description", "")) > LONGEST_DESCRIPTION:
        errors["description"] = [too_long(LONGEST_DESCRIPTION)]
    if parent and OPENNESS[columns["visibility"]] > OPENNESS[parent.visibility]:
        errors["visibility_level"] = [
            f"{columns['visibility']} is not allowed since the parent group has a {parent.visibility} visibility."
        ]
    if errors:
        raise Invalid(**errors)


def _refuse_restricted(db: Connection, actor: Actor, visibility: str) -> None:
    if visibility in current_settings(db).restricted_visibility_levels and not actor.admin:
        raise Invalid(visibility_level=[f"{visibility} has been restricted by your administrator"])


def _refuse_too_deep(db: Connection, parent: Namespace | None, levels: int) -> None:
    """Every group has a row for each one above it, so the depth is bounded."""
    if parent is not None and len(ancestors_of(db, parent.id)) + levels > DEEPEST:
        raise Invalid(parent_id=["has too deep level of nesting"])


def _refuse_more_open_below(db: Connection, group: Namespace, visibility: str) -> None:
    """Nothing in a group may be more visible than the group."""
    for each in subtree_of(db, group.id)[1:]:
        if OPENNESS[each.visibility] > OPENNESS[visibility]:
            raise Invalid(
                visibility_level=[f"{visibility} is not allowed since there are sub-groups with higher visibility."]
            )
    emit(db, GroupVisibilityChanging(namespace_id=group.id, visibility=visibility))


def _set_avatar(db: Connection, group: Namespace, upload: Any) -> None:
    if upload is not UNSET:
        replace_avatar(db, namespaces, group.id, group.avatar_id, upload)
