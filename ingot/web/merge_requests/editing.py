"""Changing what a merge request says, where it goes and who looks at it."""

from typing import Any

from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound
from ingot.issues.ticking import version_of
from ingot.web.merge_requests.fields import branches_of, choices, sent_of, typed_in, typed_of
from ingot.web.merge_requests.frame import Frame, frame_of
from ingot.web.pages import Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import sentences

pages = Pages()
_SHOWN_AGAIN = (Invalid, Conflict, Missing)


@pages.get("/:path/-/merge_requests/:merge_request_iid/edit")
def show_edit_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A merge request to be changed."""
    frame = frame_of(visit)
    if not frame.may_edit:
        raise NotFound("Merge Request")
    return _form(frame, typed_of(frame.request))


@pages.put("/:path/-/merge_requests/:merge_request_iid")
def edit_merge_request(visit: Visit) -> Reply:
    """Change it; what was typed stays where that is refused."""
    frame, typed = frame_of(visit), typed_in(visit.form)
    if form_part(visit.form, "merge_request", "version") != version_of(frame.request.description):
        return _form(frame, typed, ["Somebody has changed the description meanwhile. Look at it, then save again."])
    sent = sent_of(typed, triages=frame.may_triage)
    if typed["target_branch"] != frame.request.target_branch and frame.request.state == "opened":
        sent["target_branch"] = typed["target_branch"]
    try:
        frame.ground.call("PUT", "", sent)
    except _SHOWN_AGAIN as refusal:
        return _form(frame, typed, sentences(refusal))
    return Redirect(frame.url)


def _form(frame: Frame, typed: dict[str, Any], errors: list[str] | None = None) -> Reply:
    context: dict[str, Any] = {
        "typed": typed,
        "request": frame.request,
        "ground": frame.ground,
        "version": version_of(frame.request.description),
        "triages": frame.may_triage,
        "branches": branches_of(frame.place),
        "squash_option": frame.found.project.squash_option,
        "may_delete": frame.ground.may("DELETE", ""),
        "errors": errors or [],
    }
    context |= choices(frame.place, frame.request, frame.labels) if frame.may_triage else {}
    return frame.place.page("merge_requests/edit.html", "merge_requests", context, 422 if errors else 200)
