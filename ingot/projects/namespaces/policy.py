"""SQL conditions for access levels in groups, shared by all permission queries, and visibility of namespaces."""

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
    """Return a condition that is true before the expiry date; ``today`` is bound."""
    today: BindParameter[str] = bindparam("today")
    return or_(expires_at.is_(None), expires_at > today)


_LEVEL_BASE = 16
"""Notification levels are smaller than this, so that one integer holds an access level and a notification level."""


def unpack_levels(packed: int | None) -> tuple[int, int] | None:
    """Return the access level and the notification level from the integer built by ``packed_*``."""
    return divmod(packed, _LEVEL_BASE) if packed else None


def _packed_levels(membership: FromClause) -> ColumnElement[int]:
    return membership.c.access_level * literal_column(str(_LEVEL_BASE)) + membership.c.notification_level


def packed_level_in_group(group_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """Select the highest level of ``actor`` in a group or its ancestors, packed with the notification level there."""
    membership, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(func.max(_packed_levels(membership)))
        .select_from(tree.outerjoin(membership, actor_membership_in_ancestors(membership, tree)))
        .where(tree.c.descendant_id == group_id)
        .scalar_subquery()
    )


def actor_membership_in_ancestors(membership: FromClause, tree: FromClause) -> ColumnElement[bool]:
    """Return the join condition between memberships of ``actor`` and the ancestors of a group.

    Use it in an outer join, which does not change the maximum of the levels: an inner join lets the query planner start
    from all memberships of the actor instead of the few ancestors.
    """
    return actor_membership_in_group(membership, tree.c.ancestor_id)


def actor_membership_in_group(membership: FromClause, group_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the join condition for a direct membership of ``actor`` in a group."""
    return and_(
        membership.c.source_kind == "group",
        membership.c.source_id == group_id,
        membership.c.user_id == bindparam("actor"),
        is_unexpired(membership.c.expires_at),
    )


def packed_level_by_invitation(group_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """Select the highest level of ``actor`` in a group through groups invited into it or into an ancestor."""
    tree, invited, level = _invitations_in_ancestors()
    return select(func.max(level)).select_from(invited).where(tree.c.descendant_id == group_id).scalar_subquery()


def packed_levels_by_invitation(name: str) -> Select[tuple[int, int | None]]:
    """Select the highest level of ``actor`` through invited groups, for each group bound to ``name``."""
    tree, invited, level = _invitations_in_ancestors()
    return (
        select(tree.c.descendant_id, func.max(level))
        .select_from(invited)
        .where(in_list(tree.c.descendant_id, name))
        .group_by(tree.c.descendant_id)
    )


@cache
def _invitations_in_ancestors() -> tuple[FromClause, Join, ColumnElement[int]]:
    """Join the ancestors of a group to the groups invited there and to the memberships of ``actor`` in those."""
    membership, share, tree = memberships.alias(), group_shares.alias(), namespace_tree.alias()
    valid_share = and_(share.c.group_id == tree.c.ancestor_id, is_unexpired(share.c.expires_at))
    invited = tree.join(share, valid_share).outerjoin(
        membership, actor_membership_in_group(membership, share.c.invited_id)
    )
    return tree, invited, lower_level(membership.c.access_level, share.c.group_access)


def lower_level(member_level: ColumnElement[int], share_level: ColumnElement[int]) -> ColumnElement[int]:
    """Return the lower of the member's level in the invited group and the level granted by the share."""
    return case((member_level > share_level, share_level), else_=member_level)


def packed_levels_in_groups(name: str) -> Select[tuple[int, int | None]]:
    """Select ``packed_level_in_group`` for each of the groups bound to ``name``."""
    membership, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(tree.c.descendant_id, func.max(_packed_levels(membership)))
        .select_from(tree.outerjoin(membership, actor_membership_in_ancestors(membership, tree)))
        .where(in_list(tree.c.descendant_id, name))
        .group_by(tree.c.descendant_id)
    )


def packed_level_in_source(kind: str, source_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """Select the direct level of ``actor`` in a group or project, packed with the notification level there."""
    membership = memberships.alias()
    return (
        select(_packed_levels(membership))
        .where(
            membership.c.source_kind == kind,
            membership.c.source_id == source_id,
            membership.c.user_id == bindparam("actor"),
            is_unexpired(membership.c.expires_at),
        )
        .scalar_subquery()
    )


def groups_of_actor(least: ColumnElement[int] | Level = Level.GUEST) -> CompoundSelect[tuple[int]]:
    """Select every group in which ``actor`` has at least this level, directly or through an ancestor."""
    return union_all(*groups_of_actor_by_origin(least))


@lru_cache(maxsize=256)
def groups_of_actor_by_origin(
    least: ColumnElement[int] | Level = Level.GUEST,
) -> tuple[Select[tuple[int]], Select[tuple[int]]]:
    """Return the parts of ``groups_of_actor``: groups through a membership, and groups through an invited group."""
    membership, tree = memberships.alias(), namespace_tree.alias()
    by_membership = (
        select(tree.c.descendant_id)
        .join(membership, membership.c.source_id == tree.c.ancestor_id)
        .where(
            membership.c.user_id == bindparam("actor"),
            membership.c.source_kind == "group",
            membership.c.access_level >= least,
            is_unexpired(membership.c.expires_at),
        )
    )
    inviting, below = groups_inviting_actor(least), namespace_tree.alias()
    by_invitation = select(below.c.descendant_id).where(below.c.ancestor_id.in_(inviting.scalar_subquery()))
    return by_membership, by_invitation


@lru_cache(maxsize=256)
def groups_inviting_actor(least: ColumnElement[int] | Level = Level.GUEST) -> Select[tuple[int]]:
    """Select the groups that invited a group of which ``actor`` is a direct member."""
    membership, share = memberships.alias(), group_shares.alias()
    return (
        select(share.c.group_id)
        .join(membership, and_(membership.c.source_id == share.c.invited_id, membership.c.source_kind == "group"))
        .where(
            membership.c.user_id == bindparam("actor"),
            membership.c.access_level >= least,
            share.c.group_access >= least,
            is_unexpired(membership.c.expires_at),
            is_unexpired(share.c.expires_at),
        )
    )


def visible_namespaces(least: Level = Level.GUEST) -> ColumnElement[bool]:
    """Return the condition for the actor's own namespace and groups with at least this level.

    ``actor`` and ``today`` are bound.
    """
    own = select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("actor"))
    return namespaces.c.id.in_(union_all(*groups_of_actor_by_origin(least), own).scalar_subquery())
