"""Collections of one kind, such as webhooks or snippets, that projects, groups or the instance have alike."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.core.api.internal_client import V
from ingot.web.page_routes import Visit


class ResourceCollection(msgspec.Struct, frozen=True):
    """One collection."""

    visit: Visit
    url: str
    """Where its pages begin."""
    under: str
    """The first word of the API's paths to it."""
    path: dict[str, Any]
    """Parameters of the API's path to the collection."""
    one: str
    """The name of an item's parameter in the API's path; that of our addresses is ``word``."""
    word: str

    @property
    def named(self) -> dict[str, Any]:
        """The parameter for the item that the address names."""
        return {self.one: self.visit.request.path[self.word]}

    def ask(self, endpoint: Callable[..., V], sent: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint of the collection, or of one item where ``path`` names it."""
        return self.visit.client.ask(endpoint, sent, {**self.path, **path}, self.under)

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the visitor may call an endpoint of the collection."""
        return self.visit.client.may(endpoint, {**self.path, **path}, self.under)
