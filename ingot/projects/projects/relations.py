"""Related rows of a page of projects, read with one statement per relation for any page size."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from sqlalchemy import bindparam, select

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.groups.policy import visible_groups
from ingot.projects.namespaces.policy import is_unexpired, packed_levels_in_groups, unpack_levels
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.filters import PROJECTS
from ingot.projects.projects.policy import (
    ProjectLookup,
    belongs_to_scanned_project,
    may_create_merge_request_in,
    visible_projects,
)
from ingot.projects.projects.tables import Project, Share, project_topics, projects, shares

MembershipLevels = tuple[int, int]
"""Access level and notification level."""

_TOPICS = (
    select(project_topics.c.project_id, project_topics.c.name)
    .where(in_list(project_topics.c.project_id, "projects"))
    .order_by(project_topics.c.id)
)
_SHARES = (
    select(shares, namespaces.c.name, namespaces.c.full_path)
    .join(namespaces, namespaces.c.id == shares.c.group_id)
    .where(in_list(shares.c.project_id, "projects"), is_unexpired(shares.c.expires_at))
    .order_by(shares.c.id)
)
# A user who may see a project may not see every group that it is shared with.
_PUBLIC_SHARES = _SHARES.where(namespaces.c.visibility == "public")
_VISIBLE_SHARES = {external: _SHARES.where(visible_groups(external=external)) for external in (False, True)}
# The source of a fork is shown only to users who may see the source.
_SOURCES = PROJECTS.where(in_list(projects.c.id, "projects"))
_PUBLIC_SOURCES = _SOURCES.where(projects.c.visibility == "public", projects.c.namespace_id.is_not(None))
_VISIBLE_SOURCES = {external: _SOURCES.where(visible_projects(external=external)) for external in (False, True)}
_OWN = select(memberships.c.source_id, memberships.c.access_level, memberships.c.notification_level).where(
    memberships.c.user_id == bindparam("actor"),
    memberships.c.source_kind == "project",
    in_list(memberships.c.source_id, "projects"),
    is_unexpired(memberships.c.expires_at),
)
_GROUP = packed_levels_in_groups("spaces")
_WITH_STATISTICS = select(projects.c.id).where(
    in_list(projects.c.id, "projects"), belongs_to_scanned_project(Level.REPORTER)
)


class ProjectRelations(msgspec.Struct):
    """Related rows of a page of projects."""

    topics: dict[int, list[str]]
    shares: dict[int, list[Share]]
    sources: dict[int, Project]
    own: dict[int, MembershipLevels]
    group: dict[int, MembershipLevels]


def ids_with_statistics(db: Connection, actor: Actor, page: list[Project]) -> frozenset[int]:
    """Return the ids of the projects on a page whose statistics the caller may see."""
    ids = [project.id for project in page]
    if actor.admin:
        return frozenset(ids)
    if not actor.known:
        return frozenset()
    return frozenset(row[0] for row in db.rows(_WITH_STATISTICS, projects=ids, actor=actor.user_id, today=db.today))


def merge_request_targets(
    db: Connection, actor: Actor, page: Sequence[Project], relations: ProjectRelations
) -> frozenset[int]:
    """Return the ids of the projects on a page in which the caller may create merge requests.

    Levels by shares are read only for projects in which they may matter.
    """
    targets: set[int] = set()
    undecided: list[Project] = []
    for project in page:
        own, group = relations.own.get(project.id, (0, 0)), relations.group.get(project.namespace_id, (0, 0))
        owner = Level.OWNER if actor.known and project.space_owner_id == actor.user_id else Level.NONE
        access = Access(level=Level(max(own[0], group[0], owner)))
        if may_create_merge_request_in(actor, access, project):
            targets.add(project.id)
        elif actor.known and access.level < Level.REPORTER:
            undecided.append(project)
    reporters = ids_with_statistics(db, actor, undecided) if undecided else frozenset()
    for project in undecided:
        if project.id in reporters and may_create_merge_request_in(actor, Access(level=Level.REPORTER), project):
            targets.add(project.id)
    return frozenset(targets)


def topics_by_project(db: Connection, project_ids: list[int]) -> dict[int, list[str]]:
    """Return the topics of projects by id; one statement."""
    topics: defaultdict[int, list[str]] = defaultdict(list)
    for project_id, name in db.rows(_TOPICS, projects=project_ids):
        topics[project_id].append(name)
    return topics


def project_relations(
    db: Connection, actor: Actor, page: list[Project], lookup: ProjectLookup | None = None
) -> ProjectRelations:
    """Read the related rows; ``lookup`` of a single project saves statements for relations that it rules out."""
    ids = [project.id for project in page]
    topics = topics_by_project(db, ids) if lookup is None or lookup.has_topics else {}
    shared: defaultdict[int, list[Share]] = defaultdict(list)
    for share in _shares(db, actor, ids) if lookup is None or lookup.shared else ():
        shared[share.project_id].append(share)
    source_ids = [project.forked_from_id for project in page if project.forked_from_id is not None]
    own, group = _membership_levels(db, actor, page) if lookup is None else _levels_from_access(lookup.access, page[0])
    return ProjectRelations(
        topics,
        shared,
        {source.id: source for source in _sources(db, actor, source_ids)} if source_ids else {},
        own,
        group,
    )


def _membership_levels(
    db: Connection, actor: Actor, page: list[Project]
) -> tuple[dict[int, MembershipLevels], dict[int, MembershipLevels]]:
    if not actor.known:
        return {}, {}
    values = {"actor": actor.user_id, "today": db.today}
    ids = [project.id for project in page]
    spaces = list({project.namespace_id for project in page if project.space_kind == "group"})
    own = {row[0]: (row[1], row[2]) for row in db.rows(_OWN, projects=ids, **values)}
    in_groups = {row[0]: unpack_levels(row[1]) for row in db.rows(_GROUP, spaces=spaces, **values)} if spaces else {}
    return own, {namespace_id: levels for namespace_id, levels in in_groups.items() if levels}


def _levels_from_access(
    access: Access, project: Project
) -> tuple[dict[int, MembershipLevels], dict[int, MembershipLevels]]:
    own = {project.id: (access.own, access.own_notifications or 0)} if access.own is not None else {}
    group = {project.namespace_id: (access.group, access.group_notifications or 0)} if access.group is not None else {}
    return own, group


def _shares(db: Connection, actor: Actor, ids: list[int]) -> list[Share]:
    today = db.today
    if actor.admin:
        return db.all(Share, _SHARES, projects=ids, today=today)
    if not actor.known:
        return db.all(Share, _PUBLIC_SHARES, projects=ids, today=today)
    return db.all(Share, _VISIBLE_SHARES[actor.external], projects=ids, actor=actor.user_id, today=today)


def _sources(db: Connection, actor: Actor, ids: list[int]) -> list[Project]:
    if actor.admin:
        return db.all(Project, _SOURCES, projects=ids)
    if not actor.known:
        return db.all(Project, _PUBLIC_SOURCES, projects=ids)
    visible = _VISIBLE_SOURCES[actor.external]
    return db.all(Project, visible, projects=ids, actor=actor.user_id, today=db.today)
