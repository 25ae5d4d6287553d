"""What callers may send about applications."""

from ingot.core.api.params import Params


class CreateApplication(Params):
    """A new application; scopes stand in one text, as OAuth writes them."""

    name: str
    redirect_uri: str
    scopes: str
    confidential: bool = True
