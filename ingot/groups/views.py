"""What callers see of namespaces."""

from ingot.api.views import View
from ingot.groups.tables import Namespace


class NamespaceView(View):
    """A namespace."""

    id: int
    name: str
    path: str
    kind: str
    full_path: str
    parent_id: int | None
    web_url: str


class ExistsView(View):
    """Whether a path is taken, and what could be taken instead."""

    exists: bool
    suggests: list[str]


def namespace_view(namespace: Namespace, base: str) -> NamespaceView:
    """The namespace for whoever may see it."""
    return NamespaceView(
        namespace.id,
        namespace.name,
        namespace.path,
        namespace.kind,
        namespace.full_path,
        namespace.parent_id,
        f"{base}/{namespace.full_path}",
    )
