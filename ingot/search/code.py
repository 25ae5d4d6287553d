"""Finding code: the parts of a query that speak of paths, and what git finds of the rest."""

import re
from typing import NamedTuple

from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import Invalid
from ingot.git.blobs import read_blob, start_of
from ingot.git.commits import Commit, commit_id, commit_or_none, decoded, read_commits
from ingot.git.entries import entry_at
from ingot.git.faults import GitTimedOut
from ingot.git.history import Filter, list_commits
from ingot.git.repository import Repository
from ingot.git.searching import Match, TookTooLong, search_files

_FILTER = re.compile(r"(?<!\S)(-?)(filename|path|extension):(\S+)", re.IGNORECASE)
_MOST_FILTERS = 20
_ID = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_BEGINNING_LINES = 3
_BEGINNING_BYTES = 4 * 1024
_TOO_LONG = "400 (Bad request) this takes too long to look for: ask for something that is longer or less common"


class PathFilter(NamedTuple):
    """A condition on paths; ``*`` in its value stands for anything."""

    kind: str
    value: str
    excludes: bool

    def fits(self, path: str) -> bool:
        """Whether a path, folded, is one of those that are meant."""
        return self._matches(path) is not self.excludes

    def _matches(self, path: str) -> bool:
        value = f".{self.value}" if self.kind == "extension" else self.value
        *parts, last = value.split("*")
        at = 0
        for part in parts:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        if self.kind == "path":
            return last in path[at:]
        return path.endswith(last) and len(path) - len(last) >= at


class Query(NamedTuple):
    """A text, and on which paths."""

    text: str
    filters: tuple[PathFilter, ...]

    def accepts(self, path: bytes) -> bool:
        """Whether what is found at a path counts."""
        folded = decoded(path).casefold()
        return all(each.fits(folded) for each in self.filters)


def read_query(text: str) -> Query:
    """Take the conditions on paths out of a text; git knows lines only, so the rest is one."""
    filters = tuple(
        PathFilter(kind.lower(), value.casefold(), bool(sign)) for sign, kind, value in _FILTER.findall(text)
    )
    if len(filters) > _MOST_FILTERS:
        raise Invalid(search=[f"cannot have more than {_MOST_FILTERS} filters"])
    rest = _FILTER.sub("", text) if filters else text
    return Query(" ".join(rest.split()) if filters else _one_line(rest), filters)


def find_files(repository: Repository, commit: str | None, text: str, page: Page) -> Listing[Match]:
    """A page of the places in a commit's files that hold a text."""
    query = read_query(text)
    if commit is None:
        return Listing([], page, 0)
    try:
        found = cut_page(search_files(repository, commit, query.text, query.accepts, query.filters), page)
    except TookTooLong as error:
        raise Invalid(_TOO_LONG) from error
    return found.of([match if match.lines else _with_beginning(repository, commit, match) for match in found.items])


def find_commits(repository: Repository, tip: str | None, text: str, page: Page) -> Listing[Commit]:
    """A page of the commits whose message holds a text; one whose id it is comes first."""
    if tip is None:
        return Listing([], page, 0)
    first = _by_id(repository, text)
    offset = (page.number - 1) * page.size
    shown = first[offset : offset + page.size]
    try:
        oids, total = list_commits(
            repository, [tip], Filter(message=_one_line(text)), max(offset - len(first), 0), page.size - len(shown)
        )
    except GitTimedOut as error:
        raise Invalid(_TOO_LONG) from error
    return Listing([*shown, *read_commits(repository, oids)], page, len(first) + total)


def commit_of(repository: Repository, ref: str, otherwise: str | None) -> str | None:
    """Where to look: nowhere, for a reference that is not there or not there yet."""
    oid = commit_id(repository, ref or otherwise or "HEAD")
    if oid is None and ref.startswith("-"):  # Nobody means a reference by that.
        raise Invalid(ref=["is invalid"])
    return oid


def _by_id(repository: Repository, text: str) -> list[Commit]:
    if not _ID.fullmatch(text.strip()):
        return []
    oid = commit_id(repository, text.strip())
    found = commit_or_none(repository, oid) if oid is not None else None
    return [found] if found is not None and found.oid.startswith(text.strip().lower()) else []


def _one_line(text: str) -> str:
    """git takes each line for a text of its own, any of which would do."""
    return " ".join(text.splitlines()).strip() if len(text.splitlines()) > 1 else text.rstrip("\r\n")


def _with_beginning(repository: Repository, commit: str, match: Match) -> Match:
    """What a file begins with that was found by its name."""
    entry = entry_at(repository, commit, match.path)
    start = start_of(read_blob(repository, entry.oid)) if entry is not None else b""
    lines = start[:_BEGINNING_BYTES].splitlines(keepends=True)[:_BEGINNING_LINES]
    return match if b"\0" in start else Match(match.path, match.first_line, b"".join(lines))
