"""Collections of resources, such as webhooks or snippets, that projects, groups or the instance can own."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.core.api.internal_client import V
from ingot.web.page_routes import Visit


class ResourceCollection(msgspec.Struct, frozen=True):
    """Collection of resources of one owner, with the paths of its pages and endpoints."""

    visit: Visit
    url: str
    """URL prefix of its pages."""
    root: str
    """First segment of the collection's API paths."""
    path: dict[str, Any]
    """Path parameters of the collection's API endpoints."""
    item_parameter: str
    """Name of the item's path parameter in the API; in page URLs it is ``page_parameter``."""
    page_parameter: str

    @property
    def item_path(self) -> dict[str, Any]:
        """Return the API path parameter of the item named in the page URL."""
        return {self.item_parameter: self.visit.request.path[self.page_parameter]}

    def ask(self, endpoint: Callable[..., V], params: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint of the collection, or of the item that ``path`` names."""
        return self.visit.client.ask(endpoint, params, {**self.path, **path}, self.root)

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the user has permission to call an endpoint of the collection."""
        return self.visit.client.may(endpoint, {**self.path, **path}, self.root)
