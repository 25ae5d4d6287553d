"""Temporary repository that reads the objects of several others through git's alternates."""

from collections.abc import Iterator
from contextlib import contextmanager

from ingot.git.core.layout import CONFIG
from ingot.git.core.library import close_repository
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore


@contextmanager
def combined_repository(store: RepositoryStore, *repositories: Repository) -> Iterator[Repository]:
    """Yield a repository without refs that has the objects of the others; nothing is written to them.

    Comparing commits of a fork and its parent needs the objects of both. Fetching them into one of the two would be a
    write, and would show objects of one repository to the readers of the other.
    """
    with store.scratch_folder() as folder:
        for name in ("objects", "objects/info", "objects/pack", "refs"):
            (folder / name).mkdir()
        (folder / "config").write_bytes(CONFIG)
        (folder / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        alternates = "".join(f"{(repository.path / 'objects').absolute()}\n" for repository in repositories)
        (folder / "objects" / "info" / "alternates").write_text(alternates)
        try:
            yield Repository(folder)
        finally:
            close_repository(folder)
