"""Who belongs to a group, or to what is in it, because a group of theirs was invited."""

from typing import Any

from sqlalchemy import Select, bindparam, select

from ingot.access.actor import Actor
from ingot.groups.members.queries import by_share
from ingot.groups.namespaces.tables import group_shares, namespace_tree, namespaces
from ingot.groups.policy import visible_groups

# One who may not see the invited group is not told who is in it.
VISIBLE_ONLY = {
    external: select(namespaces.c.id).where(visible_groups(external=external)).scalar_subquery()
    for external in (False, True)
}
_ABOVE = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
_INVITED = by_share(group_shares, group_shares.c.invited_id, with_above=False).where(
    group_shares.c.group_id.in_(_ABOVE.scalar_subquery())
)
_VISIBLE = {
    external: _INVITED.where(group_shares.c.invited_id.in_(VISIBLE_ONLY[external])) for external in (False, True)
}


def by_invitation(actor: Actor) -> Select[Any]:
    """The members of groups that were invited into this one or into one above it, as far as the caller sees these."""
    return _INVITED if actor.admin else _VISIBLE[actor.external]


def seen_by(actor: Actor) -> dict[str, Any]:
    """What these statements are bound to."""
    return {} if actor.admin else {"actor": actor.user_id}
