"""How folders, blobs and what goes into an archive are found."""

from typing import NamedTuple

from ingot.api.params import number_or_none
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid, NotFound
from ingot.git.blobs import Blob, blob_id, read_blob
from ingot.git.commits import commit_id
from ingot.git.entries import Entry, entry_at
from ingot.git.paths import spellings
from ingot.git.repository import Repository
from ingot.git.trees import TooManyFolders, list_tree
from ingot.repository.trees.params import ListTree


class Chosen(NamedTuple):
    """What goes into an archive: all of a commit, or what it has at a path."""

    commit: str
    ref: str
    path: bytes


def list_entries(repository: Repository, params: ListTree, path: str, page: Page) -> Listing[Entry]:
    """A page of what a folder holds."""
    commit = commit_id(repository, params.ref or "HEAD")
    if commit is None:
        raise NotFound("Tree")
    start = _start(params.page_token) if page.keyset else (page.number - 1) * page.size
    for spelling in spellings(path):
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


def _start(token: str | None) -> int:
    """Where a page begins; a commit's list never changes, so a place in it is a key like any other."""
    start = number_or_none(token) if token else 0
    if start is None:
        raise Invalid(page_token=["is invalid"])
    return start


def find_blob(repository: Repository, name: str) -> Blob:
    """The content with this (short) id."""
    oid = blob_id(repository, name)
    if oid is None:
        raise NotFound("Blob")
    return read_blob(repository, oid)


def find_chosen(repository: Repository, ref: str | None, path: str) -> Chosen:
    """What an archive is made of."""
    commit = commit_id(repository, ref or "HEAD")
    if commit is None:
        raise NotFound("File")
    ref = (ref or repository.head_branch()).removeprefix("refs/heads/").removeprefix("refs/tags/")
    if not path:
        return Chosen(commit, ref, b"")
    for spelling in spellings(path):
        if entry_at(repository, commit, spelling) is not None:
            return Chosen(commit, ref, spelling)
    raise NotFound("File")
