"""State changes of groups."""

from typing import Any

from msgspec import UNSET

from ingot.accounts.avatars.service import delete_avatar, replace_avatar
from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.settings import current_settings
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Conflict, Denied, Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES, RESERVED_AT_TOP, RESERVED_BELOW, group_name_error, path_error
from ingot.git.core.names import ref_name_error
from ingot.projects.groups.events import GroupCreated, GroupVisibilityLowered, SharedRunnersSwitched
from ingot.projects.groups.params import CreateGroup, EditGroup
from ingot.projects.groups.ports import GroupProjects
from ingot.projects.groups.queries import member_source
from ingot.projects.members.service import delete_memberships, write_membership
from ingot.projects.namespaces.group_options import (
    GroupOptions,
    edited_group_options,
    group_options,
    require_artifacts_size,
)
from ingot.projects.namespaces.group_rules import (
    DISABLED,
    RUNNERS_REFUSED,
    UNOVERRIDABLE,
    is_runners_setting_refused,
    require_no_deletion_around,
)
from ingot.projects.namespaces.ip_restrictions import stored_ranges
from ingot.projects.namespaces.queries import (
    actor_levels_in,
    ancestor_ids,
    namespace_by_id,
    namespace_by_old_path,
    subtree_of,
)
from ingot.projects.namespaces.service import (
    add_namespace,
    delete_namespace,
    move_namespace,
    release_old_path,
    rename_namespace,
)
from ingot.projects.namespaces.tables import Namespace, namespaces

MAX_DESCRIPTION_LENGTH = 1_000_000
MAX_DEPTH = 20
_PROJECT_CREATION = ("noone", "maintainer", "developer", "administrator", "owner")
"""Levels by the number in the instance setting ``default_project_creation``."""
VISIBILITY_ORDER = {"private": 0, "internal": 10, "public": 20}
_TOP_LEVEL_OPTIONS = (
    "prevent_sharing_groups_outside_hierarchy",
    "prevent_forking_outside_group",
    "enabled_git_access_protocol",
)
_COLUMNS = (
    "description",
    "visibility",
    "lfs_enabled",
    "request_access_enabled",
    "share_with_group_lock",
    "project_creation_level",
    "ip_restriction_ranges",
)
_SETTING_COLUMNS = ("name", "path", *_COLUMNS)


def create_group(db: Connection, actor: Actor, params: CreateGroup, parent: Namespace | None) -> Namespace:
    """Create a group owned by the caller; raise Invalid for invalid fields."""
    settings = all_settings(db)
    columns = {
        "project_creation_level": _PROJECT_CREATION[settings.default_project_creation],
        **_columns(actor, {**_inherited_options(parent), **given_fields(params)}, "{}", db.now),
    }
    default = settings.default_group_visibility
    if parent and VISIBILITY_ORDER[default] > VISIBILITY_ORDER[parent.visibility]:
        default = parent.visibility  # type: ignore[assignment] # The column holds one of the same three literals.
    columns.setdefault("visibility", default)
    _require_top_level_restriction(columns, parent)
    runners = group_options(columns["options_document"]).shared_runners_setting
    if parent is not None and is_runners_setting_refused(db, parent.id, runners):
        raise Invalid(shared_runners_setting=[RUNNERS_REFUSED])
    _validate(params.name.strip(), params.path, columns, parent)
    _require_allowed_options(db, actor, parent, "{}", columns["options_document"])
    _require_allowed_visibility(db, actor, columns["visibility"])
    _require_depth_within_limit(db, parent, 1)
    if parent is not None:
        require_no_deletion_around(db, parent)
    _release_own_old_path(db, actor, params.path, parent)
    try:
        group = add_namespace(db, "group", params.name.strip(), params.path, parent, **columns)
    except Conflict as error:
        raise Invalid(**error.errors) from error
    _set_avatar(db, group, params.avatar)
    # Subscribers must receive the event of the group before that of its first member.
    emit(db, GroupCreated(group.id, actor.user_id))
    write_membership(db, member_source(group), actor.user_id, Level.OWNER)
    return namespace_by_id(db, group.id)


def edit_group(db: Connection, actor: Actor, group: Namespace, params: EditGroup) -> Namespace:
    """Change the given fields; a new path also moves everything below."""
    db.must_hold_part(NAMESPACES)
    parent = namespace_by_id(db, group.parent_id) if group.parent_id else None
    columns = _columns(actor, given_fields(params), group.options_document, group.two_factor_required_at or db.now)
    name = params.name.strip() if params.name is not UNSET else group.name
    path = params.path if params.path is not UNSET else group.path
    _require_top_level_restriction(columns, parent)
    _validate(name, path, {"visibility": group.visibility, **columns}, parent)
    if columns.get("visibility", group.visibility) != group.visibility:
        _require_allowed_visibility(db, actor, columns["visibility"])
        _require_content_within_visibility(db, group, columns["visibility"])
    _require_allowed_options(db, actor, parent, group.options_document, columns["options_document"])
    db.update(namespaces, group.id, **columns, updated_at=db.now)
    setting = group_options(columns["options_document"]).shared_runners_setting
    if setting != group.options.shared_runners_setting:
        _apply_runners_setting(db, group, setting)
    _set_avatar(db, group, params.avatar)
    if (name, path) != (group.name, group.path):
        _release_own_old_path(db, actor, path, parent)
        try:
            rename_namespace(db, group, name, path)
        except Conflict as error:
            raise Invalid(**error.errors) from error
    return namespace_by_id(db, group.id)


def setting_values(group: Namespace) -> dict[str, Any]:
    """Return the settings of a group by name, for the record of their changes."""
    options = {name: getattr(group.options, name) for name in GroupOptions.__struct_fields__}
    return {name: getattr(group, name) for name in _SETTING_COLUMNS} | options


def transfer_group(db: Connection, group: Namespace, parent: Namespace | None) -> Namespace:
    """Move a group below another group or to the top level; lowers visibilities to that of the new parent."""
    subtree = subtree_of(db, group.id)
    if parent is not None and parent.id in {each.id for each in subtree}:
        raise Invalid("Transfer failed: Cannot transfer group to itself or to one of its subgroups.")
    if (parent.id if parent else None) == group.parent_id:
        raise Invalid("Transfer failed: Group is already associated to the parent group.")
    _require_depth_within_limit(
        db, parent, max(each.full_path.count("/") for each in subtree) - group.full_path.count("/") + 1
    )
    try:
        move_namespace(db, group, parent)
    except Conflict as error:
        raise Invalid("Transfer failed: The parent group already has a subgroup or a project like it.") from error
    if parent is not None:
        if is_runners_setting_refused(db, parent.id, group.options.shared_runners_setting):
            _apply_runners_setting(db, group, parent.options.shared_runners_setting)
        for each in subtree:
            if VISIBILITY_ORDER[each.visibility] > VISIBILITY_ORDER[parent.visibility]:
                db.update(namespaces, each.id, visibility=parent.visibility)
        emit(db, GroupVisibilityLowered(namespace_id=group.id, visibility=parent.visibility))
    return namespace_by_id(db, group.id)


def delete_group(db: Connection, group: Namespace) -> None:
    """Delete a group with everything in it."""
    for each in reversed(subtree_of(db, group.id)):
        # Memberships are deleted last, because subscribers of the deletion read them.
        delete_namespace(db, each)
        delete_memberships(db, member_source(each))
        delete_avatar(db, each.avatar_id)


def _release_own_old_path(db: Connection, actor: Actor, path: str, parent: Namespace | None) -> None:
    """Delete the redirect from a path if it points to a namespace of the caller, who may reuse the path."""
    full_path = f"{parent.full_path}/{path}" if parent else path
    moved = namespace_by_old_path(db, full_path)
    if moved is None:
        return
    if moved.owner_id == actor.user_id or actor_levels_in(db, actor, [moved.id]).get(moved.id, 0) >= Level.OWNER:
        release_old_path(db, full_path)


def _columns(actor: Actor, sent: dict[str, Any], options: str, required_at: Timestamp) -> dict[str, Any]:
    """Return the changed columns; ``required_at`` is when two-factor authentication is required, if it is."""
    columns = {name: sent[name] for name in _COLUMNS if name in sent}
    if "emails_disabled" in sent:
        sent.setdefault("emails_enabled", not sent["emails_disabled"])
    require_artifacts_size(actor, sent, group_options(options).max_artifacts_size)
    columns["options_document"] = edited = edited_group_options(options, sent)
    required = group_options(edited).require_two_factor_authentication
    columns["two_factor_required_at"] = required_at if required else None
    if "description" in columns:
        columns["description"] = columns["description"] or ""
    if "ip_restriction_ranges" in columns:
        columns["ip_restriction_ranges"] = stored_ranges(columns["ip_restriction_ranges"])
    return columns


def _inherited_options(parent: Namespace | None) -> dict[str, Any]:
    """Return the options that a new group takes from the one above."""
    return {"shared_runners_setting": parent.options.shared_runners_setting} if parent is not None else {}


def _apply_runners_setting(db: Connection, group: Namespace, setting: str) -> None:
    """Store whether a group uses the runners of the instance; the subgroups and projects below follow, as in GitLab.

    What is below a group that begins to allow exceptions remains as it is.
    """
    relaxed = group.options.shared_runners_setting == UNOVERRIDABLE and setting == DISABLED
    for each in subtree_of(db, group.id):
        stricter = setting == DISABLED and each.options.shared_runners_setting == UNOVERRIDABLE
        if each.id == group.id or not stricter:
            document = edited_group_options(each.options_document, {"shared_runners_setting": setting})
            db.update(namespaces, each.id, options_document=document)
    if not relaxed:
        emit(db, SharedRunnersSwitched(group.id, enabled=setting == "enabled"))


def _require_top_level_restriction(columns: dict[str, Any], parent: Namespace | None) -> None:
    """Raise Invalid if a group below another one is restricted to addresses; the topmost group decides."""
    if parent is not None and columns.get("ip_restriction_ranges"):
        raise Invalid(ip_restriction_ranges=["IP subnet restriction only allowed for top-level groups"])


def _require_allowed_options(db: Connection, actor: Actor, parent: Namespace | None, before: str, after: str) -> None:
    """Raise Invalid for an option that contradicts the groups above, or that only top-level groups have."""
    old, new = group_options(before), group_options(after)
    may_protect = actor.admin or all_settings(db).group_owners_can_manage_default_branch_protection
    if new.default_branch_protection_defaults != old.default_branch_protection_defaults and not may_protect:
        raise Denied("Only administrators can change the default protection of branches")
    runners = new.shared_runners_setting
    changed = runners != old.shared_runners_setting
    if parent is not None and changed and is_runners_setting_refused(db, parent.id, runners):
        raise Invalid(shared_runners_setting=[RUNNERS_REFUSED])
    if new.default_branch and ref_name_error(new.default_branch):
        raise Invalid(default_branch=["is invalid"])
    for name in _TOP_LEVEL_OPTIONS if parent else ():
        if getattr(new, name) != getattr(old, name):
            raise Invalid(**{name: ["only applies to top-level groups"]})


def _validate(name: str, path: str, columns: dict[str, Any], parent: Namespace | None) -> None:
    errors: dict[str, list[str]] = {}
    error = group_name_error(name)
    if error:
        errors["name"] = [error]
    error = path_error(path, RESERVED_BELOW if parent else RESERVED_AT_TOP)
    if error:
        errors["path"] = [error]
    if len(columns.get("description", "")) > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    if parent and VISIBILITY_ORDER[columns["visibility"]] > VISIBILITY_ORDER[parent.visibility]:
        errors["visibility_level"] = [
            f"{columns['visibility']} is not allowed since the parent group has a {parent.visibility} visibility."
        ]
    if errors:
        raise Invalid(**errors)


def _require_allowed_visibility(db: Connection, actor: Actor, visibility: str) -> None:
    if visibility in current_settings(db).restricted_visibility_levels and not actor.admin:
        raise Invalid(visibility_level=[f"{visibility} has been restricted by your administrator"])


def _require_depth_within_limit(db: Connection, parent: Namespace | None, levels: int) -> None:
    """Raise Invalid if groups are nested too deeply; each group has a row per ancestor."""
    if parent is not None and len(ancestor_ids(db, parent.id)) + levels > MAX_DEPTH:
        raise Invalid(parent_id=["has too deep level of nesting"])


def _require_content_within_visibility(db: Connection, group: Namespace, visibility: str) -> None:
    """Raise ``Invalid`` if a subgroup or a project is more visible than the group would be."""
    for each in subtree_of(db, group.id)[1:]:
        if VISIBILITY_ORDER[each.visibility] > VISIBILITY_ORDER[visibility]:
            raise Invalid(
                visibility_level=[f"{visibility} is not allowed since there are sub-groups with higher visibility."]
            )
    if db.ports[GroupProjects].has_more_visible_project(db, group.id, visibility):
        reason = f"{visibility} is not allowed since this group contains projects with higher visibility."
        raise Invalid(visibility_level=[reason])


def _set_avatar(db: Connection, group: Namespace, upload: Any) -> None:
    if upload is not UNSET:
        replace_avatar(db, namespaces, group.id, group.avatar_id, upload)
