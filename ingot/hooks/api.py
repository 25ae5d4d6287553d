"""Hooks of projects and groups over the API."""

from ingot.api.params import number_or_none, path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_admin_group
from ingot.hooks import queries, service
from ingot.hooks.params import ListEvents, WriteHook
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


def guard_of(call: Call) -> Guard:
    """What requests of this instance may reach."""
    return Guard(call.settings.allow_local_requests, call.settings.reachable)


def hook_in_path(call: Call, owner: Owner) -> Hook:
    """The hook that the path names."""
    return queries.find_hook(call.db, owner, path_number(call.path, "hook_id"))


def list_events(call: Call, hook: Hook, params: ListEvents, page: Page) -> Listing[HookEventView]:
    """A page of what a hook has sent."""
    code = None if params.status is None else number_or_none(params.status)
    if params.status is not None and code is None and params.status not in _FAMILIES:
        raise Invalid(status=["does not have a valid value"])
    found = queries.list_attempts(call.db, hook, params.status if code is None else code, page)
    return found.of([event_view(attempt) for attempt in found.items])


def resend(call: Call, hook: Hook) -> TestedView:
    """Let a hook send once more what it has sent."""
    attempt = queries.find_attempt(call.db, hook, path_number(call.path, "hook_event_id"))
    service.resend(call.db, hook, attempt)
    return TestedView(_SENT)


def _test(call: Call, hook: Hook, project: Project) -> TestedView:
    ear = Ear(addresses_at(call.settings.base_url, call.settings), only=hook)
    sampler = Sampler(call.db, ear, store_of(call.settings), call.actor.user_id)
    sampler.sample(project, call.path["trigger"])
    service.let_try(call.db, hook)
    return TestedView(_SENT)


def _of_project(project: Project) -> Owner:
    return Owner("project", project.id)


def _of_group(group: Namespace) -> Owner:
    return Owner("group", group.id)


@routes.get("/projects/:id/hooks", on=project_in_path, may=may_admin_project, returns=list[ProjectHookView])
def list_project_hooks(call: Call, project: Project, page: Page) -> Listing[ProjectHookView]:
    """List the hooks of a project."""
    found = queries.list_hooks(call.db, _of_project(project), page)
    return found.of([project_hook_view(call.db, hook) for hook in found.items])


@routes.get("/projects/:id/hooks/:hook_id", on=project_in_path, may=may_admin_project, returns=ProjectHookView)
def get_project_hook(call: Call, project: Project) -> ProjectHookView:
    """Get a hook of a project."""
    return project_hook_view(call.db, hook_in_path(call, _of_project(project)))


@routes.post("/projects/:id/hooks", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNFIT)
def create_project_hook(call: Call, project: Project, params: WriteHook) -> ProjectHookView:
    """Add a hook to a project."""
    hook = service.create_hook(call.db, _of_project(project), params, guard_of(call))
    return project_hook_view(call.db, hook)


@routes.put(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNFIT
)
def edit_project_hook(call: Call, project: Project, params: WriteHook) -> ProjectHookView:
    """Edit a hook of a project; another URL takes its secrets away."""
    owner = _of_project(project)
    hook = service.edit_hook(call.db, owner, hook_in_path(call, owner), params, guard_of(call))
    return project_hook_view(call.db, hook)


@routes.delete(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView | None
)
def delete_project_hook(call: Call, project: Project) -> ProjectHookView | None:
    """Delete a hook of a project, and show what it was."""
    hook = queries.hook_or_none(call.db, _of_project(project), path_number(call.path, "hook_id"))
    if hook is None:
        return None
    service.delete_hook(call.db, hook)
    return project_hook_view(call.db, hook)


@routes.post(
    "/projects/:id/hooks/:hook_id/test/:trigger",
    on=project_in_path,
    may=may_change_project,
    returns=TestedView,
    conflict=UNFIT,
    heavy=True,
)
def test_project_hook(call: Call, project: Project) -> TestedView:
    """Let a hook of a project send the newest thing of a kind."""
    return _test(call, hook_in_path(call, _of_project(project)), project)


@routes.get(
    "/projects/:id/hooks/:hook_id/events",
    on=project_in_path,
    may=may_admin_project,
    returns=list[HookEventView],
    heavy=True,
)
def list_project_hook_events(call: Call, project: Project, params: ListEvents, page: Page) -> Listing[HookEventView]:
    """List what a hook of a project has sent, and what was answered."""
    return list_events(call, hook_in_path(call, _of_project(project)), params, page)


@routes.post(
    "/projects/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=project_in_path,
    may=may_change_project,
    returns=TestedView,
)
def resend_project_hook_event(call: Call, project: Project) -> TestedView:
    """Let a hook of a project send once more what it has sent."""
    return resend(call, hook_in_path(call, _of_project(project)))


@routes.get("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=list[GroupHookView])
def list_group_hooks(call: Call, group: Namespace, page: Page) -> Listing[GroupHookView]:
    """List the hooks of a group."""
    found = queries.list_hooks(call.db, _of_group(group), page)
    return found.of([group_hook_view(call.db, hook) for hook in found.items])


@routes.get("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView)
def get_group_hook(call: Call, group: Namespace) -> GroupHookView:
    """Get a hook of a group."""
    return group_hook_view(call.db, hook_in_path(call, _of_group(group)))


@routes.post("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNFIT)
def create_group_hook(call: Call, group: Namespace, params: WriteHook) -> GroupHookView:
    """Add a hook to a group, for all projects in it."""
    return group_hook_view(call.db, service.create_hook(call.db, _of_group(group), params, guard_of(call)))


@routes.put("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNFIT)
def edit_group_hook(call: Call, group: Namespace, params: WriteHook) -> GroupHookView:
    """Edit a hook of a group; another URL takes its secrets away."""
    owner = _of_group(group)
    hook = service.edit_hook(call.db, owner, hook_in_path(call, owner), params, guard_of(call))
    return group_hook_view(call.db, hook)


@routes.delete("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView | None)
def delete_group_hook(call: Call, group: Namespace) -> GroupHookView | None:
    """Delete a hook of a group, and show what it was."""
    hook = queries.hook_or_none(call.db, _of_group(group), path_number(call.path, "hook_id"))
    if hook is None:
        return None
    service.delete_hook(call.db, hook)
    return group_hook_view(call.db, hook)


@routes.post(
    "/groups/:id/hooks/:hook_id/test/:trigger",
    on=group_in_path,
    may=may_admin_group,
    returns=TestedView,
    conflict=UNFIT,
    heavy=True,
)
def test_group_hook(call: Call, group: Namespace) -> TestedView:
    """Let a hook of a group send the newest thing of a kind from one of its projects."""
    return _test(call, hook_in_path(call, _of_group(group)), project_in_group(call.db, group.id))


@routes.get(
    "/groups/:id/hooks/:hook_id/events",
    on=group_in_path,
    may=may_admin_group,
    returns=list[HookEventView],
    heavy=True,
)
def list_group_hook_events(call: Call, group: Namespace, params: ListEvents, page: Page) -> Listing[HookEventView]:
    """List what a hook of a group has sent, and what was answered."""
    return list_events(call, hook_in_path(call, _of_group(group)), params, page)


@routes.post(
    "/groups/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=group_in_path,
    may=may_admin_group,
    returns=TestedView,
)
def resend_group_hook_event(call: Call, group: Namespace) -> TestedView:
    """Let a hook of a group send once more what it has sent."""
    return resend(call, hook_in_path(call, _of_group(group)))
