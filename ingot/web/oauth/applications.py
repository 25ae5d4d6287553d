"""Applications: those that people registered, those of the instance, and those that act for somebody."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.access.scopes import OAUTH_SCOPES
from ingot.api.params import path_number
from ingot.db.connection import Connection
from ingot.errors import Invalid, NotFound
from ingot.instance.settings import current_settings
from ingot.oauth import service
from ingot.oauth.queries import applications_of, authorized_applications, find_own_application
from ingot.oauth.tables import Application
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import sentences
from ingot.web.scopes import SCOPE_TEXTS

pages = Pages()
_GROUP = "doorkeeper_application"


class Typed(msgspec.Struct):
    """What stands in the form."""

    name: str = ""
    redirect_uri: str = ""
    scopes: list[str] = []
    confidential: bool = True


class Shelf(msgspec.Struct, frozen=True):
    """Whose applications a page is about, and where such pages lie; the API knows only those of the instance."""

    visit: Visit
    owner_id: int | None
    url: str
    home: str
    """Where they are listed."""


def _own(visit: Visit) -> Shelf:
    return Shelf(visit, visit.signed_in.id, "/oauth/applications", "/profile/applications")


def _of_instance(visit: Visit) -> Shelf:
    """Only administrators know of these pages."""
    if not visit.signed_in.admin:
        raise NotFound("Page")
    return Shelf(visit, None, "/admin/applications", "/admin/applications")


def _declare(prefix: str, shelf_of: Callable[[Visit], Shelf]) -> None:
    """The pages of one kind of shelf."""

    def reading(work: Callable[[Shelf, Connection], Reply]) -> Callable[[Visit, Connection], Reply]:
        return lambda visit, db: work(shelf_of(visit), db)

    def acting(work: Callable[[Shelf], Reply]) -> Callable[[Visit], Reply]:
        return lambda visit: work(shelf_of(visit))

    pages.get(prefix)(reading(_list_page))
    pages.post(prefix)(acting(_register))
    pages.get(f"{prefix}/:id")(reading(_show))
    pages.put(f"{prefix}/:id")(acting(_change))
    pages.post(f"{prefix}/:id/renew")(acting(_renew))
    pages.delete(f"{prefix}/:id")(acting(_delete))


@pages.get("/profile/applications")
def show_own(visit: Visit, db: Connection) -> Reply:
    """The same where people look for it."""
    return _list_page(_own(visit), db)


@pages.delete("/oauth/authorized_applications/:id")
def take_back(visit: Visit) -> Reply:
    """Let an application act for oneself no more."""
    application_id, user_id = path_number(visit.path, "id"), visit.signed_in.id
    visit.database.write(lambda db: service.revoke_application(db, user_id, application_id))
    return Redirect("/profile/applications")


def _people_may_register(db: Connection) -> bool:
    return current_settings(db).user_oauth_applications


def _register(shelf: Shelf) -> Reply:
    """Register one, and show its secret, once."""
    visit, typed = shelf.visit, _typed(shelf.visit)
    if shelf.owner_id is not None and not visit.database.read(_people_may_register):
        raise NotFound("Page")
    try:
        application, secret = visit.database.write(
            lambda db: service.create_application(
                db, shelf.owner_id, typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
            )
        )
    except Invalid as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _list_page(shelf, db, typed, errors))
    return _one_page(shelf, application, secret)


def _show(shelf: Shelf, db: Connection) -> Reply:
    return _one_page(shelf, _find(shelf, db))


def _change(shelf: Shelf) -> Reply:
    visit, typed = shelf.visit, _typed(shelf.visit)

    def work(db: Connection) -> None:
        service.change_application(
            db, _find(shelf, db), typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
        )

    try:
        visit.database.write(work)
    except Invalid as refusal:
        application = visit.database.read(lambda db: _find(shelf, db))
        return _one_page(shelf, application, typed=typed, errors=sentences(refusal))
    return Redirect(f"{shelf.url}/{visit.path['id']}")


def _renew(shelf: Shelf) -> Reply:
    def work(db: Connection) -> tuple[Application, str]:
        application = _find(shelf, db)
        return application, service.renew_secret(db, application)

    return _one_page(shelf, *shelf.visit.database.write(work))


def _delete(shelf: Shelf) -> Reply:
    shelf.visit.database.write(lambda db: service.delete_application(db, _find(shelf, db)))
    return Redirect(shelf.home)


def _find(shelf: Shelf, db: Connection) -> Application:
    return find_own_application(db, path_number(shelf.visit.path, "id"), shelf.owner_id)


def _typed(visit: Visit) -> Typed:
    """What the form says; scopes come as one text or as boxes that were ticked."""
    fields = visit.form.get(_GROUP)
    sent = fields.get("scopes") if isinstance(fields, dict) else None
    words = sent.split() if isinstance(sent, str) else sent if isinstance(sent, list) else []
    return Typed(
        form_part(visit.form, _GROUP, "name"),
        form_part(visit.form, _GROUP, "redirect_uri"),
        [word for word in words if isinstance(word, str) and word],
        form_part(visit.form, _GROUP, "confidential") not in ("0", "false"),
    )


def _form(typed: Typed, errors: list[str]) -> dict[str, Any]:
    offered = [(scope, SCOPE_TEXTS[scope]) for scope in OAUTH_SCOPES]
    return {"typed": typed, "errors": errors, "offered": offered}


def _list_page(shelf: Shelf, db: Connection, typed: Typed | None = None, errors: list[str] | None = None) -> Page:
    own = shelf.owner_id is not None
    return Page(
        "oauth/applications.html",
        {
            "tab": "applications",
            "shelf": shelf,
            "applications": applications_of(db, shelf.owner_id),
            "may_register": not own or _people_may_register(db),
            "authorized": authorized_applications(db, shelf.visit.signed_in.id) if own else [],
            **_form(typed or Typed(), errors or []),
        },
        422 if errors else 200,
    )


def _one_page(
    shelf: Shelf,
    application: Application,
    secret: str = "",
    typed: Typed | None = None,
    errors: list[str] | None = None,
) -> Page:
    held = Typed(application.name, application.redirect_uri, application.scopes.split(), application.confidential)
    return Page(
        "oauth/application.html",
        {
            "tab": "applications",
            "shelf": shelf,
            "application": application,
            "secret": secret,
            **_form(typed or held, errors or []),
        },
        422 if errors else 200,
    )


_declare("/oauth/applications", _own)
_declare("/admin/applications", _of_instance)
