"""What people did, over the API."""

from ingot.access.rules import signed_in
from ingot.activity import queries
from ingot.activity.params import ListEvents, ListOwnEvents
from ingot.activity.tables import Happening
from ingot.activity.views import EventView, event_views
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.projects.api import project_in_path
from ingot.projects.policy import may_see_project
from ingot.projects.tables import Project
from ingot.projects.views import addresses_of
from ingot.users.accounts.api import named_user
from ingot.users.accounts.tables import User

routes = Routes("events")


def _shown(call: Call, found: Listing[Happening]) -> Listing[EventView]:
    return found.of(event_views(call.db, found.items, addresses_of(call.origin, call.settings)))


@routes.get("/events", may=signed_in, returns=list[EventView])
def list_own_events(call: Call, params: ListOwnEvents, page: Page) -> Listing[EventView]:
    """List what the caller did, or what anybody did in the caller's projects."""
    where = "belonging" if params.scope == "all" else "author"
    return _shown(call, queries.list_events(call.db, call.actor, params, page, where, author=call.actor.user_id))


@routes.get("/users/:id/events", on=named_user, may=signed_in, returns=list[EventView])
def list_user_events(call: Call, user: User, params: ListEvents, page: Page) -> Listing[EventView]:
    """List what a user did, as far as the caller may see it."""
    return _shown(call, queries.list_events(call.db, call.actor, params, page, "author", author=user.id))


@routes.get("/projects/:id/events", on=project_in_path, may=may_see_project, returns=list[EventView], open=True)
def list_project_events(call: Call, project: Project, params: ListEvents, page: Page) -> Listing[EventView]:
    """List what happened in a project, as far as the caller may see it."""
    return _shown(call, queries.list_events(call.db, call.actor, params, page, "project", project=project.id))
