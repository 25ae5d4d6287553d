"""Search in code: path filters in the query, and git grep for the rest."""

import re
from typing import NamedTuple

from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import Invalid
from ingot.core.markup.lexers import LEXERS, language_of
from ingot.git.core.errors import GitLimitReached, is_unreadable_error
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_id_or_none, commit_or_none, decode_text, read_commits
from ingot.git.history.log import CommitFilter, list_commits
from ingot.git.trees.blobs import read_blob, read_start
from ingot.git.trees.entries import entry_or_none
from ingot.git.trees.search import CodeMatch, SearchTimeout, search_files

_FILTER = re.compile(r"(?<!\S)(-?)(filename|path|extension|language):(\S+)", re.IGNORECASE)
_MAX_FILTERS = 20
_OID = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_PREVIEW_LINES = 3
_PREVIEW_BYTES = 4 * 1024
_TIMEOUT_MESSAGE = "400 (Bad request) The search takes too long; use a longer or less common text"


class PathFilter(NamedTuple):
    """A condition on paths; ``*`` in its value matches any characters."""

    kind: str
    value: str
    excludes: bool

    def fits(self, path: str) -> bool:
        """Return whether a case-folded path satisfies the condition."""
        return self._matches(path) is not self.excludes

    def _matches(self, path: str) -> bool:
        if self.kind == "language":
            language = language_of(path)
            return LEXERS.get(language, language) == LEXERS.get(self.value, self.value)
        value = f".{self.value}" if self.kind == "extension" else self.value
        *parts, last = value.split("*")
        position = 0
        for part in parts:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        if self.kind == "path":
            return last in path[position:]
        return path.endswith(last) and len(path) - len(last) >= position


class CodeQuery(NamedTuple):
    """A text and conditions on paths."""

    text: str
    filters: tuple[PathFilter, ...]

    def accepts(self, path: bytes) -> bool:
        """Return whether matches in a path count."""
        folded = decode_text(path).casefold()
        return all(each.fits(folded) for each in self.filters)


def parse_query(text: str) -> CodeQuery:
    """Split a query into path conditions and a text, which becomes one line since git matches single lines."""
    filters = tuple(
        PathFilter(kind.lower(), value.casefold(), bool(sign)) for sign, kind, value in _FILTER.findall(text)
    )
    if len(filters) > _MAX_FILTERS:
        raise Invalid(search=[f"cannot have more than {_MAX_FILTERS} filters"])
    rest = _FILTER.sub("", text) if filters else text
    return CodeQuery(" ".join(rest.split()) if filters else _as_one_line(rest), filters)


def find_files(repository: Repository, commit: str | None, text: str, page: Page) -> Listing[CodeMatch]:
    """List a page of the matches in a commit's files."""
    query = parse_query(text)
    if commit is None:
        return Listing([], page, 0)
    try:
        listing = slice_page(search_files(repository, commit, query.text, query.accepts, query.filters), page)
    except SearchTimeout as error:
        raise Invalid(_TIMEOUT_MESSAGE) from error
    return listing.of([match if match.lines else _with_preview(repository, commit, match) for match in listing.items])


def cannot_be_searched(error: Exception) -> bool:
    """Return whether an error of a search means that the repository is missing or damaged."""
    return is_unreadable_error(error)


def find_commits(repository: Repository, tip: str | None, text: str, page: Page) -> Listing[Commit]:
    """List a page of the commits whose message contains a text; a commit with this id comes first."""
    if tip is None:
        return Listing([], page, 0)
    first = _commit_by_oid(repository, text)
    offset = (page.number - 1) * page.size
    shown = first[offset : offset + page.size]
    try:
        oids, total = list_commits(
            repository,
            [tip],
            CommitFilter(message=_as_one_line(text)),
            max(offset - len(first), 0),
            page.size - len(shown),
        )
    except GitLimitReached as error:
        raise Invalid(_TIMEOUT_MESSAGE) from error
    return Listing([*shown, *read_commits(repository, oids)], page, len(first) + total)


def commit_oid_or_none(repository: Repository, ref: str, default: str | None) -> str | None:
    """Return the commit to search; None for a ref that does not exist, as in an empty repository."""
    oid = commit_id_or_none(repository, ref or default or "HEAD")
    if oid is None and ref.startswith("-"):  # Git would parse it as an option.
        raise Invalid(ref=["is invalid"])
    return oid


def _commit_by_oid(repository: Repository, text: str) -> list[Commit]:
    if not _OID.fullmatch(text.strip()):
        return []
    oid = commit_id_or_none(repository, text.strip())
    commit = commit_or_none(repository, oid) if oid is not None else None
    return [commit] if commit is not None and commit.oid.startswith(text.strip().lower()) else []


def _as_one_line(text: str) -> str:
    """Join lines, since git would match each line as a separate pattern."""
    return " ".join(text.splitlines()).strip() if len(text.splitlines()) > 1 else text.rstrip("\r\n")


def _with_preview(repository: Repository, commit: str, match: CodeMatch) -> CodeMatch:
    """Return the match with the first lines of its file, for files found by name."""
    entry = entry_or_none(repository, commit, match.path)
    start = read_start(read_blob(repository, entry.oid)) if entry is not None else b""
    lines = start[:_PREVIEW_BYTES].splitlines(keepends=True)[:_PREVIEW_LINES]
    return match if b"\0" in start else CodeMatch(match.path, match.first_line, b"".join(lines))
