"""Resolution of references for lower packages."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.discovery.markdown.queries import resolve_references
from ingot.discovery.markdown.reader_context import ReferenceContext
from ingot.projects.projects.events import ResolveLinks

subscriptions = Subscriptions()


@subscriptions.on(ResolveLinks)
def resolve_links(db: Connection, event: ResolveLinks) -> None:
    """Resolve references for packages that cannot import their targets."""
    reader = ReferenceContext(db, event.actor, event.base_url, event.project, event.store)
    event.found[:] = resolve_references(reader, event.references)
