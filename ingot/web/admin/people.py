"""People, as administrators look after them."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.admin.frame import admin_page, require_admin
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part, text_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_TEXTS = ("name", "username", "email", "password", "projects_limit", "bio", "organization", "location")
_FLAGS = ("admin", "external", "can_create_group")
_FILTERS = {"active": "Active", "blocked": "Blocked", "admins": "Administrators", "external": "External"}
_ACTS = ("block", "unblock", "activate", "deactivate", "ban", "unban")


@pages.get("/admin/users")
def list_people(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """All of them, some by a word or by what they are."""
    require_admin(visit)
    wanted: dict[str, Any] = {"page": visit.query.get("page", "1"), "order_by": "id", "sort": "desc"}
    search, chosen = text_of(visit.query, "search"), text_of(visit.query, "filter")
    if search:
        wanted["search"] = search
    if chosen in _FILTERS:
        wanted[chosen] = "true"
    context = {"people": visit.get("/users", wanted), "search": search, "filters": _FILTERS, "chosen": chosen}
    return admin_page(visit, "users", "users", context)


@pages.get("/admin/users/new")
def show_new(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask who it is."""
    typed = dict.fromkeys(_TEXTS, "") | dict.fromkeys(_FLAGS, False) | {"can_create_group": True}
    return _form(visit, None, typed)


@pages.post("/admin/users")
def create_person(visit: Visit) -> Reply:
    """Let somebody in; without a password they get a mail to choose one."""
    require_admin(visit)
    typed = _typed(visit)
    sent = {name: value for name, value in typed.items() if value != ""}
    if not typed["password"]:
        sent["reset_password"] = True
    try:
        made = visit.call("POST", "/users", sent)
    except Refusal as refusal:
        return _form(visit, None, typed, sentences(refusal), 422)
    return Redirect(f"/admin/users/{made.id}")


@pages.get("/admin/users/:id")
def show_person(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """One of them, with all that can be changed."""
    require_admin(visit)
    person = visit.get("/users/:id", id=visit.path["id"])
    typed = {name: getattr(person, name, "") or "" for name in _TEXTS} | {"password": ""}
    names = {"admin": "is_admin", "external": "external", "can_create_group": "can_create_group"}
    return _form(visit, person, typed | {flag: bool(getattr(person, name)) for flag, name in names.items()})


@pages.put("/admin/users/:id")
def change_person(visit: Visit) -> Reply:
    """Change what was filled in; an empty password stays as it is."""
    require_admin(visit)
    person = visit.get("/users/:id", id=visit.path["id"])
    typed = _typed(visit)
    sent = {name: value for name, value in typed.items() if name != "password" or value}
    try:
        visit.call("PUT", "/users/:id", {name: value for name, value in sent.items() if value != ""}, id=person.id)
    except Refusal as refusal:
        return _form(visit, person, typed, sentences(refusal), 422)
    return Redirect(f"/admin/users/{person.id}")


@pages.post("/admin/users/:id/:act")
def act_on_person(visit: Visit) -> Reply:
    """Block, unblock and the like."""
    require_admin(visit)
    act = visit.path["act"]
    if act in _ACTS:
        try:
            visit.call("POST", f"/users/:id/{act}", id=visit.path["id"])
        except Refusal as refusal:
            return _refused(visit, refusal)
    return Redirect(f"/admin/users/{visit.path['id']}")


@pages.delete("/admin/users/:id")
def delete_person(visit: Visit) -> Reply:
    """Remove somebody; what they wrote stays, unless it is to go too."""
    require_admin(visit)
    try:
        visit.call("DELETE", "/users/:id", {"hard_delete": visit.form.get("hard_delete", "0")}, id=visit.path["id"])
    except Refusal as refusal:
        return _refused(visit, refusal)
    return Redirect("/admin/users")


def _typed(visit: Visit) -> dict[str, Any]:
    typed: dict[str, Any] = {name: form_part(visit.form, "user", name) for name in _TEXTS}
    return typed | {name: form_part(visit.form, "user", name) == "1" for name in _FLAGS}


def _refused(visit: Visit, refusal: Exception) -> Reply:
    person = visit.get("/users/:id", id=visit.path["id"])
    typed = {name: getattr(person, name, "") or "" for name in _TEXTS} | {"password": ""}
    typed |= {"admin": person.is_admin, "external": person.external, "can_create_group": person.can_create_group}
    return _form(visit, person, typed, sentences(refusal), 422)


def _form(visit: Visit, person: Any, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200) -> Page:
    return admin_page(visit, "user", "users", {"person": person, "typed": typed, "errors": errors or []}, status)
