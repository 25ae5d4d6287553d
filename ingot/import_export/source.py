"""Interface of the servers and archives that projects are imported from."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO, Protocol, runtime_checkable

import msgspec

from ingot.import_export.records import GroupRecord, Kind, ProjectRecord


class SourceError(Exception):
    """The source refused a request or sent something unusable; ``reason`` is shown to the user and holds no secret."""

    def __init__(self, reason: str, *, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        # Seconds after which the import continues; None if it fails.
        self.retry_after = retry_after


class RepositoryLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Git repository of a source: a URL with credentials, or a bundle in a local file.

    ``merge_request_refs`` is a pattern such as ``refs/merge-requests/*/head``; the star stands for the iid.
    """

    url: str
    username: str | None = None
    password: str | None = None
    merge_request_refs: str | None = None
    # Patterns of further refs whose objects are needed, such as earlier versions of merge requests.
    further_refs: list[str] = []
    lfs: bool = False
    # Whether ``url`` is the path of a local file, a git bundle.
    bundle: bool = False


class KindCount(msgspec.Struct, frozen=True):
    """Number of records of a kind at the source; ``exact`` is false for an estimate."""

    kind: Kind
    count: int
    exact: bool = True


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Plan of an import: the data of a project that will be imported, and what cannot be, each with its reason."""

    name: str
    path: str
    full_path: str
    counts: list[KindCount]
    omitted: list[str] = []
    # Lower bound of the number of requests, which the page size makes necessary.
    requests: int = 0


class Batch(msgspec.Struct, frozen=True):
    """Records that are stored in one transaction, and the cursor after them."""

    records: Sequence[ProjectRecord]
    cursor: str


class OptionalParts(Protocol):
    """Treatment of the parts of a source that cannot be read: they are left out and reported."""

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that were left out since the last call."""
        ...

    def skip_failures(self) -> None:
        """Leave out what fails temporarily, too, until the problems are taken; raise SourceError if all fails."""
        ...


class ProjectSource(OptionalParts, Protocol):
    """One project of a source. Every method can raise SourceError."""

    def inventory(self) -> Inventory:
        """Count the project's data."""
        ...

    def repository(self) -> RepositoryLocation | None:
        """Return the location of the git repository, or None if it is empty."""
        ...

    def wiki(self) -> RepositoryLocation | None:
        """Return the location of the wiki's repository, or None if there is none."""
        ...

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the records of a kind after ``cursor`` (from the start if None).

        With ``since`` only objects that were changed after that time are needed; sources that cannot tell yield all.
        """
        ...

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment, avatar or release file by its link at the source; None if it is not there."""
        ...

    def request_count(self) -> int:
        """Return the number of requests made so far."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...


@runtime_checkable
class NamedFile(Protocol):
    """File whose name the source tells; the links of some servers contain only an id."""

    file_name: str | None


@runtime_checkable
class LfsObjectSource(Protocol):
    """Source that holds the files of Git LFS itself; each can be opened as ``lfs-objects/<oid>``."""

    def lfs_objects(self) -> Iterator[tuple[str, int]]:
        """Yield the object id and the size of each file."""
        ...


@runtime_checkable
class GroupWikiSource(Protocol):
    """Source of groups that holds their wikis."""

    def wiki_of(self, key: str) -> RepositoryLocation | None:
        """Return the wiki's repository of the group with a key, or None if there is none."""
        ...


class GroupSource(OptionalParts, Protocol):
    """Group of a source with its subgroups and projects."""

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the group and its subgroups, parents first."""
        ...

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the key and the full path of each project below the group."""
        ...

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open the avatar of a group by its link at the source; None if it is not there."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...
