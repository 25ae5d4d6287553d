"""Permissions on groups."""

from functools import cache

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select, union_all
from sqlalchemy.sql.selectable import ScalarSelect

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of, without_index
from ingot.projects.namespaces.policy import (
    groups_inviting_actor,
    groups_of_actor,
    groups_of_actor_by_origin,
    is_unexpired,
)
from ingot.projects.namespaces.tables import Namespace, memberships, namespace_tree, namespaces


def may_see_group(actor: Actor, access: Access, group: Namespace) -> bool:
    """Members of the group or of anything in it, and users to whom its visibility gives access."""
    return (
        group.visibility == "public"
        or (group.visibility == "internal" and actor.known and not actor.external)
        or access.level >= Level.GUEST
        or access.inside
        or actor.admin
    )


def visible_groups(external: bool) -> ColumnElement[bool]:
    """Return ``may_see_group`` as an SQL condition for users without administrator rights.

    ``actor`` and ``today`` are bound.
    """
    open_to = ("public",) if external else ("public", "internal")
    return or_(
        one_of(namespaces.c.visibility, *open_to), without_index(namespaces.c.id).in_(_groups_around_memberships())
    )


def groups_visible_by_membership() -> ColumnElement[bool]:
    """Return the condition for groups visible through a membership in them or in anything below."""
    return namespaces.c.id.in_(_groups_around_memberships())


@cache
def _groups_around_memberships() -> ScalarSelect[int]:
    membership, tree = memberships.alias(), namespace_tree.alias()
    around = (
        select(tree.c.ancestor_id)
        .join(membership, membership.c.namespace_id == tree.c.descendant_id)
        .where(membership.c.user_id == bindparam("actor"), is_unexpired(membership.c.expires_at))
    )
    above = namespace_tree.alias()
    inviting = groups_inviting_actor().scalar_subquery()
    around_invitation = select(above.c.ancestor_id).where(above.c.descendant_id.in_(inviting))
    return union_all(*groups_of_actor_by_origin(), around, around_invitation).scalar_subquery()


def has_membership_below() -> ColumnElement[bool]:
    """Return the condition that ``actor`` is a member of something below a group.

    Counts memberships in groups and projects, and groups of the actor that are invited into a group there.
    """
    membership, tree, above = memberships.alias(), namespace_tree.alias(), namespace_tree.alias()
    invited = exists().where(
        above.c.ancestor_id == namespaces.c.id, above.c.descendant_id.in_(groups_inviting_actor().scalar_subquery())
    )
    return invited | exists().where(
        and_(
            tree.c.ancestor_id == namespaces.c.id,
            membership.c.namespace_id == tree.c.descendant_id,
            membership.c.user_id == bindparam("actor"),
            is_unexpired(membership.c.expires_at),
        )
    )


def may_admin_group(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Owners and administrators."""
    return access.level >= Level.OWNER or actor.admin


def may_create_project_in(actor: Actor, access: Access, group: Namespace) -> bool:
    """Members with the level that the group requires, and administrators; never external users, except bots."""
    if actor.admin:
        return True
    required = _PROJECT_CREATION_LEVELS.get(group.project_creation_level)
    return required is not None and access.level >= required and (actor.bot or not actor.external)


# Other settings ("noone", "administrator") allow administrators only.
_PROJECT_CREATION_LEVELS = {"owner": Level.OWNER, "maintainer": Level.MASTER, "developer": Level.DEVELOPER}


def accepts_projects_of_actor() -> ColumnElement[bool]:
    """Return ``may_create_project_in`` as an SQL condition for users who are neither administrators nor external."""
    return or_(
        *(
            and_(
                namespaces.c.project_creation_level == setting,
                namespaces.c.id.in_(groups_of_actor(level).scalar_subquery()),
            )
            for setting, level in _PROJECT_CREATION_LEVELS.items()
        )
    )


def may_create_subgroup(actor: Actor, access: Access, group: Namespace, creator: User) -> bool:
    """Members with the level that the group requires who may create groups at all, bots, and administrators."""
    required = Level.MASTER if group.options.subgroup_creation_level == "maintainer" else Level.OWNER
    # Bots are external, but have no access outside of their group.
    return actor.admin or (access.level >= required and (actor.bot or may_create_group(actor, access, creator)))


def may_create_group(actor: Actor, access: Access, creator: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users with the permission to create groups, and administrators; never external users."""
    return actor.admin or (creator.can_create_group and not creator.external)


def may_request_access(actor: Actor, access: Access, group: Namespace) -> bool:
    """Users who may see a group that accepts access requests, and are not members yet."""
    visible = group.visibility == "public" or (group.visibility == "internal" and not actor.external)
    return actor.known and visible and group.request_access_enabled and access.level == Level.NONE
