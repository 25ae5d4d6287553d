"""Page of a merge request and its merge box."""

from typing import Any

from ingot.collaboration.merge_requests.approval_settings import api as approval_settings_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.collaboration.merge_requests.policy import may_take_part
from ingot.collaboration.merge_requests.versions.views import read_changes
from ingot.core.db.connection import Connection
from ingot.web.code.patch_downloads import patch_response, split_suffix
from ingot.web.discussions.discussable import MERGE_REQUEST
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.line_discussions import line_contexts
from ingot.web.merge_requests.merge_box import merge_box
from ingot.web.merge_requests.review_drafts import review_drafts
from ingot.web.merge_requests.stacks import rewritten_commits, stack_panel
from ingot.web.merge_requests.suggestions import appliable_count, may_apply_suggestions, with_suggestions
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()


@pages.get("/:path/-/merge_requests/:merge_request_iid", open=True)
def show_merge_request(visit: Visit, db: Connection) -> PageResponse:
    """Show a merge request with its discussions; with ``.patch`` or ``.diff`` after the number return a text file."""
    suffixed = split_suffix(visit.request.path[MERGE_REQUEST.path_parameter])
    if suffixed is None:
        return overview_page(merge_request_context(visit))
    merge_request = merge_request_context(visit, suffixed.name)
    patch = read_changes(db, merge_request.repository, merge_request.lookup.merge_request, suffixed.ending)
    return patch_response(visit.request.path[MERGE_REQUEST.path_parameter], patch)


@pages.get("/:path/-/merge_requests/:merge_request_iid/box", open=True)
def show_box(visit: Visit) -> PageResponse:
    """Return the merge box, which a script polls; the script reloads the page when the state has changed."""
    merge_request = merge_request_context(visit)
    if not visit.headers.fragment:
        return LocalRedirect(merge_request.url)
    headers = [(b"hx-refresh", b"true")] if visit.request.query.get("state") != merge_request.view.state else []
    context = {
        "merge_request": merge_request,
        "request": merge_request.view,
        "parent": merge_request.parent,
        "box": merge_box(merge_request),
    }
    return TemplateResponse(
        "merge_requests/_merge_box.html", context | {"closes": _closed_issues(merge_request)}, headers=headers
    )


def overview_page(
    merge_request: MergeRequestContext, errors: list[str] | None = None, status: int = 200
) -> PageResponse:
    """Render the overview page, with errors after a failed action."""
    visit, discussable, view = merge_request.visit, merge_request.discussable, merge_request.view
    thread = with_suggestions(merge_request, discussion_thread(discussable, view.description))
    drafts = review_drafts(merge_request, thread)
    approvals = discussable.ask(merge_request_discussions_api.get_approvals)
    context = {
        "thread": thread,
        "drafts": drafts,
        "pending": drafts.items,
        "appliable": appliable_count(thread) if may_apply_suggestions(merge_request) else 0,
        "contexts": line_contexts(merge_request, thread),
        "description": thread.other_texts[0],
        "participants": discussable.ask(merge_request_editing_api.PLANNING.list_participants, {"per_page": 50}),
        "closes": _closed_issues(merge_request),
        "approvals": approvals,
        "reviews": merge_request.reviews,
        "may_request_review": merge_request.may_edit and view.state == "opened",
        "approval_rules": (
            discussable.ask(approval_settings_api.get_approval_state).rules if approvals.has_approval_rules else []
        ),
        "may_take_part": may_take_part(visit.viewer.actor, merge_request.lookup.access, merge_request.lookup),
        "box": merge_box(merge_request),
        "stack": stack_panel(merge_request),
        "rewritten": rewritten_commits(merge_request),
        "errors": errors or [],
    }
    return merge_request.page("merge_requests/show.html", "overview", context, status)


def _closed_issues(merge_request: MergeRequestContext) -> list[Any]:
    """Return the issues that it closes and that the viewer may see."""
    issues: list[Any] = merge_request.discussable.ask(
        merge_request_editing_api.list_issues_closed_on_merge, {"per_page": 50}
    ).items
    return issues
