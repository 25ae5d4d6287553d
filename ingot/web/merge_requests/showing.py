"""The page of a merge request, and the box in which it is merged."""

from typing import Any

from msgspec.structs import replace

from ingot.db.connection import Connection
from ingot.git.patches import stream_diff, stream_mails
from ingot.merge_requests.policy import may_take_part
from ingot.merge_requests.versions.queries import current_span
from ingot.web.code.mails import ended, sent
from ingot.web.discussions.ground import MERGE_REQUEST
from ingot.web.discussions.reading import thread_of
from ingot.web.merge_requests.box import box_of
from ingot.web.merge_requests.frame import Frame, frame_of
from ingot.web.merge_requests.lines import contexts_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit

pages = Pages()


@pages.get("/:path/-/merge_requests/:merge_request_iid", open=True)
def show_merge_request(visit: Visit, db: Connection) -> Reply:
    """A merge request with all that was said about it; ``.patch`` and ``.diff`` behind its number are files."""
    wanted = ended(visit.path[MERGE_REQUEST.word])
    if wanted is None:
        return overview(frame_of(visit))
    frame = frame_of(replace(visit, path={**visit.path, MERGE_REQUEST.word: wanted.name}))
    span = current_span(db, frame.repository, frame.found.merge_request)
    if wanted.ending == "patch":
        pieces = stream_mails(frame.repository, span.start_oid, span.head_oid)
    else:
        pieces = stream_diff(frame.repository, span.base_oid, span.head_oid)
    return sent(visit.path[MERGE_REQUEST.word], pieces)


@pages.get("/:path/-/merge_requests/:merge_request_iid/box", open=True)
def show_box(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Whether it can be merged; a script asks for this part while that may change, and for the page when it has."""
    frame = frame_of(visit)
    if not visit.fragment:
        return Redirect(frame.url)
    over = [(b"hx-refresh", b"true")] if visit.query.get("state") != frame.request.state else []
    context = {"frame": frame, "request": frame.request, "place": frame.place, "box": box_of(frame)}
    return Page("merge_requests/_box.html", context | {"closes": _closes(frame)}, headers=over)


def overview(frame: Frame, errors: list[str] | None = None, status: int = 200) -> Reply:
    """The page, also after something did not work."""
    visit, ground, request = frame.visit, frame.ground, frame.request
    thread = thread_of(ground, request.description)
    context = {
        "thread": thread,
        "contexts": contexts_of(frame, thread),
        "description": thread.besides[0],
        "participants": ground.get("/participants", {"per_page": 50}),
        "closes": _closes(frame),
        "approvals": ground.get("/approvals"),
        "may_take_part": may_take_part(visit.actor_or_nobody, frame.found.here, frame.found),
        "box": box_of(frame),
        "errors": errors or [],
    }
    return frame.page("merge_requests/show.html", "overview", context, status)


def _closes(frame: Frame) -> list[Any]:
    """The issues that it closes, as far as the visitor may see them."""
    found: list[Any] = frame.ground.get("/closes_issues", {"per_page": 50}).items
    return found
