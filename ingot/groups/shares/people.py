"""Who belongs to a group, or to what is in it, because a group of theirs was invited."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import day_of
from ingot.groups.members.queries import Ways, by_share
from ingot.groups.namespaces.tables import group_shares, namespace_tree, namespaces
from ingot.groups.policy import visible_groups

_VISIBLE = {
    external: select(namespaces.c.id).where(any_of(namespaces.c.id, "groups"), visible_groups(external=external))
    for external in (False, True)
}
_HERE_OR_ABOVE = group_shares.c.group_id.in_(
    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
)
INVITED = select(group_shares.c.invited_id).where(_HERE_OR_ABOVE)
"""The groups that were invited into a namespace or into one above it."""
BY_INVITATION = by_share(group_shares, group_shares.c.invited_id, with_above=False).where(
    _HERE_OR_ABOVE, any_of(group_shares.c.invited_id, "seen")
)
"""Their members, of those groups that are ``seen``."""


def ways_into_group(db: Connection, actor: Actor, namespace_id: int) -> Ways:
    """By which invitations into a group or into one above it people belong, as far as the caller may know."""
    return Ways(
        (BY_INVITATION,), seen_of(db, actor, [invited for (invited,) in db.rows(INVITED, namespace=namespace_id)])
    )


def seen_of(db: Connection, actor: Actor, invited: Sequence[int]) -> Sequence[int]:
    """Those groups that the caller may see; of the others they are not told who is in them."""
    if actor.admin or not invited:
        return invited
    bound = {"groups": invited, "actor": actor.user_id, "today": day_of(db.now)}
    return [seen for (seen,) in db.rows(_VISIBLE[actor.external], **bound)]
