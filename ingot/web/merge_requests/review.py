"""Forms of a review: comments on lines, draft notes, suggestions, viewed files, and the submission of the review."""

from typing import Any

from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.reviews import api as reviews_api
from ingot.collaboration.merge_requests.reviews.viewed_files import mark_viewed
from ingot.core.errors import NotFound
from ingot.web.form_errors import ACTION_ERRORS, FORM_ERRORS, error_messages
from ingot.web.merge_requests.actions import approval_params
from ingot.web.merge_requests.changes import TypedComment, changes_page
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.line_form import range_params
from ingot.web.merge_requests.show import overview_page
from ingot.web.merge_requests.suggestions import selected_suggestions
from ingot.web.notices import notice_by_field
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    local_path,
)

pages = PageRoutes()
_MAX_PATH_LENGTH = 4_096
_MAX_DIGEST_LENGTH = 64
_REVIEW_PARAMS: dict[str, dict[str, Any]] = {
    "request_changes": {"reviewer_state": "requested_changes"},
    "withdraw": {"reviewer_state": "reviewed"},
}


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/line_notes",
    notice=notice_by_field("review", {"1": "Comment added to your review."}, "Comment added."),
)
def comment_on_line(visit: Visit) -> PageResponse:
    """Comment on lines of the diff, or add the comment to the viewer's review."""
    merge_request = merge_request_context(visit)
    form, discussable = visit.request.form, merge_request.discussable
    fields = form.get("note")
    position = fields.get("position") if isinstance(fields, dict) else None
    body, start = form_field(form, "note", "body"), form_field(form, "note", "start")
    params = {"position": range_params(position, start) if isinstance(position, dict) else {}}
    try:
        if form.get("review") == "1":
            draft = discussable.ask(reviews_api.create_draft_note, {**params, "note": body})
            return _back(merge_request, f"draft_{draft.id}")
        created = discussable.ask(merge_request_discussions_api.create_discussion, {**params, "body": body})
    except FORM_ERRORS as error:
        typed, errors = TypedComment(str(form.get("at", "")), start, body), error_messages(error)
        return visit.database.read(lambda db: changes_page(merge_request, db, typed, errors, 422))
    notes = getattr(created, "notes", None)
    return _back(merge_request, f"note_{notes[0].id}" if notes else "")


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/discussions/:discussion_id/draft_notes",
    notice="Reply added to your review.",
)
def add_reply_to_review(visit: Visit) -> PageResponse:
    """Add a reply to the viewer's review."""
    merge_request = merge_request_context(visit)
    params = {
        "note": form_field(visit.request.form, "note", "body"),
        "in_reply_to_discussion_id": visit.request.path["discussion_id"],
        "resolve_discussion": form_field(visit.request.form, "note", "resolved") or "false",
    }
    try:
        draft = merge_request.discussable.ask(reviews_api.create_draft_note, params)
    except FORM_ERRORS as error:
        return overview_page(merge_request, error_messages(error), 422)
    return _back(merge_request, f"draft_{draft.id}")


@pages.put("/:path/-/merge_requests/:merge_request_iid/draft_notes/:draft_note_id", notice="Pending comment saved.")
def edit_draft(visit: Visit) -> PageResponse:
    """Change the text of a draft note."""
    merge_request, draft_id = merge_request_context(visit), visit.request.path["draft_note_id"]
    params = {"note": form_field(visit.request.form, "note", "body")}
    try:
        merge_request.discussable.ask(reviews_api.edit_draft_note, params, draft_note_id=draft_id)
    except FORM_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: changes_page(merge_request, db, None, errors, 422))
    return _back(merge_request, f"draft_{draft_id}")


@pages.delete(
    "/:path/-/merge_requests/:merge_request_iid/draft_notes/:draft_note_id", notice="Pending comment deleted."
)
def delete_draft(visit: Visit) -> PageResponse:
    """Delete a draft note."""
    merge_request = merge_request_context(visit)
    try:
        merge_request.discussable.ask(reviews_api.delete_draft_note, draft_note_id=visit.request.path["draft_note_id"])
    except NotFound:
        pass  # Deleted already, for example after a double click.
    return _back(merge_request)


@pages.post("/:path/-/merge_requests/:merge_request_iid/review", notice="Review submitted.")
def submit_review(visit: Visit) -> PageResponse:
    """Publish the draft notes and the summary, and record the result: an approval, or a request for changes."""
    merge_request = merge_request_context(visit)
    discussable, form = merge_request.discussable, visit.request.form
    summary = form_field(form, "note", "body")
    try:
        if summary.strip():
            discussable.ask(reviews_api.create_draft_note, {"note": summary})
        discussable.ask(reviews_api.publish_draft_notes, _REVIEW_PARAMS.get(str(form.get("event")), {}))
        if form.get("event") == "approve":
            discussable.ask(merge_request_discussions_api.approve_merge_request, approval_params(form))
    except ACTION_ERRORS as error:
        return overview_page(merge_request_context(visit), error_messages(error), 422)
    return LocalRedirect(merge_request.url)


@pages.delete("/:path/-/merge_requests/:merge_request_iid/review", notice="Review discarded.")
def discard_review(visit: Visit) -> PageResponse:
    """Delete all draft notes of the viewer."""
    merge_request = merge_request_context(visit)
    discussable = merge_request.discussable
    while drafts := discussable.ask(reviews_api.list_draft_notes, {"per_page": 100}).items:
        for draft in drafts:
            discussable.ask(reviews_api.delete_draft_note, draft_note_id=draft.id)
    return _back(merge_request)


@pages.post("/:path/-/merge_requests/:merge_request_iid/suggestions", notice="Suggestions applied.")
def apply_suggestions(visit: Visit) -> PageResponse:
    """Apply the selected suggestions as one commit, and resolve their discussions."""
    merge_request = merge_request_context(visit)
    ids = selected_suggestions(visit.request.form)
    if not ids:
        return overview_page(merge_request, ["Select at least one suggestion."], 422)
    try:
        visit.ask(reviews_api.apply_several_suggestions, {"ids": ids})
    except ACTION_ERRORS as error:
        return overview_page(merge_request_context(visit), error_messages(error), 422)
    _resolve_discussions(merge_request, set(map(int, ids)))
    return _back(merge_request)


def _resolve_discussions(merge_request: MergeRequestContext, ids: set[int]) -> None:
    """Resolve the discussions whose suggestions were applied, if the viewer may."""
    discussable = merge_request.discussable
    if not discussable.may_resolve():
        return
    listing = discussable.ask(merge_request_discussions_api.DISCUSSIONS.list_discussions, {"per_page": 100})
    for discussion in listing.items:
        suggested = {
            each.id for note in discussion.notes if isinstance(note.suggestions, list) for each in note.suggestions
        }
        if suggested & ids:
            params = {"resolved": "true"}
            discussable.ask(merge_request_discussions_api.resolve_discussion, params, discussion_id=discussion.id)


@pages.post("/:path/-/merge_requests/:merge_request_iid/viewed")
def mark_file(visit: Visit) -> PageResponse:
    """Mark a file of the diff as viewed, or as not viewed."""
    merge_request, form = merge_request_context(visit), visit.request.form
    path, digest = str(form.get("file", ""))[:_MAX_PATH_LENGTH], str(form.get("digest", ""))[:_MAX_DIGEST_LENGTH]
    viewed = form.get("viewed") == "1"
    merge_request_id, user_id = merge_request.view.id, visit.viewer.signed_in.id
    visit.database.write(lambda db: mark_viewed(db, merge_request_id, user_id, path, digest if viewed else None))
    if not visit.headers.fragment:
        return _back(merge_request, str(form.get("anchor", "")))
    context: dict[str, Any] = {
        "discussable": merge_request.discussable,
        "file": _ViewedFile(form, path, digest, viewed),
    }
    return TemplateResponse("merge_requests/_viewed.html", context)


class _ViewedFile:
    """File of the diff, as far as its checkbox shows it."""

    def __init__(self, form: dict[str, Any], path: str, digest: str, viewed: bool) -> None:
        self.new_path, self.digest, self.viewed = path, digest, viewed
        self.anchor = str(form.get("anchor", ""))[:_MAX_DIGEST_LENGTH]


def _back(merge_request: MergeRequestContext, fragment: str = "") -> LocalRedirect:
    """Redirect to the page of the form."""
    request = merge_request.visit.request
    back = (local_path(request.form.get("back") or request.query.get("back")) or "").partition("#")[0]
    url = back if back.startswith(merge_request.url) else f"{merge_request.url}/diffs"
    return LocalRedirect(f"{url}#{fragment}" if fragment else url)
