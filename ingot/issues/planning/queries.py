"""How issues are found by what was planned."""

from functools import cache

from sqlalchemy import ColumnElement, bindparam, func, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.connection import Connection
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.times import day_of
from ingot.issues import policy
from ingot.issues.queries import assignees_of
from ingot.issues.tables import ISSUE, STANDING, Issue, issues
from ingot.milestones.tables import Milestone
from ingot.projects.tables import Project, projects

_OF_MILESTONE = select(*ISSUE).where(issues.c.milestone_id == bindparam("milestone"), issues.c.deleted_at.is_(None))
_NEWEST_FIRST = (issues.c.created_at.desc(), issues.c.id.desc())
_OTHERS = (
    issues.c.project_id == bindparam("project"),
    issues.c.deleted_at.is_(None),
    issues.c.id != bindparam("moved"),
)
_NEXT = select(func.min(STANDING)).where(*_OTHERS, bindparam("place") < STANDING)
_PREVIOUS = select(func.max(STANDING)).where(*_OTHERS, bindparam("place") > STANDING)
_STANDING = select(STANDING).where(issues.c.id == bindparam("issue"))
_IN_PROJECT = select(*ISSUE).where(
    issues.c.id == bindparam("issue"), issues.c.project_id == bindparam("project"), issues.c.deleted_at.is_(None)
)


@cache
def _of_milestone(kind: str, hides: bool, external: bool) -> ListQuery:
    matching = _OF_MILESTONE
    hidden: ColumnElement[bool] | None = None
    if kind == "project":
        matching = matching.where(issues.c.project_id == bindparam("project"))
        hidden = policy.seen_though_confidential() if hides else None
    else:
        matching = matching.join(projects, projects.c.id == issues.c.project_id).where(
            projects.c.namespace_id.is_not(None), projects.c.issues_enabled.is_(True)
        )
        hidden = policy.visible_issues(external=external) if hides else None
    return list_query(matching if hidden is None else matching.where(hidden), issues.c.id, *_NEWEST_FIRST)


def list_project_issues(
    db: Connection, actor: Actor, here: Access, project: Project, milestone: Milestone, page: Page
) -> Listing[Issue]:
    """A page of a project's issues that have one of its milestones, as far as the caller may see them."""
    if not project.issues_enabled:
        return Listing([], page, 0)
    hides = not (here.level >= Level.REPORTER or actor.admin)
    values = {"milestone": milestone.id, "project": project.id} | ({"actor": actor.user_id} if hides else {})
    return fetch_page(db, Issue, _of_milestone("project", hides, False), page, **values)


def list_group_issues(db: Connection, actor: Actor, milestone: Milestone, page: Page) -> Listing[Issue]:
    """The same of all projects, for a milestone of a group."""
    query = _of_milestone("group", not actor.admin, actor.external)
    held = {} if actor.admin else {"actor": actor.user_id, "today": day_of(db.now)}
    return fetch_page(db, Issue, query, page, milestone=milestone.id, **held)


def neighbour_or_none(db: Connection, actor: Actor, moved: policy.Found, issue_id: int) -> Issue | None:
    """Another issue of the same project, if the caller may know of it."""
    found = db.first(Issue, _IN_PROJECT, issue=issue_id, project=moved.project.id)
    if found is None or found.id == moved.issue.id:
        return None
    assignees = assignees_of(db, [found.id]).get(found.id, ())
    return found if policy.may_see_issue(actor, moved.here, found, assignees) else None


def standing_of(db: Connection, issue: Issue) -> int:
    """Where an issue stands."""
    place: int = db.value(_STANDING, issue=issue.id)
    return place


def next_place(db: Connection, moved: Issue, place: int) -> int | None:
    """Where the first one stands that comes behind a place, leaving out the one that is moved."""
    found: int | None = db.value(_NEXT, project=moved.project_id, moved=moved.id, place=place)
    return found


def previous_place(db: Connection, moved: Issue, place: int) -> int | None:
    """Where the last one stands that comes before a place, leaving out the one that is moved."""
    found: int | None = db.value(_PREVIOUS, project=moved.project_id, moved=moved.id, place=place)
    return found
