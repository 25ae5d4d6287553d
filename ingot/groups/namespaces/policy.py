"""Who holds what where, as SQL that every question about it shares; and who may see which namespaces."""

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, func, literal_column, or_, select
from sqlalchemy.sql.selectable import FromClause, ScalarSelect

from ingot.access.levels import Level
from ingot.db.expressions import any_of
from ingot.groups.namespaces.tables import memberships, namespace_tree, namespaces


def counts_today(expires_at: ColumnElement[str | None]) -> ColumnElement[bool]:
    """What has an end counts until the day before it; ``today`` is bound."""
    today: BindParameter[str] = bindparam("today")
    return or_(expires_at.is_(None), expires_at > today)


_PLACES = 16
"""Notification levels are smaller than this, so they fit behind an access level in one number."""


def unpacked(packed: int | None) -> tuple[int, int] | None:
    """The access level and the notification level that ``held_*`` put into one number."""
    return divmod(packed, _PLACES) if packed else None


def _packed(held: FromClause) -> ColumnElement[int]:
    return held.c.access_level * literal_column(str(_PLACES)) + held.c.notification_level


def held_in_group(group_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """The most that ``actor`` holds in a group or in any above it, packed with how they are notified there."""
    held, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(func.max(_packed(held)))
        .select_from(tree.outerjoin(held, of_actor_above(held, tree)))
        .where(tree.c.descendant_id == group_id)
        .scalar_subquery()
    )


def of_actor_above(held: FromClause, tree: FromClause) -> ColumnElement[bool]:
    """Joins what ``actor`` holds to the few groups above one.

    As an outer join, which the greatest of the levels does not notice, it keeps engines from going the other way
    round: through everything that the actor holds anywhere.
    """
    return and_(
        held.c.source_kind == "group",
        held.c.source_id == tree.c.ancestor_id,
        held.c.user_id == bindparam("actor"),
        counts_today(held.c.expires_at),
    )


def held_in_groups(name: str) -> Select[tuple[int, int | None]]:
    """``held_in_group`` for each of the groups that are bound to ``name``."""
    held, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(tree.c.descendant_id, func.max(_packed(held)))
        .select_from(tree.outerjoin(held, of_actor_above(held, tree)))
        .where(any_of(tree.c.descendant_id, name))
        .group_by(tree.c.descendant_id)
    )


def held_in(kind: str, source_id: ColumnElement[int]) -> ScalarSelect[int | None]:
    """What ``actor`` holds in this very group or project, packed with how they are notified there."""
    held = memberships.alias()
    return (
        select(_packed(held))
        .where(
            held.c.source_kind == kind,
            held.c.source_id == source_id,
            held.c.user_id == bindparam("actor"),
            counts_today(held.c.expires_at),
        )
        .scalar_subquery()
    )


def groups_of_actor(least: ColumnElement[int] | Level = Level.GUEST) -> Select[tuple[int]]:
    """Every group in or below one to which ``actor`` belongs, at this level or a higher one."""
    held, tree = memberships.alias(), namespace_tree.alias()
    return (
        select(tree.c.descendant_id)
        .join(held, held.c.source_id == tree.c.ancestor_id)
        .where(
            held.c.user_id == bindparam("actor"),
            held.c.source_kind == "group",
            held.c.access_level >= least,
            counts_today(held.c.expires_at),
        )
    )


def visible_namespaces() -> ColumnElement[bool]:
    """One's own, and the groups to which one belongs, here or above; ``actor`` and ``today`` are bound."""
    own = select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("actor"))
    return namespaces.c.id.in_(groups_of_actor().union_all(own).scalar_subquery())
