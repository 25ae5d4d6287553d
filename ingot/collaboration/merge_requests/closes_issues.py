"""Issues that a merge request closes when it is merged, according to its text or its commits."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.issues.text_references import referenced_issues
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_request_closings
from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference, can_mention_issues, closing_references
from ingot.projects.projects.queries import paths_of_projects

_OURS = (merge_request_closings.c.merge_request_id == bindparam("merge_request")) & (
    merge_request_closings.c.by_commits == bindparam("of_commits")
)
_STORED = select(merge_request_closings.c.issue_id).where(_OURS)
_DELETE = delete(merge_request_closings).where(_OURS, merge_request_closings.c.issue_id == bindparam("issue"))

_DELETE_OF_ISSUE = delete(merge_request_closings).where(merge_request_closings.c.issue_id == bindparam("issue"))


def delete_closings_of_issue(db: Connection, issue_id: int) -> None:
    """Remove a deleted issue from the merge requests that would close it."""
    db.run(_DELETE_OF_ISSUE, issue=issue_id)


def record_closing_issues(db: Connection, writer_id: int, merge_request: MergeRequest, base_url: str) -> None:
    """Store the issues that the text of a merge request closes, as far as its author may see them."""
    _record(db, writer_id, merge_request, [text_of(merge_request)], base_url, by_commits=False)


def text_of(merge_request: MergeRequest) -> str:
    """Return the title and the description."""
    return f"{merge_request.title}\n\n{merge_request.description or ''}"


def record_closing_issues_of_commits(
    db: Connection, writer_id: int, merge_request: MergeRequest, messages: Sequence[str], base_url: str
) -> None:
    """Store the issues that the commit messages of a merge request close, as far as the pusher may see them."""
    _record(db, writer_id, merge_request, messages, base_url, by_commits=True)


def _record(
    db: Connection,
    writer_id: int,
    merge_request: MergeRequest,
    texts: Sequence[str],
    base_url: str,
    *,
    by_commits: bool,
) -> None:
    references = [
        reference for text in texts if can_mention_issues(text) for reference in closing_references(text, base_url)
    ]
    after = _issue_ids(db, writer_id, merge_request, references) if references else set()
    bound = {"merge_request": merge_request.id, "of_commits": by_commits}
    before = {issue_id for (issue_id,) in db.rows(_STORED, **bound)}
    for issue_id in sorted(before - after):
        db.run(_DELETE, **bound, issue=issue_id)
    for issue_id in sorted(after - before):
        row = {"merge_request_id": merge_request.id, "issue_id": issue_id, "by_commits": by_commits}
        db.insert_row(merge_request_closings, **row)


def _issue_ids(
    db: Connection, writer_id: int, merge_request: MergeRequest, references: Sequence[Reference]
) -> set[int]:
    writer = active_actor(db, writer_id)
    if writer is None:
        return set()
    own_path = paths_of_projects(db, [merge_request.target_project_id])[merge_request.target_project_id]
    return {lookup.issue.id for lookup in referenced_issues(db, writer, own_path, references)}
