"""Response structs of wiki pages."""

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.markup.links import LinkContext, ReferenceResolver
from ingot.core.markup.markdown import render
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.errors import MissingRepository
from ingot.git.core.paths import path_encodings, path_error
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.blobs import Blob, read_blob, stream_blob
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE, entry_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.names import file_stem, is_image
from ingot.repositories.wikis.owners import OwnerKind, WikiOwner
from ingot.repositories.wikis.page_names import WikiPage
from ingot.repositories.wikis.policy import may_read_wiki
from ingot.repositories.wikis.queries import find_wiki, wiki_tip_or_none


class WikiPageView(View):
    """A wiki page with optional content."""

    format: str
    slug: str
    title: str
    encoding: str
    content: str | UnsetType = UNSET


class AttachmentLinkView(View):
    """Link to an attachment."""

    url: str
    markdown: str


class AttachmentView(View):
    """Attachment of a wiki."""

    file_name: str
    file_path: str
    branch: str
    link: AttachmentLinkView


def page_view(page: WikiPage, content: str | UnsetType = UNSET) -> WikiPageView:
    """Return the view of a page."""
    return WikiPageView(page.format, page.slug, page.title, "UTF-8", content)


def wiki_root(owner: WikiOwner) -> str:
    """Return the path below which the pages of a wiki are shown."""
    return owner.full_path if isinstance(owner, Project) else f"groups/{owner.full_path}/-"


def render_page(page: WikiPage, content: str, base: str, root: str, resolve: ReferenceResolver) -> str:
    """Return the content of a page as HTML; formats other than Markdown are shown as plain text."""
    if page.format != "markdown":
        return f"<pre>{escape(content, quote=False)}</pre>"
    require_blocking_allowed()
    directory = page.slug.rpartition("/")[0]
    return render(content, LinkContext(base, root, directory=directory, wiki=True, positions=True), resolve)


def attachment_view(path: str, branch: str) -> AttachmentView:
    """Return the view of an attachment with its Markdown link."""
    name = path.rpartition("/")[2]
    image = is_image(name)
    alt = file_stem(name) if image else name
    link = AttachmentLinkView(path, f"{'!' if image else ''}[{alt}]({path})")
    return AttachmentView(name, path, branch, link)


class WikiFile(NamedTuple):
    """A file in a wiki's repository other than a page."""

    size: int
    body: bytes | None
    """None if the file is too large to be read at once."""
    pieces: Callable[[], Iterator[bytes]]


def wiki_file(db: Connection, actor: Actor, store: RepositoryStore, kind: OwnerKind, name: str, path: str) -> WikiFile:
    """Return a file of a wiki that the caller may read; raise NotFound for anything else."""
    try:
        wiki = find_wiki(db, actor, store, name, kind)
    except MissingRepository:
        raise NotFound("Upload") from None
    tip = wiki_tip_or_none(wiki.repository)
    if wiki.repository is None or tip is None or not may_read_wiki(actor, wiki.access, wiki):
        raise NotFound("Upload")
    blob = None if path_error(path) is not None else _blob_at(wiki.repository, tip, path)
    if blob is None:
        raise NotFound("Upload")
    return WikiFile(blob.size, blob.body, partial(stream_blob, blob, 0, blob.size))


def _blob_at(repository: Repository, commit: str, path: str) -> Blob | None:
    for raw in path_encodings(path):
        entry = entry_or_none(repository, commit, raw)
        if entry is not None and entry.mode not in (FOLDER, LINK, SUBMODULE):
            return read_blob(repository, entry.oid)
    return None
