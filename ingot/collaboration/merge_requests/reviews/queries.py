"""Queries of draft notes and suggestions."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import find_merge_request, merge_request_by_id
from ingot.collaboration.merge_requests.tables import DraftNote, draft_notes
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note, NoteSuggestion, suggestions
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import Denied, Invalid, NotFound

_OWN_DRAFTS = select(draft_notes).where(
    draft_notes.c.merge_request_id == bindparam("merge_request"), draft_notes.c.author_id == bindparam("author")
)
_LIST_DRAFTS = list_query(_OWN_DRAFTS, draft_notes.c.id, draft_notes.c.id.asc())
_ALL_DRAFTS = _OWN_DRAFTS.order_by(draft_notes.c.id)
_ONE_DRAFT = _OWN_DRAFTS.where(draft_notes.c.id == bindparam("draft"))
_SUGGESTIONS = (
    select(suggestions)
    .where(in_list(suggestions.c.id, "ids"))
    .order_by(suggestions.c.note_id, suggestions.c.relative_order)
)


_NOT_FOUND = "Suggestions are not applicable as one or more suggestions were not found."


class SuggestedChange(NamedTuple):
    """A suggestion, and the note that it is part of."""

    suggestion: NoteSuggestion
    note: Note


class SuggestionSet(NamedTuple):
    """Suggestions of one merge request."""

    lookup: MergeRequestLookup
    changes: list[SuggestedChange]


def list_drafts(db: Connection, actor: Actor, merge_request_id: int, page: Page) -> Listing[DraftNote]:
    """Return a page of the caller's draft notes, the oldest first."""
    return fetch_page(db, DraftNote, _LIST_DRAFTS, page, merge_request=merge_request_id, author=actor.user_id)


def own_drafts(db: Connection, actor: Actor, merge_request_id: int) -> list[DraftNote]:
    """Return all draft notes of the caller, the oldest first."""
    return db.all(DraftNote, _ALL_DRAFTS, merge_request=merge_request_id, author=actor.user_id)


def find_draft(db: Connection, actor: Actor, merge_request_id: int, path: dict[str, str]) -> DraftNote:
    """Return the caller's draft note that the path names; raise ``NotFound``."""
    draft_id = path_number(path, "draft_note_id")
    draft = db.first(DraftNote, _ONE_DRAFT, merge_request=merge_request_id, author=actor.user_id, draft=draft_id)
    if draft is None:
        raise NotFound("Draft Note")
    return draft


def find_suggestions(db: Connection, actor: Actor, ids: Sequence[int]) -> SuggestionSet:
    """Return suggestions of one merge request that the caller may see; raise ``NotFound`` if one is missing."""
    found = db.all(NoteSuggestion, _SUGGESTIONS, ids=list(dict.fromkeys(ids)))
    if len(found) != len(set(ids)):
        raise NotFound(message=_NOT_FOUND)
    changes = [SuggestedChange(suggestion, find_note(db, suggestion.note_id)) for suggestion in found]
    merge_requests = {change.note.subject_id or 0 for change in changes}
    lookups = [_visible_merge_request(db, actor, merge_request_id) for merge_request_id in merge_requests]
    if len(lookups) > 1:
        raise Invalid("Suggestions must all be on the same branch.")
    lookup = lookups[0]
    may_see_internal = lookup.access.level >= Level.REPORTER or actor.admin
    if not may_see_internal and any(change.note.internal for change in changes):
        raise NotFound(message=_NOT_FOUND)
    return SuggestionSet(lookup, changes)


def _visible_merge_request(db: Connection, actor: Actor, merge_request_id: int) -> MergeRequestLookup:
    try:
        merge_request = merge_request_by_id(db, merge_request_id)
        return find_merge_request(db, actor, str(merge_request.target_project_id), str(merge_request.iid))
    except (NotFound, Denied):  # Ids are consecutive numbers, so hidden suggestions must look like missing ones.
        raise NotFound(message=_NOT_FOUND) from None
