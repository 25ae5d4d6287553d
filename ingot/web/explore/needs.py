"""Objects that wait for the user: requested reviews, assigned issues, failed pipelines and to-do items."""

from typing import NamedTuple

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.list_views import failed_merge_requests
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.collaboration.todos import api as todos_api
from ingot.collaboration.todos.views import TodoView
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.web.page_routes import Visit

_ROWS = 5
_OWN = 30
"""Number of the user's newest merge requests whose pipelines are read."""


class Needs(NamedTuple):
    """The first objects of each kind that wait for the user."""

    reviews: Listing[MergeRequestView]
    issues: Listing[IssueView]
    failed: list[MergeRequestView]
    """Open merge requests of the user whose latest pipeline failed."""
    todos: Listing[TodoView]

    @property
    def nothing(self) -> bool:
        """Return whether nothing waits for the user."""
        return not (self.reviews.items or self.issues.items or self.failed or self.todos.items)


def needs_of_user(visit: Visit, db: Connection) -> Needs:
    """Return what waits for the signed-in user; the number of statements does not depend on it."""
    some = {"per_page": _ROWS, "state": "opened", "order_by": "updated_at"}
    own = visit.ask(merge_requests_api.list_merge_requests, {**some, "per_page": _OWN, "scope": "created_by_me"}).items
    failed = failed_merge_requests(db, visit.viewer.actor, own)
    return Needs(
        visit.ask(merge_requests_api.list_merge_requests, {**some, "scope": "reviews_for_me"}),
        visit.ask(issues_api.list_issues, {**some, "scope": "assigned_to_me"}),
        [view for view in own if view.id in failed][:_ROWS],
        visit.ask(todos_api.list_todos, {"per_page": _ROWS}),
    )
