"""How wikis and their pages are found."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Invalid, NotFound
from ingot.git.blobs import Blob, read_blob, stream_blob
from ingot.git.commits import branch_tip, commit_id, decoded
from ingot.git.entries import entry_at
from ingot.git.paths import path_trouble, spellings
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.git.trees import TooManyFolders, list_tree
from ingot.inline import expect_a_wait
from ingot.projects.queries import find_project
from ingot.projects.tables import Project, project_wikis
from ingot.wikis.pages import Page, page_of, possible_paths
from ingot.wikis.policy import Place

MOST_FILES = 20_000
MOST_BYTES_SHOWN = 20 * 2**20
"""Of all contents that one answer holds."""
_KEY = select(project_wikis.c.repository_key).where(project_wikis.c.project_id == bindparam("project"))


def wiki_key(db: Connection, project_id: int) -> str | None:
    """The key of a wiki's repository, if anybody has used it yet."""
    key: str | None = db.value(_KEY, project=project_id)
    return key


def find_wiki(db: Connection, actor: Actor, store: Store, project_name: str) -> Place:
    """The wiki of a project."""
    here, project = find_project(db, actor, project_name)
    return Place(here, project, wiki_of(db, store, project))


def wiki_of(db: Connection, store: Store, project: Project) -> Repository | None:
    """The repository of a project's wiki, if there is one yet."""
    key = wiki_key(db, project.id)
    return None if key is None else store.open(key)


def tip_of(repository: Repository | None) -> str | None:
    """The commit that a wiki shows; nothing for one without any page."""
    return None if repository is None else branch_tip(repository, repository.head_branch())


def list_pages(repository: Repository | None) -> list[Page]:
    """All pages of a wiki by their slugs."""
    tip = tip_of(repository)
    if repository is None or tip is None:
        return []
    try:
        window = list_tree(repository, tip, b"", 0, MOST_FILES, recursive=True)
    except TooManyFolders as error:
        raise Invalid("400 (Bad request) the wiki has too many directories to be listed") from error
    pages = [page_of(entry) for entry in window.entries] if window is not None else []
    return sorted(page for page in pages if page is not None)


def find_page(repository: Repository | None, slug: str, version: str | None = None) -> Page:
    """The page with this slug, now or as of a commit."""
    found = None
    if repository is not None:
        commit = tip_of(repository) if version is None else commit_id(repository, version)
        found = page_or_none(repository, commit, slug) if commit is not None else None
    if found is None:
        raise NotFound("Wiki Page")
    return found


def page_or_none(repository: Repository, commit: str, slug: str) -> Page | None:
    """The page that a commit has under a slug."""
    if path_trouble(slug) is not None:
        return None
    for path in possible_paths(slug):
        for raw in spellings(path):
            entry = entry_at(repository, commit, raw)
            page = page_of(entry) if entry is not None else None
            if page is not None:
                return page
    return None


def contents_of(repository: Repository | None, pages: Sequence[Page]) -> list[str]:
    """What pages say; not more at once than can be held."""
    if repository is None:
        return []
    blobs = [read_blob(repository, page.oid) for page in pages]
    if sum(blob.size for blob in blobs) > MOST_BYTES_SHOWN:
        raise Invalid("400 (Bad request) this is too much to be shown at once: clone the wiki, or ask for less")
    return [decoded(_whole(blob)) for blob in blobs]


def _whole(blob: Blob) -> bytes:
    if blob.body is not None:
        return blob.body
    expect_a_wait()
    return b"".join(stream_blob(blob, 0, blob.size))
