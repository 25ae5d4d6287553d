"""Real repositories, created and changed with the git binary."""

import os
import subprocess
from pathlib import Path

import pytest

from ingot.git.maintenance.store import RepositoryStore, new_key

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


def git(where: Path, *args: str | Path, fails: bool = False, text: str = "") -> str:
    """Run a git command; return both streams if it is expected to fail."""
    done = subprocess.run(
        ["git", *map(str, args)], cwd=where, env=ENVIRONMENT, capture_output=True, text=True, input=text, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr if fails else done.stdout.strip()


class Clone:
    """Working copy of a user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        git(folder, "init", "-q", "-b", "master")

    def commit(self, file: str = "README", content: str = "hello\n", message: str = "A change") -> str:
        """Write a file, commit it and return the commit's id."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        git(self.folder, "add", "--", file)
        git(self.folder, "commit", "-q", "-m", message)
        return git(self.folder, "rev-parse", "HEAD")

    def push(self, target: Path | str, *refspecs: str, fails: bool = False) -> str:
        """Push to a repository."""
        return git(self.folder, "push", "-q", target, *(refspecs or ("HEAD:refs/heads/master",)), fails=fails)


@pytest.fixture
def store(tmp_path: Path) -> RepositoryStore:
    """Return an empty store."""
    return RepositoryStore(tmp_path / "repositories")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Return an empty checkout."""
    return Clone(tmp_path / "clone")


@pytest.fixture
def key(store: RepositoryStore) -> str:
    """Return the key of an empty repository."""
    key = new_key()
    store.create(key, "master")
    return key


def files_in(folder: Path) -> list[str]:
    """Return all files and folders below one, except empty shards."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() or ".git" in path.name)
