"""Endpoints of webhooks of projects and groups; one handler serves both."""

from ingot.accounts.instance.outgoing_rules import guard_within
from ingot.core.api.params import number_or_none, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls_at
from ingot.webhooks import queries, service
from ingot.webhooks.params import ListHookEvents, SetHookValue, WriteHook
from ingot.webhooks.queries import HookOwner
from ingot.webhooks.samples import SampleSender, project_in_group
from ingot.webhooks.subscribers import HookSubscriber
from ingot.webhooks.tables import Hook
from ingot.webhooks.views import (
    INTERNAL_ERROR,
    GroupHookView,
    HookEventView,
    HookTestView,
    ProjectHookView,
    group_hook_view,
    hook_event_view,
    project_hook_view,
)

routes = Routes("hooks")
UNPROCESSABLE = 422
"""Status for an invalid URL and for a test without sample data, as the specification requires."""
_STATUS_FAMILIES = ("successful", "client_failure", "server_failure", INTERNAL_ERROR)
_CREATED = "201 Created"
HookParent = Project | Namespace
"""Owner of a webhook."""


def guard_of(call: Call) -> SsrfGuard:
    """Return the guard for outgoing requests with this instance's settings."""
    return guard_within(call.db, call.settings)


def system_guard_of(call: Call) -> SsrfGuard:
    """Return the guard for outgoing requests of system hooks."""
    return guard_of(call).for_system_hooks()


def list_attempts(call: Call, hook: Hook, params: ListHookEvents, page: Page) -> Listing[HookEventView]:
    """List a page of a webhook's delivery attempts."""
    code = None if params.status is None else number_or_none(params.status)
    if params.status is not None and code is None and params.status not in _STATUS_FAMILIES:
        raise Invalid(status=["does not have a valid value"])
    listing = queries.list_attempts(call.db, hook, params.status if code is None else code, page)
    return listing.of([hook_event_view(attempt) for attempt in listing.items])


def resend_attempt(call: Call, hook: Hook) -> HookTestView:
    """Send an event of a webhook again."""
    attempt = queries.find_attempt(call.db, hook, path_number(call.path, "hook_event_id"))
    service.resend_event(call.db, hook, attempt)
    return HookTestView(_CREATED)


def _owner(parent: HookParent) -> HookOwner:
    return HookOwner("project" if isinstance(parent, Project) else "group", parent.id)


def _hook(call: Call, parent: HookParent) -> Hook:
    return queries.find_hook(call.db, _owner(parent), path_number(call.path, "hook_id"))


def _view(call: Call, hook: Hook) -> ProjectHookView | GroupHookView:
    return project_hook_view(call.db, hook) if hook.kind == "project" else group_hook_view(call.db, hook)


@routes.get("/projects/:id/hooks", on=project_in_path, may=may_admin_project, returns=list[ProjectHookView])
@routes.get("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=list[GroupHookView])
def list_hooks(call: Call, parent: HookParent, page: Page) -> Listing[ProjectHookView | GroupHookView]:
    """List the webhooks of a project or group."""
    listing = queries.list_hooks(call.db, _owner(parent), page)
    return listing.of([_view(call, hook) for hook in listing.items])


@routes.get("/projects/:id/hooks/:hook_id", on=project_in_path, may=may_admin_project, returns=ProjectHookView)
@routes.get("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView)
def get_hook(call: Call, parent: HookParent) -> ProjectHookView | GroupHookView:
    """Get a webhook of a project or group."""
    return _view(call, _hook(call, parent))


@routes.post(
    "/projects/:id/hooks", on=project_in_path, may=may_change_project, returns=ProjectHookView, conflict=UNPROCESSABLE
)
@routes.post("/groups/:id/hooks", on=group_in_path, may=may_admin_group, returns=GroupHookView, conflict=UNPROCESSABLE)
def create_hook(call: Call, parent: HookParent, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Add a webhook to a project or group; a group's webhook covers all its projects."""
    return _view(call, service.create_hook(call.db, _owner(parent), params, guard_of(call)))


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
def edit_hook(call: Call, parent: HookParent, params: WriteHook) -> ProjectHookView | GroupHookView:
    """Edit a webhook of a project or group; a new URL clears its secrets."""
    hook = _hook(call, parent)
    return _view(call, service.edit_hook(call.db, _owner(parent), hook, params, guard_of(call)))


@routes.delete(
    "/projects/:id/hooks/:hook_id", on=project_in_path, may=may_change_project, returns=ProjectHookView | None
)
@routes.delete("/groups/:id/hooks/:hook_id", on=group_in_path, may=may_admin_group, returns=GroupHookView | None)
def delete_hook(call: Call, parent: HookParent) -> ProjectHookView | GroupHookView | None:
    """Delete a webhook of a project or group and return it."""
    hook = queries.hook_or_none(call.db, _owner(parent), path_number(call.path, "hook_id"))
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
def test_hook(call: Call, parent: HookParent) -> HookTestView:
    """Test a webhook with the newest object of a kind, for a group from one of its projects."""
    hook = _hook(call, parent)
    project = parent if isinstance(parent, Project) else project_in_group(call.db, parent.id)
    subscriber = HookSubscriber(instance_urls_at(call.settings.base_url, call.settings), only=hook)
    SampleSender(call.db, subscriber, repository_store(call.settings), call.actor.user_id).sample(
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
def list_hook_events(call: Call, parent: HookParent, params: ListHookEvents, page: Page) -> Listing[HookEventView]:
    """List the delivery attempts of a webhook of a project or group."""
    return list_attempts(call, _hook(call, parent), params, page)


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
def resend_hook_event(call: Call, parent: HookParent) -> HookTestView:
    """Send an event of a webhook of a project or group again."""
    return resend_attempt(call, _hook(call, parent))


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
def set_url_variable(call: Call, parent: HookParent, params: SetHookValue) -> None:
    """Set a variable in the URL of a webhook; if the server changes, the secrets are cleared."""
    service.set_variable(call.db, _hook(call, parent), call.path["key"], params.value, guard_of(call))


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
def delete_url_variable(call: Call, parent: HookParent) -> None:
    """Delete a URL variable of a webhook that its URL does not use."""
    service.set_variable(call.db, _hook(call, parent), call.path["key"], None, guard_of(call))


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
def set_custom_header(call: Call, parent: HookParent, params: SetHookValue) -> None:
    """Set a custom header of a webhook."""
    service.set_header(call.db, _hook(call, parent), call.path["key"], params.value)


@routes.delete(
    "/projects/:id/hooks/:hook_id/custom_headers/:key", on=project_in_path, may=may_change_project, returns=None
)
@routes.delete("/groups/:id/hooks/:hook_id/custom_headers/:key", on=group_in_path, may=may_admin_group, returns=None)
def delete_custom_header(call: Call, parent: HookParent) -> None:
    """Delete a custom header of a webhook."""
    service.set_header(call.db, _hook(call, parent), call.path["key"], None)
