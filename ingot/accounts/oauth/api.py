"""Endpoints of OAuth applications."""

from ingot.accounts.oauth import queries, service
from ingot.accounts.oauth.params import CreateApplication
from ingot.accounts.oauth.tables import Application
from ingot.accounts.oauth.views import ApplicationView, application_view
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import administrators, require
from ingot.core.access.scopes import may_grant_scopes
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound

routes = Routes("applications")


def _application_in_path(call: Call) -> tuple[Access, Application]:
    application = queries.application_by_id_or_none(call.db, path_number(call.path, "id"))
    if application is None:
        raise NotFound("Application")
    return NO_ACCESS, application


@routes.get("/applications", may=administrators, returns=list[ApplicationView])
def list_applications(call: Call, page: Page) -> Listing[ApplicationView]:
    """List all applications, including those of users."""
    listing = queries.list_applications(call.db, page)
    return listing.of([application_view(application) for application in listing.items])


@routes.post("/applications", may=administrators, returns=ApplicationView)
def create_application(call: Call, params: CreateApplication) -> ApplicationView:
    """Create an application of the instance; the secret is returned only in this response."""
    scopes = params.scopes.split()
    require(may_grant_scopes(call.actor, scopes), "The application cannot have scopes that your token lacks")
    application, secret = service.create_application(
        call.db, None, params.name, params.redirect_uri, scopes, confidential=params.confidential
    )
    return application_view(application, secret)


@routes.post(
    "/applications/:id/renew-secret",
    on=_application_in_path,
    may=administrators,
    returns=ApplicationView,
    status=200,
)
def renew_application_secret(call: Call, application: Application) -> ApplicationView:
    """Renew the secret of an application; the previous one stops working at once."""
    return application_view(application, service.renew_secret(call.db, application))


@routes.delete("/applications/:id", may=administrators, returns=None)
def delete_application(call: Call) -> None:
    """Delete an application and revoke its tokens; deleting a missing one is not an error."""
    application = queries.application_by_id_or_none(call.db, path_number(call.path, "id"))
    if application is not None:
        service.delete_application(call.db, application)
