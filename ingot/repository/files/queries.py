"""How files are found."""

from typing import NamedTuple

from ingot.errors import Invalid, NotFound
from ingot.git import blame as blaming
from ingot.git.blame import Blamed
from ingot.git.blobs import Blob, read_blob
from ingot.git.commits import Commit, commit_id, read_commits
from ingot.git.entries import FOLDER, MODULE, Entry, entry_at
from ingot.git.paths import spellings
from ingot.git.repository import Repository
from ingot.repository.files.params import LineRange

_MOST_LINES = 10**9


class File(NamedTuple):
    """A file, a link or a submodule that a commit has; the latter is empty."""

    repository: Repository
    commit: str
    entry: Entry
    blob: Blob

    @property
    def is_module(self) -> bool:
        """Whether its content is another repository's."""
        return self.entry.mode == MODULE


def find_file(repository: Repository, ref: str, path: str) -> File:
    """The file at a path, as a branch, a tag or a commit has it."""
    commit = commit_id(repository, ref)
    if commit is None:
        raise NotFound("Commit")
    for spelling in spellings(path):
        entry = entry_at(repository, commit, spelling)
        if entry is not None and entry.mode != FOLDER:
            nothing = Blob(repository, entry.oid, 0, b"")
            return File(
                repository, commit, entry, nothing if entry.mode == MODULE else read_blob(repository, entry.oid)
            )
    raise NotFound("File")


def blame_file(file: File, lines: LineRange | None) -> tuple[list[Blamed], dict[str, Commit]]:
    """The lines of a file by the commits that they came with, and these."""
    if file.is_module:
        raise NotFound("File")
    if file.blob.size > blaming.MOST_BYTES:
        raise Invalid("400 (Bad request) The file is too large to tell who wrote its lines")
    if lines is not None and lines.end < lines.start:
        raise Invalid(range=["must not end before it starts"])
    chosen = None if lines is None else (min(lines.start, _MOST_LINES), min(lines.end, _MOST_LINES))
    try:
        blamed = blaming.blame(file.repository, file.commit, file.entry.path, chosen)
    except blaming.NoSuchLines as error:
        raise Invalid(range=["is beyond the end of the file"]) from error
    except blaming.TooLongToBlame as error:
        raise Invalid("400 (Bad request) The history is too long; ask for a range of lines") from error
    except blaming.TooManyLines as error:
        raise Invalid(range=[f"must be given, and hold {blaming.MOST_LINES} lines at most"]) from error
    oids = list(dict.fromkeys(part.commit for part in blamed))
    return blamed, dict(zip(oids, read_commits(file.repository, oids), strict=True))
