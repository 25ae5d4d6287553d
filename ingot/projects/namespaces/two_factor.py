"""Two-factor authentication that groups require of their members."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import and_, bindparam, exists, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, day_of
from ingot.projects.namespaces.group_options import group_options
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespace_tree, namespaces

_MEMBER_GROUPS = namespaces.alias()
# Memberships in a group, in its subgroups, which inherit the requirement, and in its ancestors, which give access.
_TWO_FACTOR_REQUIREMENTS = (
    select(
        namespaces.c.two_factor_required_at,
        namespaces.c.options_document,
        _MEMBER_GROUPS.c.id,
        _MEMBER_GROUPS.c.full_name,
        memberships.c.created_at,
    )
    .select_from(namespaces)
    .join(memberships, memberships.c.user_id == bindparam("user"))
    .join(_MEMBER_GROUPS, _MEMBER_GROUPS.c.id == memberships.c.source_id)
    .where(
        namespaces.c.two_factor_required_at.is_not(None),
        memberships.c.source_kind == "group",
        is_unexpired(memberships.c.expires_at),
        exists().where(
            or_(
                and_(
                    namespace_tree.c.ancestor_id == namespaces.c.id,
                    namespace_tree.c.descendant_id == memberships.c.source_id,
                ),
                and_(
                    namespace_tree.c.ancestor_id == memberships.c.source_id,
                    namespace_tree.c.descendant_id == namespaces.c.id,
                ),
            )
        ),
    )
)
_REQUIREMENT_BYTES = 400


class TwoFactorRequirement(NamedTuple):
    """Membership in a group that requires two-factor authentication, itself or through a parent group or subgroup."""

    due_at: Timestamp
    group_id: int
    group_name: str


def two_factor_requirements(db: Connection, user_id: int) -> Sequence[TwoFactorRequirement]:
    """Return the memberships of a user that require two-factor authentication, the first to be fulfilled first.

    The grace period starts when the group begins to require it or the user becomes a member.
    """
    today = day_of(db.now)

    def read() -> tuple[TwoFactorRequirement, ...]:
        first: dict[int, TwoFactorRequirement] = {}
        for required_at, document, group_id, name, member_since in db.rows(
            _TWO_FACTOR_REQUIREMENTS, user=user_id, today=today
        ):
            grace = group_options(document).two_factor_grace_period
            found = TwoFactorRequirement(add_duration(max(required_at, member_since), hours=grace), group_id, name)
            first[group_id] = min(found, first.get(group_id, found))
        return tuple(sorted(first.values()))

    key = ("two-factor requirements", user_id, today)
    return (
        db.cached(key, read, lambda found: _REQUIREMENT_BYTES * (len(found) + 1), lambda _: {"memberships": user_id})
        or ()
    )


def two_factor_due_at(db: Connection, user_id: int) -> Timestamp | None:
    """Return when a user must have a second factor because of a group; None if no group requires it."""
    return next((requirement.due_at for requirement in two_factor_requirements(db, user_id)), None)
