"""Endpoints of freeze periods."""

from ingot.ci.freeze_periods import policy, queries, service
from ingot.ci.freeze_periods.params import CreateFreezePeriod, EditFreezePeriod
from ingot.ci.freeze_periods.tables import FreezePeriod
from ingot.ci.freeze_periods.views import FreezePeriodView, freeze_period_view
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("freeze_periods")


def _period_in_path(call: Call, project: Project) -> FreezePeriod:
    return queries.find_freeze_period(call.db, project.id, path_number(call.path, "freeze_period_id"))


@routes.get(
    "/projects/:id/freeze_periods",
    on=project_in_path,
    may=policy.may_read_freeze_periods,
    returns=list[FreezePeriodView],
)
def list_freeze_periods(call: Call, project: Project, page: Page) -> Listing[FreezePeriodView]:
    """List the freeze periods of a project."""
    listing = queries.list_freeze_periods(call.db, project.id, page)
    return listing.of([freeze_period_view(period) for period in listing.items])


@routes.get(
    "/projects/:id/freeze_periods/:freeze_period_id",
    on=project_in_path,
    may=policy.may_read_freeze_periods,
    returns=FreezePeriodView,
)
def get_freeze_period(call: Call, project: Project) -> FreezePeriodView:
    """Get a freeze period."""
    return freeze_period_view(_period_in_path(call, project))


@routes.post(
    "/projects/:id/freeze_periods",
    on=project_in_path,
    may=policy.may_change_freeze_periods,
    returns=FreezePeriodView,
)
def create_freeze_period(call: Call, project: Project, params: CreateFreezePeriod) -> FreezePeriodView:
    """Create a freeze period."""
    return freeze_period_view(service.create_freeze_period(call.db, project, params))


@routes.put(
    "/projects/:id/freeze_periods/:freeze_period_id",
    on=project_in_path,
    may=policy.may_change_freeze_periods,
    returns=FreezePeriodView,
)
def edit_freeze_period(call: Call, project: Project, params: EditFreezePeriod) -> FreezePeriodView:
    """Edit a freeze period."""
    return freeze_period_view(service.edit_freeze_period(call.db, _period_in_path(call, project), params))


@routes.delete(
    "/projects/:id/freeze_periods/:freeze_period_id",
    on=project_in_path,
    may=policy.may_change_freeze_periods,
    returns=None,
    status=204,
)
def delete_freeze_period(call: Call, project: Project) -> None:
    """Delete a freeze period."""
    service.delete_freeze_period(call.db, _period_in_path(call, project))
