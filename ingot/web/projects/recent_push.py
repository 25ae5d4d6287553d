"""Banner of the project's home page that offers a merge request for a branch that the user has just pushed."""

from datetime import timedelta
from typing import NamedTuple

from ingot.activity.views import EventView, newest_events
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.projects.projects.views import instance_urls_at
from ingot.web.projects.context import ProjectContext

_AGE = timedelta(hours=2)
_EVENTS = 5


class RecentPush(NamedTuple):
    """Branch that the user pushed recently, without a merge request."""

    branch: str
    pushed_at: Timestamp
    address: str
    """URL of the form for a new merge request."""


def recent_push_or_none(parent: ProjectContext, db: Connection) -> RecentPush | None:
    """Return the user's newest push to a branch of the project, if a merge request can be created for it."""
    visit, project = parent.visit, parent.project
    if visit.viewer.user is None or not parent.may(merge_requests_api.create_merge_request):
        return None
    at = instance_urls_at(visit.request.origin.base, visit.settings)
    events = newest_events(db, visit.viewer.actor, "author", visit.viewer.user.id, _EVENTS, at)
    since = to_datetime(db.now) - _AGE
    event = next((event for event in events if _is_branch_push(parent, event)), None)
    if event is None or not event.push_data or to_datetime(event.created_at) < since:
        return None
    branch = event.push_data.ref
    params = {"source_branch": branch, "scope": "all", "state": "all", "per_page": 20}
    existing = visit.ask(merge_requests_api.list_merge_requests, params).items
    if any(each.source_project_id == project.id for each in existing):
        return None
    return RecentPush(branch, event.created_at, parent.new_merge_request(branch, project.default_branch))


def _is_branch_push(parent: ProjectContext, event: EventView) -> bool:
    push = event.push_data
    if not push or event.project_id != parent.project.id:
        return False
    return push.ref_type == "branch" and push.action != "removed" and push.ref != parent.project.default_branch
