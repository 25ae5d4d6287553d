"""Texts as HTML for one reader, who is shown no reference to what they may not see."""

from collections.abc import Hashable, Iterator, Sequence
from sys import getsizeof

from ingot.cache import BoundedCache, declare_cache
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.markup.links import Link, LinkContext, ReferenceResolver
from ingot.core.markup.references import Reference
from ingot.core.markup.renderer import render
from ingot.discovery.markdown.queries import resolve_references
from ingot.discovery.markdown.reader_context import ReferenceContext
from ingot.git.maintenance.store import RepositoryStore
from ingot.offload import require_blocking_allowed
from ingot.projects.projects.tables import Project

_LINK_BYTES = 800
"""Memory of a link in a key."""
_REFERENCE_BYTES = 400
MAX_INLINE_LENGTH = 20_000
"""So many characters are parsed while others wait; more are left to a thread."""
MAX_REFERENCES_PER_BATCH = 50
"""So many references of several texts are looked up together, so that none counts less than it would alone."""


# A rendering is the same for every reader to whom its references lead to the same.
_html_cache: BoundedCache[tuple[LinkContext, str, Hashable], str] = declare_cache("markdown-html", share=5)
_reference_cache: BoundedCache[tuple[LinkContext, str], tuple[Reference, ...]] = declare_cache(
    "markdown-references", share=2
)


def render_text(
    database: Database, store: RepositoryStore, actor: Actor, place: LinkContext, project: Project | None, text: str
) -> str:
    """The text as HTML with its references.

    No unit of work is open while it is parsed: that may take long, and what is in it decides what is asked for.
    """
    return render_texts(database, store, actor, place, project, [text])[0]


def render_texts(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    place: LinkContext,
    project: Project | None,
    texts: Sequence[str],
) -> list[str]:
    """Several texts of one place; what those refer to that were seen before is looked up together."""
    known = {text: _reference_cache.get((place, text)) for text in texts}
    if sum(len(text) for text, found in known.items() if found is None) > MAX_INLINE_LENGTH:
        require_blocking_allowed()

    def look_up(references: Sequence[Reference]) -> list[Link | None]:
        return database.read(
            lambda db: resolve_references(ReferenceContext(db, actor, place.base_url, project, store), references)
        )

    html: dict[str, str] = {}
    for some in _batches({text: found for text, found in known.items() if found}):
        wanted = list(dict.fromkeys(reference for references in some.values() for reference in references))
        links = dict(zip(wanted, look_up(wanted), strict=True))
        for text, references in some.items():
            html[text] = _render_with_links(place, text, [links[reference] for reference in references])
    for text, found in known.items():
        if found is None:
            html[text] = _render_new_text(place, text, look_up)
        elif not found:
            html[text] = _render_with_links(place, text, [])
    return [html[text] for text in texts]


def _batches(known: dict[str, tuple[Reference, ...]]) -> Iterator[dict[str, tuple[Reference, ...]]]:
    some: dict[str, tuple[Reference, ...]] = {}
    for text, references in known.items():
        if some and len(references) + sum(map(len, some.values())) > MAX_REFERENCES_PER_BATCH:
            yield some
            some = {}
        some[text] = references
    if some:
        yield some


def _render_new_text(place: LinkContext, text: str, resolve: ReferenceResolver) -> str:
    """What a text is that nobody has read yet, and which references it holds."""
    found: Sequence[Reference] = ()
    links: Sequence[Link | None] = ()

    def note(references: Sequence[Reference]) -> Sequence[Link | None]:
        nonlocal found, links
        found, links = references, resolve(references)
        return links

    html = render(text, place, note)
    _reference_cache.put((place, text), tuple(found), getsizeof(text) + _REFERENCE_BYTES * len(found) + 400)
    _html_cache.put((place, text, _links_key(links)), html, _html_bytes(text, html, links))
    return html


def _render_with_links(place: LinkContext, text: str, links: Sequence[Link | None]) -> str:
    key = (place, text, _links_key(links))
    html = _html_cache.get(key)
    if html is None:
        html = render(text, place, lambda _: links)
        _html_cache.put(key, html, _html_bytes(text, html, links))
    return html


def _html_bytes(text: str, html: str, links: Sequence[Link | None]) -> int:
    return getsizeof(text) + getsizeof(html) + _LINK_BYTES * len(links) + 500


def _links_key(links: Sequence[Link | None]) -> Hashable:
    return tuple(link and (link.url, link.title, link.css_class, link.text, *link.data.items()) for link in links)
