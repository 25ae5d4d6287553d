"""What people say about issues over the API; how it works is the same for whatever is talked about."""

from ingot.access.levels import Access
from ingot.api.routes import Call, Routes
from ingot.emoji.api import award_routes
from ingot.histories.api import history_routes
from ingot.issues.api import issue_in_path
from ingot.issues.service import subject_of
from ingot.issues.talk.policy import reach
from ingot.notes.api import discussion_routes, note_routes
from ingot.subjects import Reached

routes = Routes("issues")


def issue_subject_in_path(call: Call) -> tuple[Access, Reached]:
    """The issue that the path names, as something that is talked about."""
    here, found = issue_in_path(call)
    return here, reach(call.actor, here, found, subject_of(found.issue))


note_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
discussion_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
award_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
history_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
