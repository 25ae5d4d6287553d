"""Form for editing a merge request."""

from typing import Any

from ingot.collaboration.issues.task_items import description_version
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.core.errors import NotFound
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.fields import api_params, branch_suggestions, form_choices, form_values, values_of_request
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit, form_field

pages = PageRoutes()


@pages.get("/:path/-/merge_requests/:merge_request_iid/edit")
def show_edit_form(visit: Visit) -> PageResponse:
    """Show the form for editing a merge request."""
    merge_request = merge_request_context(visit)
    if not merge_request.may_edit:
        raise NotFound("Merge Request")
    return _edit_form(merge_request, values_of_request(merge_request.view))


@pages.put("/:path/-/merge_requests/:merge_request_iid", notice="Merge request saved.")
def edit_merge_request(visit: Visit) -> PageResponse:
    """Update a merge request; on an error show the form with the input."""
    merge_request, typed = merge_request_context(visit), form_values(visit.request.form)
    if form_field(visit.request.form, "merge_request", "version") != description_version(
        merge_request.view.description
    ):
        return _edit_form(
            merge_request, typed, ["Someone else has changed the description. Review it, then save again."]
        )
    params = api_params(typed, may_triage=merge_request.may_triage)
    if typed["target_branch"] != merge_request.view.target_branch and merge_request.view.state == "opened":
        params["target_branch"] = typed["target_branch"]
    try:
        merge_request.discussable.ask(merge_request_editing_api.edit_merge_request, params)
    except FORM_ERRORS as error:
        return _edit_form(merge_request, typed, error_messages(error))
    return LocalRedirect(merge_request.url)


def _edit_form(
    merge_request: MergeRequestContext, typed: dict[str, Any], errors: list[str] | None = None
) -> PageResponse:
    context: dict[str, Any] = {
        "typed": typed,
        "request": merge_request.view,
        "discussable": merge_request.discussable,
        "version": description_version(merge_request.view.description),
        "may_triage": merge_request.may_triage,
        "branches": branch_suggestions(merge_request.parent),
        "squash_option": merge_request.lookup.project.squash_option,
        "may_delete": merge_request.discussable.may(merge_request_editing_api.delete_merge_request),
        "errors": errors or [],
    }
    context |= (
        form_choices(merge_request.parent, merge_request.view, merge_request.labels) if merge_request.may_triage else {}
    )
    return merge_request.parent.page("merge_requests/edit.html", "merge_requests", context, 422 if errors else 200)
