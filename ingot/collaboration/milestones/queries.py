"""Queries of milestones."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from ingot.collaboration.milestones.params import ListGroupMilestones, ListMilestones
from ingot.collaboration.milestones.policy import has_milestones
from ingot.collaboration.milestones.tables import Milestone, milestones
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.groups.policy import visible_groups
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.feature_access import has_open_planning
from ingot.projects.projects.policy import visible_projects
from ingot.projects.projects.tables import Project, projects

# Each milestone with the path of its project or group, which its URL starts with.
_GROUPS = namespaces.alias("owning_groups")
_PROJECTS = projects.alias("owning_projects")
MILESTONES = select(milestones, func.coalesce(_PROJECTS.c.full_path, _GROUPS.c.full_path)).select_from(
    milestones.outerjoin(_PROJECTS, _PROJECTS.c.id == milestones.c.project_id).outerjoin(
        _GROUPS, _GROUPS.c.id == milestones.c.group_id
    )
)
_ANCESTOR_GROUPS = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
_DESCENDANT_GROUPS = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("source"))
_PROJECTS_BELOW = select(projects.c.id).where(projects.c.namespace_id.in_(_DESCENDANT_GROUPS.scalar_subquery()))
_IN_ANCESTOR_GROUPS = milestones.c.group_id.in_(_ANCESTOR_GROUPS.scalar_subquery())
USABLE_MILESTONES = MILESTONES.where(or_(milestones.c.project_id == bindparam("project"), _IN_ANCESTOR_GROUPS))
_USABLE_BY_ID = USABLE_MILESTONES.where(milestones.c.id == bindparam("milestone"))
_USABLE_BY_TITLE = USABLE_MILESTONES.where(milestones.c.title == bindparam("title")).order_by(
    milestones.c.project_id.is_(None)
)
_MILESTONE_BYTES = 3_000
_BY_IDS = MILESTONES.where(in_list(milestones.c.id, "ids"))
# Milestones usable in each of several projects; the project id follows the milestone columns.
_FOR = projects.alias("for_projects")
_TITLED_OR_NUMBERED = (
    select(milestones.c.id)
    .where(in_list(milestones.c.title, "titles"))
    .union(
        select(milestones.c.id).where(in_list(milestones.c.project_id, "projects"), in_list(milestones.c.iid, "iids"))
    )
)
_NAMED = (
    MILESTONES.add_columns(_FOR.c.id)
    .join(
        _FOR,
        or_(
            milestones.c.project_id == _FOR.c.id,
            milestones.c.group_id.in_(
                select(namespace_tree.c.ancestor_id)
                .where(namespace_tree.c.descendant_id == _FOR.c.namespace_id)
                .correlate(_FOR)
                .scalar_subquery()
            ),
        ),
    )
    .where(in_list(_FOR.c.id, "projects"), milestones.c.id.in_(_TITLED_OR_NUMBERED.scalar_subquery()))
    .order_by(milestones.c.project_id.is_not(None), milestones.c.id)
)
_OWN = {
    "project": milestones.c.project_id == bindparam("source"),
    "group": milestones.c.group_id == bindparam("source"),
}
_OWN_BY_ID = {kind: MILESTONES.where(own, milestones.c.id == bindparam("milestone")) for kind, own in _OWN.items()}
_OWN_BY_TITLE = {kind: MILESTONES.where(own, milestones.c.title == bindparam("title")) for kind, own in _OWN.items()}
_SAME_TITLE = {
    "project": or_(_OWN["project"], _IN_ANCESTOR_GROUPS),
    "group": or_(
        _IN_ANCESTOR_GROUPS,
        milestones.c.group_id.in_(_DESCENDANT_GROUPS.scalar_subquery()),
        milestones.c.project_id.in_(_PROJECTS_BELOW.scalar_subquery()),
    ),
}
_TAKEN = {
    kind: select(milestones.c.id).where(milestones.c.title == bindparam("title"), scope)
    for kind, scope in _SAME_TITLE.items()
}
_SAME_TITLE_IN_DESCENDANTS = select(milestones.c.id).where(
    milestones.c.title == bindparam("title"), milestones.c.project_id.in_(_PROJECTS_BELOW.scalar_subquery())
)


def usable_milestone(db: Connection, project: Project, milestone_id: int) -> Milestone | None:
    """Return a milestone by id that a project can use (its own or an ancestor group's), or None."""
    owner = {"project": project.id, "namespace": project.namespace_id}
    return db.first(Milestone, _USABLE_BY_ID, milestone=milestone_id, **owner)


def usable_milestone_in_group(db: Connection, group_id: int, milestone_id: int) -> Milestone | None:
    """Return a milestone by id of a group or of its ancestors, or None."""
    return db.first(Milestone, _USABLE_BY_ID, milestone=milestone_id, project=0, namespace=group_id)


def usable_milestone_by_title(db: Connection, project: Project, title: str) -> Milestone | None:
    """Return a milestone that a project can use by title, or None; the project's own wins."""
    return db.first(Milestone, _USABLE_BY_TITLE, title=title, project=project.id, namespace=project.namespace_id)


def usable_milestones_in_projects(
    db: Connection, project_ids: Sequence[int], titles: Sequence[str], iids: Sequence[int]
) -> list[tuple[int, Milestone]]:
    """List the milestones usable in any of these projects by title, and their own by iid.

    Each is paired with the project id. Of two with the same title, the project's own comes last.
    """
    rows = db.rows(_NAMED, projects=list(project_ids), titles=list(titles), iids=list(iids))
    return [(project_id, Milestone(*columns)) for *columns, project_id in rows]


def milestones_by_ids(db: Connection, ids: Sequence[int]) -> dict[int, Milestone]:
    """Map ids to milestones without a permission check, with one statement for all; a single one is cached."""

    def read() -> dict[int, Milestone]:
        return {milestone.id: milestone for milestone in db.all(Milestone, _BY_IDS, ids=list(ids))}

    if len(ids) != 1:
        return read()
    return db.cached(("milestone", ids[0]), read, lambda _: _MILESTONE_BYTES) or {}


def milestone_or_none(db: Connection, source: MemberSource, milestone_id: int) -> Milestone | None:
    """Return a milestone of exactly this project or group, or None."""
    return db.first(Milestone, _OWN_BY_ID[source.kind], source=source.id, milestone=milestone_id)


def find_milestone(db: Connection, source: MemberSource, milestone_id: int) -> Milestone:
    """Return a milestone of exactly this project or group; raise NotFound if there is none."""
    milestone = milestone_or_none(db, source, milestone_id)
    if milestone is None:
        raise NotFound("Milestone")
    return milestone


def own_milestone_by_title(db: Connection, source: MemberSource, title: str) -> Milestone | None:
    """Return the milestone with this title of exactly this project or group, or None."""
    return db.first(Milestone, _OWN_BY_TITLE[source.kind], source=source.id, title=title)


def is_title_taken(db: Connection, source: MemberSource, title: str, by_other_than: int | None = None) -> bool:
    """Return whether a title is already used in the project or group, its ancestors or its descendants."""
    rows = db.rows(_TAKEN[source.kind], source=source.id, namespace=source.namespace_id, title=title)
    return any(row[0] != by_other_than for row in rows)


def same_title_in_descendants(db: Connection, group_id: int, title: str) -> list[int]:
    """List the ids of the milestones with this title in all projects below a group."""
    return [row[0] for row in db.rows(_SAME_TITLE_IN_DESCENDANTS, source=group_id, title=title)]


_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "iids": in_list(milestones.c.iid, "iids"),
    "state": milestones.c.state == bindparam("wanted_state"),
    "title": milestones.c.title == bindparam("wanted_title"),
    "search": or_(
        contains(milestones.c.title_key, "pattern"),
        contains(milestones.c.description_key, "pattern"),
    ),
    "updated_after": milestones.c.updated_at >= bindparam("updated_after"),
    "updated_before": milestones.c.updated_at <= bindparam("updated_before"),
    # Without a start or a due date the range is open on that side; without both, it contains no day.
    "containing_date": and_(
        or_(milestones.c.start_date.is_not(None), milestones.c.due_date.is_not(None)),
        or_(milestones.c.start_date.is_(None), milestones.c.start_date <= bindparam("day")),
        or_(milestones.c.due_date.is_(None), milestones.c.due_date >= bindparam("day")),
    ),
}


@lru_cache(maxsize=256)
def _list_query(
    kind: str, ancestors: bool, descendants: bool, external: bool | None, filters: frozenset[str]
) -> ListQuery:
    owners = [_OWN[kind]]
    if ancestors:
        owners.append(_IN_ANCESTOR_GROUPS)
    if descendants:
        owners += _below(external)
    matching: Select[Any] = MILESTONES.where(or_(*owners), *(_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, milestones.c.id, milestones.c.id.desc())


def _below(external: bool | None) -> list[ColumnElement[bool]]:
    """Return the conditions for milestones of visible descendant groups and projects; administrators see all."""
    below = _DESCENDANT_GROUPS.scalar_subquery()
    return _visible(external, namespaces.c.id.in_(below), projects.c.namespace_id.in_(below))


def _visible(
    external: bool | None, group_condition: ColumnElement[bool], project_condition: ColumnElement[bool]
) -> list[ColumnElement[bool]]:
    visible_group_ids = select(namespaces.c.id).where(group_condition)
    visible_project_ids = select(projects.c.id).where(project_condition, has_milestones())
    if external is not None:
        visible_group_ids = visible_group_ids.where(visible_groups(external))
        visible_project_ids = visible_project_ids.where(visible_projects(external=external, opened=has_open_planning()))
    return [
        milestones.c.group_id.in_(visible_group_ids.scalar_subquery()),
        milestones.c.project_id.in_(visible_project_ids.scalar_subquery()),
    ]


@lru_cache(maxsize=64)
def _visible_list_query(external: bool | None, filters: frozenset[str], sort: str) -> ListQuery:
    owners = _visible(external, namespaces.c.kind == "group", projects.c.namespace_id.is_not(None))
    matching: Select[Any] = MILESTONES.where(or_(*owners), *(_CONDITIONS[name] for name in sorted(filters)))
    order = milestones.c.id.asc() if sort == "asc" else milestones.c.id.desc()
    return list_query(matching, milestones.c.id, order)


def list_visible_milestones(
    db: Connection, actor: Actor, params: ListMilestones, page: Page, sort: str = "desc"
) -> Listing[Milestone]:
    """Return a page of the milestones of all projects and groups that the caller can see."""
    values: dict[str, Any] = {}
    filters = _requested_filters(params, values)
    external = None if actor.admin else actor.external
    if external is not None:
        values |= {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Milestone, _visible_list_query(external, filters, sort), page, **values)


def list_milestones(
    db: Connection, actor: Actor, source: MemberSource, params: ListMilestones, page: Page
) -> Listing[Milestone]:
    """Return a page of the milestones of a project or group, newest first."""
    values: dict[str, Any] = {"source": source.id}
    filters = _requested_filters(params, values)
    ancestors = params.include_ancestors or params.include_parent_milestones
    if ancestors:
        values["namespace"] = source.namespace_id
    descendants = isinstance(params, ListGroupMilestones) and params.include_descendants
    external = actor.external if descendants and not actor.admin else None
    if external is not None:
        values |= {"actor": actor.user_id, "today": db.today}
    query = _list_query(source.kind, ancestors, descendants, external, filters)
    return fetch_page(db, Milestone, query, page, **values)


def _requested_filters(params: ListMilestones, values: dict[str, Any]) -> frozenset[str]:
    """Return the names of the requested conditions and add their bound values to ``values``."""
    bound: dict[str, dict[str, Any]] = {}
    if params.iids is not None:
        bound["iids"] = {"iids": params.iids}
    if params.state not in (None, "all"):
        bound["state"] = {"wanted_state": params.state}
    if params.title:
        bound["title"] = {"wanted_title": params.title}
    if params.search:
        bound["search"] = {"pattern": like_pattern(params.search)}
    if params.updated_after is not None:
        bound["updated_after"] = {"updated_after": params.updated_after}
    if params.updated_before is not None:
        bound["updated_before"] = {"updated_before": params.updated_before}
    if params.containing_date is not None:
        bound["containing_date"] = {"day": params.containing_date}
    for more in bound.values():
        values |= more
    return frozenset(bound)
