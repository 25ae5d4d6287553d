"""How many issues a list has, told by the counts that are kept, where they tell it."""

from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, not_, or_, select

from ingot.collaboration.issues.filters import ACROSS_PROJECTS, CONDITIONS
from ingot.collaboration.issues.tables import issue_assignees, issue_counts, issues
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.projects.projects.policy import belongs_to_scanned_project, visible_projects
from ingot.projects.projects.tables import projects

_NOT_CONFIDENTIAL = issue_counts.c.confidential.is_(False)


def _in_visible_projects(external: bool) -> ColumnElement[bool]:
    return and_(visible_projects(external=external), projects.c.issues_enabled.is_(True))


def _visible_below_reporter(external: bool) -> ColumnElement[bool]:
    return and_(_in_visible_projects(external), not_(belongs_to_scanned_project(Level.REPORTER)))


def _countable(external: bool) -> ColumnElement[bool]:
    return and_(_in_visible_projects(external), or_(_NOT_CONFIDENTIAL, belongs_to_scanned_project(Level.REPORTER)))


_ASSIGNED = select(issue_assignees.c.issue_id).where(issue_assignees.c.user_id == bindparam("actor"))
# What the conditions of a list mean for the counts; whoever does not see all confidential ones is counted none here.
_COUNT_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "in_project": issue_counts.c.project_id == bindparam("project"),
    "in_group": CONDITIONS["in_group"],
    "with_feature": CONDITIONS["with_feature"],
    "state": issue_counts.c.state == bindparam("state"),
    "confidential": issue_counts.c.confidential.is_(True),
    "not_confidential": _NOT_CONFIDENTIAL,
    "not_hidden": _NOT_CONFIDENTIAL,
    "visible": _countable(external=False),
    "visible_to_external": _countable(external=True),
}
# And what they mean for the confidential ones that somebody sees only because these are theirs.
_OWN_ISSUE_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "in_project": CONDITIONS["in_project"],
    "in_group": CONDITIONS["in_group"],
    "state": CONDITIONS["state"],
    "visible": _visible_below_reporter(external=False),
    "visible_to_external": _visible_below_reporter(external=True),
}
_VISIBILITY_FILTERS = {"not_hidden", "visible", "visible_to_external"}


@lru_cache(maxsize=128)
def _statements(filters: frozenset[str]) -> tuple[Select[Any], ...]:
    """Those whose results make up the total together; none where it is not kept."""
    if not filters <= _COUNT_CONDITIONS.keys():
        return ()
    kept = select(func.coalesce(func.sum(issue_counts.c.count), 0))
    if filters & ACROSS_PROJECTS:
        kept = kept.join_from(issue_counts, projects, projects.c.id == issue_counts.c.project_id)
    kept = kept.where(*(_COUNT_CONDITIONS[name] for name in sorted(filters)))
    if not filters & _VISIBILITY_FILTERS or "not_confidential" in filters:
        return (kept,)
    own = select(func.count()).select_from(issues)
    if filters & ACROSS_PROJECTS:
        own = select(func.count()).join_from(issues, projects, projects.c.id == issues.c.project_id)
    conditions = [_OWN_ISSUE_CONDITIONS[name] for name in sorted(filters & _OWN_ISSUE_CONDITIONS.keys())]
    own = own.where(issues.c.deleted_at.is_(None), issues.c.confidential.is_(True), *conditions)
    written = issues.c.author_id == bindparam("actor")
    return kept, own.where(written), own.where(not_(written), issues.c.id.in_(_ASSIGNED.scalar_subquery()))


def stored_total(db: Connection, filters: frozenset[str], values: dict[str, Any]) -> int | None:
    """How many issues meet these conditions; nothing where only looking at them tells."""
    statements = _statements(filters)
    return sum(int(db.value(statement, **values)) for statement in statements) if statements else None
