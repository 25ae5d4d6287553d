"""Who holds what where, as SQL that every question about it shares; and who may see which namespaces."""

from functools import cache, lru_cache

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.sql.selectable import FromClause, Join, ScalarSelect

from ingot.core.access.levels import Level
from ingot.core.db.expressions import in_list
from ingot.projects.namespaces.tables import group_shares, memberships, namespace_tree, namespaces


def is_unexpired(expires_at: ColumnElement[str | None]) -> ColumnElement[bool]:
    """What has an end counts until the day before it; ``today`` is bound."""
    today: BindParameter[str] = bindparam("today")
    return or_(expires_at.is_(None), expires_at > today)


_LEVEL_BASE = 16
"""Notification levels are smaller than this, so they fit behind an access level in one number."""


def unpack_levels(packed: int | None) -> tuple[int, int] | None:
    """The access level and the notification level that ``held_*`` put into one number."""
    return divmod(packed, _LEVEL_BASE) if packed else None


def _packed_levels(held: FromClause) -> ColumnElement[int]:
    return held.c.access_level * literal_column(str(_LEVEL_BASE)) + held.c.notification_level


def packed_level_in_group(group_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """The most that ``actor`` holds in a group or in any above it, packed with how they are notified there."""
    held, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(func.max(_packed_levels(held)))
        .select_from(tree.outerjoin(held, actor_membership_in_ancestors(held, tree)))
        .where(tree.c.descendant_id == group_id)
        .scalar_subquery()
    )


def actor_membership_in_ancestors(held: FromClause, tree: FromClause) -> ColumnElement[bool]:
    """Joins what ``actor`` holds to the few groups above one.

    As an outer join, which the greatest of the levels does not notice, it keeps engines from going the other way
    round: through everything that the actor holds anywhere.
    """
    return actor_membership_in_group(held, tree.c.ancestor_id)


def actor_membership_in_group(held: FromClause, group_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Joins what ``actor`` holds in one very group."""
    return and_(
        held.c.source_kind == "group",
        held.c.source_id == group_id,
        held.c.user_id == bindparam("actor"),
        is_unexpired(held.c.expires_at),
    )


def packed_level_by_invitation(group_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """The most that ``actor`` holds in a group because one of theirs was invited there, or into one above it."""
    tree, invited, level = _invitations_in_ancestors()
    return select(func.max(level)).select_from(invited).where(tree.c.descendant_id == group_id).scalar_subquery()


def packed_levels_by_invitation(name: str) -> Select[tuple[int, int | None]]:
    """The same for each of the groups that are bound to ``name``."""
    tree, invited, level = _invitations_in_ancestors()
    return (
        select(tree.c.descendant_id, func.max(level))
        .select_from(invited)
        .where(in_list(tree.c.descendant_id, name))
        .group_by(tree.c.descendant_id)
    )


@cache
def _invitations_in_ancestors() -> tuple[FromClause, Join, ColumnElement[int]]:
    """The groups above one, joined to those that were invited there and to what ``actor`` holds in these."""
    held, share, tree = memberships.alias(), group_shares.alias(), namespace_tree.alias()
    given = and_(share.c.group_id == tree.c.ancestor_id, is_unexpired(share.c.expires_at))
    invited = tree.join(share, given).outerjoin(held, actor_membership_in_group(held, share.c.invited_id))
    return tree, invited, lower_level(held.c.access_level, share.c.group_access)


def lower_level(held: ColumnElement[int], given: ColumnElement[int]) -> ColumnElement[int]:
    """By a share one holds no more than in the group that was invited, and no more than was given to it."""
    return case((held > given, given), else_=held)


def packed_levels_in_groups(name: str) -> Select[tuple[int, int | None]]:
    """``packed_level_in_group`` for each of the groups that are bound to ``name``."""
    held, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(tree.c.descendant_id, func.max(_packed_levels(held)))
        .select_from(tree.outerjoin(held, actor_membership_in_ancestors(held, tree)))
        .where(in_list(tree.c.descendant_id, name))
        .group_by(tree.c.descendant_id)
    )


def packed_level_in_source(kind: str, source_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """What ``actor`` holds in this very group or project, packed with how they are notified there."""
    held = memberships.alias()
    return (
        select(_packed_levels(held))
        .where(
            held.c.source_kind == kind,
            held.c.source_id == source_id,
            held.c.user_id == bindparam("actor"),
            is_unexpired(held.c.expires_at),
        )
        .scalar_subquery()
    )


def groups_of_actor(least: ColumnElement[int] | Level = Level.GUEST) -> CompoundSelect[tuple[int]]:
    """Every group in or below one to which ``actor`` belongs, at this level or a higher one."""
    return union_all(*groups_of_actor_by_origin(least))


@lru_cache(maxsize=256)
def groups_of_actor_by_origin(
    least: ColumnElement[int] | Level = Level.GUEST,
) -> tuple[Select[tuple[int]], Select[tuple[int]]]:
    """The same, apart: by a membership, and by the invitation of a group of which one is a member."""
    held, tree = memberships.alias(), namespace_tree.alias()
    by_membership = (
        select(tree.c.descendant_id)
        .join(held, held.c.source_id == tree.c.ancestor_id)
        .where(
            held.c.user_id == bindparam("actor"),
            held.c.source_kind == "group",
            held.c.access_level >= least,
            is_unexpired(held.c.expires_at),
        )
    )
    inviting, below = groups_inviting_actor(least), namespace_tree.alias()
    by_invitation = select(below.c.descendant_id).where(below.c.ancestor_id.in_(inviting.scalar_subquery()))
    return by_membership, by_invitation


@lru_cache(maxsize=256)
def groups_inviting_actor(least: ColumnElement[int] | Level = Level.GUEST) -> Select[tuple[int]]:
    """The groups into which one was invited of which ``actor`` is a member; those above that one do not count."""
    held, share = memberships.alias(), group_shares.alias()
    return (
        select(share.c.group_id)
        .join(held, and_(held.c.source_id == share.c.invited_id, held.c.source_kind == "group"))
        .where(
            held.c.user_id == bindparam("actor"),
            held.c.access_level >= least,
            share.c.group_access >= least,
            is_unexpired(held.c.expires_at),
            is_unexpired(share.c.expires_at),
        )
    )


def visible_namespaces(least: Level = Level.GUEST) -> ColumnElement[bool]:
    """One's own, and the groups in which one holds this level, here or above; ``actor`` and ``today`` are bound."""
    own = select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("actor"))
    return namespaces.c.id.in_(union_all(*groups_of_actor_by_origin(least), own).scalar_subquery())
