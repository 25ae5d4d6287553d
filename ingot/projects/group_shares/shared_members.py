"""Queries of members through invited groups."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.groups.policy import visible_groups
from ingot.projects.members.queries import InvitedMemberQueries, members_by_share
from ingot.projects.namespaces.tables import group_shares, namespace_tree, namespaces

_VISIBLE = {
    external: select(namespaces.c.id).where(in_list(namespaces.c.id, "groups"), visible_groups(external=external))
    for external in (False, True)
}
_IN_GROUP_OR_ANCESTOR = group_shares.c.group_id.in_(
    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
)
INVITED_GROUP_IDS = select(group_shares.c.invited_id).where(_IN_GROUP_OR_ANCESTOR)
"""Groups invited into a namespace or its ancestors."""
MEMBERS_BY_INVITATION = members_by_share(group_shares, group_shares.c.invited_id, with_above=False).where(
    _IN_GROUP_OR_ANCESTOR, in_list(group_shares.c.invited_id, "seen")
)
"""Members of these groups, limited to the groups in ``seen``."""


def invited_member_queries(db: Connection, actor: Actor, namespace_id: int) -> InvitedMemberQueries:
    """Return the queries of members through invitations into a group or its ancestors that the caller may see."""
    return InvitedMemberQueries(
        (MEMBERS_BY_INVITATION,),
        visible_group_ids(db, actor, [invited for (invited,) in db.rows(INVITED_GROUP_IDS, namespace=namespace_id)]),
    )


def visible_group_ids(db: Connection, actor: Actor, invited: Sequence[int]) -> Sequence[int]:
    """Return those of the invited groups that the caller may see; the members of others must not be listed."""
    if actor.admin or not invited:
        return invited
    bound = {"groups": invited, "actor": actor.user_id, "today": db.today}
    return [seen for (seen,) in db.rows(_VISIBLE[actor.external], **bound)]
