"""The viewer's pending review of a merge request: draft notes that only the viewer sees."""

from typing import NamedTuple

from markupsafe import Markup

from ingot.collaboration.merge_requests.reviews import api as reviews_api
from ingot.collaboration.merge_requests.reviews.views import DraftNoteView
from ingot.web.discussions.timeline import DiscussionThread
from ingot.web.merge_requests.context import MergeRequestContext
from ingot.web.texts import render_markdown_texts

_PER_PAGE = 100


class DraftItem(NamedTuple):
    """Draft note with its rendered text."""

    view: DraftNoteView
    html: Markup

    @property
    def on_line(self) -> bool:
        """Return whether it is about a line of the diff."""
        return self.view.position["head_sha"] is not None


class ReviewDrafts(NamedTuple):
    """Draft notes of the viewer, the oldest first."""

    items: list[DraftItem]

    def replies(self, discussion_id: str) -> list[DraftItem]:
        """Return the drafts that reply to a discussion."""
        return [draft for draft in self.items if draft.view.discussion_id == discussion_id]


def review_drafts(merge_request: MergeRequestContext, thread: DiscussionThread) -> ReviewDrafts:
    """Return the draft notes of the viewer."""
    if not thread.may_write:
        return ReviewDrafts([])
    discussable = merge_request.discussable
    views = discussable.ask(reviews_api.list_draft_notes, {"per_page": _PER_PAGE}).items
    texts = render_markdown_texts(merge_request.visit, [view.note for view in views], discussable.project_id)
    return ReviewDrafts([DraftItem(view, html) for view, html in zip(views, texts, strict=True)])
