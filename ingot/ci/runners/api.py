"""Endpoints of runners; registration and job assignment follow with pipelines."""

from ingot.ci.runners import policy
from ingot.ci.runners.params import ListOwnRunners, ListRunners
from ingot.ci.runners.views import RunnerView
from ingot.core.access.rules import administrators, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.errors import NotFound
from ingot.projects.groups.api import group_in_path
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("runners")


def _empty_page(page: Page) -> Listing[RunnerView]:
    """Return an empty page, since runners cannot register yet."""
    return Listing([], page, None if page.keyset else 0)


@routes.get("/runners", may=signed_in, returns=list[RunnerView])
def list_runners(call: Call, params: ListOwnRunners, page: Page) -> Listing[RunnerView]:  # noqa: ARG001 - There is nothing to filter yet.
    """List the runners that the caller may use."""
    return _empty_page(page)


@routes.get("/runners/all", may=administrators, returns=list[RunnerView])
def list_all_runners(call: Call, params: ListRunners, page: Page) -> Listing[RunnerView]:  # noqa: ARG001 - There is nothing to filter yet.
    """List all runners."""
    return _empty_page(page)


@routes.get("/runners/:id", may=signed_in, returns=RunnerView)
def get_runner(call: Call) -> RunnerView:
    """Get a runner."""
    path_number(call.path, "id")
    raise NotFound("Runner")


@routes.get("/projects/:id/runners", on=project_in_path, may=policy.may_list_project_runners, returns=list[RunnerView])
def list_project_runners(
    call: Call,  # noqa: ARG001 - There is nothing to filter yet.
    project: Project,  # noqa: ARG001 - There is nothing to filter yet.
    params: ListRunners,  # noqa: ARG001 - There is nothing to filter yet.
    page: Page,
) -> Listing[RunnerView]:
    """List the runners of a project."""
    return _empty_page(page)


@routes.get("/groups/:id/runners", on=group_in_path, may=policy.may_list_group_runners, returns=list[RunnerView])
def list_group_runners(
    call: Call,  # noqa: ARG001 - There is nothing to filter yet.
    group: Namespace,  # noqa: ARG001 - There is nothing to filter yet.
    params: ListRunners,  # noqa: ARG001 - There is nothing to filter yet.
    page: Page,
) -> Listing[RunnerView]:
    """List the runners of a group."""
    return _empty_page(page)
