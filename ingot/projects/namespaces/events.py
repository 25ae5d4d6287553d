"""Events of namespaces."""

from ingot.core.events.bus import Event


class NamespaceMoved(Event, frozen=True):
    """Change of a namespace's full path or name, emitted for it and for each namespace below it."""

    namespace_id: int


class NamespacePathRequested(Event, frozen=True):
    """Check before a namespace gets this full path; a subscriber raises if the path is taken."""

    full_path_key: str


class NamespaceDeleting(Event, frozen=True):
    """Upcoming deletion of a namespace and everything in it."""

    namespace_id: int
