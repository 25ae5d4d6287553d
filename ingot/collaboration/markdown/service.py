"""Rendering of texts as HTML for a reader, with links only to targets that the reader may see."""

from collections.abc import Hashable, Iterator, Sequence
from sys import getsizeof

from ingot.collaboration.markdown.queries import resolve_references
from ingot.collaboration.markdown.reader_context import ReferenceContext
from ingot.core.access.actor import Actor
from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.database import Database
from ingot.core.markup.links import Link, LinkContext, ReferenceResolver
from ingot.core.markup.markdown import render_markdown, render_restructured_text
from ingot.core.markup.references import Reference
from ingot.core.markup.render_budget import RenderBudget
from ingot.core.offload import require_blocking_allowed
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project

_LINK_BYTES = 800
"""Memory of a link in a key."""
_REFERENCE_BYTES = 400
MAX_INLINE_LENGTH = 20_000
"""Longer texts are parsed in a thread, so that other requests do not wait."""
MAX_REFERENCES_PER_BATCH = 50
"""Limit of references looked up together for several texts, so that per-text limits still apply to each."""


# The HTML depends only on the text and its resolved links, so readers with equal links share an entry.
_html_cache: BoundedCache[tuple[LinkContext, str, Hashable], str] = declare_cache("markdown-html", share=5)
_reference_cache: BoundedCache[tuple[LinkContext, str], tuple[Reference, ...]] = declare_cache(
    "markdown-references", share=2
)


def render_texts(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    link_context: LinkContext,
    project: Project | None,
    texts: Sequence[str],
    budget: RenderBudget,
) -> list[str]:
    """Return texts of the same project as HTML; the references of already parsed texts are looked up together.

    No transaction is open while a text is parsed: parsing may take long, and the references determine the queries.
    """
    cached_references = {text: _reference_cache.get((link_context, text)) for text in texts}
    if sum(len(text) for text, references in cached_references.items() if references is None) > MAX_INLINE_LENGTH:
        require_blocking_allowed()

    def look_up(references: Sequence[Reference]) -> list[Link | None]:
        return database.read(
            lambda db: resolve_references(
                ReferenceContext(db, actor, link_context.base_url, project, store), references
            )
        )

    html: dict[str, str] = {}
    for batch in _batches(
        {text: references_or_none for text, references_or_none in cached_references.items() if references_or_none}
    ):
        references_in_batch = list(
            dict.fromkeys(reference for references in batch.values() for reference in references)
        )
        links = dict(zip(references_in_batch, look_up(references_in_batch), strict=True))
        for text, references in batch.items():
            links_of_text = [links[reference] for reference in references]
            html[text] = _render_with_links(link_context, text, links_of_text, budget)
    for text, references_or_none in cached_references.items():
        if references_or_none is None:
            html[text] = _render_new_text(link_context, text, look_up, budget)
        elif not references_or_none:
            html[text] = _render_with_links(link_context, text, [], budget)
    return [html[text] for text in texts]


def render_restructured_text_or_none(text: str, link_context: LinkContext) -> str | None:
    """Return a file in reStructuredText as HTML; None if it must be shown as source."""
    key = (link_context, text, "rst")
    html = _html_cache.get(key)
    if html is None and (rendered := render_restructured_text(text, link_context)) is not None:
        html = rendered.html
        _html_cache.put(key, html, _html_bytes(text, html, ()))
    return html


def _batches(cached_references: dict[str, tuple[Reference, ...]]) -> Iterator[dict[str, tuple[Reference, ...]]]:
    batch: dict[str, tuple[Reference, ...]] = {}
    for text, references in cached_references.items():
        if batch and len(references) + sum(map(len, batch.values())) > MAX_REFERENCES_PER_BATCH:
            yield batch
            batch = {}
        batch[text] = references
    if batch:
        yield batch


def _render_new_text(link_context: LinkContext, text: str, resolve: ReferenceResolver, budget: RenderBudget) -> str:
    """Render a text that is not in the cache, and cache its HTML and references."""
    references_in_text: Sequence[Reference] = ()
    links: Sequence[Link | None] = ()

    def resolve_and_store(references: Sequence[Reference]) -> Sequence[Link | None]:
        nonlocal references_in_text, links
        references_in_text, links = references, resolve(references)
        return links

    html, lasting = render_markdown(text, link_context, resolve_and_store, budget)
    if lasting:
        _reference_cache.put(
            (link_context, text),
            tuple(references_in_text),
            getsizeof(text) + _REFERENCE_BYTES * len(references_in_text) + 400,
        )
        _html_cache.put((link_context, text, _links_key(links)), html, _html_bytes(text, html, links))
    return html


def _render_with_links(link_context: LinkContext, text: str, links: Sequence[Link | None], budget: RenderBudget) -> str:
    key = (link_context, text, _links_key(links))
    html = _html_cache.get(key)
    if html is None:
        html, lasting = render_markdown(text, link_context, lambda _: links, budget)
        if lasting:
            _html_cache.put(key, html, _html_bytes(text, html, links))
    return html


def _html_bytes(text: str, html: str, links: Sequence[Link | None]) -> int:
    return getsizeof(text) + getsizeof(html) + _LINK_BYTES * len(links) + 500


def _links_key(links: Sequence[Link | None]) -> Hashable:
    return tuple(link and (link.url, link.title, link.css_class, link.text, *link.data.items()) for link in links)
