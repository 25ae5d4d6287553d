"""Response structs of namespaces."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import avatar_url
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.queries import actor_levels_in, member_counts, namespace_by_old_path
from ingot.projects.namespaces.tables import Namespace


class NamespaceView(View):
    """Namespace."""

    id: int
    name: str
    path: str
    kind: str
    full_path: str
    parent_id: int | None
    avatar_url: str | None
    web_url: str
    members_count_with_descendants: int | UnsetType = UNSET


class NamespaceExistsView(View):
    """Whether a path is taken, with a free alternative."""

    exists: bool
    suggests: list[str]


def namespace_views(db: Connection, actor: Actor, page: Sequence[Namespace], base: str) -> list[NamespaceView]:
    """Return the views of a page of namespaces.

    Only maintainers and owners of a group see the number of its members and those of its descendants.
    """
    groups = [namespace.id for namespace in page if namespace.kind == "group"]
    if not actor.admin:
        levels = actor_levels_in(db, actor, groups)
        groups = [group for group in groups if levels.get(group, Level.NONE) >= Level.MASTER]
    counts = member_counts(db, groups)
    owners = users_by_ids(db, [namespace.owner_id for namespace in page if namespace.kind == "user"])
    views = [_view(namespace, owners, base) for namespace in page]
    counted = set(groups)
    for view in views:
        if view.id in counted:
            view.members_count_with_descendants = counts.get(view.id, 0)
    return views


def _view(namespace: Namespace, owners: dict[int, User], base: str) -> NamespaceView:
    return NamespaceView(
        namespace.id,
        namespace.name,
        namespace.path,
        namespace.kind,
        namespace.full_path,
        namespace.parent_id,
        _avatar_url(namespace, owners, base),
        f"{base}/{'groups/' if namespace.kind == 'group' else ''}{namespace.full_path}",
    )


def _avatar_url(namespace: Namespace, owners: dict[int, User], base: str) -> str | None:
    if namespace.kind == "user":
        owner = owners.get(namespace.owner_id or 0)
        return avatar_url(owner, base) if owner is not None else None
    return group_avatar_url(namespace, base)


def group_avatar_url(group: Namespace, base: str) -> str | None:
    """Return the URL of a group's avatar."""
    if group.avatar_id is None:
        return None
    return f"{base}/uploads/-/system/group/avatar/{group.id}/{group.avatar_file}"


def moved_user_path(db: Connection, full_path: str) -> str | None:
    """Return the path of the user's namespace that had this path before it was renamed."""
    moved = namespace_by_old_path(db, full_path)
    return moved.full_path if moved is not None and moved.kind == "user" else None
