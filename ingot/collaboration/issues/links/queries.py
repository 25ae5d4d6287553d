"""Queries of links between issues."""

from typing import NamedTuple

from sqlalchemy import and_, bindparam, case, func, or_, select

from ingot.collaboration.issues.links.tables import IssueLink, LinkType, issue_links
from ingot.collaboration.issues.lists.statements import CONDITIONS
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.tables import projects

MAX_LINKS = 1000
_SOURCE, _TARGET = issue_links.c.source_id, issue_links.c.target_id
_OTHER = case((bindparam("issue") == _SOURCE, _TARGET), else_=_SOURCE)
_LINKED = (
    select(*issue_links.c, *ISSUE_COLUMNS)
    .join(issues, issues.c.id == _OTHER)
    .join(projects, projects.c.id == issues.c.project_id)
    .where(or_(bindparam("issue") == _SOURCE, bindparam("issue") == _TARGET), issues.c.deleted_at.is_(None))
    .order_by(issue_links.c.id)
)
# Linked issues, restricted to those that the caller may see.
_VISIBLE = {name: _LINKED.where(CONDITIONS[name]) for name in ("with_feature", "visible", "visible_to_external")}
_WITH_PATH = {name: seen.add_columns(projects.c.full_path) for name, seen in _VISIBLE.items()}
_BETWEEN = select(issue_links).where(
    or_(
        and_(bindparam("one") == _SOURCE, bindparam("other") == _TARGET),
        and_(bindparam("other") == _SOURCE, bindparam("one") == _TARGET),
    )
)
_COUNT = select(func.count()).where(or_(bindparam("issue") == _SOURCE, bindparam("issue") == _TARGET))


class LinkedIssue(NamedTuple):
    """A link and the issue at its other end."""

    link: IssueLink
    issue: Issue
    project_path: str

    @property
    def link_type(self) -> LinkType:
        """The relation to the issue at the other end."""
        blocked = self.link.link_type == "blocks" and self.link.source_id == self.issue.id
        return "is_blocked_by" if blocked else self.link.link_type


def list_links(db: Connection, actor: Actor, issue_id: int, page: Page) -> Listing[LinkedIssue]:
    """Return a page of the issues linked to an issue that the caller may see, the oldest link first."""
    linked = _linked(db, actor, issue_id)
    offset = (page.number - 1) * page.size
    return Listing(linked[offset : offset + page.size], page, len(linked))


def link_or_none(db: Connection, actor: Actor, issue_id: int, link_id: int) -> LinkedIssue | None:
    """Return a link of an issue, or None if the caller may not see both ends."""
    return next((linked for linked in _linked(db, actor, issue_id) if linked.link.id == link_id), None)


def link_between(db: Connection, one_id: int, other_id: int) -> IssueLink | None:
    """Return the link between two issues in either direction, or None."""
    return db.first(IssueLink, _BETWEEN, one=one_id, other=other_id)


def count_links(db: Connection, issue_id: int) -> int:
    """Count the links of an issue, including those to hidden issues."""
    count: int = db.value(_COUNT, issue=issue_id)
    return count


def _linked(db: Connection, actor: Actor, issue_id: int) -> list[LinkedIssue]:
    """Return all visible links of an issue; ``MAX_LINKS`` bounds their number."""
    if actor.admin:
        rows = db.rows(_WITH_PATH["with_feature"], issue=issue_id)
    else:
        name = "visible_to_external" if actor.external else "visible"
        rows = db.rows(_WITH_PATH[name], issue=issue_id, actor=actor.user_id, today=db.today)
    columns = len(issue_links.c)
    return [LinkedIssue(IssueLink(*row[:columns]), Issue(*row[columns:-1]), row[-1]) for row in rows]
