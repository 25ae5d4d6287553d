"""Webhook pages, shared by projects, groups and the instance."""

from collections.abc import Callable
from typing import Any

from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.webhooks.parents import HookCollection, group_hooks, project_hooks, system_hooks
from ingot.webhooks.views import is_sending

pages = PageRoutes()
_TEXT_FIELDS = ("url", "name", "description", "push_events_branch_filter")
_SWITCH = "enable_ssl_verification"


def _declare_pages(prefix: str, find_collection: Callable[[Visit], HookCollection]) -> None:
    """Declare the webhook pages of projects, groups or the instance."""

    def reading(work: Callable[[HookCollection], PageResponse]) -> Callable[..., PageResponse]:
        return lambda visit: work(find_collection(visit))

    def acting(work: Callable[[HookCollection], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_collection(visit))

    pages.get(prefix)(
        reading(lambda collection: _list(collection, {"typed": _form_values({}, collection), "errors": []}))
    )
    pages.get(f"{prefix}/:hook/edit")(reading(_show))
    pages.post(prefix, notice="Webhook added.")(acting(_create))
    pages.put(f"{prefix}/:hook", notice="Webhook saved.")(acting(_change))
    pages.delete(f"{prefix}/:hook", notice="Webhook deleted.")(acting(_delete))
    pages.post(f"{prefix}/:hook/test", notice="Test event queued. The response appears below.")(acting(_test))
    pages.post(f"{prefix}/:hook/events/:event/resend", notice="Request queued again. The response appears below.")(
        acting(_resend)
    )


def _list(collection: HookCollection, context: dict[str, Any], status: int = 200) -> TemplateResponse:
    return collection.page(
        "list", {**context, "hooks": collection.ask(collection.endpoints.list_hooks, {"per_page": 100}).items}, status
    )


def _show(
    collection: HookCollection, typed: dict[str, Any] | None = None, errors: list[str] | None = None
) -> TemplateResponse:
    hook = collection.ask(collection.endpoints.get_hook, **collection.item_path)
    page = {"page": collection.visit.request.query.get("page", "1")}
    context = {
        "hook": hook,
        "typed": typed
        or {name: getattr(hook, name, None) or "" for name in (*_TEXT_FIELDS, _SWITCH, *collection.flags)},
        "log": collection.ask(collection.endpoints.list_events, page, **collection.item_path),
        "errors": errors or [],
        "is_sending": collection.visit.database.read(lambda db: is_sending(db, hook.id)),
    }
    if collection.visit.headers.fragment:
        return TemplateResponse("webhooks/_deliveries.html", {**context, "collection": collection})
    return collection.page("show", {**context, "typed": {**context["typed"], "token": ""}}, 422 if errors else 200)


def _create(collection: HookCollection) -> PageResponse:
    typed = _form_values(collection.visit.request.form, collection)
    try:
        collection.ask(collection.endpoints.create_hook, _api_params(typed))
    except REQUEST_ERRORS as error:
        return _list(collection, {"typed": typed, "errors": error_messages(error)}, 422)
    return LocalRedirect(collection.url)


def _change(collection: HookCollection) -> PageResponse:
    typed = _form_values(collection.visit.request.form, collection)
    try:
        collection.ask(collection.endpoints.edit_hook, _api_params(typed), **collection.item_path)
    except REQUEST_ERRORS as error:
        return _show(collection, typed, error_messages(error))
    return LocalRedirect(f"{collection.url}/{collection.visit.request.path['hook']}/edit")


def _delete(collection: HookCollection) -> PageResponse:
    collection.ask(collection.endpoints.delete_hook, **collection.item_path)
    return LocalRedirect(collection.url)


def _test(collection: HookCollection) -> PageResponse:
    if not collection.triggers:
        collection.ask(collection.endpoints.test_hook, **collection.item_path)
        return LocalRedirect(f"{collection.url}/{collection.visit.request.path['hook']}/edit")
    try:
        trigger = str(collection.visit.request.form.get("trigger", collection.triggers[0]))
        collection.ask(collection.endpoints.test_hook, **collection.item_path, trigger=trigger)
    except REQUEST_ERRORS as error:
        return _show(collection, errors=error_messages(error))
    return LocalRedirect(f"{collection.url}/{collection.visit.request.path['hook']}/edit")


def _resend(collection: HookCollection) -> PageResponse:
    event = collection.visit.request.path["event"]
    try:
        collection.ask(collection.endpoints.resend_event, **collection.item_path, hook_event_id=event)
    except REQUEST_ERRORS as error:
        return _show(collection, errors=error_messages(error))
    return LocalRedirect(f"{collection.url}/{collection.visit.request.path['hook']}/edit")


def _form_values(form: dict[str, Any], collection: HookCollection) -> dict[str, Any]:
    """Return the values of the form; the defaults are push events and SSL verification."""
    texts: dict[str, Any] = {name: form_field(form, "hook", name) for name in (*_TEXT_FIELDS, "token")}
    if not form:
        return texts | dict.fromkeys(collection.flags, False) | {"push_events": True, _SWITCH: True}
    return texts | {name: form_field(form, "hook", name) == "1" for name in (*collection.flags, _SWITCH)}


def _api_params(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the API parameters; an empty token, name or description is left unchanged."""
    return {name: value for name, value in typed.items() if value != "" or name not in ("token", "name", "description")}


for _prefix, _find_collection in (
    ("/:path/-/hooks", project_hooks),
    ("/groups/:path/-/hooks", group_hooks),
    ("/admin/hooks", system_hooks),
):
    _declare_pages(_prefix, _find_collection)
