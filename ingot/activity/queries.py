"""Queries of activity events, restricted to those whose subject the caller may see."""

from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
)

from ingot.activity.params import ListActivityEvents
from ingot.activity.tables import MILESTONE, SNIPPET, ActivityEvent, events
from ingot.collaboration.milestones.policy import has_milestones
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.participants.subject_kinds import Audience, SubjectKind, audience_of
from ingot.collaboration.snippets.policy import visible_in_project
from ingot.collaboration.snippets.tables import snippets
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Date
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.feature_access import has_open_planning, is_open_to_all
from ingot.projects.projects.policy import (
    belongs_to_project,
    belongs_to_scanned_project,
    has_code,
    has_open_code,
    visible_projects,
)
from ingot.projects.projects.tables import projects

MAX_COUNTED = 10_000
"""Longer lists have no total, since counting would take longer than reading the page."""
COMMIT = "commit"
CONTRIBUTIONS = ("pushed", "created", "closed", "reopened", "merged", "commented", "approved")
"""Actions of events that count as contributions, unlike joining or leaving a project."""
EventOwner = Literal["author", "group"]
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "project": events.c.project_id == bindparam("project"),
    # By project ids, since PostgreSQL would scan all events to find those of a small group.
    "group": in_list(events.c.project_id, "group"),
    "author": events.c.author_id == bindparam("author"),
    "belonging": belongs_to_project(),
    "action": events.c.action == bindparam("action"),
    "target_type": events.c.target_kind == bindparam("target_type"),
    "before": events.c.created_at < bindparam("before"),
    "after": events.c.created_at > bindparam("after"),
}

_IN_GROUP = (
    select(projects.c.id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .where(namespace_tree.c.ancestor_id == bindparam("group"))
)


def _project_is_visible(audience: Audience) -> ColumnElement[bool]:
    if audience == "administrator":
        return true()
    if audience == "nobody":
        return projects.c.visibility == "public"
    return visible_projects(external=audience == "external")


def _code_is_visible(audience: Audience) -> ColumnElement[bool]:
    if audience == "administrator":
        return has_code()
    if audience == "nobody":
        return (projects.c.visibility == "public") & has_open_code()
    open_to = ("public",) if audience == "external" else ("public", "internal")
    is_open = one_of(projects.c.visibility, *open_to) & has_open_code()
    return or_(is_open, belongs_to_scanned_project(Level.REPORTER)) & has_code()


def _open_or_member(audience: Audience, opened: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition for a feature that is open to all, or for members only."""
    if audience == "administrator":
        return true()
    return opened if audience == "nobody" else or_(opened, belongs_to_scanned_project())


def _snippet_is_visible(audience: Audience) -> ColumnElement[bool]:
    """Return the condition for a snippet's visibility to viewers who can see its project."""
    if audience == "administrator":
        rule: ColumnElement[bool] = true()
    elif audience == "nobody":
        rule = snippets.c.visibility == "public"
    else:
        among_members = and_(snippets.c.visibility != "private", belongs_to_scanned_project())
        rule = or_(visible_in_project(external=audience == "external"), among_members)
    members_only = _open_or_member(audience, is_open_to_all("snippets"))
    snippet_exists = exists().where(snippets.c.id == events.c.subject_id, rule).correlate(events, projects)
    return and_(projects.c.snippets_enabled.is_(True), members_only, snippet_exists)


def _visible_events(kinds: tuple[SubjectKind, ...], audience: Audience) -> ColumnElement[bool]:
    """Return the condition for visible events: those of the project itself like the project, others like their subject.

    Events about milestones are visible where milestones are. Events about an unregistered kind are hidden.
    """
    about_code = or_(
        events.c.subject_kind == COMMIT, and_(events.c.subject_kind.is_(None), events.c.action == "pushed")
    )
    milestones = and_(has_milestones(), _open_or_member(audience, has_open_planning()))
    target = func.coalesce(events.c.target_kind, "")
    conditions = [
        and_(events.c.subject_kind.is_(None), events.c.action != "pushed", or_(target != MILESTONE, milestones)),
        and_(about_code, _code_is_visible(audience)),
        and_(events.c.subject_kind == SNIPPET, _snippet_is_visible(audience)),
        *(
            and_(events.c.subject_kind == kind.kind, kind.visible(events.c.subject_id, audience))
            for kind in kinds
            if kind.kind != COMMIT
        ),
    ]
    return and_(_project_is_visible(audience), or_(false(), *conditions))


@lru_cache(maxsize=256)
def _event_list_query(
    kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str], sort: str
) -> ListQuery:
    matching: Select[Any] = (
        select(events)
        .join(projects, projects.c.id == events.c.project_id)
        .where(projects.c.namespace_id.is_not(None), *(_CONDITIONS[name] for name in sorted(filters)))
        .where(_visible_events(kinds, audience))
    )
    bounded = matching.with_only_columns(events.c.id).limit(literal_column(str(MAX_COUNTED + 1)))
    order = events.c.id.asc() if sort == "asc" else events.c.id.desc()
    total = select(func.count()).select_from(bounded.subquery())
    return list_query(matching, events.c.id, order)._replace(total=total)


def list_events(
    db: Connection, actor: Actor, params: ListActivityEvents, page: Page, *also: str, **values: Any
) -> Listing[ActivityEvent]:
    """List a page of events that the caller may see; ``also`` contains filter names whose values are in ``values``."""
    filters = set(also)
    if "group" in filters:
        values["group"] = _project_ids_in_group(db, values["group"])
    values |= {"actor": actor.user_id, "today": db.today}
    for name in ("action", "target_type"):
        if getattr(params, name) is not None:
            filters.add(name)
            values[name] = getattr(params, name)
    if params.before is not None:
        filters.add("before")
        values["before"] = params.before
    if params.after is not None:
        filters.add("after")
        # Sorts after any time of that day and before any later day.
        values["after"] = f"{params.after}U"
    return _fetch_events(
        db, _event_list_query(list_subject_kinds(db), audience_of(actor), frozenset(filters), params.sort), page, values
    )


def _project_ids_in_group(db: Connection, group: int) -> list[int]:
    """Return all projects of a group and its subgroups; the query for events checks their visibility."""
    return [row[0] for row in db.rows(_IN_GROUP, group=group)]


@lru_cache(maxsize=16)
def _count_by_day_query(kinds: tuple[SubjectKind, ...], audience: Audience, owner: EventOwner) -> Select[Any]:
    newest = (
        select(func.substr(events.c.created_at, 1, 10).label("day"))
        .join(projects, projects.c.id == events.c.project_id)
        .where(projects.c.namespace_id.is_not(None), _CONDITIONS[owner], _CONDITIONS["after"])
        .where(_visible_events(kinds, audience))
        .order_by(events.c.id.desc())
        .limit(literal_column(str(MAX_COUNTED)))
        .subquery()
    )
    return select(newest.c.day, func.count()).group_by(newest.c.day)


def count_events_by_day(db: Connection, actor: Actor, owner: EventOwner, owner_id: int, after: Date) -> dict[str, int]:
    """Count the events visible to the caller per day, of a user or in a group.

    Counts only the newest ``MAX_COUNTED`` events. Counting is slow, so the result is cached until the data changes.
    """
    audience, today = audience_of(actor), db.today
    statement = _count_by_day_query(list_subject_kinds(db), audience, owner)

    def count() -> dict[str, int]:
        owner_value: Any = owner_id if owner == "author" else _project_ids_in_group(db, owner_id)
        return dict(db.rows(statement, **{owner: owner_value}, after=f"{after}U", actor=actor.user_id, today=today))

    key = ("days", owner, owner_id, after, audience, actor.user_id, today)
    return db.cached(key, count, lambda days: 100 * len(days)) or {}


@lru_cache(maxsize=16)
def _contributed_projects_query(kinds: tuple[SubjectKind, ...], audience: Audience) -> Select[Any]:
    return (
        select(events.c.project_id)
        .join(projects, projects.c.id == events.c.project_id)
        .where(projects.c.namespace_id.is_not(None), _CONDITIONS["author"], _CONDITIONS["after"])
        .where(one_of(events.c.action, *CONTRIBUTIONS), _visible_events(kinds, audience))
        .distinct()
    )


def contributed_project_ids(db: Connection, actor: Actor, user_id: int, after: Date) -> list[int]:
    """Return the ids of the projects to which a user contributed since a day, as far as the caller may see it."""
    statement = _contributed_projects_query(list_subject_kinds(db), audience_of(actor))
    values = {"author": user_id, "after": f"{after}U", "actor": actor.user_id, "today": db.today}
    return [project_id for (project_id,) in db.rows(statement, **values)]


def _fetch_events(db: Connection, query: ListQuery, page: Page, values: dict[str, Any]) -> Listing[ActivityEvent]:
    if page.keyset:
        return fetch_page(db, ActivityEvent, query, page, **values)
    total: int = db.value(query.total, **values)
    offset = (page.number - 1) * page.size
    if offset >= total <= MAX_COUNTED:
        return Listing([], page, total)
    rows = db.all(ActivityEvent, query.by_number, page_size=page.size + 1, page_offset=offset, **values)
    if total > MAX_COUNTED:
        return Listing(rows[: page.size], page, more=len(rows) > page.size)
    return Listing(rows[: page.size], page, total)
