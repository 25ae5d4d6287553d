"""What callers may send about namespaces."""

from ingot.core.api.params import Params


class ListNamespaces(Params):
    """Filters of the list."""

    search: str = ""
    owned_only: bool = False


class NamespaceExists(Params):
    """Where to look."""

    parent_id: int | None = None
