"""Totals of lists of issues from the stored counts, for the filters that these cover."""

from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, not_, or_, select

from ingot.collaboration.issues.lists.statements import ACROSS_PROJECTS, CONDITIONS
from ingot.collaboration.issues.tables import issue_assignees, issue_counts, issues
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.projects.projects.feature_access import is_open_to_all
from ingot.projects.projects.policy import belongs_to_scanned_project, visible_projects
from ingot.projects.projects.tables import projects

_OPEN = issue_counts.c.confidential.is_(False)


def _in_seen_projects(external: bool) -> ColumnElement[bool]:
    return and_(
        visible_projects(external=external, opened=is_open_to_all("issues")), projects.c.issues_enabled.is_(True)
    )


def _not_as_reporter(external: bool) -> ColumnElement[bool]:
    return and_(_in_seen_projects(external), not_(belongs_to_scanned_project(Level.REPORTER)))


def _counted(external: bool) -> ColumnElement[bool]:
    return and_(_in_seen_projects(external), or_(_OPEN, belongs_to_scanned_project(Level.REPORTER)))


_ASSIGNED = select(issue_assignees.c.issue_id).where(issue_assignees.c.user_id == bindparam("actor"))
# Conditions of a list in terms of the counts; for callers below reporter these exclude confidential issues.
_OF_COUNTS: dict[str, ColumnElement[bool]] = {
    "in_project": issue_counts.c.project_id == bindparam("project"),
    "in_group": CONDITIONS["in_group"],
    "with_feature": CONDITIONS["with_feature"],
    "state": issue_counts.c.state == bindparam("state"),
    "confidential": issue_counts.c.confidential.is_(True),
    "not_confidential": _OPEN,
    "not_hidden": _OPEN,
    "visible": _counted(external=False),
    "visible_to_external": _counted(external=True),
}
# Conditions for confidential issues that the caller sees only as their author or assignee.
_OF_OWN: dict[str, ColumnElement[bool]] = {
    "in_project": CONDITIONS["in_project"],
    "in_group": CONDITIONS["in_group"],
    "state": CONDITIONS["state"],
    "visible": _not_as_reporter(external=False),
    "visible_to_external": _not_as_reporter(external=True),
}
_HIDING = {"not_hidden", "visible", "visible_to_external"}


@lru_cache(maxsize=128)
def _statements(filters: frozenset[str]) -> tuple[Select[Any], ...]:
    """Return the statements whose results add up to the total; none if the counts do not cover the filters."""
    if not filters <= _OF_COUNTS.keys():
        return ()
    counted = select(func.coalesce(func.sum(issue_counts.c.count), 0))
    if filters & ACROSS_PROJECTS:
        counted = counted.join_from(issue_counts, projects, projects.c.id == issue_counts.c.project_id)
    counted = counted.where(*(_OF_COUNTS[name] for name in sorted(filters)))
    if not filters & _HIDING or "not_confidential" in filters:
        return (counted,)
    own = select(func.count()).select_from(issues)
    if filters & ACROSS_PROJECTS:
        own = select(func.count()).join_from(issues, projects, projects.c.id == issues.c.project_id)
    conditions = [_OF_OWN[name] for name in sorted(filters & _OF_OWN.keys())]
    own = own.where(issues.c.deleted_at.is_(None), issues.c.confidential.is_(True), *conditions)
    is_author = issues.c.author_id == bindparam("actor")
    return counted, own.where(is_author), own.where(not_(is_author), issues.c.id.in_(_ASSIGNED.scalar_subquery()))


def stored_total(db: Connection, filters: frozenset[str], values: dict[str, Any]) -> int | None:
    """Return the number of issues that match the filters, or None if the stored counts do not cover them."""
    statements = _statements(filters)
    return sum(int(db.value(statement, **values)) for statement in statements) if statements else None
