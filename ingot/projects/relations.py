"""What a page of projects shows of other rows: one statement per relation, whatever the page's size."""

from collections import defaultdict

import msgspec
from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import day_of
from ingot.groups.namespaces.policy import counts_today, held_in_groups, unpacked
from ingot.groups.namespaces.tables import memberships, namespaces
from ingot.groups.policy import visible_groups
from ingot.projects.filters import PROJECTS
from ingot.projects.policy import Found, belongs_to_this_project, visible_projects
from ingot.projects.tables import Project, Share, project_topics, projects, shares

Held = tuple[int, int]
"""An access level and a notification level."""

_TOPICS = (
    select(project_topics.c.project_id, project_topics.c.name)
    .where(any_of(project_topics.c.project_id, "projects"))
    .order_by(project_topics.c.id)
)
_SHARES = (
    select(shares, namespaces.c.name, namespaces.c.full_path)
    .join(namespaces, namespaces.c.id == shares.c.group_id)
    .where(any_of(shares.c.project_id, "projects"), counts_today(shares.c.expires_at))
    .order_by(shares.c.id)
)
# Not everybody who sees a project may know every group with which it was shared.
_PUBLIC_SHARES = _SHARES.where(namespaces.c.visibility == "public")
_VISIBLE_SHARES = {external: _SHARES.where(visible_groups(external=external)) for external in (False, True)}
# A fork names its source only to those who may see that one.
_SOURCES = PROJECTS.where(any_of(projects.c.id, "projects"))
_PUBLIC_SOURCES = _SOURCES.where(projects.c.visibility == "public", projects.c.namespace_id.is_not(None))
_VISIBLE_SOURCES = {external: _SOURCES.where(visible_projects(external=external)) for external in (False, True)}
_OWN = select(memberships.c.source_id, memberships.c.access_level, memberships.c.notification_level).where(
    memberships.c.user_id == bindparam("actor"),
    memberships.c.source_kind == "project",
    any_of(memberships.c.source_id, "projects"),
    counts_today(memberships.c.expires_at),
)
_GROUP = held_in_groups("spaces")
_COUNTED = select(projects.c.id).where(any_of(projects.c.id, "projects"), belongs_to_this_project(Level.REPORTER))


class Relations(msgspec.Struct):
    """The rows around a page of projects."""

    topics: dict[int, list[str]]
    shares: dict[int, list[Share]]
    sources: dict[int, Project]
    own: dict[int, Held]
    group: dict[int, Held]


def counted_in(db: Connection, actor: Actor, page: list[Project]) -> frozenset[int]:
    """Those of a page of which the caller may see the statistics."""
    ids = [project.id for project in page]
    if actor.admin:
        return frozenset(ids)
    if not actor.known:
        return frozenset()
    return frozenset(row[0] for row in db.rows(_COUNTED, projects=ids, actor=actor.user_id, today=day_of(db.now)))


def relations_of(db: Connection, actor: Actor, page: list[Project], found: Found | None = None) -> Relations:
    """Read them all, but for what the look at the only project of a page has told already."""
    ids = [project.id for project in page]
    topics: defaultdict[int, list[str]] = defaultdict(list)
    for project_id, name in db.rows(_TOPICS, projects=ids) if found is None or found.tagged else ():
        topics[project_id].append(name)
    shared: defaultdict[int, list[Share]] = defaultdict(list)
    for share in _shares(db, actor, ids) if found is None or found.shared else ():
        shared[share.project_id].append(share)
    source_ids = [project.forked_from_id for project in page if project.forked_from_id is not None]
    own, group = _held(db, actor, page) if found is None else _known(found.here, page[0])
    return Relations(
        topics,
        shared,
        {source.id: source for source in _sources(db, actor, source_ids)} if source_ids else {},
        own,
        group,
    )


def _held(db: Connection, actor: Actor, page: list[Project]) -> tuple[dict[int, Held], dict[int, Held]]:
    if not actor.known:
        return {}, {}
    values = {"actor": actor.user_id, "today": day_of(db.now)}
    ids = [project.id for project in page]
    spaces = list({project.namespace_id for project in page if project.space_kind == "group"})
    own = {row[0]: (row[1], row[2]) for row in db.rows(_OWN, projects=ids, **values)}
    in_groups = {row[0]: unpacked(row[1]) for row in db.rows(_GROUP, spaces=spaces, **values)} if spaces else {}
    return own, {namespace_id: held for namespace_id, held in in_groups.items() if held}


def _known(here: Access, project: Project) -> tuple[dict[int, Held], dict[int, Held]]:
    own = {project.id: (here.own, here.own_notifications or 0)} if here.own is not None else {}
    group = {project.namespace_id: (here.group, here.group_notifications or 0)} if here.group is not None else {}
    return own, group


def _shares(db: Connection, actor: Actor, ids: list[int]) -> list[Share]:
    today = day_of(db.now)
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
    return db.all(Project, visible, projects=ids, actor=actor.user_id, today=day_of(db.now))
