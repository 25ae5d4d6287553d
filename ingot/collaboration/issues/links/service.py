"""Creation and deletion of links between issues."""

from sqlalchemy import bindparam, delete, or_

from ingot.collaboration.issues.links.queries import MAX_LINKS, count_links, link_between
from ingot.collaboration.issues.links.tables import IssueLink, LinkType, issue_links
from ingot.collaboration.issues.service import lock_issue_row
from ingot.collaboration.issues.tables import Issue
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid

_DELETE = delete(issue_links).where(
    or_(issue_links.c.source_id == bindparam("issue"), issue_links.c.target_id == bindparam("issue"))
)


def link_issues(db: Connection, source: Issue, target: Issue, link_type: LinkType) -> IssueLink:
    """Link two issues; raise ``Invalid`` or ``Conflict``. The source of a stored link blocks its target."""
    if source.id == target.id:
        raise Invalid("An issue cannot be linked to itself")
    # A fixed order prevents deadlocks, and duplicates when both ends are linked at once.
    for issue in sorted((source, target), key=lambda issue: issue.id):
        lock_issue_row(db, issue)
        if count_links(db, issue.id) >= MAX_LINKS:
            raise Invalid(f"An issue has at most {MAX_LINKS} links")
    if link_between(db, source.id, target.id) is not None:
        raise Conflict("Issue(s) already assigned")
    if link_type == "is_blocked_by":
        source, target, link_type = target, source, "blocks"
    row = {
        "source_id": source.id,
        "target_id": target.id,
        "link_type": link_type,
        "created_at": db.now,
        "updated_at": db.now,
    }
    return IssueLink(db.insert(issue_links, **row), *row.values())  # type: ignore[arg-type] # In the order of the columns.


def unlink_issues(db: Connection, link: IssueLink) -> None:
    """Delete a link."""
    db.delete(issue_links, link.id)


def delete_links(db: Connection, issue_id: int) -> None:
    """Delete all links of an issue."""
    db.run(_DELETE, issue=issue_id)
