"""Reviewers of a merge request: the results of their reviews, and the request for another one."""

from collections.abc import Sequence

from ingot.accounts.users.views import UserBrief
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.web.discussions.discussable import MERGE_REQUEST, Discussable, discussable_finder
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
find_discussable = discussable_finder(MERGE_REQUEST)


@pages.post("/:path/-/merge_requests/:merge_request_iid/reviewers/:user_id/request_review", notice="Review requested.")
def request_review(visit: Visit) -> PageResponse:
    """Ask a reviewer for another review."""
    discussable = find_discussable(visit)
    discussable.ask(merge_request_discussions_api.request_review, user_id=visit.request.path["user_id"])
    return LocalRedirect(discussable.url)


def reviewer_states(discussable: Discussable, reviewers: Sequence[UserBrief]) -> dict[int, str]:
    """Return the result of each reviewer's review, by the reviewer's id."""
    if not reviewers:
        return {}
    views = discussable.ask(merge_request_discussions_api.list_reviewers)
    return {view.user.id: view.state for view in views}
