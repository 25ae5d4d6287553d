"""Texts as HTML for one reader, who is shown no reference to what they may not see."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from threading import Lock
from typing import Generic, TypeVar

from ingot.access.actor import Actor
from ingot.db.database import Database
from ingot.git.store import Store
from ingot.inline import expect_a_wait
from ingot.markup.links import Link, Place, Resolve
from ingot.markup.references import Reference
from ingot.markup.rendering import render
from ingot.projects.tables import Project
from ingot.renderings.queries import links_of
from ingot.renderings.reading import Reader

MOST_KEPT_BYTES = 16 * 2**20
MOST_INLINE = 20_000
"""So many characters are parsed while others wait; more are left to a thread."""
MOST_TOGETHER = 50
"""So many references of several texts are looked up together, so that none counts less than it would alone."""
V = TypeVar("V")


class _Kept(Generic[V]):
    """What was made of texts; the oldest goes first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def find(self, key: Hashable) -> V | None:
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            return held[0]

    def keep(self, key: Hashable, value: V, size: int) -> None:
        with self._lock:
            if key in self._held:
                return
            self._held[key] = value, size
            self._bytes += size
            while self._bytes > MOST_KEPT_BYTES:
                self._bytes -= self._held.popitem(last=False)[1][1]


# A rendering is the same for every reader to whom its references lead to the same.
_html: _Kept[str] = _Kept()
_references: _Kept[tuple[Reference, ...]] = _Kept()


def rendered(database: Database, store: Store, actor: Actor, place: Place, project: Project | None, text: str) -> str:
    """The text as HTML with its references.

    No unit of work is open while it is parsed: that may take long, and what is in it decides what is asked for.
    """
    return rendered_all(database, store, actor, place, project, [text])[0]


def rendered_all(
    database: Database, store: Store, actor: Actor, place: Place, project: Project | None, texts: Sequence[str]
) -> list[str]:
    """Several texts of one place; what those refer to that were seen before is looked up together."""
    known = {text: _references.find((place, text)) for text in texts}
    if sum(len(text) for text, found in known.items() if found is None) > MOST_INLINE:
        expect_a_wait()

    def look_up(references: Sequence[Reference]) -> list[Link | None]:
        return database.read(lambda db: links_of(Reader(db, actor, place.base_url, project, store), references))

    html: dict[str, str] = {}
    for some in _portions({text: found for text, found in known.items() if found}):
        wanted = list(dict.fromkeys(reference for references in some.values() for reference in references))
        links = dict(zip(wanted, look_up(wanted), strict=True))
        for text, references in some.items():
            html[text] = _with_links(place, text, [links[reference] for reference in references])
    for text, found in known.items():
        if found is None:
            html[text] = _read(place, text, look_up)
        elif not found:
            html[text] = _with_links(place, text, [])
    return [html[text] for text in texts]


def _portions(known: dict[str, tuple[Reference, ...]]) -> Iterator[dict[str, tuple[Reference, ...]]]:
    some: dict[str, tuple[Reference, ...]] = {}
    for text, references in known.items():
        if some and len(references) + sum(map(len, some.values())) > MOST_TOGETHER:
            yield some
            some = {}
        some[text] = references
    if some:
        yield some


def _read(place: Place, text: str, resolve: Resolve) -> str:
    """What a text is that nobody has read yet, and which references it holds."""
    found: Sequence[Reference] = ()
    links: Sequence[Link | None] = ()

    def note(references: Sequence[Reference]) -> Sequence[Link | None]:
        nonlocal found, links
        found, links = references, resolve(references)
        return links

    html = render(text, place, note)
    _references.keep((place, text), tuple(found), len(text) + 200 * len(found))
    _html.keep((place, text, _looks(links)), html, len(text) + len(html))
    return html


def _with_links(place: Place, text: str, links: Sequence[Link | None]) -> str:
    key = (place, text, _looks(links))
    html = _html.find(key)
    if html is None:
        html = render(text, place, lambda _: links)
        _html.keep(key, html, len(text) + len(html))
    return html


def _looks(links: Sequence[Link | None]) -> Hashable:
    return tuple(link and (link.url, link.title, link.css_class, link.text, *link.data.items()) for link in links)
