"""Applications: those that people registered, those of the instance, and those that act for somebody."""

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
    """Whose applications a page is about, and where such pages lie."""

    owner_id: int | None
    url: str


def _own(visit: Visit) -> Shelf:
    return Shelf(visit.signed_in.id, "/oauth/applications")


def _of_instance(visit: Visit) -> Shelf:
    """Only administrators know of these pages."""
    if not visit.signed_in.admin:
        raise NotFound("Page")
    return Shelf(None, "/admin/applications")


@pages.get("/profile/applications")
def show_own(visit: Visit, db: Connection) -> Reply:
    """List one's own applications and those that act for oneself, and offer to register one."""
    return _list_page(visit, db, _own(visit))


@pages.get("/oauth/applications")
def show_own_again(visit: Visit, db: Connection) -> Reply:
    """The same at the address that forms lead to."""
    return show_own(visit, db)


@pages.post("/oauth/applications")
def register_own(visit: Visit) -> Reply:
    """Register an application, and show its secret, once."""
    if not visit.database.read(_people_may_register):
        raise NotFound("Page")
    return _register(visit, _own(visit))


@pages.get("/oauth/applications/:id")
def show_one(visit: Visit, db: Connection) -> Reply:
    """Show one of one's own applications."""
    return _show(visit, db, _own(visit))


@pages.put("/oauth/applications/:id")
def change_one(visit: Visit) -> Reply:
    """Change one of one's own applications."""
    return _change(visit, _own(visit))


@pages.post("/oauth/applications/:id/renew")
def renew_one(visit: Visit) -> Reply:
    """Give one of one's own applications another secret."""
    return _renew(visit, _own(visit))


@pages.delete("/oauth/applications/:id")
def delete_one(visit: Visit) -> Reply:
    """Delete one of one's own applications."""
    return _delete(visit, _own(visit), "/profile/applications")


@pages.delete("/oauth/authorized_applications/:id")
def take_back(visit: Visit) -> Reply:
    """Let an application act for oneself no more."""
    application_id, user_id = path_number(visit.path, "id"), visit.signed_in.id
    visit.database.write(lambda db: service.revoke_application(db, user_id, application_id))
    return Redirect("/profile/applications")


@pages.get("/admin/applications")
def show_of_instance(visit: Visit, db: Connection) -> Reply:
    """List the instance's applications, and offer to register one."""
    return _list_page(visit, db, _of_instance(visit))


@pages.post("/admin/applications")
def register_of_instance(visit: Visit) -> Reply:
    """Register an application of the instance, and show its secret, once."""
    return _register(visit, _of_instance(visit))


@pages.get("/admin/applications/:id")
def show_one_of_instance(visit: Visit, db: Connection) -> Reply:
    """Show an application of the instance."""
    return _show(visit, db, _of_instance(visit))


@pages.put("/admin/applications/:id")
def change_one_of_instance(visit: Visit) -> Reply:
    """Change an application of the instance."""
    return _change(visit, _of_instance(visit))


@pages.post("/admin/applications/:id/renew")
def renew_one_of_instance(visit: Visit) -> Reply:
    """Give an application of the instance another secret."""
    return _renew(visit, _of_instance(visit))


@pages.delete("/admin/applications/:id")
def delete_one_of_instance(visit: Visit) -> Reply:
    """Delete an application of the instance."""
    return _delete(visit, _of_instance(visit), "/admin/applications")


def _people_may_register(db: Connection) -> bool:
    return current_settings(db).user_oauth_applications


def _register(visit: Visit, shelf: Shelf) -> Reply:
    typed = _typed(visit)
    try:
        application, secret = visit.database.write(
            lambda db: service.create_application(
                db, shelf.owner_id, typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
            )
        )
    except Invalid as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _list_page(visit, db, shelf, typed, errors))
    return _one_page(visit, shelf, application, secret)


def _show(visit: Visit, db: Connection, shelf: Shelf) -> Reply:
    return _one_page(visit, shelf, _find(visit, db, shelf))


def _change(visit: Visit, shelf: Shelf) -> Reply:
    typed = _typed(visit)

    def work(db: Connection) -> None:
        application = _find(visit, db, shelf)
        service.change_application(
            db, application, typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
        )

    try:
        visit.database.write(work)
    except Invalid as refusal:
        application = visit.database.read(lambda db: _find(visit, db, shelf))
        return _one_page(visit, shelf, application, typed=typed, errors=sentences(refusal))
    return Redirect(f"{shelf.url}/{visit.path['id']}")


def _renew(visit: Visit, shelf: Shelf) -> Reply:
    def work(db: Connection) -> tuple[Application, str]:
        application = _find(visit, db, shelf)
        return application, service.renew_secret(db, application)

    application, secret = visit.database.write(work)
    return _one_page(visit, shelf, application, secret)


def _delete(visit: Visit, shelf: Shelf, after: str) -> Reply:
    visit.database.write(lambda db: service.delete_application(db, _find(visit, db, shelf)))
    return Redirect(after)


def _find(visit: Visit, db: Connection, shelf: Shelf) -> Application:
    return find_own_application(db, path_number(visit.path, "id"), shelf.owner_id)


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


def _list_page(
    visit: Visit, db: Connection, shelf: Shelf, typed: Typed | None = None, errors: list[str] | None = None
) -> Page:
    own = shelf.owner_id is not None
    return Page(
        "oauth/applications.html" if own else "oauth/instance.html",
        {
            "tab": "applications",
            "shelf": shelf,
            "applications": applications_of(db, shelf.owner_id),
            "may_register": not own or _people_may_register(db),
            "authorized": authorized_applications(db, visit.signed_in.id) if own else [],
            **_form(typed or Typed(), errors or []),
        },
        422 if errors else 200,
    )


def _one_page(
    visit: Visit,  # noqa: ARG001 - All pages are made of a visit.
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
