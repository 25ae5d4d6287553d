"""Hooks of projects and groups over the API: one handler for both, since they differ only in what they belong to."""

from ingot.api.params import number_or_none, path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_admin_group
from ingot.hooks import queries, service
from ingot.hooks.params import ListEvents, SetValue, WriteHook
from ingot.hooks.queries import Owner
from ingot.hooks.samples import Sampler, project_in_group
from ingot.hooks.subscribers import Ear
from ingot.hooks.tables import Hook
from ingot.hooks.views import (
    INTERNAL_ERROR,
    GroupHookView,
    HookEventView,
    ProjectHookView,
    TestedView,
    event_view,
    group_hook_view,
    project_hook_view,
)
from ingot.outgoing.guard import Guard
from ingot.projects.api import project_in_path, store_of
from ingot.projects.policy import may_admin_project, may_change_project
from ingot.projects.tables import Project
from ingot.projects.views import addresses_at

routes = Routes("hooks")
UNFIT = 422
"""The contract's word for a URL that does not do, and for a test of what is not there."""
_FAMILIES = ("successful", "client_failure", "server_failure", INTERNAL_ERROR)
_SENT = "201 Created"
Around = Project | Namespace
"""What hooks belong to here."""


def guard_of(call: Call) -> Guard:
    """What requests of this instance may reach."""
    return Guard(call.settings.allow_local_requests, call.settings.reachable)


def list_attempts(call: Call, hook: Hook, params: ListEvents, page: Page) -> Listing[HookEventView]:
    """A page of what a hook has sent."""
    code = None if params.status is None else number_or_none(params.status)
    if params.status is not None and code is None and params.status not in _FAMILIES:
        raise Invalid(status=["does not have a valid value"])
    found = queries.list_attempts(call.db, hook, params.status if code is None else code, page)
    return found.of([event_view(attempt) for attempt in found.items])


def send_again(call: Call, hook: Hook) -> TestedView:
    """Let a hook send once more what it has sent."""
    attempt = queries.find_attempt(call.db, hook, path_number(call.path, "hook_event_id"))
    service.resend(call.db, hook, attempt)
    return TestedView(_SENT)


def _owner(around: Around) -> Owner:
    return Owner("project" if isinstance(around, Project) else "group", around.id)


def _hook(call: Call, around: Around) -> Hook:
    return queries.find_hook(call.db, _owner(around), path_number(call.path, "hook_id"))


def _view(call: Call, hook: Hook) -> ProjectHookView | GroupHookView:
    return project_hook_view(call.db, hook) if hook.kind == "project" else group_hook_view(call.db, hook)


@routes.get("/projects/:id/hooks", on=project_in_path, may=may_admin_project, returns=list[ProjectHookView])
@routes.get("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=list[GroupHookView])
def list_hooks(call: Call, around: Around, page: Page) -> Listing[ProjectHookView | GroupHookView]:
    """List the hooks of a project or group."""
    found = queries.list_hooks(call.db, _owner(around), page)
    return found.of([_view(call, hook) for hook in found.items])


@routes.get("/projects/:id/hooks/:hook_id", on=project_in_path, may=may_admin_project, returns=ProjectHookView)
@routes.get("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView)
def get_hook(call: Call, around: Around) -> ProjectHookView | GroupHookView:
    """Get a hook of a project or group."""
    return _view(call, _hook(call, around))


@routes.post("/projects/:id/hooks", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNFIT)
@routes.post("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNFIT)
def create_hook(call: Call, around: Around, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Add a hook to a project, or to a group for all projects in it."""
    return _view(call, service.create_hook(call.db, _owner(around), params, guard_of(call)))


@routes.put(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNFIT
)
@routes.put("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNFIT)
def edit_hook(call: Call, around: Around, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Edit a hook of a project or group; another URL takes its secrets away."""
    hook = _hook(call, around)
    return _view(call, service.edit_hook(call.db, _owner(around), hook, params, guard_of(call)))


@routes.delete(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView | None
)
@routes.delete("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView | None)
def delete_hook(call: Call, around: Around) -> ProjectHookView | GroupHookView | None:
    """Delete a hook of a project or group, and show what it was."""
    hook = queries.hook_or_none(call.db, _owner(around), path_number(call.path, "hook_id"))
    if hook is None:
        return None
    service.delete_hook(call.db, hook)
    return _view(call, hook)


@routes.post(
    "/projects/:id/hooks/:hook_id/test/:trigger",
    on=project_in_path,
    may=may_change_project,
    returns=TestedView,
    conflict=UNFIT,
    heavy=True,
)
@routes.post(
    "/groups/:id/hooks/:hook_id/test/:trigger",
    on=group_in_path,
    may=may_admin_group,
    returns=TestedView,
    conflict=UNFIT,
    heavy=True,
)
def test_hook(call: Call, around: Around) -> TestedView:
    """Let a hook send the newest thing of a kind, a group's from one of its projects."""
    hook = _hook(call, around)
    project = around if isinstance(around, Project) else project_in_group(call.db, around.id)
    ear = Ear(addresses_at(call.settings.base_url, call.settings), only=hook)
    Sampler(call.db, ear, store_of(call.settings), call.actor.user_id).sample(project, call.path["trigger"])
    service.let_try(call.db, hook)
    return TestedView(_SENT)


@routes.get(
    "/projects/:id/hooks/:hook_id/events",
    on=project_in_path,
    may=may_admin_project,
    returns=list[HookEventView],
    heavy=True,
)
@routes.get(
    "/groups/:id/hooks/:hook_id/events",
    on=group_in_path,
    may=may_admin_group,
    returns=list[HookEventView],
    heavy=True,
)
def list_hook_events(call: Call, around: Around, params: ListEvents, page: Page) -> Listing[HookEventView]:
    """List what a hook of a project or group has sent, and what was answered."""
    return list_attempts(call, _hook(call, around), params, page)


@routes.post(
    "/projects/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=project_in_path,
    may=may_change_project,
    returns=TestedView,
)
@routes.post(
    "/groups/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=group_in_path,
    may=may_admin_group,
    returns=TestedView,
)
def resend_hook_event(call: Call, around: Around) -> TestedView:
    """Let a hook of a project or group send once more what it has sent."""
    return send_again(call, _hook(call, around))


@routes.put(
    "/projects/:id/hooks/:hook_id/url_variables/:key",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    status=204,
    conflict=UNFIT,
)
@routes.put(
    "/groups/:id/hooks/:hook_id/url_variables/:key",
    on=group_in_path,
    may=may_admin_group,
    returns=None,
    status=204,
    conflict=UNFIT,
)
def set_url_variable(call: Call, around: Around, params: SetValue) -> None:
    """Let a name in the URL of a hook stand for something; another server gets none of the secrets."""
    service.set_variable(call.db, _hook(call, around), call.path["key"], params.value, guard_of(call))


@routes.delete(
    "/projects/:id/hooks/:hook_id/url_variables/:key",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    conflict=UNFIT,
)
@routes.delete(
    "/groups/:id/hooks/:hook_id/url_variables/:key", on=group_in_path, may=may_admin_group, returns=None, conflict=UNFIT
)
def delete_url_variable(call: Call, around: Around) -> None:
    """Forget what a name stands for that the URL of a hook does not need."""
    service.set_variable(call.db, _hook(call, around), call.path["key"], None, guard_of(call))


@routes.put(
    "/projects/:id/hooks/:hook_id/custom_headers/:key",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    status=204,
)
@routes.put(
    "/groups/:id/hooks/:hook_id/custom_headers/:key", on=group_in_path, may=may_admin_group, returns=None, status=204
)
def set_custom_header(call: Call, around: Around, params: SetValue) -> None:
    """Let every request of a hook carry a header."""
    service.set_header(call.db, _hook(call, around), call.path["key"], params.value)


@routes.delete(
    "/projects/:id/hooks/:hook_id/custom_headers/:key", on=project_in_path, may=may_change_project, returns=None
)
@routes.delete("/groups/:id/hooks/:hook_id/custom_headers/:key", on=group_in_path, may=may_admin_group, returns=None)
def delete_custom_header(call: Call, around: Around) -> None:
    """Let the requests of a hook not carry a header any more."""
    service.set_header(call.db, _hook(call, around), call.path["key"], None)
