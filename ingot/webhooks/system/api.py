"""Endpoints of system hooks."""

from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import administrators
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.webhooks import queries, service
from ingot.webhooks.api import list_attempts, resend_attempt, system_guard_of
from ingot.webhooks.outbox import queue_event
from ingot.webhooks.params import ListHookEvents, SetHookValue, WriteHook
from ingot.webhooks.payloads.system import SAMPLE
from ingot.webhooks.policy import SYSTEM_EVENTS
from ingot.webhooks.queries import HookOwner
from ingot.webhooks.tables import Hook
from ingot.webhooks.views import HookEventView, HookTestView, HookView, SystemHookSampleView, hook_view

routes = Routes("system hooks")
_INSTANCE = HookOwner("system")
UNPROCESSABLE = 400


def _hook_in_path(call: Call) -> tuple[Access, Hook]:
    """Find the system hook in the path."""
    return NO_ACCESS, queries.find_hook(call.db, _INSTANCE, path_number(call.path, "id"))


@routes.get("/hooks", may=administrators, returns=list[HookView])
def list_system_hooks(call: Call, page: Page) -> Listing[HookView]:
    """List the system hooks."""
    listing = queries.list_hooks(call.db, _INSTANCE, page)
    return listing.of([hook_view(call.db, hook) for hook in listing.items])


@routes.get("/hooks/:id", on=_hook_in_path, may=administrators, returns=HookView)
def get_system_hook(call: Call, hook: Hook) -> HookView:
    """Get a system hook."""
    return hook_view(call.db, hook)


@routes.post("/hooks", may=administrators, returns=HookView, conflict=UNPROCESSABLE)
def create_system_hook(call: Call, params: WriteHook) -> HookView:
    """Add a system hook."""
    return hook_view(call.db, service.create_hook(call.db, _INSTANCE, params, system_guard_of(call)))


@routes.put("/hooks/:id", on=_hook_in_path, may=administrators, returns=HookView, conflict=UNPROCESSABLE)
def edit_system_hook(call: Call, hook: Hook, params: WriteHook) -> HookView:
    """Edit a system hook; a new URL clears its secrets."""
    return hook_view(call.db, service.edit_hook(call.db, _INSTANCE, hook, params, system_guard_of(call)))


@routes.post("/hooks/:id", on=_hook_in_path, may=administrators, returns=SystemHookSampleView)
def test_system_hook(call: Call, hook: Hook) -> SystemHookSampleView:
    """Test a system hook with a sample event and return it."""
    queue_event(call.db, SYSTEM_EVENTS, SAMPLE, [hook.id])
    service.retry_disabled_hook(call.db, hook)
    return SystemHookSampleView(**SAMPLE)


@routes.delete("/hooks/:id", may=administrators, returns=HookView | None)
def delete_system_hook(call: Call) -> HookView | None:
    """Delete a system hook and return it."""
    hook = queries.hook_or_none(call.db, _INSTANCE, path_number(call.path, "id"))
    if hook is None:
        return None
    service.delete_hook(call.db, hook)
    return hook_view(call.db, hook)


@routes.get("/hooks/:id/events", on=_hook_in_path, may=administrators, returns=list[HookEventView], heavy=True)
def list_system_hook_events(call: Call, hook: Hook, params: ListHookEvents, page: Page) -> Listing[HookEventView]:
    """List the delivery attempts of a system hook."""
    return list_attempts(call, hook, params, page)


@routes.post("/hooks/:id/events/:hook_event_id/resend", on=_hook_in_path, may=administrators, returns=HookTestView)
def resend_system_hook_event(call: Call, hook: Hook) -> HookTestView:
    """Send an event of a system hook again."""
    return resend_attempt(call, hook)


@routes.put(
    "/hooks/:id/url_variables/:key",
    on=_hook_in_path,
    may=administrators,
    returns=None,
    status=204,
    conflict=UNPROCESSABLE,
)
def set_system_hook_variable(call: Call, hook: Hook, params: SetHookValue) -> None:
    """Set a variable in the URL of a system hook; if the server changes, the secrets are cleared."""
    service.set_variable(call.db, hook, call.path["key"], params.value, system_guard_of(call))


@routes.delete(
    "/hooks/:id/url_variables/:key", on=_hook_in_path, may=administrators, returns=None, conflict=UNPROCESSABLE
)
def delete_system_hook_variable(call: Call, hook: Hook) -> None:
    """Delete a URL variable of a system hook that its URL does not use."""
    service.set_variable(call.db, hook, call.path["key"], None, system_guard_of(call))
