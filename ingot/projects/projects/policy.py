"""Who may do what with projects: each ability is a level, a feature and a state, readable here as a table."""

from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, Select, and_, bindparam, func, or_, select, union_all
from sqlalchemy.sql.selectable import ScalarSelect

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of, without_index
from ingot.projects.namespaces.policy import (
    actor_membership_in_ancestors,
    groups_of_actor_by_origin,
    is_unexpired,
    lower_level,
)
from ingot.projects.namespaces.tables import memberships, namespace_tree, namespaces
from ingot.projects.projects.tables import Project, projects, shares


def may_see_project(actor: Actor, access: Access, project: Project) -> bool:
    """Members, and those to whom its visibility opens it."""
    return _is_open_to(actor, project) or access.level >= Level.GUEST or actor.admin


class ProjectLookup(NamedTuple):
    """A project together with what the caller holds in it."""

    here: Access
    project: Project
    shared: bool
    """Whether it was shared with any group at all."""
    has_topics: bool
    """Whether it has any topic."""


def may_see_project_lookup(actor: Actor, access: Access, lookup: ProjectLookup) -> bool:
    """Members, and those to whom its visibility opens it."""
    return may_see_project(actor, access, lookup.project)


def _is_open_to(actor: Actor, project: Project) -> bool:
    """Whether somebody may see a project without belonging to it."""
    return project.visibility == "public" or (project.visibility == "internal" and actor.known and not actor.external)


def may_download_code(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and those to whom its visibility opens it; a guest who is external has only what guests have.

    Where the repository is for members only, visibility opens nothing of it; where it is switched off, nobody has it.
    """
    if project.repository_access_level != "enabled":
        return project.repository_access_level == "private" and (access.level >= Level.REPORTER or actor.admin)
    return may_download_wiki(actor, access, project)


def may_download_wiki(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and those to whom its visibility opens it, whatever becomes of the code."""
    return _is_open_to(actor, project) or access.level >= Level.REPORTER or actor.admin


def may_push_code(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived or its repository switched off."""
    return may_write_project(actor, access, project) and may_download_code(actor, access, project)


def may_see_statistics(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Members who may read the code, and administrators; that everybody may read it is not enough."""
    return access.level >= Level.REPORTER or actor.admin


def may_fork_project(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may download the code."""
    return actor.known and may_download_code(actor, access, project)


def may_upload(actor: Actor, access: Access, project: Project) -> bool:
    """Users who see the project, unless it is archived."""
    return actor.known and may_see_project(actor, access, project) and not project.archived


def may_star_project(actor: Actor, access: Access, project: Project) -> bool:
    """Users who see the project."""
    return actor.known and may_see_project(actor, access, project)


def may_write_project(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived."""
    return (access.level >= Level.DEVELOPER or actor.admin) and not project.archived


def may_admin_project(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Masters, owners and administrators."""
    return access.level >= Level.MASTER or actor.admin


def may_change_project(actor: Actor, access: Access, project: Project) -> bool:
    """Those who administer it, unless it is archived: then nobody, before somebody unarchives it."""
    return may_admin_project(actor, access, project) and not project.archived


def may_join_or_leave(actor: Actor, access: Access, project: Project) -> bool:
    """Who sees a project may take back what concerns themselves alone, unless it is archived."""
    return actor.known and may_see_project(actor, access, project) and not project.archived


def may_transfer_project(actor: Actor, access: Access, project: Project) -> bool:
    """Owners and administrators, unless the project is archived."""
    return may_own_project(actor, access, project) and not project.archived


def may_own_project(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Owners and administrators."""
    return access.level >= Level.OWNER or actor.admin


def may_request_access(actor: Actor, access: Access, project: Project) -> bool:
    """Users who see a project that is open to requests, and do not belong to it yet."""
    asked_for = project.request_access_enabled and not project.archived
    return actor.known and _is_open_to(actor, project) and asked_for and access.level == Level.NONE


def visible_projects(*, external: bool) -> ColumnElement[bool]:
    """``may_see_project`` for the lists of a user who is no administrator; ``actor`` and ``today`` are bound."""
    return or_(_visible_without_membership(external), belongs_to_scanned_project())


def readable_projects(*, external: bool) -> ColumnElement[bool]:
    """``may_download_code`` in the same way."""
    opened = and_(_visible_without_membership(external), has_open_code())
    return and_(or_(opened, belongs_to_scanned_project(Level.REPORTER)), has_code())


def has_open_code() -> ColumnElement[bool]:
    """A project's visibility decides on its code too."""
    return projects.c.repository_access_level == "enabled"


def has_code() -> ColumnElement[bool]:
    """A project's repository is not switched off."""
    return projects.c.repository_access_level != "disabled"


def _visible_without_membership(external: bool) -> ColumnElement[bool]:
    """Its visibility opens it, as long as it is there: one that is being deleted keeps that, and belongs to nobody."""
    open_to = ("public",) if external else ("public", "internal")
    return and_(one_of(projects.c.visibility, *open_to), without_index(projects.c.namespace_id).is_not(None))


def belongs_to_project(least: ColumnElement[int] | Level = Level.GUEST) -> ColumnElement[bool]:
    """``actor`` holds this level or more: directly, by a group around it, by a share, or as its namespace's owner.

    Says which projects these are, so that each can be looked up; the next one asks of a project at hand.
    """
    direct, by_namespace, shared = _membership_queries(least)
    return projects.c.id.in_(direct.union_all(by_namespace, shared).scalar_subquery())


def projects_of_actor(least: ColumnElement[int] | Level = Level.GUEST) -> CompoundSelect[tuple[int]]:
    """Their ids, each once."""
    direct, by_namespace, shared = _membership_queries(least)
    return direct.union(by_namespace, shared)


@lru_cache(maxsize=256)
def _membership_queries(least: ColumnElement[int] | Level) -> tuple[Select[tuple[int]], ...]:
    around = projects.alias()
    by_namespace = select(around.c.id).where(around.c.namespace_id.in_(_member_namespaces(least).scalar_subquery()))
    return _direct_projects(least), by_namespace, _shared_projects(least)


def belongs_to_scanned_project(least: ColumnElement[int] | Level = Level.GUEST) -> ColumnElement[bool]:
    """The same, for whoever walks through projects in some order: it serves no index, so nothing is sorted."""
    return or_(
        without_index(projects.c.id).in_(_direct_projects(least).scalar_subquery()),
        without_index(projects.c.namespace_id).in_(_member_namespaces(least).scalar_subquery()),
        without_index(projects.c.id).in_(_shared_projects(least).scalar_subquery()),
    )


def owned_projects() -> ColumnElement[bool]:
    """Projects in ``actor``'s own namespace, or in a group that they own."""
    return projects.c.namespace_id.in_(_member_namespaces(Level.OWNER).scalar_subquery())


@lru_cache(maxsize=256)
def _direct_projects(least: ColumnElement[int] | Level) -> Select[tuple[int]]:
    held = memberships.alias()
    return select(held.c.source_id).where(
        held.c.user_id == bindparam("actor"),
        held.c.source_kind == "project",
        held.c.access_level >= least,
        is_unexpired(held.c.expires_at),
    )


@lru_cache(maxsize=256)
def _member_namespaces(least: ColumnElement[int] | Level) -> CompoundSelect[tuple[int]]:
    """One's own namespace, and every group in or below one to which one belongs."""
    space = namespaces.alias()
    own = select(space.c.id).where(space.c.owner_id == bindparam("actor"))
    return union_all(*groups_of_actor_by_origin(least), own)


@lru_cache(maxsize=256)
def _shared_projects(least: ColumnElement[int] | Level) -> Select[tuple[int]]:
    """By a share one holds the lesser of what one holds in the group and what was given to it."""
    held, tree, share = memberships.alias(), namespace_tree.alias(), shares.alias()
    return (
        select(share.c.project_id)
        .join(tree, tree.c.descendant_id == share.c.group_id)
        .join(held, and_(held.c.source_id == tree.c.ancestor_id, held.c.source_kind == "group"))
        .where(
            held.c.user_id == bindparam("actor"),
            held.c.access_level >= least,
            share.c.group_access >= least,
            is_unexpired(held.c.expires_at),
            is_unexpired(share.c.expires_at),
        )
    )


def shared_level() -> ScalarSelect[int | None]:
    """The most that ``actor`` holds by shares: never more than in the group, nor than was given."""
    held, tree, share = memberships.alias(), namespace_tree.alias(), shares.alias()
    return (
        select(func.max(lower_level(held.c.access_level, share.c.group_access)))
        .select_from(
            share.outerjoin(tree, tree.c.descendant_id == share.c.group_id).outerjoin(
                held, actor_membership_in_ancestors(held, tree)
            )
        )
        .where(share.c.project_id == projects.c.id, is_unexpired(share.c.expires_at))
        .scalar_subquery()
    )
