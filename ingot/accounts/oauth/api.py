"""The instance's applications over the API."""

from ingot.accounts.oauth import queries, service
from ingot.accounts.oauth.params import CreateApplication
from ingot.accounts.oauth.tables import Application
from ingot.accounts.oauth.views import ApplicationView, application_view
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import administrators
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.errors import NotFound

routes = Routes("applications")


def _application_in_path(call: Call) -> tuple[Access, Application]:
    application = queries.application_by_id_or_none(call.db, path_number(call.path, "id"))
    if application is None:
        raise NotFound("Application")
    return NO_ACCESS, application


@routes.get("/applications", may=administrators, returns=list[ApplicationView])
def list_applications(call: Call, page: Page) -> Listing[ApplicationView]:
    """List all applications, people's own too."""
    found = queries.list_applications(call.db, page)
    return found.of([application_view(application) for application in found.items])


@routes.post("/applications", may=administrators, returns=ApplicationView)
def create_application(call: Call, params: CreateApplication) -> ApplicationView:
    """Create an application of the instance; its secret is told here and never again."""
    application, secret = service.create_application(
        call.db, None, params.name, params.redirect_uri, params.scopes.split(), confidential=params.confidential
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
    """Give an application another secret; the one before stops at once."""
    return application_view(application, service.renew_secret(call.db, application))


@routes.delete("/applications/:id", may=administrators, returns=None)
def delete_application(call: Call) -> None:
    """Delete an application and all tokens that it holds; one that is not there is deleted already."""
    application = queries.application_by_id_or_none(call.db, path_number(call.path, "id"))
    if application is not None:
        service.delete_application(call.db, application)
