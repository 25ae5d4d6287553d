"""Who may do what with groups."""

from functools import cache

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select, union_all
from sqlalchemy.sql.selectable import ScalarSelect

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of, without_index
from ingot.projects.namespaces.policy import groups_inviting_actor, groups_of_actor_by_origin, is_unexpired
from ingot.projects.namespaces.tables import Namespace, memberships, namespace_tree, namespaces


def may_see_group(actor: Actor, access: Access, group: Namespace) -> bool:
    """Those who belong to it or to anything in it, and those to whom its visibility opens it."""
    return (
        group.visibility == "public"
        or (group.visibility == "internal" and actor.known and not actor.external)
        or access.level >= Level.GUEST
        or access.inside
        or actor.admin
    )


def visible_groups(external: bool) -> ColumnElement[bool]:
    """The same for a list of one who is no administrator; ``actor`` and ``today`` are bound."""
    open_to = ("public",) if external else ("public", "internal")
    return or_(one_of(namespaces.c.visibility, *open_to), without_index(namespaces.c.id).in_(_membership_around()))


def groups_visible_by_membership() -> ColumnElement[bool]:
    """The part of them that is open to ``actor`` because they belong to it, or to anything in it."""
    return namespaces.c.id.in_(_membership_around())


@cache
def _membership_around() -> ScalarSelect[int]:
    held, tree = memberships.alias(), namespace_tree.alias()
    around = (
        select(tree.c.ancestor_id)
        .join(held, held.c.namespace_id == tree.c.descendant_id)
        .where(held.c.user_id == bindparam("actor"), is_unexpired(held.c.expires_at))
    )
    above = namespace_tree.alias()
    inviting = groups_inviting_actor().scalar_subquery()
    around_invitation = select(above.c.ancestor_id).where(above.c.descendant_id.in_(inviting))
    return union_all(*groups_of_actor_by_origin(), around, around_invitation).scalar_subquery()


def has_membership_below() -> ColumnElement[bool]:
    """``actor`` belongs to a group or project below, or one of their groups was invited into a group there."""
    held, tree, above = memberships.alias(), namespace_tree.alias(), namespace_tree.alias()
    invited = exists().where(
        above.c.ancestor_id == namespaces.c.id, above.c.descendant_id.in_(groups_inviting_actor().scalar_subquery())
    )
    return invited | exists().where(
        and_(
            tree.c.ancestor_id == namespaces.c.id,
            held.c.namespace_id == tree.c.descendant_id,
            held.c.user_id == bindparam("actor"),
            is_unexpired(held.c.expires_at),
        )
    )


def may_admin_group(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Owners and administrators."""
    return access.level >= Level.OWNER or actor.admin


def may_create_project_in(actor: Actor, access: Access, group: Namespace) -> bool:
    """Those who hold what the group asks for, and administrators; external users never."""
    if actor.admin:
        return True
    least = _PROJECT_CREATION_LEVELS.get(group.project_creation_level)
    return least is not None and access.level >= least and not actor.external


# Of what is not named here nobody holds enough.
_PROJECT_CREATION_LEVELS = {"owner": Level.OWNER, "maintainer": Level.MASTER, "developer": Level.DEVELOPER}


def may_create_subgroup(actor: Actor, access: Access, creator: User) -> bool:
    """Owners who may create groups at all, and administrators."""
    return actor.admin or (access.level >= Level.OWNER and may_create_group(actor, access, creator))


def may_create_group(actor: Actor, access: Access, creator: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Those who were not denied it; external users never."""
    return actor.admin or (creator.can_create_group and not creator.external)


def may_request_access(actor: Actor, access: Access, group: Namespace) -> bool:
    """Those who see a group that is open to requests, and do not belong to it yet."""
    seen = group.visibility == "public" or (group.visibility == "internal" and not actor.external)
    return actor.known and seen and group.request_access_enabled and access.level == Level.NONE
