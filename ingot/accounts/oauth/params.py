"""Request parameters of OAuth applications."""

from ingot.core.api.params import Params


class CreateApplication(Params):
    """A new application; the scopes are separated by spaces, as in OAuth."""

    name: str
    redirect_uri: str
    scopes: str
    confidential: bool = True
