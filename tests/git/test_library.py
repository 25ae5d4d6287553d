"""Import of libgit2, and handles of repositories."""

import gc
import os
import subprocess
import sys
from pathlib import Path

from ingot.git.core.library import close_repository, open_repository
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import Clone, git

_IMPORT = """
import os
from ingot.git.core.library import pygit2_module
assert pygit2_module().settings.ssl_cert_file is None
print(os.environ["SSL_CERT_FILE"], "SSL_CERT_DIR" in os.environ)
"""


def test_it_needs_no_root_certificates() -> None:
    """A container may have none; there, an import of pygit2 alone fails."""
    environment = {**os.environ, "SSL_CERT_FILE": "/nonexistent"}
    environment.pop("SSL_CERT_DIR", None)
    run = subprocess.run([sys.executable, "-c", _IMPORT], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "/nonexistent False\n", run.stderr


def _deleted_files(folder: Path) -> list[str]:
    """Return the deleted files of a folder that this process still has open."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line for line in lines if str(folder) in line and line.endswith("(deleted)")]


def test_no_deleted_packs_stay_open(store: RepositoryStore, clone: Clone, key: str) -> None:
    """They are closed when the repository is opened again, not only by the next garbage collection."""
    path = store.path_of(key)
    gc.disable()
    try:
        for number in range(3):
            clone.commit(content=f"{number}\n")
            clone.push(path)
            git(path, "repack", "-q", "-a", "-d", "--write-midx")
            before = open_repository(path)
            assert len(list(before.walk(before.head.target))) == number + 1
            assert _deleted_files(path) == []
        git(path, "repack", "-q", "-a", "-d", "-f", "--depth=1", "--write-midx")
        assert open_repository(path) is not before
        assert str(before.head.peel().id) == git(path, "rev-parse", "HEAD"), "An outdated handle can still be used."
    finally:
        gc.enable()
        close_repository(path)
