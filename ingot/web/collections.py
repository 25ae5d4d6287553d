"""Places that hold things of one kind, such as hooks or snippets; the API has a path for each kind of place."""

from typing import Any

import msgspec

from ingot.web.page_routes import Visit


class ResourceCollection(msgspec.Struct, frozen=True):
    """One such place."""

    visit: Visit
    url: str
    """Where its pages begin."""
    route: str
    """Where the API has the things."""
    path: dict[str, Any]
    """What stands for the words of that route."""
    one: str
    """What the API calls the number of a thing; what our addresses call it is ``word``."""
    word: str

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The rest of the route, and its word, of the thing that the address names."""
        return f"/:{self.one}", {self.one: self.visit.path[self.word]}

    def get(self, route: str = "", sent: dict[str, Any] | None = None, **path: Any) -> Any:
        """What the API gives for all of them, or for one."""
        return self.visit.get(self.route + route, sent, **self.path, **path)

    def call(self, method: str, route: str = "", sent: dict[str, Any] | None = None, **path: Any) -> Any:
        """The same for any method."""
        return self.visit.call(method, self.route + route, sent, **self.path, **path)

    def may(self, method: str, route: str = "", **path: Any) -> bool:
        """Whether the visitor may."""
        return self.visit.may(method, self.route + route, **self.path, **path)
