"""Issues that take over discussions of a merge request."""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.discussions.policy import merge_request_subject_access
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.policy import may_read_merge_requests
from ingot.collaboration.merge_requests.queries import merge_request_or_none
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.tables import Note, notes
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.projects.projects.queries import find_project

_MAX_QUOTE_LENGTH = 10_000
_OPEN = (
    select(notes)
    .where(
        notes.c.subject_kind == KIND,
        notes.c.subject_id == bindparam("merge_request"),
        notes.c.type.is_not(None),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
        notes.c.resolved_at.is_(None),
    )
    .order_by(notes.c.id)
)


class OpenDiscussions(NamedTuple):
    """Unresolved discussions of a merge request, by the first unresolved note of each."""

    merge_request: MergeRequest
    discussions: list[Note]
    resolvable: bool
    """Whether the caller may resolve them."""


def open_discussions_or_none(
    db: Connection, actor: Actor, project_id: int, iid: int, discussion_id: str | None
) -> OpenDiscussions | None:
    """Return the unresolved discussions, all or the named one, or None if the merge request is not visible."""
    try:
        access, project = find_project(db, actor, project_id)
    except NotFound:
        return None
    lookup = (
        merge_request_or_none(db, access, project, iid) if may_read_merge_requests(actor, access, project) else None
    )
    if lookup is None:
        return None
    subject_access = merge_request_subject_access(actor, access, lookup, subject_of(lookup.merge_request))
    first_notes: dict[str, Note] = {}
    for note in db.all(Note, _OPEN, merge_request=lookup.merge_request.id):
        if discussion_id in (None, note.discussion_id):
            first_notes.setdefault(note.discussion_id, note)
    return OpenDiscussions(lookup.merge_request, list(first_notes.values()), subject_access.may_resolve)


def follow_up_description(
    db: Connection, actor: Actor, project_id: int, iid: int, discussion_id: str | None
) -> str | None:
    """Return the default description of an issue that follows up a merge request, or None if that is not visible."""
    unresolved = open_discussions_or_none(db, actor, project_id, iid, discussion_id)
    if unresolved is None:
        return None
    if not unresolved.discussions:
        return f"There are no unresolved discussions. Review the conversation in !{iid}"
    noun = "discussion" if len(unresolved.discussions) == 1 else "discussions"
    items = [f"- [ ] {_quoted(note.body)}" for note in unresolved.discussions]
    return "\n\n".join([f"The following {noun} from !{iid} should be addressed:", *items])


def _quoted(body: str) -> str:
    return "\n".join(f"  > {line}" for line in body[:_MAX_QUOTE_LENGTH].splitlines()).strip()
