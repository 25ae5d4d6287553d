"""Two-factor authentication that groups require of their members."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, select, union_all

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.projects.namespaces.group_options import group_options
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespace_tree, namespaces

MAX_REQUIREMENTS = 20
"""Limit of the memberships that are returned; the user fulfills all of them at once."""
_MEMBER_GROUPS = namespaces.alias()
_REQUIREMENT_BYTES = 600


def _requirements(member_column: ColumnElement[int], requiring_column: ColumnElement[int]) -> Select[Any]:
    return (
        select(
            namespaces.c.two_factor_required_at,
            namespaces.c.options_document,
            memberships.c.created_at,
            _MEMBER_GROUPS.c.id,
            _MEMBER_GROUPS.c.full_name,
            namespaces.c.id,
        )
        .select_from(memberships)
        .join(namespace_tree, member_column == memberships.c.source_id)
        .join(namespaces, namespaces.c.id == requiring_column)
        .join(_MEMBER_GROUPS, _MEMBER_GROUPS.c.id == memberships.c.source_id)
        .where(
            memberships.c.user_id == bindparam("user"),
            memberships.c.source_kind == "group",
            is_unexpired(memberships.c.expires_at),
            namespaces.c.two_factor_required_at.is_not(None),
        )
    )


# Subgroups inherit the requirement, and members of the ancestors have access to the group. Two queries rather than one
# condition with OR, so that the cost depends on the memberships of the user and not on the number of requiring groups.
_REQUIREMENTS = union_all(
    _requirements(namespace_tree.c.descendant_id, namespace_tree.c.ancestor_id),
    _requirements(namespace_tree.c.ancestor_id, namespace_tree.c.descendant_id),
)


class TwoFactorRequirement(NamedTuple):
    """Membership in a group that requires two-factor authentication, itself or through a parent group or subgroup."""

    due_at: Timestamp
    group_id: int
    group_name: str
    required_by_id: int
    """Group that requires it."""


def two_factor_requirements(db: Connection, user_id: int) -> Sequence[TwoFactorRequirement]:
    """Return the memberships of a user that require two-factor authentication, the first to be fulfilled first.

    The grace period starts when the group begins to require it or the user becomes a member.
    """
    today = db.today

    def read() -> tuple[TwoFactorRequirement, ...]:
        first: dict[int, TwoFactorRequirement] = {}
        for required_at, document, member_since, group_id, *names in db.rows(_REQUIREMENTS, user=user_id, today=today):
            grace = group_options(document).two_factor_grace_period
            found = TwoFactorRequirement(add_duration(max(required_at, member_since), hours=grace), group_id, *names)
            first[group_id] = min(found, first.get(group_id, found))
        return tuple(sorted(first.values())[:MAX_REQUIREMENTS])

    key = ("two-factor requirements", user_id, today)
    rows = {"memberships": user_id}
    return db.cached(key, read, lambda found: _REQUIREMENT_BYTES * (len(found) + 1), lambda _: rows) or ()


def two_factor_due_at(db: Connection, user_id: int) -> Timestamp | None:
    """Return when a user must have a second factor because of a group; None if no group requires it."""
    return next((requirement.due_at for requirement in two_factor_requirements(db, user_id)), None)
