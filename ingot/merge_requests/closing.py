"""Which issues a merge request closes when it is merged: those that its text or its commits name so."""

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, delete, select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.issues.policy import Found as FoundIssue
from ingot.issues.policy import may_read_issues
from ingot.issues.queries import issue_or_none
from ingot.markup.references import closing_references, full_project_path, references
from ingot.merge_requests.tables import MergeRequest, merge_request_closings
from ingot.projects.queries import find_project, paths_of_projects
from ingot.users.accounts.queries import users_by_ids

MOST_NAMED = 50
"""So many issues of one text count; the rest is a list for readers."""
_OURS = (merge_request_closings.c.merge_request_id == bindparam("merge_request")) & (
    merge_request_closings.c.by_commits == bindparam("of_commits")
)
_KNOWN = select(merge_request_closings.c.issue_id).where(_OURS)
_DROP = delete(merge_request_closings).where(_OURS, merge_request_closings.c.issue_id == bindparam("issue"))
_CLOSED = (
    select(merge_request_closings.c.issue_id)
    .where(merge_request_closings.c.merge_request_id == bindparam("merge_request"))
    .distinct()
    .order_by(merge_request_closings.c.issue_id)
)


def closed_issue_ids(db: Connection, merge_request_id: int) -> list[int]:
    """The numbers of the rows of the issues that are named so, whoever may see them."""
    return [number for (number,) in db.rows(_CLOSED, merge_request=merge_request_id)]


def note_closings(db: Connection, writer_id: int, merge_request: MergeRequest) -> None:
    """Keep which issues the text of a merge request names, as far as who wrote it sees them."""
    text = f"{merge_request.title}\n\n{merge_request.description or ''}"
    _note(db, writer_id, merge_request, [text], by_commits=False)


def note_closings_of_commits(
    db: Connection, writer_id: int, merge_request: MergeRequest, messages: Sequence[str]
) -> None:
    """The same of the messages of its commits."""
    _note(db, writer_id, merge_request, messages, by_commits=True)


def named_issues(db: Connection, writer_id: int, merge_request: MergeRequest, text: str) -> list[FoundIssue]:
    """The issues that a text of a merge request names in whatever way, as far as who wrote it sees them."""
    own = paths_of_projects(db, [merge_request.target_project_id])[merge_request.target_project_id]
    wanted = ((full_project_path(one, own), one.number) for one in references(text) if one.kind == "issue")
    return _seen(db, writer_id, wanted)


def _note(
    db: Connection, writer_id: int, merge_request: MergeRequest, texts: Sequence[str], *, by_commits: bool
) -> None:
    named: dict[tuple[str, int | None], None] = {}
    telling = [text for text in texts if "#" in text or "://" in text]
    if telling:
        own = paths_of_projects(db, [merge_request.target_project_id])[merge_request.target_project_id]
        named = {
            (full_project_path(one, own), one.number): None for text in telling for one in closing_references(text)
        }
    after = {found.issue.id for found in _seen(db, writer_id, named)} if named else set()
    bound = {"merge_request": merge_request.id, "of_commits": by_commits}
    before = {number for (number,) in db.rows(_KNOWN, **bound)}
    for issue_id in sorted(before - after):
        db.run(_DROP, **bound, issue=issue_id)
    for issue_id in sorted(after - before):
        row = {"merge_request_id": merge_request.id, "issue_id": issue_id, "by_commits": by_commits}
        db.insert(merge_request_closings, **row)


def _seen(db: Connection, writer_id: int, named: Iterable[tuple[str, int | None]]) -> list[FoundIssue]:
    writer = users_by_ids(db, [writer_id]).get(writer_id)
    if writer is None:
        return []
    actor = Actor(writer.id, writer.username, writer.name, admin=writer.admin, external=writer.external)
    found = [_issue(db, actor, path, iid) for path, iid in list(dict.fromkeys(named))[:MOST_NAMED] if iid]
    return [one for one in found if one is not None]


def _issue(db: Connection, actor: Actor, path: str, iid: int) -> FoundIssue | None:
    """The issue that is named, if who named it may see it."""
    try:
        here, project = find_project(db, actor, path)
    except NotFound:
        return None
    return issue_or_none(db, actor, here, project, iid) if may_read_issues(actor, here, project) else None
