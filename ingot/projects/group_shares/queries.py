"""Queries of the groups that are invited into a group."""

from sqlalchemy import bindparam, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.projects.groups.policy import visible_groups
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import GroupShare, Namespace, group_shares, namespace_tree, namespaces

_SHARES = select(group_shares, namespaces.c.name, namespaces.c.full_path).join(
    namespaces, namespaces.c.id == group_shares.c.invited_id
)
_SHARE = _SHARES.where(group_shares.c.group_id == bindparam("group"), group_shares.c.invited_id == bindparam("invited"))
_OF_GROUP = _SHARES.where(
    group_shares.c.group_id == bindparam("group"), is_unexpired(group_shares.c.expires_at)
).order_by(group_shares.c.id)
# A user who may see a group may not see every group that is invited into it.
_VISIBLE = {external: _OF_GROUP.where(visible_groups(external=external)) for external in (False, True)}
_INVITED = (
    select(group_shares.c.invited_id, namespace_tree.c.ancestor_id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == group_shares.c.group_id)
    .where(
        namespace_tree.c.descendant_id == bindparam("group"),
        group_shares.c.group_access >= bindparam("least"),
        is_unexpired(group_shares.c.expires_at),
    )
)

_INVITING = select(group_shares.c.group_id).where(
    group_shares.c.invited_id == bindparam("group"), is_unexpired(group_shares.c.expires_at)
)


def share_or_none(db: Connection, group: Namespace, invited_id: int) -> GroupShare | None:
    """Return the share of a group with another group, even if it has expired."""
    return db.first(GroupShare, _SHARE, group=group.id, invited=invited_id)


def visible_shares(db: Connection, actor: Actor, group: Namespace) -> list[GroupShare]:
    """Return the direct shares of a group, limited to invited groups that the caller may see."""
    values = {"group": group.id, "today": db.today}
    if actor.admin:
        return db.all(GroupShare, _OF_GROUP, **values)
    return db.all(GroupShare, _VISIBLE[actor.external], actor=actor.user_id, **values)


def invited_group_ids(
    db: Connection, group_id: int, least: int = 0, *, direct: bool = True, inherited: bool = True
) -> list[int]:
    """Return the ids of the groups invited into a group or into its ancestors."""
    rows = db.rows(_INVITED, group=group_id, least=least, today=db.today)
    return [invited for invited, inviting in rows if (direct if inviting == group_id else inherited)]


def group_ids_inviting(db: Connection, group_id: int) -> list[int]:
    """Return the ids of the groups into which a group was invited."""
    return [inviting for (inviting,) in db.rows(_INVITING, group=group_id, today=db.today)]
