"""How files are found."""

from typing import NamedTuple

from ingot.errors import Invalid, NotFound
from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history import blame as blaming
from ingot.git.history.blame import BlameChunk
from ingot.git.history.commits import Commit, commit_id_or_none, read_commits
from ingot.git.trees.blobs import Blob, read_blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, TreeEntry, entry_or_none
from ingot.repositories.files.params import LineRange

_MAX_LINE_NUMBER = 10**9


class RepositoryFile(NamedTuple):
    """A file, a link or a submodule that a commit has; the latter is empty."""

    repository: Repository
    commit: str
    entry: TreeEntry
    blob: Blob

    @property
    def is_submodule(self) -> bool:
        """Whether its content is another repository's."""
        return self.entry.mode == SUBMODULE


def find_file(repository: Repository, ref: str, path: str) -> RepositoryFile:
    """The file at a path, as a branch, a tag or a commit has it."""
    commit = commit_id_or_none(repository, ref)
    if commit is None:
        raise NotFound("Commit")
    for spelling in path_encodings(path):
        entry = entry_or_none(repository, commit, spelling)
        if entry is not None and entry.mode != FOLDER:
            nothing = Blob(repository, entry.oid, 0, b"")
            return RepositoryFile(
                repository, commit, entry, nothing if entry.mode == SUBMODULE else read_blob(repository, entry.oid)
            )
    raise NotFound("File")


def blame_file(file: RepositoryFile, lines: LineRange | None) -> tuple[list[BlameChunk], dict[str, Commit]]:
    """The lines of a file by the commits that they came with, and these."""
    if file.is_submodule:
        raise NotFound("File")
    if file.blob.size > blaming.MAX_BYTES:
        raise Invalid("400 (Bad request) The file is too large to tell who wrote its lines")
    if lines is not None and lines.end < lines.start:
        raise Invalid(range=["must not end before it starts"])
    chosen = None if lines is None else (min(lines.start, _MAX_LINE_NUMBER), min(lines.end, _MAX_LINE_NUMBER))
    try:
        blamed = blaming.blame(file.repository, file.commit, file.entry.path, chosen)
    except blaming.LinesOutOfRange as error:
        raise Invalid(range=["is beyond the end of the file"]) from error
    except blaming.BlameTooLarge as error:
        raise Invalid("400 (Bad request) The history is too long; ask for a range of lines") from error
    except blaming.TooManyLines as error:
        raise Invalid(range=[f"must be given, and hold {blaming.MAX_LINES} lines at most"]) from error
    oids = list(dict.fromkeys(part.commit for part in blamed))
    return blamed, dict(zip(oids, read_commits(file.repository, oids), strict=True))
