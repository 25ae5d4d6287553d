"""Lookup of a project's README file."""

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.git.core.errors import is_unreadable_error
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.entries import FOLDER, SUBMODULE
from ingot.git.trees.listing import list_tree
from ingot.projects.projects.tables import Project

README_NAMES = ("readme.md", "readme.markdown", "readme", "readme.txt", "readme.rst")
"""Lowercase names in order of precedence."""
_MAX_ENTRIES = 10_000
_readme_cache: BoundedCache[tuple[str, str, int], str] = declare_cache("readme-paths", share=1)
"""Path by repository, branch and generation; empty where there is none."""


def readme_path(store: RepositoryStore, project: Project) -> str | None:
    """Return the path of the README in the root folder of the default branch."""
    try:
        return _readme_path(store, project)
    except Exception as error:
        if isinstance(error, Unavailable) or is_unreadable_error(error):  # The rest of the project can still be shown.
            log_failure("README not found", error, project_id=project.id)
            return None
        raise


def _readme_path(store: RepositoryStore, project: Project) -> str | None:
    """Look the README up once for each state of the repository: reading a tree would double the cost of a request."""
    key = str(store.path_of(project.repository_key)), project.default_branch, project.generation
    path = _readme_cache.get(key)
    if path is None:
        path = _find_readme(store.open(project.repository_key), project.default_branch) or ""
        _readme_cache.put(key, path, 400)
    return path or None


def _find_readme(repository: Repository, branch: str) -> str | None:
    tip = branch_tip(repository, branch)
    window = list_tree(repository, tip, b"", 0, _MAX_ENTRIES) if tip else None
    entries = window.entries if window else []
    names = (entry.name.decode(errors="replace") for entry in entries if entry.mode not in (FOLDER, SUBMODULE))
    files = {name.lower(): name for name in names}
    return next((files[name] for name in README_NAMES if name in files), None)
