"""A text as HTML for one reader, who is shown no reference to what they may not see."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from ingot.access.actor import Actor
from ingot.db.database import Database
from ingot.git.store import Store
from ingot.markup.links import Link, Place
from ingot.markup.references import Reference
from ingot.markup.rendering import render
from ingot.projects.tables import Project
from ingot.renderings.queries import links_of
from ingot.renderings.reading import Reader

MOST_KEPT_BYTES = 16 * 2**20


class _Kept:
    """Renderings of texts without references, which are the same for every reader; the oldest ones go first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[tuple[Place, str], str] = OrderedDict()
        self._bytes = 0

    def find(self, place: Place, text: str) -> str | None:
        with self._lock:
            html = self._held.get((place, text))
            if html is not None:
                self._held.move_to_end((place, text))
            return html

    def keep(self, place: Place, text: str, html: str) -> None:
        with self._lock:
            if (place, text) in self._held:
                return
            self._held[place, text] = html
            self._bytes += len(text) + len(html)
            while self._bytes > MOST_KEPT_BYTES:
                (_, old_text), old = self._held.popitem(last=False)
                self._bytes -= len(old_text) + len(old)


_kept = _Kept()


def rendered(database: Database, store: Store, actor: Actor, place: Place, project: Project | None, text: str) -> str:
    """The text as HTML with its references.

    No unit of work is open while it is parsed: that may take long, and what is in it decides what is asked for.
    """
    known = _kept.find(place, text)
    if known is not None:
        return known
    asked = False

    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        nonlocal asked
        asked = True
        return database.read(lambda db: links_of(Reader(db, actor, place.base_url, project, store), references))

    html = render(text, place, resolve)
    if not asked:
        _kept.keep(place, text, html)
    return html
