"""Queries of files."""

from typing import NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history import blame as blaming
from ingot.git.history.blame import BlameChunk
from ingot.git.history.commits import Commit, commit_id_or_none, read_commits
from ingot.git.trees.blobs import Blob, count_lines, read_blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, TreeEntry, entry_or_none
from ingot.repositories.files.params import LineRange

_MAX_LINE_NUMBER = 10**9
_CHUNK_BYTES = 200
_blame_cache: BoundedCache[tuple[str, str, bytes, tuple[int, int] | None], list[BlameChunk]] = declare_cache(
    "blames", share=1
)


class RepositoryFile(NamedTuple):
    """A file, symbolic link or submodule in a commit; the content of a submodule is empty."""

    repository: Repository
    commit: str
    entry: TreeEntry
    blob: Blob

    @property
    def is_submodule(self) -> bool:
        """Return whether the entry is a submodule, whose content is in another repository."""
        return self.entry.mode == SUBMODULE


def find_file(repository: Repository, ref: str, path: str) -> RepositoryFile:
    """Return the file at a path of a branch, tag or commit; raise NotFound otherwise."""
    commit = commit_id_or_none(repository, ref)
    if commit is None:
        raise NotFound("Commit")
    for spelling in path_encodings(path):
        entry = entry_or_none(repository, commit, spelling)
        if entry is not None and entry.mode != FOLDER:
            empty = Blob(repository, entry.oid, 0, b"")
            return RepositoryFile(
                repository, commit, entry, empty if entry.mode == SUBMODULE else read_blob(repository, entry.oid)
            )
    raise NotFound("File")


def blame_file(file: RepositoryFile, lines: LineRange | None) -> tuple[list[BlameChunk], dict[str, Commit]]:
    """Return the lines of a file grouped by the commit that last changed them, and these commits by id."""
    if file.is_submodule:
        raise NotFound("File")
    if file.blob.size > blaming.MAX_BYTES:
        raise Invalid("400 (Bad request) The file is too large for blame")
    if lines is not None and lines.end < lines.start:
        raise Invalid(range=["must not end before it starts"])
    line_range = None if lines is None else (min(lines.start, _MAX_LINE_NUMBER), min(lines.end, _MAX_LINE_NUMBER))
    key = str(file.repository.path), file.commit, file.entry.path, line_range
    chunks = _blame_cache.get(key)
    if chunks is None:
        chunks = _blame(file, line_range)
        _blame_cache.put(key, chunks, sum(_CHUNK_BYTES + sum(map(len, chunk.lines)) for chunk in chunks))
    oids = list(dict.fromkeys(part.commit for part in chunks))
    return chunks, dict(zip(oids, read_commits(file.repository, oids), strict=True))


def _blame(file: RepositoryFile, line_range: tuple[int, int] | None) -> list[BlameChunk]:
    try:
        return blaming.blame(file.repository, file.commit, file.entry.path, count_lines(file.blob), line_range)
    except blaming.LinesOutOfRange as error:
        raise Invalid(range=["is beyond the end of the file"]) from error
    except blaming.BlameTooLarge as error:
        raise Invalid("400 (Bad request) The history is too long; request a range of lines") from error
    except blaming.TooManyLines as error:
        raise Invalid(range=[f"is required and may contain at most {blaming.MAX_LINES} lines"]) from error
