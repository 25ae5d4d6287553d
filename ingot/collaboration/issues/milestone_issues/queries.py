"""Queries of the issues of milestones, and their counts."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, case, func, select

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Date
from ingot.projects.projects.tables import Project, projects

_OF_MILESTONE = select(*ISSUE_COLUMNS).where(
    issues.c.milestone_id == bindparam("milestone"), issues.c.deleted_at.is_(None)
)
_NEWEST_FIRST = (issues.c.created_at.desc(), issues.c.id.desc())


class MilestoneIssueCounts(NamedTuple):
    """Number of issues of a milestone, and of the closed ones."""

    total: int = 0
    closed: int = 0

    @property
    def share(self) -> int:
        """Return the percentage of closed issues."""
        return round(100 * self.closed / self.total) if self.total else 0


@lru_cache(maxsize=256)
def _of_milestone(kind: str, hides: bool, external: bool) -> ListQuery:
    matching = _OF_MILESTONE
    hidden: ColumnElement[bool] | None = None
    if kind == "project":
        matching = matching.where(issues.c.project_id == bindparam("project"))
        hidden = policy.visible_below_reporter() if hides else None
    else:
        matching = matching.join(projects, projects.c.id == issues.c.project_id).where(
            projects.c.namespace_id.is_not(None), projects.c.issues_enabled.is_(True)
        )
        hidden = policy.visible_issues(external=external) if hides else None
    return list_query(matching if hidden is None else matching.where(hidden), issues.c.id, *_NEWEST_FIRST)


def list_project_issues(
    db: Connection, actor: Actor, access: Access, project: Project, milestone: Milestone, page: Page
) -> Listing[Issue]:
    """Return a page of a project's issues that have a milestone and that the caller may see."""
    if not policy.may_read_issues(actor, access, project):
        return Listing([], page, 0)
    hides = not (access.level >= Level.REPORTER or actor.admin)
    values = {"milestone": milestone.id, "project": project.id} | ({"actor": actor.user_id} if hides else {})
    return fetch_page(db, Issue, _of_milestone("project", hides, False), page, **values)


def list_group_issues(db: Connection, actor: Actor, milestone: Milestone, page: Page) -> Listing[Issue]:
    """Return a page of the issues of all projects that have a group's milestone and that the caller may see."""
    query = _of_milestone("group", not actor.admin, actor.external)
    values = {} if actor.admin else {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Issue, query, page, milestone=milestone.id, **values)


_BY_STATE = (issues.c.milestone_id, issues.c.state)
# An issue that was reopened counts as open from the beginning.
_BY_DAYS = (
    func.substr(issues.c.created_at, 1, 10),
    case((issues.c.state == "closed", func.substr(issues.c.closed_at, 1, 10))),
)


@lru_cache(maxsize=256)
def _counts(kind: str, hides: bool, external: bool, columns: tuple[ColumnElement[Any], ...] = _BY_STATE) -> Select[Any]:
    counted = select(*columns, func.count()).where(in_list(issues.c.milestone_id, "milestones"))
    counted = counted.where(issues.c.deleted_at.is_(None)).group_by(*columns)
    if kind == "project":
        counted = counted.where(issues.c.project_id == bindparam("project"))
        return counted.where(policy.visible_below_reporter()) if hides else counted
    counted = counted.join(projects, projects.c.id == issues.c.project_id)
    return counted.where(policy.visible_issues(external=external) if hides else projects.c.issues_enabled.is_(True))


def issue_counts_in_project(
    db: Connection, actor: Actor, access: Access, project: Project, milestones: Sequence[int]
) -> dict[int, MilestoneIssueCounts]:
    """Count the issues of a project by milestone, as far as the caller may see them."""
    if not policy.may_read_issues(actor, access, project) or not milestones:
        return {}
    hides = not (access.level >= Level.REPORTER or actor.admin)
    values = {"project": project.id} | ({"actor": actor.user_id} if hides else {})
    return _counts_by_milestone(db.rows(_counts("project", hides, False), milestones=list(milestones), **values))


def issue_counts_in_visible_projects(
    db: Connection, actor: Actor, milestones: Sequence[int]
) -> dict[int, MilestoneIssueCounts]:
    """Count the issues of all projects by milestone of a group, as far as the caller may see them."""
    if not milestones:
        return {}
    values = {} if actor.admin else {"actor": actor.user_id, "today": db.today}
    query = _counts("group", not actor.admin, actor.external)
    return _counts_by_milestone(db.rows(query, milestones=list(milestones), **values))


def issue_days(
    db: Connection, actor: Actor, place: ProjectScope | None, milestone_id: int
) -> list[tuple[Date, Date | None, int]]:
    """Count the issues of a milestone by the days on which they were created and closed, with one statement."""
    values: dict[str, Any] = {} if actor.admin else {"actor": actor.user_id}
    if place is None:
        statement = _counts("group", not actor.admin, actor.external, _BY_DAYS)
        values |= {} if actor.admin else {"today": db.today}
    elif not policy.may_read_issues(actor, place.access, place.project):
        return []
    else:
        hides = not (place.access.level >= Level.REPORTER or actor.admin)
        statement = _counts("project", hides, False, _BY_DAYS)
        values = {"project": place.project.id} | (values if hides else {})
    return [
        (created, closed, count) for created, closed, count in db.rows(statement, milestones=[milestone_id], **values)
    ]


def _counts_by_milestone(rows: Iterable[Sequence[Any]]) -> dict[int, MilestoneIssueCounts]:
    counts: dict[int, MilestoneIssueCounts] = {}
    for milestone, state, count in rows:
        before = counts.get(milestone, MilestoneIssueCounts())
        after = MilestoneIssueCounts(before.total + count, before.closed + (count if state == "closed" else 0))
        counts[milestone] = after
    return counts
