"""Permissions on projects, each a combination of level, feature and state."""

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
from ingot.projects.projects.feature_access import PLANNING_FEATURES, may_use_feature
from ingot.projects.projects.tables import Project, projects, shares


def may_see_project(actor: Actor, access: Access, project: Project) -> bool:
    """Members, and users to whom its visibility gives access."""
    return _is_open_to(actor, project) or access.level >= Level.GUEST or actor.admin


class ProjectLookup(NamedTuple):
    """Project with the caller's access."""

    access: Access
    project: Project
    shared: bool
    """Whether it is shared with any group."""
    has_topics: bool
    """Whether it has any topic."""


def may_see_project_lookup(actor: Actor, access: Access, lookup: ProjectLookup) -> bool:
    """Members, and users to whom its visibility gives access."""
    return may_see_project(actor, access, lookup.project)


def _is_open_to(actor: Actor, project: Project) -> bool:
    """Check whether a user may see a project without being a member."""
    return project.visibility == "public" or (project.visibility == "internal" and actor.known and not actor.external)


def may_download_code(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and users to whom its visibility gives access; guest level alone is not enough.

    If the repository is private, only members with the level of a reporter have access; if it is disabled, no user has.
    """
    if project.repository_access_level != "enabled":
        return project.repository_access_level == "private" and (access.level >= Level.REPORTER or actor.admin)
    return may_download_wiki(actor, access, project)


def may_download_wiki(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and users to whom its visibility gives access, independent of the access to the code."""
    return _is_open_to(actor, project) or access.level >= Level.REPORTER or actor.admin


def may_push_code(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived or its repository is disabled."""
    return may_write_project(actor, access, project) and may_download_code(actor, access, project)


def may_see_statistics(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Reporters and administrators; access by visibility is not enough."""
    return access.level >= Level.REPORTER or actor.admin


def may_fork_project(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may download the code, unless forks are disabled or allowed to members only."""
    level = project.options.forking_access_level
    allowed = level == "enabled" or (level == "private" and (access.level >= Level.GUEST or actor.admin))
    return actor.known and allowed and may_download_code(actor, access, project)


def may_create_merge_request_in(actor: Actor, access: Access, project: Project) -> bool:
    """Signed-in users who may read the code of a project with merge requests, unless it is archived."""
    enabled = may_use_feature(actor, access, project, "merge_requests") and not project.archived
    return actor.known and enabled and may_download_code(actor, access, project)


def may_plan_in(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see the project and use its issues or merge requests, which labels and milestones belong to."""
    planned = any(may_use_feature(actor, access, project, feature) for feature in PLANNING_FEATURES)
    # Guests use labels and milestones also where merge requests are for reporters.
    enabled = access.level >= Level.GUEST and (project.issues_enabled or project.merge_requests_enabled)
    return (planned or enabled) and may_see_project(actor, access, project)


def may_upload(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see the project, unless it is archived."""
    return actor.known and may_see_project(actor, access, project) and not project.archived


def may_star_project(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see the project."""
    return actor.known and may_see_project(actor, access, project)


def may_write_project(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived."""
    return (access.level >= Level.DEVELOPER or actor.admin) and not project.archived


def may_admin_project(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Maintainers, owners and administrators."""
    return access.level >= Level.MASTER or actor.admin


def may_change_project(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, owners and administrators, unless the project is archived."""
    return may_admin_project(actor, access, project) and not project.archived


def may_edit_project(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, owners and administrators; for an archived project, only those who may unarchive it."""
    return (may_own_project if project.archived else may_admin_project)(actor, access, project)


def may_join_or_leave(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see the project, unless it is archived; applies to their own membership or request."""
    return actor.known and may_see_project(actor, access, project) and not project.archived


def may_transfer_project(actor: Actor, access: Access, project: Project) -> bool:
    """Owners and administrators, unless the project is archived."""
    return may_own_project(actor, access, project) and not project.archived


def may_own_project(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Owners and administrators."""
    return access.level >= Level.OWNER or actor.admin


def may_request_access(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see a project that accepts access requests, and are not members yet."""
    accepts_requests = project.request_access_enabled and not project.archived
    return actor.known and _is_open_to(actor, project) and accepts_requests and access.level == Level.NONE


def visible_projects(*, external: bool, opened: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    """Return ``may_see_project`` as an SQL condition for users without administrator rights.

    ``opened`` is a further condition for users who are not members. ``actor`` and ``today`` are bound.
    """
    without_membership = _visible_without_membership(external)
    if opened is not None:
        without_membership = and_(without_membership, opened)
    return or_(without_membership, belongs_to_scanned_project())


def readable_projects(*, external: bool, opened: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    """Return ``may_download_code`` as an SQL condition for users without administrator rights.

    ``opened`` is a further condition for users who are not members.
    """
    open_code = and_(_visible_without_membership(external), has_open_code())
    if opened is not None:
        open_code = and_(open_code, opened)
    return and_(or_(open_code, belongs_to_scanned_project(Level.REPORTER)), has_code())


def wiki_readable_projects(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_download_wiki`` as an SQL condition for users without administrator rights."""
    return or_(_visible_without_membership(external), belongs_to_scanned_project(Level.REPORTER))


def has_open_code() -> ColumnElement[bool]:
    """Return the condition that the project's visibility also applies to its code."""
    return projects.c.repository_access_level == "enabled"


def has_code() -> ColumnElement[bool]:
    """Return the condition that the project's repository is not disabled."""
    return projects.c.repository_access_level != "disabled"


def _visible_without_membership(external: bool) -> ColumnElement[bool]:
    """Return the condition that the project's visibility gives access.

    Deleted projects keep their visibility until a job removes them, so they are excluded by their missing namespace.
    """
    open_to = ("public",) if external else ("public", "internal")
    return and_(one_of(projects.c.visibility, *open_to), without_index(projects.c.namespace_id).is_not(None))


def belongs_to_project(least: ColumnElement[int] | Level = Level.GUEST) -> ColumnElement[bool]:
    """Return the condition that ``actor`` has at least this level in a project.

    The level may be direct, inherited from a group, from a share, or from owning the namespace. The condition uses an
    index, for queries that look up few projects; ``belongs_to_scanned_project`` is the variant for scans.
    """
    direct, by_namespace, shared = _membership_queries(least)
    return projects.c.id.in_(direct.union_all(by_namespace, shared).scalar_subquery())


def projects_of_actor(least: ColumnElement[int] | Level = Level.GUEST) -> CompoundSelect[tuple[int]]:
    """Select the distinct ids of the projects of ``belongs_to_project``."""
    direct, by_namespace, shared = _membership_queries(least)
    return direct.union(by_namespace, shared)


@lru_cache(maxsize=256)
def _membership_queries(least: ColumnElement[int] | Level) -> tuple[Select[tuple[int]], ...]:
    contained = projects.alias()
    by_namespace = select(contained.c.id).where(
        contained.c.namespace_id.in_(_member_namespaces(least).scalar_subquery())
    )
    return _direct_projects(least), by_namespace, _shared_projects(least)


def belongs_to_scanned_project(least: ColumnElement[int] | Level = Level.GUEST) -> ColumnElement[bool]:
    """Return ``belongs_to_project`` for scans in list order; it disables indexes, so that no sort is needed."""
    return or_(
        without_index(projects.c.id).in_(_direct_projects(least).scalar_subquery()),
        without_index(projects.c.namespace_id).in_(_member_namespaces(least).scalar_subquery()),
        without_index(projects.c.id).in_(_shared_projects(least).scalar_subquery()),
    )


def owned_projects() -> ColumnElement[bool]:
    """Return the condition for projects in ``actor``'s personal namespace or in a group that they own."""
    return projects.c.namespace_id.in_(_member_namespaces(Level.OWNER).scalar_subquery())


@lru_cache(maxsize=256)
def _direct_projects(least: ColumnElement[int] | Level) -> Select[tuple[int]]:
    membership = memberships.alias()
    return select(membership.c.source_id).where(
        membership.c.user_id == bindparam("actor"),
        membership.c.source_kind == "project",
        membership.c.access_level >= least,
        is_unexpired(membership.c.expires_at),
    )


@lru_cache(maxsize=256)
def _member_namespaces(least: ColumnElement[int] | Level) -> CompoundSelect[tuple[int]]:
    """Select the personal namespace and every group in which the actor has at least this level."""
    space = namespaces.alias()
    own = select(space.c.id).where(space.c.owner_id == bindparam("actor"))
    return union_all(*groups_of_actor_by_origin(least), own)


@lru_cache(maxsize=256)
def _shared_projects(least: ColumnElement[int] | Level) -> Select[tuple[int]]:
    """Select projects shared with a group, where both the actor's level there and the share's level suffice."""
    membership, tree, share = memberships.alias(), namespace_tree.alias(), shares.alias()
    return (
        select(share.c.project_id)
        .join(tree, tree.c.descendant_id == share.c.group_id)
        .join(membership, and_(membership.c.source_id == tree.c.ancestor_id, membership.c.source_kind == "group"))
        .where(
            membership.c.user_id == bindparam("actor"),
            membership.c.access_level >= least,
            share.c.group_access >= least,
            is_unexpired(membership.c.expires_at),
            is_unexpired(share.c.expires_at),
        )
    )


def shared_level() -> ScalarSelect[int | None]:
    """Select the highest level of ``actor`` through shares: the lower of the level in the group and the share's."""
    membership, tree, share = memberships.alias(), namespace_tree.alias(), shares.alias()
    return (
        select(func.max(lower_level(membership.c.access_level, share.c.group_access)))
        .select_from(
            share.outerjoin(tree, tree.c.descendant_id == share.c.group_id).outerjoin(
                membership, actor_membership_in_ancestors(membership, tree)
            )
        )
        .where(share.c.project_id == projects.c.id, is_unexpired(share.c.expires_at))
        .scalar_subquery()
    )
