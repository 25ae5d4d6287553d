"""Form for editing a merge request."""

from typing import Any

from ingot.collaboration.issues.task_items import description_version
from ingot.collaboration.merge_requests.editing import api as merge_request_upkeep_api
from ingot.errors import NotFound
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.merge_requests.context import MergeRequestFrame, merge_request_frame
from ingot.web.merge_requests.fields import api_params, branch_suggestions, form_choices, form_values, values_of_request
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit, form_field

pages = PageRoutes()


@pages.get("/:path/-/merge_requests/:merge_request_iid/edit")
def show_edit_form(visit: Visit) -> PageResponse:
    """Show the form for editing a merge request."""
    frame = merge_request_frame(visit)
    if not frame.may_edit:
        raise NotFound("Merge Request")
    return _edit_form(frame, values_of_request(frame.request))


@pages.put("/:path/-/merge_requests/:merge_request_iid")
def edit_merge_request(visit: Visit) -> PageResponse:
    """Update a merge request; on an error show the form with the input."""
    frame, typed = merge_request_frame(visit), form_values(visit.request.form)
    if form_field(visit.request.form, "merge_request", "version") != description_version(frame.request.description):
        return _edit_form(frame, typed, ["Someone else has changed the description. Review it, then save again."])
    sent = api_params(typed, triages=frame.may_triage)
    if typed["target_branch"] != frame.request.target_branch and frame.request.state == "opened":
        sent["target_branch"] = typed["target_branch"]
    try:
        frame.discussable.ask(merge_request_upkeep_api.edit_merge_request, sent)
    except FORM_ERRORS as error:
        return _edit_form(frame, typed, error_messages(error))
    return LocalRedirect(frame.url)


def _edit_form(frame: MergeRequestFrame, typed: dict[str, Any], errors: list[str] | None = None) -> PageResponse:
    context: dict[str, Any] = {
        "typed": typed,
        "request": frame.request,
        "discussable": frame.discussable,
        "version": description_version(frame.request.description),
        "triages": frame.may_triage,
        "branches": branch_suggestions(frame.parent),
        "squash_option": frame.found.project.squash_option,
        "may_delete": frame.discussable.may(merge_request_upkeep_api.delete_merge_request),
        "errors": errors or [],
    }
    context |= form_choices(frame.parent, frame.request, frame.labels) if frame.may_triage else {}
    return frame.parent.page("merge_requests/edit.html", "merge_requests", context, 422 if errors else 200)
