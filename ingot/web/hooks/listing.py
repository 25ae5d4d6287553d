"""The pages of hooks, the same wherever they hang."""

from collections.abc import Callable
from typing import Any

from ingot.web.hooks.shelves import HookShelf, group_shelf, project_shelf, system_shelf
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_TEXTS = ("url", "name", "description", "push_events_branch_filter")
_SWITCH = "enable_ssl_verification"


def _declare(prefix: str, shelf_of: Callable[[Visit], HookShelf]) -> None:
    """The pages of one kind of shelf."""

    def reading(work: Callable[[HookShelf], Reply]) -> Callable[..., Reply]:
        return lambda visit, db: work(shelf_of(visit))  # noqa: ARG005 - Every page to read gets a connection.

    def acting(work: Callable[[HookShelf], Reply]) -> Callable[[Visit], Reply]:
        return lambda visit: work(shelf_of(visit))

    pages.get(prefix)(reading(lambda shelf: _list(shelf, {"typed": _typed({}, shelf), "errors": []})))
    pages.get(f"{prefix}/:hook/edit")(reading(_show))
    pages.post(prefix)(acting(_create))
    pages.put(f"{prefix}/:hook")(acting(_change))
    pages.delete(f"{prefix}/:hook")(acting(_delete))
    pages.post(f"{prefix}/:hook/test")(acting(_test))
    pages.post(f"{prefix}/:hook/events/:event/resend")(acting(_resend))


def _list(shelf: HookShelf, context: dict[str, Any], status: int = 200) -> Page:
    return shelf.page("list", {**context, "hooks": shelf.get("", {"per_page": 100}).items}, status)


def _show(shelf: HookShelf, typed: dict[str, Any] | None = None, errors: list[str] | None = None) -> Page:
    route, path = shelf.named
    hook = shelf.get(route, **path)
    page = {"page": shelf.visit.query.get("page", "1")}
    context = {
        "hook": hook,
        "typed": typed or {name: getattr(hook, name, None) or "" for name in (*_TEXTS, _SWITCH, *shelf.flags)},
        "log": shelf.get(f"{route}/events", page, **path),
        "errors": errors or [],
    }
    return shelf.page("show", {**context, "typed": {**context["typed"], "token": ""}}, 422 if errors else 200)


def _create(shelf: HookShelf) -> Reply:
    typed = _typed(shelf.visit.form, shelf)
    try:
        shelf.call("POST", "", _sent(typed))
    except Refusal as refusal:
        return _list(shelf, {"typed": typed, "errors": sentences(refusal)}, 422)
    return Redirect(shelf.url)


def _change(shelf: HookShelf) -> Reply:
    typed = _typed(shelf.visit.form, shelf)
    route, path = shelf.named
    try:
        shelf.call("PUT", route, _sent(typed), **path)
    except Refusal as refusal:
        return _show(shelf, typed, sentences(refusal))
    return Redirect(f"{shelf.url}/{shelf.visit.path['hook']}/edit")


def _delete(shelf: HookShelf) -> Reply:
    route, path = shelf.named
    shelf.call("DELETE", route, **path)
    return Redirect(shelf.url)


def _test(shelf: HookShelf) -> Reply:
    route, path = shelf.named
    if not shelf.triggers:
        shelf.call("POST", route, **path)
        return Redirect(f"{shelf.url}/{shelf.visit.path['hook']}/edit")
    try:
        trigger = str(shelf.visit.form.get("trigger", shelf.triggers[0]))
        shelf.call("POST", f"{route}/test/:trigger", **path, trigger=trigger)
    except Refusal as refusal:
        return _show(shelf, errors=sentences(refusal))
    return Redirect(f"{shelf.url}/{shelf.visit.path['hook']}/edit")


def _resend(shelf: HookShelf) -> Reply:
    route, path = shelf.named
    try:
        shelf.call("POST", f"{route}/events/:hook_event_id/resend", **path, hook_event_id=shelf.visit.path["event"])
    except Refusal as refusal:
        return _show(shelf, errors=sentences(refusal))
    return Redirect(f"{shelf.url}/{shelf.visit.path['hook']}/edit")


def _typed(form: dict[str, Any], shelf: HookShelf) -> dict[str, Any]:
    """What a form holds; a new one asks for pushes, over connections that are checked."""
    texts: dict[str, Any] = {name: form_part(form, "hook", name) for name in (*_TEXTS, "token")}
    if not form:
        return texts | dict.fromkeys(shelf.flags, False) | {"push_events": True, _SWITCH: True}
    return texts | {name: form_part(form, "hook", name) == "1" for name in (*shelf.flags, _SWITCH)}


def _sent(typed: dict[str, Any]) -> dict[str, Any]:
    """A token that was left empty stays as it is."""
    return {name: value for name, value in typed.items() if value != "" or name not in ("token", "name", "description")}


for _prefix, _shelf_of in (
    ("/:path/-/hooks", project_shelf),
    ("/groups/:path/-/hooks", group_shelf),
    ("/admin/hooks", system_shelf),
):
    _declare(_prefix, _shelf_of)
