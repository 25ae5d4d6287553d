"""Page of a merge request and its merge box."""

from typing import Any

from ingot.collaboration.merge_requests.discussions import api as merge_request_talk_api
from ingot.collaboration.merge_requests.editing import api as merge_request_upkeep_api
from ingot.collaboration.merge_requests.policy import may_take_part
from ingot.collaboration.merge_requests.versions.views import stream_changes
from ingot.core.db.connection import Connection
from ingot.web.code.patch_downloads import patch_response, split_suffix
from ingot.web.discussions.discussable import MERGE_REQUEST
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.merge_requests.context import MergeRequestFrame, merge_request_frame
from ingot.web.merge_requests.line_discussions import line_contexts
from ingot.web.merge_requests.merge_box import merge_box
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()


@pages.get("/:path/-/merge_requests/:merge_request_iid", open=True)
def show_merge_request(visit: Visit, db: Connection) -> PageResponse:
    """Show a merge request with its discussions; with ``.patch`` or ``.diff`` after the number return a text file."""
    wanted = split_suffix(visit.request.path[MERGE_REQUEST.path_parameter])
    if wanted is None:
        return overview_page(merge_request_frame(visit))
    frame = merge_request_frame(visit, wanted.name)
    pieces = stream_changes(db, frame.repository, frame.found.merge_request, wanted.ending)
    return patch_response(visit.request.path[MERGE_REQUEST.path_parameter], pieces)


@pages.get("/:path/-/merge_requests/:merge_request_iid/box", open=True)
def show_box(visit: Visit) -> PageResponse:
    """Return the merge box, which a script polls; the script reloads the page when the state has changed."""
    frame = merge_request_frame(visit)
    if not visit.headers.fragment:
        return LocalRedirect(frame.url)
    over = [(b"hx-refresh", b"true")] if visit.request.query.get("state") != frame.request.state else []
    context = {"frame": frame, "request": frame.request, "parent": frame.parent, "box": merge_box(frame)}
    return TemplateResponse("merge_requests/_box.html", context | {"closes": _closed_issues(frame)}, headers=over)


def overview_page(frame: MergeRequestFrame, errors: list[str] | None = None, status: int = 200) -> PageResponse:
    """Render the overview page, with errors after a failed action."""
    visit, discussable, request = frame.visit, frame.discussable, frame.request
    thread = discussion_thread(discussable, request.description)
    context = {
        "thread": thread,
        "contexts": line_contexts(frame, thread),
        "description": thread.other_texts[0],
        "participants": discussable.ask(merge_request_upkeep_api.PLANNING.list_participants, {"per_page": 50}),
        "closes": _closed_issues(frame),
        "approvals": discussable.ask(merge_request_talk_api.get_approvals),
        "may_take_part": may_take_part(visit.viewer.actor, frame.found.access, frame.found),
        "box": merge_box(frame),
        "errors": errors or [],
    }
    return frame.page("merge_requests/show.html", "overview", context, status)


def _closed_issues(frame: MergeRequestFrame) -> list[Any]:
    """Return the issues that it closes and that the viewer may see."""
    found: list[Any] = frame.discussable.ask(
        merge_request_upkeep_api.list_issues_closed_on_merge, {"per_page": 50}
    ).items
    return found
