"""Queries of folders, blobs and the sources of archives."""

from typing import NamedTuple

from ingot.core.api.params import number_or_none
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_id_or_none
from ingot.git.trees.blobs import Blob, blob_id_or_none, read_blob
from ingot.git.trees.depth import require_shallow_commit
from ingot.git.trees.entries import TreeEntry, entry_or_none
from ingot.git.trees.listing import list_tree
from ingot.git.trees.totals import TooManyFolders, require_bounded_commit
from ingot.repositories.trees.params import ListTree


class ArchiveSource(NamedTuple):
    """Commit and path to archive; an empty path means the whole commit."""

    commit: str
    ref: str
    path: bytes


def list_entries(repository: Repository, params: ListTree, path: str, page: Page) -> Listing[TreeEntry]:
    """List a page of a folder's entries."""
    commit = commit_id_or_none(repository, params.ref or "HEAD")
    if commit is None:
        raise NotFound("Tree")
    start = _page_start(params.page_token) if page.keyset else (page.number - 1) * page.size
    for spelling in path_encodings(path):
        try:
            window = list_tree(repository, commit, spelling, start, page.size, recursive=params.recursive)
        except TooManyFolders as error:
            raise Invalid("400 (Bad request) The tree has too many folders; list it folder by folder") from error
        if window is None:
            continue
        if not page.keyset:
            return Listing(window.entries, page, window.total)
        following = start + page.size
        return Listing(window.entries, page, next_token=str(following) if following < window.total else None)
    raise NotFound("Tree")


def _page_start(token: str | None) -> int:
    """Return the offset in a page token. The entries of a commit never change, so an offset is a stable key."""
    start = number_or_none(token) if token else 0
    if start is None:
        raise Invalid(page_token=["is invalid"])
    return start


def find_blob(repository: Repository, name: str) -> Blob:
    """Return the blob with this (abbreviated) id; raise NotFound otherwise."""
    oid = blob_id_or_none(repository, name)
    if oid is None:
        raise NotFound("Blob")
    return read_blob(repository, oid)


def short_ref(ref: str) -> str:
    """Return the short name of a branch or tag; any other name as it is."""
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def find_archive_source(repository: Repository, ref: str | None, path: str) -> ArchiveSource:
    """Return the commit and path to archive; raise NotFound if either does not exist.

    Raise Invalid if the commit has too many files.
    """
    commit = commit_id_or_none(repository, ref or "HEAD")
    if commit is None:
        raise NotFound("File")
    require_shallow_commit(repository, commit)
    require_bounded_commit(repository, commit)  # With a path too: git reads all folders for their attributes.
    ref = short_ref(ref or repository.head_branch())
    if not path:
        return ArchiveSource(commit, ref, b"")
    for spelling in path_encodings(path):
        if entry_or_none(repository, commit, spelling) is not None:
            return ArchiveSource(commit, ref, spelling)
    raise NotFound("File")
