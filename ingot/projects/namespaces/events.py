"""What is announced of namespaces."""

from ingot.core.events.bus import Event


class NamespaceMoved(Event, frozen=True):
    """A namespace, and so everything below it, has another full path or name."""

    namespace_id: int


class NamespacePathRequested(Event, frozen=True):
    """A namespace is about to have this full path; who has it already refuses."""

    full_path_key: str


class NamespaceDeleting(Event, frozen=True):
    """A namespace is about to go, and with it all that lives there."""

    namespace_id: int
