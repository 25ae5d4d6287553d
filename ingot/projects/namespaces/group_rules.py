"""Rules that groups set for the projects and subgroups below them."""

from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.branch_protection import BranchProtection
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.projects.namespaces.group_options import GroupOptions, group_options
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.namespaces.tables import Namespace, namespace_tree, namespaces

DISABLED, UNOVERRIDABLE = "disabled_and_overridable", "disabled_and_unoverridable"
RUNNERS_REFUSED = "cannot be enabled because parent group does not allow it"
_PATH_BYTES = 300
_DOCUMENTS = (
    select(namespaces.c.options_document)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"), namespaces.c.owner_id.is_(None))
    .order_by(func.length(namespaces.c.full_path), namespaces.c.id)
)
_SHARE_LOCKS = (
    select(namespaces.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"), namespaces.c.share_with_group_lock.is_(True))
)


def options_around(db: Connection, namespace_id: int) -> tuple[GroupOptions, ...]:
    """Return the options of a group and its ancestors, the topmost first; none for the namespace of a user."""
    documents = db.cached(
        ("group options", namespace_id),
        lambda: tuple(str(document) for (document,) in db.rows(_DOCUMENTS, namespace=namespace_id)),
        lambda found: sum(map(len, found)) + _PATH_BYTES,
        lambda _: {"namespaces": None},
    )
    return tuple(map(group_options, documents or ()))


def require_unlocked_members(db: Connection, namespace_id: int) -> None:
    """Raise Denied if a group does not allow that members are added to the projects below it."""
    if any(options.membership_lock for options in options_around(db, namespace_id)):
        raise Denied("The group does not allow adding members to its projects")


def require_unlocked_sharing(db: Connection, namespace_id: int) -> None:
    """Raise Invalid if a group does not allow that the projects below it are shared with groups."""
    if db.rows(_SHARE_LOCKS, namespace=namespace_id):
        raise Invalid("The project sharing with group is disabled")


def require_sharing_allowed(db: Connection, namespace_id: int, invited_id: int) -> None:
    """Raise NotFound if the topmost group allows to share only within itself, and the invited group is elsewhere."""
    options = options_around(db, namespace_id)
    if not options or not options[0].prevent_sharing_groups_outside_hierarchy:
        return
    if ancestor_ids(db, namespace_id)[0] != ancestor_ids(db, invited_id)[0]:
        raise NotFound("Group")


def shared_runners_by_default(db: Connection, namespace_id: int) -> bool:
    """Return whether new projects below a group use the runners of the instance."""
    around = options_around(db, namespace_id)
    return not around or (around[-1].shared_runners_setting == "enabled" and may_use_shared_runners(db, namespace_id))


def may_use_shared_runners(db: Connection, namespace_id: int) -> bool:
    """Return whether the groups around a project allow the runners of the instance."""
    return all(options.shared_runners_setting != UNOVERRIDABLE for options in options_around(db, namespace_id))


def require_shared_runners_allowed(db: Connection, namespace_id: int) -> None:
    """Raise Invalid if a group does not allow its projects to use the runners of the instance."""
    if not may_use_shared_runners(db, namespace_id):
        raise Invalid(shared_runners_enabled=[RUNNERS_REFUSED])


def is_runners_setting_refused(db: Connection, parent_id: int, setting: str) -> bool:
    """Return whether a subgroup would allow what the groups around it do not."""
    return setting != UNOVERRIDABLE and not may_use_shared_runners(db, parent_id)


def default_branch_of_group(db: Connection, namespace_id: int) -> str | None:
    """Return the default branch that the nearest group chooses for new projects, if any does."""
    return next(
        (each.default_branch for each in reversed(options_around(db, namespace_id)) if each.default_branch), None
    )


def default_protection(db: Connection, namespace_id: int) -> BranchProtection:
    """Return the protection of the default branch of new projects, which a group chooses, or else the instance."""
    options = options_around(db, namespace_id)
    chosen = options[-1].default_branch_protection_defaults if options else None
    return chosen or cached_all_settings(db).default_branch_protection_defaults


def require_fork_allowed(db: Connection, namespace_id: int, target_id: int) -> None:
    """Raise Denied if the topmost group keeps the forks of its projects within itself, and the target is elsewhere."""
    options = options_around(db, namespace_id)
    if not options or not options[0].prevent_forking_outside_group:
        return
    if ancestor_ids(db, namespace_id)[0] != ancestor_ids(db, target_id)[0]:
        raise Denied("The group does not allow forking its projects outside of it")


def allows_group_protocol(db: Connection, namespace_id: int, protocol: str) -> bool:
    """Return whether the topmost group allows git access over a protocol."""
    options = options_around(db, namespace_id)
    return not options or options[0].enabled_git_access_protocol in (None, "all", protocol)


def require_no_deletion_around(db: Connection, namespace: Namespace) -> None:
    """Raise Invalid if a group or one above it is scheduled for deletion: nothing is added or restored below it."""
    if is_deletion_around(db, namespace):
        raise Invalid("The group is scheduled for deletion")


def require_writable_group(db: Connection, group: Namespace) -> None:
    """Raise Denied if a group or one above it is scheduled for deletion, which makes it read-only."""
    if is_deletion_around(db, group):
        raise Denied("The group is scheduled for deletion and read-only")


def is_deletion_around(db: Connection, namespace: Namespace) -> bool:
    """Return whether a group or one above it is scheduled for deletion."""
    if namespace.parent_id is None:  # Also the namespace of a user, which is deleted at once.
        return namespace.options.marked_for_deletion_on is not None
    return any(options.marked_for_deletion_on is not None for options in options_around(db, namespace.id))
