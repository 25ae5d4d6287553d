"""Queries of wikis and their pages."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.paths import path_encodings, path_error
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_id_or_none, decode_text
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.blobs import Blob, read_blob, stream_blob
from ingot.git.trees.entries import entry_or_none
from ingot.git.trees.listing import list_tree
from ingot.git.trees.totals import TooManyFolders
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project
from ingot.repositories.wikis.owners import OwnerKind, WikiOwner, wiki_key_or_none
from ingot.repositories.wikis.page_names import WikiPage, candidate_paths, page_or_none_from_entry
from ingot.repositories.wikis.policy import WikiContext

MAX_FILES = 20_000
MAX_CONTENT_BYTES = 20 * 2**20
"""Limit of all contents in one response."""


def find_wiki(
    db: Connection, actor: Actor, store: RepositoryStore, name: str, kind: OwnerKind = "project"
) -> WikiContext:
    """Return the wiki of a project or group; raise NotFound if its owner is hidden."""
    access, owner = find_project(db, actor, name) if kind == "project" else find_group(db, actor, name)
    return WikiContext(access, owner, wiki_repository_or_none(db, store, owner))


def wiki_repository_or_none(db: Connection, store: RepositoryStore, owner: WikiOwner) -> Repository | None:
    """Return the repository of a wiki, or None if the wiki has not been used yet."""
    key = wiki_key_or_none(db, owner)
    return None if key is None else store.open(key)


def wiki_tip_or_none(repository: Repository | None) -> str | None:
    """Return the current commit of a wiki, or None if it has no pages."""
    return None if repository is None else branch_tip(repository, repository.head_branch())


def list_pages(repository: Repository | None) -> list[WikiPage]:
    """List all pages of a wiki by slug."""
    tip = wiki_tip_or_none(repository)
    if repository is None or tip is None:
        return []
    try:
        window = list_tree(repository, tip, b"", 0, MAX_FILES, recursive=True)
    except TooManyFolders as error:
        raise Invalid("400 (Bad request) The wiki has too many directories") from error
    pages = [page_or_none_from_entry(entry) for entry in window.entries] if window is not None else []
    return sorted(page for page in pages if page is not None)


def find_page(repository: Repository | None, slug: str, version: str | None = None) -> WikiPage:
    """Return the page with this slug, now or at a commit; raise NotFound otherwise."""
    page = None
    if repository is not None:
        commit = wiki_tip_or_none(repository) if version is None else commit_id_or_none(repository, version)
        page = page_or_none(repository, commit, slug) if commit is not None else None
    if page is None:
        raise NotFound("Wiki Page")
    return page


def page_or_none(repository: Repository, commit: str, slug: str) -> WikiPage | None:
    """Return the page with this slug in a commit, if any."""
    if path_error(slug) is not None:
        return None
    for path in candidate_paths(slug):
        for raw in path_encodings(path):
            entry = entry_or_none(repository, commit, raw)
            page = page_or_none_from_entry(entry) if entry is not None else None
            if page is not None:
                return page
    return None


def page_contents(repository: Repository | None, pages: Sequence[WikiPage]) -> list[str]:
    """Return the contents of pages; raise Invalid if they exceed the limit of a response."""
    if repository is None:
        return []
    blobs = [read_blob(repository, page.oid) for page in pages]
    if sum(blob.size for blob in blobs) > MAX_CONTENT_BYTES:
        raise Invalid(
            "400 (Bad request) The contents are too large for one response; clone the wiki or request fewer pages"
        )
    return [decode_text(_full_content(blob)) for blob in blobs]


def _full_content(blob: Blob) -> bytes:
    if blob.body is not None:
        return blob.body
    require_blocking_allowed()
    return b"".join(stream_blob(blob, 0, blob.size))
