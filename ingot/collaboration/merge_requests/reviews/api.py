"""Endpoints of draft notes and suggestions."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.discussions.api import merge_request_subject_in_path
from ingot.collaboration.merge_requests.policy import may_request_changes
from ingot.collaboration.merge_requests.queries import find_merge_request
from ingot.collaboration.merge_requests.review_states import record_review
from ingot.collaboration.merge_requests.reviews import policy, queries, service, write_draft
from ingot.collaboration.merge_requests.reviews.params import (
    ApplySuggestion,
    ApplySuggestions,
    CreateDraftNote,
    EditDraftNote,
    PublishDraftNotes,
)
from ingot.collaboration.merge_requests.reviews.queries import SuggestionSet
from ingot.collaboration.merge_requests.reviews.suggested_commits import apply_suggestions
from ingot.collaboration.merge_requests.reviews.views import DraftNoteView, draft_note_view
from ingot.collaboration.merge_requests.tables import DraftNote
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.notes.policy import may_write_notes
from ingot.collaboration.notes.views import SuggestionView, suggestion_view
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project

routes = Routes("merge_requests")


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes",
    on=merge_request_subject_in_path,
    may=policy.may_read_own_drafts,
    returns=list[DraftNoteView],
)
def list_draft_notes(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[DraftNoteView]:
    """List the caller's draft notes on a merge request."""
    listing = queries.list_drafts(call.db, call.actor, subject_access.subject.id or 0, page)
    return listing.of([draft_note_view(draft) for draft in listing.items])


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id",
    on=merge_request_subject_in_path,
    may=policy.may_read_own_drafts,
    returns=DraftNoteView,
)
def get_draft_note(call: Call, subject_access: SubjectAccess) -> DraftNoteView:
    """Get a draft note of the caller."""
    return draft_note_view(_draft_in_path(call, subject_access))


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=DraftNoteView,
    staged=True,
)
def create_draft_note(stage: StagedCall, subject_access: SubjectAccess, params: CreateDraftNote) -> DraftNoteView:
    """Create a draft note, which only the caller sees until it is published."""
    repository = _repository(stage, subject_access)
    return draft_note_view(write_draft.create_draft(stage.database, repository, stage.actor, subject_access, params))


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=DraftNoteView,
    staged=True,
)
def edit_draft_note(stage: StagedCall, subject_access: SubjectAccess, params: EditDraftNote) -> DraftNoteView:
    """Edit a draft note of the caller."""
    repository = _repository(stage, subject_access)
    draft = write_draft.edit_draft(stage.database, repository, stage.actor, subject_access, stage.path, params)
    return draft_note_view(draft)


@routes.delete(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id",
    on=merge_request_subject_in_path,
    may=policy.may_read_own_drafts,
    returns=None,
    status=204,
)
def delete_draft_note(call: Call, subject_access: SubjectAccess) -> None:
    """Delete a draft note of the caller."""
    service.delete_draft(call.db, _draft_in_path(call, subject_access))


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id/publish",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=None,
    status=204,
)
def publish_draft_note(call: Call, subject_access: SubjectAccess) -> None:
    """Publish a draft note of the caller."""
    _publish(call, subject_access, [_draft_in_path(call, subject_access)])


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/draft_notes/bulk_publish",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=None,
    status=204,
)
def publish_draft_notes(call: Call, subject_access: SubjectAccess, params: PublishDraftNotes) -> None:
    """Publish all draft notes of the caller on a merge request, with a summary and the result of the review."""
    lookup = find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    if params.reviewer_state is not None:
        require(may_request_changes(call.actor, lookup.access, lookup))
    _publish(call, subject_access, queries.own_drafts(call.db, call.actor, subject_access.subject.id or 0))
    if params.note.strip():
        summary = WriteNote(body=params.note, internal=params.internal)
        store = repository_store(call.settings)
        service.publish_summary(call.db, store, call.actor, lookup, subject_access, summary)
    if params.reviewer_state is not None:
        record_review(call.db, call.actor, lookup, params.reviewer_state)


@routes.put("/suggestions/:id/apply", may=signed_in, returns=SuggestionView, staged=True)
def apply_suggestion(stage: StagedCall, params: ApplySuggestion) -> SuggestionView:
    """Apply a suggestion as a commit on the source branch."""
    ids = [path_number(stage.path, "id")]
    return _suggestion_views(_apply(stage, ids, params.commit_message))[0]


@routes.put("/suggestions/batch_apply", may=signed_in, returns=list[SuggestionView], staged=True)
def apply_several_suggestions(stage: StagedCall, params: ApplySuggestions) -> list[SuggestionView]:
    """Apply suggestions of one merge request as one commit on its source branch."""
    return _suggestion_views(_apply(stage, params.ids, params.commit_message))


def _apply(stage: StagedCall, ids: Sequence[int], message: str | None) -> SuggestionSet:
    # The change of the source branch checks the permission to push.
    return apply_suggestions(stage.database, repository_store(stage.settings), stage.actor, ids, message)


def _suggestion_views(suggested: SuggestionSet) -> list[SuggestionView]:
    is_open = suggested.lookup.merge_request.state == "opened"
    return [suggestion_view(change.suggestion, change.note, open=is_open) for change in suggested.changes]


def _draft_in_path(call: Call, subject_access: SubjectAccess) -> DraftNote:
    return queries.find_draft(call.db, call.actor, subject_access.subject.id or 0, call.path)


def _publish(call: Call, subject_access: SubjectAccess, drafts: Sequence[DraftNote]) -> None:
    lookup = find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    store = repository_store(call.settings)
    service.publish_drafts(call.db, store, call.actor, lookup, subject_access, drafts)


def _repository(stage: StagedCall, subject_access: SubjectAccess) -> Repository:
    """Return the target repository, which contains all commits of the merge request."""
    _, project = stage.database.read(lambda db: find_project(db, stage.actor, subject_access.subject.project_id or 0))
    return repository_store(stage.settings).open(project.repository_key)
