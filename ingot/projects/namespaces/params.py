"""Request parameters of namespaces."""

from ingot.core.api.params import Params


class ListNamespaces(Params):
    """Filters of the list of namespaces."""

    search: str = ""
    owned_only: bool = False


class NamespaceExists(Params):
    """Parent namespace of the path to check."""

    parent_id: int | None = None
