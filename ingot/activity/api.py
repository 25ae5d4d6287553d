"""Endpoints of activity events, and of the projects to which a user contributed."""

from datetime import date, timedelta

from ingot.accounts.users.api import user_by_id_or_username_in_path
from ingot.accounts.users.policy import may_see_profile
from ingot.accounts.users.tables import User
from ingot.activity import queries
from ingot.activity.params import ListActivityEvents, ListOwnActivityEvents
from ingot.activity.tables import ActivityEvent
from ingot.activity.views import EventView, event_views
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Date
from ingot.projects.projects.api import project_in_path, project_page
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.policy import may_see_project
from ingot.projects.projects.queries import list_projects
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import ProjectView, SimpleProjectView, instance_urls_at

routes = Routes("events")


def _event_views(call: Call, listing: Listing[ActivityEvent]) -> Listing[EventView]:
    return listing.of(event_views(call.db, listing.items, instance_urls_at(call.origin.base, call.settings)))


@routes.get("/events", may=signed_in, returns=list[EventView], cached=True)
def list_own_events(call: Call, params: ListOwnActivityEvents, page: Page) -> Listing[EventView]:
    """List the caller's events, or all events in the caller's projects."""
    scope_filter = "belonging" if params.scope == "all" else "author"
    return _event_views(
        call, queries.list_events(call.db, call.actor, params, page, scope_filter, author=call.actor.user_id)
    )


@routes.get("/users/:id/events", on=user_by_id_or_username_in_path, may=signed_in, returns=list[EventView])
def list_user_events(call: Call, user: User, params: ListActivityEvents, page: Page) -> Listing[EventView]:
    """List the events of a user that the caller may see."""
    if not may_see_profile(call.actor, user):
        return Listing([], page, 0)
    return _event_views(call, queries.list_events(call.db, call.actor, params, page, "author", author=user.id))


@routes.get(
    "/users/:id/contributed_projects",
    on=user_by_id_or_username_in_path,
    may=signed_in,
    returns=list[ProjectView | SimpleProjectView],
)
def list_contributed_projects(call: Call, user: User, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects to which a user contributed within a year, as far as the caller may see the contributions."""
    year_ago = Date((date.fromisoformat(call.db.today) - timedelta(days=365)).isoformat())
    visible = may_see_profile(call.actor, user)
    contributed = queries.contributed_project_ids(call.db, call.actor, user.id, year_ago) if visible else []
    return project_page(call, list_projects(call.db, call.actor, params, page, "chosen", chosen=contributed), params)


@routes.get(
    "/projects/:id/events", on=project_in_path, may=may_see_project, returns=list[EventView], open=True, cached=True
)
def list_project_events(call: Call, project: Project, params: ListActivityEvents, page: Page) -> Listing[EventView]:
    """List the events of a project that the caller may see."""
    return _event_views(call, queries.list_events(call.db, call.actor, params, page, "project", project=project.id))
