"""Pages of OAuth applications: those of a user, those of the instance, and authorized applications."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.oauth import service
from ingot.accounts.oauth.queries import applications_of_owner, authorized_applications, find_own_application
from ingot.accounts.oauth.tables import Application
from ingot.core.access.scopes import OAUTH_SCOPES
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound
from ingot.web.form_errors import error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.scope_labels import offered_scopes

pages = PageRoutes()
_GROUP = "doorkeeper_application"


class ApplicationForm(msgspec.Struct):
    """Values of the application form."""

    name: str = ""
    redirect_uri: str = ""
    scopes: list[str] = []
    confidential: bool = True


class ApplicationCollection(msgspec.Struct, frozen=True):
    """Applications of one user or of the instance, with the URLs of their pages; the API covers only the instance's."""

    visit: Visit
    owner_id: int | None
    url: str
    home: str
    """URL of the list."""


def _own_applications(visit: Visit) -> ApplicationCollection:
    return ApplicationCollection(visit, visit.viewer.signed_in.id, "/oauth/applications", "/profile/applications")


def _instance_applications(visit: Visit) -> ApplicationCollection:
    """Return the applications of the instance; raise ``NotFound`` unless the user is an administrator."""
    if not visit.viewer.signed_in.admin:
        raise NotFound("Page")
    return ApplicationCollection(visit, None, "/admin/applications", "/admin/applications")


def _declare_pages(prefix: str, find_collection: Callable[[Visit], ApplicationCollection]) -> None:
    """Declare the pages of users' applications or of the instance's."""

    def reading(
        work: Callable[[ApplicationCollection, Connection], PageResponse],
    ) -> Callable[[Visit, Connection], PageResponse]:
        return lambda visit, db: work(find_collection(visit), db)

    def acting(work: Callable[[ApplicationCollection], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_collection(visit))

    pages.get(prefix)(reading(_list_page))
    pages.post(prefix)(acting(_register))
    pages.get(f"{prefix}/:id")(reading(_show))
    pages.put(f"{prefix}/:id", notice="Application saved.")(acting(_change))
    pages.post(f"{prefix}/:id/renew")(acting(_renew_secret))
    pages.delete(f"{prefix}/:id", notice="Application deleted.")(acting(_delete))


@pages.get("/profile/applications")
def show_own_applications(visit: Visit, db: Connection) -> PageResponse:
    """List the user's applications and authorized applications in the profile settings."""
    return _list_page(_own_applications(visit), db)


@pages.delete("/oauth/authorized_applications/:id", notice="Authorization revoked.")
def revoke_authorization(visit: Visit) -> PageResponse:
    """Revoke the user's authorization of an application."""
    application_id, user_id = path_number(visit.request.path, "id"), visit.viewer.signed_in.id
    visit.database.write(lambda db: service.revoke_application(db, user_id, application_id))
    return LocalRedirect("/profile/applications")


def _users_may_register(db: Connection) -> bool:
    return current_settings(db).user_oauth_applications


def _register(collection: ApplicationCollection) -> PageResponse:
    """Create an application and show its secret once."""
    visit, typed = collection.visit, _form_values(collection.visit)
    if collection.owner_id is not None and not visit.database.read(_users_may_register):
        raise NotFound("Page")
    try:
        application, secret = visit.database.write(
            lambda db: service.create_application(
                db, collection.owner_id, typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
            )
        )
    except Invalid as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _list_page(collection, db, typed, errors))
    return _one_page(collection, application, secret)


def _show(collection: ApplicationCollection, db: Connection) -> PageResponse:
    return _one_page(collection, _find(collection, db))


def _change(collection: ApplicationCollection) -> PageResponse:
    visit, typed = collection.visit, _form_values(collection.visit)

    def work(db: Connection) -> None:
        service.update_application(
            db, _find(collection, db), typed.name, typed.redirect_uri, typed.scopes, confidential=typed.confidential
        )

    try:
        visit.database.write(work)
    except Invalid as error:
        application = visit.database.read(lambda db: _find(collection, db))
        return _one_page(collection, application, typed=typed, errors=error_messages(error))
    return LocalRedirect(f"{collection.url}/{visit.request.path['id']}")


def _renew_secret(collection: ApplicationCollection) -> PageResponse:
    def work(db: Connection) -> tuple[Application, str]:
        application = _find(collection, db)
        return application, service.renew_secret(db, application)

    return _one_page(collection, *collection.visit.database.write(work))


def _delete(collection: ApplicationCollection) -> PageResponse:
    collection.visit.database.write(lambda db: service.delete_application(db, _find(collection, db)))
    return LocalRedirect(collection.home)


def _find(collection: ApplicationCollection, db: Connection) -> Application:
    return find_own_application(db, path_number(collection.visit.request.path, "id"), collection.owner_id)


def _form_values(visit: Visit) -> ApplicationForm:
    """Return the values of the form; scopes are a list of checkboxes or a single space-separated text."""
    fields = visit.request.form.get(_GROUP)
    scopes = fields.get("scopes") if isinstance(fields, dict) else None
    names = scopes.split() if isinstance(scopes, str) else scopes if isinstance(scopes, list) else []
    return ApplicationForm(
        form_field(visit.request.form, _GROUP, "name"),
        form_field(visit.request.form, _GROUP, "redirect_uri"),
        [name for name in names if isinstance(name, str) and name],
        form_field(visit.request.form, _GROUP, "confidential") not in ("0", "false"),
    )


def _form(typed: ApplicationForm, errors: list[str]) -> dict[str, Any]:
    scopes = offered_scopes(OAUTH_SCOPES)
    return {"typed": typed, "errors": errors, "scopes": scopes}


def _list_page(
    collection: ApplicationCollection,
    db: Connection,
    typed: ApplicationForm | None = None,
    errors: list[str] | None = None,
) -> TemplateResponse:
    own = collection.owner_id is not None
    return TemplateResponse(
        "oauth/applications.html",
        {
            "tab": "applications",
            "collection": collection,
            "applications": applications_of_owner(db, collection.owner_id),
            "may_register": not own or _users_may_register(db),
            "authorized": authorized_applications(db, collection.visit.viewer.signed_in.id) if own else [],
            **_form(typed or ApplicationForm(), errors or []),
        },
        422 if errors else 200,
    )


def _one_page(
    collection: ApplicationCollection,
    application: Application,
    secret: str = "",
    typed: ApplicationForm | None = None,
    errors: list[str] | None = None,
) -> TemplateResponse:
    saved = ApplicationForm(
        application.name, application.redirect_uri, application.scopes.split(), application.confidential
    )
    return TemplateResponse(
        "oauth/application.html",
        {
            "tab": "applications",
            "collection": collection,
            "application": application,
            "secret": secret,
            **_form(typed or saved, errors or []),
        },
        422 if errors else 200,
    )


_declare_pages("/oauth/applications", _own_applications)
_declare_pages("/admin/applications", _instance_applications)
