"""What other rooms' texts refer to."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.projects.events import LinksAsked
from ingot.renderings.queries import links_of
from ingot.renderings.reading import Reader

subscriptions = Subscriptions()


@subscriptions.on(LinksAsked)
def find_links(db: Connection, event: LinksAsked) -> None:
    """Answer rooms below, which cannot know what there is to refer to."""
    reader = Reader(db, event.actor, event.base_url, event.project, event.store)
    event.found[:] = links_of(reader, event.references)
