"""Last commit of one path by ``git log -1``, which uses the commit graph and its Bloom filters of changed paths."""

from ingot.git.core.command import run_git
from ingot.git.core.paths import LITERAL_PATHSPECS, path_argument
from ingot.git.core.repository import Repository


def log_last_commit(repository: Repository, commit: str, path: bytes, timeout: float) -> str:
    """Return the last commit, from ``commit`` back, that changed a path; ``commit`` itself if none did."""
    args = ["log", "-1", "--format=%H", commit, "--", path_argument(path)]
    logged = run_git(args, repository.path, env=LITERAL_PATHSPECS, timeout=timeout)
    return logged.out.decode().strip() or commit
