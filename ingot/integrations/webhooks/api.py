"""Hooks of projects and groups over the API: one handler for both, since they differ only in what they belong to."""

from ingot.core.api.params import number_or_none, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.outgoing.guard import SsrfGuard
from ingot.errors import Invalid
from ingot.integrations.webhooks import queries, service
from ingot.integrations.webhooks.params import ListHookEvents, SetHookValue, WriteHook
from ingot.integrations.webhooks.queries import HookOwner
from ingot.integrations.webhooks.samples import SampleSender, project_in_group
from ingot.integrations.webhooks.subscribers import HookSubscriber
from ingot.integrations.webhooks.tables import Hook
from ingot.integrations.webhooks.views import (
    INTERNAL_ERROR,
    GroupHookView,
    HookEventView,
    HookTestView,
    ProjectHookView,
    group_hook_view,
    hook_event_view,
    project_hook_view,
)
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls_at

routes = Routes("hooks")
UNPROCESSABLE = 422
"""The contract's word for a URL that does not do, and for a test of what is not there."""
_STATUS_FAMILIES = ("successful", "client_failure", "server_failure", INTERNAL_ERROR)
_CREATED = "201 Created"
HookParent = Project | Namespace
"""What hooks belong to here."""


def guard_of(call: Call) -> SsrfGuard:
    """What requests of this instance may reach."""
    return SsrfGuard(call.settings.allow_local_requests, call.settings.allowed_outgoing_networks)


def list_attempts(call: Call, hook: Hook, params: ListHookEvents, page: Page) -> Listing[HookEventView]:
    """A page of what a hook has sent."""
    code = None if params.status is None else number_or_none(params.status)
    if params.status is not None and code is None and params.status not in _STATUS_FAMILIES:
        raise Invalid(status=["does not have a valid value"])
    found = queries.list_attempts(call.db, hook, params.status if code is None else code, page)
    return found.of([hook_event_view(attempt) for attempt in found.items])


def resend_attempt(call: Call, hook: Hook) -> HookTestView:
    """Let a hook send once more what it has sent."""
    attempt = queries.find_attempt(call.db, hook, path_number(call.path, "hook_event_id"))
    service.resend_event(call.db, hook, attempt)
    return HookTestView(_CREATED)


def _owner(around: HookParent) -> HookOwner:
    return HookOwner("project" if isinstance(around, Project) else "group", around.id)


def _hook(call: Call, around: HookParent) -> Hook:
    return queries.find_hook(call.db, _owner(around), path_number(call.path, "hook_id"))


def _view(call: Call, hook: Hook) -> ProjectHookView | GroupHookView:
    return project_hook_view(call.db, hook) if hook.kind == "project" else group_hook_view(call.db, hook)


@routes.get("/projects/:id/hooks", on=project_in_path, may=may_admin_project, returns=list[ProjectHookView])
@routes.get("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=list[GroupHookView])
def list_hooks(call: Call, around: HookParent, page: Page) -> Listing[ProjectHookView | GroupHookView]:
    """List the hooks of a project or group."""
    found = queries.list_hooks(call.db, _owner(around), page)
    return found.of([_view(call, hook) for hook in found.items])


@routes.get("/projects/:id/hooks/:hook_id", on=project_in_path, may=may_admin_project, returns=ProjectHookView)
@routes.get("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView)
def get_hook(call: Call, around: HookParent) -> ProjectHookView | GroupHookView:
    """Get a hook of a project or group."""
    return _view(call, _hook(call, around))


@routes.post(
    "/projects/:id/hooks", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNPROCESSABLE
)
@routes.post("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNPROCESSABLE)
def create_hook(call: Call, around: HookParent, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Add a hook to a project, or to a group for all projects in it."""
    return _view(call, service.create_hook(call.db, _owner(around), params, guard_of(call)))


@routes.put(
    "/projects/:id/hooks/:hook_id",
    on=project_in_path,
    may=may_change_project,
    returns=ProjectHookView,
    conflict=UNPROCESSABLE,
)
@routes.put(
    "/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNPROCESSABLE
)
def edit_hook(call: Call, around: HookParent, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Edit a hook of a project or group; another URL takes its secrets away."""
    hook = _hook(call, around)
    return _view(call, service.edit_hook(call.db, _owner(around), hook, params, guard_of(call)))


@routes.delete(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView | None
)
@routes.delete("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView | None)
def delete_hook(call: Call, around: HookParent) -> ProjectHookView | GroupHookView | None:
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
    returns=HookTestView,
    conflict=UNPROCESSABLE,
    heavy=True,
)
@routes.post(
    "/groups/:id/hooks/:hook_id/test/:trigger",
    on=group_in_path,
    may=may_admin_group,
    returns=HookTestView,
    conflict=UNPROCESSABLE,
    heavy=True,
)
def test_hook(call: Call, around: HookParent) -> HookTestView:
    """Let a hook send the newest thing of a kind, a group's from one of its projects."""
    hook = _hook(call, around)
    project = around if isinstance(around, Project) else project_in_group(call.db, around.id)
    ear = HookSubscriber(instance_urls_at(call.settings.base_url, call.settings), only=hook)
    SampleSender(call.db, ear, repository_store(call.settings), call.actor.user_id).sample(
        project, call.path["trigger"]
    )
    service.retry_disabled_hook(call.db, hook)
    return HookTestView(_CREATED)


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
def list_hook_events(call: Call, around: HookParent, params: ListHookEvents, page: Page) -> Listing[HookEventView]:
    """List what a hook of a project or group has sent, and what was answered."""
    return list_attempts(call, _hook(call, around), params, page)


@routes.post(
    "/projects/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=project_in_path,
    may=may_change_project,
    returns=HookTestView,
)
@routes.post(
    "/groups/:id/hooks/:hook_id/events/:hook_event_id/resend",
    on=group_in_path,
    may=may_admin_group,
    returns=HookTestView,
)
def resend_hook_event(call: Call, around: HookParent) -> HookTestView:
    """Let a hook of a project or group send once more what it has sent."""
    return resend_attempt(call, _hook(call, around))


@routes.put(
    "/projects/:id/hooks/:hook_id/url_variables/:key",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    status=204,
    conflict=UNPROCESSABLE,
)
@routes.put(
    "/groups/:id/hooks/:hook_id/url_variables/:key",
    on=group_in_path,
    may=may_admin_group,
    returns=None,
    status=204,
    conflict=UNPROCESSABLE,
)
def set_url_variable(call: Call, around: HookParent, params: SetHookValue) -> None:
    """Let a name in the URL of a hook stand for something; another server gets none of the secrets."""
    service.set_variable(call.db, _hook(call, around), call.path["key"], params.value, guard_of(call))


@routes.delete(
    "/projects/:id/hooks/:hook_id/url_variables/:key",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    conflict=UNPROCESSABLE,
)
@routes.delete(
    "/groups/:id/hooks/:hook_id/url_variables/:key",
    on=group_in_path,
    may=may_admin_group,
    returns=None,
    conflict=UNPROCESSABLE,
)
def delete_url_variable(call: Call, around: HookParent) -> None:
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
def set_custom_header(call: Call, around: HookParent, params: SetHookValue) -> None:
    """Let every request of a hook carry a header."""
    service.set_header(call.db, _hook(call, around), call.path["key"], params.value)


@routes.delete(
    "/projects/:id/hooks/:hook_id/custom_headers/:key", on=project_in_path, may=may_change_project, returns=None
)
@routes.delete("/groups/:id/hooks/:hook_id/custom_headers/:key", on=group_in_path, may=may_admin_group, returns=None)
def delete_custom_header(call: Call, around: HookParent) -> None:
    """Let the requests of a hook not carry a header any more."""
    service.set_header(call.db, _hook(call, around), call.path["key"], None)
