"""Git bundle as a source of imports: a repository without issues and merge requests."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from ingot.import_export.records import Kind
from ingot.import_export.source import Batch, Inventory, RepositoryLocation


class BundleProject:
    """Repository in a bundle."""

    def __init__(self, path: Path, file_name: str) -> None:
        self._path = path
        self._name = file_name.removesuffix(".bundle") or "repository"

    def inventory(self) -> Inventory:
        """Return the name of the file; a bundle contains nothing that is counted."""
        omitted = ["A git bundle contains only a repository."]
        return Inventory(name=self._name, path=self._name, full_path=self._name, counts=[], omitted=omitted)

    def repository(self) -> RepositoryLocation | None:
        """Return the bundle."""
        return RepositoryLocation(url=str(self._path), bundle=True)

    def wiki(self) -> RepositoryLocation | None:
        """Return None."""
        return None

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:  # noqa: ARG002 - There is nothing to yield.
        """Yield nothing."""
        return iter(())

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:  # noqa: ARG002 - There are no files.
        """Return None."""
        return None

    def request_count(self) -> int:
        """Return 0: nothing is requested from a server."""
        return 0

    def take_problems(self) -> list[str]:
        """Return nothing: a bundle has no optional parts."""
        return []

    def skip_failures(self) -> None:
        """Do nothing: reading a file does not fail temporarily."""

    def close(self) -> None:
        """Do nothing: the file belongs to the caller."""
