"""Request parameters of OAuth applications."""

from typing import Annotated

from msgspec import Meta

from ingot.core.api.params import Params


class CreateApplication(Params):
    """A new application; the scopes are separated by spaces, as in OAuth."""

    name: str
    redirect_uri: Annotated[str, Meta(max_length=50_000)]
    scopes: Annotated[str, Meta(max_length=1_000)]
    confidential: bool = True
