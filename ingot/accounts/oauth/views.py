"""Response structs of OAuth applications; the secret is included only when it was just created."""

from msgspec import UNSET, UnsetType

from ingot.accounts.oauth.tables import Application
from ingot.core.api.views import View


class ApplicationView(View):
    """An OAuth application."""

    id: int
    application_id: str
    application_name: str
    callback_url: str
    confidential: bool
    scopes: list[str]
    secret: str | UnsetType = UNSET


def application_view(application: Application, secret: str | UnsetType = UNSET) -> ApplicationView:
    """Return an application, with its secret if it was just created."""
    return ApplicationView(
        application.id,
        application.uid,
        application.name,
        application.redirect_uri,
        application.confidential,
        application.scopes.split(),
        secret,
    )
