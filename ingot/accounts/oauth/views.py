"""What callers see of applications; the secret only once, in the answer that made it."""

from msgspec import UNSET, UnsetType

from ingot.accounts.oauth.tables import Application
from ingot.core.api.views import View


class ApplicationView(View):
    """An application."""

    id: int
    application_id: str
    application_name: str
    callback_url: str
    confidential: bool
    scopes: list[str]
    secret: str | UnsetType = UNSET


def application_view(application: Application, secret: str | UnsetType = UNSET) -> ApplicationView:
    """The application, with its secret where that was just made."""
    return ApplicationView(
        application.id,
        application.uid,
        application.name,
        application.redirect_uri,
        application.confidential,
        application.scopes.split(),
        secret,
    )
