"""Actions on the page of a merge request: merge, rebase, approve, close and delete."""

from collections.abc import Callable, Mapping
from typing import Any

from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix, remove_draft_prefix
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.merge_requests.merge import stack_api
from ingot.collaboration.merge_requests.merge.source_removal import remove_source_branch
from ingot.collaboration.merge_requests.merge.views import MergeRefusalView
from ingot.core.api.routes import AlternateResponse
from ingot.core.errors import Unchanged
from ingot.projects.projects.api import repository_store
from ingot.web.discussions.discussable import Discussable
from ingot.web.form_errors import ACTION_ERRORS, error_messages
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.merge_box import may_delete_source_branch
from ingot.web.merge_requests.show import overview_page
from ingot.web.notices import notice_by_field
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_PREFIX = "405 Method Not Allowed: "
_NOT_OPEN_MESSAGE = "The merge request is no longer open."


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/merge",
    notice=notice_by_field("later", {"1": "Merges when the pipeline succeeds."}, "Merge request merged."),
)
def merge(visit: Visit) -> PageResponse:
    """Merge the request, or set it to merge when its pipeline succeeds."""
    return _submit(
        visit,
        lambda merge_request: merge_request.discussable.ask(
            merge_api.merge_merge_request, _merge_params(visit, merge_request)
        ),
    )


@pages.post("/:path/-/merge_requests/:merge_request_iid/cancel_merge", notice="Automatic merge canceled.")
def cancel_merge(visit: Visit) -> PageResponse:
    """Cancel the automatic merge after the pipeline."""
    return _submit(visit, lambda merge_request: merge_request.discussable.ask(merge_api.cancel_merge))


@pages.post("/:path/-/merge_requests/:merge_request_iid/rebase", notice="Source branch rebased.")
def rebase(visit: Visit) -> PageResponse:
    """Rebase the source branch onto the target branch."""
    return _submit(visit, lambda merge_request: merge_request.discussable.ask(merge_api.rebase_merge_request))


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/stack/merge",
    notice="Merge requests of the stack merged, or added to the merge train.",
)
def merge_stack(visit: Visit) -> PageResponse:
    """Merge the request and all below it in its stack."""
    params = {"sha": str(visit.request.form.get("sha", ""))}
    return _submit(visit, lambda merge_request: merge_request.discussable.ask(stack_api.merge_stack, params))


@pages.post("/:path/-/merge_requests/:merge_request_iid/stack/rebase", notice="Source branch rebased.")
def rebase_layer(visit: Visit) -> PageResponse:
    """Rebase the source branch without rewritten commits of the layer below."""
    return _submit(visit, lambda merge_request: merge_request.discussable.ask(stack_api.rebase_layer))


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/state",
    notice=notice_by_field("state_event", {"close": "Merge request closed."}, "Merge request reopened."),
)
def change_state(visit: Visit) -> PageResponse:
    """Close or reopen the merge request."""
    event = str(visit.request.form.get("state_event", ""))
    return _submit(
        visit,
        lambda merge_request: merge_request.discussable.ask(
            merge_request_editing_api.edit_merge_request, {"state_event": event}
        ),
    )


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/draft",
    notice=notice_by_field("draft", {"true": "Marked as draft."}, "Marked as ready."),
)
def change_draft_state(visit: Visit) -> PageResponse:
    """Mark the merge request as draft or as ready."""

    def change(merge_request: MergeRequestContext) -> Any:
        title = merge_request.view.title
        title = (
            add_draft_prefix(title, "Draft")
            if visit.request.form.get("draft") == "true"
            else remove_draft_prefix(title)
        )
        return (
            merge_request.discussable.ask(merge_request_editing_api.edit_merge_request, {"title": title})
            if title != merge_request.view.title
            else None
        )

    return _submit(visit, change)


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/approval",
    notice=notice_by_field("approved", {"true": "Merge request approved."}, "Approval revoked."),
)
def change_approval(visit: Visit) -> PageResponse:
    """Approve the version that the user has seen, or revoke the approval."""
    params = approval_params(visit.request.form)
    if visit.request.form.get("approved") == "true":
        return _submit(
            visit,
            lambda merge_request: merge_request.discussable.ask(
                merge_request_discussions_api.approve_merge_request, params
            ),
        )
    return _submit(
        visit,
        lambda merge_request: merge_request.discussable.ask(merge_request_discussions_api.unapprove_merge_request),
    )


def approval_params(form: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of an approval: the version that the user has seen, and the password if required."""
    return {name: str(form[name]) for name in ("sha", "approval_password") if form.get(name)}


@pages.delete("/:path/-/merge_requests/:merge_request_iid/source_branch", notice="Source branch deleted.")
def delete_source_branch(visit: Visit) -> PageResponse:
    """Delete the source branch after a merge, unless it has new commits."""
    merge_request = merge_request_context(visit)
    if merge_request.view.state != "merged" or not may_delete_source_branch(merge_request):
        return overview_page(
            merge_request, ["You cannot delete the source branch, or it has changed since the merge."], 422
        )
    remove_source_branch(
        visit.database, repository_store(visit.settings), visit.viewer.actor, merge_request.lookup.merge_request
    )
    after = merge_request_context(visit)
    if after.source.branch_exists:
        return overview_page(after, ["The source branch could not be deleted. Try again in a moment."], 422)
    return LocalRedirect(merge_request.url)


@pages.delete("/:path/-/merge_requests/:merge_request_iid", notice="Merge request deleted.")
def delete_merge_request(visit: Visit) -> PageResponse:
    """Delete the merge request."""
    discussable: Discussable = merge_request_context(visit).discussable
    discussable.ask(merge_request_editing_api.delete_merge_request)
    return LocalRedirect(f"/{discussable.project_path}/-/merge_requests")


def _merge_params(visit: Visit, merge_request: MergeRequestContext) -> dict[str, Any]:
    """Return the merge parameters of the form; ``sha`` is the head that the user saw."""
    form, option = visit.request.form, merge_request.lookup.project.squash_option
    params: dict[str, Any] = {"sha": _normalized_text(form.get("sha"))}
    if "options" in form:  # Without the options in the form, the saved ones apply.
        if "removes" in form:  # Not offered if the user cannot see the branch; the author's choice applies.
            params["should_remove_source_branch"] = form.get("should_remove_source_branch") == "1"
        params["squash"] = form.get("squash") == "1"
        params["merge_commit_message"] = _normalized_text(form.get("merge_commit_message"))
    if params.get("squash") or option == "always":
        message = _normalized_text(form.get("squash_commit_message"))
        params["squash_commit_message"] = message if message != merge_request.view.title else ""
    if form.get("later"):
        params["auto_merge"] = "true"
    elif form.get("skip"):
        params["skip_merge_train"] = "true"
    return params


def _normalized_text(value: Any) -> str:
    """Return the text with line feeds only, as in commit messages."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _submit(visit: Visit, action: Callable[[MergeRequestContext], Any]) -> PageResponse:
    """Run the action and redirect to the page, or show the page with the error."""
    merge_request = merge_request_context(visit)
    try:
        result = action(merge_request)
    except Unchanged:
        result = None  # Already in the requested state, for example after a double click.
    except ACTION_ERRORS as error:
        return overview_page(merge_request_context(visit), error_messages(error), 422)
    refusal = result.content if isinstance(result, AlternateResponse) else None
    if isinstance(refusal, MergeRefusalView):
        message = (
            _NOT_OPEN_MESSAGE
            if refusal.error_code in ("not_open", "not_set")
            else refusal.message.removeprefix(_PREFIX)
        )
        return overview_page(merge_request_context(visit), [message if message.endswith(".") else f"{message}."], 422)
    return LocalRedirect(merge_request.url)
