"""What is done to a merge request from its page: merging it, rebasing it, closing it, approving it."""

from collections.abc import Callable
from typing import Any

from ingot.api.params import Missing
from ingot.errors import Conflict, Denied, Invalid, NotFound, Unchanged
from ingot.merge_requests.drafts import drafted, ready
from ingot.merge_requests.merging.views import RefusalView
from ingot.merge_requests.merging.work import remove_source_branch
from ingot.projects.api import store_of
from ingot.web.discussions.ground import Ground
from ingot.web.merge_requests.box import may_remove_source
from ingot.web.merge_requests.frame import Frame, frame_of
from ingot.web.merge_requests.showing import overview
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.refusals import sentences

pages = Pages()
_REFUSED = (Invalid, Conflict, Missing, NotFound, Denied)
_PREFIX = "405 Method Not Allowed: "
_OVER = "It is not open any more."


@pages.post("/:path/-/merge_requests/:merge_request_iid/merge")
def merge(visit: Visit) -> Reply:
    """Merge it, or have it merged when its pipeline succeeds."""
    return _tried(visit, lambda frame: frame.ground.call("PUT", "/merge", _wish(visit, frame)))


@pages.post("/:path/-/merge_requests/:merge_request_iid/cancel_merge")
def cancel_merge(visit: Visit) -> Reply:
    """Let it wait for the pipeline no longer."""
    return _tried(visit, lambda frame: frame.ground.call("PUT", "/cancel_merge_when_pipeline_succeeds"))


@pages.post("/:path/-/merge_requests/:merge_request_iid/rebase")
def rebase(visit: Visit) -> Reply:
    """Do its commits again upon the target."""
    return _tried(visit, lambda frame: frame.ground.call("PUT", "/rebase"))


@pages.post("/:path/-/merge_requests/:merge_request_iid/state")
def change_state(visit: Visit) -> Reply:
    """Close it, or open it again."""
    event = str(visit.form.get("state_event", ""))
    return _tried(visit, lambda frame: frame.ground.call("PUT", "", {"state_event": event}))


@pages.post("/:path/-/merge_requests/:merge_request_iid/draft")
def change_draft(visit: Visit) -> Reply:
    """Say that it is a draft, or ready."""

    def change(frame: Frame) -> Any:
        title = frame.request.title
        title = drafted(title, "Draft") if visit.form.get("draft") == "true" else ready(title)
        return frame.ground.call("PUT", "", {"title": title}) if title != frame.request.title else None

    return _tried(visit, change)


@pages.post("/:path/-/merge_requests/:merge_request_iid/approval")
def change_approval(visit: Visit) -> Reply:
    """Approve of it as the visitor has seen it, or take that back."""
    sent = {"sha": str(visit.form.get("sha", ""))}
    if visit.form.get("approved") == "true":
        return _tried(visit, lambda frame: frame.ground.call("POST", "/approve", sent))
    return _tried(visit, lambda frame: frame.ground.call("POST", "/unapprove"))


@pages.delete("/:path/-/merge_requests/:merge_request_iid/source_branch")
def remove_branch(visit: Visit) -> Reply:
    """Remove the branch that was merged; what was pushed to it since is not lost."""
    frame = frame_of(visit)
    if frame.request.state != "merged" or not may_remove_source(frame):
        return overview(frame, ["The source branch cannot be removed, or is not what was merged any more."], 422)
    remove_source_branch(visit.database, store_of(visit.settings), visit.actor, frame.found.merge_request)
    after = frame_of(visit)
    if after.source.branch_there:
        return overview(after, ["The source branch could not be removed. Try again in a moment."], 422)
    return Redirect(frame.url)


@pages.delete("/:path/-/merge_requests/:merge_request_iid")
def delete_merge_request(visit: Visit) -> Reply:
    """Take it away for everybody."""
    ground: Ground = frame_of(visit).ground
    ground.call("DELETE", "")
    return Redirect(f"/{ground.project_path}/-/merge_requests")


def _wish(visit: Visit, frame: Frame) -> dict[str, Any]:
    """How it is to be merged; the commit that the visitor saw is the one that is meant."""
    form, option = visit.form, frame.found.project.squash_option
    sent: dict[str, Any] = {"sha": _text(form.get("sha"))}
    if "options" in form:  # Else the form had no boxes, and what was said before counts.
        if "removes" in form:  # Where the branch is hidden, what its author wished counts.
            sent["should_remove_source_branch"] = form.get("should_remove_source_branch") == "1"
        sent["squash"] = form.get("squash") == "1"
        sent["merge_commit_message"] = _text(form.get("merge_commit_message"))
    if sent.get("squash") or option == "always":
        said = _text(form.get("squash_commit_message"))
        sent["squash_commit_message"] = said if said != frame.request.title else ""
    if form.get("later"):
        sent["merge_when_pipeline_succeeds"] = "true"
    return sent


def _text(value: Any) -> str:
    """What was typed, with the ends of lines that commits have."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _tried(visit: Visit, work: Callable[[Frame], Any]) -> Reply:
    """Do it, and show the page again, with the reason where it did not work."""
    frame = frame_of(visit)
    try:
        came = work(frame)
    except Unchanged:
        came = None  # Somebody pressed it twice.
    except _REFUSED as refusal:
        return overview(frame_of(visit), sentences(refusal), 422)
    if isinstance(came, RefusalView):
        said = _OVER if came.error_code in ("not_open", "not_set") else came.message.removeprefix(_PREFIX)
        return overview(frame_of(visit), [said if said.endswith(".") else f"{said}."], 422)
    return Redirect(frame.url)
