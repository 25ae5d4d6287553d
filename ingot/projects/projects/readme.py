"""Lookup of a project's README file."""

from functools import lru_cache

from ingot.git.core.errors import is_unreadable_error
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.entries import FOLDER, SUBMODULE
from ingot.git.trees.listing import list_tree
from ingot.projects.projects.tables import Project

README_NAMES = ("readme.md", "readme.markdown", "readme", "readme.txt", "readme.rst")
"""Lowercase names in order of precedence."""
_MAX_ENTRIES = 10_000


def readme_path(store: RepositoryStore, project: Project) -> str | None:
    """Return the path of the README in the root folder of the default branch."""
    try:
        return _readme_path(store, project.repository_key, project.default_branch, project.generation)
    except Exception as error:
        if is_unreadable_error(error):  # The rest can still be told of the project.
            return None
        raise


# Looked up once for each state of the repository: to read a tree would double what a call on a project costs.
@lru_cache(4096)
def _readme_path(store: RepositoryStore, key: str, branch: str, generation: int) -> str | None:  # noqa: ARG001 - Tells the states apart.
    repository = store.open(key)
    tip = branch_tip(repository, branch)
    window = list_tree(repository, tip, b"", 0, _MAX_ENTRIES) if tip else None
    entries = window.entries if window else []
    names = (entry.name.decode(errors="replace") for entry in entries if entry.mode not in (FOLDER, SUBMODULE))
    files = {name.lower(): name for name in names}
    return next((files[name] for name in README_NAMES if name in files), None)
