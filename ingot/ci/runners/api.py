"""Endpoints of runners: registration by runners, and administration by users."""

from ingot.ci.runners import policy, queries, service
from ingot.ci.runners.params import (
    AssignRunner,
    CreateRunner,
    EditRunner,
    ListOwnRunners,
    ListRunners,
    RegisterRunner,
    UnregisterManager,
    UnregisterRunner,
    VerifyRunner,
)
from ingot.ci.runners.registration import (
    RunnerOwner,
    may_have_runners,
    owner_of_registration_token,
    require_registration_allowed,
    reset_registration_token,
)
from ingot.ci.runners.tables import Runner
from ingot.ci.runners.views import (
    RegisteredRunnerView,
    ResetTokenView,
    RunnerDetailsView,
    RunnerManagerView,
    RunnerView,
    runner_details_view,
    runner_manager_view,
    runner_view,
)
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import administrators, anyone, require, signed_in
from ingot.core.access.scopes import CREATE_RUNNER_SCOPES, MANAGE_RUNNER_SCOPES, READ_RUNNER_SCOPES
from ingot.core.api.params import MissingParameter, path_number
from ingot.core.api.routes import Call, PrepareContext, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Denied, Invalid
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.groups.queries import find_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls

routes = Routes("runners")


def runner_in_path(call: Call) -> tuple[Access, Runner]:
    """Return the runner with the id in the path and the caller's access to it."""
    return queries.find_runner(call.db, call.actor, path_number(call.path, "id"))


def _views(call: Call, listing: Listing[Runner]) -> Listing[RunnerView]:
    return listing.of([runner_view(runner, call.db.now) for runner in listing.items])


def _details(call: Call, runner: Runner) -> RunnerDetailsView:
    access, runner = queries.find_runner(call.db, call.actor, runner.id)
    return runner_details_view(call.db, call.actor, access, runner, instance_urls(call.db, call.origin, call.settings))


@routes.get("/runners", may=signed_in, returns=list[RunnerView], scopes=READ_RUNNER_SCOPES)
def list_runners(call: Call, params: ListOwnRunners, page: Page) -> Listing[RunnerView]:
    """List the runners of the projects and groups that the caller administers."""
    return _views(call, queries.list_own_runners(call.db, call.actor, params, page))


@routes.get("/runners/all", may=administrators, returns=list[RunnerView], scopes=READ_RUNNER_SCOPES)
def list_all_runners(call: Call, params: ListRunners, page: Page) -> Listing[RunnerView]:
    """List all runners."""
    return _views(call, queries.list_all_runners(call.db, params, page))


@routes.get(
    "/runners/:id", on=runner_in_path, may=policy.may_see_runner, returns=RunnerDetailsView, scopes=READ_RUNNER_SCOPES
)
def get_runner(call: Call, runner: Runner) -> RunnerDetailsView:
    """Get a runner."""
    return _details(call, runner)


@routes.put(
    "/runners/:id",
    on=runner_in_path,
    may=policy.may_change_runner,
    returns=RunnerDetailsView,
    scopes=MANAGE_RUNNER_SCOPES,
)
def edit_runner(call: Call, runner: Runner, params: EditRunner) -> RunnerDetailsView:
    """Edit a runner."""
    return _details(call, service.edit_runner(call.db, runner, params))


# A missing runner is a 404, unlike in families of the specification: the caller must notice a wrong id.
@routes.delete(
    "/runners/:id", on=runner_in_path, may=policy.may_change_runner, returns=None, scopes=MANAGE_RUNNER_SCOPES
)
def delete_runner(call: Call, runner: Runner) -> None:
    """Delete a runner."""
    service.require_sole_project(call.db, call.actor, runner)
    service.delete_runner(call.db, runner)


@routes.get(
    "/runners/:id/managers",
    on=runner_in_path,
    may=policy.may_see_runner,
    returns=list[RunnerManagerView],
    scopes=READ_RUNNER_SCOPES,
)
def list_runner_managers(call: Call, runner: Runner) -> list[RunnerManagerView]:
    """List the machines that use the token of a runner."""
    return [runner_manager_view(manager, call.db.now) for manager in queries.list_managers(call.db, runner)]


@routes.post(
    "/runners/:id/reset_authentication_token",
    on=runner_in_path,
    may=policy.may_change_runner,
    returns=ResetTokenView,
    scopes=MANAGE_RUNNER_SCOPES,
)
def reset_runner_token(call: Call, runner: Runner) -> ResetTokenView:
    """Replace the token of a runner."""
    return ResetTokenView(*service.reset_runner_token(call.db, runner))


@routes.get(
    "/projects/:id/runners",
    on=project_in_path,
    may=policy.may_list_project_runners,
    returns=list[RunnerView],
    scopes=READ_RUNNER_SCOPES,
)
def list_project_runners(call: Call, project: Project, params: ListRunners, page: Page) -> Listing[RunnerView]:
    """List the runners available to a project."""
    return _views(call, queries.list_project_runners(call.db, project, params, page))


@routes.post(
    "/projects/:id/runners",
    on=project_in_path,
    may=policy.may_change_project_runners,
    returns=RunnerView,
    scopes=MANAGE_RUNNER_SCOPES,
)
def assign_runner(call: Call, project: Project, params: AssignRunner) -> RunnerView:
    """Make a runner of another project available to a project."""
    access, runner = queries.find_runner(call.db, call.actor, params.runner_id)
    service.require_assignable(call.actor, runner)
    require(policy.may_change_runner(call.actor, access, runner), "No access granted")
    service.assign_runner(call.db, runner, project)
    return runner_view(runner, call.db.now)


@routes.delete(
    "/projects/:id/runners/:runner_id",
    on=project_in_path,
    may=policy.may_change_project_runners,
    returns=None,
    scopes=MANAGE_RUNNER_SCOPES,
)
def unassign_runner(call: Call, project: Project) -> None:
    """Make a runner unavailable to a project."""
    service.unassign_runner(call.db, project, path_number(call.path, "runner_id"))


@routes.get(
    "/groups/:id/runners",
    on=group_in_path,
    may=policy.may_list_group_runners,
    returns=list[RunnerView],
    scopes=READ_RUNNER_SCOPES,
)
def list_group_runners(call: Call, group: Namespace, params: ListRunners, page: Page) -> Listing[RunnerView]:
    """List the runners available to the projects of a group."""
    return _views(call, queries.list_group_runners(call.db, group, params, page))


@routes.post("/user/runners", may=signed_in, returns=RegisteredRunnerView, scopes=CREATE_RUNNER_SCOPES)
def create_runner(call: Call, params: CreateRunner) -> RegisteredRunnerView:
    """Create a runner; the response is the only one with its token."""
    owner = _creation_owner(call.db, call.actor, params)
    require(call.actor.admin or may_have_runners(call.db, owner))
    runner, token = service.create_runner(call.db, call.actor, owner, params)
    return RegisteredRunnerView(runner.id, token, runner.token_expires_at)


def _creation_owner(db: Connection, actor: Actor, params: CreateRunner) -> RunnerOwner:
    """Return the owner of a new runner; raise if the caller may not create runners there."""
    if params.runner_type == "instance_type":
        require(actor.admin)
        return RunnerOwner()
    if params.runner_type == "group_type":
        if params.group_id is None:
            raise MissingParameter("group_id")
        access, group = find_group(db, actor, params.group_id)
        require(may_admin_group(actor, access, group))
        return RunnerOwner(group_id=group.id)
    if params.project_id is None:
        raise MissingParameter("project_id")
    access, project = find_project(db, actor, params.project_id)
    require(policy.may_change_project_runners(actor, access, project))
    return RunnerOwner(project_id=project.id)


@routes.post("/runners/reset_registration_token", may=administrators, returns=ResetTokenView)
def reset_instance_registration_token(call: Call) -> ResetTokenView:
    """Replace the token with which runners of the instance register."""
    return ResetTokenView(reset_registration_token(call.db, None), None)


@routes.post(
    "/projects/:id/runners/reset_registration_token",
    on=project_in_path,
    may=policy.may_change_project_runners,
    returns=ResetTokenView,
)
def reset_project_registration_token(call: Call, project: Project) -> ResetTokenView:
    """Replace the token with which runners of a project register."""
    return ResetTokenView(reset_registration_token(call.db, project), None)


@routes.post(
    "/groups/:id/runners/reset_registration_token", on=group_in_path, may=may_admin_group, returns=ResetTokenView
)
def reset_group_registration_token(call: Call, group: Namespace) -> ResetTokenView:
    """Replace the token with which runners of a group register."""
    return ResetTokenView(reset_registration_token(call.db, group), None)


def _registration_owner(context: PrepareContext, params: RegisterRunner) -> RunnerOwner:
    owner = owner_of_registration_token(context.database, params.token)
    context.database.read(lambda db: require_registration_allowed(db, owner))
    return owner


@routes.post("/runners", may=anyone, runner_call=True, prepare=_registration_owner, returns=RegisteredRunnerView)
def register_runner(call: Call, params: RegisterRunner, owner: RunnerOwner) -> RegisteredRunnerView:
    """Register a runner with a registration token."""
    if params.active is not None and params.paused is not None:
        raise Invalid("active, paused are mutually exclusive")
    runner, token = service.register_runner(call.db, owner, params, call.origin.ip)
    return RegisteredRunnerView(runner.id, token, runner.token_expires_at)


def authenticated_runner(db: Connection, token: str) -> Runner:
    """Return the runner with a token; raise Denied if there is none."""
    runner = queries.runner_by_token(db, token)
    if runner is None:
        raise Denied
    return runner


@routes.post("/runners/verify", may=anyone, runner_call=True, returns=RegisteredRunnerView, status=200)
def verify_runner(call: Call, params: VerifyRunner) -> RegisteredRunnerView:
    """Check the token of a runner."""
    runner = authenticated_runner(call.db, params.token)
    service.note_contact(call.db, runner.id, params.info, call.origin.ip, params.system_id)
    return RegisteredRunnerView(runner.id, params.token, runner.token_expires_at)


@routes.delete("/runners", may=anyone, runner_call=True, returns=None, status=204)
def unregister_runner(call: Call, params: UnregisterRunner) -> None:
    """Delete a runner by its token."""
    service.delete_runner(call.db, authenticated_runner(call.db, params.token))


@routes.delete("/runners/managers", may=anyone, runner_call=True, returns=None, status=204)
def unregister_runner_manager(call: Call, params: UnregisterManager) -> None:
    """Remove a machine from a runner by the runner's token."""
    service.remove_manager(call.db, authenticated_runner(call.db, params.token), params.system_id)


@routes.post("/runners/reset_authentication_token", may=anyone, runner_call=True, returns=ResetTokenView)
def reset_own_token(call: Call, params: UnregisterRunner) -> ResetTokenView:
    """Replace the token of the runner that sends it."""
    return ResetTokenView(*service.reset_runner_token(call.db, authenticated_runner(call.db, params.token)))
